/* Directories that a step looks for before another one makes them, or finds when it has. Source:
 * docs/adr/0089-looking-for-a-directory.md. */
#ifndef LEAT_STREAM_CONFLICTS_DIRECTORIES_H
#define LEAT_STREAM_CONFLICTS_DIRECTORIES_H

#include "stream/conflicts/conflict.h"
#include "stream/state/used.h"

/* `k->step` has found it, or makes it: what others then have looked for otherwise than in a batch
 * is noted, and reported if they have ended. */
void leat_directory_found(struct leat_stream *s, struct leat_uses *u, const struct leat_clash *k);
void leat_directory_made(struct leat_stream *s, struct leat_uses *u, const struct leat_clash *k);
/* The step has looked for it, and `maker` made it afterwards, or has found what that made,
 * otherwise than in a batch. */
void leat_directory_mistaken(struct leat_stream *s, struct leat_uses *u, const char *name, int step,
			     int maker);
/* The step has found it; `guess`: behind a mount, where the kernel asks for each directory on the
 * way to a name, too. Such a one has not gone by it until it is told that it has looked at it. */
void leat_directory_looked(struct leat_stream *s, struct leat_uses *u, int step, bool guess);
bool leat_directory_is_passed(const struct leat_stream *s, struct leat_uses *u, int step);
/* The step that has found it makes something in it: is it then taken for one that would have made
 * the directory, too? */
bool leat_directory_is_excused(const struct leat_stream *s, struct leat_uses *u, int step);
/* It makes `name`, or something in it, or would have: then it would have made the directories
 * above, too, that it has found. Is there such a one? */
void leat_directory_tried(struct leat_stream *s, const char *name, int step);
bool leat_directory_excuses_above(const struct leat_stream *s, const char *name, int step);
/* A directory that is an output: who has found it, though it is not complete, has another one than
 * in a batch if a step before then removes it, or moves it away. That is reported. 0 or -ENOMEM. */
int leat_directory_use(struct leat_stream *s, const struct leat_event *ev,
		       const struct leat_file_rule *rule);
/* Would that be news? */
bool leat_directory_use_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
				int step, const char *name, enum leat_use use);
/* The step has ended: report what it has looked for otherwise than in a batch. */
void leat_directories_step_over(struct leat_stream *s, int step);

#endif
