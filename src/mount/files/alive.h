/* How the program's processes end.
 *
 * The daemon may know the first one from before it became this program, and would take its end
 * for an abnormal one. It holds a file of the mount open, and its children with it, which the
 * kernel closes, as all files, before anybody learns of the end. */
#ifndef LEAT_MOUNT_FILES_ALIVE_H
#define LEAT_MOUNT_FILES_ALIVE_H

#include "mount/daemon/call.h"

#define LEAT_ALIVE_NAME ".leat-alive"

/* In the program's process, behind the mount: hold the file. */
void leat_alive_hold(const char *dir);
/* Is it looked for? Once it is held there is no such name. */
bool leat_alive_is(struct leat_mount *m, fuse_ino_t parent, const char *name);
void leat_alive_entry(struct fuse_entry_param *e);
/* open, flush of LEAT_ALIVE_INO */
void leat_alive_opened(struct leat_mount_call *call);
void leat_alive_flushed(struct leat_mount_call *call);
/* flush of a file that is open for writing: thread `tid` closes it. True: because it is killed. */
bool leat_alive_closing(struct leat_handle *h, pid_t tid);
/* Report that to the daemon, of description `ofd`: its last close may follow. */
void leat_alive_report_closing(struct leat_mount_call *call, uint32_t slot, uint64_t ofd);
/* Those who have closed a file empty, and whose end was not reported: report it. */
void leat_alive_poll(struct leat_mount_call *call);
/* The mount is gone: forget the processes. True: one that was killed had closed a file empty. */
bool leat_alive_end(struct leat_mount *m);

#endif
