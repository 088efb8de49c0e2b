/* Which programs look at the size of an open file that still grows, and do not go by it. Pure. */
#ifndef LEAT_RECORD_SIZES_H
#define LEAT_RECORD_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* How often fstat is called by a run time itself, before the program can: of a file that is opened,
 * and of the standard input. */
struct leat_size_looks {
	uint8_t at_open;
	uint8_t of_stdin;
};

/* However often, nothing is made to depend on the size. */
enum { LEAT_SIZE_UNUSED = UINT8_MAX };

/* Of a program or library whose file has the name `file` (with or without directories), which asks
 * where `size` bytes of `code` come next (0: not known). Who is not known goes by all that it is
 * shown: {0, 0}. docs/semantics.md, "Sizes". */
struct leat_size_looks leat_size_looks_of(const char *file, const uint8_t *code, size_t size);

#endif
