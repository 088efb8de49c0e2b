/* The check for on_file rules that depend on each other in a cycle. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"

enum state { NEW, ON_THE_WAY, DONE };

struct frame {
	const struct leat_rule *rule;
	size_t next; /* dependency to look at */
};

/* A depth-first search that enters each rule once. */
struct search {
	const struct leat_check_context *ctx;
	size_t *first_of_step; /* number of a step's first rule */
	enum state *states;    /* by number of the rule */
	struct frame *stack;
	size_t depth;
};

static enum state *state_of(const struct search *search, const struct leat_rule *rule)
{
	const struct leat_workflow *wf = search->ctx->wf;
	size_t s = 0;

	while (s + 1 < wf->n_steps &&
	       (rule < wf->steps[s].rules || rule >= wf->steps[s].rules + wf->steps[s].n_rules))
		s++;
	return &search->states[search->first_of_step[s] + (size_t)(rule - wf->steps[s].rules)];
}

static void enter(struct search *search, const struct leat_rule *rule)
{
	search->stack[search->depth++] = (struct frame){rule, 0};
	*state_of(search, rule) = ON_THE_WAY;
}

/* The stack from `rule` upwards is a cycle. */
static int report_cycle(const struct search *search, const struct leat_rule *rule)
{
	char *text = leat_strf("\"%s\"", rule->name.text);
	size_t top = search->depth;

	while (text && top > 0 && search->stack[top - 1].rule != rule) {
		char *longer =
			leat_strf("\"%s\" -> %s", search->stack[top - 1].rule->name.text, text);

		free(text);
		text = longer;
		top--;
	}
	if (!text)
		return -ENOMEM;
	leat_lang_report(search->ctx->diags, L_CHECK_DEP_CYCLE, rule->name.pos,
			 "on_file rules depend on each other in a cycle: \"%s\" -> %s",
			 rule->name.text, text);
	free(text);
	return 0;
}

/* Look at one dependency of the rule on top of the stack. */
static int follow(struct search *search)
{
	struct frame *top = &search->stack[search->depth - 1];
	const struct leat_file_rule *file;

	if (top->next == top->rule->deps.n) {
		*state_of(search, top->rule) = DONE;
		search->depth--;
		return 0;
	}
	file = leat_check_rule_of(search->ctx, top->rule->deps.v[top->next++].text);
	if (!file)
		return -ENOMEM;
	if (file->commit != LEAT_COMMIT_ON_FILE || !file->rule)
		return 0;
	switch (*state_of(search, file->rule)) {
	case NEW:
		enter(search, file->rule);
		break;
	case ON_THE_WAY:
		return report_cycle(search, file->rule);
	case DONE:
		break;
	}
	return 0;
}

static int search_all(struct search *search)
{
	const struct leat_workflow *wf = search->ctx->wf;

	for (size_t s = 0; s < wf->n_steps; s++) {
		for (size_t r = 0; r < wf->steps[s].n_rules; r++) {
			const struct leat_rule *rule = &wf->steps[s].rules[r];

			if (rule->commit == LEAT_COMMIT_ON_FILE && *state_of(search, rule) == NEW)
				enter(search, rule);
			while (search->depth > 0)
				if (follow(search))
					return -ENOMEM;
		}
	}
	return 0;
}

int leat_check_dep_cycle(const struct leat_check_context *ctx)
{
	struct search search = {.ctx = ctx};
	size_t n = 0;
	int rc = -ENOMEM;

	search.first_of_step = calloc(ctx->wf->n_steps + 1, sizeof(*search.first_of_step));
	if (!search.first_of_step)
		return -ENOMEM;
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		search.first_of_step[s] = n;
		n += ctx->wf->steps[s].n_rules;
	}
	search.states = calloc(n + 1, sizeof(*search.states));
	search.stack = calloc(n + 1, sizeof(*search.stack));
	if (search.states && search.stack)
		rc = search_all(&search);
	free(search.first_of_step);
	free(search.states);
	free(search.stack);
	return rc;
}
