/* What one process of a run has found in libc, and others wait for: engine/kept.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "preload/engine/kept.h"

#define ID UINT64_C(7)
#define SUFFIX ".image"

static char dir[] = "/tmp/leat-test.kept.XXXXXX", file[64], claim[64];

static int make(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/leat-test.kept.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/7.image", dir);
	snprintf(claim, sizeof(claim), "%s/7.image.claim", dir);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	unlink(file);
	unlink(claim);
	return rmdir(dir);
}

static void make_file(void)
{
	long fd = leat_kept_begin(dir, ID, SUFFIX);

	assert_true(fd >= 0);
	assert_int_equal(write((int)fd, "x", 1), 1);
	assert_true(leat_kept_end(true));
	close((int)fd);
}

/* Another process that makes the file, or gives up, in a while. */
static pid_t start_maker(bool makes)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	usleep(10000);
	if (makes)
		make_file();
	leat_kept_done(dir, ID, SUFFIX);
	_exit(0);
}

static void test_first_claims(void **state)
{
	(void)state;
	assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	assert_int_equal(access(claim, F_OK), 0);
	make_file();
	leat_kept_done(dir, ID, SUFFIX);
	assert_int_equal(access(claim, F_OK), -1);
	close((int)leat_kept_await(dir, ID, SUFFIX));
	assert_int_equal(access(claim, F_OK), -1);
}

static void test_others_wait(void **state)
{
	pid_t pid;
	long fd = -1;

	(void)state;
	assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	pid = start_maker(true);
	/* Again where the machine is so busy that the patience ends first. */
	for (int i = 0; i < 100 && fd < 0; i++) {
		utimensat(AT_FDCWD, claim, NULL, 0);
		fd = leat_kept_await(dir, ID, SUFFIX);
	}
	assert_true(fd >= 0);
	close((int)fd);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_nobody_waits_for_who_gave_up(void **state)
{
	pid_t pid;

	(void)state;
	assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	pid = start_maker(false);
	assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	assert_int_equal(access(claim, F_OK), -1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* If each of them waited this would take minutes. */
static void test_who_died_is_waited_for_once(void **state)
{
	(void)state;
	assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	for (int i = 0; i < 5000; i++)
		assert_true(leat_kept_await(dir, ID, SUFFIX) < 0);
	assert_int_equal(access(claim, F_OK), 0);
}

static void test_without_a_directory(void **state)
{
	(void)state;
	assert_true(leat_kept_await("/nonexistent", ID, SUFFIX) < 0);
	assert_true(leat_kept_await(NULL, ID, SUFFIX) < 0);
	assert_true(leat_kept_await(dir, 0, SUFFIX) < 0);
	assert_int_equal(access(claim, F_OK), -1);
	leat_kept_done("/nonexistent", ID, SUFFIX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_claims, make, drop),
		cmocka_unit_test_setup_teardown(test_others_wait, make, drop),
		cmocka_unit_test_setup_teardown(test_nobody_waits_for_who_gave_up, make, drop),
		cmocka_unit_test_setup_teardown(test_who_died_is_waited_for_once, make, drop),
		cmocka_unit_test_setup_teardown(test_without_a_directory, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
