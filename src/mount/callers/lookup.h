/* A lookup asks for one name of a path. Whether the call goes on from there, and whether it would
 * follow a symlink, the kernel does not say: the caller's system call does, in which it waits. */
#ifndef LEAT_MOUNT_CALLERS_ASKED_H
#define LEAT_MOUNT_CALLERS_ASKED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A system call that a thread is in. */
struct leat_caller_syscall {
	int nr; /* of a 32-bit program one of theirs: its stack is below 4 GiB */
	uint64_t args[6];
	uint64_t stack; /* where it ends */
};

/* How a call takes the name at the end of its path. */
enum leat_asked {
	LEAT_ASKED_ANY,  /* it follows a symlink; or nobody knows */
	LEAT_ASKED_FILE, /* itself, which must not be a symlink */
	LEAT_ASKED_DIR,  /* the same, and must be a directory */
	LEAT_ASKED_LINK, /* readlink(2) */
};

/* The call in which thread `tid` waits for us. False: it is in none, or we may not look. Source:
 * proc_pid_syscall(5). */
bool leat_caller_syscall_of(pid_t tid, struct leat_caller_syscall *c);

/* What the call in which a thread waits for us has to do with a name. */
struct leat_caller_aim {
	enum leat_asked asked; /* how it takes that; ANY, too, if it is not the last of its path */
	bool looks;     /* it is the last of a path at whose end it only looks (stat, chdir, an
			   open for reading); or nobody knows that: of 32-bit programs */
	bool makes;     /* it is the last of a path by which it makes something that must not
			   be there yet, or that takes the place of what is there */
	bool makes_dir; /* it is the last of a path whose directory it makes */
};

/* If we may not look at thread `tid`: ANY, it looks. Source: proc_pid_syscall(5). */
struct leat_caller_aim leat_caller_aim_of(pid_t tid, const char *name);

#endif
