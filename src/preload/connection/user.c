#include "preload/connection/user.h"

#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "shm/word.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Out of the way of what programs open. */
#define HIGH 1000

/* Hidden descriptors, by what they are of. That of the store is only for the interpreter
 * of a script in it, which was given its name by way of /proc/self/fd. */
enum { SOCKET, DIRECTORY, STORE, KINDS };
static int held[KINDS] = {-1, -1, -1};

static bool began_as_root LEAT_FIRST;
static struct leat_word changes LEAT_FIRST;
static bool inherited LEAT_FIRST;

/* glibc changes the user of all threads by system calls that cannot be seen, and there are no
 * wrappers for any. */
extern char __libc_single_threaded __attribute__((weak));

static bool is_every_change_seen(void)
{
	return !leat_has_wrappers && &__libc_single_threaded && __libc_single_threaded;
}

/* The variable may be an old one: what is open there must look like what it stands for. */
static bool is_of_kind(int fd, int kind)
{
	long flags = raw(SYS_fcntl, fd, F_GETFL);
	struct stat st;

	if (flags < 0 || raw(SYS_fstat, fd, &st))
		return false;
	if (kind == SOCKET)
		return flags & O_PATH && S_ISSOCK(st.st_mode);
	return (flags & O_PATH || kind == STORE) && S_ISDIR(st.st_mode);
}

/* "12,13,14"; what is not handed over is left out: ",,14" */
void leat_user_inherit(char **envp)
{
	const char *at;

	while (envp && *envp && strncmp(*envp, LEAT_HANDED, sizeof(LEAT_HANDED) - 1) != 0)
		envp++;
	if (!envp || !*envp)
		return;
	at = *envp + sizeof(LEAT_HANDED) - 1;
	for (int kind = 0; kind < KINDS; kind++) {
		int fd = 0;

		if (*at == ',') {
			at++;
			continue;
		}
		if (*at < '0' || *at > '9')
			return;
		for (; *at >= '0' && *at <= '9'; at++)
			fd = fd < LEAT_MAX_FD ? fd * 10 + (*at - '0') : fd;
		at += *at == ',';
		if (!is_of_kind(fd, kind) || leat_fd_hide_here(fd))
			return;
		held[kind] = fd;
		inherited = true;
	}
}

/* In root's run, whoever it is now. */
static bool is_of_root(void)
{
	return began_as_root || held[SOCKET] >= 0;
}

void leat_user_take(void)
{
	static bool tried;
	long fd;

	if (!began_as_root || tried)
		return;
	tried = true;
	fd = raw(SYS_openat, AT_FDCWD, leat_session.socket, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return; /* who looks for the daemon says that there is none */
	held[SOCKET] = leat_fd_hide((int)fd);
	fd = raw(SYS_openat, AT_FDCWD, leat_session.real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		held[DIRECTORY] = leat_fd_hide((int)fd);
}

void leat_user_begin(void)
{
	began_as_root = held[SOCKET] < 0 && leat_auxval(AT_EUID) == 0;
	if (!is_every_change_seen())
		leat_user_take();
}

int leat_user_socket(void)
{
	return held[SOCKET];
}

int leat_user_dir(void)
{
	return held[DIRECTORY];
}

int *leat_user_holder(int fd)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (fd >= 0 && held[kind] == fd)
			return &held[kind];
	return NULL;
}

/* --- who we are --- */

bool leat_user_changed(void)
{
	if (!is_of_root())
		return false;
	leat_word_add(&changes, 1);
	return true;
}

void leat_user_note(struct leat_user_snapshot *snapshot)
{
	if (!is_of_root())
		return;
	*snapshot = (struct leat_user_snapshot){.changes = (uint32_t)leat_word_get(&changes),
						.uid = (uint32_t)raw(SYS_geteuid),
						.gid = (uint32_t)raw(SYS_getegid)};
}

bool leat_user_is_same(const struct leat_user_snapshot *snapshot)
{
	if (!is_of_root())
		return true;
	if (snapshot->changes != (uint32_t)leat_word_get(&changes))
		return false;
	return is_every_change_seen() || (snapshot->uid == (uint32_t)raw(SYS_geteuid) &&
					  snapshot->gid == (uint32_t)raw(SYS_getegid));
}

/* 2 * `changes` when it was found out, + 1 if so, + 2 */
static struct leat_word shut_out;

bool leat_user_is_shut_out(void)
{
	uint64_t now = leat_word_get(&changes), known = leat_word_get(&shut_out);

	if (!is_of_root() || (!now && !inherited))
		return false;
	if (known / 2 != now + 1) {
		bool shut = raw(SYS_faccessat2, AT_FDCWD, leat_session.real, X_OK, AT_EACCESS) ==
			    -EACCES;

		known = 2 * (now + 1) + shut;
		leat_word_set(&shut_out, known);
	}
	return known % 2;
}

bool leat_user_is_other(void)
{
	return is_of_root() && raw(SYS_geteuid) != 0;
}

/* --- the next program --- */

/* The store's directory, open for the next program only; a vfork child's, maybe. */
static __thread int for_exec __attribute__((tls_model("initial-exec"))) = -1;

int leat_user_store_for_exec(int store_fd)
{
	for_exec = (int)raw(SYS_fcntl, store_fd, F_DUPFD, HIGH);
	return for_exec;
}

void leat_user_exec_begin(void)
{
	for_exec = -1;
}

void leat_user_exec_failed(void)
{
	if (for_exec >= 0)
		raw(SYS_close, for_exec);
	for_exec = -1;
}

bool leat_hand_over(char *variable, size_t size)
{
	struct leat_text t = leat_text_in(variable, size);
	int fds[KINDS] = {held[SOCKET], held[DIRECTORY], for_exec};

	if (!leat_user_is_other()) {
		if (for_exec < 0)
			return false;
		fds[SOCKET] = fds[DIRECTORY] = -1;
	}
	leat_text_add(&t, LEAT_HANDED);
	for (int kind = 0; kind < KINDS; kind++) {
		leat_text_add(&t, kind ? "," : "");
		if (fds[kind] < 0)
			continue;
		raw(SYS_fcntl, fds[kind], F_SETFD, 0);
		leat_text_add_number(&t, (unsigned long)fds[kind]);
	}
	return true;
}

/* They are closed by an exec again. */
void leat_hand_over_failed(void)
{
	for (int kind = SOCKET; kind <= DIRECTORY; kind++)
		if (held[kind] >= 0)
			raw(SYS_fcntl, held[kind], F_SETFD, FD_CLOEXEC);
}
