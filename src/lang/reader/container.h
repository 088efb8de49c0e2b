/* What tasks run in: the keys `container` and `engine`. */
#ifndef LEAT_LANG_READER_CONTAINER_H
#define LEAT_LANG_READER_CONTAINER_H

#include "lang/reader/front.h"

/* Of a step, or of all that say nothing else. */
struct leat_container_keys {
	const char *image; /* borrowed from the tree; NULL: none */
	enum leat_engine engine;
	struct leat_pos image_pos, engine_pos;
};

/* `container` and `engine`, each of which may be absent and then leaves *container as it is. 0 or
 * -ENOMEM. */
int leat_read_container(struct leat_front *front, const struct leat_pair *image,
			const struct leat_pair *engine, struct leat_container_keys *container);

/* Let the step, whose own key `engine` may be, run in it. 0 or -ENOMEM. */
int leat_set_container(struct leat_front *front, const struct leat_pair *engine,
		       const struct leat_container_keys *container, struct leat_step *step);

#endif
