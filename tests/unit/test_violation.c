/* What a violation says: step, file, place, rule, and what to do. */
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct told {
	unsigned n;
	enum leat_violation kind;
	char text[400];
};

static void on_violation(void *ctx, enum leat_violation kind, const char *name, int step,
			 const char *text)
{
	struct told *told = ctx;

	(void)name;
	(void)step;
	told->n++;
	told->kind = kind;
	snprintf(told->text, sizeof(told->text), "%s", text);
}

/* A makes f (on_close:2, no_update), which B reads. */
static struct leat_workflow *workflow(void)
{
	const struct leat_pos pos = {0};
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_step *step = leat_workflow_add_step(wf, "A", pos);
	struct leat_rule *rule;

	leat_names_add(&step->outputs, "f", pos);
	rule = leat_step_add_rule(step, "f", pos);
	rule->commit = LEAT_COMMIT_ON_CLOSE;
	rule->count = 2;
	rule->fire = LEAT_FIRE_NO_UPDATE;
	leat_names_add(&leat_workflow_add_step(wf, "B", pos)->inputs, "f", pos);
	return wf;
}

#define RULE " (committed: on_close:2, mode: no_update); "

static void test_reported(void **state)
{
	static const struct {
		enum leat_violation code, kind;
		int step;
		unsigned flags;
		uint64_t offset, length;
		const char *text;
	} cases[] = {
		{LEAT_VIOLATION_REWRITE, LEAT_VIOLATION_REWRITE, 0, LEAT_EVF_RANGE, 7, 3,
		 "f was changed by step A at bytes 7 to 9 where a consumer had read it" RULE
		 "give it mode: update, or write each byte once"},
		{LEAT_VIOLATION_REWRITE, LEAT_VIOLATION_REWRITE, 0, LEAT_EVF_RANGE, 0, 1,
		 "f was changed by step A at byte 0 where a consumer had read it" RULE
		 "give it mode: update, or write each byte once"},
		{LEAT_VIOLATION_REWRITE, LEAT_VIOLATION_REWRITE, 0, LEAT_EVF_RANGE, 5, 0,
		 "f was changed by step A from byte 5 on where a consumer had read it" RULE
		 "give it mode: update, or write each byte once"},
		{LEAT_VIOLATION_REWRITE, LEAT_VIOLATION_REWRITE, -1, 0, 5, 5,
		 "f was changed where a consumer had read it" RULE
		 "give it mode: update, or write each byte once"},
		{LEAT_VIOLATION_AFTER_COMMIT, LEAT_VIOLATION_AFTER_COMMIT, 0, LEAT_EVF_RANGE, 1, 2,
		 "f was changed by step A at bytes 1 to 2 after its commit" RULE
		 "let it commit later, by the true number of closes or files or on_termination"},
		/* Who is no producer must not write at all. */
		{LEAT_VIOLATION_AFTER_COMMIT, LEAT_VIOLATION_UNDECLARED, 1, LEAT_EVF_RANGE, 1, 2,
		 "f was written by step B at bytes 1 to 2, which does not declare it as an "
		 "output; declare it there, or have the step write another file"},
		{LEAT_VIOLATION_CLOSES, LEAT_VIOLATION_CLOSES, 0, 0, 0, 0,
		 "f was closed by step A once more than its rule says" RULE
		 "give it the true number of closes, or on_termination"},
		{LEAT_VIOLATION_EARLY_SIZE, LEAT_VIOLATION_EARLY_SIZE, 1, LEAT_EVF_RANGE, 100, 100,
		 "f was taken for complete by step B after 100 bytes at a size seen before its "
		 "commit" RULE "give it mode: update, or read it to its end"},
		{LEAT_VIOLATION_READ_AGAIN, LEAT_VIOLATION_READ_AGAIN, 1, LEAT_EVF_RANGE, 0, 0,
		 "f was read again by step B from byte 0 on where it is not retained; take "
		 "retain: false away, or read it once, front to back"},
		{LEAT_VIOLATION_LISTED, LEAT_VIOLATION_LISTED, 0, 0, 0, 0,
		 "f was removed by step A after a consumer had found it in a listing" RULE
		 "give f mode: update, or exclude the names that do not last"},
		{LEAT_VIOLATION_LINKED, LEAT_VIOLATION_LINKED, 0, 0, 0, 0,
		 "f was opened for writing by step A, and has another name, a hard link, that "
		 "would "
		 "change, too; remove it first, or copy it to a file of its own"},
	};
	static const struct leat_stream_ops ops = {.violation = on_violation};
	struct leat_workflow *wf = workflow();
	struct leat_matcher *m = leat_matcher_new(wf);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct told told = {0};
		struct leat_stream *s = leat_stream_new(m, wf, &ops, &told);
		const struct leat_event present = {
			.kind = LEAT_EV_PRESENT, .step = -1, .name = "f"};
		const struct leat_event ev = {.kind = LEAT_EV_VIOLATION,
					      .step = cases[i].step,
					      .name = "f",
					      .code = cases[i].code,
					      .flags = cases[i].flags,
					      .offset = cases[i].offset,
					      .length = cases[i].length};

		assert_int_equal(0, leat_stream_apply(s, &present));
		assert_int_equal(0, leat_stream_apply(s, &ev));
		assert_int_equal(1, told.n);
		assert_int_equal(cases[i].kind, told.kind);
		assert_string_equal(cases[i].text, told.text);
		leat_stream_free(s);
	}
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

/* How a consumer made what its producer, having ended, did not. */
static void test_made(void **state)
{
	static const struct {
		unsigned flags;
		const char *to, *words;
	} cases[] = {
		{0, NULL, "f was created by step B, "},
		{LEAT_EVF_DIR, NULL, "f was made as a directory by step B, "},
		{0, "other", "f was made as a link by step B, "},
	};
	struct leat_workflow *wf = workflow();
	struct leat_matcher *m = leat_matcher_new(wf);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct told told = {0};
		const struct leat_stream_ops ops = {.violation = on_violation};
		struct leat_stream *s = leat_stream_new(m, wf, &ops, &told);
		const struct leat_event other = {
			.kind = LEAT_EV_PRESENT, .step = -1, .name = "other", .length = 5};
		const struct leat_event made = {.kind = LEAT_EV_CREATE,
						.step = 1,
						.name = "f",
						.flags = cases[i].flags,
						.to = cases[i].to};

		assert_int_equal(0, leat_stream_apply(s, &other));
		assert_int_equal(0, leat_stream_apply(s, &made));
		assert_int_equal(1, told.n);
		assert_int_equal(LEAT_VIOLATION_UNDECLARED, told.kind);
		assert_memory_equal(cases[i].words, told.text, strlen(cases[i].words));
		leat_stream_free(s);
	}
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_reported),
					   cmocka_unit_test(test_made)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
