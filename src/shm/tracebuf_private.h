/* What the files of the trace buffer share. */
#ifndef LEAT_SHM_TRACEBUF_PRIVATE_H
#define LEAT_SHM_TRACEBUF_PRIVATE_H

#include "shm/tracebuf.h"

/* One of `n` that are free, or LEAT_TRACEBUF_NONE. */
uint32_t leat_tracebuf_take_free(struct leat_tracebuf_free *f, uint32_t n);
void leat_tracebuf_give_back(struct leat_tracebuf_free *f, uint32_t i);
/* The first of `n` from `from` on that is not free, or LEAT_TRACEBUF_NONE. */
uint32_t leat_tracebuf_next_taken(const struct leat_tracebuf_free *f, uint32_t from, uint32_t n);

#endif
