/* Questions and reports about open files, and about programs. */
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/text.h"
#include "wire/wire.h"

int leat_client_ask(const struct leat_msg *question, uint32_t *seq)
{
	struct leat_guard g;
	int rc = leat_guard_acquire(&g);

	if (rc)
		return rc;
	rc = leat_channel_ask(leat_client_channel(g.t), question, seq);
	leat_guard_release(&g);
	return rc;
}

void leat_client_report(const struct leat_msg *report)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	leat_channel_report(leat_client_channel(g.t), report);
	leat_guard_release(&g);
}

int leat_client_violation(uint32_t code, uint32_t slot, uint64_t offset, uint64_t length)
{
	struct leat_guard g;
	int rc = leat_guard_acquire(&g);

	if (rc)
		return rc;
	rc = leat_channel_violation(leat_client_channel(g.t), code, slot, offset, length);
	leat_guard_release(&g);
	return rc;
}

void leat_client_refused(const char *program, const char *why, bool fatal)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	if (!leat_client_connect(g.t)) {
		struct leat_text t = leat_text_in(g.t->name, sizeof(g.t->name));

		leat_text_add(&t, program);
		leat_text_add(&t, ": ");
		leat_text_add(&t, why);
		leat_channel_refused(leat_client_channel(g.t), g.t->name, fatal);
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
	leat_client_connect(g.t);
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
