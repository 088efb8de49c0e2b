#include "preload/connection/roll_call.h"

#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "shm/roll.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* Set once, before there are threads. */
static struct leat_roll *roll LEAT_FIRST;
static uint32_t step LEAT_FIRST;
static const char *program LEAT_FIRST;
static bool is_loose LEAT_FIRST;
static uint32_t self LEAT_FIRST; /* number of the process; a vfork child has another one */
/* What its number has in front, as when /proc could be seen last: not in each root directory. */
static struct leat_word in_front LEAT_FIRST;

/* A vfork child has this from its parent, and the parent from it: the child has recorded its exec,
 * or of its end. */
static __thread bool has_reported __attribute__((tls_model("initial-exec")));

/* A process of that number, as this one sees it: where numbers mean something else than in the
 * daemon, which takes a call that is seen, the namespace is a part of it. */
static uint64_t key_of(uint32_t pid)
{
	struct stat st;

	if (!leat_session_is_confined())
		return pid;
	if (!raw(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0))
		leat_word_set(&in_front, (uint32_t)st.st_ino == roll->namespace
						 ? 0
						 : (uint64_t)st.st_ino << 32);
	return pid | leat_word_get(&in_front);
}

static uint64_t own_key(void)
{
	return key_of(leat_in_vfork() ? (uint32_t)raw(SYS_getpid) : self);
}

static long open_roll(void)
{
	char path[sizeof(leat_session.socket) + sizeof(LEAT_ROLL_NAME)];
	const char *slash = strrchr(leat_session.socket, '/');
	struct leat_text t = leat_text_in(path, sizeof(path));

	if (!slash)
		return -ENOENT;
	leat_text_add_n(&t, leat_session.socket, (size_t)(slash + 1 - leat_session.socket));
	leat_text_add(&t, LEAT_ROLL_NAME);
	return raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

/* 0, or -errno: it cannot be taken part in. */
static long map(void)
{
	long fd = open_roll(), at;

	if (fd < 0)
		return fd;
	at = raw(SYS_mmap, 0, sizeof(*roll), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	raw(SYS_close, fd);
	if (at < 0 && at > -4096)
		return at;
	roll = (struct leat_roll *)at;
	return 0;
}

/* The daemon is to know that this program is followed. */
static void report_hello(void)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	leat_client_connect(g.t);
	leat_guard_release(&g);
}

void leat_roll_call_begin(uint32_t pid)
{
	long rc = map();

	if (rc) {
		if (leat_user_is_other())
			report_hello();
		else if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM || rc == -EAGAIN)
			leat_lost(leat_lost_cause(rc)); /* it would be taken for unseen */
		return;
	}
	self = pid;
	leat_roll_touch(roll, own_key());
	program = (const char *)leat_auxval(AT_EXECFN);
	program = program ? program : "?";
	is_loose = leat_has_wrappers || leat_has_sanitizer;
	step = leat_roll_follow(roll, own_key(), leat_roll_step(leat_session.step), program,
				is_loose);
}

void leat_roll_call_stray(void)
{
	if (roll && leat_session.is_run)
		leat_roll_stray(roll, own_key());
}

/* Where the roll is shut for this process the daemon enters it. */
static void report_daemon(const char *next)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	leat_channel_becomes(leat_client_channel(g.t), (int32_t)raw(SYS_getpid), next);
	leat_guard_release(&g);
}

void leat_roll_call_exec(const char *next, struct leat_roll_entry *before)
{
	uint64_t key;

	memset(before, 0, sizeof(*before));
	if (!roll) {
		if (next && leat_user_is_other())
			report_daemon(next);
		return;
	}
	/* After a fork that was not seen it is not the one it was. */
	key = key_of((uint32_t)raw(SYS_getpid));
	has_reported = true;
	leat_roll_start(roll, key, step, next ? next : "", leat_now_ns(), before);
	if (!next)
		leat_roll_leave(roll, key);
}

void leat_roll_call_failed(const struct leat_roll_entry *before)
{
	uint64_t key;

	if (!roll) {
		if (leat_user_is_other())
			report_daemon("");
		return;
	}
	has_reported = false;
	key = key_of((uint32_t)raw(SYS_getpid));
	leat_roll_put(roll, key, before);
}

void leat_roll_call_forked(void)
{
	if (!roll)
		return;
	self = (uint32_t)raw(SYS_getpid);
	leat_roll_touch(roll, own_key());
	leat_roll_fork(roll, own_key(), step, program, is_loose);
}

/* A child that has left without a word made a call that was not seen; how it ends tells which. */
void leat_roll_call_vforked(long child)
{
	bool reported = has_reported;

	has_reported = false;
	if (!roll || reported || child <= 0 || leat_user_is_other())
		return;
	leat_roll_follow(roll, key_of((uint32_t)child), step, program, is_loose);
}

void leat_roll_call_exit(void)
{
	has_reported = true;
	if (roll && !leat_in_vfork())
		leat_roll_leave(roll, own_key());
}

/* How a child has ended that the daemon has entered. */
static void report_daemon_of(pid_t pid, int status)
{
	struct leat_guard g;

	if (leat_guard_acquire(&g))
		return;
	/* neither a step nor a program */
	leat_channel_ended(leat_client_channel(g.t), LEAT_MSG_REAPED, pid, status, "", "");
	leat_guard_release(&g);
}

bool leat_roll_call_is_taken(void)
{
	return roll || leat_user_is_other();
}

void leat_roll_call_ended(pid_t pid, int status)
{
	if (!roll)
		report_daemon_of(pid, status);
	else
		leat_roll_ended(roll, key_of((uint32_t)pid), status, leat_now_ns());
}
