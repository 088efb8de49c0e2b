#include "lang/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/check/internal.h"

static leat_check_fn *const checks[] = {
#define CHECK(function) function,
#include "lang/check/checks.def"
#undef CHECK
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

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks) && !rc; i++)
		rc = checks[i](&ctx);
	if (!rc && has_ensembles(wf))
		rc = leat_diags_fold(d, mark, without_instances, wf);
	leat_check_outputs_free(ctx.outputs);
	leat_matcher_free(ctx.m);
	return rc;
}
