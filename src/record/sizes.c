#include "record/sizes.h"

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
} known[] = {
	/* the size of a block, the kind of file, and whether it is the output, too */
	{"cat", NEVER},
	{"gawk", NEVER}, /* of small files the size of a buffer */
	{"gawk-*", NEVER},
	{"grep", NEVER}, /* looks for holes behind what it has read */
	{"sort", NEVER}, /* the size of a buffer */
	{"libhts.so*", NEVER},
	/* is it a directory? What the program asks for comes later. */
	{"python3*", {1, 2}},
	{"libpython3*", {1, 2}},
	{"perl", {1, 0}},
	{"perl5*", {1, 0}},
	{"libperl.so*", {1, 0}},
	{"libjava.so", {1, 0}},
	{"libR.so", {1, 0}},
	/* how far it has got; of an archive whose index it reads, where that is */
	{"xz", {1, 1}},
};

static bool matches(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return strncmp(name, pattern, length - 1) == 0;
	return strcmp(name, pattern) == 0;
}

struct leat_size_looks leat_size_looks_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (matches(name, known[i].name))
			return known[i].looks;
	return (struct leat_size_looks){0};
}
