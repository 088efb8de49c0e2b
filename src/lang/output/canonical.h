/* The canonical form of a workflow: CAPIO-CL as published in 2025. */
#ifndef LEAT_LANG_OUTPUT_CANONICAL_H
#define LEAT_LANG_OUTPUT_CANONICAL_H

#include "model/workflow.h"

#include <stdio.h>

/* Write any model, whatever syntax it came from; reading that again gives an
 * equal model. What CAPIO-CL has no words for stands under leat's own keys (see
 * docs/reference/language.md): `exec`, `staged`, `inports` and the like of a step, `dir`,
 * `permanent_unless_consumed`. An ensemble is written as its steps. 0, -ENOMEM, or -EIO when `out`
 * took not all. Any thread. */
int leat_canonical_write(const struct leat_workflow *wf, FILE *out);

#endif
