/* What need not run again: the decision as a table. */
#include "resume/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A case's world: `edges` are words "A>B" (B reads a permanent file of A), "A~B" (one that is not
 * kept) or "A+B" (one that is, and changes it), `steps` a word a step: a letter of its state and
 * what differs, see `findings_of`. */
struct ties_ctx {
	const char *edges;
	size_t n;
};

static const char *edge(const struct ties_ctx *c, size_t up, size_t down, char kind)
{
	for (const char *p = c->edges; *p; p += p[3] ? 4 : 3)
		if (p[0] == (char)('A' + up) && p[1] == kind && p[2] == (char)('A' + down))
			return p;
	return NULL;
}

static bool reads(const struct ties_ctx *c, size_t up, size_t down)
{
	return edge(c, up, down, '>') || edge(c, up, down, '~') || edge(c, up, down, '+');
}

static bool reaches(const struct ties_ctx *c, size_t up, size_t down, unsigned depth)
{
	if (reads(c, up, down))
		return true;
	for (size_t via = 0; depth && via < c->n; via++)
		if (reads(c, up, via) && reaches(c, via, down, depth - 1))
			return true;
	return false;
}

static bool is_upstream(void *ctx, size_t up, size_t down)
{
	const struct ties_ctx *c = ctx;

	return reaches(c, up, down, (unsigned)c->n);
}

static const char *lends(void *ctx, size_t up, size_t down)
{
	return edge(ctx, up, down, '~') ? "tmp" : NULL;
}

static const char *updates(void *ctx, size_t up, size_t down)
{
	return edge(ctx, up, down, '+') ? "it" : NULL;
}

static const char *name(void *ctx, size_t step)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};

	(void)ctx;
	return names[step];
}

static struct leat_finding finding_of(char letter)
{
	struct leat_finding f = {.state = LEAT_ENTRY_COMPLETE, .n_inputs = 1, .n_outputs = 2};

	switch (letter) {
	case 'n':
		f.state = LEAT_ENTRY_NONE;
		break;
	case 'b':
		f.state = LEAT_ENTRY_BEGUN;
		break;
	case 's':
		f.state = LEAT_ENTRY_STOPPED;
		f.why = "exit 3";
		break;
	case 'c':
		f.other_command = true;
		break;
	case 'd':
		f.other_declared = true;
		break;
	case 'i':
		f.input = "in";
		f.input_is = "changed";
		break;
	case 'm':
		f.input = "in";
		f.input_is = "missing";
		break;
	case 'w':
		f.input = "in";
		f.input_is = "new";
		break;
	case 'o':
		f.output = "out";
		f.output_is = "changed";
		break;
	case 'g':
		f.output = "out";
		f.output_is = "missing";
		break;
	default:
		assert_int_equal('.', letter);
	}
	return f;
}

static void test_decide(void **state)
{
	static const struct {
		const char *steps; /* a letter a step */
		const char *edges;
		const char *run; /* + runs, - is skipped */
		int step;        /* whose reason is looked at */
		const char *why;
	} cases[] = {
		/* Each reason, alone. */
		{".", "", "-", 0, "complete; its command, 1 input and 2 outputs are unchanged"},
		{"n", "", "+", 0, "no run that is recorded had it"},
		{"b", "", "+", 0, "it was not complete when the last run was cut off"},
		{"s", "", "+", 0, "it was not complete in the last run: exit 3"},
		{"c", "", "+", 0, "its command changed"},
		{"d", "", "+", 0, "its inputs, outputs or rules changed in the workflow file"},
		{"i", "", "+", 0, "input in changed"},
		{"m", "", "+", 0, "input in is missing"},
		{"w", "", "+", 0, "input in is new"},
		{"o", "", "+", 0, "output out changed"},
		{"g", "", "+", 0, "output out is missing"},
		/* Independent steps do not care. */
		{"i.", "", "+-", 1, NULL},
		/* Everything downstream runs, near or far; nothing upstream of what is kept. */
		{"...", "A>B B>C", "---", 0, NULL},
		{"i..", "A>B B>C", "+++", 2, "step A, upstream of it, runs again"},
		{".i.", "A>B B>C", "-++", 2, "step B, upstream of it, runs again"},
		{"..i", "A>B B>C", "--+", 2, "input in changed"},
		{"c....", "A>B A>C B>D", "++++-", 3, "step A, upstream of it, runs again"},
		/* The order of the file says nothing. */
		{"..i", "C>B B>A", "+++", 0, "step C, upstream of it, runs again"},
		/* What was not kept has to be made again, */
		{"..i", "A~B B~C", "+++", 1, "step C needs tmp, which was not kept"},
		{"..i", "A~B B~C", "+++", 0, "step B needs tmp, which was not kept"},
		/* but only as far as it is needed: B's file for C is there. */
		{"..i", "A~B B>C", "--+", 0, NULL},
		{".i.", "A~B B>C", "+++", 0, "step B needs tmp, which was not kept"},
		{".g.", "A>B B~C", "-++", 2, "step B, upstream of it, runs again"},
		/* A producer that runs for one consumer has its others run, too. */
		{".i..", "A~B A>C C>D", "++++", 3, "step A, upstream of it, runs again"},
		/* They in turn need what others made for them. */
		{".i..", "A~B A>C D~C", "++++", 3, "step C needs tmp, which was not kept"},
		/* What a step has changed is made again for itself, not for those after it. */
		{".c.", "A+B B>C", "+++", 0, "step B needs it as it was before it changed it"},
		{"..c", "A+B B>C", "--+", 0, NULL},
		/* The own reason is the one that is told. */
		{"io", "A>B", "++", 1, "output out changed"},
		/* Both kept and not kept files between two steps. */
		{".i", "A>B A~B", "++", 0, "step B needs tmp, which was not kept"},
		/* Steps that read each other's files run together. */
		{".i", "A>B B>A", "++", 0, "step B, upstream of it, runs again"},
		{"..", "A~B B~A", "--", 0, NULL},
		/* A cut off run: what had ended before its producer was cut off runs again. */
		{"b.", "A>B", "++", 1, "step A, upstream of it, runs again"},
		{".b.", "A~B A~C", "+++", 2, "step A, upstream of it, runs again"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ties_ctx ctx = {cases[i].edges, strlen(cases[i].steps)};
		const struct leat_ties ties = {&ctx, is_upstream, lends, updates, name};
		struct leat_finding findings[5];
		struct leat_resume_verdict verdicts[5] = {0};
		char run[6] = "";

		for (size_t k = 0; k < ctx.n; k++)
			findings[k] = finding_of(cases[i].steps[k]);
		assert_int_equal(0, leat_decide_resume(findings, ctx.n, &ties, verdicts));
		for (size_t k = 0; k < ctx.n; k++) {
			run[k] = verdicts[k].run ? '+' : '-';
			assert_non_null(verdicts[k].why);
		}
		if (strcmp(cases[i].run, run) != 0)
			print_error("case %zu: %s %s\n", i, cases[i].steps, cases[i].edges);
		assert_string_equal(cases[i].run, run);
		if (cases[i].why)
			assert_string_equal(cases[i].why, verdicts[cases[i].step].why);
		for (size_t k = 0; k < ctx.n; k++)
			free(verdicts[k].why);
	}
}

/* What must hold whatever the graph: all graphs of four steps in the order A, B, C, D, with each
 * edge absent, kept or not kept, and each set of steps with a reason of their own. */
static void test_decide_all(void **state)
{
	static const char pairs[6][3] = {"AB", "AC", "AD", "BC", "BD", "CD"};

	(void)state;
	for (unsigned graph = 0; graph < 729; graph++)
		for (unsigned own = 0; own < 16; own++) {
			char edges[32] = "";
			struct ties_ctx ctx = {edges, 4};
			const struct leat_ties ties = {&ctx, is_upstream, lends, updates, name};
			struct leat_finding findings[4];
			struct leat_resume_verdict v[4] = {0};

			for (unsigned k = 0, g = graph; k < 6; k++, g /= 3)
				if (g % 3)
					snprintf(edges + strlen(edges),
						 sizeof(edges) - strlen(edges), "%s%c%c%c",
						 *edges ? " " : "", pairs[k][0],
						 g % 3 == 1 ? '>' : '~', pairs[k][1]);
			for (unsigned k = 0; k < 4; k++)
				findings[k] = finding_of(own >> k & 1 ? 'i' : '.');
			assert_int_equal(0, leat_decide_resume(findings, 4, &ties, v));
			for (size_t a = 0; a < 4; a++) {
				/* Who has a reason runs; nobody runs without one. */
				bool because = own >> a & 1;

				for (size_t b = 0; b < 4; b++) {
					bool follows =
						v[b].run && a != b &&
						(is_upstream(&ctx, b, a) || lends(&ctx, a, b));

					assert_true(!follows || v[a].run);
					because |= follows;
				}
				assert_int_equal(because, v[a].run);
			}
			if (own == 0)
				assert_false(v[0].run || v[1].run || v[2].run || v[3].run);
			for (size_t a = 0; a < 4; a++)
				free(v[a].why);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide),
		cmocka_unit_test(test_decide_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
