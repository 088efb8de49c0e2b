/* Calls that end programs and change who they are, and ways around the hooks that are shut. */
#include "preload/connection/client.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/fd/lifecycle.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/resolve_cache.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

long leat_hook_refuse(const char *call, const char *why)
{
	char program[17] = "", text[256];
	struct leat_text t = leat_text_in(text, sizeof(text));

	raw(SYS_prctl, PR_GET_NAME, program);
	leat_text_add(&t, call);
	leat_text_add(&t, ": ");
	leat_text_add(&t, why);
	leat_text_add(&t, "; run it behind a mount (LEAT_INTERCEPT=mount in its environment), or "
			  "give the step `staged: true`");
	leat_client_refused(program, text, true);
	return -EPERM;
}

long leat_hook_exit_group(const struct leat_syscall *c)
{
	if (!leat_in_vfork()) {
		leat_fd_exiting();
		leat_client_exiting((int)c->a[0]);
	}
	leat_roll_call_exit();
	return leat_as_is(c);
}

/* From here on there may be no way to the daemon. */
long leat_hook_confine(const struct leat_syscall *c)
{
	if (!leat_in_vfork() && (c->nr != SYS_prctl || c->a[0] == PR_SET_SECCOMP))
		leat_client_confine();
	return LEAT_PASS;
}

/* io_uring and kernel AIO would read and write unseen, and attributes be those of the plain
 * directory's file; programs do without, as with a kernel that is older than the call. */
long leat_hook_no_such_call(const struct leat_syscall *c)
{
	(void)c;
	return -ENOSYS;
}

/* This process is, perhaps, another user than before. */
long leat_hook_change_user(const struct leat_syscall *c)
{
	long rc;

	if (!leat_in_vfork())
		leat_user_take();
	rc = leat_as_is(c);
	if (leat_user_changed())
		leat_resolve_cache_forget();
	return rc;
}
