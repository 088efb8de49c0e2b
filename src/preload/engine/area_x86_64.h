/* Areas of stubs, and the protection of memory around writing them. */
#ifndef LEAT_PRELOAD_ENGINE_AREA_X86_64_H
#define LEAT_PRELOAD_ENGINE_AREA_X86_64_H

#include "preload/engine/code_x86_64.h"
#include "preload/engine/stub_x86_64.h"

/* 0 or -errno. */
int leat_area_protect(const void *start, size_t size, int protection);

/* Text stays executable while it is written, other code of it may be running. */
int leat_area_unseal(const struct leat_code *code);
/* Read and execute only again. Cannot fail: the kernel only merges what it split before. */
void leat_area_seal(const struct leat_code *code);

/* A new area near enough to the code for jumps; NULL: there is no space. */
uint8_t *leat_area_find(const struct leat_code *code);

/* Begin to write stubs; 0 or -errno. */
int leat_area_open(uint8_t *area, struct leat_stub_code *stubs);
/* They may run now. 0 or -errno; -ERANGE if one could not be written. */
int leat_area_close(uint8_t *area, const struct leat_stub_code *stubs);

#endif
