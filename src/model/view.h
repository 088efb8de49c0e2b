/* The names under which a step sees what others make by other names, or in versions: its inports.
 */
#ifndef LEAT_MODEL_VIEW_H
#define LEAT_MODEL_VIEW_H

#include "model/workflow.h"

#include <limits.h>
#include <stdint.h>

/* The inport of `step` that shows `path`, or a directory above it; NULL: none does. */
const struct leat_inport *leat_view_find(const struct leat_step *step, const char *path);

/* The inport that shows something below `path`, a directory; NULL: none does. */
const struct leat_inport *leat_view_find_above(const struct leat_step *step, const char *path);

/* By which name `path`, which `step` sees through inport `in`, is made by source `source` of it
 * (without sources: is found in the workflow's directory). False: not by that source. */
bool leat_view_made(const struct leat_workflow *wf, const struct leat_step *step,
		    const struct leat_inport *in, size_t source, const char *path,
		    char out[PATH_MAX]);

/* The other way: under which name `step` sees `made` through source `source`. False: it does not.
 */
bool leat_view_seen(const struct leat_workflow *wf, const struct leat_step *step,
		    const struct leat_inport *in, size_t source, const char *made,
		    char out[PATH_MAX]);

/* True if what it shows comes in versions. */
bool leat_inport_has_versions(const struct leat_inport *in);

/* True if version `number` (from 1) of what a link carries is for its consumer. */
bool leat_flow_delivers(const struct leat_inport *in, uint64_t number);

#endif
