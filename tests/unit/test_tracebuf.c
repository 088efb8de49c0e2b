/* The trace buffer: what is recorded comes out once, whole and in order, by whoever and however
 * many. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "shm/tracebuf.h"

enum { SMALL = 16 * LEAT_TRACEBUF_CHUNK, HEAD = sizeof(struct leat_tracebuf_chunk) };

static struct leat_tracebuf *tracebuf;
static int tracebuf_fd;

static int setup(void **state)
{
	(void)state;
	return leat_tracebuf_create(SMALL, &tracebuf_fd, &tracebuf);
}

static int teardown(void **state)
{
	(void)state;
	leat_tracebuf_unmap(tracebuf);
	return close(tracebuf_fd);
}

static uint32_t process_new(int32_t pid)
{
	uint32_t p = leat_tracebuf_process_new(tracebuf, 1);

	assert_int_not_equal(p, LEAT_TRACEBUF_NONE);
	leat_tracebuf_process_adopt(tracebuf, p, pid);
	return p;
}

/* False: no space. */
static bool put(uint32_t process, uint64_t value, uint32_t *lane)
{
	struct leat_tracebuf_record *r = leat_tracebuf_begin(tracebuf, process, sizeof(*r), lane);

	if (!r)
		return false;
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->type = 'R';
	r->offset = value;
	r->length = ~value;
	leat_tracebuf_end(tracebuf, r);
	return true;
}

/* What was taken of each chunk. */
static uint64_t taken[LEAT_TRACEBUF_MAX_CHUNKS];

/* Takes all there is: calls visit for each record. */
static void take(void (*visit)(const struct leat_tracebuf_record *r, void *context), void *context)
{
	for (uint32_t i = leat_tracebuf_chunk_next(tracebuf, 0); i != LEAT_TRACEBUF_NONE;
	     i = leat_tracebuf_chunk_next(tracebuf, i + 1)) {
		struct leat_tracebuf_view v = leat_tracebuf_look(tracebuf, i);
		uint64_t at = taken[i] ? taken[i] : HEAD;

		if (!v.used)
			continue;
		while (at < v.used) {
			const struct leat_tracebuf_record *r =
				(const struct leat_tracebuf_record *)(const void *)(v.data + at);

			visit(r, context);
			at += r->size;
		}
		taken[i] = leat_tracebuf_reclaim(tracebuf, i, at, false, false) ? 0 : at;
	}
}

static void add(const struct leat_tracebuf_record *r, void *context)
{
	uint64_t *sum = context;

	assert_int_equal(r->offset, ~r->length);
	sum[0]++;
	sum[1] += r->offset;
}

static void test_one(void **state)
{
	uint32_t p = process_new(100), lane = 0;
	uint64_t sum[2] = {0};

	(void)state;
	memset(taken, 0, sizeof(taken));
	assert_true(put(p, 7, &lane));
	assert_true(put(p, 8, &lane));
	take(add, sum);
	assert_int_equal(sum[0], 2);
	assert_int_equal(sum[1], 15);
	take(add, sum);
	assert_int_equal(sum[0], 2);
}

static void test_full(void **state)
{
	uint32_t p = process_new(100), lane = 0;
	uint64_t sum[2] = {0}, n = 0;

	(void)state;
	memset(taken, 0, sizeof(taken));
	while (put(p, n, &lane))
		n++;
	assert_int_equal(n,
			 16 * ((LEAT_TRACEBUF_CHUNK - HEAD) / sizeof(struct leat_tracebuf_record)));
	assert_int_equal(leat_tracebuf_free_chunks(tracebuf), 0);
	take(add, sum);
	assert_int_equal(sum[0], n);
	assert_int_equal(sum[1], n * (n - 1) / 2);
	/* all but the one that the lane still has */
	assert_int_equal(leat_tracebuf_free_chunks(tracebuf), 15);
	assert_true(put(p, 0, &lane));
}

/* A handler that records while another record is being written, in the same thread. */
static void test_nested(void **state)
{
	uint32_t p = process_new(100), lane = 0, inner = 0;
	struct leat_tracebuf_record *outer =
		leat_tracebuf_begin(tracebuf, p, sizeof(*outer), &lane);
	uint64_t sum[2] = {0};

	(void)state;
	memset(taken, 0, sizeof(taken));
	assert_non_null(outer);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_true(put(p, i, &inner));
		take(add, sum);
	}
	memset(outer, 0, sizeof(*outer));
	outer->size = sizeof(*outer);
	outer->length = ~UINT64_C(0);
	leat_tracebuf_end(tracebuf, outer);
	take(add, sum);
	assert_int_equal(sum[0], 5001);
}

static void test_spare(void **state)
{
	uint32_t p = process_new(100), lane = 0, chunk = 0;
	struct leat_tracebuf_view v;

	(void)state;
	assert_true(put(p, 1, &lane));
	chunk = leat_tracebuf_chunk_next(tracebuf, 0);
	v = leat_tracebuf_look(tracebuf, chunk);
	assert_false(leat_tracebuf_reclaim(tracebuf, chunk, v.used, false, false));
	assert_false(leat_tracebuf_reclaim(tracebuf, chunk, v.used - 8, false, true));
	assert_true(leat_tracebuf_reclaim(tracebuf, chunk, v.used, false, true));
	assert_int_equal(leat_tracebuf_free_chunks(tracebuf), 16);
	assert_true(put(p, 2, &lane));
}

enum { THREADS = 6, EACH = 20000 };

struct worker {
	uint32_t process;
	uint64_t first;
};

static void *record_many(void *arg)
{
	const struct worker *w = arg;
	uint32_t lane = 0;

	for (uint64_t i = 0; i < EACH;)
		if (put(w->process, w->first + i, &lane))
			i++;
		else
			sched_yield();
	return NULL;
}

struct seen {
	uint64_t n;
	unsigned char *each; /* THREADS * EACH */
};

static void see(const struct leat_tracebuf_record *r, void *context)
{
	struct seen *s = context;

	assert_int_equal(r->offset, ~r->length);
	assert_true(r->offset < THREADS * EACH);
	assert_int_equal(s->each[r->offset]++, 0);
	s->n++;
}

/* Far more than there is space for, while it is taken: each comes once. */
static void test_threads(void **state)
{
	struct seen s = {.each = calloc(THREADS, EACH)};
	struct worker w[THREADS];
	pthread_t t[THREADS];
	uint32_t p = process_new(100);

	(void)state;
	memset(taken, 0, sizeof(taken));
	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){p, (uint64_t)i * EACH};
		pthread_create(&t[i], NULL, record_many, &w[i]);
	}
	while (s.n < (uint64_t)THREADS * EACH) {
		take(see, &s);
		sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(s.n, THREADS * EACH);
	free(s.each);
}

/* What a process had recorded when it was killed is there, the record it was at is not. */
static void test_killed(void **state)
{
	uint32_t p = process_new(100), chunk;
	uint64_t sum[2] = {0};
	pid_t pid;
	int status;

	(void)state;
	memset(taken, 0, sizeof(taken));
	pid = fork();
	if (pid == 0) {
		uint32_t lane = 0;

		for (uint64_t i = 0; i < 1000; i++)
			put(p, i, &lane);
		leat_tracebuf_begin(tracebuf, p, sizeof(struct leat_tracebuf_record), &lane);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	take(add, sum);
	assert_int_equal(sum[0], 1000);
	chunk = leat_tracebuf_chunk_next(tracebuf, 0);
	while (chunk != LEAT_TRACEBUF_NONE) {
		assert_true(leat_tracebuf_reclaim(tracebuf, chunk, taken[chunk], true, false));
		chunk = leat_tracebuf_chunk_next(tracebuf, chunk + 1);
	}
	leat_tracebuf_process_free(tracebuf, p);
	assert_int_equal(leat_tracebuf_free_chunks(tracebuf), 16);
	assert_int_equal(leat_tracebuf_process_of(tracebuf, 100), LEAT_TRACEBUF_NONE);
}

/* Its number may be another's before it is buried. */
/* A process starts anew; one of its lanes still shows a chunk that the tracer has just given to
 * another process, which is recording. */
static void test_restart_leaves_others_alone(void **state)
{
	uint32_t a = process_new(100), b = process_new(101), la = 0, lb = 0, i;
	struct leat_tracebuf_record *r = leat_tracebuf_begin(tracebuf, b, sizeof(*r), &lb);
	uint32_t lane = 0;

	(void)state;
	assert_non_null(r);
	i = leat_tracebuf_chunk_next(tracebuf, 0);
	atomic_store(&tracebuf->processes[a].lane[0], i + 1);
	leat_tracebuf_process_restart(tracebuf, a);
	assert_true(leat_tracebuf_look(tracebuf, i).busy);
	lane = 0;
	assert_ptr_not_equal(leat_tracebuf_begin(tracebuf, a, sizeof(*r), &lane), r);
	r->size = sizeof(*r);
	leat_tracebuf_end(tracebuf, r);
	/* its own claims end with its threads */
	atomic_store(&tracebuf->processes[a].lane[0], 0);
	leat_tracebuf_process_restart(tracebuf, a);
	assert_non_null(leat_tracebuf_begin(tracebuf, a, sizeof(*r), &la));
	assert_int_equal(la, 0);
	leat_tracebuf_process_restart(tracebuf, a);
	assert_true(put(a, 1, &la));
	assert_int_equal(la, 0);
}

static void test_number_again(void **state)
{
	uint32_t dead = process_new(100), alive = process_new(100);

	(void)state;
	assert_int_equal(leat_tracebuf_process_of(tracebuf, 100), alive);
	assert_int_equal(leat_tracebuf_process_pid(tracebuf, dead), -100);
	leat_tracebuf_process_free(tracebuf, dead);
	assert_int_equal(leat_tracebuf_process_of(tracebuf, 100), alive);
	leat_tracebuf_process_free(tracebuf, alive);
	assert_int_equal(leat_tracebuf_process_of(tracebuf, 100), LEAT_TRACEBUF_NONE);
}

static void test_handles(void **state)
{
	uint32_t p = process_new(100), child,
		 h = leat_tracebuf_handle_new(tracebuf, LEAT_TRACEBUF_APPEND), flags;
	uint64_t id = leat_tracebuf_handle_id(tracebuf, h), dropped = 0;

	(void)state;
	assert_int_equal(leat_tracebuf_fd_set(tracebuf, p, 5, h), 0);
	assert_int_equal(leat_tracebuf_fd(tracebuf, p, 5), h);
	assert_int_equal(leat_tracebuf_fd(tracebuf, p, -1), 0);
	assert_int_equal(leat_tracebuf_fd(tracebuf, p, LEAT_TRACEBUF_FDS), 0);
	child = leat_tracebuf_process_new(tracebuf, 100);
	leat_tracebuf_fd_inherit(tracebuf, p, child);
	assert_false(leat_tracebuf_handle_drop(tracebuf, leat_tracebuf_fd_set(tracebuf, p, 5, 0),
					       &dropped, &flags));
	assert_int_equal(leat_tracebuf_handle_move(tracebuf, h, 10), 0);
	assert_int_equal(leat_tracebuf_handle_move(tracebuf, h, 0), 10);
	leat_tracebuf_handle_seek(tracebuf, h, 3);
	assert_int_equal(leat_tracebuf_handle_move(tracebuf, h, 1), 3);
	assert_true(leat_tracebuf_handle_drop(tracebuf, leat_tracebuf_fd_set(tracebuf, child, 5, 0),
					      &dropped, &flags));
	assert_int_equal(dropped, id);
	assert_int_equal(flags, LEAT_TRACEBUF_APPEND);
	assert_false(leat_tracebuf_handle_hold(tracebuf, h));
	/* its place is used again, its id is not */
	assert_int_equal(leat_tracebuf_handle_new(tracebuf, 0), h);
	assert_int_not_equal(leat_tracebuf_handle_id(tracebuf, h), id);
}

static void test_handles_run_out(void **state)
{
	uint32_t n = 0, last = 0, h, flags;
	uint64_t id;

	(void)state;
	while ((h = leat_tracebuf_handle_new(tracebuf, 0))) {
		last = h;
		n++;
	}
	assert_int_equal(n, LEAT_TRACEBUF_HANDLES - 1);
	assert_true(leat_tracebuf_handle_drop(tracebuf, last, &id, &flags));
	assert_int_equal(leat_tracebuf_handle_new(tracebuf, 0), last);
}

static void test_flying(void **state)
{
	uint32_t h = leat_tracebuf_handle_new(tracebuf, 0),
		 other = leat_tracebuf_handle_new(tracebuf, 0);

	(void)state;
	leat_tracebuf_handle_of(tracebuf, h, 8, 99);
	assert_true(leat_tracebuf_handle_is(tracebuf, h, 8, 99));
	assert_false(leat_tracebuf_handle_is(tracebuf, h, 9, 99));
	assert_int_equal(leat_tracebuf_in_flight_add(tracebuf, h), 0);
	assert_int_equal(leat_tracebuf_in_flight(tracebuf, 0), h);
	assert_false(leat_tracebuf_in_flight_claim(tracebuf, 0, other));
	assert_true(leat_tracebuf_in_flight_claim(tracebuf, 0, h));
	assert_int_equal(leat_tracebuf_in_flight(tracebuf, 0), 0);
	for (uint32_t i = 0; i < LEAT_TRACEBUF_IN_FLIGHT; i++)
		assert_int_equal(leat_tracebuf_in_flight_add(tracebuf, h), 0);
	assert_int_equal(leat_tracebuf_in_flight_add(tracebuf, other), h);
}

static void test_processes_run_out(void **state)
{
	uint32_t n = 0;

	(void)state;
	while (leat_tracebuf_process_new(tracebuf, 1) != LEAT_TRACEBUF_NONE)
		n++;
	assert_int_equal(n, LEAT_TRACEBUF_PROCESSES);
	leat_tracebuf_process_free(tracebuf, 77);
	assert_int_equal(leat_tracebuf_process_new(tracebuf, 1), 77);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one),
		TEST(test_full),
		TEST(test_nested),
		TEST(test_spare),
		TEST(test_threads),
		TEST(test_killed),
		TEST(test_restart_leaves_others_alone),
		TEST(test_number_again),
		TEST(test_handles),
		TEST(test_flying),
		TEST(test_handles_run_out),
		TEST(test_processes_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
