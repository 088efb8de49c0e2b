/* Descriptors that are opened, copied, closed and handed on. */
#ifndef LEAT_PRELOAD_FD_LIFECYCLE_H
#define LEAT_PRELOAD_FD_LIFECYCLE_H

#include "preload/fd/table.h"

#include <stdbool.h>
#include <stddef.h>

/* Enter a descriptor just opened; kind NONE forgets it. 0, or -EMFILE when the
 * number is too high (the descriptor is then closed). */
int leat_fd_set(int fd, const struct leat_fd *record);

/* Around a call that makes a copy of `fd`: from the one to the other the description is held, even
 * if all its descriptors here are closed meanwhile. `copy`, the new descriptor, is of the same
 * description; below 0: there is none. Returns it, or -EMFILE. */
void leat_fd_copy_begin(int fd, struct leat_fd *record);
long leat_fd_copy_end(int fd, const struct leat_fd *record, long copy);

/* Close: forget, close, report what the daemon has to know. */
long leat_fd_close(int fd);

/* The first and the last part of it. True if `last` was the last descriptor here of
 * its description, and leat_fd_report_close is to follow. */
bool leat_fd_detach(int fd, struct leat_fd *last);
void leat_fd_report_close(const struct leat_fd *last);

/* In a fork child: leave what is the parent's to report. */
void leat_fd_fork_child(void);

/* What a process leaves to be said when it ends with descriptors open. */
void leat_fd_exiting(void);

/* The program is about to be replaced: what the new one inherits is left to the kernel. `variable`
 * becomes LEAT_OPEN for it, "<process>:<descriptor>,<descriptor>,", or "<process>:*" if it has to
 * look; with a + behind the process's number if the daemon knows the process. */
void leat_fd_before_exec(char *variable, size_t size);

/* --- adopt.c --- */

/* Recognise a descriptor that came from another process. */
void leat_fd_adopt(int fd);
/* Look at all that the program before this one in process `pid` handed on, as LEAT_OPEN says. The
 * daemon is asked about a plain file when the program does something with it, except that it is one
 * of the open file descriptions whose last close the daemon waits for. */
void leat_fd_adopt_all(char **envp, uint32_t pid);

/* Does the daemon wait for the last close of the open file description? In doubt yes. */
bool leat_fd_is_awaited(int fd);

/* Ask, before a call that needs more of the descriptor than the kernel has to say. Without a guard.
 * 0, or -EIO to fail the call with. */
int leat_fd_ask(int fd);
static inline int leat_fd_learn(int fd)
{
	return leat_fd_is_unasked(fd) ? leat_fd_ask(fd) : 0;
}
/* The same of all: a vfork child is to come, which cannot take down what it learns. */
void leat_fd_learn_all(void);

#endif
