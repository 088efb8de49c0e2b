/* Questions: they are decided, and those that wait remembered. */
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/declared.h"
#include "stream/rules/decide.h"
#include "stream/rules/settle.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"
#include "stream/state/shown.h"
#include "stream/state/waiters.h"

#include <errno.h>

static int remember(struct leat_stream *s, struct leat_name_state *n, const struct leat_event *ev,
		    const struct leat_question *q, const struct leat_blocker *blocker)
{
	struct leat_waiter *w = leat_heap_alloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->id = ev->waiter;
	w->question = *q;
	w->on = n;
	w->blocker.step = -1;
	HASH_ADD(hh, s->waiters, id, sizeof(w->id), w);
	if (!w->hh.tbl) {
		leat_heap_free(w);
		return -ENOMEM;
	}
	DL_APPEND(n->waiters, w);
	leat_waiter_block(s, w, blocker);
	return 0;
}

/* From now on the bytes of `n` are a promise to a consumer. */
static void note_seen(const struct leat_stream *s, struct leat_name_state *n,
		      const struct leat_question *q, enum leat_answer answer)
{
	enum leat_role role;

	if ((answer != LEAT_GO && answer != LEAT_GO_STREAM) || !n->governed ||
	    q->call == LEAT_CALL_LIST || q->call == LEAT_CALL_LAUNCH ||
	    q->call == LEAT_CALL_RELAUNCH)
		return;
	role = leat_rule_role(s, q->step, n->rule);
	if (role == LEAT_ROLE_BOTH && !leat_state_is_final(n->state))
		n->amender = (unsigned)q->step + 1;
	if (role != LEAT_ROLE_PRODUCER && q->step >= 0 && q->call <= LEAT_CALL_WHOLE)
		leat_alias_note_reader(n, q->step);
	if (role != LEAT_ROLE_CONSUMER)
		return;
	n->seen |= leat_seen_bit(q->step);
	n->looked = n->looked || q->call == LEAT_CALL_LOOK;
	if (leat_name_is_dir(n))
		leat_shown_rely(s, n, q->step);
}

enum leat_answer leat_stream_ask(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_question q = {ev->step, ev->call, ev->offset, ev->length};
	struct leat_waiter *w = leat_waiter_find(s, ev->waiter);
	struct leat_blocker blocker;
	struct leat_name_state *n;
	enum leat_answer answer;

	if (ev->step < -1 || ev->step >= s->n_steps)
		return LEAT_FAILED;
	if (w)
		leat_waiter_free(s, w);
	if (ev->call == LEAT_CALL_LAUNCH && ev->step >= 0 && s->wf->steps[ev->step].staged)
		s->staged = s->steps[ev->step].staged = true;
	n = leat_name_get(s, ev->name ? ev->name : "");
	if (!n || ev->call > LEAT_CALL_RELAUNCH)
		return LEAT_FAILED;
	do {
		leat_settle(s);
		blocker = (struct leat_blocker){.step = -1};
		answer = leat_decide(s, n, &q, &blocker);
		/* Deciding may have brought up names that are new. */
	} while (s->dirty);
	note_seen(s, n, &q, answer);
	if (q.call == LEAT_CALL_LIST && (answer == LEAT_GO || answer == LEAT_GO_STREAM) &&
	    (leat_shown_list(s, n, q.step) || leat_declared_list(s, n, q.step)))
		return LEAT_FAILED;
	if (answer == LEAT_WAIT && ev->waiter && remember(s, n, ev, &q, &blocker))
		return LEAT_FAILED;
	return answer;
}
