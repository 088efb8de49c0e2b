/* Messages go to the handlers of their types. Event loop only. */
#ifndef LEAT_DAEMON_CORE_DISPATCH_H
#define LEAT_DAEMON_CORE_DISPATCH_H

#include "daemon/core/state.h"

/* Who may send a message. */
enum leat_daemon_sender {
	LEAT_FROM_NEW,     /* who has not said hello */
	LEAT_FROM_CLIENT,  /* a process of a step */
	LEAT_FROM_CONTROL, /* leat itself */
	LEAT_FROM_STATUS,  /* the same, also one that may ask for the status only */
	LEAT_FROM_BOTH,    /* all of these, but the last */
};

/* Of one type of message: 0 or -EPROTO; what has an answer is answered by leat_conn_send. */
struct leat_daemon_handler {
	int (*handle)(struct leat_conn *c, const void *msg);
	enum leat_daemon_sender sender;
};

/* Handle one packet of `size` bytes. 0 or -EPROTO: the client must be dropped. */
int leat_dispatch(struct leat_conn *c, const void *msg, size_t size);

#endif
