/* What the files of the tape share. */
#ifndef LEAT_SHM_TAPE_PRIVATE_H
#define LEAT_SHM_TAPE_PRIVATE_H

#include "shm/tape.h"

/* One of `n` that are free, or LEAT_TAPE_NONE. */
uint32_t leat_tape_take_free(struct leat_tape_free *f, uint32_t n);
void leat_tape_give_back(struct leat_tape_free *f, uint32_t i);
/* The first of `n` from `from` on that is not free, or LEAT_TAPE_NONE. */
uint32_t leat_tape_next_taken(const struct leat_tape_free *f, uint32_t from, uint32_t n);

#endif
