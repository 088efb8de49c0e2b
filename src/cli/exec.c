/* leat exec: one command as a step of the workflow that is served. */
#include "base/log.h"
#include "base/nproc.h"
#include "cli/command.h"
#include "cli/segment.h"
#include "cli/workflow.h"
#include "daemon/daemon.h"
#include "base/confine.h"
#include "control/control.h"
#include "driver/environment.h"
#include "driver/mounted.h"
#include "driver/plan.h"
#include "driver/process.h"
#include "mount/mount.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct leat_option options[] = {
	{.name = "app",
	 .letter = 'a',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "STEP",
	 .env = "LEAT_APP_NAME",
	 .doc = "Name of the step in the workflow file."},
	{.name = "workflow",
	 .letter = 'w',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "NAME",
	 .env = "LEAT_WORKFLOW_NAME",
	 .doc = "Name of the workflow. Whatever is served in the directory if not given."},
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

static volatile sig_atomic_t child_pid;

/* What a terminal sends reaches the child by itself; the rest is passed on. */
static void pass_on(int signo)
{
	if (child_pid > 0)
		kill((pid_t)child_pid, signo);
}

static void watch_signals(void)
{
	struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	sigaction(SIGUSR1, &pass, NULL);
	sigaction(SIGUSR2, &pass, NULL);
}

/* Status of the child, as from waitpid. */
static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* The program as the daemon can find it; not the command that puts it behind a mount. */
static char *find_absolute(const char *program)
{
	char *path = realpath(program, NULL);

	return path ? path : strdup(program);
}

static int run_command(struct leat_control *control, const char *step,
		       const struct leat_process_spec *spec, const char *program, const char *key,
		       bool followed)
{
	struct leat_driver_process p;
	int result = leat_process_fork(spec, &p);
	int status;

	if (result < 0) {
		char *limit = result == -EAGAIN ? leat_nproc_limit() : NULL;

		leat_error("cannot start %s: %s%s%s", spec->argv[0], strerror(-result),
			   limit ? ": " : "", limit ? limit : "");
		free(limit);
		return LEAT_EXIT_SELF;
	}
	child_pid = p.pid;
	watch_signals();
	result = leat_control_step_start(control, step, p.pid, program, key, followed);
	if (result < 0) {
		leat_error("the daemon does not take %s as a step: %s", step,
			   leat_control_is_lost(result) ? "it is gone" : strerror(-result));
		leat_process_close(&p);
		wait_for(p.pid);
		return LEAT_EXIT_SELF;
	}
	result = leat_process_release(&p);
	if (result < 0)
		leat_error("cannot execute %s: %s", spec->argv[0], strerror(-result));
	status = wait_for(p.pid);
	child_pid = 0;
	leat_process_close(&p);
	result = leat_control_step_end(control, step, p.pid, status);
	if (result == -EIO && *leat_control_why(control)) {
		leat_error("step %s failed, though its command ended with status 0: %s", step,
			   leat_control_why(control));
		return LEAT_EXIT_SELF;
	}
	if (status && !leat_control_is_lost(result) && *leat_control_why(control))
		leat_error("step %s failed: %s", step, leat_control_why(control));
	if (result < 0 && status == 0) {
		leat_error("the daemon is gone: what step %s wrote is lost", step);
		return LEAT_EXIT_SELF;
	}
	return leat_process_exit_status(status);
}

/* The option, else CAPIO's spelling of its variable. */
static const char *get_name(const struct leat_args *args, const char *option, const char *variable)
{
	const char *text = leat_args_text(args, option);

	return text ? text : getenv(variable);
}

/* What a step of a run with --enforce has beyond others. 0 or -errno, logged. */
static int prepare_enforcement(struct leat_control *control, struct leat_environment_spec *env,
			       struct leat_process_spec *spec, char key[LEAT_KEY_SIZE])
{
	struct leat_segment segment = {0};
	int result = leat_segment_open(&segment, control, 0);
	bool enforced = false;

	*key = 0;
	if (!result)
		leat_segment_enforced(&segment, &enforced, &env->sealed);
	if (enforced) {
		result = leat_confine_key(key);
		env->key = key;
		spec->confined = leat_confine_possible();
	}
	leat_segment_close(&segment);
	return result;
}

static int prepare(const struct leat_args *args, const char *step, char *const *argv,
		   struct leat_control *control, const char *dir)
{
	const char *workflow = get_name(args, "workflow", "CAPIO_WORKFLOW_NAME");
	struct leat_plan_reach reach = {.intercepted = true, .can_mount = leat_mount_possible};
	char *library = leat_cli_library();
	struct leat_environment_spec env = {
		.dir = dir, .step = step, .workflow = workflow ? workflow : "", .library = library};
	char *runtime_dir = NULL, *program = NULL, *mount = leat_cli_mount();
	char **envp = NULL, **mounted_argv = NULL, *path = NULL, key[LEAT_KEY_SIZE];
	struct leat_process_spec spec = {.argv = argv};
	const char *mounted;
	int status = LEAT_EXIT_SELF;

	if (!library || !leat_cli_runtime_dir(args, &runtime_dir) ||
	    prepare_enforcement(control, &env, &spec, key))
		goto out;
	reach.sealed = env.sealed;
	status = leat_plan_program(step, argv, NULL, &reach, &program, &mounted);
	if (status)
		goto out;
	spec.program = program;
	if (mounted && mount) {
		mounted_argv = leat_mounted_argv(mount, program, argv);
		spec.argv = mounted_argv;
		spec.program = mount;
		env.library = NULL;
	}
	env.runtime_dir = runtime_dir;
	env.mount = mount;
	envp = leat_environment_new(&env);
	path = find_absolute(program);
	spec.envp = envp;
	status = envp && spec.argv && path
			 ? run_command(control, step, &spec, path, key, env.library)
			 : LEAT_EXIT_SELF;
out:
	free(path);
	free(mounted_argv);
	free(mount);
	free(program);
	free(runtime_dir);
	leat_environment_free(envp);
	free(library);
	return status;
}

static int exec_command(const struct leat_args *args)
{
	const char *step = get_name(args, "app", "CAPIO_APP_NAME");
	struct leat_control *control = NULL;
	char *dir;
	int status = LEAT_EXIT_SELF;

	if (!step) {
		leat_error("exec: missing step: name it with --app or LEAT_APP_NAME");
		return LEAT_EXIT_SELF;
	}
	dir = leat_cli_directory(NULL, args);
	if (dir && leat_cli_connect(args, dir, LEAT_CONTROL, &control) == 0)
		status = prepare(args, step, args->operands, control, dir);
	leat_control_close(control);
	free(dir);
	return status;
}

const struct leat_command leat_command_exec = {
	.name = "exec",
	.summary = "Run a command as a step of the workflow that is served",
	.operands = "COMMAND [ARGUMENT...]",
	.min_operands = 1,
	.max_operands = -1,
	.options_first = true,
	.options = options,
	.run = exec_command,
};
