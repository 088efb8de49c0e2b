/* The trace buffer: shared memory in which the processes of a traced command record their calls,
 * and from which the tracer takes them.
 *
 * Records lie in chunks. A process has a few lanes, each with a chunk; who records claims a lane,
 * writes behind what is there, and lets go: no two write at once, none waits, and a process that is
 * killed leaves what it has recorded. A lane's records are in the order of their end. The tracer
 * reads all chunks, merges by time, and frees them.
 *
 * Descriptors belong to processes, files as they were opened to all: a handle is an open file
 * description, counted over the descriptors of all processes. Everything here may be wrong when a
 * traced program writes where it must not: the tracer checks numbers before it uses them.
 *
 * Any thread of any process; async-signal-safe; no system calls (but for tracebuf_segment.c). */
#ifndef LEAT_SHM_TRACEBUF_H
#define LEAT_SHM_TRACEBUF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Environment variable: where the trace buffer is. */
#define LEAT_TRACEBUF_VARIABLE "LEAT_TRACE_BUFFER"

#define LEAT_TRACEBUF_MAGIC 0x7472626674616c65u /* "elatfbrt" */
#define LEAT_TRACEBUF_VERSION 6
#define LEAT_TRACEBUF_CHUNK 65536u
#define LEAT_TRACEBUF_MAX_CHUNKS 16384u
#define LEAT_TRACEBUF_PROCESSES 4096u
#define LEAT_TRACEBUF_FDS 8192u /* of one process */
#define LEAT_TRACEBUF_HANDLES 65536u
#define LEAT_TRACEBUF_LANES 16u
#define LEAT_TRACEBUF_LOSSES 8u
#define LEAT_TRACEBUF_IN_FLIGHT 64u /* descriptors under way in messages */
/* For how long who records waits for space, and without a sign of the tracer. */
#define LEAT_TRACEBUF_LONGEST_WAIT_NS INT64_C(10000000000)
#define LEAT_TRACEBUF_LONGEST_SILENCE_NS INT64_C(5000000000)
/* Longer records there are none: three paths. */
#define LEAT_TRACEBUF_MAX_RECORD (128u + 3 * 4096u)

/* A bitmap of what is free, for tables of up to LEAT_TRACEBUF_MAX_CHUNKS. */
struct leat_tracebuf_free {
	_Atomic uint64_t word[LEAT_TRACEBUF_MAX_CHUNKS / 64];
};

enum leat_tracebuf_state {
	LEAT_TRACEBUF_FREE,
	LEAT_TRACEBUF_FORKING, /* made by its parent before the fork */
	LEAT_TRACEBUF_LIVE,
	LEAT_TRACEBUF_STARTING, /* another program is being started */
	LEAT_TRACEBUF_GONE,     /* said goodbye, or is known to be dead */
};

enum leat_tracebuf_process_flags {
	LEAT_TRACEBUF_RINGS = 1, /* io_uring or kernel AIO: calls that are not seen */
	LEAT_TRACEBUF_REFUSED =
		2, /* the library is loaded, but cannot see the calls of this program */
	LEAT_TRACEBUF_RECEIVED =
		4,                /* descriptors came from elsewhere: calls on them are not seen */
	LEAT_TRACEBUF_SERVER = 8, /* records what others do, by its mount: nobody of the trace */
	LEAT_TRACEBUF_MOUNTED =
		16, /* a mount is made, or is there: its server tells what it does */
};

struct leat_tracebuf_process {
	_Atomic uint32_t state;  /* enum leat_tracebuf_state */
	_Atomic int32_t parent;  /* COMING: who makes it */
	_Atomic uint32_t flags;  /* enum leat_tracebuf_process_flags */
	_Atomic uint32_t fd_end; /* its descriptors are below; never falls */
	uint32_t pad[4];
	_Atomic uint32_t lane[LEAT_TRACEBUF_LANES]; /* chunk + 1; 0: none */
	uint32_t pad2[8];
};
_Static_assert(sizeof(struct leat_tracebuf_process) == 128, "two cache lines a process");

enum leat_tracebuf_handle_flags {
	LEAT_TRACEBUF_UNSURE = 1,    /* others may move the offset: ask the kernel */
	LEAT_TRACEBUF_APPEND = 2,    /* writes go to the end: ask the kernel where that was */
	LEAT_TRACEBUF_OPEN_LOST = 4, /* its open was lost: so are calls on it */
	LEAT_TRACEBUF_STREAM = 8,    /* no plain file: it has no offsets */
};

struct leat_tracebuf_handle {
	_Atomic uint64_t refs;   /* descriptors of all processes; 0: nobody's */
	_Atomic uint64_t offset; /* as the kernel has it, unless UNSURE */
	_Atomic uint64_t id;     /* never used again */
	_Atomic uint32_t flags;  /* enum leat_tracebuf_handle_flags */
	_Atomic uint32_t next;   /* while nobody's: the next free one */
	_Atomic uint64_t device, inode;
	uint64_t pad[2];
};
_Static_assert(sizeof(struct leat_tracebuf_handle) == 64, "one cache line a handle");

struct leat_tracebuf_chunk {
	_Atomic uint32_t busy;    /* who records, index + 1, or takes it away; 0: nobody */
	_Atomic uint32_t process; /* whose it is, or was: index */
	_Atomic uint64_t used;    /* bytes of whole records, this head included; 0: free */
	uint64_t pad[6];
};
_Static_assert(sizeof(struct leat_tracebuf_chunk) == 64, "one cache line");

/* What is recorded: leat_trace_call's types by their letters, and: */
enum leat_tracebuf_event {
	LEAT_TRACEBUF_FORKED = 'f', /* handle: the parent's pid */
	/* texts: program as it was called, directory, environment; inode: the mount of its root;
	 * flags, offset: its user and group */
	LEAT_TRACEBUF_STARTED = 'e',
	LEAT_TRACEBUF_EXEC_BEGINS =
		's', /* before an exec; texts: program, directory; inode: as above */
	LEAT_TRACEBUF_EXEC_FAILED = 'n', /* that exec failed */
	LEAT_TRACEBUF_EXITS = 'x',       /* result: as of wait(2) */
};

/* Whose record it is. */
enum leat_tracebuf_by {
	LEAT_TRACEBUF_BY_ITSELF, /* the process that has the chunk */
	/* A mount's server, of process `pid`. STARTED: all that it does in the workflow's directory
	 * is seen; or what it does to files that it has open already is not; or nothing is. */
	LEAT_TRACEBUF_BY_MOUNT,
	LEAT_TRACEBUF_BY_MOUNT_PARTLY,
	LEAT_TRACEBUF_BY_MOUNT_BLIND,
};

/* One record. Texts that it has follow, each with its NUL, as `texts` says how many. */
struct leat_tracebuf_record {
	uint32_t size; /* with its texts; a multiple of 8 */
	uint8_t type;
	uint8_t texts;
	uint16_t by; /* enum leat_tracebuf_by */
	int32_t pid;
	uint32_t flags;
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	int64_t utime_start_ns, utime_end_ns, stime_start_ns, stime_end_ns;
	uint64_t handle;
	int64_t result;
	uint64_t offset, length;
	uint64_t device, inode; /* OPEN, CREATE, UNLINK, RENAME, TRUNCATE by path; else 0 */
	int64_t birth_ns;
	char text[];
};
_Static_assert(offsetof(struct leat_tracebuf_record, text) == 120, "no holes");

/* A program that ran in another namespace of processes. */
struct leat_tracebuf_foreign {
	_Atomic uint32_t state;  /* 0: free; 1: being written; 2: it has a name */
	_Atomic uint32_t asked;  /* starts that were asked for there */
	_Atomic uint32_t loaded; /* starts in which it loaded the library */
	char program[244];       /* cut if need be */
};
_Static_assert(sizeof(struct leat_tracebuf_foreign) == 256, "no holes");
enum { LEAT_TRACEBUF_FOREIGNERS = 64 };

/* What each program touches at its start comes first, and small: a page of it costs a fault, a
 * distant one memory for its place in the page table as well. */
struct leat_tracebuf {
	uint64_t magic;
	uint32_t version, n_chunks;
	uint64_t size_bytes;           /* of the whole */
	_Atomic uint64_t beat_ns;      /* when the tracer looked last, CLOCK_MONOTONIC; 0: never */
	_Atomic uint64_t next_id;      /* of handles */
	_Atomic uint64_t free_handle;  /* index below a tag that changes; index 0: none */
	_Atomic uint64_t handles_used; /* those from here on have never been anybody's */
	_Atomic uint64_t lost[LEAT_TRACEBUF_LOSSES];
	uint64_t pid_namespace; /* the tracer's namespace of processes, by its inode; 0: unknown */
	_Atomic uint64_t foreign; /* programs of other ones that have no space below */
	_Atomic uint64_t n_sent;  /* so many were sent */
	_Atomic uint32_t in_flight[LEAT_TRACEBUF_IN_FLIGHT]; /* handles; 0: none */
	struct leat_tracebuf_free free_chunks, free_processes;
	_Atomic int32_t
		pids[LEAT_TRACEBUF_PROCESSES]; /* 0: none yet; below: another has it by now */
	struct leat_tracebuf_process processes[LEAT_TRACEBUF_PROCESSES];
	struct leat_tracebuf_handle handles[LEAT_TRACEBUF_HANDLES];
	_Atomic uint32_t
		fds[LEAT_TRACEBUF_PROCESSES][LEAT_TRACEBUF_FDS]; /* handle; 0: none of ours */
	struct leat_tracebuf_foreign foreigners[LEAT_TRACEBUF_FOREIGNERS];
	/* n_chunks of LEAT_TRACEBUF_CHUNK bytes follow, at the next multiple of that */
};

/* --- making and mapping: tracebuf_segment.c, with system calls --- */

/* A trace buffer whose chunks have `buffer_bytes` together (0: the default). The descriptor and the
 * mapping are the caller's. 0 or -errno. */
int leat_tracebuf_create(size_t buffer_bytes, int *fd, struct leat_tracebuf **tracebuf);
/* Maps the one at `path`. 0, -EPROTO: it is none of this version, or -errno. */
int leat_tracebuf_open(const char *path, struct leat_tracebuf **tracebuf);
void leat_tracebuf_unmap(struct leat_tracebuf *tracebuf);

/* Does what was mapped look like a trace buffer of `size` bytes? */
bool leat_tracebuf_is_good(const struct leat_tracebuf *tracebuf, uint64_t size);

/* --- losses --- */

/* A program runs in another namespace of processes, whose numbers mean nothing to the tracer: it is
 * not recorded. It says so itself (`loaded`), or who is about to start it there. Returns what is to
 * be taken back if that fails. */
uint32_t leat_tracebuf_note_foreign(struct leat_tracebuf *tracebuf, const char *program,
				    bool loaded);
void leat_tracebuf_foreign_undo(struct leat_tracebuf *tracebuf, uint32_t noted);
/* Such a program by index, and how often it was started; NULL: there are no more. */
const char *leat_tracebuf_foreign(struct leat_tracebuf *tracebuf, unsigned index, uint64_t *times);
/* Starts of others, for which there was no space. */
uint64_t leat_tracebuf_foreign_others(struct leat_tracebuf *tracebuf);

void leat_tracebuf_lose(struct leat_tracebuf *tracebuf, unsigned why, uint64_t count);
/* So many since it was asked last. */
uint64_t leat_tracebuf_lost(struct leat_tracebuf *tracebuf, unsigned why);
/* The tracer is there: it looks at the trace buffer. */
void leat_tracebuf_beat(struct leat_tracebuf *tracebuf, uint64_t now_ns);
uint64_t leat_tracebuf_last_beat(const struct leat_tracebuf *tracebuf);

/* --- processes; by index --- */

#define LEAT_TRACEBUF_NONE UINT32_MAX

/* A new one. LEAT_TRACEBUF_NONE: there is no space. */
uint32_t leat_tracebuf_process_new(struct leat_tracebuf *tracebuf, int32_t parent);
/* The process itself says that it is there. */
void leat_tracebuf_process_adopt(struct leat_tracebuf *tracebuf, uint32_t process, int32_t pid);
/* LEAT_TRACEBUF_NONE: none is known by that pid. */
uint32_t leat_tracebuf_process_of(struct leat_tracebuf *tracebuf, int32_t pid);
enum leat_tracebuf_state leat_tracebuf_process_state(const struct leat_tracebuf *tracebuf,
						     uint32_t process);
/* 0: not known yet. Below 0: its number is another's by now, so it is dead. */
int32_t leat_tracebuf_process_pid(const struct leat_tracebuf *tracebuf, uint32_t process);
int32_t leat_tracebuf_process_parent(const struct leat_tracebuf *tracebuf, uint32_t process);
void leat_tracebuf_process_set(struct leat_tracebuf *tracebuf, uint32_t process,
			       enum leat_tracebuf_state state);
void leat_tracebuf_process_flag(struct leat_tracebuf *tracebuf, uint32_t process, uint32_t flag);
uint32_t leat_tracebuf_process_flags(const struct leat_tracebuf *tracebuf, uint32_t process);
/* It is dead, its descriptors are closed and its chunks freed: its place may be taken. */
void leat_tracebuf_process_free(struct leat_tracebuf *tracebuf, uint32_t process);
/* The next that is not free, from `from` on; LEAT_TRACEBUF_NONE: none. */
uint32_t leat_tracebuf_process_next(const struct leat_tracebuf *tracebuf, uint32_t from);
/* This process starts anew, as another program, alone: nobody is recording. */
void leat_tracebuf_process_restart(struct leat_tracebuf *tracebuf, uint32_t process);

/* --- descriptors of a process --- */

/* The handle behind it; 0: not one of ours. */
uint32_t leat_tracebuf_fd(const struct leat_tracebuf *tracebuf, uint32_t process, int fd);
/* Returns what was there. `fd` below LEAT_TRACEBUF_FDS. */
uint32_t leat_tracebuf_fd_set(struct leat_tracebuf *tracebuf, uint32_t process, int fd,
			      uint32_t handle);
int leat_tracebuf_fd_end(const struct leat_tracebuf *tracebuf, uint32_t process);
/* `to` has the same descriptors as `from`: of a process that is to come. */
void leat_tracebuf_fd_inherit(struct leat_tracebuf *tracebuf, uint32_t from, uint32_t to);

/* --- handles --- */

/* A new one, of one descriptor, or 0: there is no space. */
uint32_t leat_tracebuf_handle_new(struct leat_tracebuf *tracebuf, uint32_t flags);
uint64_t leat_tracebuf_handle_id(const struct leat_tracebuf *tracebuf, uint32_t handle);
uint32_t leat_tracebuf_handle_flags(const struct leat_tracebuf *tracebuf, uint32_t handle);
void leat_tracebuf_handle_flag(struct leat_tracebuf *tracebuf, uint32_t handle, uint32_t set,
			       uint32_t clear);
/* One more descriptor. False: it has just been closed everywhere. */
bool leat_tracebuf_handle_hold(struct leat_tracebuf *tracebuf, uint32_t handle);
/* One less. True if that was the last, and *id and *flags are what it was. */
bool leat_tracebuf_handle_drop(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t *id,
			       uint32_t *flags);
/* The offset moves by `n`: where it was. */
uint64_t leat_tracebuf_handle_move(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t n);
void leat_tracebuf_handle_seek(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t offset);

/* Which file it is of, for who is handed a descriptor. */
void leat_tracebuf_handle_of(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t device,
			     uint64_t inode);
bool leat_tracebuf_handle_is(const struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t device,
			     uint64_t inode);

/* A reference to a handle that is under way in a message; returns another one that had to make
 * space, for the caller to drop; 0: none. */
uint32_t leat_tracebuf_in_flight_add(struct leat_tracebuf *tracebuf, uint32_t handle);
/* The one at `i`, below LEAT_TRACEBUF_IN_FLIGHT; 0: none. */
uint32_t leat_tracebuf_in_flight(const struct leat_tracebuf *tracebuf, uint32_t i);
/* It has arrived: the reference is the caller's. False: another's. */
bool leat_tracebuf_in_flight_claim(struct leat_tracebuf *tracebuf, uint32_t i, uint32_t handle);

/* --- recording --- */

/* Space for a record of up to `size` bytes of this process, and nobody else records in the same
 * lane before leat_tracebuf_end or leat_tracebuf_drop. `hint`: of the thread, which lane it had
 * before. NULL: there is no chunk left. The end of the call is to be stamped in between. */
struct leat_tracebuf_record *leat_tracebuf_begin(struct leat_tracebuf *tracebuf, uint32_t process,
						 size_t size, uint32_t *hint);
/* It is whole: `size` is set. */
void leat_tracebuf_end(struct leat_tracebuf *tracebuf, struct leat_tracebuf_record *record);

/* Of an environment, what may tell whose a process is: space that it needs in a record, and its
 * entries put there at `at`, as texts. Where they end. */
size_t leat_tracebuf_labels_size(char *const *envp);
char *leat_tracebuf_put_labels(struct leat_tracebuf_record *record, char *at, char *const *envp);

/* --- taking; the tracer only --- */

struct leat_tracebuf_view {
	const char *data; /* the chunk, from its head on */
	uint64_t used;    /* bytes; 0: it is free */
	uint32_t process;
	bool busy; /* somebody is just recording */
};
/* As it is now. */
struct leat_tracebuf_view leat_tracebuf_look(const struct leat_tracebuf *tracebuf, uint32_t chunk);
/* Everything in the chunk has been taken, up to `taken` bytes. Frees it if no lane needs it: it is
 * as good as full, or of a process that is gone (`gone`), or `spare`: space is short. False: it
 * stays. */
bool leat_tracebuf_reclaim(struct leat_tracebuf *tracebuf, uint32_t chunk, uint64_t taken,
			   bool gone, bool spare);
/* The next that is in use, from `from` on; LEAT_TRACEBUF_NONE: none. */
uint32_t leat_tracebuf_chunk_next(const struct leat_tracebuf *tracebuf, uint32_t from);
/* How many are free. */
uint32_t leat_tracebuf_free_chunks(const struct leat_tracebuf *tracebuf);

#endif
