/* Starting one step: a process group of its own, stopped before exec until the
 * daemon has been told of it. */
#ifndef LEAT_DRIVER_PROCESS_H
#define LEAT_DRIVER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct leat_process_spec {
	const char *program; /* path to execute, absolute or relative to `dir` */
	char *const *argv;   /* borrowed, ends with NULL */
	char *const *envp;   /* borrowed, ends with NULL */
	const char *dir;     /* working directory; NULL: the caller's */
	bool own_group;      /* a process group of its own, standard input /dev/null */
	bool confined;       /* apart from other steps, see base/confine.h */
	bool capture;        /* standard output and error through pipes */
	int passed_fd;       /* the child has it as descriptor 3; 0 or below: none */
};

/* A started process; descriptors are -1 when not used, and owned. */
struct leat_driver_process {
	pid_t pid;
	int go_fd;    /* closing it makes the child give up */
	int error_fd; /* errno of a failed exec */
	int out_fd;   /* non-blocking */
	int err_fd;
};

/* Fork; the child waits for leat_process_release. 0 or -errno. Any thread of a
 * single-threaded program. */
int leat_process_fork(const struct leat_process_spec *spec, struct leat_driver_process *p);

/* Let the child execute its program. 0, or -errno of chdir or exec; then the child has
 * ended and waits to be reaped. */
int leat_process_release(struct leat_driver_process *p);

/* Let the child end instead. */
void leat_process_abandon(struct leat_driver_process *p);

/* Close what is still open; a child not released ends. */
void leat_process_close(struct leat_driver_process *p);

/* Exit status as a shell reports it: 0..255, or 128+n for signal n. */
int leat_process_exit_status(int wait_status);

#endif
