#include "record/sizes.h"
#include "record/intent.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NEVER                                                                                      \
	{                                                                                          \
		LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED                                                 \
	}

/* A name, or, where it ends in '*', how names begin. Whoever is here NEVER goes by the size reads
 * to the end of the file whatever it is: the sources say so. To be wrong about that is to be wrong
 * without a word. */
static const struct {
	const char *name;
	struct leat_size_looks looks;
	bool by_kind; /* never, where the code that asks wants to know the kind of the file */
} known[] = {
	/* the size of a block, the kind of file, and whether it is the output, too */
	{"cat", NEVER, false},
	{"gawk", NEVER, false}, /* of small files the size of a buffer */
	{"gawk-*", NEVER, false},
	{"grep", NEVER, false}, /* looks for holes behind what it has read */
	{"sort", NEVER, false}, /* the size of a buffer */
	{"libhts.so*", NEVER, false},
	/* is it a directory? What a script asks for is another function's. */
	{"python3*", {0, 0}, true},
	{"libpython3*", {0, 0}, true},
	/* the same; what the program asks for comes later */
	{"perl", {1, 0}, false},
	{"perl5*", {1, 0}, false},
	{"libperl.so*", {1, 0}, false},
	{"libjava.so", {1, 0}, false},
	{"libR.so", {1, 0}, false},
	/* how far it has got; of an archive whose index it reads, where that is */
	{"xz", {1, 1}, false},
};

static bool matches(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return strncmp(name, pattern, length - 1) == 0;
	return strcmp(name, pattern) == 0;
}

struct leat_size_looks leat_size_looks_of(const char *file, const uint8_t *code, size_t size)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (matches(name, known[i].name)) {
			if (known[i].by_kind && leat_intent_is_kind(code, size))
				return (struct leat_size_looks)NEVER;
			return known[i].looks;
		}
	return (struct leat_size_looks){0};
}
