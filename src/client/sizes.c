#include "client/sizes.h"
#include "client/intent.h"

#include <stddef.h>
#include <string.h>

#define NEVER                                                                                      \
	{                                                                                          \
		LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED                                                 \
	}

enum { MOST_TEXTS = 2, NAME_SIZE = 16, TEXT_SIZE = 56 };

#define GAWK "GNU Awk ", "gawk is a pattern scanning and processing language"
#define PERL "Can't open perl script \"%s\": %s"
#define PYTHON "Cannot use closefd=False with file name"

/* A name, or, where it ends in '*', how names begin, and texts that only this tool holds, in all
 * its versions: what it says to its user, or what a library exports. Whoever is here NEVER goes by
 * the size reads to the end of the file whatever it is: the sources say so. To be wrong about that
 * is to be wrong without a word. */
static const struct {
	/* no pointers: each would cost every start of a program */
	char name[NAME_SIZE];
	char texts[MOST_TEXTS][TEXT_SIZE]; /* "": no more */
	struct leat_size_looks looks;
	bool by_kind; /* never, where the code that asks wants to know the kind of the file */
} known[] = {
	/* the size of a block, the kind of file, and whether it is the output, too */
	{"cat", {"GNU coreutils", "Concatenate FILE(s)"}, NEVER, false},
	/* of small files the size of a buffer */
	{"gawk", {GAWK}, NEVER, false},
	{"gawk-*", {GAWK}, NEVER, false},
	/* looks for holes behind what it has read */
	{"grep", {"GNU grep", "Search for PATTERN"}, NEVER, false},
	/* the size of a buffer */
	{"sort", {"GNU coreutils", "Write sorted concatenation of all FILE(s)"}, NEVER, false},
	{"libhts.so*", {"hts_version", "identifiers than htslib can handle"}, NEVER, false},
	/* is it a directory? What a script asks for is another function's. */
	{"python3*", {PYTHON}, {0, 0}, true},
	{"libpython3*", {PYTHON}, {0, 0}, true},
	/* the same; what the program asks for comes later */
	{"perl", {PERL}, {1, 0}, false},
	{"perl5*", {PERL}, {1, 0}, false},
	{"libperl.so*", {PERL}, {1, 0}, false},
	{"libjava.so", {"Java_java_io_FileInputStream_open0"}, {1, 0}, false},
	{"libR.so", {"R_NilValue", "cannot open file '%s': it is a directory"}, {1, 0}, false},
	/* how far it has got; of an archive whose index it reads, where that is */
	{"xz", {"xz (XZ Utils) "}, {1, 1}, false},
};

static bool matches(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return strncmp(name, pattern, length - 1) == 0;
	return strcmp(name, pattern) == 0;
}

static bool holds_all(const struct leat_size_asker *a, const char (*texts)[TEXT_SIZE])
{
	for (size_t i = 0; i < MOST_TEXTS && *texts[i]; i++)
		if (!a->holds(a->context, texts[i]))
			return false;
	return true;
}

struct leat_size_looks leat_size_looks_of(const struct leat_size_asker *a)
{
	const struct leat_size_looks none = {0}, never = NEVER;
	const char *slash = strrchr(a->file, '/');
	const char *name = slash ? slash + 1 : a->file;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!matches(name, known[i].name))
			continue;
		if (known[i].by_kind && !leat_intent_is_kind(a->code, a->size))
			return none;
		if (!holds_all(a, known[i].texts))
			return none;
		return known[i].by_kind ? never : known[i].looks;
	}
	return none;
}

/* The last of the bytes compared tells how far on the text can be at the least (Horspool). */
bool leat_size_text_in(const void *bytes, size_t size, const char *text)
{
	const uint8_t *at = bytes;
	const size_t length = strlen(text);
	uint8_t skip[UINT8_MAX + 1];
	size_t on;

	if (!length || length > UINT8_MAX)
		return false;
	memset(skip, (int)length, sizeof(skip));
	for (size_t i = 0; i + 1 < length; i++)
		skip[(uint8_t)text[i]] = (uint8_t)(length - 1 - i);
	for (; size >= length; at += on, size -= on) {
		on = skip[at[length - 1]];
		if (at[length - 1] == (uint8_t)text[length - 1] && memcmp(at, text, length) == 0)
			return true;
		if (on > size)
			break;
	}
	return false;
}
