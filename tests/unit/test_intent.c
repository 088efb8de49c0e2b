/* What is recognised behind a call of fstat: code that compilers have made. */
#include "client/intent.h"
#include "client/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* _io_FileIO___init__ of Python 3.13 (gcc 12 -O3) and of Debian's 3.11. */
static const uint8_t python_313[] = {
	0x4c, 0x89, 0xe7,                         /* mov %r12,%rdi */
	0x89, 0xc5,                               /* mov %eax,%ebp */
	0xe8, 0x5f, 0xa8, 0xd9, 0xff,             /* call PyEval_RestoreThread */
	0x85, 0xed,                               /* test %ebp,%ebp */
	0x44, 0x8b, 0x4c, 0x24, 0x08,             /* mov 0x8(%rsp),%r9d */
	0x0f, 0x88, 0x37, 0x05, 0x00, 0x00,       /* js */
	0x8b, 0x44, 0x24, 0x68,                   /* mov 0x68(%rsp),%eax */
	0x25, 0x00, 0xf0, 0x00, 0x00,             /* and $0xf000,%eax */
	0x3d, 0x00, 0x40, 0x00, 0x00,             /* cmp $0x4000,%eax */
	0x0f, 0x84, 0xee, 0x04, 0x00, 0x00,       /* je */
	0x48, 0x8b, 0x84, 0x24, 0x88, 0x00, 0, 0, /* mov 0x88(%rsp),%rax */
};
static const uint8_t python_311[] = {
	0x4c, 0x89, 0xe7, 0x89, 0xc5, 0xe8, 0x56, 0xbc, 0xf7, 0xff, 0x85, 0xed, 0x0f,
	0x88, 0x54, 0xee, 0xea, 0xff, 0x8b, 0x44, 0x24, 0x78, 0x25, 0x00, 0xf0, 0x00,
	0x00, 0x3d, 0x00, 0x40, 0x00, 0x00, 0x0f, 0x84, 0x33, 0xef, 0xea, 0xff,
};

/* os.fstat of both: the result is handed out; the other goes on elsewhere. */
static const uint8_t fstat_313[] = {
	0x89, 0xc5,                   /* mov %eax,%ebp */
	0x4c, 0x89, 0xe7,             /* mov %r12,%rdi */
	0xe8, 0x7b, 0x15, 0xdb, 0xff, /* call PyEval_RestoreThread */
	0x85, 0xed,                   /* test %ebp,%ebp */
	0x75, 0xcb,                   /* jne */
	0x4c, 0x89, 0xf6,             /* mov %r14,%rsi */
	0x4c, 0x89, 0xef,             /* mov %r13,%rdi */
	0xe8, 0x3c, 0xf3, 0xff, 0xff, /* call _pystat_fromstructstat */
	0x5b, 0xc3,                   /* pop %rbx; ret */
};
static const uint8_t fstat_311[] = {
	0x41, 0x89, 0xc4,             /* mov %eax,%r12d */
	0xe9, 0xf8, 0xfd, 0xff, 0xff, /* jmp */
};

/* As clang compares a kind. */
static const uint8_t by_clang[] = {
	0x85, 0xc0,                         /* test %eax,%eax */
	0x78, 0x10,                         /* js */
	0xb8, 0x00, 0xf0, 0x00, 0x00,       /* mov $0xf000,%eax */
	0x23, 0x44, 0x24, 0x28,             /* and 0x28(%rsp),%eax */
	0x3d, 0x00, 0x40, 0x00, 0x00, 0x74, /* cmp $0x4000,%eax; je */
};

/* _IO_file_doallocate of glibc 2.36. */
static const uint8_t stdio[] = {
	0x85, 0xc0,                         /* test %eax,%eax */
	0x78, 0x6d,                         /* js */
	0x8b, 0x44, 0x24, 0x18,             /* mov 0x18(%rsp),%eax */
	0x25, 0x00, 0xf0, 0x00, 0x00,       /* and $0xf000,%eax */
	0x3d, 0x00, 0x20, 0x00, 0x00,       /* cmp $0x2000,%eax */
	0x74, 0x7d,                         /* je */
	0x48, 0x8b, 0x6c, 0x24, 0x38,       /* mov 0x38(%rsp),%rbp */
	0x48, 0x8d, 0x45, 0xff,             /* lea -0x1(%rbp),%rax */
	0x48, 0x3d, 0xfe, 0x1f, 0x00, 0x00, /* cmp $0x1ffe,%rax */
};
enum { STDIO_PLACE = 24 }; /* of the block's size: 0x38 */

/* `code` behind all that `before` has. */
static size_t join(uint8_t *out, const uint8_t *before, size_t size, const uint8_t *code, size_t n)
{
	memcpy(out, before, size);
	memcpy(out + size, code, n);
	return size + n;
}

static void test_kind(void **state)
{
	uint8_t code[256];
	size_t size;

	(void)state;
	assert_true(leat_intent_is_kind(python_313, sizeof(python_313)));
	assert_true(leat_intent_is_kind(python_311, sizeof(python_311)));
	assert_true(leat_intent_is_kind(by_clang, sizeof(by_clang)));
	assert_false(leat_intent_is_kind(fstat_313, sizeof(fstat_313)));
	assert_false(leat_intent_is_kind(fstat_311, sizeof(fstat_311)));
	assert_false(leat_intent_is_kind(stdio, sizeof(stdio)));
	assert_false(leat_intent_is_kind(NULL, 0));
	/* What lies behind the end of the path is another function's. */
	size = join(code, fstat_313, sizeof(fstat_313), python_313, sizeof(python_313));
	assert_false(leat_intent_is_kind(code, size));
	size = join(code, fstat_311, sizeof(fstat_311), python_313, sizeof(python_313));
	assert_false(leat_intent_is_kind(code, size));
}

/* Whatever is cut off, or is no code at all, is read to its end and no further. */
static void test_cut(void **state)
{
	uint8_t *code;

	(void)state;
	for (size_t size = 0; size < 31; size++) {
		code = malloc(size + 1);
		memcpy(code, python_313, size);
		assert_false(leat_intent_is_kind(code, size));
		assert_false(leat_intent_is_buffer(code, size));
		free(code);
	}
	for (unsigned seed = 0; seed < 20000; seed++) {
		size_t size = seed % 41;

		code = malloc(size + 1);
		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)(seed * 2654435761u >> (i % 24)) ^ (uint8_t)(i * 37);
		assert_false(leat_intent_is_buffer(code, size));
		free(code);
	}
}

static void test_buffer(void **state)
{
	uint8_t code[sizeof(stdio)];

	(void)state;
	assert_true(leat_intent_is_buffer(stdio, sizeof(stdio)));
	assert_false(leat_intent_is_buffer(python_313, sizeof(python_313)));
	assert_false(leat_intent_is_buffer(fstat_313, sizeof(fstat_313)));
	/* A comparison of st_size, at 0x30, with the same number. */
	memcpy(code, stdio, sizeof(stdio));
	assert_int_equal(code[STDIO_PLACE], 0x38);
	code[STDIO_PLACE] = 0x30;
	assert_false(leat_intent_is_buffer(code, sizeof(code)));
}

/* ---- who is known ---- */

/* What a program holds: texts, one after the other. */
struct program {
	const char *file;
	const char *bytes;
	size_t size;
};

#define PROGRAM(file, bytes)                                                                       \
	{                                                                                          \
		file, bytes, sizeof(bytes)                                                         \
	}

static bool holds(void *context, const char *text)
{
	const struct program *p = context;

	return leat_size_text_in(p->bytes, p->size, text);
}

static struct leat_size_looks looks_of(struct program *p, const uint8_t *code, size_t size)
{
	return leat_size_looks_of(&(struct leat_size_asker){p->file, code, size, holds, p});
}

#define COREUTILS "-\0GNU coreutils\0"

static void test_tools(void **state)
{
	static struct {
		struct program program;
		uint8_t at_open;
	} rows[] = {
		{PROGRAM("/usr/bin/cat", "Concatenate FILE(s) to standard output.\n\0" COREUTILS),
		 LEAT_SIZE_UNUSED},
		{PROGRAM("cat", "Concatenate FILE(s), or standard input,\0" COREUTILS),
		 LEAT_SIZE_UNUSED},
		{PROGRAM("/usr/bin/gawk",
			 "gawk is a pattern scanning and processing language.\0GNU Awk 5.2.1"),
		 LEAT_SIZE_UNUSED},
		{PROGRAM("/opt/gawk-3.1.8",
			 "gawk is a pattern scanning and processing language.\0GNU Awk 3.1.8"),
		 LEAT_SIZE_UNUSED},
		{PROGRAM("/usr/bin/xz", "\0xz (XZ Utils) 5.4.1\n"), 1},
		{PROGRAM("/usr/bin/perl", "Can't open perl script \"%s\": %s\n"), 1},
		/* the same names */
		{PROGRAM("/home/me/cat", "size: %ld\n"), 0},
		{PROGRAM("/home/me/xz", "size: %ld\n"), 0},
		{PROGRAM("/home/me/perl", ""), 0},
		{PROGRAM("/home/me/libhts.so.3", "hts_version"), 0},
		/* uutils; another tool of the same makers */
		{PROGRAM("/usr/bin/cat", "Concatenate FILE(s), or standard input,\0uutils"), 0},
		{PROGRAM("/usr/bin/cat", "Print newline, word, and byte counts\0" COREUTILS), 0},
		{PROGRAM("/usr/bin/busybox", "Concatenate FILE(s)\0" COREUTILS), 0},
		/* other names */
		{PROGRAM("/usr/bin/gcat", "Concatenate FILE(s) to standard output.\0" COREUTILS),
		 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (looks_of(&rows[i].program, NULL, 0).at_open != rows[i].at_open)
			fail_msg("%zu: %s", i, rows[i].program.file);
}

static void test_python(void **state)
{
	static struct program python =
		PROGRAM("/usr/bin/python3.13", "Cannot use closefd=False with file name");
	static struct program own = PROGRAM("/home/me/python3", "size: %ld\n");
	static struct program other =
		PROGRAM("/usr/bin/tool", "Cannot use closefd=False with file name");
	struct leat_size_looks looks;

	(void)state;
	looks = looks_of(&python, python_313, sizeof(python_313));
	assert_int_equal(looks.at_open, LEAT_SIZE_UNUSED);
	assert_int_equal(looks.of_stdin, LEAT_SIZE_UNUSED);
	looks = looks_of(&python, fstat_313, sizeof(fstat_313));
	assert_int_equal(looks.at_open, 0);
	assert_int_equal(looks.of_stdin, 0);
	/* Of others nobody knows what they do then. */
	assert_int_equal(looks_of(&own, python_313, sizeof(python_313)).at_open, 0);
	assert_int_equal(looks_of(&other, python_313, sizeof(python_313)).at_open, 0);
}

static void test_texts(void **state)
{
	static const struct {
		const char *bytes, *text;
		bool is_in;
	} rows[] = {
		{"abc", "abc", true},     {"xabc", "abc", true},    {"abcx", "abc", true},
		{"ab", "abc", false},     {"", "a", false},         {"aab", "ab", true},
		{"ababac", "abac", true}, {"abab", "abac", false},  {"aaaaaaab", "aab", true},
		{"xyz", "a", false},      {"a", "a", true},         {"abc", "", false},
		{"the end", "end", true}, {"the en", "end", false}, {"cabcabcab", "abca", true},
	};
	uint8_t random[512];
	char text[9];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (leat_size_text_in(rows[i].bytes, strlen(rows[i].bytes), rows[i].text) !=
		    rows[i].is_in)
			fail_msg("%s in %s", rows[i].text, rows[i].bytes);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t length = 1 + (size_t)rand() % 8, size = (size_t)rand() % sizeof(random);

		for (size_t k = 0; k < size; k++)
			random[k] = (uint8_t)('a' + rand() % 3);
		for (size_t k = 0; k < length; k++)
			text[k] = (char)('a' + rand() % 3);
		text[length] = 0;
		assert_int_equal(leat_size_text_in(random, size, text),
				 memmem(random, size, text, length) != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind),   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_buffer), cmocka_unit_test(test_tools),
		cmocka_unit_test(test_python), cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
