/* Names, and which steps have used them how. */
#ifndef LEAT_STREAM_STATE_USED_H
#define LEAT_STREAM_STATE_USED_H

#include "stream/state/state.h"

/* Steps, by what they did to it; all but the writers since the last of those, owners, linkers and
 * finders (who went by what others had left there, if anything) ever. */
enum leat_who {
	LEAT_WRITERS,
	LEAT_APPENDERS,
	LEAT_READERS,
	LEAT_SEEKERS,
	LEAT_NEEDERS,
	LEAT_MAKERS,
	LEAT_TRIERS,    /* would have made the directory, but it was there */
	LEAT_MISTAKERS, /* looked for it before, or found it after another step made it too early */
	LEAT_GUESSERS,  /* looked for it, perhaps only to make it: among its producers */
	LEAT_FORERUNNERS, /* GUESSERS that found what a producer after them had made, or missed what
			     that had taken away */
	LEAT_HASTY,       /* producers that looked while one that a batch runs before was at work */
	LEAT_OVERTAKEN,   /* HASTY GUESSERS, and that one has changed it since */
	LEAT_CHANGERS,    /* producers that cut it by its name, or changed its permissions */
	LEAT_PASSERS,     /* MISTAKERS that were perhaps only on their way through the directory */
	LEAT_OWNERS,
	LEAT_LINKERS, /* owners, of a symlink or of another name of a file */
	LEAT_FINDERS,
	LEAT_WHO
};

/* What was used, by all its names. Who changed it last comes, if nothing was reported, after all
 * that used it before, and so does whoever comes after that: these are forgotten. */
struct leat_uses {
	unsigned names;
	enum leat_use last; /* how it was changed */
	bool reported;      /* that there is a conflict */
	bool warned;        /* that lines may come in another order */
	int maker;          /* of the directory that the MISTAKERS looked for */
	uint64_t sets[];    /* one for each enum leat_who */
};

/* A name that was used. */
struct leat_used {
	char *text; /* owned */
	struct leat_uses *uses;
	bool moved; /* a directory was moved from or to here */
	UT_hash_handle hh;
};

uint64_t *leat_used_set(const struct leat_stream *s, struct leat_uses *u, enum leat_who who);
bool leat_used_has(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step);
void leat_used_add(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step);
void leat_used_drop(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step);

/* NULL: nobody has used it. */
struct leat_used *leat_used_find(const struct leat_stream *s, const char *name);
/* The next directory above the first *length bytes of `path` that a step has used, of so many bytes
 * then; NULL: there is none. */
struct leat_used *leat_used_above(const struct leat_stream *s, const char *path, size_t *length);
/* With those uses from now on, or, NULL, those that it has, or new ones. NULL when out of memory.
 */
struct leat_used *leat_used_get(struct leat_stream *s, const char *name, struct leat_uses *uses);
void leat_used_free(struct leat_stream *s);

#endif
