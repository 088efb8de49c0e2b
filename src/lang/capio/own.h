/* leat's own keys of a step in CAPIO-CL. */
#ifndef LEAT_LANG_CAPIO_OWN_H
#define LEAT_LANG_CAPIO_OWN_H

#include "lang/resources/needs.h"

enum leat_own_key {
	LEAT_OWN_TASK,
	LEAT_OWN_INSTANCE,
	LEAT_OWN_ENSEMBLE,
	LEAT_OWN_DIR,
	LEAT_OWN_NPROCS,
	LEAT_OWN_NWRITERS,
	LEAT_OWN_ACTIONS,
	LEAT_OWN_PRIVATE,
	LEAT_OWN_RELAUNCH,
	LEAT_OWN_CONTAINER,
	LEAT_OWN_ENGINE,
	LEAT_OWN_DSETS,
	LEAT_OWN_INPORTS,
	LEAT_OWN_NEEDS, /* and on: enum leat_need_key */
	LEAT_N_OWN = LEAT_OWN_NEEDS + LEAT_N_NEEDS
};

/* These keys of step `step` (`own`, by enum leat_own_key) but for `inports`. 0 or -ENOMEM. */
int leat_read_own(struct leat_front *front, size_t step, const struct leat_pair *own);

/* `inports`, when all steps and their streams are known. 0 or -ENOMEM. */
int leat_read_own_inports(struct leat_front *front, size_t step, const struct leat_pair *entry);

#endif
