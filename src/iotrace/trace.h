/* Traces of low-level I/O: what every tracer writes and every reader of traces takes.
 *
 * A trace is one machine's. It is two streams of records, of calls and of processes, both in the
 * order of their end. On disk it is NAME.csv with NAME.pids.csv beside it, or one compressed
 * NAME.trace that holds both. The columns of the calls are those of Witzke et al., "Low-level I/O
 * Monitoring for Scientific Workflows" (2024), Fig. 2; docs/reference/trace-format.md has the whole
 * format.
 */
#ifndef LEAT_IOTRACE_TRACE_H
#define LEAT_IOTRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call did. The letters are those of the column `type`. */
enum leat_trace_type {
	LEAT_TRACE_OPEN = 'O',
	LEAT_TRACE_CREATE = 'C', /* an open that made the file */
	LEAT_TRACE_READ = 'R',
	LEAT_TRACE_WRITE = 'W',
	LEAT_TRACE_UNLINK = 'U',
	LEAT_TRACE_CLOSE = 'X', /* the last close of the handle */
	LEAT_TRACE_MAP = 'M',   /* size bytes at offset may be read, or with flags PROT_WRITE
				   written, without a further record */
	LEAT_TRACE_RENAME = 'N',
	LEAT_TRACE_TRUNCATE = 'T', /* the file now has size bytes */
};

/* One call on a file that was opened after the trace began, or on a name. Fields that its type does
 * not have are 0 or NULL. Strings are borrowed from whoever made the record. */
struct leat_trace_call {
	int64_t start_ns, end_ns; /* CLOCK_REALTIME */
	int32_t pid; /* the process: thread group, as the tracer's machine numbers it */
	enum leat_trace_type type;
	int64_t utime_start_ns, utime_end_ns; /* CPU time of the thread, in the program */
	int64_t stime_start_ns, stime_end_ns; /* and in the kernel */
	uint64_t inode;   /* the file: unique in the whole trace, never used again */
	uint64_t handle;  /* the open file description: likewise */
	int64_t result;   /* READ, WRITE: bytes moved; others 0; or -errno */
	uint64_t offset;  /* in bytes, where a READ or WRITE began, whoever kept the offset */
	uint64_t size;    /* in bytes, asked for */
	uint32_t flags;   /* OPEN, CREATE: of open(2); MAP: PROT_*; others those of their open */
	const char *path; /* OPEN, CREATE, UNLINK, RENAME: absolute, never cut; as the process sees
			     it */
	const char *to;   /* RENAME: the new name */
	/* The same where the tracer is, of a process that has another root directory or other
	 * mounts: NULL: as above; "": could not be found out. What has no name there is
	 * TYPE[MAJOR:MINOR]:PATH, of its file system and its path in that. */
	const char *outside, *to_outside;
};

enum leat_trace_change {
	LEAT_TRACE_FORK, /* ppid made pid */
	LEAT_TRACE_EXEC, /* pid runs another program */
	LEAT_TRACE_EXIT, /* pid is no more */
};

/* What became of a process. */
struct leat_trace_process {
	int64_t time_ns; /* CLOCK_REALTIME */
	enum leat_trace_change change;
	int32_t ppid, pid;
	uint64_t cgroup;     /* id of its cgroup (v2), 0 unknown */
	uint64_t mounts;     /* EXEC: inode of its mount namespace, 0 unknown or the tracer's */
	int32_t status;      /* EXIT: as of wait(2) */
	const char *program; /* EXEC: path; NULL unknown */
	const char *dir;     /* EXEC: working directory; NULL unknown */
	const char
		*labels; /* EXEC: what of its environment tells whose it is, as KEY=VALUE words
			    that are percent-encoded (SLURM_JOB_ID=7 LEAT_STEP=align); NULL none */
};

/* A cgroup by its path, and where a file system is seen: said before they are needed. */
struct leat_trace_cgroup {
	uint64_t id;
	const char *path; /* below the root of cgroups */
};

struct leat_trace_mount {
	uint64_t namespace_id; /* inode of the mount namespace */
	const char *at;        /* where those in it see it */
	const char *from;      /* the same as the tracer's own namespace sees it; NULL nowhere */
	const char *type;      /* of the file system */
};

/* A program whose calls this tracer did not see, said at the end. */
struct leat_trace_unseen {
	uint64_t times; /* it was started */
	const char *program;
	const char *why; /* NULL unknown */
};

/* Why records are missing. */
enum leat_trace_loss {
	LEAT_TRACE_LOST_BUFFER, /* the buffer between the traced and the tracer was full */
	LEAT_TRACE_LOST_MEMORY, /* a table of files or processes was full */
	LEAT_TRACE_LOST_PATH,   /* the name could not be found out */
	LEAT_TRACE_LOST_WRITE,  /* the trace could not be written */
	LEAT_TRACE_LOST_UNSEEN, /* done in a way that this tracer does not see: io_uring, kernel
				   AIO, programs of another architecture */
	LEAT_TRACE_LOSSES
};

/* What is true of a whole trace. */
struct leat_trace_head {
	char *host;       /* NULL unknown (the paper's layout) */
	char *tracer;     /* its name; NULL unknown */
	char *command;    /* as a person would type it; NULL system-wide or unknown */
	int64_t began_ns; /* CLOCK_REALTIME; 0 unknown */
	bool foreign;     /* the paper's layout */
};

/* The trailer of a trace. */
struct leat_trace_tail {
	uint64_t calls, processes; /* recorded */
	uint64_t lost[LEAT_TRACE_LOSSES];
	bool complete; /* false: the trace ends without them: it was cut off */
};

enum leat_trace_kind {
	LEAT_TRACE_CALL,
	LEAT_TRACE_PROCESS,
	LEAT_TRACE_CGROUP,
	LEAT_TRACE_MOUNT,
	LEAT_TRACE_UNSEEN,
};

struct leat_trace_record {
	enum leat_trace_kind kind;
	unsigned node; /* index of the trace it comes from, when several are read as one */
	union {
		struct leat_trace_call call;
		struct leat_trace_process process;
		struct leat_trace_cgroup cgroup;
		struct leat_trace_mount mount;
		struct leat_trace_unseen unseen;
	};
};

/* The name that is the same for all processes of the trace: the one outside, if it is known. */
static inline const char *leat_trace_name(const char *path, const char *outside)
{
	return outside && *outside ? outside : path;
}

const char *leat_trace_loss_name(enum leat_trace_loss loss);

/* ---- writing ---- */

struct leat_trace_writer;

/* Begins a trace at `path`: compressed where that ends in ".trace", else CSV. `head` is copied.
 * NULL and errno. One thread at a time, as for all of a writer. */
struct leat_trace_writer *leat_trace_writer_new(const char *path,
						const struct leat_trace_head *head);

/* 0 or -errno, which the following calls and the end repeat; but for -EMSGSIZE, of texts that are
 * too long for names. What is not written is counted as lost. */
int leat_trace_write(struct leat_trace_writer *w, const struct leat_trace_record *record);

/* More records of that kind are known to be missing. */
void leat_trace_writer_lost(struct leat_trace_writer *w, enum leat_trace_loss why, uint64_t count);

/* Hands what was written to the kernel. 0 or -errno. */
int leat_trace_writer_flush(struct leat_trace_writer *w);

/* Writes the trailer, closes and frees. `tail`, unless NULL, is what was recorded and lost. 0 or
 * the first -errno of any write. */
int leat_trace_writer_end(struct leat_trace_writer *w, struct leat_trace_tail *tail);

/* ---- reading ---- */

struct leat_trace_reader;

/* Reads one trace: a NAME.csv with its NAME.pids.csv (also under the paper's names and layout), or
 * a NAME.trace; its two streams are merged by time. NULL and errno; -EBADMSG when it is no trace:
 * `why`, of `size` bytes, then says what was found instead. */
struct leat_trace_reader *leat_trace_reader_new(const char *path, char *why, size_t size);

/* Reads several as one, merged by time. Each of `paths` is a trace or a directory with one node's
 * traces. `skew_ns`, unless NULL, is added to the times of each. */
struct leat_trace_reader *leat_trace_reader_new_all(const char *const *paths, size_t n,
						    const int64_t *skew_ns, char *why, size_t size);

/* The next record; its strings live until the next call. 1, 0 at the end, -EBADMSG for a malformed
 * line or block, of which leat_trace_reader_why tells file, line and reason; reading may go on
 * behind it. Other -errno are final. */
int leat_trace_read(struct leat_trace_reader *r, struct leat_trace_record *record);
const char *leat_trace_reader_why(const struct leat_trace_reader *r);

/* How many traces are read, and what is true of each. Tails are known at the end. */
unsigned leat_trace_reader_nodes(const struct leat_trace_reader *r);
const struct leat_trace_head *leat_trace_reader_head(const struct leat_trace_reader *r,
						     unsigned node);
const struct leat_trace_tail *leat_trace_reader_tail(const struct leat_trace_reader *r,
						     unsigned node);
void leat_trace_reader_free(struct leat_trace_reader *r);

#endif
