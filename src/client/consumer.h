/* When a consumer may read, and what it goes by. Any thread; async-signal-safe if the functions of
 * the awaiter are. */
#ifndef LEAT_CLIENT_CONSUMER_H
#define LEAT_CLIENT_CONSUMER_H

#include "client/await.h"
#include "shm/extents.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Wait until any of [offset, offset + length) of file `slot` can be read, or the file is final:
 * enum leat_shm_look, or -errno. If then a->asked, the daemon has to learn (ASK_READ) that the wait
 * is over.
 */
int leat_consumer_await(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t slot,
			uint64_t offset, uint64_t length);

/* 1: the file is all there; 0: not yet; -EIO: it failed. NULL: nobody writes it. */
int leat_consumer_is_whole(struct leat_shm_file *f);

/* A consumer that has asked for what only the size `seen` can have told closes file `slot`, read up
 * to `read_end`. Is that to be reported? Then *report is the message. */
bool leat_consumer_trusted_early_size(struct leat_shm_file *f, uint32_t slot, uint64_t seen,
				      uint64_t read_end, struct leat_msg_early_size *report);

#endif
