/* What a program or a library is linked with, and where its loader is to look for that. */
#ifndef LEAT_BASE_ELF_LINKS_H
#define LEAT_BASE_ELF_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf.h"

#define LEAT_ELF_MAX_NEEDED 256

/* Offsets among its strings. */
struct leat_elf_links {
	uint64_t text, text_size; /* where these are in the file */
	uint32_t rpath, runpath;  /* 0: none */
	uint32_t n_needed;
	uint32_t needed[LEAT_ELF_MAX_NEEDED]; /* DT_NEEDED, in their order */
};

/* Look at the file in `fd` through `read_at`. False: it is no dynamic program or library of our own
 * machine and word size. Any thread; async-signal-safe if read_at is; allocates nothing. */
bool leat_elf_links_read(int fd, leat_elf_read_at *read_at, struct leat_elf_links *links);

/* The string at `offset` into `out`, closed by a 0. False: it does not fit, or cannot be read. */
bool leat_elf_links_text(int fd, leat_elf_read_at *read_at, const struct leat_elf_links *links,
			 uint32_t offset, char *out, size_t size);

#endif
