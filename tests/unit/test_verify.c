/* The model checker: what it finds in small workflows, that its traces can be replayed, and that
 * its reductions lose nothing. */
#include "cases.h"
#include "family.h"

#include "stream/state/heap.h"
#include "stream/replay.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_case(void **state)
{
	char *wrong = verify_case_run(*state, NULL);

	if (wrong)
		fail_msg("%s", wrong);
}

/* A share of what `make verify` looks at. */
static void test_family(void **state)
{
	struct leat_verify_bounds bounds = {.open = 1};
	struct family_sum sum = {0};

	(void)state;
	for (unsigned i = 0; i < family_n_shapes; i++)
		family_run(&family_shapes[i], i, 97, &bounds, &sum);
	assert_int_equal(sum.wrong, 0);
	assert_true(sum.deadlocks > 0 && sum.deadlocks < sum.combinations);
	print_message("%lu combinations, %lu states\n", sum.combinations, sum.states);
}

/* Without the reductions the same is found, in more states. */
static void test_reductions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < family_n_shapes; i++) {
		struct leat_verify_bounds bounds = {.open = 1};
		struct family_sum sum = {0}, full = {0};

		family_run(&family_shapes[i], 5 * i, 211, &bounds, &sum);
		bounds.full = true;
		family_run(&family_shapes[i], 5 * i, 211, &bounds, &full);
		assert_int_equal(sum.wrong + full.wrong, 0);
		assert_int_equal(sum.deadlocks, full.deadlocks);
		assert_true(full.states > sum.states);
	}
}

#define RING "step A\nin y\nout x\nrule x on_close\nstep B\nin x\nout y\n"

static struct leat_verify *begin(struct world *w, const char *text,
				 const struct leat_verify_bounds *bounds,
				 struct leat_verify_result *result)
{
	world_init(w, text);
	return verify_world_run(w, bounds, result);
}

/* The trace of a finding is an event log; the rules decide again as it says. */
static void test_trace(void **state)
{
	static const char *const steps[] = {"  1. A opens for reading y: it waits\n",
					    "  2. B opens for reading x: it waits\n", "cycle: "};
	struct leat_verify_bounds bounds = {.failures = 0};
	struct leat_replay_result replayed = {0};
	struct leat_verify_result r;
	char *people = NULL;
	size_t size;
	FILE *out = open_memstream(&people, &size), *log = tmpfile();
	struct world w;
	struct leat_verify *v = begin(&w, RING, &bounds, &r);

	(void)state;
	assert_non_null(out);
	assert_non_null(log);
	assert_true(r.n_findings >= 1 && r.complete);
	assert_int_equal(r.findings[0].kind, LEAT_VERIFY_DEADLOCK);
	assert_true(r.findings[0].shortest);
	assert_int_equal(r.findings[0].length, 2);
	assert_int_equal(r.findings[0].stuck, 3);
	assert_int_equal(leat_verify_trace(v, &r.findings[0], out, log), 0);
	assert_int_equal(fclose(out), 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		assert_non_null(strstr(people, steps[i]));
	free(people);
	rewind(log);
	assert_int_equal(leat_replay(w.m, w.wf, log, stderr, &replayed), 0);
	assert_int_equal(replayed.differences, 0);
	assert_true(replayed.decisions > 0);
	fclose(log);
	leat_verify_free(v);
	world_release(&w);
}

static void test_bounds(void **state)
{
	struct leat_verify_bounds bounds = {.states = 10};
	struct leat_verify_result r;
	struct world w;
	struct leat_verify *v = begin(&w, RING, &bounds, &r);
	char text[4096] = "step A\n";

	(void)state;
	assert_false(r.complete);
	assert_true(r.states <= 11);
	leat_verify_free(v);
	world_release(&w);

	for (int i = 0; i < 100; i++)
		sprintf(text + strlen(text), "out file%d\n", i);
	world_init(&w, text);
	assert_null(leat_verify_new(w.m, w.wf, &bounds));
	assert_int_equal(errno, E2BIG);
	world_release(&w);
}

/* What files are called makes no difference. */
static void test_called(void **state)
{
	static const char *const texts[] = {
		"step A\nout d/*\nrule d/* on_close\nstep B\nin d/*\n",
		"step A\nout -/*\nrule -/* on_close\nstep B\nin -/*\n",
		"step A\nout d[/*\nrule d[/* on_close\nstep B\nin d[/*\n",
	};
	const struct leat_verify_bounds bounds = {.open = 1};
	uint64_t states = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct leat_verify_result r;
		struct world w;
		struct leat_verify *v = begin(&w, texts[i], &bounds, &r);

		assert_int_equal(r.n_findings, 0);
		if (i)
			assert_int_equal(r.states, states);
		states = r.states;
		leat_verify_free(v);
		world_release(&w);
	}
}

/* ---- heap and fingerprint ---- */

static const char *const events[] = {"start A",   "creat A x 1", "extent x 0 5",
				     "close 1 5", "start B",     "end A"};

static uint64_t play(struct world *w, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		world_do(w, events[i]);
	return leat_stream_fingerprint(w->s);
}

/* What is put back is as it was, and goes on as it would have. */
static void test_heap(void **state)
{
	enum { N = sizeof(events) / sizeof(*events) };
	struct leat_heap *heap = leat_heap_new(1 << 20);
	uint64_t after[N + 1];
	void *kept;
	struct world w;

	(void)state;
	assert_non_null(heap);
	assert_null(leat_heap_use(heap));
	world_init(&w, "step A\nout x\nrule x on_close\nstep B\nin x\n");
	after[0] = play(&w, 0, 0);
	kept = malloc(leat_heap_used(heap));
	assert_non_null(kept);
	leat_heap_keep(heap, kept);
	for (size_t i = 0; i < N; i++) {
		after[i + 1] = play(&w, i, i + 1);
		assert_true(after[i + 1] != after[i]);
	}
	for (size_t i = 0; i <= N; i++) {
		leat_heap_put_back(heap, kept);
		assert_true(play(&w, 0, i) == after[i]);
	}
	world_release(&w);
	assert_ptr_equal(leat_heap_use(NULL), heap);
	leat_heap_destroy(heap);
	free(kept);
}

/* The same in the C library's memory. */
static void test_fingerprint(void **state)
{
	struct world w, same;

	(void)state;
	world_init(&w, "step A\nout x\nrule x on_close\nstep B\nin x\n");
	world_init(&same, "step A\nout x\nrule x on_close\nstep B\nin x\n");
	assert_true(play(&w, 0, 3) == play(&same, 0, 3));
	assert_true(play(&w, 3, 4) != leat_stream_fingerprint(same.s));
	world_release(&same);
	world_release(&w);
}

static void test_full_heap(void **state)
{
	struct leat_heap *heap = leat_heap_new(4096);
	void *first, *p;

	(void)state;
	assert_non_null(heap);
	leat_heap_use(heap);
	first = leat_heap_alloc(1, 64);
	assert_non_null(first);
	memset(first, 1, 64);
	leat_heap_free(first);
	p = leat_heap_alloc(4, 16);
	assert_ptr_equal(p, first);
	assert_int_equal(*(char *)p, 0);
	assert_non_null(p = leat_heap_resize(p, 10, 16));
	assert_null(leat_heap_alloc(1, 4096));
	assert_null(leat_heap_alloc(SIZE_MAX / 8, 16));
	leat_heap_clear(heap);
	assert_non_null(leat_heap_copy("text"));
	leat_heap_use(NULL);
	leat_heap_destroy(heap);
}

int main(void)
{
	static struct verify_case copies[128];
	static struct CMUnitTest tests[128] = {
		cmocka_unit_test(test_family),      cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_trace),       cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_heap),        cmocka_unit_test(test_full_heap),
		cmocka_unit_test(test_fingerprint), cmocka_unit_test(test_called),
	};
	size_t n = 8;

	assert_in_range(verify_n_cases, 1, 100);
	for (size_t i = 0; i < verify_n_cases; i++, n++) {
		copies[i] = verify_cases[i];
		tests[n] = (struct CMUnitTest){.name = copies[i].name,
					       .test_func = test_case,
					       .initial_state = &copies[i]};
	}
	return _cmocka_run_group_tests("verify", tests, n, NULL, NULL);
}
