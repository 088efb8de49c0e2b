#include "trace/preload/launch.h"

#include "base/installed.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *leat_trace_find_program(const char *name)
{
	const char *at = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? strdup(name) : NULL;
	at = at ? at : "/usr/local/bin:/usr/bin:/bin";
	for (bool more = *name; more && !found;) {
		const char *end = strchrnul(at, ':');
		char *path = leat_strf("%.*s/%s", end > at ? (int)(end - at) : 1,
				       end > at ? at : ".", name);

		if (path && access(path, X_OK) == 0)
			found = path;
		else
			free(path);
		more = *end;
		at = end + 1;
	}
	return found;
}

/* What the first program finds in libc is kept for the others. Without a directory for it they
 * start more slowly. */
static char *make_sites(void)
{
	const char *parent = getenv("XDG_RUNTIME_DIR");
	char *dir;

	if (getenv("LEAT_SITES"))
		return NULL;
	dir = leat_strf("%s/leat-sites-XXXXXX", parent && *parent ? parent : "/tmp");
	if (dir && mkdtemp(dir))
		return dir;
	free(dir);
	return NULL;
}

/* Without a step's name the command is none of a session that LEAT_DIR may speak of: it may be
 * leat run, which begins one. */
static bool is_step(void)
{
	const char *name = getenv("LEAT_APP_NAME"), *capio_name = getenv("CAPIO_APP_NAME");

	return (name && *name) || (capio_name && *capio_name);
}

static int set_environment(const struct leat_trace_launch *l, const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *preload = leat_strf("%s%s%s", library, old && *old ? ":" : "", old ? old : "");
	char *tracebuf = leat_strf("/proc/%d/fd/%d", (int)getppid(), l->tracebuf_fd);
	int rc = preload && tracebuf ? 0 : -ENOMEM;

	if (!rc &&
	    (setenv("LD_PRELOAD", preload, 1) < 0 || setenv("LEAT_TRACE_BUFFER", tracebuf, 1) < 0 ||
	     (!is_step() && setenv("LEAT_TRACE_BUFFER_ONLY", "1", 1) < 0) ||
	     (l->sites && setenv("LEAT_SITES", l->sites, 1) < 0)))
		rc = -errno;
	free(preload);
	free(tracebuf);
	return rc;
}

static void run_child(const struct leat_trace_launch *l, const char *library, int error)
{
	sigset_t none;
	int32_t code;

	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	code = -set_environment(l, library);
	if (!code) {
		execvp(l->argv[0], l->argv);
		code = errno;
	}
	leat_write_all(error, &code, sizeof(code));
	_exit(127);
}

int leat_trace_launch(struct leat_trace_launch *l, pid_t *pid)
{
	char *library = leat_find_library();
	int32_t code = 0;
	int ends[2], rc = 0;

	if (!library || strpbrk(library, " :")) {
		leat_error(library ? "the path of %s contains a blank or colon, which LD_PRELOAD "
				     "cannot hold; install leat elsewhere"
				   : "%s was not found beside leat; set LEAT_LIBRARY to its path",
			   library ? library : "libleat.so");
		free(library);
		return -ENOTSUP;
	}
	l->sites = make_sites();
	if (pipe2(ends, O_CLOEXEC) < 0) {
		rc = -errno;
		free(library);
		return rc;
	}
	*pid = fork();
	if (*pid == 0)
		run_child(l, library, ends[1]);
	rc = *pid < 0 ? -errno : 0;
	leat_close(&ends[1]);
	free(library);
	if (!rc && leat_read_all(ends[0], &code, sizeof(code)) == sizeof(code)) {
		waitpid(*pid, NULL, 0);
		rc = code == ENOENT ? -ENOENT : -EACCES;
	} else if (rc) {
		code = -rc;
	}
	leat_close(&ends[0]);
	if (rc)
		leat_error("cannot execute %s: %s", l->argv[0], strerror(code));
	return rc;
}

void leat_trace_launch_end(struct leat_trace_launch *l)
{
	DIR *dir = l->sites ? opendir(l->sites) : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!leat_is_dots(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	if (l->sites)
		rmdir(l->sites);
	free(l->sites);
	l->sites = NULL;
}
