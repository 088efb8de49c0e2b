#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/path/outside_cache.h"

/* Space for a path at any offset, with words to load behind it. */
static char page[4096] __attribute__((aligned(4096)));

static const char *put(size_t skew, const char *path)
{
	memset(page, 'x', sizeof(page));
	return strcpy(page + skew, path);
}

static void fill(struct leat_outside_cache *r, const char *path, size_t length)
{
	memset(r, 0, sizeof(*r));
	leat_outside_cache_fill(r, put(0, path), length, 7);
}

static void test_names(void **state)
{
	static const struct {
		const char *path;
		bool has;
	} cases[] = {
		{"/usr/lib/a", true},
		{"/usr/lib/libc.so.6", true},
		{"/usr/lib/a-name-that-is-longer-than-one-word", true},
		{"/usr/lib/", false},
		{"/usr/lib", false},
		{"/usr/", false},
		{"/", false},
		{"/usr/lib/.", false},
		{"/usr/lib/..", false},
		{"/usr/lib/.hidden", false}, /* not worth telling from the last two */
		{"/usr/lib/a/", false},
		{"/usr/lib/a/b", false},
		{"/usr/lib/a-longer-name/b", false},
		{"/usr/lib//a", false},
		{"/usr/lin/a", false},
		{"/Usr/lib/a", false},
		{"usr/lib/a", false},
	};
	struct leat_outside_cache r;

	(void)state;
	fill(&r, "/usr/lib/something", 9);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t skew = 0; skew < 16; skew++) {
			assert_int_equal(leat_outside_cache_has(&r, put(skew, cases[i].path), 7),
					 cases[i].has);
			assert_false(leat_outside_cache_has(&r, put(skew, cases[i].path), 8));
		}
}

/* Parents of all lengths, and each byte of them counts. */
static void test_lengths(void **state)
{
	char path[256];
	struct leat_outside_cache r;

	(void)state;
	for (size_t length = 1; length < 200; length++) {
		memset(path, 'd', length);
		path[length - 1] = '/';
		strcpy(path + length, "name");
		fill(&r, path, length);
		assert_int_equal(leat_outside_cache_has(&r, put(3, path), 7), length <= 128);
		for (size_t i = 0; i < length; i++) {
			path[i] ^= 1;
			assert_false(leat_outside_cache_has(&r, put(3, path), 7));
			path[i] ^= 1;
		}
	}
}

static void test_not_a_parent(void **state)
{
	struct leat_outside_cache r;

	(void)state;
	fill(&r, "/usr/..", 7);
	assert_false(leat_outside_cache_has(&r, put(0, "/usr/..x"), 7));
	fill(&r, "name", 0);
	assert_false(leat_outside_cache_has(&r, put(0, "name"), 7));
}

static void test_end_of_page(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const char path[] = "/usr/lib/a-name-that-is-longer-than-one-word";
	struct leat_outside_cache r;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + size, size, PROT_NONE), 0);
	fill(&r, path, 9);
	for (size_t back = 0; back < 300; back++) {
		char *p = at + size - sizeof(path) - back;

		strcpy(p, path);
		/* either the right answer or none */
		if (leat_outside_cache_may_load(p))
			assert_true(leat_outside_cache_has(&r, p, 7));
		else
			assert_false(leat_outside_cache_has(&r, p, 7));
		leat_outside_cache_fill(&r, p, 9, 7);
	}
	/* whole words only */
	for (size_t length = 1; length < 40; length++) {
		char *p = at + size - length - 1;

		memset(p, 'n', length);
		p[length] = 0;
		assert_int_equal(leat_outside_cache_is_plain(p), (length + 1) % 8 == 0);
	}
	munmap(at, 2 * size);
}

/* A handler that comes while the thread fills it finds nothing and changes nothing. */
static void test_handler(void **state)
{
	struct leat_outside_cache r;
	uint32_t filled;

	(void)state;
	fill(&r, "/usr/lib/a", 9);
	filled = r.filled;
	r.filling = true;
	leat_outside_cache_fill(&r, put(0, "/etc/passwd"), 5, 7);
	assert_int_equal(r.filled, filled);
	assert_true(leat_outside_cache_has(&r, put(0, "/usr/lib/a"), 7));
}

static void test_again(void **state)
{
	struct leat_outside_cache r = {0};

	(void)state;
	assert_false(leat_outside_cache_again(&r, 5));
	assert_true(leat_outside_cache_again(&r, 5));
	assert_false(leat_outside_cache_again(&r, 6));
	assert_false(leat_outside_cache_again(&r, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_not_a_parent), cmocka_unit_test(test_end_of_page),
		cmocka_unit_test(test_handler),      cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
