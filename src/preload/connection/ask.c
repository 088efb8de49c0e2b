/* What is asked and told of open files, and of programs. */
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/text.h"
#include "wire/wire.h"

static int ask_under(struct leat_thread *t, uint32_t call, uint32_t slot, uint64_t offset,
		     uint64_t length, uint32_t *seq)
{
	struct leat_msg_ask *m = (struct leat_msg_ask *)t->msg;
	const struct leat_msg_answer *answer = (const struct leat_msg_answer *)t->msg;
	int rc = leat_client_begin(t, LEAT_MSG_ASK);

	if (rc)
		return rc;
	m->call = call;
	m->slot = slot;
	m->offset = offset;
	m->length = length;
	rc = leat_client_roundtrip(t, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*seq = answer->seq;
	return answer->error;
}

int leat_client_ask(uint32_t call, uint32_t slot, uint64_t offset, uint64_t length, uint32_t *seq)
{
	struct leat_guard g;
	int rc = leat_guard_acquire(&g);

	if (rc)
		return rc;
	rc = ask_under(g.t, call, slot, offset, length, seq);
	leat_guard_release(&g);
	return rc;
}

void leat_client_fact(enum leat_msg_type type, const struct leat_msg_fact *fact)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	if (!leat_client_begin(g.t, type)) {
		struct leat_msg_fact *m = (struct leat_msg_fact *)g.t->msg;
		struct leat_msg h = m->h;

		*m = *fact;
		m->h = h;
		leat_client_send(g.t);
	}
	leat_guard_release(&g);
}

int leat_client_violation(uint32_t code, uint32_t slot, uint64_t offset, uint64_t length)
{
	struct leat_msg_fact fact = {
		.slot = slot, .code = code, .offset = offset, .length = length};
	uint32_t seq;

	leat_client_fact(LEAT_MSG_VIOLATED, &fact);
	return leat_client_ask(LEAT_CALL_WRITE, slot, offset, length, &seq) == -EIO ? -EIO : 0;
}

void leat_client_refused(const char *program, const char *why, bool fatal)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	if (!leat_client_begin(g.t, LEAT_MSG_REFUSED)) {
		struct leat_text t = leat_text_in(g.t->name, sizeof(g.t->name));

		leat_text_add(&t, program);
		leat_text_add(&t, ": ");
		leat_text_add(&t, why);
		((struct leat_msg_text *)g.t->msg)->error = fatal ? -EIO : 0;
		if (!leat_wire_put(g.t->msg, g.t->name))
			leat_client_send(g.t);
	}
	leat_guard_release(&g);
}

/* What this process has now stays good, and the programs it starts are judged by it. */
void leat_client_confine(void)
{
	struct leat_guard g;

	leat_session_confine();
	if (leat_guard_acquire(&g))
		return;
	leat_client_begin(g.t, LEAT_MSG_STATUS); /* connects; it is not sent */
	leat_guard_release(&g);
}

bool leat_client_is_alive(void)
{
	struct leat_guard g;
	bool alive;

	if (leat_guard_acquire(&g))
		return true;
	alive = leat_client_alive(g.t);
	leat_guard_release(&g);
	return alive;
}
