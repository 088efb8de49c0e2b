/* Writing the stubs that patched sites jump to. */
#ifndef LEAT_PRELOAD_STUB_X86_64_H
#define LEAT_PRELOAD_STUB_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/scan_x86_64.h"

/* Where code is being written. `failed` sticks: no room, or a jump too far. */
struct leat_code {
	uint8_t *at;
	uint8_t *end;
	bool failed;
};

/* Write the stub of `site`; returns its address, to be the target of the jump. */
uint8_t *leat_stub_write(struct leat_code *code, const struct leat_patch_site *site);

/* Make `jump` the jump from `from` to `to`; false if they are too far apart. */
bool leat_stub_jump(uint8_t jump[LEAT_JUMP_SIZE], const uint8_t *from, const uint8_t *to);

#endif
