/* Which programs look at the size of an open file that still grows, and do not go by it. Pure. */
#ifndef LEAT_CLIENT_SIZES_H
#define LEAT_CLIENT_SIZES_H

#include <stdbool.h>
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

/* Who asks. All is borrowed, and for the call only. */
struct leat_size_asker {
	const char *file;    /* of the program or library, with or without directories */
	const uint8_t *code; /* what comes next where it asks */
	size_t size;         /* of the code; 0: not known */
	/* Does the program or library hold this text, in memory that it does not change? */
	bool (*holds)(void *context, const char *text);
	void *context;
};

/* A name is anybody's: a tool is known by texts that it holds, too. Who is not known goes by all
 * that it is shown: {0, 0}. `holds` is called for names that are known only. Any thread;
 * async-signal-safe if `holds` is. docs/explanation/semantics.md, "Sizes". */
struct leat_size_looks leat_size_looks_of(const struct leat_size_asker *asker);

/* Is the text, without its end, among the `size` bytes? Any thread; async-signal-safe. */
bool leat_size_text_in(const void *bytes, size_t size, const char *text);

#endif
