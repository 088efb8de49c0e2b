/* What the loader knows of a program or library in memory. */
#ifndef LEAT_PRELOAD_ENGINE_OBJECT_X86_64_H
#define LEAT_PRELOAD_ENGINE_OBJECT_X86_64_H

#include "preload/engine/code_x86_64.h"

#include <link.h>

/* The name of its file; the program itself has one, too. */
const char *leat_object_file(const struct dl_phdr_info *info);

/* Is the address in it? */
bool leat_object_holds(const struct dl_phdr_info *info, const void *address);

/* The first 8 bytes of its build id; 0: it has none. */
uint64_t leat_object_id(const struct dl_phdr_info *info);

/* The id of something made of several things, with one more; 0 stays 0. */
static inline uint64_t leat_object_add_id(uint64_t sum, uint64_t id)
{
	return id && sum ? (sum << 1 | sum >> 63) ^ id : 0;
}

/* The next segment of code from number *i on, which is moved behind it. False: none is left. */
bool leat_object_code(const struct dl_phdr_info *info, int *i, struct leat_code *code);

#endif
