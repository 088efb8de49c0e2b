#include "daemon/core/dispatch.h"

#include "base/fault.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/observer.h"

#include <errno.h>

static bool allowed(const struct leat_conn *c, enum leat_daemon_sender sender)
{
	switch (sender) {
	case LEAT_FROM_NEW:
		return !c->hello;
	case LEAT_FROM_CLIENT:
		return c->hello && !c->control;
	case LEAT_FROM_CONTROL:
		return c->hello && c->control && !c->bounded;
	case LEAT_FROM_STATUS:
		return c->hello && c->control;
	case LEAT_FROM_BOTH:
		return c->hello && !c->bounded;
	}
	return false;
}

static int handle(struct leat_conn *c, const struct leat_msg *msg)
{
	int rc;

	LEAT_FAULT_MESSAGE("handle", msg->type);
	rc = c->d->handlers[msg->type].handle(c, msg);
	LEAT_FAULT_MESSAGE("handled", msg->type);
	return rc;
}

int leat_dispatch(struct leat_conn *c, const void *msg, size_t size)
{
	const struct leat_msg *h = msg;
	struct leat_daemon *d = c->d;
	bool waited = c->waiting;
	int rc;

	if (size < sizeof(*h) || h->type >= d->n_handlers || !d->handlers[h->type].handle)
		return -EPROTO;
	if (leat_wire_check(msg, size, leat_wire_fixed_size((enum leat_msg_type)h->type)) ||
	    !allowed(c, d->handlers[h->type].sender))
		return -EPROTO;
	/* Of somebody else: who waits goes on waiting. */
	if (h->type == LEAT_MSG_REAPED)
		return handle(c, h);
	if (h->type != LEAT_MSG_OPENED && (c->pending || c->making))
		d->observer->went_on(c);
	c->held = c->cramped = NULL;
	c->waiting = false;
	c->asked = false;
	/* Answers to others, or to itself, may have found it dead. */
	if (c->closing)
		return 0;
	rc = handle(c, h);
	/* It went on to something else: it does not wait any more. */
	if (waited && !c->asked && !c->closing)
		leat_events_cancel(d, c->id);
	return rc;
}
