/* The one vocabulary of events: what is applied to the rules and what they decide, what the daemon
 * logs, what replay and the reports of its log read. */
#ifndef LEAT_EVENTLOG_EVENT_H
#define LEAT_EVENTLOG_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum leat_event_kind {
	/* facts, in the order the daemon learnt them */
	LEAT_EV_STEP_START,  /* step: an instance begins; code: instances announced, 0 unknown. For
				who reads the log only: pid of its first process, name of the step,
				to: of the workflow, offset: CLOCK_REALTIME in ns */
	LEAT_EV_STEP_END,    /* step, status: 0 succeeded, else failed; name: reason */
	LEAT_EV_STEP_CLOSED, /* step: no further instance will start */
	LEAT_EV_PROC_EXIT,   /* step, pid, status (-signal when killed or unknown); code: 1 + the
				rank of an MPI job that has ended with it, 0 none */
	LEAT_EV_PRESENT,     /* name existed on disk before the run */
	LEAT_EV_CREATE, /* step created name without a write open (mkdir, symlink, link, rename in);
			   of a staged step: it has, and length: its size */
	LEAT_EV_OPEN,   /* step, pid opened name for writing as open description ofd; flags;
			   length: its size before, if several steps write it */
	LEAT_EV_CLOSE,  /* ofd: true last close; length: size then; flags LEAT_EVF_ABNORMAL */
	LEAT_EV_EXTENT, /* bytes [offset, offset+length) of name exist */
	LEAT_EV_TRUNCATE,  /* name now has length bytes */
	LEAT_EV_RENAME,    /* step: name -> to */
	LEAT_EV_UNLINK,    /* step removed name */
	LEAT_EV_ASK,       /* step, waiter: may this call go on? call, offset, length */
	LEAT_EV_CANCEL,    /* waiter: the client gave up or died */
	LEAT_EV_VIOLATION, /* step, name, code: reported by a client; offset, length, flags */
	LEAT_EV_TAKE, /* step opened version name, which it sees as `to`, as description ofd; code:
			 its rank */
	LEAT_EV_READ, /* ofd: that version was read, code: enum leat_read, up to offset; length: the
			 same, if it was all there was of one that was not complete yet */
	LEAT_EV_RETURN, /* ofd: its true last close */
	LEAT_EV_LAUNCH, /* step: a launch for one version has ended (code 0), or begins (1) */
	LEAT_EV_WRITE,  /* ofd, opened INTACT: it is about to change the file */
	LEAT_EV_SERVE,  /* step, whose actions decide when: name is to be passed on */
	LEAT_EV_USE, /* step, name, code: enum leat_use; LINK: `to` is the file's other name; flags
			LEAT_EVF_DIR */
	LEAT_EV_WRITTEN, /* step has written [offset, offset+length) of name, which several steps
			    write, by ofd if not 0; code 1: it has appended them */
	LEAT_EV_RIGHTS,  /* step is about to change the rights of name, code: LEAT_RIGHTS_... */
	LEAT_EV_HOLD,   /* step, which comes before the producers of name, opened it as ofd; code 1:
			   for writing */
	LEAT_EV_LET_GO, /* ofd: the true last close of what was held so */
	/* decisions, which replay must reproduce */
	LEAT_EV_ANSWER, /* waiter, code: enum leat_answer */
	LEAT_EV_STATE,  /* name, code: enum leat_file_state */
	LEAT_EV_WAKE,   /* name: everybody who waits on this name looks again */
	LEAT_EV_KINDS
};

enum {
	LEAT_EVF_TRUNC = 1,    /* the open truncated */
	LEAT_EVF_CREAT = 2,    /* the open created */
	LEAT_EVF_ABNORMAL = 4, /* the close came from abnormal death */
	LEAT_EVF_DIR = 8,      /* name is a directory */
	LEAT_EVF_RANGE = 16,   /* of a VIOLATION: offset and, if known, length say where */
	LEAT_EVF_INTACT = 32,  /* the open changed nothing, and WRITE is to report the first change;
				* of a USE, MKDIR: the directory was there; READ, SEEK: it was
				* looked for perhaps only to be made or written, or passed */
	LEAT_EVF_APPEND = 64,  /* of an OPEN: what is written by it is appended */
	LEAT_EVF_SYMLINK = 128, /* of a USE: a symlink is there from now on; of an OWN, or another
				 * name of a file (a hard link); without it, neither any more */
};

/* What a change of rights makes different. */
enum {
	LEAT_RIGHTS_READ = 1,  /* whether its owner may read it */
	LEAT_RIGHTS_RUN = 2,   /* whether it may be run, by anybody */
	LEAT_RIGHTS_SHOWN = 4, /* what else a look shows: mode, owner, times, attributes */
};

/* One event. Fields a kind does not name are 0 / -1 / NULL. Strings are
 * borrowed from whoever made the event and copied by whoever keeps it. */
struct leat_event {
	uint64_t seq;
	uint64_t time_ns; /* CLOCK_MONOTONIC; not used by any rule */
	enum leat_event_kind kind;
	int node; /* whose number `pid` is: 0 the daemon's; else of a process behind the mount whose
		     server is process `node` */
	int step; /* index in the model, -1 = none */
	int pid;
	int status;
	unsigned flags;
	unsigned code;
	unsigned call;   /* enum leat_call for ASK */
	uint64_t ofd;    /* id of an open file description */
	uint64_t waiter; /* id of a waiting call */
	uint64_t offset;
	uint64_t length;
	const char *name; /* path relative to the workflow's directory */
	const char *to;   /* RENAME: new name; CREATE of a hard link: the existing name */
};

const char *leat_event_kind_name(enum leat_event_kind kind);

/* The event log: one line per event, tab separated, names percent-encoded,
 * first line "# leat event log 1". */

/* Write one line (and, for seq 0, the header). 0 or -errno. */
int leat_event_write(FILE *out, const struct leat_event *ev);

struct leat_event_reader;

/* Reader over `in` (borrowed). NULL and errno when the header is wrong. */
struct leat_event_reader *leat_event_reader_new(FILE *in);
void leat_event_reader_free(struct leat_event_reader *r);

/* Next event; its strings live until the next call. 1 read, 0 end, -EINVAL a
 * malformed line (leat_event_reader_line tells which). */
int leat_event_read(struct leat_event_reader *r, struct leat_event *ev);
long leat_event_reader_line(const struct leat_event_reader *r);

#endif
