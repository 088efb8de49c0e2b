/* What the others ask of a step. */
#include "driver/internal.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

size_t leat_driver_count(const struct leat_driver *d, enum leat_driver_step_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		n += d->steps[i].state == state;
	return n;
}

bool leat_driver_is_busy(const struct leat_driver *d, size_t step)
{
	struct leat_counters now = {0};

	if (d->steps[step].state != LEAT_STEP_RUNNING)
		return false;
	if (d->config->counters)
		d->config->counters(d->config->counters_ctx, step, &now);
	return !now.waiting;
}

int leat_driver_make_dir(const struct leat_driver *d, size_t step)
{
	const char *within = d->wf->steps[step].dir;
	char *dir = within ? leat_path_join(d->config->dir, within) : NULL;
	int result = 0;

	if (within && !dir)
		result = -ENOMEM;
	else if (within && mkdir(dir, 0777) < 0 && errno != EEXIST)
		result = -errno;
	free(dir);
	return result;
}
