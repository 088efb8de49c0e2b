/* Writing the stubs that patched sites jump to. */
#ifndef LEAT_PRELOAD_ENGINE_STUB_X86_64_H
#define LEAT_PRELOAD_ENGINE_STUB_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/engine/scan_x86_64.h"

/* What the stubs know of their process. It lies before them, and they refer to nothing else but the
 * text they belong to: the same stubs serve many processes. */
struct leat_stub_table {
	void (*enter)(void);
	void (*enter_cancellable)(void);
	void (*enter_forking)(void);
	void (*enter_forked)(void);
	void (*enter_vforked)(void);
	const uint8_t *fd_kinds;
	const uint8_t *call_class;
	const uint8_t *active;
	int64_t vfork_depth; /* from the thread pointer; the same for all threads */
};

/* An area of stubs: the table in the first page, the code in the others. */
#define LEAT_STUB_PAGE 4096
#define LEAT_STUB_AREA (8 * LEAT_STUB_PAGE)

/* Where all stubs lead; stays the caller's. Before any is written. */
void leat_stub_lead_to(const struct leat_stub_table *table);
/* The table of an area, which is to lead there. */
void leat_stub_fill(struct leat_stub_table *table);

/* Where code is being written. `failed` sticks: no space, or a jump too far. */
struct leat_stub_code {
	uint8_t *at;
	uint8_t *end;
	bool failed;
	const struct leat_stub_table *table;
};

/* Write the stub of `site`; returns its address, to be the target of the jump. */
uint8_t *leat_stub_write(struct leat_stub_code *code, const struct leat_patch_site *site);

/* Make `jump` the jump from `from` to `to`; false if they are too far apart. */
bool leat_stub_jump(uint8_t jump[LEAT_JUMP_SIZE], const uint8_t *from, const uint8_t *to);

#endif
