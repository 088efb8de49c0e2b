/* Which steps may make what an entry of the workflow file stands for. */
#ifndef LEAT_STREAM_STATE_MAKERS_H
#define LEAT_STREAM_STATE_MAKERS_H

#include "stream/state/state.h"

/* Does `pattern` match something below the exact name `dir`? */
bool leat_pattern_meets_below(const char *pattern, const char *dir);
/* True if an output of `step` may match what `text` (a name, directory or pattern)
 * stands for, or lie below it, or contain it. */
bool leat_step_may_make(const struct leat_stream *s, int step, const char *text);
/* Is there a name that both steps spell out as their output? */
bool leat_steps_spell_same(const struct leat_stream *s, int a, int b);

#endif
