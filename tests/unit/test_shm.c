#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "shm/extents.h"
#include "shm/window.h"
#include "shm/word.h"
#include "segment.h"

#define SECOND 1000000000ull

static void test_covered(void **state)
{
	static const struct {
		uint64_t offset, length;
		bool covered;
	} cases[] = {
		{0, 0, true},    {0, 100, true}, {0, 101, false},        {100, 0, true},
		{100, 1, false}, {99, 1, true},  {UINT64_MAX, 1, false}, {1, UINT64_MAX, false},
	};
	struct leat_shm_file *f = &shm->files[1];

	(void)state;
	leat_shm_file_init(f);
	leat_shm_publish(f, 100);
	leat_shm_publish(f, 50);
	assert_int_equal(leat_shm_frontier(f), 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(leat_shm_look(shm, f, cases[i].offset, cases[i].length),
				 cases[i].covered);
	leat_shm_file_finish(f, 100);
	assert_int_equal(leat_shm_look(shm, f, 100, 1), LEAT_SHM_FINAL);
	assert_int_equal(leat_shm_size(f), 100);
}

static void test_consumed_hull(void **state)
{
	struct leat_shm_file *f = &shm->files[2];

	(void)state;
	leat_shm_file_init(f);
	assert_false(leat_shm_was_consumed(f, 0, UINT64_MAX));
	leat_shm_consumed(f, 10, 0);
	assert_false(leat_shm_was_consumed(f, 0, UINT64_MAX));
	leat_shm_consumed(f, 10, 10);
	assert_false(leat_shm_was_consumed(f, 0, 10));
	assert_true(leat_shm_was_consumed(f, 0, 11));
	assert_true(leat_shm_was_consumed(f, 19, 1));
	assert_false(leat_shm_was_consumed(f, 20, 100));
	assert_false(leat_shm_was_consumed(f, 15, 0));
}

static void test_wait_outcomes(void **state)
{
	struct leat_shm_file *f = &shm->files[3];
	uint32_t seen;

	(void)state;
	leat_shm_file_init(f);
	seen = leat_shm_seq(f);
	assert_int_equal(leat_shm_wait(f, seen, 1, 1000000), -ETIMEDOUT);
	leat_shm_publish(f, 10);
	assert_int_equal(leat_shm_wait(f, leat_shm_seq(f), 10, SECOND), 0);
	seen = leat_shm_seq(f);
	leat_shm_file_update(f, LEAT_SHM_FAILED, 0);
	assert_int_equal(leat_shm_wait(f, seen, 100, SECOND), -EAGAIN);
	assert_int_equal(leat_shm_flags(f), LEAT_SHM_FAILED);
	leat_shm_file_update(f, LEAT_SHM_SPARSE, LEAT_SHM_FAILED);
	assert_int_equal(leat_shm_flags(f), LEAT_SHM_SPARSE);
	assert_int_equal(atomic_load(&f->waiters), 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Whether the first byte comes before the look or after it, who waits for it does not sleep. */
static void test_wait_for_the_first_byte(void **state)
{
	struct leat_shm_file *f = &shm->files[3];
	uint32_t seq;

	(void)state;
	leat_shm_file_init(f);
	seq = leat_shm_seq_without_bytes(f);
	assert_int_equal(leat_shm_wait(f, seq, UINT64_MAX, 1000000), -ETIMEDOUT);
	seq = leat_shm_seq_without_bytes(f);
	leat_shm_publish(f, 1);
	assert_int_equal(leat_shm_wait(f, seq, UINT64_MAX, SECOND), -EAGAIN);
	seq = leat_shm_seq_without_bytes(f);
	assert_int_equal(leat_shm_wait(f, seq, UINT64_MAX, SECOND), -EAGAIN);
}

static void test_wait_interrupted(void **state)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct leat_shm_file *f = &shm->files[4];

	(void)state;
	leat_shm_file_init(f);
	sigaction(SIGALRM, &sa, NULL);
	ualarm(20000, 0);
	assert_int_equal(leat_shm_wait(f, leat_shm_seq(f), 1, 10 * SECOND), -EINTR);
}

/* A waiter of another process, with its own mapping, must never sleep through a
 * publication; it waits without help from the timeout. */
static void follow(int fd, uint64_t steps)
{
	struct leat_shm *mine;
	struct leat_shm_file *f;

	if (leat_shm_map(fd, &mine))
		_exit(2);
	f = &mine->files[5];
	for (uint64_t at = 1; at <= steps; at++) {
		while (!leat_shm_look(shm, f, 0, at)) {
			uint32_t seen = leat_shm_seq(f);

			if (leat_shm_look(shm, f, 0, at))
				break;
			if (leat_shm_wait(f, seen, at, 20 * SECOND) == -ETIMEDOUT)
				_exit(1);
		}
		leat_shm_publish(&mine->files[6], at);
	}
	_exit(0);
}

static void test_two_processes(void **state)
{
	const uint64_t steps = 20000;
	struct leat_shm_file *f = &shm->files[5], *echo = &shm->files[6];
	int status;
	pid_t child;

	(void)state;
	leat_shm_file_init(f);
	leat_shm_file_init(echo);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		follow(shm_fd, steps);
	for (uint64_t at = 1; at <= steps; at++) {
		leat_shm_publish(f, at);
		while (at % 4 == 0 && !leat_shm_look(shm, echo, 0, at)) {
			uint32_t seen = leat_shm_seq(echo);

			if (!leat_shm_look(shm, echo, 0, at))
				assert_int_not_equal(leat_shm_wait(echo, seen, at, 20 * SECOND),
						     -ETIMEDOUT);
		}
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void *sleeper(void *arg)
{
	struct leat_shm_file *f = arg;

	while (!leat_shm_look(shm, f, 0, 1000))
		if (leat_shm_wait(f, leat_shm_seq(f), 1000, 20 * SECOND) == -ETIMEDOUT)
			return arg;
	return NULL;
}

static void test_commit_wakes_all(void **state)
{
	struct leat_shm_file *f = &shm->files[7];
	pthread_t threads[8];
	void *late;

	(void)state;
	leat_shm_file_init(f);
	for (size_t i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, sleeper, f);
	usleep(20000);
	leat_shm_publish(f, 500);
	leat_shm_file_finish(f, 500);
	for (size_t i = 0; i < 8; i++) {
		pthread_join(threads[i], &late);
		assert_null(late);
	}
	assert_int_equal(atomic_load(&f->waiters), 0);
}

/* Of a file that the kernel says has `size` bytes. */
static uint64_t length_of(struct leat_shm_file *f, uint64_t size)
{
	uint64_t length = 0;

	assert_true(leat_shm_length(f, leat_shm_epoch(f), size, &length));
	return length;
}

/* A fresh record whose kernel's size is ahead of `length`. */
static struct leat_shm_file *ahead(uint64_t length)
{
	struct leat_shm_file *f = &shm->files[7];

	leat_shm_file_init(f);
	assert_true(leat_shm_window_take(f, true, false));
	leat_shm_window_give(f, LEAT_WINDOW_IDLE, length);
	return f;
}

static void test_window_length(void **state)
{
	struct leat_shm_file *f = &shm->files[7];

	(void)state;
	leat_shm_file_init(f);
	assert_int_equal(length_of(f, 5000), 5000);
	assert_false(leat_shm_window_take(f, false, false)); /* nothing to be changed */
	f = ahead(100);
	assert_int_equal(length_of(f, 5000), 100);
	assert_int_equal(length_of(f, 50), 50); /* never longer than the kernel says */
	assert_true(leat_shm_copy_begin(f));
	assert_false(leat_shm_copy_begin(f));
	assert_false(leat_shm_window_take(f, false, false));
	leat_shm_copy_end(f, 150, false);
	assert_int_equal(length_of(f, 5000), 150);
	assert_int_equal(leat_shm_frontier(f), 0);
	assert_false(leat_shm_window_shut(f)); /* first make the size true */
	assert_true(leat_shm_window_take(f, false, false));
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	assert_true(leat_shm_window_shut(f));
	assert_false(leat_shm_window_take(f, true, false));
	assert_int_equal(length_of(f, 5000), 5000);
}

/* What is published in the middle of a copy (by a handler that interrupts it) may lie behind
 * bytes that are not there yet. */
static void test_window_pending(void **state)
{
	struct leat_shm_file *f = ahead(0);

	(void)state;
	assert_true(leat_shm_copy_begin(f));
	leat_shm_publish(f, 300);
	assert_int_equal(leat_shm_frontier(f), 0);
	leat_shm_copy_end(f, 200, true);
	assert_int_equal(leat_shm_frontier(f), 300);
	/* a copy that came to nothing hands it on as well */
	assert_true(leat_shm_copy_begin(f));
	leat_shm_publish(f, 400);
	leat_shm_copy_end(f, 0, true);
	assert_int_equal(leat_shm_frontier(f), 400);
	leat_shm_publish(f, 500);
	assert_int_equal(leat_shm_frontier(f), 500);
}

/* While the kernel writes nobody changes the size, and it counts before it is there. */
static void test_window_writing(void **state)
{
	struct leat_shm_file *f = ahead(100);
	struct leat_shm_write w;

	(void)state;
	assert_true(leat_shm_writing(f, 100, 180, &w));
	assert_int_equal(length_of(f, 5000), 180);
	assert_false(leat_shm_window_take(f, false, false));
	leat_shm_written(f, &w, 180);
	assert_int_equal(length_of(f, 5000), 180);
	/* cut short */
	assert_true(leat_shm_writing(f, 180, 300, &w));
	leat_shm_written(f, &w, 200);
	assert_int_equal(length_of(f, 5000), 200);
	/* over what is there already */
	assert_true(leat_shm_writing(f, 50, 200, &w));
	leat_shm_written(f, &w, 50);
	assert_int_equal(length_of(f, 5000), 200);
	/* beyond the end: a hole is for the kernel */
	assert_false(leat_shm_writing(f, 201, 300, &w));
	assert_int_equal(length_of(f, 5000), 200);
	assert_true(leat_shm_window_take(f, false, false));
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	assert_true(leat_shm_writing(f, 201, 300, &w));
	assert_false(leat_shm_window_take(f, true, false));
	leat_shm_written(f, &w, 300);
	assert_true(leat_shm_window_take(f, true, false));
}

/* Whoever changes the size cuts off what others write meanwhile: they do not. */
static void test_window_writing_in_a_change(void **state)
{
	struct leat_shm_file *f = ahead(100);
	struct leat_shm_write w;

	(void)state;
	assert_true(leat_shm_window_take(f, false, false));
	assert_false(leat_shm_writing(f, 100, 180, &w));
	assert_int_equal(leat_shm_holders(f, true), 0);
	assert_int_equal(leat_shm_reserved(f), 100);
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	assert_true(leat_shm_writing(f, 100, 180, &w));
	leat_shm_written(f, &w, 180);
	assert_true(leat_shm_window_take(f, true, false));
	assert_false(leat_shm_writing(f, 180, 200, &w));
}

/* The kernel was asked while its size was ahead, and what counts now is that size. */
static void test_window_length_of_another_time(void **state)
{
	struct leat_shm_file *f = ahead(100);
	uint32_t epoch = leat_shm_epoch(f);
	uint64_t length;

	(void)state;
	assert_true(leat_shm_window_take(f, false, false));
	assert_true(leat_shm_length(f, epoch, 5000, &length));
	assert_int_equal(length, 100);
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	assert_false(leat_shm_length(f, epoch, 5000, &length));
	assert_int_equal(length_of(f, 100), 100);
	/* and the other way round */
	epoch = leat_shm_epoch(f);
	assert_true(leat_shm_window_take(f, true, false));
	assert_true(leat_shm_length(f, epoch, 100, &length));
	leat_shm_window_begin(f, 100);
	assert_false(leat_shm_length(f, epoch, 100, &length));
	leat_shm_window_give(f, LEAT_WINDOW_IDLE, 100);
	assert_int_equal(length_of(f, 5000), 100);
}

/* Its maker was killed in the middle. */
static void test_window_forced(void **state)
{
	struct leat_shm_file *f = ahead(100);

	(void)state;
	assert_true(leat_shm_copy_begin(f));
	assert_true(leat_shm_window_take(f, false, true));
	assert_int_equal(leat_shm_reserved(f), 100);
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	assert_false(leat_shm_window_take(f, false, true));
	assert_int_equal(length_of(f, 5000), 5000);
}

/* Both counters move only when told to, and the common one when the daemon ends. */
static void test_changes(void **state)
{
	struct leat_shm *map = NULL;
	struct leat_shm_file *f;
	uint32_t own;
	uint64_t common;
	int fd = -1;

	(void)state;
	assert_int_equal(leat_shm_create(&fd, &map), 0);
	f = &map->files[1];
	own = leat_shm_file_changes(f);
	common = leat_shm_changes(map);
	assert_int_not_equal(common, 0);
	leat_shm_file_init(f);
	leat_shm_file_finish(f, 5);
	assert_int_equal(leat_shm_file_changes(f), own);
	leat_shm_file_changed(f);
	assert_int_equal(leat_shm_file_changes(f), own + 1);
	assert_int_equal(leat_shm_changes(map), common);
	leat_shm_changed(map);
	assert_int_equal(leat_shm_changes(map), common + 1);
	leat_shm_change_cut(map); /* whoever was killed changed nothing */
	assert_int_equal(leat_shm_changes(map), common + 1);
	leat_shm_change_begin(map);
	assert_int_equal(leat_shm_changes(map), common + 1);
	leat_shm_change_cut(map);
	assert_int_equal(leat_shm_changes(map), common + 2);
	leat_shm_change_end(map);
	leat_shm_change_cut(map);
	assert_int_equal(leat_shm_changes(map), common + 3);
	leat_shm_shut(map, 1);
	assert_int_not_equal(leat_shm_changes(map), common + 3);
	leat_shm_unmap(map);
	close(fd);
}

/* A file is held where it is, and one that is on its way is not. */
static void test_holding(void **state)
{
	static const struct {
		uint32_t generation; /* while 4 is held */
		bool write, read;
	} table[] = {
		{4, true, true},    {4 + LEAT_GENERATION_MOVING, false, true},
		{0, false, false},  {4 + LEAT_GENERATION_FORCED, false, true},
		{8, false, false},  {8 + LEAT_GENERATION_MOVING, false, false},
		{12, false, false},
	};
	struct leat_shm_file *f = &shm->files[9];

	(void)state;
	leat_shm_file_init(f);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		leat_shm_set_generation(f, table[i].generation);
		assert_int_equal(leat_shm_hold(f, true, 4), table[i].write);
		assert_int_equal(leat_shm_holders(f, true), table[i].write);
		assert_int_equal(leat_shm_hold(f, false, 4), table[i].read);
		assert_int_equal(leat_shm_holders(f, false), table[i].read);
		if (table[i].write)
			assert_true(leat_shm_release(f, true, 4));
		if (table[i].read)
			leat_shm_release(f, false, 4);
		assert_false(leat_shm_holders(f, true) || leat_shm_holders(f, false));
	}
	leat_shm_set_generation(f, 4);
	assert_true(leat_shm_hold(f, true, 4));
	leat_shm_set_generation(f, 4 + LEAT_GENERATION_MOVING);
	assert_true(leat_shm_release(f, true, 4)); /* it was waited for */
	leat_shm_set_generation(f, 4);
	assert_true(leat_shm_hold(f, true, 4));
	leat_shm_set_generation(f, 4 + LEAT_GENERATION_FORCED);
	assert_false(leat_shm_release(f, true, 4));
}

static void test_sequence_word(void **state)
{
	struct leat_word w = {0};
	uint64_t before;

	(void)state;
	before = leat_word_get(&w);
	assert_true(leat_word_still(&w, before));
	assert_true(leat_word_write_begin(&w, before));
	assert_false(leat_word_still(&w, before));
	assert_false(leat_word_write_begin(&w, before));
	leat_word_set(&w, before + 2);
	assert_false(leat_word_still(&w, before));
	assert_true(leat_word_still(&w, before + 2));
}

static void test_map_refuses_others(void **state)
{
	struct leat_shm *mine = NULL;
	int pair[2];

	(void)state;
	assert_int_equal(leat_shm_map(-1, &mine), -EBADF);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(leat_shm_map(pair[0], &mine), -EPROTO);
	close(pair[0]);
	close(pair[1]);
	assert_null(mine);
	assert_int_equal(ftruncate(shm_fd, 0), -1);
	assert_int_equal(errno, EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_consumed_hull),
		cmocka_unit_test(test_wait_outcomes),
		cmocka_unit_test(test_wait_for_the_first_byte),
		cmocka_unit_test(test_wait_interrupted),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_commit_wakes_all),
		cmocka_unit_test(test_window_length),
		cmocka_unit_test(test_window_pending),
		cmocka_unit_test(test_window_writing),
		cmocka_unit_test(test_window_forced),
		cmocka_unit_test(test_window_writing_in_a_change),
		cmocka_unit_test(test_window_length_of_another_time),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_holding),
		cmocka_unit_test(test_sequence_word),
		cmocka_unit_test(test_map_refuses_others),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
