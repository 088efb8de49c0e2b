#include "lang/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/check/internal.h"

const struct leat_check leat_checks[] = {
	{"dep-cycle", "L-CHECK-DEP-CYCLE", "on_file rules do not depend on each other in a circle",
	 leat_check_dep_cycle},
	{"dep-unproduced", "L-CHECK-DEP-UNPRODUCED", "every file_deps entry is produced by a step",
	 leat_check_dep_unproduced},
	{"input-missing", "L-CHECK-INPUT-MISSING", "every input is produced by a step or exists",
	 leat_check_input_missing},
	{"closes-too-few", "L-CHECK-CLOSES-TOO-FEW",
	 "on_close:N counts at least one close for each producer", leat_check_closes_too_few},
	{"count-unreachable", "L-CHECK-COUNT-UNREACHABLE", "counts of commit rules can be reached",
	 leat_check_count_unreachable},
	{"deadlock", "L-CHECK-DEADLOCK", "no step waits for its own termination",
	 leat_check_deadlock},
	{"home-step", "L-CHECK-HOME-STEP", "home nodes name steps that exist",
	 leat_check_home_step},
	{"rule-tie", "L-CHECK-RULE-TIE", "rules of equal specificity agree", leat_check_rule_tie},
	{"permanent-unused", "L-CHECK-PERMANENT-UNUSED",
	 "every entry of permanent matches something that is produced",
	 leat_check_permanent_unused},
	{"exclude-unused", "L-CHECK-EXCLUDE-UNUSED",
	 "every entry of exclude matches something that is declared", leat_check_exclude_unused},
	{"pattern-captures", "L-CHECK-PATTERN-CAPTURES",
	 "no pattern takes the declared file of another step by accident",
	 leat_check_pattern_captures},
	{"two-updaters", "L-CHECK-TWO-UPDATERS",
	 "steps that read and write one file are in an order", leat_check_two_updaters},
	{"outputs-overlap", "L-CHECK-OUTPUTS-OVERLAP",
	 "patterns of steps without an order match no common name", leat_check_outputs_overlap},
	{"private", "L-CHECK-PRIVATE", "what is private to a step can be so", leat_check_private},
	{"symlink", "L-CHECK-SYMLINK",
	 "what is private, or seen in versions or by another name, is where its name says",
	 leat_check_symlink},
	{"retain", "L-CHECK-RETAIN", "what is not retained is read once, while it is written",
	 leat_check_retain},
	{"rule-no-output", "L-CHECK-RULE-NO-OUTPUT", "rules are for files that their step produces",
	 leat_check_rule_no_output},
	{"action-file", "L-CHECK-ACTION-FILE", "the files of actions are there",
	 leat_check_action_file},
	{"container", "L-CHECK-CONTAINER", "the images of containers are there",
	 leat_check_container},
	{"needs-units", "L-CHECK-NEEDS-UNITS",
	 "no task asks for more computing units than there are", leat_check_needs_units},
	{"limit-staged", "L-CHECK-LIMIT-STAGED",
	 "no task that runs outside of leat is held to a rate", leat_check_limit_staged},
	{"needs-device", "L-CHECK-NEEDS-DEVICE", "storage devices of I/O tasks are described",
	 leat_check_needs_device},
	{"needs-bandwidth", "L-CHECK-NEEDS-BANDWIDTH",
	 "no I/O task asks for more bandwidth than its device has", leat_check_needs_bandwidth},
	{"needs-resources", "L-CHECK-NEEDS-RESOURCES",
	 "bandwidth and devices are of resources that are described", leat_check_needs_resources},
	{"needs-stream", "L-CHECK-NEEDS-STREAM", "no I/O task has to run beside what it reads from",
	 leat_check_needs_stream},
	{"action-mode", "L-CHECK-ACTION-MODE", "what actions pass on is not passed on before",
	 leat_check_action_mode},
	{NULL, NULL, NULL, NULL},
};

/* Length of the name of an instance of some ensemble that `text` begins with, and in *task that of
 * its task; 0 if there is none. */
static size_t instance_at(const struct leat_workflow *wf, const char *text, size_t *task)
{
	for (size_t s = 0; s < wf->n_steps; s++) {
		const struct leat_step *step = &wf->steps[s];
		size_t length, digits;

		if (step->ensemble < 2 || *step->task != *text)
			continue;
		length = strlen(step->task);
		if (strncmp(text, step->task, length) || text[length] != '.')
			continue;
		digits = strspn(text + length + 1, "0123456789");
		*task = length;
		if (digits)
			return length + 1 + digits;
	}
	return 0;
}

/* A finding with the numbers of instances left out: the same for all instances of a task. */
static char *without_instances(const void *ctx, const char *text)
{
	char *key = malloc(strlen(text) + 1), *to = key;
	size_t task = 0;

	while (key && *text) {
		size_t n = instance_at(ctx, text, &task);

		if (n) {
			memcpy(to, text, task + 1);
			to += task + 1;
		} else {
			*to++ = *text;
		}
		text += n ? n : 1;
	}
	if (key)
		*to = '\0';
	return key;
}

static bool has_ensembles(const struct leat_workflow *wf)
{
	for (size_t s = 0; s < wf->n_steps; s++)
		if (wf->steps[s].ensemble > 1)
			return true;
	return false;
}

int leat_check_workflow(const struct leat_workflow *wf, const char *dir, bool ready,
			struct leat_diags *d)
{
	struct leat_check_context ctx = {
		.wf = wf,
		.m = leat_matcher_new(wf),
		.dir = dir,
		.ready = ready,
		.diags = d,
		.outputs = leat_check_outputs_new(wf),
	};
	size_t mark = leat_diags_mark(d);
	int rc = ctx.m && ctx.outputs ? 0 : -ENOMEM;

	for (const struct leat_check *c = leat_checks; c->name && !rc; c++)
		rc = c->fn(&ctx);
	if (!rc && has_ensembles(wf))
		rc = leat_diags_fold(d, mark, without_instances, wf);
	leat_check_outputs_free(ctx.outputs);
	leat_matcher_free(ctx.m);
	return rc;
}
