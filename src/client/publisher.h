/* When a producer's bytes are visible, and what it may not change any more. Any thread;
 * async-signal-safe. */
#ifndef LEAT_CLIENT_PUBLISHER_H
#define LEAT_CLIENT_PUBLISHER_H

#include "shm/state.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* [start, end) of file `slot` is written: consumers may read it. True: *extent is to be sent to the
 * daemon. */
bool leat_publisher_publish(struct leat_shm_file *f, uint32_t slot, uint64_t start, uint64_t end,
			    struct leat_msg_range *extent);

/* What the change of the length from `size` to `length` violates: enum leat_violation, 0: nothing.
 */
uint32_t leat_publisher_check_length(struct leat_shm_file *f, uint64_t length, uint64_t size);

/* Does the kind of a descriptor say that it may write a file of the workflow? */
static inline bool leat_publisher_may_write(uint32_t kind)
{
	return kind == LEAT_KIND_PRODUCER || kind == LEAT_KIND_PUBLISHER;
}

#endif
