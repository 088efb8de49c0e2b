/* The coordination file of a YAML file: CAPIO-CL. */
#ifndef LEAT_LANG_YAML_COORDINATION_H
#define LEAT_LANG_YAML_COORDINATION_H

#include "lang/reader/front.h"

/* Add all that the CAPIO-CL file `entry` names (relative to wf->path) says to
 * front->wf, steps by name; when all steps and their streams are known. */
int leat_read_coordination(struct leat_front *front, const struct leat_pair *entry);

#endif
