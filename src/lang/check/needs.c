/* What steps ask of the machine, and what the resources have. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lang/syntax/diagnostics.h"
#include "model/view.h"

static bool asks_for_device(const struct leat_needs *needs)
{
	return needs->io && (needs->device || needs->bandwidth.kind != LEAT_BANDWIDTH_NONE);
}

static struct leat_pos device_pos(const struct leat_needs *needs)
{
	return needs->device ? needs->device_pos : needs->bandwidth_pos;
}

int leat_check_needs_units(const struct leat_check_context *ctx)
{
	const struct leat_resources *res = ctx->wf->resources;
	unsigned most = 0;

	for (size_t h = 0; res && h < res->n_hosts; h++)
		if (res->hosts[h].computing_units > most)
			most = res->hosts[h].computing_units;
	for (size_t s = 0; res && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		if (step->needs.computing_units > most)
			leat_lang_report(
				ctx->diags, L_CHECK_NEEDS_UNITS, step->needs.units_pos,
				"\"%s\" requests %u computing units, but no node has more than %u",
				step->name, step->needs.computing_units, most);
	}
	return 0;
}

int leat_check_limit_staged(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		if (step->staged && step->needs.limit_mbps)
			leat_lang_report(ctx->diags, L_CHECK_LIMIT_STAGED, step->needs.limit_pos,
					 "\"%s\" is staged: leat does not intercept its calls and "
					 "cannot limit it to %u MB/s",
					 step->name, step->needs.limit_mbps);
	}
	return 0;
}

int leat_check_needs_resources(const struct leat_check_context *ctx)
{
	for (size_t s = 0; !ctx->wf->resources && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];

		if (asks_for_device(&step->needs))
			leat_lang_report(ctx->diags, L_CHECK_NEEDS_RESOURCES,
					 device_pos(&step->needs),
					 "\"%s\" requests a storage device or its bandwidth, but "
					 "the file has no \"resources\": add them, or give a "
					 "resources file with --resources (leat probe writes one)",
					 step->name);
	}
	return 0;
}

/* The device of a step on host `h`, or NULL; *known is false if that depends on the workflow's
 * directory, which is not looked at. 0 or -ENOMEM. */
static int find_on(const struct leat_check_context *ctx, const struct leat_step *step, size_t h,
		   const struct leat_device **device, bool *known)
{
	*device = NULL;
	*known = step->needs.device || ctx->ready;
	if (step->needs.device)
		*device = leat_resources_find_device(ctx->wf->resources, h, step->needs.device);
	else if (ctx->ready)
		return leat_step_find_device(step, ctx->dir, ctx->wf->resources, h, device);
	return 0;
}

/* --- a device that is not there ---------------------------------------- */

/* Names of devices, and the one that was probably meant by `name`. */
struct names {
	const char *name, *near;
	unsigned distance;
	char all[200];
};

static void add_names(struct names *n, const struct leat_device *devices, size_t n_devices)
{
	for (size_t i = 0; i < n_devices; i++) {
		unsigned distance = leat_str_distance(devices[i].name, n->name);
		size_t used = strlen(n->all);
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "\"%.50s\"", devices[i].name);
		if (!strstr(n->all, quoted))
			snprintf(n->all + used, sizeof(n->all) - used, "%s%s", used ? ", " : "",
				 quoted);
		if (distance >= n->distance)
			continue;
		n->distance = distance;
		n->near = devices[i].name;
	}
}

static void report_unknown(const struct leat_check_context *ctx, const struct leat_step *step)
{
	const struct leat_resources *res = ctx->wf->resources;
	struct names names = {.name = step->needs.device, .distance = 3};

	for (size_t h = 0; h < res->n_hosts; h++)
		add_names(&names, res->hosts[h].devices, res->hosts[h].n_devices);
	add_names(&names, res->shared, res->n_shared);
	if (names.near)
		leat_lang_report(ctx->diags, L_CHECK_NEEDS_DEVICE, step->needs.device_pos,
				 "no storage device is called \"%s\"; did you mean \"%s\"?",
				 names.name, names.near);
	else
		leat_lang_report(ctx->diags, L_CHECK_NEEDS_DEVICE, step->needs.device_pos,
				 "no storage device is called \"%s\"; the resources have %s",
				 names.name, names.all[0] ? names.all : "none");
}

static void report_nowhere(const struct leat_check_context *ctx, const struct leat_step *step)
{
	const char *file = step->outputs.n  ? step->outputs.v[0].text
			   : step->inputs.n ? step->inputs.v[0].text
					    : ".";

	leat_lang_report(ctx->diags, L_CHECK_NEEDS_DEVICE, step->needs.bandwidth_pos,
			 "\"%s\" requests bandwidth of the storage device that holds %s in %s, but "
			 "no device of the resources has that path: add it to the \"paths\" of "
			 "one, or give \"device\"",
			 step->name, file, ctx->dir);
}

int leat_check_needs_device(const struct leat_check_context *ctx)
{
	const struct leat_resources *res = ctx->wf->resources;

	for (size_t s = 0; res && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];
		const struct leat_device *device = NULL;
		bool known = true;

		if (!asks_for_device(&step->needs))
			continue;
		for (size_t h = 0; !device && known && h < res->n_hosts; h++)
			if (find_on(ctx, step, h, &device, &known))
				return -ENOMEM;
		if (!device && step->needs.device)
			report_unknown(ctx, step);
		else if (!device && known)
			report_nowhere(ctx, step);
	}
	return 0;
}

/* --- bandwidth --------------------------------------------------------- */

/* The most that a node which runs I/O tasks sees of the step's device, in *most; 0: there is none
 * such node. *device: one of them, or NULL. 0 or -ENOMEM. */
static int find_most(const struct leat_check_context *ctx, const struct leat_step *step,
		     const struct leat_device **device, unsigned *most)
{
	const struct leat_resources *res = ctx->wf->resources;

	*device = NULL;
	*most = 0;
	for (size_t h = 0; h < res->n_hosts; h++) {
		const struct leat_device *here;
		bool known;

		if (find_on(ctx, step, h, &here, &known))
			return -ENOMEM;
		if (!here)
			continue;
		*device = here;
		if (res->hosts[h].io_executors && here->bandwidth_mbps > *most)
			*most = here->bandwidth_mbps;
	}
	return 0;
}

int leat_check_needs_bandwidth(const struct leat_check_context *ctx)
{
	for (size_t s = 0; ctx->wf->resources && s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];
		const struct leat_needs *needs = &step->needs;
		const struct leat_device *device;
		char asked[64];
		unsigned most;

		if (!asks_for_device(needs))
			continue;
		if (find_most(ctx, step, &device, &most))
			return -ENOMEM;
		leat_bandwidth_format(&needs->bandwidth, asked, sizeof(asked));
		if (device && !most)
			leat_lang_report(
				ctx->diags, L_CHECK_NEEDS_BANDWIDTH, device_pos(needs),
				"no node with the storage device \"%s\" has I/O executors: raise "
				"\"io_executors\"",
				device->name);
		else if (device && needs->bandwidth.min > most)
			leat_lang_report(ctx->diags, L_CHECK_NEEDS_BANDWIDTH, needs->bandwidth_pos,
					 "\"%s\" requests %s MB/s, but storage device \"%s\" has "
					 "only %u MB/s",
					 step->name, asked, device->name, most);
	}
	return 0;
}

/* --- what would wait for itself ---------------------------------------- */

static bool is_in_cycle(const struct leat_check_context *ctx, size_t step)
{
	for (size_t i = 0; i < ctx->wf->n_steps; i++)
		if (leat_are_on_cycle(ctx->m, (int)i, (int)step))
			return true;
	return false;
}

int leat_check_needs_stream(const struct leat_check_context *ctx)
{
	for (size_t s = 0; s < ctx->wf->n_steps; s++) {
		const struct leat_step *step = &ctx->wf->steps[s];
		bool versions = false;

		if (!step->needs.io)
			continue;
		for (size_t i = 0; i < step->n_inports; i++)
			versions |= leat_inport_has_versions(&step->inports[i]);
		if (versions)
			leat_lang_report(ctx->diags, L_CHECK_NEEDS_STREAM, step->needs.io_pos,
					 "\"%s\" reads versions while they are produced, but an "
					 "I/O task starts only when all its inputs are complete: "
					 "leave out \"io\" or \"io_freq\", or read the files of "
					 "instances by name (\"task.*/file\")",
					 step->name);
		else if (is_in_cycle(ctx, s))
			leat_lang_report(ctx->diags, L_CHECK_NEEDS_STREAM, step->needs.io_pos,
					 "\"%s\" is in a cycle of steps, but an I/O task starts "
					 "only when all its inputs are complete: leave out \"io\"",
					 step->name);
	}
	return 0;
}
