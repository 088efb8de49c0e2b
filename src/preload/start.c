/* Where the library comes to life: before main, before the constructors of other libraries. */
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/engine.h"
#include "preload/intercept.h"
#include "preload/trace.h"

#define CANNOT_EXECUTE 126

/* "wrap" asks for the wrappers even where libc could be patched. */
static bool wants_wrappers(char **envp)
{
	const char *value = leat_environment_get(envp, "LEAT_INTERCEPT");

	return value && strcmp(value, "wrap") == 0;
}

static bool is_in_workflow(char **envp)
{
	return !leat_environment_get(envp, LEAT_TRACE_ONLY) &&
	       (leat_environment_get(envp, "LEAT_DIR") || leat_environment_get(envp, "CAPIO_DIR"));
}

/* Neither patched nor wrapped, a program inside a workflow would run unseen. */
static void refuse(char **envp)
{
	const char *program = (const char *)getauxval(AT_EXECFN);

	leat_hooks_init(envp);
	if (!leat_active)
		return;
	leat_exec_refused(program ? program : "?",
			  "libc cannot be patched, and libleat-wrap.so is not beside libleat.so");
	leat_raw(SYS_exit_group, CANNOT_EXECUTE, 0, 0, 0, 0, 0);
}

/* glibc hands over the environment, but sets `environ` only later: this library is initialised
 * even before libc is. musl does it the other way round. */
__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	const char *kept_in;
	bool is_patched = false;

	(void)argc;
	(void)argv;
	if (environ)
		envp = environ;
	if (!leat_environment_has_session(envp))
		return;
	leat_environment_keep(envp);
	kept_in = leat_environment_get(envp, "LEAT_SITES");
	leat_trace_find(envp);
	if (!leat_has_wrappers && !wants_wrappers(envp))
		is_patched = leat_patch_libc(kept_in && *kept_in ? kept_in : NULL) == 0;
	if (!is_patched && leat_trace_tape && !is_in_workflow(envp))
		return; /* the tracer sees that it is not seen */
	if (!is_patched) {
		if (!leat_has_wrappers && leat_reexec_with_wrappers(envp) != 0) {
			refuse(envp);
			return;
		}
		leat_wrappers_start();
	}
	if (is_in_workflow(envp))
		leat_hooks_init(envp);
	leat_trace_start(envp, is_patched);
}
