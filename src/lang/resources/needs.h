/* What a step says of the machine it needs. */
#ifndef LEAT_LANG_RESOURCES_NEEDS_H
#define LEAT_LANG_RESOURCES_NEEDS_H

#include "lang/reader/front.h"

enum leat_need_key {
	LEAT_NEED_UNITS,
	LEAT_NEED_IO,
	LEAT_NEED_BANDWIDTH,
	LEAT_NEED_DEVICE,
	LEAT_NEED_LIMIT,
	LEAT_N_NEEDS
};

/* These keys (`slots`, by enum leat_need_key) of a step. 0 or -ENOMEM. */
int leat_read_needs(struct leat_front *front, const struct leat_pair *slots,
		    struct leat_step *step);

/* A bandwidth into *bandwidth; untouched when reported. */
void leat_read_bandwidth(struct leat_front *front, const struct leat_pair *entry,
			 struct leat_bandwidth *bandwidth);

/* `resources` of a workflow, if it is there. 0 or -ENOMEM. */
int leat_read_workflow_resources(struct leat_front *front, const struct leat_pair *entry);

#endif
