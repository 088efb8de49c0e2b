/* Where the library comes to life: before main, before the constructors of other libraries. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "preload/engine.h"
#include "preload/intercept.h"

/* "wrap" asks for the wrappers even where libc could be patched. */
static bool wants_wrappers(char **envp)
{
	const char *value = leat_environment_get(envp, "LEAT_INTERCEPT");

	return value && strcmp(value, "wrap") == 0;
}

/* glibc hands over the environment, but sets `environ` only later: this library is initialised
 * even before libc is. musl does it the other way round. */
__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	if (environ)
		envp = environ;
	if (!leat_environment_has_session(envp))
		return;
	leat_environment_keep(envp);
	if (leat_has_wrappers || wants_wrappers(envp) || leat_patch_libc() != 0) {
		if (!leat_has_wrappers && leat_reexec_with_wrappers(envp) != 0)
			return; /* not intercepted: the daemon misses the hello and says so */
		leat_wrappers_start();
	}
	leat_hooks_init(envp);
}
