/* What a ring of io_uring is asked to do. */
#include "base/uring.h"

#include <linux/io_uring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void requests_are_found(void **state)
{
	static const struct {
		const char *line;
		uintptr_t first, end; /* 0: none are there */
	} lines[] = {
		{"7f01a000-7f01e000 rw-s 10000000 00:0f 1061                 "
		 "anon_inode:[io_uring]",
		 0x7f01a000, 0x7f01e000},
		{"7fd2b7c1a000-7fd2b7c1b000 rw-s 10000000 00:10 2062 anon_inode:[io_uring]\n",
		 0x7fd2b7c1a000, 0x7fd2b7c1b000},
		/* the ring itself */
		{"7f01a000-7f01e000 rw-s 00000000 00:0f 1061 anon_inode:[io_uring]", 0, 0},
		{"7f01a000-7f01e000 rw-s 08000000 00:0f 1061 anon_inode:[io_uring]", 0, 0},
		{"7f01a000-7f01e000 rw-s 10000000 08:01 1061 /data/io_uring", 0, 0},
		{"7f01a000-7f01e000 rw-p 10000000 00:00 0", 0, 0},
		{"7f01a000-7f01e000 rw-p", 0, 0},
		{"7f01a000-7f01e000 ", 0, 0},
		{"7f01a000-", 0, 0},
		{"7f01a000", 0, 0},
		{"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		uintptr_t first = 0, end = 0;

		assert_int_equal(leat_uring_find(lines[i].line, &first, &end), lines[i].end != 0);
		assert_int_equal(first, lines[i].first);
		assert_int_equal(end, lines[i].end);
	}
}

static void one_request_is_enough(void **state)
{
	static const uint8_t moves[] = {IORING_OP_READV, IORING_OP_READ,   IORING_OP_WRITE,
					IORING_OP_FSYNC, IORING_OP_OPENAT, IORING_OP_CLOSE,
					IORING_OP_SEND,  IORING_OP_SPLICE, UINT8_MAX};
	struct io_uring_sqe requests[256] = {0};
	size_t last = sizeof(requests) / sizeof(*requests) - 1;

	(void)state;
	requests[3].opcode = IORING_OP_EPOLL_CTL;
	requests[4].opcode = IORING_OP_POLL_ADD;
	requests[5].opcode = IORING_OP_TIMEOUT;
	assert_false(leat_uring_moves(requests, sizeof(requests)));
	for (size_t i = 0; i < sizeof(moves); i++) {
		requests[last].opcode = moves[i];
		assert_true(leat_uring_moves(requests, sizeof(requests)));
		assert_false(leat_uring_moves(requests, sizeof(*requests) * last));
	}
}

static void some_cannot_be_looked_at(void **state)
{
	(void)state;
	assert_false(leat_uring_hides(0));
	assert_false(leat_uring_hides(IORING_SETUP_CQSIZE));
	assert_true(leat_uring_hides(IORING_SETUP_SQPOLL | IORING_SETUP_CQSIZE));
	assert_true(leat_uring_hides(UINT32_C(1) << 14)); /* IORING_SETUP_NO_MMAP */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_found),
		cmocka_unit_test(one_request_is_enough),
		cmocka_unit_test(some_cannot_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
