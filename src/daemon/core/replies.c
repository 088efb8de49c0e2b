#include "daemon/core/replies.h"

#include "daemon/core/connections.h"

#include <string.h>

void leat_reply_answer(struct leat_conn *c, int error, uint32_t slot, const char *text)
{
	struct leat_msg_answer *m = leat_wire_begin(c->d->out, LEAT_MSG_ANSWER, sizeof(*m));

	m->error = error;
	if (slot) {
		m->slot = slot;
		m->seq = leat_shm_seq(&c->d->shm->files[slot]);
	}
	if (leat_wire_put(m, text ? text : "") == 0)
		leat_conn_send(c, m);
}

void leat_reply_text(struct leat_conn *c, int error, const char *text)
{
	const size_t space = LEAT_WIRE_MAX - sizeof(struct leat_msg_text) - 1;
	size_t left = strlen(text);
	struct leat_msg_text *m;

	do {
		size_t n = left < space ? left : space;

		m = leat_wire_begin(c->d->out, LEAT_MSG_TEXT, sizeof(*m));
		m->error = error;
		left -= n;
		m->more = left > 0;
		leat_wire_put_raw(m, text, n);
		leat_wire_put_raw(m, "", 1);
		leat_conn_send(c, m);
		text += n;
	} while (left);
}
