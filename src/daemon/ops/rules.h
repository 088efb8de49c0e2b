/* The rules are asked in the name of a client, and their answers are sent to it. Event loop only.
 */
#ifndef LEAT_DAEMON_OPS_RULES_H
#define LEAT_DAEMON_OPS_RULES_H

#include "daemon/core/state.h"

/* May the client make `call` on the file? 0, -EAGAIN, -ENOENT, -EIO; *streams is set if the file
 * still grows. */
int leat_ask_rules(struct leat_conn *c, struct leat_file *f, enum leat_call call, uint64_t offset,
		   uint64_t length, bool *streams);

/* May the client make `call` on what `name` stands for, or, LIST, see all names in it, also those
 * that are given as they come? 0, also if there is nothing; -EAGAIN, with *on set: wait on that;
 * -EIO. */
int leat_ask_name(struct leat_conn *c, const char *name, enum leat_call call,
		  struct leat_file **on);

/* May the step see the entry `name` of directory `dir`, by the name it is made by, now? */
bool leat_rules_show(struct leat_conn *c, const char *dir, const char *name);

#endif
