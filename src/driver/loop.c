#include "driver/loop.h"

#include "base/log.h"
#include "base/oom.h"

#include <signal.h>
#include <stdlib.h>

int leat_loop_watch_signals(uv_loop_t *loop, uv_signal_t *handles, const int *signals, size_t n,
			    uv_signal_cb on_signal, void *data)
{
	int result = 0;

	for (size_t i = 0; i < n && result == 0; i++) {
		result = uv_signal_init(loop, &handles[i]);
		handles[i].data = data;
		if (result == 0)
			result = uv_signal_start(&handles[i], on_signal, signals[i]);
	}
	return result;
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void leat_loop_close(uv_loop_t *loop)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	uv_walk(loop, close_handle, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_loop_close(loop);
}

void leat_report_lost_daemon(const char *daemon, const struct leat_oom *oom)
{
	char *why = leat_oom_explain(oom);

	if (why)
		leat_error("%s was killed, %s", daemon, why);
	else
		leat_error("%s has ended unexpectedly", daemon);
	free(why);
}
