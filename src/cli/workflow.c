#include "cli/workflow.h"

#include "base/log.h"
#include "base/str.h"
#include "driver/control.h"
#include "lang/check.h"
#include "lang/lang.h"
#include "mount/mount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void leat_cli_print_diags(const struct leat_diags *diags)
{
	leat_diags_print(diags, stderr, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
}

char *leat_cli_directory(const struct leat_workflow *wf, const struct leat_args *args)
{
	char *path = leat_lang_dir(wf, leat_args_text(args, "dir"));
	char *real = path ? realpath(path, NULL) : NULL;

	if (!path)
		leat_error("cannot find the workflow's directory: %s", strerror(errno));
	else if (!real && errno == ENOENT)
		leat_error("the workflow's directory %s does not exist; create it, or name "
			   "another with --dir",
			   path);
	else if (!real)
		leat_error("cannot use the workflow's directory %s: %s", path, strerror(errno));
	free(path);
	return real;
}

/* Print what was found; true if the workflow can be used. */
static bool is_good(const struct leat_diags *diags)
{
	if (diags)
		leat_cli_print_diags(diags);
	else
		leat_error("out of memory");
	return diags && leat_diags_count(diags, LEAT_ERROR) == 0;
}

static bool has_only_deadlocks(const struct leat_diags *diags)
{
	return diags && leat_diags_has_only(diags, LEAT_ERROR, "L-CHECK-DEADLOCK");
}

static bool is_writable(const char *dir)
{
	if (access(dir, W_OK | X_OK) == 0)
		return true;
	leat_error("the workflow's directory %s is not writable: %s; change its permissions, or "
		   "name another with --dir",
		   dir, strerror(errno));
	return false;
}

bool leat_cli_workflow_open(struct leat_cli_workflow *w, const struct leat_args *args,
			    const char *file, unsigned needs)
{
	struct leat_diags *diags = NULL;
	bool good = false;

	*w = (struct leat_cli_workflow){0};
	if (access(file, R_OK) < 0) {
		leat_error("cannot read %s: %s", file, strerror(errno));
		return false;
	}
	w->wf = leat_lang_load_in(file, leat_args_text(args, "dir"), &diags);
	if (!w->wf) {
		is_good(diags);
		goto out;
	}
	w->dir = leat_cli_directory(w->wf, args);
	if (!w->dir || (needs & LEAT_CLI_WRITABLE && !is_writable(w->dir)))
		goto out;
	if (leat_check_workflow(w->wf, needs & LEAT_CLI_INPUTS ? w->dir : NULL, diags) < 0)
		leat_error("out of memory");
	else
		good = is_good(diags) || (needs & LEAT_CLI_DEADLOCKS && has_only_deadlocks(diags));
out:
	leat_diags_free(diags);
	if (!good)
		leat_cli_workflow_close(w);
	return good;
}

void leat_cli_workflow_close(struct leat_cli_workflow *w)
{
	leat_workflow_free(w->wf);
	free(w->dir);
	*w = (struct leat_cli_workflow){0};
}

bool leat_cli_runtime_dir(const struct leat_args *args, char **path)
{
	const char *given = leat_args_text(args, "runtime-dir");
	char *here = given && *given != '/' ? getcwd(NULL, 0) : NULL;

	*path = given ? leat_path_join(here, given) : NULL;
	free(here);
	if (given && (!*path || **path != '/')) {
		leat_error("cannot find the runtime directory %s: %s", given, strerror(errno));
		free(*path);
		*path = NULL;
		return false;
	}
	return true;
}

int leat_cli_connect(const struct leat_args *args, const char *dir, unsigned kind,
		     struct leat_control **control)
{
	char *runtime_dir;
	int result;

	if (!leat_cli_runtime_dir(args, &runtime_dir))
		return -EINVAL;
	result = leat_control_open(runtime_dir, dir, "", kind, control);
	free(runtime_dir);
	if (result == -ENOENT)
		leat_error("no run is going on in %s; start one with leat serve FILE, or name its "
			   "directory with --dir",
			   dir);
	else if (result < 0)
		leat_error("cannot talk to the daemon of %s: %s", dir, strerror(-result));
	return result;
}

/* Relative to the folder of the executable: installed, and in the build tree. */
static const char *const library_places[] = {
	"libleat.so",
	"../preload/libleat.so",
	"../" LEAT_LIBDIR "/leat/libleat.so",
	"../" LEAT_LIBDIR "/libleat.so",
	"../lib/leat/libleat.so",
	"../lib/libleat.so",
};

static char *find_library(void)
{
	const char *given = getenv("LEAT_LIBRARY");
	char *self, *slash, *found = NULL;

	if (given && *given)
		return realpath(given, NULL);
	self = realpath("/proc/self/exe", NULL);
	slash = self ? strrchr(self, '/') : NULL;
	if (slash)
		*slash = 0;
	for (size_t i = 0; slash && !found && i < sizeof(library_places) / sizeof(char *); i++) {
		char *path = leat_path_join(self, library_places[i]);

		if (path)
			found = realpath(path, NULL);
		free(path);
	}
	free(self);
	return found;
}

char *leat_cli_library(void)
{
	char *path = find_library();

	if (!path) {
		leat_error("libleat.so was not found beside leat; set LEAT_LIBRARY to its path");
		return NULL;
	}
	/* The dynamic linker splits LD_PRELOAD at these, and knows no quoting. */
	if (strpbrk(path, " :")) {
		leat_error("the path of the library, %s, contains a blank or colon, which "
			   "LD_PRELOAD cannot hold; install leat elsewhere",
			   path);
		free(path);
		return NULL;
	}
	return path;
}

char *leat_cli_mount(void)
{
	const char *why;

	return leat_mount_possible(&why) ? realpath("/proc/self/exe", NULL) : NULL;
}
