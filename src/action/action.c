/* What actions call (leat/action.h). */
#include "action/host.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void leat_action_on(struct leat_action *action, enum leat_action_event event,
			   leat_action_callback *fn, void *data)
{
	if (event < LEAT_ACTION_BEFORE_LAUNCH || event > LEAT_ACTION_AFTER_EXIT)
		return;
	action->on[event].fn = fn;
	action->on[event].data = data;
}

PUBLIC void leat_action_serve_all(struct leat_action *action)
{
	action->served = true;
}

PUBLIC int leat_action_broadcast_files(struct leat_action *action)
{
	char buf[LEAT_WIRE_MAX];
	struct leat_msg_acted *m = leat_wire_begin(buf, LEAT_MSG_ACTED, sizeof(*m));
	ssize_t n;

	m->step = action->step;
	m->rank = action->rank;
	m->error = -EAGAIN;
	if (leat_wire_put(m, "") || send(action->fd, m, m->h.size, MSG_NOSIGNAL) < 0)
		return -1;
	do
		n = recv(action->fd, buf, sizeof(buf), 0);
	while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : -1;
}

PUBLIC unsigned leat_action_file_close_counter(const struct leat_action *action)
{
	return action->closes;
}

PUBLIC int leat_action_fail(struct leat_action *action, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(action->why, sizeof(action->why), format, ap);
	va_end(ap);
	return -1;
}
