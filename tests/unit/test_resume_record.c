/* The record of a run: at every byte, broken, and what of a step it tells. */
#include "resume/internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct leat_workflow *workflow(void)
{
	static const char *const commands[][4] = {
		{"sh", "-c", "a\tb\nc%d \xff", NULL}, {"true", "", NULL}, {"x", NULL}};
	struct leat_workflow *wf = leat_workflow_new();
	const struct leat_pos pos = {0};

	assert_non_null(wf);
	wf->name = strdup("w");
	for (size_t i = 0; i < 3; i++) {
		struct leat_step *step = leat_workflow_add_step(
			wf, (const char *[]){"one", "two\t%", "three"}[i], pos);
		size_t n = 0;

		while (commands[i][n])
			n++;
		step->argv = calloc(n + 1, sizeof(*step->argv));
		for (size_t k = 0; k < n; k++)
			step->argv[k] = strdup(commands[i][k]);
	}
	return wf;
}

/* Not inlined: gcc would warn of its variable, which others point to the text of. */
__attribute__((noinline)) static char *record(const struct leat_workflow *wf,
					      const struct leat_entry_of_step *e, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	leat_record_put_header(out, wf);
	for (size_t i = 0; i < wf->n_steps; i++)
		leat_record_put_entry(out, wf->steps[i].name, &e[i]);
	assert_int_equal(0, fclose(out));
	return text;
}

static void fill(const struct leat_workflow *wf, struct leat_entry_of_step e[3])
{
	const struct leat_stamp big = {UINT64_MAX, INT64_MIN + 1, UINT64_MAX, UINT64_MAX, true};
	const struct leat_stamp small = {0, -1, 1, 0, false};

	e[0].state = LEAT_ENTRY_COMPLETE;
	e[0].command = leat_entry_command(&wf->steps[0]);
	e[0].declared = leat_entry_declared(&wf->steps[0]);
	assert_int_equal(0, leat_stamped_add(&e[0].inputs, "b\n%41\xfe", &big));
	assert_int_equal(0, leat_stamped_add(&e[0].inputs, "a b", &small));
	assert_int_equal(0, leat_stamped_add(&e[0].outputs, "-", &small));
	leat_stamped_sort(&e[0].inputs);
	e[1].state = LEAT_ENTRY_STOPPED;
	e[1].why = strdup("exit 3: \"so\"\t\n");
	e[2].state = LEAT_ENTRY_COMPLETE;
	e[2].command = leat_entry_command(&wf->steps[2]);
}

static void check_same(const struct leat_stamped_list *a, const struct leat_stamped_list *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->v[i].name, b->v[i].name);
		assert_int_equal(a->v[i].stamp.size_bytes, b->v[i].stamp.size_bytes);
		assert_int_equal(a->v[i].stamp.mtime_ns, b->v[i].stamp.mtime_ns);
		assert_int_equal(a->v[i].stamp.inode, b->v[i].stamp.inode);
		assert_int_equal(a->v[i].stamp.hashed, b->v[i].stamp.hashed);
		assert_int_equal(a->v[i].stamp.hash, b->v[i].stamp.hash);
	}
}

static void release(struct leat_entry_of_step e[3])
{
	for (size_t i = 0; i < 3; i++)
		leat_entry_release(&e[i]);
}

static void test_record(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_entry_of_step wrote[3] = {0}, got[3] = {0};
	const char *what;
	char *text;
	size_t size;
	long line;

	(void)state;
	fill(wf, wrote);
	text = record(wf, wrote, &size);
	assert_int_equal(0, leat_record_parse(text, size, wf, got, &line, &what));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(wrote[i].state, got[i].state);
		assert_int_equal(wrote[i].declared, got[i].declared);
		check_same(&wrote[i].inputs, &got[i].inputs);
		check_same(&wrote[i].outputs, &got[i].outputs);
	}
	assert_string_equal(wrote[0].command, got[0].command);
	assert_string_equal(wrote[2].command, got[2].command);
	assert_string_equal(wrote[1].why, got[1].why);
	free(text);
	release(wrote);
	release(got);
	leat_workflow_free(wf);
}

/* Cut off at any byte, it says less, but nothing wrong. */
static void test_record_cut(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_entry_of_step wrote[3] = {0};
	size_t size, header;
	char *whole;

	(void)state;
	fill(wf, wrote);
	whole = record(wf, wrote, &size);
	header = (size_t)(strstr(whole, "step\t") - whole);
	for (size_t cut = 0; cut <= size; cut++) {
		struct leat_entry_of_step got[3] = {0};
		char *text = strndup(whole, cut);
		const char *what;
		long line;
		int rc = leat_record_parse(text, cut, wf, got, &line, &what);

		assert_int_equal(cut < header ? -EBADMSG : 0, rc);
		for (size_t i = 0; !rc && i < 3; i++) {
			if (got[i].state == LEAT_ENTRY_NONE)
				continue;
			assert_int_equal(wrote[i].state, got[i].state);
			check_same(&wrote[i].inputs, &got[i].inputs);
			check_same(&wrote[i].outputs, &got[i].outputs);
		}
		assert_true(rc ||
			    got[2].state == (cut == size ? LEAT_ENTRY_COMPLETE : LEAT_ENTRY_NONE));
		release(got);
		free(text);
	}
	free(whole);
	release(wrote);
	leat_workflow_free(wf);
}

#define HEAD "# leat record 1: \nworkflow\tw\n"

static void test_record_broken(void **state)
{
	static const struct {
		const char *text;
		long line; /* of the mistake, 0: there is none */
	} cases[] = {
		{HEAD, 0},
		{HEAD "step\tone\tbegun\nend\n", 0},
		{HEAD "step\tgone\tcomplete\ncommand\tx\nend\n", 0}, /* of no interest */
		{HEAD "step\tone\tbegun\nend\nstep\tone\tstopped\tso\nend\n", 0},
		{HEAD "step\tone\tcomplete\ncommand\tx\ninput\ta\t1\t2\t3\t-\n", 0}, /* cut off */
		{HEAD "step\tone\tcomplete\ncommand\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\nend\n", 0},
		{"\n", 1},
		{"# leat record 2: \nworkflow\tw\n", 1},
		{"{\"json\": 1}\n", 1},
		{"# leat record 1: \n", 1},
		{"# leat record 1: \nworkflow\tother\n", 2},
		{"# leat record 1: \nworkflow\n", 2},
		{HEAD "\n", 3},
		{HEAD "end\n", 3},
		{HEAD "step\n", 3},
		{HEAD "step\tone\n", 3},
		{HEAD "step\tone\tdone\n", 3},
		{HEAD "step\tone\tcomplete\tx\n", 3},
		{HEAD "step\tone\tstopped\n", 3},
		{HEAD "step\ton%0\tbegun\nend\n", 3},
		{HEAD "step\ton%00\tbegun\nend\n", 3},
		{HEAD "step\tone\tbegun\nstep\ttwo\tbegun\n", 4},
		{HEAD "step\tone\tbegun\ncommand\tx\n", 4},
		{HEAD "step\tone\tcomplete\nend\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t3\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t3\t-\t4\n", 4},
		{HEAD "step\tone\tcomplete\ninput\t\t1\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t-1\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2x\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t 3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t99999999999999999999\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\noutput\ta\t1\t2\t3\tgg\n", 4},
		{HEAD "step\tone\tcomplete\ndeclared\t\n", 4},
		{HEAD "step\tone\tcomplete\ncommand\tx\ndeclared\t12\nwhat\n", 6},
	};
	struct leat_workflow *wf = workflow();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_entry_of_step got[3] = {0};
		char *text = strdup(cases[i].text);
		const char *what = NULL;
		long line;
		int rc = leat_record_parse(text, strlen(text), wf, got, &line, &what);

		if ((rc == -EBADMSG) != (cases[i].line > 0))
			print_error("case %zu: %s\n", i, cases[i].text);
		assert_int_equal(cases[i].line ? -EBADMSG : 0, rc);
		assert_int_equal(cases[i].line > 0, what != NULL);
		if (cases[i].line)
			assert_int_equal(cases[i].line, line);
		release(got);
		free(text);
	}
	leat_workflow_free(wf);
}

/* Declarations tell steps apart, names of steps do not. */
static void test_declared(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_step *a = &wf->steps[0], *b = &wf->steps[1];
	struct leat_rule *rule;

	(void)state;
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	a->staged = true;
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	a->staged = false;
	leat_names_add(&a->inputs, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_names_add(&b->outputs, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_names_add(&b->inputs, "x", (struct leat_pos){0});
	leat_names_add(&a->outputs, "x", (struct leat_pos){0});
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule = leat_step_add_rule(a, "x", (struct leat_pos){0});
	rule->fire = LEAT_FIRE_NO_UPDATE;
	rule = leat_step_add_rule(b, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule->fire = LEAT_FIRE_NO_UPDATE;
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule->commit = LEAT_COMMIT_ON_CLOSE;
	rule->count = 2;
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_workflow_free(wf);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *record; /* NULL: by a hash */
	} cases[] = {
		{"flow", "flow.record"},
		{"my flow", "my flow.record"},
		{"a/b", NULL},
		{"a\nb", NULL},
		{"", NULL},
	};
	struct leat_workflow wf = {0};
	char name[NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		wf.name = (char *)(uintptr_t)cases[i].name;
		leat_record_name(&wf, name);
		if (!cases[i].record)
			assert_int_equal(16 + strlen(".record"), strlen(name));
		else
			assert_string_equal(cases[i].record, name);
		assert_null(strchr(name, '/'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),        cmocka_unit_test(test_record_cut),
		cmocka_unit_test(test_record_broken), cmocka_unit_test(test_declared),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
