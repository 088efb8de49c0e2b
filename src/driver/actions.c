#include "driver/actions.h"

#include "base/clock.h"
#include "base/str.h"
#include "driver/process.h"
#include "lang/syntax/diagnostics.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

char *leat_actions_path(const struct leat_workflow *wf, const char *file)
{
	char *path = leat_workflow_beside(wf, file);
	char *real = path ? realpath(path, NULL) : NULL;

	free(path);
	return real;
}

/* All that comes from both pipes, in *text (the caller's). 0, -ETIMEDOUT or -errno. */
static int read_both(const struct leat_driver_process *p, unsigned timeout_s, char **text)
{
	uint64_t end_ns = leat_clock_ns() + timeout_s * NS_PER_S;
	struct pollfd fds[2] = {{.fd = p->out_fd, .events = POLLIN},
				{.fd = p->err_fd, .events = POLLIN}};
	size_t size = 0;
	char *grown;

	*text = calloc(1, 1);
	while (*text && (fds[0].fd >= 0 || fds[1].fd >= 0)) {
		uint64_t now_ns = leat_clock_ns();

		if (now_ns >= end_ns)
			return -ETIMEDOUT;
		if (poll(fds, 2, 1 + (int)((end_ns - now_ns) / 1000000)) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2; i++) {
			char buf[4096];
			ssize_t n = fds[i].fd >= 0 ? read(fds[i].fd, buf, sizeof(buf)) : -1;

			if (n == 0)
				fds[i].fd = -1;
			if (n <= 0)
				continue;
			grown = realloc(*text, size + (size_t)n + 1);
			if (!grown)
				return -ENOMEM;
			*text = grown;
			memcpy(*text + size, buf, (size_t)n);
			size += (size_t)n;
			(*text)[size] = 0;
		}
	}
	return *text ? 0 : -ENOMEM;
}

/* 1: they can be loaded; 0: not, and *text says why in its last line; -errno. */
static int try_to_load(const struct leat_step *step, const char *command, unsigned timeout_s,
		       char *path, char **text)
{
	char name[] = "leat-action", check[] = "--check";
	char *argv[] = {name, check, path, step->action_function, NULL};
	const struct leat_process_spec spec = {.program = command,
					       .argv = argv,
					       .envp = environ,
					       .own_group = true,
					       .capture = true,
					       .passed_fd = -1};
	struct leat_driver_process p;
	int status = 0, result = leat_process_fork(&spec, &p);

	if (result)
		return result;
	result = leat_process_release(&p);
	if (!result)
		result = read_both(&p, timeout_s, text);
	if (result)
		kill(-p.pid, SIGKILL);
	while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR)
		;
	leat_process_close(&p);
	if (result == -ETIMEDOUT || (!result && WIFSIGNALED(status))) {
		free(*text);
		*text = result ? leat_strf("it did not load within %u s", timeout_s)
			       : leat_strf("its process was killed by SIG%s",
					   sigabbrev_np(WTERMSIG(status)));
		return 0;
	}
	return result ? result : !status;
}

/* What they printed is shown as it is; the last line is the reason. */
static void report(const struct leat_step *step, char *text, struct leat_diags *diags)
{
	char *end = text ? text + strlen(text) : text, *last = NULL;

	while (end > text && end[-1] == '\n')
		*--end = 0;
	if (text)
		last = strrchr(text, '\n');
	if (last) {
		*last++ = 0;
		fprintf(stderr, "%s\n", text);
	}
	leat_lang_report(diags, L_CHECK_ACTION_LOAD, step->action_pos,
			 "%s of the action file %s cannot be used: %s", step->action_function,
			 step->action_file,
			 last   ? last
			 : text ? text
				: "out of memory");
}

static bool was_before(const struct leat_workflow *wf, size_t step)
{
	const struct leat_step *s = &wf->steps[step];

	for (size_t i = 0; i < step; i++)
		if (wf->steps[i].action_file && !strcmp(wf->steps[i].action_file, s->action_file) &&
		    !strcmp(wf->steps[i].action_function, s->action_function))
			return true;
	return false;
}

int leat_actions_check(const struct leat_workflow *wf, const char *command, unsigned timeout_s,
		       struct leat_diags *diags)
{
	int result = 1;

	for (size_t i = 0; i < wf->n_steps && result >= 0; i++) {
		char *path, *text = NULL;

		if (!wf->steps[i].action_file || was_before(wf, i))
			continue;
		path = leat_actions_path(wf, wf->steps[i].action_file);
		result =
			path ? try_to_load(&wf->steps[i], command, timeout_s, path, &text) : -errno;
		if (!result)
			report(&wf->steps[i], text, diags);
		free(text);
		free(path);
	}
	return result < 0 ? result : 0;
}
