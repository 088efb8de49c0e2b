/* What the programs in the kernel say to the tracer, and what they are told before they start.
 * Included on both sides; the other side of each layout is compiled from the same text. */
#ifndef LEAT_TRACE_EBPF_RECORD_H
#define LEAT_TRACE_EBPF_RECORD_H

#ifndef __bpf__
#include <stdbool.h>
#include <stdint.h>
#endif

enum leat_ebpf_kind {
	LEAT_EBPF_CALL = 1, /* on a handle: struct leat_ebpf_call */
	LEAT_EBPF_OPEN,     /* struct leat_ebpf_named: text is a walk */
	LEAT_EBPF_NAME,     /* likewise: text is up to two walks, each with a name below it */
	LEAT_EBPF_FORK,     /* struct leat_ebpf_life, as the two below */
	LEAT_EBPF_EXEC,     /* text: walk of the program, walk of the directory, environment */
	LEAT_EBPF_EXIT,
};

/* CPU time of a thread, in ns: as much as the scheduler has counted, which it does when the thread
 * stops running and at ticks; divided as the ticks were; never less than before. */
struct leat_ebpf_cpu {
	uint64_t user, system;
};

/* Times are ns of CLOCK_MONOTONIC. */
struct leat_ebpf_call {
	uint16_t kind;
	uint16_t type; /* enum leat_trace_type */
	int32_t pid;
	uint64_t start_ns, end_ns;
	struct leat_ebpf_cpu cpu; /* at start */
	uint32_t user, system;    /* since then, in 1024 ns */
	uint32_t flags, pad;
	uint64_t handle;
	int64_t result;
	uint64_t offset, size;
};

enum {
	LEAT_EBPF_NAME_BYTES = 4096, /* what a program may give, with the NUL */
	LEAT_EBPF_WALK_BYTES = 8192, /* of one path by its components, NULs included */
	LEAT_EBPF_STEP_BYTES = 256,  /* of one component */
	LEAT_EBPF_FS_BYTES = 32,
	LEAT_EBPF_SOURCE_BYTES = 1024, /* of a mount */
	/* A CPU's space for all is at most 32 KiB: the kernel has no larger pieces. */
	LEAT_EBPF_TEXT_BYTES =
		2 * LEAT_EBPF_WALK_BYTES + 3 * LEAT_EBPF_NAME_BYTES + LEAT_EBPF_SOURCE_BYTES,
	LEAT_EBPF_LABEL_BYTES = 4096, /* of the environment */
	LEAT_EBPF_FILESYSTEMS = 16,
	LEAT_EBPF_CALLS = 512, /* system calls are numbered below that */
};

/* A walk is the components of a path, each with its NUL, the last first, up to the root. */
struct leat_ebpf_named {
	struct leat_ebpf_call call;
	uint64_t inode;
	uint32_t device, generation;
	uint32_t walk[2], name[2]; /* bytes of each in the text: walk 0, name 0, walk 1, name 1 */
	uint32_t cut;              /* a part of a path was too long or could not be read */
	/* Of a process with another root than the tracer: its mount namespace, by its inode, else
	 * 0; then bytes of a walk behind the names: OPEN: of the file within its file system, NAME:
	 * of that root; and of three strings: type and subtype of that file system, and the source
	 * of the mount. */
	uint32_t space, place, system;
	uint64_t event; /* of that namespace: so many changes its mounts had seen */
			/* the text */
};

struct leat_ebpf_life {
	uint16_t kind;
	uint16_t pad;
	int32_t ppid, pid;
	int32_t status; /* EXIT: as of wait(2) */
	uint64_t time_ns;
	uint64_t cgroup;
	uint64_t mounts, event;   /* EXEC: inode of the mount namespace, changes of its mounts */
	uint32_t walk[2], labels; /* EXEC: bytes of each in the text */
	uint32_t cut;
	/* the text */
};

/* What a system call is to the tracer. */
enum leat_ebpf_class {
	LEAT_EBPF_IGNORED,
	LEAT_EBPF_DATA, /* read, write and the like, by `how` */
	LEAT_EBPF_COPY, /* sendfile, copy_file_range, splice */
	LEAT_EBPF_OPENS,
	LEAT_EBPF_CLOSES,
	LEAT_EBPF_REPLACES, /* dup2, dup3: may close */
	LEAT_EBPF_DUPS,
	LEAT_EBPF_CONTROLS, /* fcntl: may be a dup */
	LEAT_EBPF_CLOSES_MANY,
	LEAT_EBPF_EXECS,
	LEAT_EBPF_MAPS,
	LEAT_EBPF_UNLINKS,
	LEAT_EBPF_RENAMES,
	LEAT_EBPF_TRUNCATES, /* by name */
	LEAT_EBPF_SETS_SIZE, /* by descriptor */
	LEAT_EBPF_SUBMITS,   /* kernel AIO */
	LEAT_EBPF_FOREIGN,   /* of another architecture: opens */
};
enum {
	LEAT_EBPF_WRITES = 1,           /* DATA */
	LEAT_EBPF_VECTOR = 2,           /* DATA: an array of struct iovec */
	LEAT_EBPF_AT_OFFSET = 4,        /* DATA: at an offset of its own */
	LEAT_EBPF_AT_OFFSET_OR_NOT = 8, /* DATA: unless that is -1 */
	LEAT_EBPF_AT = 16,              /* names: begin with the descriptor of a directory */
	LEAT_EBPF_BY_STRUCT = 32,       /* OPENS: flags are in struct open_how */
	LEAT_EBPF_CREATS = 64,          /* OPENS: has no flags */
	LEAT_EBPF_BY_HANDLE = 128,      /* OPENS: has no name */
	LEAT_EBPF_SENDS = 1,            /* COPY: arguments as of sendfile */
};

struct leat_ebpf_what {
	uint8_t class, how;
};

enum leat_ebpf_loss {
	LEAT_EBPF_LOST_BUFFER,
	LEAT_EBPF_LOST_MEMORY,
	LEAT_EBPF_LOST_UNSEEN,
	LEAT_EBPF_LOSSES,
};

/* Counted by each CPU for itself. */
struct leat_ebpf_counts {
	uint64_t lost[LEAT_EBPF_LOSSES];
	uint64_t forks, exits; /* of processes that are traced */
	uint64_t opens;        /* that got a handle */
	uint64_t hints;        /* files may have been closed unseen */
};

struct leat_ebpf_config {
	bool all; /* every process but the tracer, else those of `roots` */
	bool by_uid, by_gid;
	bool by_dir; /* files below those in the map `dirs` */
	uint32_t uid, gid;
	uint32_t self;  /* the tracer, */
	uint32_t pids;  /* in this namespace of processes, by its inode; 0: the first one */
	uint32_t types; /* bit i: letter 'A' + i */
	uint32_t cpus;
	uint32_t n_filesystems;
	char filesystems[LEAT_EBPF_FILESYSTEMS][LEAT_EBPF_FS_BYTES];
	struct leat_ebpf_what calls[LEAT_EBPF_CALLS];
	struct leat_ebpf_what foreign[LEAT_EBPF_CALLS];
};

#endif
