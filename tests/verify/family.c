#include "family.h"

#include "cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* So many that are wrong are shown. */
enum { SHOWN = 3 };

#define READS(reader, writer) (1u << (3 * (reader) + (writer)))

const struct family_shape family_shapes[] = {
	{"chain", READS(1, 0) | READS(2, 1)},
	{"fan-out", READS(1, 0) | READS(2, 0)},
	{"fan-in", READS(2, 0) | READS(2, 1)},
	{"ring", READS(1, 0) | READS(2, 1) | READS(0, 2)},
	{"triangle", READS(1, 0) | READS(2, 0) | READS(2, 1)},
};

const unsigned family_n_shapes = sizeof(family_shapes) / sizeof(family_shapes[0]);

/* on_file: so many files further, round about. */
static const struct {
	const char *text;
	unsigned file;
	bool is_dir;
} rules[FAMILY_RULES / 2] = {{"on_termination", 0, false}, {"on_close", 0, false},
			     {"on_close:2", 0, false},     {"on_file=", 1, false},
			     {"on_file=", 2, false},       {"n_files:2", 0, true}};

static void put_step(FILE *out, unsigned reads, int step, unsigned rule)
{
	const char *text = rules[rule / 2].text;

	fprintf(out, "step %c\nout %c\n", 'A' + step, 'x' + step);
	for (int writer = 0; writer < 3; writer++)
		if (reads & READS(step, writer))
			fprintf(out, "in %c\n", 'x' + writer);
	fprintf(out, "%s %c %s", rules[rule / 2].is_dir ? "dir" : "rule", 'x' + step, text);
	if (rules[rule / 2].file)
		putc('x' + (step + (int)rules[rule / 2].file) % 3, out);
	fputs(rule % 2 ? " no_update\n" : "\n", out);
}

/* ---- workflows that are the same but for names ---- */

static const int orders[][3] = {{1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};

/* Step i takes the place of step order[i]: does that change who reads whose file? */
static bool keeps_shape(unsigned reads, const int *order)
{
	for (int reader = 0; reader < 3; reader++)
		for (int writer = 0; writer < 3; writer++)
			if (!(reads & READS(reader, writer)) !=
			    !(reads & READS(order[reader], order[writer])))
				return false;
	return true;
}

/* And which combination does it make of this one? */
static unsigned renamed(unsigned combination, const int *order)
{
	unsigned place[3] = {1, FAMILY_RULES, FAMILY_RULES * FAMILY_RULES}, image = 0;

	for (int i = 0; i < 3; i++) {
		unsigned rule = combination / place[i] % FAMILY_RULES;
		unsigned file = rules[rule / 2].file;

		if (file) {
			int to = order[(i + (int)file) % 3];

			rule = 2 * (2 + (unsigned)(to - order[i] + 3) % 3) + rule % 2;
		}
		image += rule * place[order[i]];
	}
	return image;
}

static bool is_same_as_before(unsigned reads, unsigned combination)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (keeps_shape(reads, orders[i]) && renamed(combination, orders[i]) < combination)
			return true;
	return false;
}

static void check_one(const char *text, const struct leat_verify_bounds *bounds,
		      struct family_sum *sum)
{
	struct leat_verify_result r;
	struct leat_verify *v;
	struct world w;
	bool deadlock = false, wrong;

	world_init(&w, text);
	v = verify_world_run(&w, bounds, &r);
	wrong = !r.complete;
	for (unsigned i = 0; i < r.n_findings; i++) {
		const struct leat_verify_finding *f = &r.findings[i];

		deadlock = deadlock || f->kind == LEAT_VERIFY_DEADLOCK;
		if (f->kind == LEAT_VERIFY_DEADLOCK)
			continue;
		wrong = true;
		if (sum->wrong >= SHOWN)
			continue;
		printf("%s%s: %s\n", text, leat_verify_kind_name(f->kind), f->text);
		leat_verify_trace(v, f, stdout, NULL);
	}
	sum->states += r.states;
	sum->transitions += r.transitions;
	sum->most = r.states > sum->most ? r.states : sum->most;
	sum->deadlocks += deadlock;
	sum->wrong += wrong;
	leat_verify_free(v);
	world_release(&w);
}

char *family_text(const struct family_shape *shape, unsigned combination)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	put_step(out, shape->reads, 0, combination % FAMILY_RULES);
	put_step(out, shape->reads, 1, combination / FAMILY_RULES % FAMILY_RULES);
	put_step(out, shape->reads, 2, combination / (FAMILY_RULES * FAMILY_RULES));
	assert_int_equal(fclose(out), 0);
	return text;
}

void family_run(const struct family_shape *shape, unsigned first, unsigned stride,
		const struct leat_verify_bounds *bounds, struct family_sum *sum)
{
	for (unsigned c = first; c < FAMILY_COMBINATIONS; c += stride) {
		char *text;

		sum->combinations++;
		if (is_same_as_before(shape->reads, c)) {
			sum->same++;
			continue;
		}
		text = family_text(shape, c);
		check_one(text, bounds, sum);
		free(text);
	}
}
