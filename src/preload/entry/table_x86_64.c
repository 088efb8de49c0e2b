#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "preload/engine/calls.h"
#include "preload/engine/stub_x86_64.h"
#include "preload/entry/entry.h"
#include "preload/trace/trace.h"

/* enter_x86_64.S; entered by jump only */
void leat_enter(void);
void leat_enter_traced(void);
void leat_enter_cancellable(void);
void leat_enter_forking(void);
void leat_enter_forked(void);
void leat_enter_vforked(void);
/* engine/every_fd_x86_64.S */
extern const uint8_t leat_every_fd[LEAT_MAX_FD];

const struct leat_stub_table *leat_entry_table(void)
{
	static struct leat_stub_table table LEAT_FIRST;
	uintptr_t thread;
	bool traced = leat_trace_buffer != NULL;

	__asm__("mov %%fs:0,%0" : "=r"(thread));
	table = (struct leat_stub_table){
		.enter = traced ? leat_enter_traced : leat_enter,
		.enter_cancellable = traced ? leat_enter_traced : leat_enter_cancellable,
		.enter_forking = leat_enter_forking,
		.enter_forked = leat_enter_forked,
		.enter_vforked = leat_enter_vforked,
		.fd_kinds = traced ? leat_every_fd : leat_fd_kinds,
		.call_class = leat_call_class,
		.active = traced ? &leat_tracing : &leat_active,
		.vfork_depth = (int64_t)((uintptr_t)&leat_vfork_depth - thread),
	};
	return &table;
}
