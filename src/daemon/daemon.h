/* The daemon: one process per workflow directory that owns all state of a run.
 *
 * It serves clients over the session's socket (wire/wire.h), keeps the shared
 * segment and the store, asks the rules (src/stream) and brings permanent files
 * to disk. Control connections (hello.control != 0) report steps:
 *  - LEAT_MSG_ASK_LAUNCH of a staged step: ANSWER 0 start it (its inputs are on disk), -EAGAIN ask
 * again after files[slot].seq has changed (1 s at most), else the errno why never.
 *  - A control connection whose hello says control & LEAT_CONTROL_EVENTS is sent
 *    EVENT messages: one line of text each; error 0 is a warning, else the run
 *    has failed (-ECANCELED violation, -EDEADLK deadlock, -ENOEXEC a program
 *    that cannot be intercepted, -EIO a file that failed, other: errno of the
 *    file that could not be made permanent).
 *  - FINISH: TEXT with a JSON summary (docs/reference/daemon-json.md); error 0 all is well. */
#ifndef LEAT_DAEMON_DAEMON_H
#define LEAT_DAEMON_DAEMON_H

#include "model/workflow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bits of leat_msg_hello.control. */
enum { LEAT_CONTROL = 1, LEAT_CONTROL_EVENTS = 2 };

struct leat_daemon_options {
	const struct leat_workflow *wf; /* checked; borrowed until the daemon ends */
	const char *dir;                /* the workflow's directory */
	const char *runtime_dir;        /* NULL: default, see leat_wire_session_path */
	const char *log_path;           /* event log to write, or NULL */
	uint64_t memory_bytes;          /* that files may take; 0: half of the tightest limit */
	const char *spill_dir;          /* where to put what it has no space for; NULL: the
					 * workflow's directory */
	bool serve;           /* steps come by themselves; wait for those that have not come */
	bool warn_violations; /* violations are reported, but do not fail the run */
	bool strict;          /* every output that a step spells out is to be made */
	bool enforce;         /* steps may use only what they declare */
	bool sealed;          /* and see it through mounts only; with `enforce` */
};

/* Start the daemon in a process of its own. Returns once its socket is
 * listening: 0 and its pid, else -errno and one line in `error` for a person
 * (another run uses the directory, directory not writable...). The
 * daemon ends with the calling process. */
int leat_daemon_spawn(const struct leat_daemon_options *options, pid_t *pid, char *error,
		      size_t error_size);

/* The daemon itself, in the calling process: returns its exit status when it
 * has ended. `ready_fd` (owned from here on) is sent one packet: an
 * int32_t, 0 or -errno, and the error text. `driver` is the process whose end
 * ends the daemon, 0 for none. */
int leat_daemon_main(const struct leat_daemon_options *options, int ready_fd, pid_t driver);

#endif
