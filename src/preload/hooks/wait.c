/* How children have ended: the kernel says it in any case, and the roll call records it. */
#include "preload/connection/roll_call.h"
#include "preload/core/call.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"

#include <sys/wait.h>

/* Where the kernel says what the program does not want to know. */
static __thread union {
	int status;
	siginfo_t info;
} unasked __attribute__((tls_model("initial-exec")));

static void report_ended(pid_t pid, int status)
{
	if (WIFEXITED(status) || WIFSIGNALED(status))
		leat_roll_call_ended(pid, status);
}

/* Have the kernel say it by this argument, wherever. */
static long ask(struct leat_syscall *c, unsigned argument)
{
	if (!leat_roll_call_is_taken())
		return LEAT_PASS;
	if (!c->a[argument])
		c->a[argument] = (long)&unasked;
	return LEAT_TRY;
}

/* The call is as the program made it again. */
static void restore(struct leat_syscall *c, unsigned argument)
{
	if (c->a[argument] == (long)&unasked)
		c->a[argument] = 0;
}

long leat_hook_wait4(struct leat_syscall *c)
{
	return ask(c, 1);
}

long leat_hook_wait4_end(struct leat_syscall *c, long result)
{
	if (result > 0)
		report_ended((pid_t)result, *(const int *)c->a[1]);
	restore(c, 1);
	return result;
}

long leat_hook_waitid(struct leat_syscall *c)
{
	return ask(c, 2);
}

/* What waitid says, as waitpid says it. */
static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xff) << 8;
	case CLD_KILLED:
	case CLD_DUMPED:
		return info->si_status & 0x7f;
	default:
		return 0x7f; /* stopped, or goes on */
	}
}

long leat_hook_waitid_end(struct leat_syscall *c, long result)
{
	const siginfo_t *info = (const siginfo_t *)c->a[2];

	if (result == 0 && info->si_pid > 0)
		report_ended(info->si_pid, status_of(info));
	restore(c, 2);
	return result;
}
