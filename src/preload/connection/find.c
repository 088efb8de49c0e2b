/* The session of this process, from its environment. */
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/log.h"
#include "preload/core/text.h"
#include "wire/wire.h"

#include <string.h>

static const char *value_of(char **envp, const char *name)
{
	size_t length = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

/* CAPIO's spelling is taken where leat's is missing. */
static const char *either(char **envp, const char *leat_name, const char *capio_name)
{
	const char *value = value_of(envp, leat_name);

	return value && *value ? value : value_of(envp, capio_name);
}

static bool keep(char *out, size_t size, const char *text)
{
	struct leat_text t = leat_text_in(out, size);

	leat_text_add(&t, text ? text : "");
	return !t.full;
}

static size_t without_slashes(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = 0;
	return length;
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
				       (unsigned)raw(SYS_geteuid), dir, s->socket,
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

	/* A directory that is not there has no daemon either: calls below its name
	 * will say so. */
	if ((is_known || find_name(dir, s->real, sizeof(s->real)) < 0) &&
	    (dir[0] != '/' || !keep(s->real, sizeof(s->real), dir)))
		return false;
	if (!keep(s->given, sizeof(s->given), dir[0] == '/' ? dir : s->real))
		return false;
	s->real_length = without_slashes(s->real);
	s->given_length = without_slashes(s->given);
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
	const char *dir = either(envp, "LEAT_DIR", "CAPIO_DIR");
	bool is_known;

	if (!dir || !*dir)
		return false;
	leat_user_inherit(envp);
	is_known = is_real(envp, dir);
	if (!resolve_dir(dir, is_known)) {
		leat_log_line("LEAT_DIR=", dir, " is no directory: this program runs without leat",
			      NULL);
		return false;
	}
	if (!keep(s->step, sizeof(s->step), either(envp, "LEAT_APP_NAME", "CAPIO_APP_NAME")) ||
	    !keep(s->workflow, sizeof(s->workflow),
		  either(envp, "LEAT_WORKFLOW_NAME", "CAPIO_WORKFLOW_NAME")) ||
	    !keep(s->key, sizeof(s->key), value_of(envp, "LEAT_KEY"))) {
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
