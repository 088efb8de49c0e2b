/* A stream: made from a workflow, moved on by facts. */
#include "stream/conflicts/held.h"
#include "stream/conflicts/shared.h"
#include "stream/facts/close.h"
#include "stream/facts/create.h"
#include "stream/facts/promises.h"
#include "stream/facts/rename.h"
#include "stream/facts/steps.h"
#include "stream/facts/use.h"
#include "stream/facts/write.h"
#include "stream/flow/consume.h"
#include "stream/flow/versions.h"
#include "stream/rules/launch.h"
#include "stream/rules/settle.h"
#include "stream/rules/violation.h"
#include "stream/state/content.h"
#include "stream/state/inputs.h"
#include "stream/state/names.h"
#include "stream/state/ofds.h"
#include "stream/state/ports.h"
#include "stream/state/used.h"
#include "stream/state/waiters.h"

#include <errno.h>
#include <string.h>

static int add_exact(struct leat_stream *s, const char *text)
{
	struct leat_exact *e;

	HASH_FIND_STR(s->exact, text, e);
	if (e || leat_pattern_is_wild(text))
		return 0;
	e = leat_heap_alloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->text = text;
	HASH_ADD_KEYPTR(hh, s->exact, e->text, strlen(e->text), e);
	if (e->hh.tbl)
		return 0;
	leat_heap_free(e);
	return -ENOMEM;
}

static int add_step(struct leat_stream *s, int step)
{
	const struct leat_step *model = &s->wf->steps[step];

	s->steps[step].expected = model->instances ? model->instances : 1;
	for (size_t i = 0; i < model->outputs.n; i++)
		if (add_exact(s, model->outputs.v[i].text))
			return -ENOMEM;
	return 0;
}

struct leat_stream *leat_stream_new(struct leat_matcher *m, const struct leat_workflow *wf,
				    const struct leat_stream_ops *ops, void *ctx)
{
	struct leat_stream *s = leat_heap_alloc(1, sizeof(*s));
	struct leat_name_state *root;

	if (!s)
		return NULL;
	s->m = m;
	s->wf = wf;
	s->ops = *ops;
	s->ctx = ctx;
	s->dirty_step = -1;
	s->steps = leat_heap_alloc(wf->n_steps + 1, sizeof(*s->steps));
	s->recent = leat_heap_alloc(1, sizeof(*s->recent));
	if (!s->steps || !s->recent)
		goto fail;
	s->n_steps = (int)wf->n_steps;
	for (int step = 0; step < s->n_steps; step++)
		if (add_step(s, step))
			goto fail;
	if (leat_ports_init(s))
		goto fail;
	root = leat_name_get(s, "");
	if (!root || !leat_content_new(s, root, -1, true))
		goto fail;
	leat_settle(s);
	return s;
fail:
	leat_stream_free(s);
	return NULL;
}

static void free_steps(struct leat_stream *s)
{
	for (int step = 0; step < s->n_steps; step++) {
		leat_inputs_free(s, step);
		leat_links_free(s->steps[step].names);
		leat_links_free(s->steps[step].dependents);
		leat_heap_free(s->steps[step].why);
	}
	leat_heap_free(s->steps);
}

void leat_stream_free(struct leat_stream *s)
{
	struct leat_waiter *w, *next_waiter;
	struct leat_name_state *n, *next_name;
	struct leat_exact *e, *next_exact;
	int saved = errno;

	if (!s)
		return;
	HASH_ITER(hh, s->waiters, w, next_waiter)
	{
		leat_waiter_free(s, w);
	}
	HASH_ITER(hh, s->names, n, next_name)
	{
		if (n->content)
			leat_content_detach(s, n);
	}
	leat_ofds_free(s);
	leat_holds_free(s);
	leat_flow_free(s);
	leat_used_free(s);
	leat_names_free(s);
	HASH_ITER(hh, s->exact, e, next_exact)
	{
		HASH_DEL(s->exact, e);
		leat_heap_free(e);
	}
	free_steps(s);
	leat_heap_free(s->recent);
	leat_heap_free(s);
	errno = saved;
}

/* ---- facts ---- */

static int apply_cancel(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_waiter *w = leat_waiter_find(s, ev->waiter);

	if (w)
		leat_waiter_free(s, w);
	return 0;
}

enum { NEEDS_STEP = 1, NEEDS_NAME = 2 };

static const struct {
	int (*apply)(struct leat_stream *s, const struct leat_event *ev);
	unsigned needs;
} facts[LEAT_EV_KINDS] = {
	[LEAT_EV_STEP_START] = {leat_step_start, NEEDS_STEP},
	[LEAT_EV_STEP_END] = {leat_step_end, NEEDS_STEP},
	[LEAT_EV_STEP_CLOSED] = {leat_step_closed, NEEDS_STEP},
	[LEAT_EV_PROC_EXIT] = {leat_fact_exit, 0},
	[LEAT_EV_PRESENT] = {leat_fact_present, NEEDS_NAME},
	[LEAT_EV_CREATE] = {leat_fact_create, NEEDS_NAME},
	[LEAT_EV_OPEN] = {leat_fact_open, NEEDS_NAME},
	[LEAT_EV_CLOSE] = {leat_fact_close, 0},
	[LEAT_EV_EXTENT] = {leat_fact_extent, 0},
	[LEAT_EV_TRUNCATE] = {leat_fact_truncate, NEEDS_NAME},
	[LEAT_EV_RENAME] = {leat_fact_rename, NEEDS_NAME},
	[LEAT_EV_UNLINK] = {leat_fact_unlink, NEEDS_NAME},
	[LEAT_EV_CANCEL] = {apply_cancel, 0},
	[LEAT_EV_VIOLATION] = {leat_fact_violation, NEEDS_NAME},
	[LEAT_EV_TAKE] = {leat_fact_take, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_READ] = {leat_fact_read, 0},
	[LEAT_EV_RETURN] = {leat_fact_return, 0},
	[LEAT_EV_LAUNCH] = {leat_fact_launch, NEEDS_STEP},
	[LEAT_EV_WRITE] = {leat_fact_write, 0},
	[LEAT_EV_SERVE] = {leat_fact_serve, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_WRITTEN] = {leat_fact_written, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_USE] = {leat_fact_use, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_RIGHTS] = {leat_fact_rights, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_HOLD] = {leat_fact_hold, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_LET_GO] = {leat_fact_let_go, 0},
};

int leat_stream_apply(struct leat_stream *s, const struct leat_event *ev)
{
	int rc;

	if ((unsigned)ev->kind >= LEAT_EV_KINDS || !facts[ev->kind].apply)
		return -EINVAL;
	if (ev->step >= s->n_steps || ev->step < -1 ||
	    (ev->step < 0 && facts[ev->kind].needs & NEEDS_STEP) ||
	    (!ev->name && facts[ev->kind].needs & NEEDS_NAME))
		return -EINVAL;
	s->error = 0;
	s->reported = 0;
	rc = facts[ev->kind].apply(s, ev);
	leat_settle(s);
	return rc ? rc : s->error;
}
