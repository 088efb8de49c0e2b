/* CAPIO-CL in JSON, as published in 2023 and in 2025. */
#ifndef LEAT_LANG_CAPIO_CAPIO_H
#define LEAT_LANG_CAPIO_CAPIO_H

#include "lang/reader/front.h"

/* Read the tree of a file into front->wf. 0 or -ENOMEM. */
int leat_capio_read(struct leat_front *front, const struct leat_value *root);

#endif
