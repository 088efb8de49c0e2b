/* What a call is answered. */
#include "stream/rules/decide.h"
#include "stream/rules/answer.h"
#include "stream/rules/inputs.h"
#include "stream/rules/launch.h"

enum leat_answer leat_decide(struct leat_stream *s, struct leat_name_state *n,
			     const struct leat_question *q, struct leat_blocker *blocker)
{
	if (q->step < 0 || q->step >= s->n_steps)
		return LEAT_GO;
	if (q->call == LEAT_CALL_LAUNCH)
		return leat_decide_launch(s, q, blocker);
	if (q->call == LEAT_CALL_RELAUNCH)
		return leat_decide_more(s, q, blocker);
	if (q->call == LEAT_CALL_LIST)
		return leat_decide_list(s, n, q, blocker);
	return leat_decide_name(s, n, q, blocker);
}
