/* The section `home_node_policy`. */
#ifndef LEAT_LANG_READER_HOME_H
#define LEAT_LANG_READER_HOME_H

#include "lang/reader/front.h"

/* When all steps are known. 0 or -ENOMEM. */
int leat_read_home(struct leat_front *front, const struct leat_pair *entry);

#endif
