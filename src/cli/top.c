/* leat top: the run in a directory, watched in the terminal. */
#include "base/clock.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/top_screen.h"
#include "cli/workflow.h"
#include "daemon/daemon.h"
#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ANSWER_MS = 10000, /* for one screen; a daemon at work answers at once */

	STEP_MS = 1000,
};
#define MS UINT64_C(1000000)
#define TELL_NS (3000 * MS) /* after so long it is told that it does not answer */

static const struct leat_option options[] = {
	{.name = "interval",
	 .letter = 'i',
	 .type = LEAT_OPTION_SECONDS,
	 .argument = "SECONDS",
	 .range = "0.1..3600",
	 .fallback = "1",
	 .doc = "Look so often."},
	{.name = "once",
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print it once, as plain text, and end. This is also done if the output is no "
		"terminal. Rates are then those since each step's start."},
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

struct top {
	const char *dir; /* borrowed */
	struct leat_control *control;
	uint64_t interval_ns;
	uint64_t asked_ns; /* when it was, */
	bool asking;       /* and there is no answer yet */
	struct leat_snapshot now, before;
	struct leat_snapshot_lines lines;
	struct leat_top_view view;
};

static volatile sig_atomic_t caught;

static void on_signal(int signo)
{
	caught = signo;
}

/* ---- what there is to show ---- */

static int make_lines(struct top *t)
{
	leat_snapshot_lines_release(&t->lines);
	leat_snapshot_sort(&t->now, t->view.key, t->view.reverse);
	return leat_snapshot_write(&t->now, &t->lines);
}

static int read_status(struct top *t, const char *json)
{
	struct leat_snapshot next;
	int result = leat_snapshot_read(json, &next);

	if (result)
		return result;
	leat_snapshot_compare(&next, t->now.dir ? &t->now : NULL);
	leat_snapshot_release(&t->before);
	t->before = t->now;
	t->now = next;
	return make_lines(t);
}

static int ask(struct top *t)
{
	t->asking = true;
	t->asked_ns = leat_clock_ns();
	return leat_control_ask_status(t->control);
}

/* The daemon has said something. 1: it was the status; 0 not all of it yet. */
static int receive_status(struct top *t)
{
	char *json = NULL;
	int error = 0, result = leat_control_receive(t->control, &error, &json);

	if (result == 1) {
		t->asking = false;
		result = error ? error : read_status(t, json);
		free(json);
		return result ? result : 1;
	}
	return result;
}

static void print_lines(const struct top *t)
{
	for (size_t i = 0; i < t->lines.n; i++) {
		const char *text = t->lines.v[i].text;
		size_t n = strlen(text);

		while (n && text[n - 1] == ' ')
			n--;
		printf("%.*s\n", (int)n, text);
	}
}

static void report_error(const struct top *t, int error)
{
	if (leat_control_is_lost(error))
		leat_error("the run in %s has ended", t->dir);
	else
		leat_error("the daemon of %s does not report its status: %s", t->dir,
			   strerror(-error));
}

/* ---- once ---- */

static int show_once(struct top *t)
{
	struct pollfd p = {.fd = leat_control_fd(t->control), .events = POLLIN};
	int result = ask(t), n;

	while (result == 0) {
		n = poll(&p, 1, ANSWER_MS);
		if (n == 0)
			result = -ETIMEDOUT;
		else if (n > 0)
			result = receive_status(t);
		else if (errno != EINTR)
			result = -errno;
	}
	if (result < 0) {
		report_error(t, result);
		return LEAT_EXIT_FAILURE;
	}
	print_lines(t);
	return LEAT_EXIT_OK;
}

/* ---- on the screen ---- */

static void catch_signals(sigset_t *open)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&blocked, signals[i]);
	}
	/* ncurses has the handler of this one, which only notes it. */
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, open);
}

/* The signal that ended us ends us as it would have, now that the terminal is as it was. */
static int raise_again(int signo)
{
	sigset_t one;

	signal(signo, SIG_DFL);
	raise(signo);
	sigemptyset(&one);
	sigaddset(&one, signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + signo;
}

static void draw(struct top *t)
{
	uint64_t silent_ns = t->asking ? leat_clock_ns() - t->asked_ns : 0;

	*t->view.message = 0;
	if (silent_ns >= TELL_NS)
		snprintf(t->view.message, sizeof(t->view.message),
			 "the daemon has not answered for %u s; q quits",
			 (unsigned)(silent_ns / 1000 / MS));
	leat_screen_draw(&t->lines, &t->view);
}

/* False: the user has seen enough. */
static bool handle_keys(struct top *t, int *result)
{
	enum leat_top_key key;

	while ((key = leat_screen_key(&t->view)) != LEAT_TOP_NONE) {
		if (key == LEAT_TOP_QUIT)
			return false;
		if (key == LEAT_TOP_SORT && !*result)
			*result = make_lines(t);
	}
	return true;
}

/* When there is something to do, if nothing happens until then. */
static struct timespec get_timeout(const struct top *t)
{
	uint64_t now = leat_clock_ns(), due = t->asked_ns + t->interval_ns;
	uint64_t left = t->asking ? STEP_MS * MS : due > now ? due - now : 0;

	return (struct timespec){.tv_sec = (time_t)(left / (1000 * MS)),
				 .tv_nsec = (long)(left % (1000 * MS))};
}

/* One round. 0, 1 the user has seen enough, or -errno. */
static int handle_events(struct top *t, const sigset_t *open)
{
	struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			     {.fd = leat_control_fd(t->control), .events = POLLIN}};
	struct timespec timeout = get_timeout(t);
	int result = 0;

	if (ppoll(p, 2, &timeout, open) < 0) {
		if (errno != EINTR)
			return -errno;
		p[0].revents = p[1].revents = 0;
	}
	if (p[1].revents)
		result = receive_status(t);
	if (result > 0)
		result = 0;
	if (p[0].revents & (POLLHUP | POLLERR) || !handle_keys(t, &result))
		return 1;
	if (!result && !t->asking && leat_clock_ns() - t->asked_ns >= t->interval_ns)
		result = ask(t);
	if (!result)
		draw(t);
	return result;
}

static int watch(struct top *t)
{
	sigset_t open;
	int result = leat_screen_open();

	if (result == -ENOTSUP) {
		leat_error("leat was built without ncurses, and cannot draw a screen; leat top "
			   "--once prints plain text");
		return LEAT_EXIT_FAILURE;
	}
	if (result) {
		const char *term = getenv("TERM");

		leat_error("leat top cannot use this terminal (TERM is %s); leat top --once prints "
			   "plain text",
			   term && *term ? term : "not set");
		return LEAT_EXIT_FAILURE;
	}
	catch_signals(&open);
	result = ask(t);
	while (!result && !caught)
		result = handle_events(t, &open);
	leat_screen_close();
	if (caught)
		return raise_again(caught);
	sigprocmask(SIG_SETMASK, &open, NULL);
	if (result > 0)
		return LEAT_EXIT_OK;
	if (!leat_control_is_lost(result)) {
		report_error(t, result);
		return LEAT_EXIT_FAILURE;
	}
	print_lines(t);
	printf("\nthe run has ended; this was its last status\n");
	return LEAT_EXIT_OK;
}

static int show(struct top *t, const struct leat_args *args)
{
	if (leat_args_flag(args, "once") || !isatty(STDOUT_FILENO))
		return show_once(t);
	if (!isatty(STDIN_FILENO)) {
		leat_error("leat top takes its keys from a terminal, and standard input is none; "
			   "leat top --once does without");
		return LEAT_EXIT_FAILURE;
	}
	return watch(t);
}

static int top_command(const struct leat_args *args)
{
	struct top t = {
		.interval_ns = (uint64_t)(leat_args_seconds(args, "interval") * 1000 * (double)MS)};
	char *dir = leat_cli_directory(NULL, args);
	int status = LEAT_EXIT_FAILURE;

	if (dir && leat_cli_connect(args, dir, LEAT_CONTROL, &t.control) == 0) {
		t.dir = dir;
		status = show(&t, args);
	}
	leat_snapshot_lines_release(&t.lines);
	leat_snapshot_release(&t.now);
	leat_snapshot_release(&t.before);
	leat_control_close(t.control);
	free(dir);
	return status;
}

const struct leat_command leat_command_top = {
	.name = "top",
	.summary = "Watch the run that is going on",
	.operands = "",
	.options = options,
	.run = top_command,
};
