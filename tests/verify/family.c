#include "family.h"

#include "stream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define READS(reader, writer) (1u << (3 * (reader) + (writer)))

const struct family_shape family_shapes[] = {
	{"chain", READS(1, 0) | READS(2, 1), false},
	{"fan-out", READS(1, 0) | READS(2, 0), false},
	{"fan-in", READS(2, 0) | READS(2, 1), false},
	{"triangle", READS(1, 0) | READS(2, 0) | READS(2, 1), false},
	{"ring", READS(1, 0) | READS(2, 1) | READS(0, 2), true},
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

static unsigned turned(unsigned combination)
{
	return combination % FAMILY_RULES * (FAMILY_RULES * FAMILY_RULES) +
	       combination / FAMILY_RULES;
}

static void check_one(const char *text, const struct leat_verify_bounds *bounds,
		      struct family_sum *sum)
{
	struct leat_verify_result r;
	struct leat_verify *v;
	struct world w;
	bool deadlock = false, wrong;

	world_init(&w, text);
	v = leat_verify_new(w.m, w.wf, bounds);
	assert_non_null(v);
	assert_int_equal(leat_verify_run(v, &r), 0);
	wrong = !r.complete;
	for (unsigned i = 0; i < r.n_findings; i++) {
		const struct leat_verify_finding *f = &r.findings[i];

		deadlock = deadlock || f->kind == LEAT_VERIFY_DEADLOCK;
		if (f->kind == LEAT_VERIFY_DEADLOCK)
			continue;
		wrong = true;
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

void family_run(const struct family_shape *shape, unsigned first, unsigned stride,
		const struct leat_verify_bounds *bounds, struct family_sum *sum)
{
	for (unsigned c = first; c < FAMILY_COMBINATIONS; c += stride) {
		char *text = NULL;
		size_t size;
		FILE *out;

		sum->combinations++;
		if (shape->ring && (turned(c) < c || turned(turned(c)) < c)) {
			sum->same++;
			continue;
		}
		out = open_memstream(&text, &size);
		assert_non_null(out);
		put_step(out, shape->reads, 0, c % FAMILY_RULES);
		put_step(out, shape->reads, 1, c / FAMILY_RULES % FAMILY_RULES);
		put_step(out, shape->reads, 2, c / (FAMILY_RULES * FAMILY_RULES));
		assert_int_equal(fclose(out), 0);
		check_one(text, bounds, sum);
		free(text);
	}
}
