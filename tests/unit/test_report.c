/* What a report makes of figures: hints, order, filter, words, and what is said to be missing. */
#include "report/grid.h"
#include "report/report.h"
#include "report/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define T0 (INT64_C(1700000000) * 1000 * MS)

static struct leat_analysis *a;
static int64_t now_ns;

static void begin(void)
{
	a = leat_analysis_new(NULL);
	assert_non_null(a);
	now_ns = T0;
}

static uint32_t task(const char *name)
{
	uint32_t t = UINT32_MAX;

	assert_int_equal(0, leat_analysis_task(a, name, NULL, LEAT_REPORT_TASK, &t));
	return t;
}

static void call(uint32_t t, struct leat_trace_call c)
{
	c.start_ns = now_ns;
	now_ns += MS;
	c.end_ns = now_ns;
	assert_int_equal(0, leat_analysis_call(a, 0, t, &c));
}

static void open_file(uint32_t t, const char *path, uint64_t inode, uint64_t handle)
{
	call(t, (struct leat_trace_call){
			.type = LEAT_TRACE_OPEN, .path = path, .inode = inode, .handle = handle});
}

static void move(uint32_t t, char type, uint64_t inode, uint64_t handle, uint64_t offset,
		 uint64_t size)
{
	call(t, (struct leat_trace_call){.type = (enum leat_trace_type)type,
					 .inode = inode,
					 .handle = handle,
					 .offset = offset,
					 .size = size,
					 .result = (int64_t)size});
}

static struct leat_report *report_of(const char *task_pattern, const char *file_pattern)
{
	struct leat_report_found found = {0};
	struct leat_report *r;

	leat_analysis_finish(a);
	found.analysis = a;
	r = leat_report_of(&found, task_pattern, file_pattern);
	assert_non_null(r);
	assert_null(found.analysis);
	return r;
}

static bool has(const struct leat_report *r, const char *kind)
{
	for (size_t i = 0; i < r->n_hints; i++)
		if (!strcmp(r->hints[i].kind, kind))
			return true;
	return false;
}

/* ---- each hint, and what is just not one ---- */

static void in_order(uint32_t t, char type, uint64_t handle, uint64_t calls, uint64_t size)
{
	for (uint64_t i = 0; i < calls; i++)
		move(t, type, 1, handle, i * size, size);
}

static void make_again(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	for (int i = 0; i < 2; i++)
		in_order(t, 'R', 1, enough ? 5 : 1, 50000);
}

static void make_rewritten(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	in_order(t, 'W', 1, 10, 100000);
	if (enough)
		in_order(t, 'W', 1, 10, 100000);
}

static void make_small(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	in_order(t, 'W', 1, 1000, enough ? 4095 : 4096);
}

static void make_scattered(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	for (uint64_t i = 0; i < 1500; i++)
		move(t, 'R', 1, 1, enough ? (i * 7919 % 1500) * 10000 : i * 5000, 5000);
}

static void make_read_back(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	in_order(t, 'W', 1, 10, 100000);
	in_order(t, 'R', 1, enough ? 5 : 4, 100000);
}

static void make_slow(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	call(t, (struct leat_trace_call){
			.type = LEAT_TRACE_READ, .inode = 1, .handle = 1, .size = 9, .result = 9});
	now_ns -= MS;
	call(t, (struct leat_trace_call){.type = LEAT_TRACE_MAP, .inode = 1, .handle = 1});
	{
		struct leat_trace_call c = {.type = LEAT_TRACE_READ,
					    .inode = 1,
					    .handle = 1,
					    .start_ns = now_ns,
					    .end_ns = now_ns + (enough ? 1000 : 999) * MS,
					    .size = 9,
					    .result = 9};

		assert_int_equal(0, leat_analysis_call(a, 0, t, &c));
	}
}

static void make_unread(bool enough)
{
	uint32_t t = task("t");

	open_file(t, "/x", 1, 1);
	in_order(t, 'W', 1, 10, 100000);
	if (!enough) {
		t = task("u");
		open_file(t, "/x", 1, 2);
		move(t, 'R', 1, 2, 0, 1);
	}
}

static void make_wasted(bool enough)
{
	make_unread(true);
	if (enough)
		call(task("t"),
		     (struct leat_trace_call){.type = LEAT_TRACE_UNLINK, .inode = 1, .path = "/x"});
}

static void make_stream(bool enough)
{
	uint32_t t = task("t"), u = task("u");

	open_file(t, "/x", 1, 1);
	in_order(t, 'W', 1, 10, 100000);
	open_file(u, "/x", 1, 2);
	for (uint64_t i = 0; i < 10; i++)
		move(u, 'R', 1, 2, (enough ? i : 9 - i) * 100000, 100000);
}

static void make_metadata(bool enough)
{
	uint32_t t = task("t");

	for (uint64_t i = 1; i <= (enough ? 1000 : 999); i++) {
		char path[32];

		snprintf(path, sizeof(path), "/d/%u", (unsigned)i);
		open_file(t, path, i, i);
		call(t,
		     (struct leat_trace_call){.type = LEAT_TRACE_CLOSE, .inode = i, .handle = i});
	}
}

static void make_missing(bool enough)
{
	uint32_t t = task("t");

	for (int i = 0; i < (enough ? 1000 : 999); i++)
		call(t, (struct leat_trace_call){
				.type = LEAT_TRACE_OPEN, .path = "/no", .result = -ENOENT});
}

static void make_waited(bool enough)
{
	uint32_t t = task("t");

	leat_analysis_alive(a, t, T0);
	leat_analysis_alive(a, t, T0 + 8000 * MS);
	a->tasks[t].waited_ns = (uint64_t)(enough ? 2000 : 1999) * (uint64_t)MS;
}

static void test_hints(void **state)
{
	static const struct {
		const char *kind;
		void (*make)(bool enough);
	} hints[] = {{"read-again", make_again},      {"rewritten", make_rewritten},
		     {"small-calls", make_small},     {"scattered", make_scattered},
		     {"read-back", make_read_back},   {"slow-call", make_slow},
		     {"never-read", make_unread},     {"wasted", make_wasted},
		     {"streamable", make_stream},     {"metadata", make_metadata},
		     {"missing-files", make_missing}, {"waited", make_waited}};

	(void)state;
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		for (int enough = 0; enough < 2; enough++) {
			struct leat_report *r;

			begin();
			hints[i].make(enough);
			r = report_of(NULL, NULL);
			for (size_t k = 0; k < r->n_hints; k++) {
				print_message("%s %d: %s\n", hints[i].kind, enough,
					      r->hints[k].text);
				assert_true(!k || r->hints[k].cost_ns <= r->hints[k - 1].cost_ns);
			}
			assert_int_equal(enough, has(r, hints[i].kind));
			leat_report_free(r);
		}
	}
}

/* ---- order and filter ---- */

static void test_order(void **state)
{
	struct leat_report *r;

	(void)state;
	begin();
	make_stream(true);
	r = report_of(NULL, NULL);
	assert_int_equal(2, r->n_tasks);
	assert_int_equal(1, r->n_files);
	assert_int_equal(2, r->n_edges);
	assert_false(leat_report_is_partial(r));
	leat_report_free(r);
	begin();
	make_stream(true);
	r = report_of("u", "*x");
	assert_int_equal(1, r->n_tasks);
	assert_string_equal("u", r->found.analysis->tasks[r->tasks[0]].name);
	assert_int_equal(1, r->n_edges);
	leat_report_free(r);
	begin();
	make_stream(true);
	r = report_of(NULL, "/y");
	assert_int_equal(0, r->n_tasks + r->n_files + r->n_edges);
	leat_report_free(r);
}

/* ---- absurd figures ---- */

static void test_absurd(void **state)
{
	struct leat_report *r;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	uint32_t t;

	(void)state;
	assert_non_null(out);
	begin();
	t = task("t");
	open_file(t, "/x", 1, 10);
	for (uint64_t i = 0; i < 8; i++)
		move(t, LEAT_TRACE_READ, 1, 10, 0, UINT64_C(1) << 60);
	r = report_of(NULL, NULL);
	assert_int_equal(0, leat_report_write_text(r, out, 80, false, 10));
	fclose(out);
	print_message("%s", text);
	/* 2^60 bytes a millisecond. */
	assert_non_null(strstr(text, "at most 1153 EB/s"));
	free(text);
	leat_report_free(r);
	/* More read back than was read: the sum of what was read went over its end. */
	begin();
	t = task("t");
	open_file(t, "/x", 1, 10);
	move(t, LEAT_TRACE_WRITE, 1, 10, 0, INT64_MAX);
	for (int i = 0; i < 4; i++)
		move(t, LEAT_TRACE_READ, 1, 10, 0, INT64_MAX);
	r = report_of(NULL, NULL);
	for (size_t i = 0; i < r->n_hints; i++)
		print_message("%s\n", r->hints[i].text);
	leat_report_free(r);
}

/* ---- what is missing ---- */

static char said[2000];

static void put(void *ctx, const char *text)
{
	(void)ctx;
	strncat(said, text, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

static void test_gaps(void **state)
{
	struct leat_report *r;

	(void)state;
	begin();
	r = report_of(NULL, NULL);
	r->found.n_sources = 2;
	r->found.sources = calloc(2, sizeof(*r->found.sources));
	assert_non_null(r->found.sources);
	r->found.sources[0].tail.complete = true;
	r->found.sources[0].tail.lost[LEAT_TRACE_LOST_BUFFER] = 1234;
	r->found.sources[1].host = strdup("node7");
	r->found.malformed = 2;
	r->found.first_problem = strdup("x.csv:3:1: bad");
	r->found.broken = -EIO;
	assert_true(leat_report_is_partial(r));
	leat_report_list_gaps(r, put, NULL);
	print_message("%s", said);
	assert_non_null(strstr(said, "trace 1 lacks 1,234 records: the buffer"));
	assert_non_null(strstr(said, "the trace of node7 is truncated"));
	assert_non_null(
		strstr(said, "2 malformed lines or blocks were left out, the first: x.csv:3"));
	assert_non_null(strstr(said, "Input/output error"));
	/* The paper's layout has no trailer. */
	r->found.sources[1].foreign = true;
	said[0] = '\0';
	leat_report_list_gaps(r, put, NULL);
	assert_null(strstr(said, "node7"));
	leat_report_free(r);
}

/* ---- words ---- */

static void test_words(void **state)
{
	char w[LEAT_WORD];

	(void)state;
	assert_string_equal("0 B", leat_format_bytes(0, w));
	assert_string_equal("999 B", leat_format_bytes(999, w));
	assert_string_equal("1.0 kB", leat_format_bytes(1000, w));
	assert_string_equal("100 kB", leat_format_bytes(99960, w));
	assert_string_equal("18.4 EB", leat_format_bytes(UINT64_MAX, w));
	assert_string_equal("18.4 EB/s", leat_format_rate(0x1p64, w));
	assert_string_equal("0 s", leat_words_time(0, w));
	assert_string_equal("9.9 us", leat_words_time(9900, w));
	assert_string_equal("12 ms", leat_words_time(12000000, w));
	assert_string_equal("1.00 s", leat_words_time(999999999, w));
	assert_string_equal("100 s", leat_words_time(UINT64_C(99999999999), w));
	assert_string_equal("2.0 h", leat_words_time(UINT64_C(7200000000000), w));
	assert_string_equal("1,234,567", leat_words_count(1234567, w));
	assert_string_equal("99,999,999,999,999", leat_words_count(UINT64_MAX, w));
	assert_string_equal("<1 %", leat_words_share(0.001, w));
	assert_string_equal(">99 %", leat_words_share(0.9999, w));
	assert_string_equal("100 %", leat_words_share(1, w));
}

static void test_grid(void **state)
{
	struct leat_grid g = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	leat_grid_column(&g, "name", true, false);
	leat_grid_column(&g, "n", false, false);
	leat_grid_column(&g, "empty", false, true);
	leat_grid_column(&g, "other", true, true);
	leat_grid_row(&g);
	leat_grid_cell(&g, "/a/long/path/to/some/file");
	leat_grid_cell(&g, "7");
	leat_grid_cell(&g, "");
	leat_grid_cell(&g, "\xc3\xa4\xc3\xb6\xc3\xbc\n");
	leat_grid_row(&g);
	leat_grid_cell(&g, "short");
	assert_int_equal(0, leat_grid_print(&g, out, 22, true));
	fclose(out);
	print_message("%s", text);
	assert_string_equal("name          n  other\n"
			    "\xe2\x80\xa6"
			    "o/some/file  7  \xc3\xa4\xc3\xb6\xc3\xbc?\n"
			    "short            \n",
			    text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_absurd), cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_words),  cmocka_unit_test(test_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
