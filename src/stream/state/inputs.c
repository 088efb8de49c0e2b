/* The inputs of a step, seen with the steps that may make them. */
#include "stream/state/inputs.h"
#include "stream/state/makers.h"
#include "stream/state/ports.h"

#include <errno.h>

static int compile(struct leat_stream *s, int step, struct leat_input *in, const char *text)
{
	const struct leat_file_rule *rule = leat_match(s->m, text);

	in->makers = leat_heap_alloc(leat_steps_words(s->m), sizeof(*in->makers));
	if (!rule || !in->makers)
		return -ENOMEM;
	in->text = text;
	in->wild = leat_pattern_is_wild(text);
	/* A pattern's own text is governed by the same rule as what it matches, if
	 * it is written like the output; if not, the listing is not streamed. */
	in->no_update = rule->fire == LEAT_FIRE_NO_UPDATE;
	in->versions = leat_input_has_versions(s, step, text);
	for (int maker = 0; maker < s->n_steps; maker++)
		if (maker != step && !leat_is_strictly_upstream(s->m, step, maker) &&
		    leat_step_may_make(s, maker, text))
			in->makers[maker / 64] |= (uint64_t)1 << (maker % 64);
	return 0;
}

struct leat_input *leat_inputs(struct leat_stream *s, int step)
{
	const struct leat_names *names = &s->wf->steps[step].inputs;
	struct leat_step_state *st = &s->steps[step];

	if (st->inputs)
		return st->inputs;
	st->inputs = leat_heap_alloc(names->n + 1, sizeof(*st->inputs));
	if (!st->inputs)
		goto fail;
	for (size_t i = 0; i < names->n; i++)
		if (compile(s, step, &st->inputs[i], names->v[i].text))
			goto fail;
	return st->inputs;
fail:
	leat_inputs_free(s, step);
	s->error = -ENOMEM;
	return NULL;
}

void leat_inputs_free(struct leat_stream *s, int step)
{
	struct leat_step_state *st = &s->steps[step];

	for (size_t i = 0; st->inputs && i < s->wf->steps[step].inputs.n; i++)
		leat_heap_free(st->inputs[i].makers);
	leat_heap_free(st->inputs);
	st->inputs = NULL;
}
