/* What the files of the recorder share: record_people.c, who the callers are, and record.c, what
 * they do. Any thread. */
#ifndef LEAT_MOUNT_RECORD_PRIVATE_H
#define LEAT_MOUNT_RECORD_PRIVATE_H

#include "base/people.h"
#include "mount/record.h"
#include "shm/tape.h"

struct leat_recorder {
	struct leat_mount *m;   /* borrowed */
	struct leat_tape *tape; /* owned */
	uint32_t process;       /* this one's place on the tape */
	bool is_known;          /* the program's process has a place there, by the library */
	bool inherited;
	enum leat_tape_by by;   /* how much of it all is recorded */
	char self[PATH_MAX];    /* the program that the program's process runs before */
	char program[PATH_MAX]; /* what that becomes, which was said before it did */
	pthread_mutex_t lock;   /* of all below */
	struct leat_people people;
	unsigned purge_at; /* so many people are looked through for those that are gone */
};

/* A record of process `pid`, with room for `text` bytes, stamped as the end of `call`, or (NULL) as
 * a moment. NULL: it is lost, and counted. Nothing may wait until leat_record_done. */
struct leat_tape_record *leat_record_begin(struct leat_recorder *r, uint8_t type, pid_t pid,
					   const struct leat_errand *call, size_t text);
/* It goes onto the tape; texts that were added end at `end`, NULL: there are none. */
void leat_record_done(struct leat_recorder *r, struct leat_tape_record *record, const char *end);
/* Adds a text at `at`: where it ends. */
char *leat_record_put(struct leat_tape_record *record, char *at, const char *text);

/* The process whose call it is, met if it was not; 0: the kernel's own doing. `opens`: it may run
 * another program since. */
pid_t leat_record_caller(struct leat_errand *call, bool opens);

#endif
