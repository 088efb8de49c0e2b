/* What became of files: from the daemon, or, where there is none, from what is known of steps. */
#include "driver/internal.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "control/status.h"
#include "resume/state_dir.h"
#include "store/persist.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void leat_driver_take_summary(struct leat_driver *d, const char *json)
{
	int error = leat_status_losses(json, d->result);

	if (error)
		leat_error("the daemon's summary is not what it should be: %s", strerror(-error));
	else
		leat_driver_go_on(d, LEAT_DRIVER_EVENT_SUM_UP);
	leat_driver_report_unmade(d);
}

/* Outputs may be patterns: then nobody knows the names. */
static void lose_outputs(struct leat_driver *d, size_t step, const char *why)
{
	const struct leat_step *model = &d->wf->steps[step];

	for (size_t i = 0; i < model->outputs.n; i++)
		if (leat_result_lose(d->result, model->outputs.v[i].text, model->name, why) < 0)
			leat_error("out of memory");
}

void leat_driver_count_losses(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_step_result *r = &d->result->steps[i];
		char why[600], status[48];

		if (leat_step_is_good(r) && !d->config->control)
			continue;
		snprintf(why, sizeof(why), "step %s: %s%s%s", r->name,
			 leat_format_status(r, status), r->cause ? ": " : "",
			 r->cause ? r->cause : "");
		lose_outputs(d, i,
			     leat_step_is_good(r) ? "the daemon ended before it was known to be "
						    "complete"
						  : why);
	}
}

/* ---- what failed steps have printed ---- */

static void name_output(const struct leat_driver *d, size_t step, char out[NAME_MAX + 1])
{
	leat_kept_name(d->wf->name ? d->wf->name : "", d->wf->steps[step].name, out);
}

void leat_driver_keep_output(struct leat_driver *d, size_t step)
{
	struct leat_step_result *r = &d->result->steps[step];
	char name[NAME_MAX + 1], *place, *path;
	int fd, rc;

	if (!d->steps[step].printed.total_bytes)
		return;
	name_output(d, step, name);
	fd = leat_state_dir_open(d->config->dir, true, &place);
	rc = fd < 0 ? fd : leat_kept_save(&d->steps[step].printed, fd, name);
	leat_close(&fd);
	path = leat_path_join(place, name);
	if (rc)
		leat_warn("what step %s printed cannot be kept in %s: %s (LEAT_STATE_DIR may name "
			  "another directory)",
			  d->wf->steps[step].name, path ? path : name, leat_state_dir_error(-rc));
	else if (!r->log)
		r->log = path;
	if (r->log != path)
		free(path);
	free(place);
}

void leat_driver_keep_outputs(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->result->steps[i].start_ns && !leat_step_is_good(&d->result->steps[i]))
			leat_driver_keep_output(d, i);
}

void leat_driver_forget_outputs(struct leat_driver *d)
{
	char name[NAME_MAX + 1], old[NAME_MAX + sizeof(LEAT_TEMPORARY_PREFIX)], *place;
	int fd = leat_state_dir_open(d->config->dir, false, &place);
	int dir = open(d->config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < d->wf->n_steps; i++) {
		name_output(d, i, name);
		if (fd >= 0)
			unlinkat(fd, name, 0);
		/* An earlier version's, which no step is to see. */
		snprintf(old, sizeof(old), LEAT_TEMPORARY_PREFIX "%s", name);
		if (dir >= 0)
			unlinkat(dir, old, 0);
	}
	leat_close(&dir);
	leat_close(&fd);
	free(place);
}
