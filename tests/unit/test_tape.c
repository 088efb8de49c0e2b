/* The tape: what is recorded comes out once, whole and in order, by whoever and however many. */
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

#include "shm/tape.h"

enum { SMALL = 16 * LEAT_TAPE_CHUNK, HEAD = sizeof(struct leat_tape_chunk) };

static struct leat_tape *tape;
static int tape_fd;

static int setup(void **state)
{
	(void)state;
	return leat_tape_create(SMALL, &tape_fd, &tape);
}

static int teardown(void **state)
{
	(void)state;
	leat_tape_unmap(tape);
	return close(tape_fd);
}

static uint32_t process_new(int32_t pid)
{
	uint32_t p = leat_tape_process_new(tape, 1);

	assert_int_not_equal(p, LEAT_TAPE_NONE);
	leat_tape_process_adopt(tape, p, pid);
	return p;
}

/* False: no room. */
static bool put(uint32_t process, uint64_t value, uint32_t *lane)
{
	struct leat_tape_record *r = leat_tape_begin(tape, process, sizeof(*r), lane);

	if (!r)
		return false;
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->type = 'R';
	r->offset = value;
	r->length = ~value;
	leat_tape_end(tape, r);
	return true;
}

/* What was taken of each chunk. */
static uint64_t taken[LEAT_TAPE_MAX_CHUNKS];

/* Takes all there is: calls visit for each record. */
static void take(void (*visit)(const struct leat_tape_record *r, void *context), void *context)
{
	for (uint32_t i = leat_tape_chunk_next(tape, 0); i != LEAT_TAPE_NONE;
	     i = leat_tape_chunk_next(tape, i + 1)) {
		struct leat_tape_view v = leat_tape_look(tape, i);
		uint64_t at = taken[i] ? taken[i] : HEAD;

		if (!v.used)
			continue;
		while (at < v.used) {
			const struct leat_tape_record *r =
				(const struct leat_tape_record *)(const void *)(v.data + at);

			visit(r, context);
			at += r->size;
		}
		taken[i] = leat_tape_reclaim(tape, i, at, false, false) ? 0 : at;
	}
}

static void add(const struct leat_tape_record *r, void *context)
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
	assert_int_equal(n, 16 * ((LEAT_TAPE_CHUNK - HEAD) / sizeof(struct leat_tape_record)));
	assert_int_equal(leat_tape_free_chunks(tape), 0);
	take(add, sum);
	assert_int_equal(sum[0], n);
	assert_int_equal(sum[1], n * (n - 1) / 2);
	/* all but the one that the lane still has */
	assert_int_equal(leat_tape_free_chunks(tape), 15);
	assert_true(put(p, 0, &lane));
}

/* A handler that records while another record is being written, in the same thread. */
static void test_nested(void **state)
{
	uint32_t p = process_new(100), lane = 0, inner = 0;
	struct leat_tape_record *outer = leat_tape_begin(tape, p, sizeof(*outer), &lane);
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
	leat_tape_end(tape, outer);
	take(add, sum);
	assert_int_equal(sum[0], 5001);
}

static void test_spare(void **state)
{
	uint32_t p = process_new(100), lane = 0, chunk = 0;
	struct leat_tape_view v;

	(void)state;
	assert_true(put(p, 1, &lane));
	chunk = leat_tape_chunk_next(tape, 0);
	v = leat_tape_look(tape, chunk);
	assert_false(leat_tape_reclaim(tape, chunk, v.used, false, false));
	assert_false(leat_tape_reclaim(tape, chunk, v.used - 8, false, true));
	assert_true(leat_tape_reclaim(tape, chunk, v.used, false, true));
	assert_int_equal(leat_tape_free_chunks(tape), 16);
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

static void see(const struct leat_tape_record *r, void *context)
{
	struct seen *s = context;

	assert_int_equal(r->offset, ~r->length);
	assert_true(r->offset < THREADS * EACH);
	assert_int_equal(s->each[r->offset]++, 0);
	s->n++;
}

/* Far more than there is room for, while it is taken: each comes once. */
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
		leat_tape_begin(tape, p, sizeof(struct leat_tape_record), &lane);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	take(add, sum);
	assert_int_equal(sum[0], 1000);
	chunk = leat_tape_chunk_next(tape, 0);
	while (chunk != LEAT_TAPE_NONE) {
		assert_true(leat_tape_reclaim(tape, chunk, taken[chunk], true, false));
		chunk = leat_tape_chunk_next(tape, chunk + 1);
	}
	leat_tape_process_free(tape, p);
	assert_int_equal(leat_tape_free_chunks(tape), 16);
	assert_int_equal(leat_tape_process_of(tape, 100), LEAT_TAPE_NONE);
}

/* Its number may be another's before it is buried. */
/* A process starts anew; one of its lanes still shows a chunk that the tracer has just given to
 * another process, which is recording. */
static void test_restart_leaves_others_alone(void **state)
{
	uint32_t a = process_new(100), b = process_new(101), la = 0, lb = 0, i;
	struct leat_tape_record *r = leat_tape_begin(tape, b, sizeof(*r), &lb);
	uint32_t lane = 0;

	(void)state;
	assert_non_null(r);
	i = leat_tape_chunk_next(tape, 0);
	atomic_store(&tape->processes[a].lane[0], i + 1);
	leat_tape_process_restart(tape, a);
	assert_true(leat_tape_look(tape, i).busy);
	lane = 0;
	assert_ptr_not_equal(leat_tape_begin(tape, a, sizeof(*r), &lane), r);
	r->size = sizeof(*r);
	leat_tape_end(tape, r);
	/* its own claims end with its threads */
	atomic_store(&tape->processes[a].lane[0], 0);
	leat_tape_process_restart(tape, a);
	assert_non_null(leat_tape_begin(tape, a, sizeof(*r), &la));
	assert_int_equal(la, 0);
	leat_tape_process_restart(tape, a);
	assert_true(put(a, 1, &la));
	assert_int_equal(la, 0);
}

static void test_number_again(void **state)
{
	uint32_t dead = process_new(100), alive = process_new(100);

	(void)state;
	assert_int_equal(leat_tape_process_of(tape, 100), alive);
	assert_int_equal(leat_tape_process_pid(tape, dead), -100);
	leat_tape_process_free(tape, dead);
	assert_int_equal(leat_tape_process_of(tape, 100), alive);
	leat_tape_process_free(tape, alive);
	assert_int_equal(leat_tape_process_of(tape, 100), LEAT_TAPE_NONE);
}

static void test_handles(void **state)
{
	uint32_t p = process_new(100), child, h = leat_tape_handle_new(tape, LEAT_TAPE_APPEND),
		 flags;
	uint64_t id = leat_tape_handle_id(tape, h), dropped = 0;

	(void)state;
	assert_int_equal(leat_tape_fd_set(tape, p, 5, h), 0);
	assert_int_equal(leat_tape_fd(tape, p, 5), h);
	assert_int_equal(leat_tape_fd(tape, p, -1), 0);
	assert_int_equal(leat_tape_fd(tape, p, LEAT_TAPE_FDS), 0);
	child = leat_tape_process_new(tape, 100);
	leat_tape_fd_inherit(tape, p, child);
	assert_false(
		leat_tape_handle_drop(tape, leat_tape_fd_set(tape, p, 5, 0), &dropped, &flags));
	assert_int_equal(leat_tape_handle_move(tape, h, 10), 0);
	assert_int_equal(leat_tape_handle_move(tape, h, 0), 10);
	leat_tape_handle_seek(tape, h, 3);
	assert_int_equal(leat_tape_handle_move(tape, h, 1), 3);
	assert_true(
		leat_tape_handle_drop(tape, leat_tape_fd_set(tape, child, 5, 0), &dropped, &flags));
	assert_int_equal(dropped, id);
	assert_int_equal(flags, LEAT_TAPE_APPEND);
	assert_false(leat_tape_handle_hold(tape, h));
	/* its place is used again, its id is not */
	assert_int_equal(leat_tape_handle_new(tape, 0), h);
	assert_int_not_equal(leat_tape_handle_id(tape, h), id);
}

static void test_handles_run_out(void **state)
{
	uint32_t n = 0, last = 0, h, flags;
	uint64_t id;

	(void)state;
	while ((h = leat_tape_handle_new(tape, 0))) {
		last = h;
		n++;
	}
	assert_int_equal(n, LEAT_TAPE_HANDLES - 1);
	assert_true(leat_tape_handle_drop(tape, last, &id, &flags));
	assert_int_equal(leat_tape_handle_new(tape, 0), last);
}

static void test_flying(void **state)
{
	uint32_t h = leat_tape_handle_new(tape, 0), other = leat_tape_handle_new(tape, 0);

	(void)state;
	leat_tape_handle_of(tape, h, 8, 99);
	assert_true(leat_tape_handle_is(tape, h, 8, 99));
	assert_false(leat_tape_handle_is(tape, h, 9, 99));
	assert_int_equal(leat_tape_fly(tape, h), 0);
	assert_int_equal(leat_tape_flying(tape, 0), h);
	assert_false(leat_tape_land(tape, 0, other));
	assert_true(leat_tape_land(tape, 0, h));
	assert_int_equal(leat_tape_flying(tape, 0), 0);
	for (uint32_t i = 0; i < LEAT_TAPE_FLYING; i++)
		assert_int_equal(leat_tape_fly(tape, h), 0);
	assert_int_equal(leat_tape_fly(tape, other), h);
}

static void test_processes_run_out(void **state)
{
	uint32_t n = 0;

	(void)state;
	while (leat_tape_process_new(tape, 1) != LEAT_TAPE_NONE)
		n++;
	assert_int_equal(n, LEAT_TAPE_PROCESSES);
	leat_tape_process_free(tape, 77);
	assert_int_equal(leat_tape_process_new(tape, 1), 77);
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
