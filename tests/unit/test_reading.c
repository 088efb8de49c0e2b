/* What a request says of the size that its program believes in. */
#include "record/reading.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
