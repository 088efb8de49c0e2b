/* Times of change that are shown in place of those that inodes have. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/timespec.h"
#include "shm/ctimes.h"
#include "segment.h"

static struct timespec at(int64_t s, long ns)
{
	return (struct timespec){.tv_sec = s, .tv_nsec = ns};
}

static struct leat_shm_inode inode_of(uint64_t device, uint64_t number, struct timespec ctime)
{
	return (struct leat_shm_inode){
		.device = device, .inode = number, .mtime = at(50, 5), .ctime = ctime};
}

/* As a client that has just looked. */
static struct timespec shown_of(struct leat_shm_inode i)
{
	assert_true(leat_shm_ctime_find(shm, leat_shm_ctimes_seen(shm), &i));
	return i.ctime;
}

static void assert_mtime_shown(struct leat_shm_inode i, struct timespec t)
{
	assert_true(leat_shm_ctime_find(shm, leat_shm_ctimes_seen(shm), &i));
	assert_true(leat_timespec_is_same(i.mtime, t));
}

static void assert_shown(struct leat_shm_inode i, struct timespec t)
{
	assert_true(leat_timespec_is_same(shown_of(i), t));
}

/* The daemon has changed it at `now`. */
static void change(struct leat_shm_inode before, struct timespec shown, struct timespec now)
{
	leat_shm_ctime_hold(shm, &before, shown, false);
	before.ctime = now;
	leat_shm_ctime_settle(shm, &before);
}

static void test_what_leat_changed(void **state)
{
	struct leat_shm_inode i = inode_of(1, 7, at(100, 1)), touched;

	(void)state;
	assert_int_equal(leat_shm_ctimes_seen(shm), 0);
	assert_shown(i, at(100, 1));
	leat_shm_ctime_hold(shm, &i, at(90, 9), false);
	i.ctime = at(101, 2);
	assert_shown(i, at(90, 9)); /* whatever it has meanwhile */
	leat_shm_ctime_settle(shm, &i);
	assert_shown(i, at(90, 9));
	change(i, shown_of(i), at(102, 0)); /* once more */
	i.ctime = at(102, 0);
	assert_shown(i, at(90, 9));
	/* A program's changes are shown truly; the second is within the same tick. */
	touched = i;
	touched.ctime = at(103, 0);
	assert_shown(touched, at(103, 0));
	touched = i;
	touched.mtime.tv_nsec++;
	assert_shown(touched, at(102, 0));
	/* And then what it had there. */
	i.ctime = at(103, 0);
	change(i, shown_of(i), at(104, 0));
	i.ctime = at(104, 0);
	assert_shown(i, at(103, 0));
	assert_shown(inode_of(1, 8, at(104, 0)), at(104, 0));
	assert_shown(inode_of(2, 7, at(104, 0)), at(104, 0));
}

/* A directory: a name that comes or goes changes its mtime, too, until that is put back. */
static void test_mtime_of_a_directory(void **state)
{
	struct leat_shm_inode i = inode_of(1, 7, at(100, 1)), changed = i, file = i;

	(void)state;
	for (int round = 0; round < 2; round++) { /* a new entry, and one that is there */
		leat_shm_ctime_hold(shm, &i, at(100, 1), true);
		changed.mtime = changed.ctime = at(101 + round, 0);
		assert_shown(changed, at(100, 1));
		assert_mtime_shown(changed, at(50, 5));
		i.ctime = at(101 + round, 1);
		leat_shm_ctime_settle(shm, &i);
		assert_mtime_shown(i, at(50, 5));
		assert_mtime_shown(changed, at(101 + round, 0)); /* a program's own */
	}
	/* One that nobody puts back is shown. */
	file.inode = 8;
	leat_shm_ctime_hold(shm, &file, at(100, 1), false);
	file.mtime = at(102, 0);
	assert_mtime_shown(file, at(102, 0));
}

static void test_times(void **state)
{
	static const struct timespec times[] = {
		{0, 0}, {0, 1}, {-1, 999999999}, {-5000000000, 1}, {9000000000, 999999999}};

	(void)state;
	for (size_t n = 0; n < sizeof(times) / sizeof(*times); n++) {
		change(inode_of(1, n + 1, at(1, 1)), times[n], at(200, 0));
		assert_shown(inode_of(1, n + 1, at(200, 0)), times[n]);
	}
	/* Those that have no place are not noted. */
	change(inode_of(1, 99, at(1, 1)), at(INT64_C(10000000000), 0), at(200, 0));
	assert_shown(inode_of(1, 99, at(200, 0)), at(200, 0));
	change(inode_of(1, 99, at(1, 1)), at(-INT64_C(10000000000), 0), at(200, 0));
	assert_shown(inode_of(1, 99, at(200, 0)), at(200, 0));
}

/* Who has looked before, and is told afterwards, has to look again. */
static void test_late(void **state)
{
	uint64_t seen = leat_shm_ctimes_seen(shm);
	struct leat_shm_inode i = inode_of(1, 7, at(100, 1)), other = inode_of(1, 8, at(100, 1));

	(void)state;
	change(i, at(90, 9), at(102, 0));
	assert_false(leat_shm_ctime_find(shm, seen, &i));
	assert_true(leat_shm_ctime_find(shm, seen, &other));
	i.ctime = at(102, 0);
	assert_true(leat_shm_ctime_find(shm, seen, &i));
	assert_true(leat_timespec_is_same(i.ctime, at(90, 9)));
}

/* The latest are kept, and one that is changed again and again, as a directory is. */
static void test_eviction(void **state)
{
	enum { MANY = 3 * LEAT_SHM_MAX_CTIMES, KEPT = LEAT_SHM_MAX_CTIMES / 2 };
	struct leat_shm_inode dir = inode_of(1, 77, at(60, 0));
	unsigned lost = 0;

	(void)state;
	for (uint64_t n = 1; n <= MANY; n++) {
		struct leat_shm_inode i = inode_of(1 + n % 2, 1000 + n, at(100, 0));

		change(i, at(90, (long)(n % 1000)), at(101, 0));
		if (n % 1000)
			continue;
		change(dir, shown_of(dir), at(200, (long)n));
		dir.ctime = at(200, (long)n);
	}
	for (uint64_t n = MANY - KEPT; n <= MANY; n++) {
		struct leat_shm_inode i = inode_of(1 + n % 2, 1000 + n, at(101, 0));
		struct timespec shown = shown_of(i);

		lost += !leat_timespec_is_same(shown, at(90, (long)(n % 1000)));
	}
	assert_int_equal(lost, 0);
	assert_shown(inode_of(2, 1001, at(101, 0)), at(101, 0));
	assert_shown(dir, at(60, 0));
}

/* What one process sees while the daemon is at it: `real` is what the kernel would say. */
enum { ROUNDS = 200000, READERS = 3 };

static _Atomic int64_t real;
static _Atomic bool over;

/* With another mtime in the middle, at each even number. */
static struct leat_shm_inode real_inode(void)
{
	int64_t now = atomic_load(&real);
	struct leat_shm_inode i = inode_of(1, 7, at(now, 0));

	if (now >= 1000 && now % 2 == 0)
		i.mtime = at(77, 0);
	return i;
}

/* The number of looks that saw something else than what is to be shown. */
static void *reader(void *arg)
{
	uintptr_t wrong = 0;

	(void)arg;
	while (!atomic_load(&over)) {
		struct leat_shm_inode i;
		uint64_t seen;

		do {
			seen = leat_shm_ctimes_seen(shm);
			i = real_inode();
		} while (!leat_shm_ctime_find(shm, seen, &i));
		wrong += i.ctime.tv_sec != 10 || i.mtime.tv_sec != 50;
	}
	return (void *)wrong;
}

static void test_threads(void **state)
{
	pthread_t threads[READERS];
	void *wrong;

	(void)state;
	atomic_store(&real, 10);
	atomic_store(&over, false);
	for (int n = 0; n < READERS; n++)
		assert_int_equal(pthread_create(&threads[n], NULL, reader, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct leat_shm_inode i = real_inode();

		leat_shm_ctime_hold(shm, &i, shown_of(i), true);
		atomic_store(&real, 1000 + 2 * round); /* two changes, as rename and utimensat */
		atomic_store(&real, 1001 + 2 * round);
		i.ctime = at(1001 + 2 * round, 0);
		leat_shm_ctime_settle(shm, &i);
	}
	atomic_store(&over, true);
	for (int n = 0; n < READERS; n++) {
		pthread_join(threads[n], &wrong);
		assert_int_equal((uintptr_t)wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_leat_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mtime_of_a_directory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_eviction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
