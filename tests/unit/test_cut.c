#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/path/cut.h"

static const struct {
	const char *path;
	size_t parent;
	const char *last;
} cases[] = {
	{"a", 0, "a"},
	{"/a", 1, "a"},
	{"/usr/lib/libc.so.6", 9, "libc.so.6"},
	{"dir/name", 4, "name"},
	{"a/.b", 2, ".b"},
	{"a//b", 3, "b"},
	{"dir/name/", 4, "name"},
	{"dir/name///", 4, "name"},
	{".", 1, ""},
	{"..", 2, ""},
	{"a/.", 3, ""},
	{"a/b/..", 6, ""},
	{"a/../", 4, ""},
	{"...", 0, "..."},
	{"/", 1, ""},
	{"//", 1, ""},
	{"/a-directory/with-rather/long-names/and-a-file-behind-them", 36,
	 "and-a-file-behind-them"},
};

/* Wherever the path begins in memory, and with other text right before it. */
static void test_cut(void **state)
{
	char buffer[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t skew = 0; skew < 8; skew++) {
			struct leat_cut c;

			memset(buffer, '/', sizeof(buffer));
			strcpy(buffer + 8 + skew, cases[i].path);
			leat_cut(buffer + 8 + skew, &c);
			assert_int_equal(c.length, strlen(cases[i].path));
			assert_int_equal(c.parent, cases[i].parent);
			assert_int_equal(c.last_length, strlen(cases[i].last));
			assert_memory_equal(c.last, cases[i].last, c.last_length);
		}
}

static void test_end_of_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct leat_cut c;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + page, page, PROT_NONE), 0);
	for (size_t length = 0; length < 20; length++) {
		char *path = at + page - length - 1;

		memset(path, 'x', length);
		path[length] = 0;
		leat_cut(path, &c);
		assert_int_equal(c.length, length);
	}
	munmap(at, 2 * page);
}

static void test_hash(void **state)
{
	char text[65], other[65];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		text[i] = (char)('a' + i % 26);
	text[64] = 0;
	/* every byte counts, and only those asked for */
	for (size_t length = 1; length <= 64; length++) {
		uint64_t hash = leat_hash(text, length, 7);

		memcpy(other, text, sizeof(other));
		if (length < 64)
			other[length] ^= 1;
		assert_true(leat_hash(other, length, 7) == hash);
		for (size_t i = 0; i < length; i++) {
			other[i] ^= 1;
			assert_true(leat_hash(other, length, 7) != hash);
			other[i] ^= 1;
		}
		assert_true(leat_hash(text, length, 8) != hash);
		assert_true(leat_hash(text, length - 1, 7) != hash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_end_of_page),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
