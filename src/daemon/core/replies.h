/* Answers that several requests have in common. Event loop only. */
#ifndef LEAT_DAEMON_CORE_REPLIES_H
#define LEAT_DAEMON_CORE_REPLIES_H

#include "daemon/core/state.h"

/* An ANSWER with `text` (may be NULL); with slot and seq of the file `slot`, 0: of none. */
void leat_reply_answer(struct leat_conn *c, int error, uint32_t slot, const char *text);
/* Text in as many TEXT packets as it takes. */
void leat_reply_text(struct leat_conn *c, int error, const char *text);

#endif
