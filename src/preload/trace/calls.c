/* Which calls are recorded, and how a recorded call goes. */
#include "preload/trace/calls.h"

#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/engine/calls.h"
#include "preload/exec/exec.h"
#include "preload/hooks/hooks.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <sched.h>

struct traced_call {
	leat_trace_begin_of *begin;
	leat_trace_end_of *end;
	uint16_t number;
};

#define TRACE_CALL(nr, name) TRACE_ROW(nr, leat_trace_##name##_begin, leat_trace_##name##_end)
#define TRACE_DATA(nr, name) TRACE_ROW(nr, leat_trace_data_begin, leat_trace_##name##_end)
#define TRACE_COPY(nr, name) TRACE_ROW(nr, leat_trace_##name##_begin, leat_trace_dup_end)
#define TRACE_BEGIN(nr, name) TRACE_ROW(nr, leat_trace_##name##_begin, NULL)
#define TRACE_NONE(nr, name)
#define TRACE_ROW(nr, before, after) {.begin = (before), .end = (after), .number = (nr)},

/* Without gaps: each page of it is copied at each start, for its addresses. */
static const struct traced_call table[] = {
#define ROW(nr, class, how, hook, recorded, trace) TRACE_##recorded(nr, trace)
#include "preload/engine/calls.def"
};

static uint8_t row_of[LEAT_CALLS]; /* index + 1; 0: none */

void leat_trace_calls_start(void)
{
	_Static_assert(sizeof(table) / sizeof(*table) <= UINT8_MAX, "index + 1 fits into a byte");
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		row_of[table[i].number] = (uint8_t)(i + 1);
	leat_tracing = 1;
}

/* In a traced process all descriptors come here; the hooks want theirs only. */
static bool is_for_hooks(const struct leat_syscall *c)
{
	static const uint8_t argument[] = {0, 1, 2, 4}; /* of LEAT_CALL_FD1 and so on */
	unsigned class = (unsigned long)c->nr < LEAT_CALLS ? leat_call_class[c->nr] : 0;

	if (!leat_active)
		return false;
	for (unsigned i = 0; i < sizeof(argument); i++) {
		unsigned fd = (unsigned)c->a[argument[i]];

		if (class & 1u << i && fd < LEAT_MAX_FD && leat_fd_kinds[fd])
			return true;
	}
	return (class & (LEAT_CALL_FD1 | LEAT_CALL_FD2 | LEAT_CALL_FD3 | LEAT_CALL_FD5)) == 0;
}

static long ask_hooks(struct leat_syscall *c)
{
	return is_for_hooks(c) ? leat_hook_begin(c) : LEAT_PASS;
}

/* --- calls about processes: recorded before they are made --- */

static uint64_t clone_flags(const struct leat_syscall *c)
{
	if (c->nr == SYS_clone3)
		return *(const uint64_t *)c->a[0];
#ifdef SYS_vfork
	if (c->nr == SYS_vfork)
		return CLONE_VM | CLONE_VFORK;
#endif
	return (uint64_t)c->a[0];
}

static long start_program(struct leat_traced *t)
{
	const struct leat_syscall *c = &t->call;
	bool at = c->nr == SYS_execveat;
	int dirfd = at ? (int)c->a[0] : AT_FDCWD;
	const long *a = at ? c->a + 1 : c->a;
	long rc;

	leat_trace_exec_begin(dirfd, (const char *)a[0]);
	if (leat_active)
		rc = leat_hook_begin(&t->call);
	else
		rc = leat_exec(dirfd, (const char *)a[0], (char *const *)a[1], (char *const *)a[2],
			       at ? (int)c->a[4] : 0);
	leat_trace_exec_failed();
	return rc;
}

/* Where `t` is a call of its own kind: *said is what begin is to return. */
static bool is_about_processes(struct leat_traced *t, long *reported)
{
	switch (t->call.nr) {
	case SYS_clone:
	case SYS_clone3:
#ifdef SYS_vfork
	case SYS_vfork:
#endif
		if (clone_flags(&t->call) & CLONE_VFORK)
			leat_trace_child_comes(true);
		*reported = ask_hooks(&t->call);
		return true;
	case SYS_execve:
	case SYS_execveat:
		*reported = start_program(t);
		return true;
	case SYS_exit_group:
		leat_trace_exiting((int)t->call.a[0]);
		*reported = ask_hooks(&t->call);
		return true;
	case SYS_io_uring_setup:
	case SYS_io_uring_enter:
	case SYS_io_setup:
		*reported = ask_hooks(&t->call); /* a workflow's programs have neither */
		if (*reported == LEAT_PASS)
			leat_trace_ring(&t->call);
		return true;
	default:
		return false;
	}
}

long leat_trace_begin(struct leat_traced *t)
{
	unsigned long nr = (unsigned long)t->call.nr;
	const struct traced_call *how;
	long reported;

	t->recorded = false;
	if (!leat_tracing)
		return LEAT_PASS;
	how = nr < LEAT_CALLS && row_of[nr] ? &table[row_of[nr] - 1] : NULL;
	if (!how || leat_trace_me()->process == LEAT_TRACEBUF_NONE) {
		if (is_about_processes(t, &reported))
			return reported;
		return t->reported = ask_hooks(&t->call);
	}
	if (!how->begin(t))
		return t->reported = ask_hooks(&t->call);
	t->recorded = true;
	leat_trace_stamp(t);
	t->reported = ask_hooks(&t->call);
	if (t->reported <= LEAT_TRY_LINK)
		return LEAT_TRY;
	how->end(t, t->reported);
	return t->reported;
}

long leat_trace_end(struct leat_traced *t, long result)
{
	if (t->reported == LEAT_TRY || t->reported == LEAT_TRY_LINK ||
	    (t->reported == LEAT_TRY_ERROR && result < 0))
		result = leat_hook_end(&t->call, result);
	if (t->recorded)
		table[row_of[t->call.nr] - 1].end(t, result);
	return result;
}
