/* The parts of the ebpf tracer that need no kernel: order, ids, paths. */
#include "iotrace/trace.h"
#include "trace/ebpf/ids.h"
#include "trace/ebpf/order.h"
#include "trace/ebpf/path.h"
#include "trace/sink.h"

/* cmocka.h comes last */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- paths ---- */

/* A walk is written with '|' for its NULs. */
static size_t walk_of(char *out, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		out[i] = text[i] == '|' ? 0 : text[i];
	return n;
}

static void test_paths(void **state)
{
	static const struct {
		const char *walk, *name, *path;
	} rows[] = {
		{"", NULL, "/"},
		{"a|", NULL, "/a"},
		{"c|b|a|", NULL, "/a/b/c"},
		{"b|a|", "x", "/a/b/x"},
		{"b|a|", "x/y", "/a/b/x/y"},
		{"b|a|", "./x//y/", "/a/b/x/y"},
		{"b|a|", "../x", "/a/x"},
		{"b|a|", "../../../x", "/x"},
		{"b|a|", "..", "/a"},
		{"a|", "..", "/"},
		{"b|a|", "", "/a/b"},
		{"b|a|", "/x/../y", "/y"},
		{"", "x", "/x"},
		{"", "...", "/..."},
		{"b c|a,\"|", "\xff\n", "/a,\"/b c/\xff\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char walk[64], *path;
		size_t n = walk_of(walk, rows[i].walk);

		path = rows[i].name ? leat_ebpf_path_below(walk, n, rows[i].name,
							   strlen(rows[i].name) + 1)
				    : leat_ebpf_path_of_walk(walk, n);
		assert_string_equal(path, rows[i].path);
		free(path);
	}
}

/* ---- ids ---- */

static void test_inodes(void **state)
{
	struct leat_ebpf_ids *ids = leat_ebpf_ids_new();
	uint64_t a, b;

	(void)state;
	a = leat_ebpf_ids_inode(ids, 1, 7, 100, false);
	assert_int_equal(leat_ebpf_ids_inode(ids, 1, 7, 100, false), a);
	assert_int_not_equal(leat_ebpf_ids_inode(ids, 2, 7, 100, false), a);
	assert_int_not_equal(leat_ebpf_ids_inode(ids, 1, 8, 100, false), a);
	/* the number is used again: another file, also where there are no generations */
	b = leat_ebpf_ids_inode(ids, 1, 7, 100, true);
	assert_int_not_equal(b, a);
	assert_int_equal(leat_ebpf_ids_inode(ids, 1, 7, 100, false), b);
	leat_ebpf_ids_free(ids);
}

static void test_handles(void **state)
{
	struct leat_ebpf_ids *ids = leat_ebpf_ids_new();

	(void)state;
	assert_int_equal(leat_ebpf_ids_of(ids, 5), 0);
	assert_true(leat_ebpf_ids_open(ids, 5, 50));
	assert_true(leat_ebpf_ids_open(ids, 6, 60));
	assert_int_equal(leat_ebpf_ids_of(ids, 5), 50);
	assert_int_equal(leat_ebpf_ids_of(ids, 6), 60);
	leat_ebpf_ids_close(ids, 6);
	leat_ebpf_ids_close(ids, 6);
	assert_int_equal(leat_ebpf_ids_of(ids, 6), 0);
	assert_int_equal(leat_ebpf_ids_of(ids, 5), 50);
	leat_ebpf_ids_free(ids);
}

static void test_names(void **state)
{
	struct leat_ebpf_ids *ids = leat_ebpf_ids_new();
	char path[32];

	(void)state;
	leat_ebpf_ids_name(ids, "/a", 1);
	leat_ebpf_ids_name(ids, "/a", 2);
	assert_int_equal(leat_ebpf_ids_named(ids, "/a"), 2);
	assert_int_equal(leat_ebpf_ids_unname(ids, "/a"), 2);
	assert_int_equal(leat_ebpf_ids_unname(ids, "/a"), 0);
	/* the oldest goes first */
	for (unsigned i = 0; i < 65537; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		leat_ebpf_ids_name(ids, path, i + 1);
	}
	assert_int_equal(leat_ebpf_ids_named(ids, "/0"), 0);
	assert_int_equal(leat_ebpf_ids_named(ids, "/1"), 2);
	assert_int_equal(leat_ebpf_ids_named(ids, "/65536"), 65537);
	leat_ebpf_ids_free(ids);
}

/* ---- order ---- */

struct world {
	char path[64];
	struct leat_trace_request request;
	struct leat_trace_sink sink;
	struct leat_ebpf_order order;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->path, "/tmp/leat-order-XXXXXX.csv");
	close(mkstemps(w->path, 4));
	w->request.out = leat_trace_writer_new(w->path, &(struct leat_trace_head){.host = NULL});
	assert_non_null(w->request.out);
	leat_trace_sink_init(&w->sink, &w->request);
	leat_ebpf_order_init(&w->order, &w->sink);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char pids[80];

	leat_ebpf_order_release(&w->order);
	unlink(w->path);
	snprintf(pids, sizeof(pids), "%.*s.pids.csv", (int)strlen(w->path) - 4, w->path);
	unlink(pids);
	free(w);
	return 0;
}

static void put(struct world *w, int64_t time_ns)
{
	struct leat_ebpf_held held = {.record.kind = LEAT_TRACE_CALL, .time_ns = time_ns};

	held.record.call.type = LEAT_TRACE_OPEN;
	held.record.call.start_ns = held.record.call.end_ns = time_ns;
	held.record.call.path = held.strings = strdup("/x");
	leat_ebpf_order_put(&w->order, &held);
}

/* End the trace, and read it back: times never go down; returns how many there are. */
static unsigned in_order(struct world *w, int64_t *last_ns)
{
	struct leat_trace_record record;
	struct leat_trace_reader *r;
	unsigned n = 0;
	char why[256];

	leat_ebpf_order_pass(&w->order, INT64_MAX);
	assert_int_equal(leat_trace_writer_end(w->request.out, NULL), 0);
	r = leat_trace_reader_new(w->path, why, sizeof(why));
	assert_non_null(r);
	*last_ns = 0;
	while (leat_trace_read(r, &record) == 1) {
		assert_true(record.call.end_ns >= *last_ns);
		*last_ns = record.call.end_ns;
		n++;
	}
	leat_trace_reader_free(r);
	return n;
}

static void test_order(void **state)
{
	struct world *w = *state;
	int64_t last_ns;

	srand(1);
	for (int i = 1; i <= 20000; i++) {
		put(w, 1000000000 + (int64_t)i * 100 - rand() % 5000);
		if (i % 1000 == 0)
			leat_ebpf_order_pass(&w->order, 1000000000 + (int64_t)(i - 100) * 100);
	}
	assert_int_equal(in_order(w, &last_ns), 20000);
	assert_int_equal(w->sink.progress->lost[LEAT_TRACE_LOST_MEMORY], 0);
}

static void test_too_late(void **state)
{
	struct world *w = *state;
	int64_t last_ns;

	put(w, 2000);
	put(w, 1000);
	leat_ebpf_order_pass(&w->order, 1500);
	leat_ebpf_order_pass(&w->order, 2500);
	put(w, 500); /* told at the time of the last */
	assert_int_equal(in_order(w, &last_ns), 3);
	assert_int_equal(last_ns, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_inodes),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_late, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
