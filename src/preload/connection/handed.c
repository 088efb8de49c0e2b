#include "preload/connection/handed.h"

#include "base/fault.h"
#include "base/hash.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_TEXTS 160

/* What was handed on, until a thread takes it. */
static struct {
	struct leat_word state; /* NONE, or that it is there; who swaps NONE in has it */
	uint32_t pid;
	int conn;
	struct leat_user_snapshot user; /* as whom it was made: who this process was at its start */
	struct leat_server_told told;
	char texts[MAX_TEXTS]; /* of `told` */
} handed LEAT_FIRST;
enum { NONE, HANDED };

/* Of which session and step this process is: another one's connection is of no use. */
static uint64_t identity(void)
{
	const struct leat_preload_session *s = &leat_session;
	const char *const parts[] = {s->socket, s->real, s->step, s->workflow, s->key};
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = leat_hash(parts[i], strlen(parts[i]), hash);
	return hash;
}

/* ---- telling ---- */

/* "<process>,<identity>,<connection>,<store>,<directory>,<segment>,<step>,<device>,<length of the
 * mount's name>,<that name><the other name>" */
static bool describe(char *variable, size_t size, uint32_t pid, int conn,
		     const struct leat_server_told *told)
{
	const size_t length = strlen(told->mount);
	const uint64_t numbers[] = {pid,
				    identity(),
				    (uint64_t)conn,
				    (uint64_t)told->fds[LEAT_TOLD_STORE],
				    (uint64_t)told->fds[LEAT_TOLD_DIR],
				    (uint64_t)told->fds[LEAT_TOLD_SHM],
				    (uint64_t)told->step,
				    told->store_dev,
				    length};
	struct leat_text t = leat_text_in(variable, size);

	if (length + strlen(told->exec_prefix) + 2 > MAX_TEXTS)
		return false;
	leat_text_add(&t, LEAT_CONNECTION);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		leat_text_add_number(&t, numbers[i]);
		leat_text_add(&t, ",");
	}
	leat_text_add(&t, told->mount);
	leat_text_add(&t, told->exec_prefix);
	return !t.full;
}

/* What the thread hands on at the moment; conn 0: nothing. */
static __thread struct {
	int conn;
	int fds[LEAT_TOLD_FDS];
} open_for_next __attribute__((tls_model("initial-exec")));

static void leave_open(int conn, const struct leat_server_told *told)
{
	open_for_next.conn = conn;
	memcpy(open_for_next.fds, told->fds, sizeof(told->fds));
	raw(SYS_fcntl, conn, F_SETFD, 0);
	for (int i = 0; i < LEAT_TOLD_FDS; i++)
		raw(SYS_fcntl, told->fds[i], F_SETFD, 0);
}

void leat_handed_failed(void)
{
	if (!open_for_next.conn)
		return;
	raw(SYS_fcntl, open_for_next.conn, F_SETFD, FD_CLOEXEC);
	for (int i = 0; i < LEAT_TOLD_FDS; i++)
		raw(SYS_fcntl, open_for_next.fds[i], F_SETFD, FD_CLOEXEC);
	open_for_next.conn = 0;
}

/* A description that it has just opened counts as open until its connection says more. */
static void went_on(struct leat_thread *t)
{
	const struct leat_msg_opened opened = {.h.type = LEAT_MSG_OPENED};

	if (t->opens)
		leat_channel_report(leat_client_channel(t), &opened.h);
}

/* This thread's own, which it goes on using if there is no next program. */
static bool hand_own(char *variable, size_t size, struct leat_thread *t, uint32_t pid)
{
	const struct leat_server_info *w = leat_server_known();
	struct leat_server_told told;

	if (!w || w->of_program || t->conn < 0 || t->pid != pid || !leat_user_is_same(&t->user))
		return false;
	told = (struct leat_server_told){.fds = {w->store_fd, w->dir_fd, w->shm_fd},
					 .step = w->step,
					 .store_dev = w->store_dev,
					 .mount = w->mount,
					 .exec_prefix = w->exec_prefix};
	if (!describe(variable, size, pid, t->conn, &told))
		return false;
	went_on(t);
	if (t->conn < 0)
		return false;
	leave_open(t->conn, &told);
	return true;
}

/* No connection: only how the store is called. */
static bool hand_name(char *variable, size_t size, uint32_t pid)
{
	const struct leat_server_info *w = leat_server_known();
	const struct leat_server_told told = {
		.fds = {-1, -1, -1}, .mount = w ? w->mount : handed.texts, .exec_prefix = ""};

	return *told.mount && describe(variable, size, pid, -1, &told);
}

bool leat_handed_over(char *variable, size_t size)
{
	struct leat_thread *t = leat_client_self();
	uint32_t pid = (uint32_t)raw(SYS_getpid);
	struct leat_guard g;
	bool is_handed;

	if (leat_in_vfork() || leat_session_is_confined() || leat_user_is_other())
		return hand_name(variable, size, pid);
	if (leat_word_get(&handed.state) == HANDED && handed.pid == pid &&
	    leat_user_is_same(&handed.user)) {
		if (!describe(variable, size, pid, handed.conn, &handed.told))
			return false;
		leave_open(handed.conn, &handed.told);
		return true;
	}
	if (!t || t->conn < 0 || leat_guard_acquire(&g))
		return hand_name(variable, size, pid);
	is_handed = hand_own(variable, size, g.t, pid);
	leat_guard_release(&g);
	return is_handed || hand_name(variable, size, pid);
}

/* ---- being told ---- */

/* A number and the comma behind it. */
static bool take_number(const char **at, uint64_t *number)
{
	const char *begin = *at;

	*number = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		*number = *number * 10 + (uint64_t)(**at - '0');
	return *at != begin && *(*at)++ == ',';
}

static bool parse(const char *at, uint32_t pid)
{
	enum { PID, IDENTITY, CONN, STORE, DIR, SHM, STEP, DEVICE, LENGTH, NUMBERS };
	uint64_t n[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		if (!take_number(&at, &n[i]))
			return false;
	if (n[PID] != pid || n[LENGTH] > strlen(at) || strlen(at) + 2 > MAX_TEXTS)
		return false;
	handed.pid = pid;
	handed.conn = (int)n[CONN];
	handed.told = (struct leat_server_told){.fds = {(int)n[STORE], (int)n[DIR], (int)n[SHM]},
						.step = (int32_t)n[STEP],
						.store_dev = n[DEVICE],
						.mount = handed.texts,
						.exec_prefix = handed.texts + n[LENGTH] + 1};
	memcpy(handed.texts, at, n[LENGTH]);
	handed.texts[n[LENGTH]] = 0;
	memcpy(handed.texts + n[LENGTH] + 1, at + n[LENGTH], strlen(at + n[LENGTH]) + 1);
	return n[IDENTITY] == identity();
}

static void close_hidden(int fd)
{
	if (leat_fd_hidden(fd))
		leat_fd_unhide(fd);
}

static void close_all(void)
{
	close_hidden(handed.conn);
	for (int i = 0; i < LEAT_TOLD_FDS; i++)
		close_hidden(handed.told.fds[i]);
}

/* All of them, or none is kept. Another thread's exec may have failed, and closed them. */
static bool hide_all(void)
{
	bool all = leat_fd_hide_here(handed.conn) == 0;

	for (int i = 0; i < LEAT_TOLD_FDS; i++)
		all = leat_fd_hide_here(handed.told.fds[i]) == 0 && all;
	if (!all)
		close_all();
	return all;
}

bool leat_handed_find(char **envp, uint32_t pid)
{
	char *text = (char *)(uintptr_t)leat_environment_get(envp, "LEAT_CONNECTION");
	bool is_ours = text && parse(text, pid);

	if (!text)
		return false;
	*text = 0; /* a program without this library hands its environment on as it got it */
	if (!is_ours)
		handed.texts[0] = 0;
	if (handed.pid != pid || handed.conn < 0 || !hide_all())
		return false;
	leat_user_note(&handed.user);
	if (is_ours)
		leat_word_set(&handed.state, HANDED);
	else
		close_all();
	return is_ours;
}

bool leat_handed_take(struct leat_thread *t)
{
	if (leat_word_get(&handed.state) != HANDED || handed.pid != (uint32_t)raw(SYS_getpid) ||
	    leat_word_swap(&handed.state, NONE) != HANDED)
		return false;
	/* The daemon acts for whom it was told when the connection was made. */
	if (!leat_user_is_same(&handed.user) ||
	    (!leat_server_known() && leat_client_share_server(t, &handed.told))) {
		close_all();
		return false;
	}
	t->user = handed.user;
	t->conn = handed.conn;
	return true;
}

bool leat_handed_exiting(uint32_t pid, int status)
{
	char space[sizeof(struct leat_msg_step) + 512];
	struct leat_msg_step *m;
	long rc;

	if (leat_word_get(&handed.state) != HANDED || handed.pid != pid)
		return false;
	m = leat_wire_begin(space, LEAT_MSG_EXITING, sizeof(*m));
	m->pid = (int32_t)pid;
	m->status = status;
	if (leat_wire_put(m, leat_session.step) || leat_wire_put(m, ""))
		return false;
	LEAT_FAULT_MESSAGE("send", m->h.type);
	rc = raw(SYS_sendto, handed.conn, m, m->h.size, MSG_NOSIGNAL);
	LEAT_FAULT_MESSAGE("sent", m->h.type);
	/* A daemon that is gone is no concern of a program that has nothing to do with it. */
	return rc == (long)m->h.size || rc == -EPIPE || rc == -ECONNRESET;
}

void leat_handed_forget(void)
{
	leat_word_set(&handed.state, NONE);
}

const char *leat_handed_store(void)
{
	const struct leat_server_info *w = leat_server_known();
	const char *name = w ? w->mount : handed.texts;

	return *name ? name : NULL;
}

int *leat_handed_holder(int fd)
{
	if (fd < 0 || leat_word_get(&handed.state) != HANDED)
		return NULL;
	for (int i = 0; i < LEAT_TOLD_FDS; i++)
		if (handed.told.fds[i] == fd)
			return &handed.told.fds[i];
	return handed.conn == fd ? &handed.conn : NULL;
}
