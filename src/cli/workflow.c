#include "cli/workflow.h"

#include "base/installed.h"
#include "base/log.h"
#include "base/str.h"
#include "driver/actions.h"
#include "control/control.h"
#include "driver/driver.h"
#include "lang/check/check.h"
#include "lang/check/symlink.h"
#include "lang/lang.h"
#include "lang/reader/directory.h"
#include "lang/resources/resources.h"
#include "lang/syntax/diagnostics.h"
#include "mount/mount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void leat_cli_print_diags(const struct leat_diags *diags)
{
	leat_diags_print(diags, stderr, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
}

char *leat_cli_directory(const struct leat_workflow *wf, const struct leat_args *args)
{
	char *path = leat_lang_dir(wf, leat_args_text(args, "dir"));
	char *real = path ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real && stat(real, &st) == 0 && !S_ISDIR(st.st_mode)) {
		leat_error("the workflow's directory %s is not a directory; name another with "
			   "--dir",
			   path);
		free(real);
		real = NULL;
	} else if (!path)
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
	return diags &&
	       leat_diags_has_only(diags, LEAT_ERROR, leat_lang_diagnostics[L_CHECK_DEADLOCK].code);
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

/* What the language has and this version cannot run yet. */
static bool can_run(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++) {
		const struct leat_step *step = &wf->steps[i];
		const char *what = step->staged && step->action_file
					   ? "\"staged\" of a step with actions"
				   : step->staged && step->n_inports
					   ? "\"staged\" of a step that sees files by "
					     "other names, or in versions,"
					   : NULL;

		if (!what)
			continue;
		leat_error("step %s cannot be run by this version of leat: %s is only checked",
			   step->name, what);
		return false;
	}
	return true;
}

/* Relative to the folder of the executable: installed, and in the build tree. */
static const char *const action_paths[] = {
	"../action/leat-action",
	"../" LEAT_LIBEXECDIR "/leat/leat-action",
	"../libexec/leat/leat-action",
	NULL,
};

unsigned leat_cli_action_timeout(const struct leat_args *args)
{
	unsigned given = (unsigned)leat_args_number(args, "action-timeout");

	return given ? given : LEAT_ACTION_TIMEOUT_S;
}

/* Load the actions once, if there are any; what is wrong with them goes to `diags`. False after a
 * message about something else. */
static bool try_actions(struct leat_cli_workflow *w, unsigned timeout_s, struct leat_diags *diags)
{
	bool any = false;
	int result;

	for (size_t i = 0; i < w->wf->n_steps; i++)
		any |= w->wf->steps[i].action_file != NULL;
	if (!any || leat_diags_count(diags, LEAT_ERROR))
		return true;
	w->action_command = leat_find_installed(action_paths, "LEAT_ACTION");
	if (!w->action_command) {
		leat_error("leat-action, which runs actions, was not found beside leat; set "
			   "LEAT_ACTION to its path");
		return false;
	}
	result = leat_actions_check(w->wf, w->action_command, timeout_s, diags);
	if (result)
		leat_error("cannot look at the actions: %s", strerror(-result));
	return !result;
}

/* Without a description of the machine no device is known. */
static bool asks_for_device(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (wf->steps[i].needs.device ||
		    wf->steps[i].needs.bandwidth.kind != LEAT_BANDWIDTH_NONE)
			return true;
	return false;
}

static bool has_needs(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (leat_step_has_needs(&wf->steps[i]))
			return true;
	return false;
}

/* What --resources names takes the place of what the workflow file has. */
static bool load_resources(struct leat_workflow *wf, const char *path)
{
	struct leat_diags *diags = NULL;
	struct leat_resources *res = path ? leat_resources_load(path, &diags) : NULL;

	if (path && diags)
		leat_cli_print_diags(diags);
	else if (path)
		leat_error("out of memory");
	leat_diags_free(diags);
	if (res) {
		leat_resources_free(wf->resources);
		wf->resources = res;
	}
	return !path || res;
}

/* Steps run on this machine: only that counts, as it is described, or else as it is. */
static bool choose_machine(struct leat_workflow *wf, const char *path)
{
	char self[256] = "";

	if (!wf->resources && has_needs(wf) && !asks_for_device(wf)) {
		wf->resources = leat_driver_machine();
		if (!wf->resources)
			leat_error("out of memory");
		return wf->resources != NULL;
	}
	if (gethostname(self, sizeof(self) - 1) < 0)
		self[0] = '\0';
	if (!wf->resources || leat_resources_keep_host(wf->resources, self) == 0)
		return true;
	leat_error("%s describes %zu nodes, and none of them is this machine, %s; name it, or "
		   "localhost, or describe one node only",
		   path ? path : wf->path, wf->resources->n_hosts, self);
	return false;
}

static bool find_resources(const struct leat_args *args, struct leat_workflow *wf, unsigned needs)
{
	const char *path = needs & LEAT_CLI_RESOURCES ? leat_args_text(args, "resources") : NULL;

	return load_resources(wf, path) && (!(needs & LEAT_CLI_HERE) || choose_machine(wf, path));
}

bool leat_cli_workflow_open(struct leat_cli_workflow *w, const struct leat_args *args,
			    const char *file, unsigned needs)
{
	bool ready = needs & LEAT_CLI_INPUTS, good = false;
	struct leat_diags *diags = NULL;

	*w = (struct leat_cli_workflow){0};
	if (!strcmp(file, "-") && access(file, F_OK) < 0) {
		leat_error("a workflow is not read from standard input: write it to a file, and "
			   "name that");
		return false;
	}
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
	if (!w->dir || (needs & LEAT_CLI_WRITABLE && (!can_run(w->wf) || !is_writable(w->dir))))
		goto out;
	if (!find_resources(args, w->wf, needs))
		goto out;
	if (leat_lang_follow_symlinks(w->wf, w->dir) < 0 ||
	    leat_check_workflow(w->wf, ready || needs & LEAT_CLI_WRITABLE ? w->dir : NULL, ready,
				diags) < 0)
		leat_error("out of memory");
	else if (!(needs & LEAT_CLI_ACTIONS) ||
		 try_actions(w, leat_cli_action_timeout(args), diags))
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
	free(w->action_command);
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
		leat_error("no run is going on in %s; start one with leat run or leat serve, or "
			   "name its "
			   "directory with --dir",
			   dir);
	else if (result < 0)
		leat_error("cannot talk to the daemon of %s: %s", dir, strerror(-result));
	return result;
}

char *leat_cli_library(void)
{
	char *path = leat_find_library();

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

	return leat_mount_possible(false, &why) ? realpath("/proc/self/exe", NULL) : NULL;
}
