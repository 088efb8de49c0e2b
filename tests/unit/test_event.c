/* The event log: what is written is read back; what is damaged is refused. */
#include "eventlog/event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static FILE *memory(const char *text)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	return f;
}

static void assert_same(const struct leat_event *a, const struct leat_event *b)
{
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->node, b->node);
	assert_int_equal(a->step, b->step);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->call, b->call);
	assert_true(a->ofd == b->ofd && a->waiter == b->waiter);
	assert_true(a->offset == b->offset && a->length == b->length);
	assert_int_equal(!a->name, !b->name);
	assert_int_equal(!a->to, !b->to);
	if (a->name)
		assert_string_equal(a->name, b->name);
	if (a->to)
		assert_string_equal(a->to, b->to);
}

static const struct leat_event samples[] = {
	{.kind = LEAT_EV_STEP_START, .step = 0},
	{.seq = 1,
	 .time_ns = UINT64_MAX,
	 .kind = LEAT_EV_STEP_END,
	 .step = -1,
	 .status = -9,
	 .name = "killed by signal 9"},
	{.seq = 2,
	 .kind = LEAT_EV_OPEN,
	 .node = 3,
	 .step = 2,
	 .pid = 4711,
	 .flags = 3,
	 .ofd = UINT64_MAX,
	 .name = "a b\t%41\nc=d"},
	{.seq = 3, .kind = LEAT_EV_RENAME, .step = 1, .name = "", .to = "\x01\x7f\xc3\xa4"},
	{.seq = 4,
	 .kind = LEAT_EV_ASK,
	 .step = 5,
	 .call = 7,
	 .waiter = 8,
	 .offset = 9,
	 .length = 10,
	 .name = "-"},
	{.seq = 5, .kind = LEAT_EV_WAKE, .step = -1, .code = UINT32_MAX, .name = "=="},
	{.seq = 6, .kind = LEAT_EV_PROC_EXIT, .step = 1, .pid = -1, .status = INT32_MAX},
};

static void test_round_trip(void **state)
{
	size_t n = sizeof(samples) / sizeof(samples[0]);
	struct leat_event_reader *r;
	struct leat_event ev;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(leat_event_write(f, &samples[i]), 0);
	rewind(f);
	r = leat_event_reader_new(f);
	assert_non_null(r);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(leat_event_read(r, &ev), 1);
		assert_same(&ev, &samples[i]);
		assert_int_equal(leat_event_reader_line(r), (long)i + 2);
	}
	assert_int_equal(leat_event_read(r, &ev), 0);
	leat_event_reader_free(r);
	fclose(f);
}

static void test_all_kinds(void **state)
{
	(void)state;
	for (int kind = 0; kind < LEAT_EV_KINDS; kind++) {
		struct leat_event ev = {.kind = (enum leat_event_kind)kind}, back;
		struct leat_event_reader *r;
		FILE *f = tmpfile();

		assert_non_null(f);
		assert_int_equal(leat_event_write(f, &ev), 0);
		rewind(f);
		r = leat_event_reader_new(f);
		assert_non_null(r);
		assert_int_equal(leat_event_read(r, &back), 1);
		assert_same(&ev, &back);
		leat_event_reader_free(r);
		fclose(f);
	}
	assert_string_equal(leat_event_kind_name(LEAT_EV_KINDS), "unknown");
	assert_int_equal(leat_event_write(stdout, &(struct leat_event){.kind = LEAT_EV_KINDS}),
			 -EINVAL);
}

static const char *const malformed[] = {
	"x\t0\twake\n",
	"1\n",
	"1\t2\n",
	"1\t2\tno-such-kind\n",
	"1\t2\twake\tname\n",
	"1\t2\twake\tcolour=1\n",
	"1\t2\twake\tname=%4\n",
	"1\t2\twake\tname=%zz\n",
	"1\t2\twake\tname=%00\n",
	"1\t2\twake\tcode=4294967296\n",
	"1\t2\twake\tcode=-1\n",
	"1\t2\twake\tpid=2147483648\n",
	"1\t2\twake\tofd=18446744073709551616\n",
	"1\t2\twake\tofd=\n",
	"1\t2\twake\tcode=1x\n",
	"\n",
	"1\t2\twake",
};

static void test_malformed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		char text[128];
		struct leat_event_reader *r;
		struct leat_event ev;
		FILE *f;

		snprintf(text, sizeof(text), "# leat event log 1\n%s", malformed[i]);
		f = memory(text);
		r = leat_event_reader_new(f);
		assert_non_null(r);
		if (leat_event_read(r, &ev) != -EINVAL)
			fail_msg("accepted: %s", malformed[i]);
		assert_int_equal(leat_event_reader_line(r), 2);
		leat_event_reader_free(r);
		fclose(f);
	}
}

static void test_header(void **state)
{
	static const char *const headers[] = {"", "# leat event log 2\n", "0\t0\twake\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		FILE *f = memory(headers[i]);

		errno = 0;
		assert_null(leat_event_reader_new(f));
		assert_int_equal(errno, EINVAL);
		fclose(f);
	}
}

static void test_full_disk(void **state)
{
	struct leat_event ev = {.kind = LEAT_EV_WAKE, .name = "x"};
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	if (!f)
		skip();
	setvbuf(f, NULL, _IONBF, 0);
	assert_int_equal(leat_event_write(f, &ev), -ENOSPC);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_malformed),  cmocka_unit_test(test_header),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
