/* The session of this process, from its environment. */
#include "preload/connection/lost.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/log.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "wire/wire.h"

#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* Of a step or a workflow, with the 0. */
#define MAX_NAME 256

static const char *value_of(char **envp, const char *name)
{
	size_t length = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

/* A text that stays; NULL without memory. */
static char *copy(const char *text)
{
	size_t size = strlen(text) + 1;
	long at =
		raw(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	memcpy((char *)at, text, size);
	return (char *)at;
}

/* CAPIO's spelling is taken where leat's is missing. A text that stays as it is, mostly the one
 * that was kept already: programs write over their environment. "" for none, NULL without
 * memory. */
static const char *keep(char **envp, const char *leat_name, const char *capio_name)
{
	const char *value = value_of(envp, leat_name), *name = leat_name, *kept;

	if (capio_name && !(value && *value)) {
		name = capio_name;
		value = value_of(envp, name);
	}
	if (!value)
		return "";
	kept = leat_environment_kept(name);
	return kept && strcmp(kept, value) == 0 ? kept : copy(value);
}

/* `path` without slashes at its end; NULL without memory. */
static const char *without_slashes(const char *path, size_t *length)
{
	size_t n = strlen(path);
	char *cut;

	*length = n;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n == *length)
		return path;
	cut = copy(path);
	if (cut)
		cut[n] = 0;
	*length = n;
	return cut;
}

static long find_name(const char *dir, char *out, size_t size)
{
	long n, fd = leat_user_dir();

	if (fd >= 0)
		return leat_fd_name((int)fd, out, size);
	fd = raw(SYS_openat, AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	n = leat_fd_name((int)fd, out, size);
	raw(SYS_close, fd);
	return n;
}

static bool find_socket(char **envp, const char *dir)
{
	struct leat_preload_session *s = &leat_session;

	return !leat_wire_session_path(value_of(envp, "LEAT_RUNTIME_DIR"),
				       (unsigned)leat_auxval(AT_EUID), dir, s->socket,
				       sizeof(s->socket));
}

/* Is `dir` spelt as who started the run found it to be? The name of the session's directory tells,
 * where LEAT_SITES lies: it is made of the real path. The socket is found then. */
static bool is_real(char **envp, const char *dir)
{
	const char *sites = value_of(envp, "LEAT_SITES");
	const struct leat_preload_session *s = &leat_session;

	return sites && dir[0] == '/' && find_socket(envp, dir) &&
	       strncmp(sites, s->socket, (size_t)(strrchr(s->socket, '/') + 1 - s->socket)) == 0;
}

static uint64_t read_number(const char **at)
{
	uint64_t n = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		n = n * 10 + (uint64_t)(**at - '0');
	return n;
}

/* Of who started the run: "<device>:<inode>". */
static void find_identity(char **envp)
{
	const char *at = value_of(envp, "LEAT_DIR_ID");
	struct leat_preload_session *s = &leat_session;

	s->is_run = at && *at;
	if (!s->is_run)
		return;
	s->dev = read_number(&at);
	s->ino = *at == ':' ? (at++, read_number(&at)) : 0;
}

bool leat_session_is_there(void)
{
	const struct leat_preload_session *s = &leat_session;
	struct stat st;
	long rc;

	if (!s->ino)
		return true;
	if (leat_user_dir() >= 0)
		rc = raw(SYS_fstat, leat_user_dir(), &st);
	else
		rc = raw(SYS_newfstatat, AT_FDCWD, s->real, &st, 0);
	if (rc)
		return rc != -ENOENT && rc != -ENOTDIR;
	return st.st_dev == s->dev && st.st_ino == s->ino;
}

bool leat_session_in_sight(void)
{
	struct stat st;

	if (!leat_session.is_run || leat_user_is_other())
		return true;
	return leat_session_is_there() &&
	       raw(SYS_newfstatat, AT_FDCWD, leat_session.socket, &st, 0) != -ENOENT;
}

static bool resolve_dir(const char *dir, bool is_known)
{
	struct leat_preload_session *s = &leat_session;
	static char found[PATH_MAX]; /* mostly not touched */

	/* A directory that is not there has no daemon either: calls below its name
	 * will say so. */
	s->real = dir;
	if (!is_known && find_name(dir, found, sizeof(found)) >= 0)
		s->real = found;
	if (s->real[0] != '/' || strlen(s->real) >= PATH_MAX || strlen(dir) >= PATH_MAX)
		return false;
	s->given = dir[0] == '/' ? dir : s->real;
	s->real = without_slashes(s->real, &s->real_length);
	s->given = without_slashes(s->given, &s->given_length);
	if (!s->real || !s->given)
		return false;
	s->same_spelling = strcmp(s->real, s->given) == 0;
	s->base = strrchr(s->real, '/') + 1;
	return true;
}

static bool name_socket(char **envp)
{
	struct leat_preload_session *s = &leat_session;

	if (leat_user_socket() >= 0)
		return leat_fd_name(leat_user_socket(), s->socket, sizeof(s->socket)) > 0;
	return find_socket(envp, s->real);
}

bool leat_session_find(char **envp)
{
	struct leat_preload_session *s = &leat_session;
	const char *dir = keep(envp, "LEAT_DIR", "CAPIO_DIR");
	bool is_known;

	if (dir && !*dir)
		return false;
	s->step = keep(envp, "LEAT_APP_NAME", "CAPIO_APP_NAME");
	s->workflow = keep(envp, "LEAT_WORKFLOW_NAME", "CAPIO_WORKFLOW_NAME");
	s->key = keep(envp, "LEAT_KEY", NULL);
	if (!dir || !s->step || !s->workflow || !s->key)
		leat_lost_end(LEAT_LOST_MEMORY);
	leat_user_inherit(envp);
	is_known = is_real(envp, dir);
	if (!resolve_dir(dir, is_known)) {
		leat_log_line("LEAT_DIR=", dir, " is no directory: this program runs without leat",
			      NULL);
		return false;
	}
	if (strlen(s->step) >= MAX_NAME || strlen(s->workflow) >= MAX_NAME ||
	    strlen(s->key) >= MAX_NAME) {
		leat_log_line("LEAT_APP_NAME, LEAT_WORKFLOW_NAME or LEAT_KEY is too long", NULL);
		return false;
	}
	if (!is_known && !name_socket(envp)) {
		leat_log_line("LEAT_RUNTIME_DIR is too long for a socket's path", NULL);
		return false;
	}
	find_identity(envp);
	leat_user_begin();
	return true;
}
