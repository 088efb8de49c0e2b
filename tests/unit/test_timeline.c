/* The timeline: taken from the daemon's summary, added up, and written. */
#include "timeline/result.h"
#include "page/page.h"
#include "lang/syntax/value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct leat_step steps[] = {
	{.name = (char[]){"a"}, .task = (char[]){"a"}, .ensemble = 1},
	{.name = (char[]){"b.0"}, .task = (char[]){"b"}, .ensemble = 2},
	{.name = (char[]){"b.1"}, .task = (char[]){"b"}, .instance = 1, .ensemble = 2},
};
static struct leat_workflow wf = {
	.name = (char[]){"</script><b>&\xff\""}, .steps = steps, .n_steps = 3};

#define HEAD "{\"start_ns\":1000000,\"timeline\":{\"interval_ms\":10,\"marks_left_out\":2,"
#define FILES "\"files\":[\"x\",\"</script>\"],"
#define NO_PIECES "\"pieces\":[\"\",\"\",\"\"]}}"

static struct leat_value *parse(const char *json)
{
	struct leat_diags *diags = leat_diags_new("test", NULL);
	struct leat_value *root = NULL;

	assert_int_equal(0, leat_value_parse(json, strlen(json), 0, true, diags, &root));
	leat_diags_free(diags);
	return root;
}

static int read(const char *json, struct leat_timeline *t)
{
	struct leat_value *root = parse(json);
	int error = leat_timeline_read(root, wf.n_steps, t);

	leat_value_free(root);
	return error;
}

static void test_read(void **state)
{
	struct leat_timeline t = {0};

	(void)state;
	assert_int_equal(0, read(HEAD FILES
				 "\"marks\":\"5 2 0 1 3;9 0 -1 0 0;\","
				 "\"pieces\":[\"1 2 1 1 0 7 8 1;3 4 0 0 4 0 0 0;\",\"\",\"\"]}}",
				 &t));
	assert_int_equal(1000000, t.start_ns);
	assert_int_equal(10, t.interval_ms);
	assert_int_equal(2, t.marks_left_out);
	assert_int_equal(2, t.n_milestones);
	assert_int_equal(LEAT_TIMELINE_COMMIT, t.milestones[0].kind);
	assert_int_equal(3, t.milestones[0].version);
	assert_int_equal(-1, t.milestones[1].step);
	assert_int_equal(3, t.n_lines);
	assert_int_equal(2, t.lines[0].n);
	assert_int_equal(8, t.lines[0].v[0].bytes_out);
	assert_int_equal(4, t.lines[0].v[1].rest_us);
	assert_string_equal("x", t.files[0]);
	leat_timeline_release(&t);
	assert_null(t.lines);
}

static void test_bad(void **state)
{
	static const char *const cases[] = {
		"{\"timeline\":[]}",
		HEAD FILES "\"marks\":\"5 2 0 1;\"," NO_PIECES,
		HEAD FILES "\"marks\":\"5 2 3 1 0;\"," NO_PIECES,
		HEAD FILES "\"marks\":\"5 9 0 1 0;\"," NO_PIECES,
		HEAD FILES "\"marks\":\"5 2 0 3 0;\"," NO_PIECES,
		HEAD FILES "\"marks\":\"-5 2 0 1 0;\"," NO_PIECES,
		HEAD FILES "\"marks\":\"a b c d e;\"," NO_PIECES,
		HEAD FILES NO_PIECES,
		HEAD "\"marks\":\"\"," NO_PIECES,
		HEAD FILES "\"marks\":\"\",\"pieces\":[\"\",\"\"]}}",
		HEAD FILES "\"marks\":\"\",\"pieces\":[\"1 2 3 4 5 6 7 3;\",\"\",\"\"]}}",
		HEAD FILES "\"marks\":\"\",\"pieces\":[\"1 2 3;\",\"\",\"\"]}}",
		HEAD FILES "\"marks\":\"\",\"pieces\":[[],\"\",\"\"]}}",
	};
	struct leat_timeline t = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(-EPROTO, read(cases[i], &t));
		assert_null(t.lines);
	}
	assert_int_equal(0, read("{}", &t));
	assert_null(t.lines);
}

/* Two steps ran for a second; `a` made x at 0.4 s, which b.0 read from 0.2 s on. */
static void fill(struct leat_result *r)
{
	assert_int_equal(0, leat_result_init(r, &wf));
	r->streamed = true;
	r->start_ns = 5 * MS;
	r->end_ns = 1005 * MS;
	for (size_t i = 0; i < 2; i++) {
		r->steps[i].start_ns = 5 * MS;
		r->steps[i].end_ns = 1005 * MS;
		r->steps[i].counters =
			(struct leat_counters){.bytes_in = 10 * i, .wait_ns = 300 * MS * i};
	}
	assert_int_equal(0,
			 read(HEAD FILES "\"marks\":\"4000 0 0 0 0;204000 4 1 1 1;404000 2 0 1 1;"
					 "500000 4 1 1 1;\","
					 "\"pieces\":[\"4000 1000000 0 100000 0 0 9 0;\","
					 "\"4000 500000 250000 0 0 10 0 1;504000 500000 0 900000 "
					 "200000 0 0 0;\",\"\"]}}",
			      &r->timeline));
}

static void test_totals(void **state)
{
	struct leat_timeline_totals t;
	struct leat_result r;

	(void)state;
	fill(&r);
	leat_timeline_total(&r, 0, &t);
	assert_int_equal(1000000, t.wall_us);
	assert_int_equal(0, t.wait_us);
	assert_int_equal(100000, t.copy_us);
	assert_int_equal(900000, t.compute_us);
	/* The waiting is the summary's; what does not fit is cut. */
	leat_timeline_total(&r, 1, &t);
	assert_int_equal(300000, t.wait_us);
	assert_int_equal(200000, t.rest_us);
	assert_int_equal(500000, t.copy_us);
	assert_int_equal(0, t.compute_us);
	leat_timeline_total(&r, 2, &t);
	assert_int_equal(0, t.wall_us);
	leat_result_release(&r);
}

static void test_source(void **state)
{
	const struct leat_timeline *t;
	struct leat_result r;

	(void)state;
	fill(&r);
	t = &r.timeline;
	assert_ptr_equal(&t->milestones[2], leat_timeline_source(t, &t->milestones[1]));
	assert_ptr_equal(&t->milestones[2], leat_timeline_source(t, &t->milestones[3]));
	t->milestones[3].version = 2;
	assert_null(leat_timeline_source(t, &t->milestones[3]));
	leat_result_release(&r);
}

/* Not inlined: gcc would warn of its variable, which others point to the text of. */
__attribute__((noinline)) static char *written(const struct leat_result *r, bool page)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(0, page ? leat_timeline_write_page(r, &wf, "/d\xff<", out)
				 : leat_timeline_write_trace(r, &wf, out));
	assert_int_equal(0, fclose(out));
	return text;
}

static void check_json(const char *text, size_t length)
{
	char *json = strndup(text, length);

	leat_value_free(parse(json));
	free(json);
}

/* Names cannot end the element the data is in. */
static void test_page(void **state)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *data, *end;
	struct leat_result r;
	char *text;

	(void)state;
	if (!leat_page_possible())
		skip();
	fill(&r);
	text = written(&r, true);
	data = strstr(text, begin);
	assert_non_null(data);
	data += strlen(begin);
	end = strstr(data, "</script>");
	assert_non_null(end);
	assert_null(memchr(data, '<', (size_t)(end - data)));
	check_json(data, (size_t)(end - data));
	assert_non_null(strstr(data, "\\u003c/script>\\u003cb>&\xef\xbf\xbd\\\""));
	assert_non_null(strstr(end, "d3={version:"));
	assert_null(strstr(text, "<!-- leat"));
	free(text);
	leat_result_release(&r);
}

static void test_trace(void **state)
{
	static const char *const expected[] = {
		"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 2, \"tid\": 1, \"args\": "
		"{\"name\": \"b\"}}",
		"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 2, \"tid\": 2, \"args\": "
		"{\"name\": \"b.1\"}}",
		"{\"ph\": \"X\", \"name\": \"compute\", \"cat\": \"activity\", \"pid\": 1, "
		"\"tid\": 1, \"ts\": 0, "
		"\"dur\": 900000}",
		"{\"ph\": \"X\", \"name\": \"transfer\", \"cat\": \"activity\", \"pid\": 1, "
		"\"tid\": 1, \"ts\": "
		"900000, \"dur\": 100000}",
		"\"name\": \"wait\", \"cat\": \"activity\", \"pid\": 2, \"tid\": 1, \"ts\": "
		"250000, \"dur\": 250000, "
		"\"args\": {\"file\": \"x\"}}",
		"{\"ph\": \"i\", \"name\": \"x complete\", \"cat\": \"file\", \"pid\": 1, \"tid\": "
		"1, \"s\": \"t\", "
		"\"ts\": 400000}",
		/* It was read while it grew. */
		"{\"ph\": \"s\", \"name\": \"x\", \"cat\": \"file\", \"pid\": 1, \"tid\": 1, "
		"\"id\": 2, \"ts\": 200000}",
		"{\"ph\": \"f\", \"name\": \"x\", \"cat\": \"file\", \"pid\": 2, \"tid\": 1, "
		"\"id\": 2, \"ts\": 200000, "
		"\"bp\": \"e\"}",
	};
	struct leat_result r;
	char *text;

	(void)state;
	fill(&r);
	text = written(&r, false);
	check_json(text, strlen(text));
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!strstr(text, expected[i]))
			fail_msg("not there: %s in %s", expected[i], text);
	free(text);
	leat_result_release(&r);
}

/* Without a daemon, or after its death, starts and ends are known. */
static void test_bare(void **state)
{
	struct leat_result r;
	char *text;

	(void)state;
	assert_int_equal(0, leat_result_init(&r, &wf));
	r.start_ns = MS;
	r.steps[0].start_ns = MS;
	r.end_ns = r.steps[0].end_ns = 2 * MS;
	text = written(&r, false);
	assert_non_null(strstr(text, "\"dur\": 1000"));
	check_json(text, strlen(text));
	free(text);
	if (leat_page_possible())
		free(written(&r, true));
	leat_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),   cmocka_unit_test(test_bad),
		cmocka_unit_test(test_totals), cmocka_unit_test(test_source),
		cmocka_unit_test(test_page),   cmocka_unit_test(test_trace),
		cmocka_unit_test(test_bare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
