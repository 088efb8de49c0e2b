#include "cli/timeline.h"

#include "base/log.h"
#include "page/page.h"
#include "base/str.h"
#include "cli/command.h"
#include "driver/console.h"

#include <errno.h>
#include <string.h>

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcmp(path + n - m, end);
}

int leat_cli_timeline_open(struct leat_cli_timeline *t, const struct leat_args *args)
{
	*t = (struct leat_cli_timeline){.path = leat_args_text(args, "timeline")};
	if (!t->path)
		return 0;
	t->page = ends_in(t->path, ".html");
	if (!t->page && !ends_in(t->path, ".json")) {
		leat_error("--timeline %s: end its name in .html for a page, or in .json for a "
			   "trace (the chart in the terminal is --chart)",
			   t->path);
		return LEAT_EXIT_USAGE;
	}
	if (t->page && !leat_page_possible()) {
		leat_error("--timeline %s: " LEAT_PAGE_MISSING
			   "; end its name in .json for a trace",
			   t->path);
		return LEAT_EXIT_SELF;
	}
	t->out = fopen(t->path, "we");
	if (t->out)
		return 0;
	leat_error("cannot write the timeline %s: %s", t->path, strerror(errno));
	return LEAT_EXIT_SELF;
}

int leat_cli_timeline_write(struct leat_cli_timeline *t, const struct leat_result *result,
			    const struct leat_workflow *wf, const char *dir)
{
	int error;

	if (!t->out)
		return 0;
	error = t->page ? leat_timeline_write_page(result, wf, dir, t->out)
			: leat_timeline_write_trace(result, wf, t->out);
	if (fclose(t->out) != 0 && !error)
		error = -errno;
	t->out = NULL;
	if (!error)
		return 0;
	leat_error("cannot write the timeline %s: %s", t->path, strerror(-error));
	return LEAT_EXIT_SELF;
}

void leat_cli_timeline_close(struct leat_cli_timeline *t)
{
	if (t->out)
		fclose(t->out);
	t->out = NULL;
}

void leat_cli_summary(const struct leat_args *args, const struct leat_result *result)
{
	if (leat_args_flag(args, "quiet"))
		return;
	if (leat_args_flag(args, "chart"))
		leat_chart_print(result, stdout, leat_console_width(), leat_console_utf8());
	leat_summary_print(result, stdout);
}
