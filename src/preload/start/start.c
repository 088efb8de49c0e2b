/* Where the library comes to life: before main, before the constructors of other libraries. */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/connection/client.h"
#include "preload/connection/roll_call.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/engine/patch.h"
#include "preload/entry/entry.h"
#include "preload/hooks/hooks.h"
#include "preload/start/reexec.h"
#include "preload/trace/start.h"
#include "preload/trace/trace.h"
#include "preload/wrap/start.h"

#define CANNOT_EXECUTE 126

/* "wrap" asks for the wrappers even where libc could be patched, "mount" for a mount. */
static bool wants(char **envp, const char *mode)
{
	const char *value = leat_environment_get(envp, "LEAT_INTERCEPT");

	return value && strcmp(value, mode) == 0;
}

static bool is_in_workflow(char **envp)
{
	const char *only = leat_environment_get(envp, LEAT_TRACE_ONLY);

	return !(only && *only) &&
	       (leat_environment_get(envp, "LEAT_DIR") || leat_environment_get(envp, "CAPIO_DIR"));
}

static const char *program_name(void)
{
	const char *program = (const char *)getauxval(AT_EXECFN);

	return program ? program : "?";
}

/* A program inside a workflow would run unseen. */
static void refuse(const char *why)
{
	leat_roll_call_exit();
	leat_client_refused(program_name(), why, false);
	leat_raw(SYS_exit_group, CANNOT_EXECUTE, 0, 0, 0, 0, 0);
}

/* Behind a mount nothing has to be intercepted. A loader that was told which program to run does
 * not know any more how. */
static void start_behind_mount(char **envp, const char *why)
{
	if (getauxval(AT_BASE))
		leat_reexec_mounted(envp);
	refuse(why);
}

static const char *describe(const struct leat_unseen *unseen, char *buffer, size_t size)
{
	struct leat_text t = leat_text_in(buffer, size);

	if (unseen->function) {
		leat_text_add(&t, "its libc makes system calls that leat does not see (");
		leat_text_add(&t, unseen->function);
		leat_text_add(&t, ")");
	} else {
		bool is_own = !unseen->file || strcmp(unseen->file, "/proc/self/exe") == 0;

		leat_text_add(&t, is_own ? "it" : unseen->file);
		leat_text_add(&t, " makes system calls of its own");
	}
	return buffer;
}

/* What its loader was to load is there, or this program starts anew. */
static void begin(char **envp, bool was_put_by)
{
	int error = leat_reexec_begun(envp, was_put_by);

	if (!error)
		return;
	if (error == -ENOEXEC)
		refuse("LD_PRELOAD and LD_AUDIT of leat itself cannot be handed on to a dynamic "
		       "loader that is called by name: call the program");
	leat_roll_call_exit();
	leat_raw(SYS_exit_group, CANNOT_EXECUTE, 0, 0, 0, 0, 0); /* it was said why */
}

/* glibc hands over the environment, but sets `environ` only later: this library is initialised
 * even before libc is. musl does it the other way round. */
__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	struct leat_unseen unseen = {0};
	const char *kept_in;
	char why[512];
	int error = -ENOSYS;
	bool wraps, is_first, was_put_by;

	(void)argc;
	(void)argv;
	if (!leat_environment_has_session(environ ? environ : envp))
		return;
	if (environ)
		envp = environ;
	else
		leat_process_begin(envp);
	leat_put_first(envp);
	leat_environment_keep(envp);
	kept_in = leat_environment_get(envp, "LEAT_SITES");
	leat_trace_find(envp);
	if (!leat_has_wrappers && !wants(envp, "wrap"))
		error = leat_patch_libc(leat_entry_table(), kept_in && *kept_in ? kept_in : NULL,
					&unseen);
	if (unseen.file && !is_in_workflow(envp))
		error = 0; /* a trace has what libc does */
	if (error && leat_trace_buffer && !is_in_workflow(envp))
		return; /* the tracer sees that it is not seen */
	wraps = error == -ENOSYS || (error && error != -ENOEXEC && !is_in_workflow(envp));
	if (wraps) {
		if (!leat_has_wrappers && leat_reexec_with_wrappers(envp) != 0)
			error = -ENOENT;
		leat_wrappers_start();
	}
	is_first = leat_reexec_take_begun(envp, &was_put_by);
	if (error || is_in_workflow(envp))
		leat_hooks_init(envp);
	if (leat_active && error == -ENOEXEC)
		start_behind_mount(envp, describe(&unseen, why, sizeof(why)));
	if (leat_active && error && !wraps)
		start_behind_mount(envp, "its libc cannot be patched");
	if (leat_active && wants(envp, "mount"))
		start_behind_mount(envp, "LEAT_INTERCEPT asks for a mount, and none can be made");
	if (leat_active && error && !leat_has_wrappers)
		refuse("libc cannot be patched, and libleat-wrap.so is not beside libleat.so");
	if (leat_active && is_first)
		begin(envp, was_put_by);
	leat_trace_start(envp, !error);
}
