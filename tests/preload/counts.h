/* How a test program reads the counters of count_hooks.c: by a system call that is hooked. */
#ifndef LEAT_TESTS_PRELOAD_COUNTS_H
#define LEAT_TESTS_PRELOAD_COUNTS_H

#include <sys/syscall.h>

#define TEST_COUNTS_CALL SYS_io_uring_setup
#define TEST_COUNTS_MAGIC 0x6c656174

struct test_counts {
	unsigned long all;        /* calls that reached the hook */
	unsigned long calls[512]; /* by number */
	unsigned long in_vfork;   /* made in a vfork child */
	unsigned long forks;      /* children told of */
};

#endif
