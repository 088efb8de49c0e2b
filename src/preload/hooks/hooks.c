/* The border to the engine: which handler does what. */
#include "preload/hooks/hooks.h"

#include "base/fault.h"
#include "preload/connection/client.h"
#include "preload/connection/handed.h"
#include "preload/connection/lost.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/engine/calls.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/migrate.h"
#include "preload/hooks/handlers.h"
#include "preload/path/paths.h"
#include "shm/limit.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The handlers that come in two halves. */
#define HALVES(X) X(openat) X(newfstatat) X(statx) X(faccessat) X(open) X(access) X(wait4) X(waitid)
#define HALF(name) HALF_##name,
#define SECOND(name) [HALF_##name] = leat_hook_##name##_end,

enum half { WHOLE, HALVES(HALF) };

static leat_second_half *const second_halves[] = {HALVES(SECOND)};

/* What a call's first argument is, if it is a descriptor: hidden ones are not
 * there for the program. */
struct entry {
	union {
		leat_handler *handler;
		leat_first_half *first; /* if there is a second */
	};
	uint8_t second; /* enum half */
	bool fd;
	bool stays; /* the call is about the descriptor, wherever its file is */
	bool moves; /* the result is a number of bytes read or written */
};

#define HOOK_FD(nr, name) {.handler = leat_hook_##name, .fd = true},
#define HOOK_MOVES(nr, name) {.handler = leat_hook_##name, .fd = true, .moves = true},
#define HOOK_NUMBER(nr, name) {.handler = leat_hook_##name, .fd = true, .stays = true},
#define HOOK_ANY(nr, name) {.handler = leat_hook_##name},
#define HOOK_HALVES(nr, name) {.first = leat_hook_##name, .second = HALF_##name},
#define HOOK_PASS(nr, name) {.fd = true},
#define HOOK_NONE(nr, name)

/* Without gaps: each page of it is copied at each start, for its addresses. */
static const struct entry table[] = {
#define ROW(nr, class, how, hook, recorded, trace) HOOK_##how(nr, hook)
#include "preload/engine/calls.def"
};

enum { ENTRIES = sizeof(table) / sizeof(*table) };
_Static_assert(ENTRIES <= UINT8_MAX, "an entry and nothing fit into a byte");

/* Their indices, by the same rows. */
#define INDEX_FD(...) __VA_ARGS__,
#define INDEX_MOVES INDEX_FD
#define INDEX_NUMBER INDEX_FD
#define INDEX_ANY INDEX_FD
#define INDEX_HALVES INDEX_FD
#define INDEX_PASS INDEX_FD
#define INDEX_NONE(...)
enum {
#define ROW(nr, class, how, hook, recorded, trace) INDEX_##how(INDEX_OF_##nr)
#include "preload/engine/calls.def"
};

/* index + 1; 0: none */
static const uint8_t entry_of[LEAT_CALLS] = {
#define ROW(nr, class, how, hook, recorded, trace) INDEX_##how([nr] = INDEX_OF_##nr + 1)
#include "preload/engine/calls.def"
};

/* Does the call ask for what the kernel alone knows of a descriptor? Programs ask so of their
 * standard streams, which they may never use. */
static bool is_of_kernel(const struct leat_syscall *c)
{
	const int what = (int)c->a[1];

	switch (c->nr) {
	case SYS_fcntl:
		return what == F_GETFD || what == F_SETFD || what == F_GETFL || what == F_DUPFD ||
		       what == F_DUPFD_CLOEXEC;
	case SYS_ioctl:
		return what == TCGETS || what == TIOCGWINSZ;
	case SYS_lseek:
		return c->a[1] == 0 && (int)c->a[2] == SEEK_CUR;
	default:
		return false;
	}
}

static inline long begin(struct leat_syscall *c)
{
	const struct entry *entry;

	if ((unsigned long)c->nr >= LEAT_CALLS || !entry_of[c->nr])
		return LEAT_PASS;
	entry = &table[entry_of[c->nr] - 1];
	if (entry->second)
		return entry->first(c);
	if (entry->fd && leat_fd_hidden((int)c->a[0]))
		return -EBADF;
	if (entry->fd && !entry->stays && !(leat_fd_is_unasked((int)c->a[0]) && is_of_kernel(c))) {
		long rc = leat_migrate_first((int)c->a[0]);

		if (rc)
			return rc;
	}
	return entry->handler ? entry->handler(c) : LEAT_PASS;
}

/* The way of a process whose reads and writes are held to a rate. */
static __attribute__((noinline)) long begin_limited(struct leat_syscall *c)
{
	const long nr = c->nr, reported = begin(c);

	if (reported > 0 && table[entry_of[nr] - 1].moves)
		leat_limit_hold(leat_client_limit(), (uint64_t)reported);
	return reported;
}

long leat_hook_begin(struct leat_syscall *c)
{
	if (leat_active == LEAT_ACTIVE)
		return begin(c);
	return leat_active ? begin_limited(c) : LEAT_PASS;
}

long leat_hook_end(struct leat_syscall *c, long result)
{
	return second_halves[table[entry_of[c->nr] - 1].second](c, result);
}

void leat_fork_child(void)
{
	leat_roll_call_forked();
	leat_client_fork_child();
	leat_fd_fork_child();
}

void leat_vfork_parent(long child)
{
	leat_roll_call_vforked(child);
}

/* Once: the programs that it starts have names of their own. */
static void take_name(char **envp)
{
	while (*envp && strncmp(*envp, LEAT_CALLED, strlen(LEAT_CALLED)) != 0)
		envp++;
	if (!*envp)
		return;
	raw(SYS_prctl, PR_SET_NAME, *envp + strlen(LEAT_CALLED));
	for (; *envp; envp++)
		envp[0] = envp[1];
}

void leat_hooks_init(char **envp)
{
	uint32_t pid;

	take_name(envp);
	if (!leat_session_find(envp))
		return;
	leat_client_init(leat_fd_fork_child);
	LEAT_FAULT_SIDE(envp, leat_session.step);
	/* What it has by other names, or inherited, it would use unseen. */
	if (!leat_session_is_there())
		leat_lost_end(LEAT_LOST_RENAMED);
	pid = (uint32_t)raw(SYS_getpid);
	if (leat_handed_find(envp, pid))
		leat_client_note_known(pid);
	if (leat_environment_get(envp, "LEAT_CONFINED"))
		leat_client_confine();
	leat_path_init();
	leat_fd_adopt_all(envp, pid);
	leat_roll_call_begin(pid);
	if (leat_lost_any())
		leat_lost_end(LEAT_LOST_BROKEN);
	leat_active = leat_limit_is_set(leat_client_limit()) ? LEAT_ACTIVE_LIMITED : LEAT_ACTIVE;
}
