#include "driver/start.h"

#include "base/str.h"
#include "driver/internal.h"
#include "driver/mounted.h"
#include "driver/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool leat_start_is_mounted(const struct leat_driver_config *config, size_t step)
{
	return config->mount_command && config->plan->mounted[step];
}

/* Put what it needs before the program's own command line. */
static int wrap(struct leat_start *s, const struct leat_driver_config *config, size_t step)
{
	unsigned nprocs = config->plan->wf->steps[step].nprocs;

	if (leat_start_is_mounted(config, step)) {
		s->mounted = leat_mounted_argv(config->mount_command, s->program, s->own);
		s->argv = s->mounted;
		s->program = config->mount_command;
		if (!s->mounted)
			return -ENOMEM;
	}
	if (nprocs > 1) {
		s->job = leat_mpi_argv(config->plan->launcher, nprocs, s->program, s->argv,
				       s->number);
		s->argv = s->job;
		s->program = config->plan->launcher[0];
		if (!s->job)
			return -ENOMEM;
	}
	return 0;
}

int leat_start_init(struct leat_start *s, const struct leat_driver_config *config, size_t step,
		    const char *file)
{
	const struct leat_step *model = &config->plan->wf->steps[step];

	*s = (struct leat_start){.program = config->plan->programs[step]};
	s->dir = model->dir ? leat_path_join(config->dir, model->dir) : strdup(config->dir);
	s->own = leat_launch_argv(model, file);
	s->argv = s->own;
	return s->dir && s->own ? wrap(s, config, step) : -ENOMEM;
}

void leat_start_release(struct leat_start *s)
{
	leat_launch_free_argv(s->own);
	free(s->mounted);
	free(s->job);
	free(s->dir);
	*s = (struct leat_start){0};
}

struct leat_environment_spec leat_start_environment(const struct leat_driver_config *config,
						    size_t step, const char *key)
{
	const struct leat_workflow *wf = config->plan->wf;
	const struct leat_step *model = &wf->steps[step];

	return (struct leat_environment_spec){
		.dir = config->dir,
		.plain = model->staged || !config->library,
		.within = model->dir ? model->dir : "",
		.step = model->name,
		.workflow = wf->name,
		.task = model->ensemble > 1 ? model->task : NULL,
		.instance = model->instance,
		.instances = model->ensemble,
		.mpi = model->nprocs > 1,
		.runtime_dir = config->runtime_dir,
		.library = model->staged || leat_start_is_mounted(config, step) ? NULL
										: config->library,
		.mount = config->mount_command,
		.sealed = config->sealed,
		.key = config->enforce ? key : NULL};
}
