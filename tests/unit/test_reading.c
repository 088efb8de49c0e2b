/* What a request says of the size that its program believes in. */
#include "client/reading.h"
#include "client/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static const struct {
	const char *what;
	uint64_t size; /* as fstat showed it */
	uint64_t read_end, offset, asked;
	bool trusts;
} requests[] = {
	/* Python's os.read(fd, os.fstat(fd).st_size), node's readFile */
	{"all of it in one", 1000, 0, 0, 1000, true},
	{"all of it, more than a buffer", 100000, 0, 0, 100000, true},
	{"all of it, a power of two that no buffer has", MIB, 0, 0, MIB, true},
	{"one byte", 1, 0, 0, 1, true},
	/* while (got < size) got += read(fd, b, min(size - got, 4096)) */
	{"what remains, in the end", 10000, 8192, 8192, 1808, true},
	{"what remains, after a seek back", 10000, 9000, 100, 9900, true},
	{"what remains, of large buffers", MIB, MIB - 64 * KIB, MIB - 64 * KIB, 64 * KIB, true},
	/* formats with their directory at the end */
	{"the last bytes", 1000, 0, 990, 10, true},
	{"near the end", 1000, 0, 970, 22, true},
	{"the last buffer", 100 * KIB, 0, 96 * KIB, 4 * KIB, true},
	{"a seek to the end", 1000, 0, 1000, 0, true},
	{"a seek to the end after something was read", 5000, 4096, 5000, 0, true},
	{"a seek to where the directory is to be", 5000, 100, 4500, 0, true},
	{"beyond the end", 5000, 100, 6000, 10, true},
	/* headers: C's fread(80), Python's open().read(2), head -n 1 */
	{"a buffer of stdio at the front", 4096, 0, 0, 4096, false},
	{"a buffer of BUFSIZ", 8192, 0, 0, 8192, false},
	{"a buffer of Python's", 64 * KIB, 0, 0, 64 * KIB, false},
	{"the second buffer", 16 * KIB, 8192, 8192, 8192, false},
	{"a buffer, of more", 100000, 0, 0, 4096, false},
	{"a buffer, of less", 1000, 0, 0, 4096, false},
	{"a few bytes", 1000, 0, 0, 80, false},
	{"a few more", 1000, 80, 80, 80, false},
	{"back to the front", 1000, 100, 10, 10, false},
	{"a field of the header", 1000, 10, 100, 8, false},
	{"a seek into the header", 5000, 0, 200, 0, false},
	{"a record in the middle", 5000, 100, 2500, 100, false},
	{"a seek back", 1000, 100, 0, 0, false},
	{"a seek to where it is", 1000, 100, 100, 0, false},
	{"beyond it", 1000, 0, 0, 1001, false},
	{"from the middle on", 1000, 500, 500, 4096, false},
};

static void test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (leat_read_trusts_size(requests[i].size, requests[i].read_end,
					  requests[i].offset,
					  requests[i].asked) != requests[i].trusts)
			fail_msg("%s", requests[i].what);
}

static const struct {
	const char *what;
	uint64_t size, offset, length;
	bool trusts;
} mappings[] = {
	{"all of it", 1000, 0, 1000, true},
	{"all of it, a page", 4096, 0, 4096, true},
	{"all of it, a buffer", 64 * KIB, 0, 64 * KIB, true},
	{"its second page", 8192, 4096, 4096, true},
	{"whole pages", 10000, 0, 12288, true},
	{"a page of a small file", 1000, 0, 4096, false},
	{"the header", 10000, 0, 4096, false},
	{"more than there is", 10000, 0, 16384, false},
};

static void test_mappings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mappings) / sizeof(*mappings); i++)
		if (leat_map_trusts_size(mappings[i].size, mappings[i].offset,
					 mappings[i].length) != mappings[i].trusts)
			fail_msg("%s", mappings[i].what);
}

static const struct {
	const char *what;
	uint64_t size; /* UINT64_MAX: it grows */
	struct {
		uint64_t offset, n, asked;
	} reads[4];
	unsigned n;
	bool read; /* by the last; by those before it is not */
} glances[] = {
	{"all of it, to the byte", 8, {{0, 8, 8}}, 1, true},
	{"all of it, and a read that finds nothing", 8, {{0, 8, 100}}, 1, true},
	{"byte by byte", 3, {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}}, 3, true},
	{"from the back", 3, {{2, 1, 1}}, 1, true},
	{"an empty one", 0, {{0, 0, 10}}, 1, true},
	{"an empty one, by its size", 0, {{0, 0, 0}}, 1, true},
	{"no byte of it", 10, {{0, 0, 0}}, 1, false},
	{"4096 of 4096", 4096, {{0, 4096, 4096}}, 1, true},
	{"its first bytes", 8, {{0, 7, 7}}, 1, false},
	{"its first bytes, twice", 8, {{0, 4, 4}, {0, 7, 7}}, 2, false},
	{"a number in the header of a large one", MIB, {{257, 8, 8}}, 1, false},
	{"a number of a small one, in the middle", 1000, {{257, 8, 8}}, 1, true},
	{"all but the last byte, in order", 1000, {{0, 500, 500}, {500, 499, 499}}, 2, false},
	{"the first 4 KiB", MIB, {{0, 2048, 2048}, {2048, 2048, 2048}}, 2, false},
	{"more", MIB, {{0, 2048, 2048}, {2048, 2049, 2049}}, 2, true},
	{"a buffer", MIB, {{0, 64 * KIB, 64 * KIB}}, 1, false},
	{"a buffer, and again", MIB, {{0, 8192, 8192}, {0, 8192, 8192}}, 2, false},
	{"a buffer, and the next", MIB, {{0, 8192, 8192}, {8192, 1, 8192}}, 2, true},
	{"what is no buffer", MIB, {{0, 5000, 5000}}, 1, true},
	{"what no buffer is as large as", 4 * MIB, {{0, MIB, MIB}}, 1, true},
	{"a buffer elsewhere", MIB, {{8192, 8192, 8192}}, 1, true},
	{"a buffer of one that grows", UINT64_MAX, {{0, 8192, 8192}}, 1, false},
	{"a few bytes of one that grows", UINT64_MAX, {{0, 8, 8}}, 1, false},
	{"the end of one that grew", UINT64_MAX, {{0, 8, 100}}, 1, true},
};

static void test_glances(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(glances) / sizeof(*glances); i++) {
		struct leat_glance g = {0};

		for (unsigned k = 0; k < glances[i].n; k++)
			if (leat_glance_exceeds(&g, glances[i].reads[k].offset,
						glances[i].reads[k].n, glances[i].reads[k].asked,
						glances[i].size) !=
			    (glances[i].read && k + 1 == glances[i].n))
				fail_msg("%s", glances[i].what);
	}
}

static void test_buffers(void **state)
{
	(void)state;
	assert_true(leat_read_fills_buffer(4096));
	assert_true(leat_read_fills_buffer(8192));
	assert_true(leat_read_fills_buffer(256 * KIB));
	assert_false(leat_read_fills_buffer(0));
	assert_false(leat_read_fills_buffer(1));
	assert_false(leat_read_fills_buffer(2048));
	assert_false(leat_read_fills_buffer(4097));
	assert_false(leat_read_fills_buffer(12288));
	assert_false(leat_read_fills_buffer(MIB));
}

/* Names only: whatever is asked for is held. */
static bool holds_all(void *context, const char *text)
{
	(void)context;
	(void)text;
	return true;
}

static void assert_looks(const char *file, uint8_t at_open, uint8_t of_stdin)
{
	const struct leat_size_looks looks =
		leat_size_looks_of(&(struct leat_size_asker){.file = file, .holds = holds_all});

	if (looks.at_open != at_open || looks.of_stdin != of_stdin)
		fail_msg("%s: %u, %u", file, looks.at_open, looks.of_stdin);
}

static void test_sizes(void **state)
{
	(void)state;
	assert_looks("cat", LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED);
	assert_looks("/usr/bin/cat", LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED);
	assert_looks("/usr/lib/libhts.so.1.16", LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED);
	assert_looks("/usr/bin/python3.11", 0, 0); /* by what its code does with it */
	assert_looks("/usr/bin/perl", 1, 0);
	assert_looks("/home/cat/program", 0, 0);
	assert_looks("/usr/bin/catalogue", 0, 0);
	assert_looks("/usr/lib/python3/mmap.cpython-311-x86_64-linux-gnu.so", 0, 0);
	assert_looks("/usr/bin/tar", 0, 0);
	assert_looks("7f00-7f10 r-xp 00000000 00:00 0", 0, 0);
	assert_looks("", 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests), cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_glances),  cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
