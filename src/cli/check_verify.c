#include "cli/check_verify.h"

#include "base/log.h"
#include "base/str.h"
#include "cli/command.h"
#include "model/view.h"
#include "stream/verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum leat_verify_style style_of(const char *word)
{
	if (!strcmp(word, "twice"))
		return LEAT_VERIFY_TWICE;
	return strcmp(word, "temporary") ? LEAT_VERIFY_DIRECT : LEAT_VERIFY_TEMPORARY;
}

static struct leat_verify_bounds bounds_of(const struct leat_args *args)
{
	return (struct leat_verify_bounds){
		.closes = (unsigned)leat_args_number(args, "closes"),
		.files = (unsigned)leat_args_number(args, "files"),
		.open = (unsigned)leat_args_number(args, "open"),
		.failures = (unsigned)leat_args_number(args, "failures"),
		.states = (uint64_t)leat_args_number(args, "states"),
		.style = style_of(leat_args_text(args, "writing")),
		.full = leat_args_flag(args, "full"),
	};
}

/* 0 or -errno, logged. */
static int write_log(struct leat_verify *v, const struct leat_verify_finding *f,
		     const char *workflow, const char *file, unsigned number)
{
	char *path = number > 1 ? leat_strf("%s.%u", file, number) : strdup(file);
	FILE *out = path ? fopen(path, "we") : NULL;
	int rc = path && out ? leat_verify_trace(v, f, NULL, out) : -errno;

	if (out && fclose(out) != 0 && !rc)
		rc = -errno;
	if (rc)
		leat_error("cannot write the trace %s: %s", path ? path : file, strerror(-rc));
	else
		printf("     leat replay %s %s\n", workflow, path);
	free(path);
	return rc;
}

static const char *advice(enum leat_verify_kind kind)
{
	switch (kind) {
	case LEAT_VERIFY_DEADLOCK:
		return "let one of them write before it reads, give it the data another way, or "
		       "change the rule of a file in the cycle";
	case LEAT_VERIFY_VIOLATION:
		return "a run would stop here; give the file a rule that fits, such as "
		       "on_termination or on_close:N";
	default:
		return "this is a mistake in leat, not in the workflow; please report it";
	}
}

static int show(struct leat_verify *v, const struct leat_args *args, const char *workflow,
		const struct leat_verify_result *r)
{
	const char *file = leat_args_text(args, "trace");
	int rc = 0;

	for (unsigned i = 0; i < r->n_findings && !rc; i++) {
		const struct leat_verify_finding *f = &r->findings[i];
		const char *kind = leat_verify_kind_name(f->kind);

		if (f->kind == LEAT_VERIFY_DEADLOCK)
			printf("%s after these %u actions:\n", kind, f->length);
		else
			printf("%s: %s, after these %u actions:\n", kind, f->text, f->length);
		rc = leat_verify_trace(v, f, stdout, NULL);
		if (rc)
			leat_error("cannot show the trace: %s", strerror(-rc));
		printf("     (%s)\n", advice(f->kind));
		if (!rc && file)
			rc = write_log(v, f, workflow, file, i + 1);
	}
	return rc;
}

static void sum_up(const struct leat_verify_result *r, const struct leat_verify_bounds *bounds)
{
	printf("%" PRIu64 " states, %" PRIu64 " transitions, up to %u actions: ", r->states,
	       r->transitions, r->depth);
	if (r->n_findings)
		printf("%u found", r->n_findings);
	else
		printf("nothing found");
	if (r->n_findings && !r->ends)
		printf("; no order ends well");
	puts(r->complete ? "" : ", but not all states were seen");
	if (!r->complete)
		leat_warn("gave up after %" PRIu64 " states; more with --states, or fewer to look "
			  "at with --open 1 or --files 1",
			  bounds->states);
}

/* Who is given which version depends on when they ask, which is not explored. */
static bool has_versions(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		for (size_t k = 0; k < wf->steps[i].n_inports; k++) {
			const struct leat_inport *in = &wf->steps[i].inports[k];

			if (!leat_inport_has_versions(in))
				continue;
			leat_error("%s: --verify does not know files in versions (%s of step %s); "
				   "leave it out, or check the workflow without io_freq",
				   wf->path, in->seen.text, wf->steps[i].name);
			return true;
		}
	return false;
}

/* What actions pass on, and when, only they know. */
static bool has_actions(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (wf->steps[i].action_file) {
			leat_error(
				"%s: --verify does not know what the actions of step %s do; check "
				"the workflow without them",
				wf->path, wf->steps[i].name);
			return true;
		}
	return false;
}

int leat_cli_verify(const struct leat_args *args, const struct leat_workflow *wf)
{
	struct leat_verify_bounds bounds = bounds_of(args);
	struct leat_verify_result result = {.states = 0};
	struct leat_matcher *m;
	struct leat_verify *v;
	int rc;

	if (has_versions(wf) || has_actions(wf))
		return LEAT_EXIT_FAILURE;
	m = leat_matcher_new(wf);
	v = m ? leat_verify_new(m, wf, &bounds) : NULL;
	rc = v ? leat_verify_run(v, &result) : m ? -errno : -ENOMEM;
	if (rc == -E2BIG)
		leat_error("%s: too large to be verified: more than 32 steps, 48 files or 80 uses "
			   "of files; fewer files with --files 1",
			   wf->path);
	else if (rc)
		leat_error("%s: %s", wf->path, strerror(-rc));
	else
		rc = show(v, args, wf->path, &result);
	if (!rc)
		sum_up(&result, &bounds);
	leat_verify_free(v);
	leat_matcher_free(m);
	return rc || result.n_findings ? LEAT_EXIT_FAILURE : LEAT_EXIT_OK;
}
