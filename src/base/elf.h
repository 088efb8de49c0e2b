/* What kind of program a file is, as far as the interception library minds. */
#ifndef LEAT_BASE_ELF_H
#define LEAT_BASE_ELF_H

#include <stddef.h>
#include <sys/types.h>

enum leat_elf_kind {
	LEAT_ELF_NONE,    /* no ELF file: a script, or something else */
	LEAT_ELF_DYNAMIC, /* started by glibc's dynamic loader: can be intercepted */
	LEAT_ELF_OTHER,   /* by that of another C library, as musl */
	LEAT_ELF_LOADER,  /* the dynamic loader itself */
	LEAT_ELF_STATIC,  /* no dynamic loader */
	LEAT_ELF_GO,      /* Go: makes system calls without libc */
	LEAT_ELF_FOREIGN, /* another word size or machine than leat's own */
};

/* pread, or something like it: bytes read, or negative. */
typedef ssize_t leat_elf_read_at(int fd, void *buffer, size_t size, off_t at);

/* Look at the program in `fd` through `read_at`. A file that cannot be read or
 * is cut off counts as LEAT_ELF_NONE. Any thread; async-signal-safe if read_at
 * is; allocates nothing. */
enum leat_elf_kind leat_elf_inspect(int fd, leat_elf_read_at *read_at);

/* Why a program of this kind cannot be intercepted ("statically linked"), or
 * NULL if it can. Static text. */
const char *leat_elf_obstacle(enum leat_elf_kind kind);

#endif
