/* What states a file goes through. */
#ifndef LEAT_STREAM_STATE_LIFECYCLE_H
#define LEAT_STREAM_STATE_LIFECYCLE_H

#include "stream/state/state.h"

/* It stays so, but for what is told of it too late. */
bool leat_state_is_final(enum leat_file_state state);

#endif
