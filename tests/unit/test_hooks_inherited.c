/* What a program finds open when it starts: the daemon is asked about it when the program does
 * something with it, and once. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/core/fd_kinds.h"
#include "preload/fd/lifecycle.h"
#include "preload/hooks/hooks.h"
#include "preload_world.h"

static long call(long nr, long a, long b, long c)
{
	return leat_hook(nr, a, b, c, 0, 0, 0);
}

/* Another descriptor of the file that nobody has asked about. */
static int unasked(void)
{
	int fd = (int)call(SYS_dup, world_log(), 0, 0);

	assert_true(fd >= 0);
	assert_true(leat_fd_is_unasked(fd));
	return fd;
}

static void test_the_kernel_knows_as_much(void **state)
{
	const unsigned before = world_identified();
	int fd = unasked();
	char termios[64];

	(void)state;
	assert_true(call(SYS_fcntl, fd, F_GETFD, 0) >= 0);
	assert_true(call(SYS_fcntl, fd, F_GETFL, 0) >= 0);
	assert_int_equal(call(SYS_lseek, fd, 0, SEEK_CUR), 0);
	assert_int_equal(call(SYS_ioctl, fd, TCGETS, (long)termios), -ENOTTY);
	assert_int_equal(world_close(fd), 0);
	assert_int_equal(leat_fd_kinds[fd], 0);
	assert_int_equal(call(SYS_fcntl, fd, F_GETFD, 0), -EBADF);
	assert_int_equal(world_identified(), before);
}

static long use_read(int fd)
{
	char c;

	return call(SYS_read, fd, (long)&c, 1);
}

static long use_write(int fd)
{
	return world_write(fd, "", 0);
}

static long use_stat(int fd)
{
	struct stat st;

	return leat_hook(SYS_newfstatat, fd, (long)"", (long)&st, AT_EMPTY_PATH, 0, 0);
}

static long use_map(int fd)
{
	long at = leat_hook(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	return at < 0 && at > -4096 ? at : munmap((void *)at, 4096);
}

static long use_copy(int fd)
{
	int from = open("/dev/null", O_RDONLY | O_CLOEXEC);
	long rc = call(SYS_sendfile, fd, from, 0);

	close(from);
	return rc;
}

static long use_times(int fd)
{
	return leat_hook(SYS_utimensat, fd, 0, 0, 0, 0, 0);
}

static long use_vfork(int fd)
{
	struct leat_syscall c = {.nr = SYS_vfork};

	return leat_hook_begin(&c) == LEAT_PASS && leat_fd_kind(fd) ? 0 : -1;
}

static void test_asked_once(void **state)
{
	static long (*const uses[])(int fd) = {use_read, use_write, use_stat, use_map,
					       use_copy, use_times, use_vfork};

	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		int fd = unasked();
		unsigned before = world_identified();

		assert_true(uses[i](fd) >= 0);
		assert_int_equal(leat_fd_kind(fd), LEAT_KIND_COUNTED);
		/* A vfork asks about all. */
		assert_true(world_identified() == before + 1 || uses[i] == use_vfork);
		before = world_identified();
		assert_true(uses[i](fd) >= 0);
		assert_int_equal(world_identified(), before);
		assert_int_equal(world_close(fd), 0);
	}
}

/* The daemon waits for the last close: whoever closes one asks what it is, and says so. */
static void test_awaited_closes_are_told(void **state)
{
	const unsigned asked = world_identified(), told = world_closed(0);
	int fd = (int)call(SYS_dup, world_held(), 0, 0);

	(void)state;
	assert_true(leat_fd_is_unasked(fd));
	assert_true(leat_fd_is_awaited(fd));
	assert_false(leat_fd_is_awaited(world_log()));
	assert_int_equal(world_close(fd), 0);
	world_settle();
	assert_int_equal(world_identified(), asked + 1);
	assert_int_equal(world_closed(0), told + 1);
}

static void test_a_fork_child_asks_itself(void **state)
{
	int fd = unasked(), status;
	pid_t pid = world_fork();

	(void)state;
	if (pid == 0) {
		bool good = leat_fd_is_unasked(fd) && use_write(fd) == 0 &&
			    leat_fd_kind(fd) == LEAT_KIND_COUNTED;

		_exit(!good);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(leat_fd_is_unasked(fd));
	assert_int_equal(world_close(fd), 0);
}

enum { THREADS = 8, ROUNDS = 50 };
static pthread_barrier_t begin;
static int shared;

static void *user(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&begin);
	return (void *)(uintptr_t)(use_write(shared) != 0 ||
				   leat_fd_kind(shared) != LEAT_KIND_COUNTED);
}

static void test_threads_ask_once(void **state)
{
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	assert_int_equal(pthread_barrier_init(&begin, NULL, THREADS), 0);
	for (int round = 0; round < ROUNDS; round++) {
		unsigned before = world_identified();

		shared = unasked();
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, user, NULL), 0);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], &wrong);
			assert_null(wrong);
		}
		assert_int_equal(world_identified(), before + 1);
		assert_int_equal(world_close(shared), 0);
	}
	pthread_barrier_destroy(&begin);
}

/* What the register of an argument holds is nobody's. */
static void test_vfork_has_no_arguments(void **state)
{
	struct clone_args args = {.flags = CLONE_VM};
	struct leat_syscall c = {.nr = SYS_vfork, .a = {(long)&args}};

	(void)state;
	assert_int_equal(leat_hook_begin(&c), LEAT_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_kernel_knows_as_much),
		cmocka_unit_test(test_awaited_closes_are_told),
		cmocka_unit_test(test_a_fork_child_asks_itself),
		cmocka_unit_test(test_threads_ask_once),
		cmocka_unit_test(test_asked_once),
		cmocka_unit_test(test_vfork_has_no_arguments), /* as the end of the one before, it
								  asks about all */
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}
