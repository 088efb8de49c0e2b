/* leat report: where the time for input and output goes, of what traces tell. */
#include "report/report.h"

#include "base/log.h"
#include "page/page.h"
#include "cli/command.h"
#include "cli/map_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct leat_option options[] = {
	{.name = "html",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .doc = "Write the report as a page for a browser; - is standard output. It holds all it "
		"needs."},
	{.name = "json",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .doc = "Write it as a JSON document; - is standard output."},
	{.name = "perfetto",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .doc = "Write trace events, which ui.perfetto.dev and chrome://tracing read."},
	{.name = "task",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "PATTERN",
	 .doc = "Only tasks whose name contains this or, with wildcards, is like it."},
	{.name = "file",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "PATTERN",
	 .doc = "Only files whose path contains this or, with wildcards, is like it."},
	{.name = "top",
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "N",
	 .fallback = "12",
	 .range = "1..1000000",
	 .doc = "Number of rows of each table of the text."},
	LEAT_OPTION_ROWS_MAP,
	{0},
};

/* ---- writing ---- */

static int write_whole(const struct leat_report *r, FILE *out)
{
	return leat_report_write_json(r, &leat_report_whole, out);
}

static const struct output {
	const char *option;
	int (*write)(const struct leat_report *r, FILE *out);
} outputs[] = {{"html", leat_report_write_page},
	       {"json", write_whole},
	       {"perfetto", leat_report_write_perfetto}};

enum { OUTPUTS = sizeof(outputs) / sizeof(*outputs) };

static bool is_standard(const char *path)
{
	return !strcmp(path, "-");
}

struct open_output {
	FILE *file;
	bool made; /* it was not there before */
};

/* What is there already stays until there is a report to take its place. */
static int begin_output(const char *path, struct open_output *o)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	o->made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	return o->file ? 0 : -errno;
}

/* Nothing was written to it. */
static void drop_output(const char *path, struct open_output *o)
{
	if (!o->file || o->file == stdout)
		return;
	fclose(o->file);
	if (o->made)
		unlink(path);
}

/* Before the traces are read: that takes long. */
static bool open_outputs(const struct leat_args *args, struct open_output files[OUTPUTS])
{
	if (leat_args_text(args, "html") && !leat_page_possible()) {
		leat_error("--html %s: " LEAT_PAGE_MISSING "; --json writes the report as data",
			   leat_args_text(args, "html"));
		return false;
	}
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = leat_args_text(args, outputs[i].option);

		if (!path)
			continue;
		if (is_standard(path))
			files[i].file = stdout;
		else if (begin_output(path, &files[i])) {
			leat_error("cannot write %s: %s", path, strerror(errno));
			return false;
		}
	}
	return true;
}

static bool write_output(const struct leat_args *args, size_t i, const struct leat_report *r,
			 FILE **file)
{
	const char *path = leat_args_text(args, outputs[i].option);
	int error = 0;

	/* Pipes and devices are not cut. */
	if (*file != stdout && ftruncate(fileno(*file), 0) < 0 && errno != EINVAL)
		error = -errno;
	if (!error)
		error = outputs[i].write(r, *file);
	if (*file != stdout && fclose(*file) && !error)
		error = -errno;
	*file = NULL;
	if (error)
		leat_error("cannot write %s: %s", path, strerror(-error));
	return !error;
}

static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

static bool write_text(const struct leat_args *args, const struct leat_report *r)
{
	int error;

	setlocale(LC_CTYPE, "");
	error = leat_report_write_text(r, stdout, terminal_width(),
				       !strcmp(nl_langinfo(CODESET), "UTF-8"),
				       (uint32_t)leat_args_number(args, "top"));
	if (error)
		leat_error("cannot write the report: %s", strerror(-error));
	return !error;
}

static bool write_all(const struct leat_args *args, const struct leat_report *r,
		      struct open_output files[OUTPUTS])
{
	bool good = true, any = false;

	for (size_t i = 0; i < OUTPUTS; i++) {
		if (!files[i].file)
			continue;
		any = true;
		good &= write_output(args, i, r, &files[i].file);
	}
	return any ? good : write_text(args, r);
}

static struct leat_trace_reader *open_traces(void *ctx)
{
	return leat_cli_map_read(ctx);
}

static bool report(const struct leat_args *args, struct leat_cli_map *c,
		   struct open_output files[OUTPUTS])
{
	struct leat_report_request request = {.open = open_traces,
					      .ctx = c,
					      .map = c->map,
					      .runs = c->runs,
					      .n_runs = c->n_runs,
					      .slurm = leat_args_flag(args, "slurm"),
					      .task = leat_args_text(args, "task"),
					      .file = leat_args_text(args, "file")};
	struct leat_report *r;
	bool good;

	if (leat_report_new(&request, &r))
		return false;
	if (leat_report_is_partial(r))
		leat_warn("the report is incomplete; it says what is missing");
	good = write_all(args, r, files);
	leat_report_free(r);
	return leat_cli_map_believed(c) && good;
}

static int report_command(const struct leat_args *args)
{
	struct open_output files[OUTPUTS] = {0};
	struct leat_cli_map c;
	bool good =
		leat_cli_map_open(&c, args) && open_outputs(args, files) && report(args, &c, files);

	for (size_t i = 0; i < OUTPUTS; i++)
		drop_output(leat_args_text(args, outputs[i].option), &files[i]);
	leat_cli_map_close(&c);
	return good ? LEAT_EXIT_OK : LEAT_EXIT_FAILURE;
}

const struct leat_command leat_command_report = {
	.name = "report",
	.summary = "Show where the time for input and output goes, from traces",
	.operands = "TRACE|LOG...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.run = report_command,
};
