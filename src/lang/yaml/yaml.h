/* leat YAML: tasks with commands and ports. */
#ifndef LEAT_LANG_YAML_YAML_H
#define LEAT_LANG_YAML_YAML_H

#include "lang/reader/front.h"

/* Read the tree of a file into front->wf. 0 or -ENOMEM. */
int leat_yaml_read(struct leat_front *front, const struct leat_value *root);

#endif
