/* Patching the system calls of libc, the dynamic loader and other libraries, so that they come to
 * the entries. The engine knows nothing of what is behind these. */
#ifndef LEAT_PRELOAD_ENGINE_PATCH_H
#define LEAT_PRELOAD_ENGINE_PATCH_H

#include "preload/core/call.h"

#include <stdint.h>

/* From a call that leat_enter has saved to where the program's stack was, in bytes:
 * enter_x86_64.inc. */
#define LEAT_ENTER_STACK 200

/* What keeps a process from being seen: one of the two, or none. */
struct leat_unseen {
	const char *function; /* of libc: it does not arrive */
	const char *file;     /* of the program or a library: it makes calls that cannot be read */
};

/* Redirect the system calls of libc, the dynamic loader and other libraries to the `entries`, which
 * stay the caller's. What was found is kept in the directory `kept_in` for later processes; NULL:
 * not. Only in the constructor, while there is one thread. 0, or -errno with libc unchanged:
 * -ENOSYS on other architectures, -ENOENT without glibc, -EACCES and others where text may not be
 * written; -ENOEXEC: there would be calls that are not seen, see *unseen. */
struct leat_stub_table;
int leat_patch_libc(const struct leat_stub_table *entries, const char *kept_in,
		    struct leat_unseen *unseen);

/* Where the function of libc that made the call of a hook returns to; 0: not known, it has no frame
 * that is known. True of functions that do nothing else before, like fstat, and of syscall. */
uintptr_t leat_caller(const struct leat_syscall *c);

/* Map a file as code (mmap with PROT_EXEC) and see to the system calls in it. As the kernel;
 * -ENOEXEC: it makes calls that would not be seen. */
long leat_code_map(const struct leat_syscall *c);
#define LEAT_UNSEEN_LIBRARY                                                                        \
	"it makes system calls of its own; a program that loads it may be run behind a mount "     \
	"(LEAT_INTERCEPT=mount in its environment)"

#endif
