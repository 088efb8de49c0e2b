/* leat trace: what a command does to files, by one of the tracers. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/listen.h"
#include "cli/trace_filter.h"
#include "cli/trace_file.h"
#include "driver/process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct leat_option options[] = {
	{.name = "tracer",
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "TRACER",
	 .range = "auto|ebpf|preload|ptrace|fuse",
	 .fallback = "auto",
	 .env = "LEAT_TRACER",
	 .doc = "How the calls are seen; auto takes the first of the others that can do here what "
		"is "
		"asked for, and says why."},
	{.name = "output",
	 .letter = 'o',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .fallback = "leat-trace.csv",
	 .doc = "Where the trace goes: compressed if the name ends in .trace, else as CSV."},
	{.name = "all",
	 .letter = 'a',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Record all processes of the machine, until leat is interrupted."},
	{.name = "pid",
	 .letter = 'p',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "PID",
	 .many = true,
	 .doc = "Record this process, which runs already, and its descendants, until they end or "
		"leat "
		"is interrupted."},
	{.name = "user",
	 .letter = 'u',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "USER",
	 .doc = "Record only what processes of this user do."},
	{.name = "group",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "GROUP",
	 .doc = "Record only what processes of this group do."},
	{.name = "dir",
	 .letter = 'd',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "DIRECTORY",
	 .many = true,
	 .doc = "Record only files below this directory."},
	{.name = "filesystem",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "TYPE",
	 .many = true,
	 .doc = "Record only files on file systems of this type, as in /proc/filesystems."},
	{.name = "types",
	 .letter = 't',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "LETTERS",
	 .doc = "Record only these: O open, C create, R read, W write, U unlink, X close, M map, N "
		"rename, T truncate."},
	{.name = "buffer",
	 .type = LEAT_OPTION_SIZE,
	 .argument = "SIZE",
	 .doc = "Size of the buffer between the traced program and the tracer, if it has one; its "
		"own choice "
		"if "
		"not given."},
	{.name = "overlay",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "DIRECTORY",
	 .doc = "For the fuse tracer: the directory that it lays itself over."},
	LEAT_OPTION_ROW_LISTEN,
	{0},
};

/* ---- signals ---- */

static volatile bool stop;

/* A tracer that was about to wait did not see it: it is woken until it has. */
static void on_stop(int signo)
{
	(void)signo;
	stop = true;
	alarm(1);
}

static void on_nothing(int signo)
{
	(void)signo;
}

static void handle(int signo, void (*handler)(int))
{
	struct sigaction old, new = {.sa_handler = handler};

	/* Who had us ignore it means the command, too. */
	if (sigaction(signo, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(signo, &new, NULL);
}

/* What a terminal sends reaches the command by itself. All that is handled is as before for the
 * command, since it is executed. */
static void watch_signals(bool command)
{
	stop = false;
	handle(SIGALRM, on_stop);
	handle(SIGTERM, on_stop);
	handle(SIGHUP, on_stop);
	handle(SIGINT, command ? on_nothing : on_stop);
	handle(SIGQUIT, command ? on_nothing : on_stop);
}

/* ---- metrics while it runs ---- */

/* The tracer's thread counts on meanwhile. */
static double read_counter(const uint64_t *counter)
{
	return (double)*(const volatile uint64_t *)counter;
}

static int put_progress(void *ctx, FILE *out)
{
	static const struct {
		enum leat_trace_type type;
		const char *name;
	} types[] = {
		{LEAT_TRACE_OPEN, "open"},         {LEAT_TRACE_CREATE, "create"},
		{LEAT_TRACE_READ, "read"},         {LEAT_TRACE_WRITE, "write"},
		{LEAT_TRACE_UNLINK, "unlink"},     {LEAT_TRACE_CLOSE, "close"},
		{LEAT_TRACE_MAP, "map"},           {LEAT_TRACE_RENAME, "rename"},
		{LEAT_TRACE_TRUNCATE, "truncate"},
	};
	const struct leat_trace_progress *p = ctx;

	leat_metric(out, "leat_trace_calls_total", "counter", "Calls on files that were recorded.");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		leat_metric_sample(out, "leat_trace_calls_total", "type", types[i].name,
				   read_counter(&p->calls[types[i].type]));
	leat_metric(out, "leat_trace_bytes_total", "counter", "Bytes that they moved.");
	leat_metric_sample(out, "leat_trace_bytes_total", "direction", "read",
			   read_counter(&p->bytes_read));
	leat_metric_sample(out, "leat_trace_bytes_total", "direction", "write",
			   read_counter(&p->bytes_written));
	leat_metric(out, "leat_trace_processes_total", "counter", "Processes that were traced.");
	leat_metric_sample(out, "leat_trace_processes_total", NULL, NULL,
			   read_counter(&p->processes));
	leat_metric(out, "leat_trace_lost_total", "counter", "Records that are missing.");
	for (enum leat_trace_loss why = 0; why < LEAT_TRACE_LOSSES; why++)
		leat_metric_sample(out, "leat_trace_lost_total", "cause", leat_trace_loss_name(why),
				   read_counter(&p->lost[why]));
	return 0;
}

/* ---- all ---- */

static const struct leat_tracer *named_tracer(const char *name,
					      const struct leat_trace_request *request)
{
	const struct leat_tracer_row *row = leat_tracer_find(name);
	char why[512] = "";

	if (!row->tracer)
		leat_error("this leat was built without the %s tracer: %s", name, row->missing);
	else if (row->tracer->usable(request, why, sizeof(why)) == 0)
		return row->tracer;
	else
		leat_error("the %s tracer cannot do that: %s", name, why);
	return NULL;
}

static const struct leat_tracer *choose(const struct leat_args *args,
					const struct leat_trace_request *request)
{
	const char *name = leat_args_text(args, "tracer");
	const struct leat_tracer *tracer;
	char why[2048];

	if (strcmp(name, "auto") != 0)
		return named_tracer(name, request);
	tracer = leat_tracer_choose(request, why, sizeof(why));
	if (!tracer)
		leat_error("no tracer can do that: %s", why);
	else
		fprintf(stderr, "leat: traced by %s, %s%s\n", tracer->name,
			*why ? "the first that can do it here: " : "the first choice", why);
	return tracer;
}

/* Let the tracer run; the trace is at its end then. The exit status. */
static int record(const char *path, const struct leat_tracer *tracer,
		  const struct leat_trace_request *request)
{
	struct leat_trace_tail tail = {0};
	int status = 0, rc, end;

	watch_signals(request->argv != NULL);
	rc = tracer->run(request, &status);
	alarm(0);
	end = leat_trace_writer_end(request->out, &tail);
	if (end && !rc)
		leat_error("cannot write the trace %s: %s", path, strerror(-end));
	leat_cli_trace_report_end(path, request->progress, &tail);
	return rc || end ? LEAT_EXIT_SELF : leat_process_exit_status(status);
}

static int trace(const struct leat_args *args, struct leat_trace_request *request)
{
	const char *path = leat_args_text(args, "output");
	const struct leat_tracer *tracer = choose(args, request);
	struct leat_trace_progress progress = {0};
	struct leat_listen *listen = NULL;
	int status;

	if (!tracer)
		return LEAT_EXIT_SELF;
	status = leat_listen_begin(args, put_progress, &progress, &listen);
	if (status)
		return status;
	request->out = leat_cli_trace_begin(path, tracer->name, request->argv);
	request->progress = &progress;
	request->stop = &stop;
	status = request->out ? record(path, tracer, request) : LEAT_EXIT_SELF;
	request->progress = NULL;
	leat_listen_end(listen);
	return status;
}

/* Either a command, or processes that run already. */
static int check_what(const struct leat_args *args, const struct leat_trace_request *request)
{
	bool all = leat_args_flag(args, "all"), pids = request->filter.n_pids > 0;
	const char *wrong = NULL;

	if (request->argv && (all || pids))
		wrong = "give either a command, or --all or --pid";
	else if (all && pids)
		wrong = "--all records every process, --pid only some: give one of them";
	else if (!request->argv && !all && !pids)
		wrong = "missing command: give one, or --pid or --all";
	if (!wrong)
		return 0;
	leat_error("trace: %s", wrong);
	return LEAT_EXIT_USAGE;
}

static int trace_command(const struct leat_args *args)
{
	struct leat_trace_request request = {
		.argv = args->n_operands ? args->operands : NULL,
		.buffer_bytes = leat_args_size_bytes(args, "buffer"),
		.overlay = leat_args_text(args, "overlay"),
	};
	struct leat_cli_filter filter;
	int status = leat_cli_filter_init(&filter, args);

	if (status)
		return status;
	request.filter = filter.filter;
	status = check_what(args, &request);
	if (!status)
		status = trace(args, &request);
	leat_cli_filter_release(&filter);
	return status;
}

const struct leat_command leat_command_trace = {
	.name = "trace",
	.summary = "Record what a command does to files",
	.operands = "[COMMAND [ARGUMENT...]]",
	.max_operands = -1,
	.options_first = true,
	.options = options,
	.run = trace_command,
};
