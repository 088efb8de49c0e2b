/* Adding what a coordination file says to the tasks of a YAML file. */
#ifndef LEAT_LANG_YAML_MERGE_H
#define LEAT_LANG_YAML_MERGE_H

#include "lang/reader/front.h"

/* Add all that `from` says to front->wf. `from` is emptied in part. */
int leat_merge(struct leat_front *front, const struct leat_workflow *from);

#endif
