#include "cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define DEADLOCK (1u << LEAT_VERIFY_DEADLOCK)
#define VIOLATION (1u << LEAT_VERIFY_VIOLATION)
#define ONE_FAILS .failures = 1
#define TWICE .style = LEAT_VERIFY_TWICE
#define TEMPORARY .style = LEAT_VERIFY_TEMPORARY

#define CHAIN(x, y) "step A\nout x\nrule x " x "\nstep B\nin x\nout y\nrule y " y "\nstep C\nin y\n"
#define RING(x, y) "step A\nin y\nout x\nrule x " x "\nstep B\nin x\nout y\nrule y " y "\n"
#define TWO(rule) "step A\nout x\nrule x " rule "\nstep B\nout x\nstep C\nin x\n"
#define BOTH(rule) "step A\nout x\nrule x " rule "\nstep B\nin x\nout x\nstep C\nin x\n"
#define DIRECTORY(rule) "step A\nout d\ndir d " rule "\nstep B\nin d\n"

const struct verify_case verify_cases[] = {
	{"termination", CHAIN("on_termination", "on_termination"), {ONE_FAILS}, 0},
	{"termination, growing",
	 CHAIN("on_termination no_update", "on_termination no_update"),
	 {ONE_FAILS, .looks = true},
	 0},
	{"close", CHAIN("on_close", "on_close"), {ONE_FAILS}, 0},
	{"close, growing",
	 CHAIN("on_close no_update", "on_close no_update"),
	 {ONE_FAILS, .full = true},
	 0},
	{"two closes", CHAIN("on_close:2", "on_close:2 no_update"), {ONE_FAILS}, 0},
	{"closed empty first", CHAIN("on_close", "on_close no_update"), {ONE_FAILS, TWICE}, 0},
	{"closed empty first, counted", CHAIN("on_close:2", "on_close:3"), {ONE_FAILS, TWICE}, 0},
	{"renamed", CHAIN("on_close", "on_close:2 no_update"), {ONE_FAILS, TEMPORARY}, 0},
	{"closed twice where once is the promise",
	 CHAIN("on_close", "on_close"),
	 {.closes = 2},
	 VIOLATION},
	{"two producers, termination", TWO("on_termination"), {ONE_FAILS}, 0},
	{"one of two is enough", TWO("on_termination:1"), {ONE_FAILS}, VIOLATION},
	{"two of two", TWO("on_termination:2"), {ONE_FAILS}, 0},
	{"two producers, close", TWO("on_close"), {ONE_FAILS}, 0},
	{"two producers, two closes", TWO("on_close:2"), {ONE_FAILS}, 0},
	{"two producers, three closes", TWO("on_close:3 no_update"), {ONE_FAILS}, 0},
	{"two producers, closed empty first", TWO("on_close"), {TWICE}, VIOLATION},
	{"both, termination", BOTH("on_termination"), {ONE_FAILS}, 0},
	{"both, close", BOTH("on_close"), {ONE_FAILS}, 0},
	{"both, two closes", BOTH("on_close:2"), {ONE_FAILS}, 0},
	{"a file commits with another",
	 "step A\nout x\nrule x on_file=y\nstep B\nout y\nrule y on_close\nstep C\nin x y\n",
	 {ONE_FAILS},
	 0},
	{"a file commits with another that grows",
	 "step A\nout x\nrule x on_file=y no_update\nstep B\nout y\nstep C\nin x\n",
	 {ONE_FAILS},
	 0},
	{"a file commits with what matches a pattern",
	 "step A\nout x\nrule x on_file=p*\nstep B\nout p*\nrule p* on_close\nstep C\nin x\n",
	 {.failures = 0},
	 0},
	{"a file commits with a directory that only holds outputs",
	 "step A\nout x\nrule x on_file=d\nstep B\nout d/y\nrule d/y on_close\nstep C\nin x\n",
	 {ONE_FAILS},
	 0},
	{"a directory of two files", DIRECTORY("n_files:2"), {ONE_FAILS}, 0},
	{"a directory of two growing files", DIRECTORY("n_files:2 no_update"), {ONE_FAILS}, 0},
	{"a directory that ends with its producer", DIRECTORY("on_termination"), {ONE_FAILS}, 0},
	{"a directory of files that commit on close", DIRECTORY("on_close"), {.files = 1}, 0},
	{"two producers in a directory",
	 "step A\nout d\ndir d n_files:2\nstep B\nout d\nstep C\nin d\n",
	 {.files = 1},
	 0},
	{"files of a pattern",
	 "step A\nout p*\nrule p* on_close no_update\nstep B\nin p*\n",
	 {.failures = 1},
	 0},
	{"a staged reader",
	 "step A\nout x\nrule x on_close\nstep B\nstaged\nin x\nout y\nstep C\nin y\n",
	 {ONE_FAILS},
	 0},
	{"a staged reader of a file further down",
	 "step A\nout d/e/x\nrule d/e/x on_close\nstep B\nstaged\nin d/e/x\nout y\nstep C\nin y\n",
	 {ONE_FAILS},
	 0},
	{"a staged reader of a directory",
	 "step A\nout d\ndir d n_files:2\nstep B\nstaged\nin d\nout y\nrule y on_close\nstep C\nin "
	 "y\n",
	 {ONE_FAILS},
	 0},
	{"two wait for each other's end",
	 RING("on_termination", "on_termination"),
	 {ONE_FAILS},
	 DEADLOCK},
	{"two wait for each other's close", RING("on_close", "on_close"), {ONE_FAILS}, DEADLOCK},
	{"two read each other's growing file to the end",
	 RING("on_termination no_update", "on_termination no_update"),
	 {.failures = 0},
	 DEADLOCK},
	{"a third goes on",
	 "step A\nin y\nout x\nstep B\nin x\nout y\nstep C\nout z\nrule z on_close\nstep D\nin z "
	 "x\n",
	 {.failures = 0},
	 DEADLOCK},
	{"a staged one waits to be launched",
	 "step A\nstaged\nin y\nout x\nstep B\nin x\nout y\n",
	 {ONE_FAILS},
	 DEADLOCK},
	{"two that read and write",
	 "step A\nin x\nout x\nstep B\nin x\nout x\n",
	 {ONE_FAILS},
	 DEADLOCK},
	{"two that read and write, and another file puts one after the other",
	 "step A\nout x\nstep B\nin x\nout x\nout y\nstep C\nin x\nin y\nout x\n",
	 {ONE_FAILS},
	 0},
	{"two that read and write, one after the other, by closes",
	 "step A\nout x\nrule x on_close\nstep B\nin x\nout x\nout y\nstep C\nin x\nin y\nout "
	 "x\n",
	 {.failures = 0},
	 0},
	{"through a dependency",
	 "step A\nin z\nout x\nstep B\nout y\nin x\nstep C\nout z\nrule z on_file=y\nin y\n",
	 {.failures = 0},
	 DEADLOCK},
	{"a directory in a circle",
	 "step A\nin y\nout d\ndir d n_files:2\nstep B\nin d\nout y\n",
	 {.files = 2},
	 DEADLOCK},
	{"closed empty first, with a dependency",
	 "step A\nout x\nrule x on_file=y\nstep B\nout y\nrule y on_close\nstep C\nin x\n",
	 {ONE_FAILS, TWICE},
	 0},
	{"both, closed empty first", BOTH("on_close"), {TWICE}, VIOLATION},
	{"both, closed twice", BOTH("on_close"), {.closes = 2}, VIOLATION},
	{"empty files", CHAIN("on_close", "on_close no_update"), {ONE_FAILS, .empty = true}, 0},
	{"empty files, renamed",
	 CHAIN("on_close", "on_close:1"),
	 {ONE_FAILS, TEMPORARY, .empty = true, .full = true},
	 0},
	{"empty files, counted", TWO("on_close:2"), {ONE_FAILS, .empty = true, .full = true}, 0},
	{"files that are left out",
	 CHAIN("on_close", "on_termination no_update"),
	 {ONE_FAILS, .omissions = true},
	 0},
	{"files that are left out of a directory",
	 DIRECTORY("n_files:2"),
	 {ONE_FAILS, .omissions = true},
	 0},
	{"two patterns in one directory",
	 "step A\nout p*\nstep B\nout q*\nstep C\nin p* q*\n",
	 {ONE_FAILS, .files = 1, .omissions = true},
	 0},
	{"a child goes on writing",
	 CHAIN("on_termination", "on_close"),
	 {ONE_FAILS, .children = true},
	 0},
	{"children of two producers", BOTH("on_termination no_update"), {.children = true}, 0},
	{"a child writes what others depend on",
	 "step A\nout x\nrule x on_file=p*\nstep B\nout p1\nstep C\nin x p1\n",
	 {.children = true},
	 0},
	{"a child goes on in a directory", DIRECTORY("on_termination"), {.children = true}, 0},
	{"twin files, with and without symmetry",
	 "step A\nout x y\nstep B\nin x y\n",
	 {ONE_FAILS, .full = true},
	 0},
};

const size_t verify_n_cases = sizeof(verify_cases) / sizeof(verify_cases[0]);

struct leat_verify *verify_world_run(const struct world *w, const struct leat_verify_bounds *bounds,
				     struct leat_verify_result *result)
{
	struct leat_verify *v = leat_verify_new(w->m, w->wf, bounds);

	assert_non_null(v);
	assert_int_equal(leat_verify_run(v, result), 0);
	return v;
}

static void describe(struct leat_verify *v, const struct leat_verify_result *r, FILE *out)
{
	for (unsigned i = 0; i < r->n_findings; i++) {
		const struct leat_verify_finding *f = &r->findings[i];

		fprintf(out, "%s: %s\n", leat_verify_kind_name(f->kind), f->text);
		leat_verify_trace(v, f, out, NULL);
	}
}

char *verify_case_run(const struct verify_case *c, struct leat_verify_result *result)
{
	struct leat_verify_result own, *r = result ? result : &own;
	struct leat_verify *v;
	struct world w;
	unsigned found = 0;
	char *text = NULL;
	size_t size;
	FILE *out;

	world_init(&w, c->workflow);
	v = verify_world_run(&w, &c->bounds, r);
	for (unsigned i = 0; i < r->n_findings; i++)
		found |= 1u << r->findings[i].kind;
	if (found != c->finds || !r->complete) {
		out = open_memstream(&text, &size);
		assert_non_null(out);
		fprintf(out, "%s: found %#x, not %#x%s\n", c->name, found, c->finds,
			r->complete ? "" : ", and not all states were seen");
		describe(v, r, out);
		assert_int_equal(fclose(out), 0);
	}
	leat_verify_free(v);
	world_release(&w);
	return text;
}
