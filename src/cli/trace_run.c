#include "cli/trace_run.h"

#include "base/elf.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/trace_file.h"
#include "cli/workflow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Steps on plain files do without the library, which now is to record what they do. */
static int set_preload(void)
{
	const char *old = getenv("LD_PRELOAD");
	char *library = leat_cli_library(), *value;
	int status = LEAT_EXIT_SELF;

	if (!library)
		return status;
	value = leat_strf("%s%s%s", library, old && *old ? ":" : "", old ? old : "");
	if (value && setenv("LD_PRELOAD", value, 1) == 0 &&
	    setenv("LEAT_TRACE_BUFFER_ONLY", "1", 1) == 0)
		status = 0;
	else
		leat_error("out of memory");
	free(value);
	free(library);
	return status;
}

int leat_cli_trace_run_begin(struct leat_cli_trace_run *t, const struct leat_args *args, bool plain)
{
	static char leat[] = "leat", run[] = "run";
	char *const command[] = {leat, run, args->operands[0], NULL};
	char why[256];

	*t = (struct leat_cli_trace_run){.path = leat_args_text(args, "trace")};
	if (!t->path)
		return 0;
	if (leat_trace_background_usable(why, sizeof(why)) < 0) {
		leat_error("--trace %s: %s", t->path, why);
		return LEAT_EXIT_SELF;
	}
	if (plain && set_preload())
		return LEAT_EXIT_SELF;
	t->request.out = leat_cli_trace_begin(t->path, "preload", command);
	if (!t->request.out)
		return LEAT_EXIT_SELF;
	t->request.progress = &t->progress;
	t->background = leat_trace_background_start(&t->request);
	if (t->background)
		return 0;
	leat_trace_writer_end(t->request.out, NULL);
	t->path = NULL;
	return LEAT_EXIT_SELF;
}

/* Can the library not be in the step's own program, nor a mount's server see what that does? */
static bool is_unseen(const struct leat_plan *plan, size_t step, bool plain)
{
	enum leat_elf_kind kind;
	int fd;

	if (!plain && !plan->wf->steps[step].staged)
		return false;
	fd = open(plan->programs[step], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	kind = leat_elf_inspect(fd, pread);
	close(fd);
	return leat_elf_obstacle(kind) != NULL;
}

static void warn_unseen(const struct leat_cli_trace_run *t, const struct leat_plan *plan,
			const struct leat_result *result, bool plain)
{
	char *text = NULL;
	size_t size = 0;
	FILE *names = open_memstream(&text, &size);
	bool any = false;

	for (size_t i = 0; names && i < result->n_steps; i++) {
		if (!result->steps[i].start_ns || !is_unseen(plan, i, plain))
			continue;
		fprintf(names, "%s%s", any ? ", " : "", result->steps[i].name);
		any = true;
	}
	if (names && fclose(names) == 0 && any)
		leat_warn("the trace %s lacks what steps on plain files did that cannot load the "
			  "library (statically linked and the like): %s; "
			  "leat trace --tracer ptrace -- leat run sees them",
			  t->path, text);
	free(text);
}

int leat_cli_trace_run_end(struct leat_cli_trace_run *t, const struct leat_plan *plan,
			   const struct leat_result *result, bool plain)
{
	struct leat_trace_tail tail = {0};
	int rc, end;

	if (!t->path)
		return 0;
	rc = leat_trace_background_end(t->background);
	end = leat_trace_writer_end(t->request.out, &tail);
	if (end && !rc)
		leat_error("cannot write the trace %s: %s", t->path, strerror(-end));
	warn_unseen(t, plan, result, plain);
	leat_cli_trace_report_end(t->path, &t->progress, &tail);
	return rc || end ? LEAT_EXIT_SELF : 0;
}
