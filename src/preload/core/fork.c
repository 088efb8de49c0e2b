/* What becomes of the engine's state when a process is made. */
#include "preload/core/engine.h"
#include "preload/core/intercept.h"

_Thread_local int leat_vfork_depth __attribute__((tls_model("initial-exec")));

_Thread_local const uint32_t *leat_cancel_word __attribute__((tls_model("initial-exec")));

struct leat_word leat_forks;

bool leat_in_vfork(void)
{
	return leat_vfork_depth > 0;
}

void leat_engine_forking(long nr)
{
	if (nr >= 0)
		leat_word_add(&leat_forks, 1);
	leat_trace_forking(nr);
}

void leat_engine_forked(void)
{
	leat_vfork_depth = 0; /* a fork inside a vfork child has memory of its own */
	leat_trace_forked();
	leat_fork_child();
}
