/* The functions that are called around a fork. */
#include "preload/core/process.h"
#include "preload/entry/entry.h"
#include "preload/hooks/hooks.h"
#include "preload/trace/trace.h"
#include "shm/word.h"

void leat_engine_forking(long nr)
{
	if (nr >= 0)
		leat_word_add(&leat_forks, 1);
	leat_trace_forking(nr);
}

void leat_engine_vforked(long child)
{
	leat_vfork_parent(child);
}

void leat_engine_forked(void)
{
	leat_vfork_depth = 0; /* a fork inside a vfork child has memory of its own */
	leat_trace_forked();
	leat_fork_child();
}
