/* Starting the command with the library in it. */
#ifndef LEAT_TRACE_PRELOAD_LAUNCH_H
#define LEAT_TRACE_PRELOAD_LAUNCH_H

#include <sys/types.h>

struct leat_trace_launch {
	char *const *argv; /* borrowed */
	int tracebuf_fd;
	char *sites; /* owned: a directory for what the library keeps; NULL: none */
};

/* 0 and *pid, or -errno after a message. -ENOENT: there is no such command, -EACCES: it cannot be
 * executed. */
int leat_trace_launch(struct leat_trace_launch *launch, pid_t *pid);
/* Removes what it left. */
void leat_trace_launch_end(struct leat_trace_launch *launch);

/* The file that a shell would run; the caller's. NULL: there is none. */
char *leat_trace_find_program(const char *name);

#endif
