/* What orders plain memory by the atomics of shared memory: threads stand for processes, an array
 * for a file's bytes. Under ThreadSanitizer (.ci/threads) a missing order is an error; here too the
 * values must be right. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "shm/extents.h"
#include "shm/window.h"
#include "segment.h"

enum { SIZE = 200000, CHUNK = 100, READERS = 3, WRITERS = 3, ROUNDS = 20000 };
#define SECOND UINT64_C(1000000000)

static char bytes[SIZE];

static int setup_with_bytes(void **state)
{
	memset(bytes, 0, sizeof(bytes));
	return setup(state);
}

static char value_at(size_t i)
{
	return (char)(i % 127 + 1);
}

/* Reads each byte as soon as it is said to be there. The number of wrong ones. */
static void *reader(void *arg)
{
	struct leat_shm_file *f = arg;
	uintptr_t wrong = 0;

	for (uint64_t at = 0; at < SIZE;) {
		uint32_t seq = leat_shm_seq(f);
		int look = leat_shm_look(shm, f, at, 1);

		if (look == LEAT_SHM_NOT_YET) {
			leat_shm_wait(f, seq, at + 1, SECOND / 100);
			continue;
		}
		for (uint64_t end = leat_shm_frontier(f); at < end; at++)
			wrong += bytes[at] != value_at(at);
		if (look == LEAT_SHM_FINAL && leat_shm_size(f) != SIZE)
			wrong++;
	}
	return (void *)wrong;
}

static void start_readers(pthread_t threads[READERS], struct leat_shm_file *f)
{
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader, f), 0);
}

static void join(pthread_t *threads, int n)
{
	for (int i = 0; i < n; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_int_equal((uintptr_t)wrong, 0);
	}
}

static void write_bytes(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		bytes[i] = value_at(i);
}

static void test_published(void **state)
{
	struct leat_shm_file *f = &shm->files[1];
	pthread_t threads[READERS];

	(void)state;
	leat_shm_file_init(f);
	start_readers(threads, f);
	for (uint64_t at = 0; at < SIZE; at += CHUNK) {
		write_bytes(at, at + CHUNK);
		leat_shm_publish(f, at + CHUNK);
	}
	leat_shm_file_finish(f, SIZE);
	join(threads, READERS);
}

static void test_through_a_window(void **state)
{
	struct leat_shm_file *f = &shm->files[2];
	pthread_t threads[READERS];

	(void)state;
	leat_shm_file_init(f);
	start_readers(threads, f);
	assert_true(leat_shm_window_take(f, true, false));
	leat_shm_window_give(f, LEAT_WINDOW_IDLE, 0);
	for (uint64_t at = 0; at < SIZE; at += CHUNK) {
		while (!leat_shm_copy_begin(f))
			;
		write_bytes(at, at + CHUNK);
		leat_shm_copy_end(f, at + CHUNK, true);
	}
	leat_shm_file_finish(f, SIZE);
	join(threads, READERS);
}

/* ---- a file that is moved while it is written ---- */

static struct {
	struct leat_shm_file *f;
	long places[2]; /* what is in the one and in the other place; only who holds it changes it
			 */
	pthread_mutex_t lock; /* among the writers, as the kernel's of an inode */
} moved = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *writer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t generation = leat_shm_generation(moved.f);

		if (generation % LEAT_GENERATION_NEXT ||
		    !leat_shm_hold(moved.f, true, generation)) {
			i--;
			continue;
		}
		pthread_mutex_lock(&moved.lock);
		moved.places[generation / LEAT_GENERATION_NEXT % 2]++;
		pthread_mutex_unlock(&moved.lock);
		if (!leat_shm_release(moved.f, true, generation))
			return (void *)1;
	}
	return NULL;
}

static void test_moved(void **state)
{
	const struct timespec nap = {.tv_nsec = 20000};
	pthread_t threads[WRITERS];
	uint32_t generation = 0;

	(void)state;
	moved.f = &shm->files[3];
	leat_shm_file_init(moved.f);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, writer, NULL), 0);
	for (int i = 0; i < 200; i++, generation += LEAT_GENERATION_NEXT) {
		unsigned from = generation / LEAT_GENERATION_NEXT % 2;

		leat_shm_set_generation(moved.f, generation + LEAT_GENERATION_MOVING);
		while (leat_shm_holders(moved.f, true))
			nanosleep(&nap, NULL);
		moved.places[!from] = moved.places[from]; /* nobody writes now */
		moved.places[from] = -1;
		leat_shm_set_generation(moved.f, generation + LEAT_GENERATION_NEXT);
		leat_shm_file_update(moved.f, 0, 0);
		nanosleep(&nap, NULL);
	}
	join(threads, WRITERS);
	assert_int_equal(moved.places[generation / LEAT_GENERATION_NEXT % 2], WRITERS * ROUNDS);
}

/* ---- bytes that exist are changed, and read ---- */

enum { CHANGES = 20000 };

static struct {
	struct leat_shm_file *f;
	pthread_barrier_t together;
	_Atomic int byte; /* of the file */
	int seen;
	bool broken; /* the producer found that it had been read */
} changed;

/* A consumer reads the byte once it is there. */
static void *peeper(void *arg)
{
	const struct timespec nap = {.tv_nsec = 500000};

	(void)arg;
	for (int i = 0; i < CHANGES; i++) {
		pthread_barrier_wait(&changed.together);
		if (i % 500 == 0) /* while the other has looked already */
			nanosleep(&nap, NULL);
		leat_shm_about_to_read(changed.f, 0, 1);
		changed.seen = atomic_load_explicit(&changed.byte, memory_order_relaxed);
		pthread_barrier_wait(&changed.together);
	}
	return NULL;
}

/* Either the consumer gets what it will be, or the producer learns that it got what it was. */
static void test_rewritten(void **state)
{
	const struct timespec nap = {.tv_nsec = 2000000};
	const struct leat_range first = {0, 1};
	pthread_t thread;
	int silent = 0;

	(void)state;
	changed.f = &shm->files[4];
	pthread_barrier_init(&changed.together, NULL, 2);
	leat_shm_file_init(changed.f);
	assert_int_equal(pthread_create(&thread, NULL, peeper, NULL), 0);
	for (int i = 0; i < CHANGES; i++) {
		leat_shm_file_init(changed.f);
		atomic_store(&changed.byte, i);
		leat_shm_publish(changed.f, 1);
		pthread_barrier_wait(&changed.together);
		leat_shm_rewrite_begin(changed.f, first);
		changed.broken = leat_shm_was_consumed(changed.f, 0, 1);
		if (i % 500 == 0)
			nanosleep(&nap, NULL);
		if (!changed.broken)
			atomic_store_explicit(&changed.byte, -1, memory_order_relaxed);
		leat_shm_rewrite_end(changed.f, first);
		pthread_barrier_wait(&changed.together);
		silent += !changed.broken && changed.seen != -1;
	}
	join(&thread, 1);
	assert_int_equal(silent, 0);
	/* a final file is not waited for */
	leat_shm_rewrite_begin(changed.f, first);
	leat_shm_file_finish(changed.f, 1);
	leat_shm_about_to_read(changed.f, 0, 1);
}

/* Who reads one part of a file need not wait for who changes another. */
static void test_rewritten_parts(void **state)
{
	const uint64_t mega = 1 << 20;
	const struct leat_range part = {mega, 2 * mega}, whole = {0, UINT64_MAX};
	struct leat_shm_file *f = &shm->files[5];
	int others = 0;

	(void)state;
	leat_shm_file_init(f);
	leat_shm_rewrite_begin(f, part);
	assert_true(leat_shm_is_rewritten(f, part));
	assert_true(leat_shm_is_rewritten(f, whole));
	assert_true(leat_shm_is_rewritten(f, (struct leat_range){0, mega + 1}));
	assert_true(leat_shm_is_rewritten(f, (struct leat_range){2 * mega - 1, 9 * mega}));
	assert_false(leat_shm_is_rewritten(f, (struct leat_range){mega, mega}));
	/* of 64 parts a power of two apart, most are none of its business */
	for (uint64_t i = 2; i < 66; i++)
		others += leat_shm_is_rewritten(
			f, (struct leat_range){i * 80 * mega, (i * 80 + 1) * mega});
	assert_in_range(others, 0, 16);
	leat_shm_rewrite_begin(f, whole);
	leat_shm_rewrite_end(f, part);
	for (uint64_t i = 0; i < 16; i++)
		assert_true(leat_shm_is_rewritten(f, (struct leat_range){i * mega, i * mega + 1}));
	leat_shm_rewrite_end(f, whole);
	assert_false(leat_shm_is_rewritten(f, whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_published, setup_with_bytes, teardown),
		cmocka_unit_test_setup_teardown(test_through_a_window, setup_with_bytes, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup_with_bytes, teardown),
		cmocka_unit_test_setup_teardown(test_rewritten, setup_with_bytes, teardown),
		cmocka_unit_test_setup_teardown(test_rewritten_parts, setup_with_bytes, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
