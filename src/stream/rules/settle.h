/* From touched names and steps to new states and wake-ups. */
#ifndef LEAT_STREAM_RULES_SETTLE_H
#define LEAT_STREAM_RULES_SETTLE_H

#include "stream/state/state.h"

/* Bring states up to date, then wake. */
void leat_settle(struct leat_stream *s);

#endif
