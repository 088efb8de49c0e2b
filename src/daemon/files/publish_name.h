/* Committed files are published by name, so that clients open them and look at them without a
 * message (shm/names.h). Event loop only. */
#ifndef LEAT_DAEMON_FILES_PUBLISH_NAME_H
#define LEAT_DAEMON_FILES_PUBLISH_NAME_H

#include "daemon/core/state.h"

/* Let clients find a committed file by its name without asking, if nothing is special about it;
 * `st` is what it is in the store. */
void leat_file_publish_name(struct leat_daemon *d, struct leat_file *f, const struct stat *st);
/* Before the name is changed: nobody finds it without asking any more, and the rules learn that
 * somebody did. */
void leat_file_withdraw_name(struct leat_daemon *d, struct leat_file *f);

#endif
