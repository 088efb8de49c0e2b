/* Checks of who waits for whom: steps for files, files for the ends of steps. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* How strictly waiting is taken: a reader of a growing file need not wait for
 * its end, but will if it reads to the end. */
enum strictness { CERTAIN_WAITS, TO_THE_END };

struct waits {
	const struct leat_check_context *ctx;
	enum strictness strictness;
	bool *can_end; /* by step */
};

/* True if `reader` waits for what producer `p` does to the file. Of two steps that
 * both read and write it, only the later one waits for the other. */
static bool awaits(const struct waits *w, const struct leat_file_rule *file, size_t reader,
		   size_t p)
{
	if (p == reader)
		return false;
	return reader == w->ctx->wf->n_steps || !leat_steps_has(file->producers, (int)reader) ||
	       !leat_steps_has(file->consumers, (int)p) ||
	       leat_is_upstream(w->ctx->m, (int)p, (int)reader);
}

/* The first producer from step `p` on that `reader` waits for, or the number of steps. */
static size_t next_awaited(const struct waits *w, const struct leat_file_rule *file, size_t reader,
			   size_t p)
{
	int n = (int)w->ctx->wf->n_steps;

	for (int s = leat_steps_next(file->producers, (int)p, n); s < n;
	     s = leat_steps_next(file->producers, s + 1, n))
		if (awaits(w, file, reader, (size_t)s))
			return (size_t)s;
	return (size_t)n;
}

/* True if all producers that `reader` waits for can end, or `needed` of them
 * (0: all). `reader` is the number of steps where nobody reads. */
static bool others_can_end(const struct waits *w, const struct leat_file_rule *file, size_t reader,
			   unsigned needed)
{
	unsigned n = 0, can = 0;

	for (size_t s = next_awaited(w, file, reader, 0); s < w->ctx->wf->n_steps;
	     s = next_awaited(w, file, reader, s + 1)) {
		n++;
		can += w->can_end[s];
	}
	return can >= (needed && needed < n ? needed : n);
}

/* True if what a producer other than the reader does is seen while it runs. */
static bool is_seen(const struct waits *w, const struct leat_file_rule *file, size_t reader)
{
	for (size_t s = next_awaited(w, file, reader, 0); s < w->ctx->wf->n_steps;
	     s = next_awaited(w, file, reader, s + 1))
		if (!w->ctx->wf->steps[s].staged)
			return true;
	return false;
}

/* A chain of on_file longer than this is left to the check for cycles. */
enum { MAX_CHAIN = 64 };

/* 1 if the file can become final for `reader`, given the steps known to be able
 * to end; 0 if not; -ENOMEM. */
static int can_commit(const struct waits *w, const char *name, size_t reader, int depth)
{
	const struct leat_file_rule *file = leat_check_rule_of(w->ctx, name);

	if (!file)
		return -ENOMEM;
	if (others_can_end(w, file, reader,
			   file->commit == LEAT_COMMIT_ON_TERMINATION ? file->count : 0))
		return 1;
	switch (file->commit) {
	case LEAT_COMMIT_ON_TERMINATION:
		return 0;
	case LEAT_COMMIT_ON_CLOSE:
	case LEAT_COMMIT_N_FILES:
		return is_seen(w, file, reader);
	case LEAT_COMMIT_ON_FILE:
		break;
	}
	for (size_t i = 0; i < file->deps->n; i++) {
		int rc = depth < MAX_CHAIN ? can_commit(w, file->deps->v[i].text,
							w->ctx->wf->n_steps, depth + 1)
					   : 0;

		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* 1 if step `s` would wait for ever on this input; 0 if not; -ENOMEM. */
static int is_blocked(const struct waits *w, size_t s, const char *input)
{
	const struct leat_step *step = &w->ctx->wf->steps[s];
	const struct leat_file_rule *file = leat_check_rule_of(w->ctx, input);
	int rc;

	if (!file)
		return -ENOMEM;
	if (file->fire == LEAT_FIRE_NO_UPDATE && w->strictness == CERTAIN_WAITS && !step->staged &&
	    is_seen(w, file, s))
		return 0;
	rc = can_commit(w, input, s, 0);
	return rc < 0 ? rc : !rc;
}

/* Set *input to the first input on which step `s` would wait for ever, or to
 * NULL. 0 or -ENOMEM. */
static int find_blocking(const struct waits *w, size_t s, const struct leat_name **input)
{
	const struct leat_names *inputs = &w->ctx->wf->steps[s].inputs;

	*input = NULL;
	for (size_t i = 0; i < inputs->n; i++) {
		int rc = is_blocked(w, s, inputs->v[i].text);

		if (rc < 0)
			return rc;
		if (rc) {
			*input = &inputs->v[i];
			return 0;
		}
	}
	return 0;
}

/* Find the steps that can end, from those that wait for nobody onwards. 0 or -ENOMEM. */
static int find_ends(struct waits *w)
{
	const struct leat_name *input;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t s = 0; s < w->ctx->wf->n_steps; s++) {
			if (w->can_end[s])
				continue;
			if (find_blocking(w, s, &input))
				return -ENOMEM;
			w->can_end[s] = !input;
			changed |= !input;
		}
	}
	return 0;
}

/* A step that cannot end and that the input of step `s` waits for. */
static size_t stuck_producer(const struct waits *w, size_t s, const char *input)
{
	const struct leat_file_rule *file = leat_check_rule_of(w->ctx, input);
	size_t n = w->ctx->wf->n_steps;

	for (size_t p = file ? next_awaited(w, file, s, 0) : n; p < n;
	     p = next_awaited(w, file, s, p + 1))
		if (!w->can_end[p])
			return p;
	return n;
}

/* One step of a walk from waiting step to waiting step. */
struct link {
	size_t step;
	const struct leat_name *input;
};

/* True if nothing hangs on what a pattern happens to match. */
static bool is_certain(const struct waits *w, const struct link *from, size_t producer)
{
	const char *input = from->input->text;

	return !leat_pattern_is_wild(input) ||
	       leat_names_has(&w->ctx->wf->steps[producer].outputs, input);
}

static int report_cycle(const struct waits *w, const struct link *cycle, size_t n)
{
	const struct leat_step *steps = w->ctx->wf->steps;
	struct leat_pos pos = cycle[0].input->pos;
	bool certain = w->strictness == CERTAIN_WAITS;
	char *text = strdup("");

	for (size_t i = 0; i < n && text; i++) {
		size_t producer = cycle[(i + 1) % n].step;
		char *longer =
			leat_strf("%s%s\"%s\" waits for \"%s\", which waits for the end of \"%s\"",
				  text, i ? "; " : "", steps[cycle[i].step].name,
				  cycle[i].input->text, steps[producer].name);

		certain &= is_certain(w, &cycle[i], producer);
		free(text);
		text = longer;
	}
	if (!text)
		return -ENOMEM;
	if (w->strictness == CERTAIN_WAITS)
		leat_lang_report_as(w->ctx->diags, certain ? LEAT_ERROR : LEAT_WARNING,
				    L_CHECK_DEADLOCK, pos, "deadlock: %s", text);
	else
		leat_lang_report(w->ctx->diags, L_CHECK_WAIT_CYCLE, pos,
				 "if each step reads to the end of its input, none ends: %s", text);
	free(text);
	return 0;
}

/* Walk from a step that cannot end to one it waits for, and on; a step met
 * twice closes a cycle. `walked` holds for each step in which walk (1, 2, ...) it was met. */
static int walk(const struct waits *w, size_t s, size_t number, size_t *walked, struct link *path)
{
	size_t n = 0, first = 0;

	while (!walked[s]) {
		const struct leat_name *input;

		if (find_blocking(w, s, &input))
			return -ENOMEM;
		if (!input)
			return 0; /* it can end after all */
		walked[s] = number;
		path[n++] = (struct link){s, input};
		s = stuck_producer(w, s, input->text);
		if (s == w->ctx->wf->n_steps)
			return -ENOMEM;
	}
	if (walked[s] != number)
		return 0; /* ends in a cycle already reported */
	while (first + 1 < n && path[first].step != s)
		first++;
	return report_cycle(w, path + first, n - first);
}

/* Report every cycle of waiting steps. 0, 1 if there was one, -ENOMEM. */
static int find_cycles(const struct leat_check_context *ctx, enum strictness strictness)
{
	size_t n = ctx->wf->n_steps;
	struct waits w = {ctx, strictness, calloc(n + 1, sizeof(bool))};
	size_t *walked = calloc(n + 1, sizeof(*walked));
	struct link *path = calloc(n + 1, sizeof(*path));
	int rc = w.can_end && walked && path ? find_ends(&w) : -ENOMEM;

	for (size_t s = 0; s < n && rc >= 0; s++) {
		if (w.can_end[s] || walked[s])
			continue;
		rc = walk(&w, s, s + 1, walked, path);
		if (!rc)
			rc = 1;
	}
	free(w.can_end);
	free(walked);
	free(path);
	return rc;
}

int leat_check_deadlock(const struct leat_check_context *ctx)
{
	int rc = find_cycles(ctx, CERTAIN_WAITS);

	if (rc == 0)
		rc = find_cycles(ctx, TO_THE_END);
	return rc < 0 ? rc : 0;
}

/* Step `a` and another that both read and write the file, with no order between
 * them, are reported once, at the output of `a`. */
static int check_updater(const struct leat_check_context *ctx, size_t a,
			 const struct leat_name *output)
{
	const struct leat_file_rule *file = leat_check_rule_of(ctx, output->text);
	bool wild = leat_pattern_is_wild(output->text);

	if (!file)
		return -ENOMEM;
	if (!leat_steps_has(file->consumers, (int)a))
		return 0;
	for (size_t b = a + 1; b < ctx->wf->n_steps; b++) {
		if (!leat_steps_has(file->consumers, (int)b) ||
		    !leat_steps_has(file->producers, (int)b) ||
		    leat_is_upstream(ctx->m, (int)a, (int)b) !=
			    leat_is_upstream(ctx->m, (int)b, (int)a))
			continue;
		leat_lang_report_as(ctx->diags, wild ? LEAT_WARNING : LEAT_ERROR,
				    L_CHECK_TWO_UPDATERS, output->pos,
				    "\"%s\" and \"%s\" both read and write \"%s\", and nothing "
				    "orders the two steps",
				    ctx->wf->steps[a].name, ctx->wf->steps[b].name, output->text);
		return 0;
	}
	return 0;
}

int leat_check_two_updaters(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_names *outputs = &ctx->wf->steps[s].outputs;

		for (size_t i = 0; i < outputs->n; i++)
			if (check_updater(ctx, s, &outputs->v[i]))
				return -ENOMEM;
	}
	return 0;
}
