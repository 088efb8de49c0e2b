#include "driver/start.h"

#include "base/str.h"
#include "driver/boxed.h"
#include "driver/internal.h"
#include "driver/mounted.h"
#include "driver/mpi.h"
#include "lang/syntax/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool leat_start_is_mounted(const struct leat_driver_config *config, size_t step)
{
	return config->mount_command && config->plan->mounted[step];
}

bool leat_start_is_boxed(const struct leat_driver_config *config, size_t step)
{
	return config->plan->containers[step].image.name != NULL;
}

/* Put it into its container. */
static int wrap_in_container(struct leat_start *s, const struct leat_driver_config *config,
			     size_t step)
{
	const struct leat_environment_spec spec = leat_start_environment(config, step, "");
	char **environment = leat_environment_new(&spec);
	const char *why;
	int rc = environment ? leat_boxed_argv(config->plan, config->dir, step, s->own, environment,
					       &s->boxed, &why)
			     : -ENOMEM;

	leat_environment_free(environment);
	s->argv = s->boxed.v;
	return rc;
}

/* Put what it needs before the program's own command line. */
static int wrap_command(struct leat_start *s, const struct leat_driver_config *config, size_t step)
{
	unsigned nprocs = config->plan->wf->steps[step].nprocs;

	if (leat_start_is_mounted(config, step)) {
		s->mounted = leat_mounted_argv(config->mount_command, s->program, s->argv);
		s->argv = s->mounted;
		s->program = config->mount_command;
		if (!s->mounted)
			return -ENOMEM;
	}
	if (nprocs > 1 && !leat_start_is_boxed(config, step)) {
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
	int rc = 0;

	*s = (struct leat_start){.program = config->plan->programs[step]};
	s->dir = model->dir ? leat_path_join(config->dir, model->dir) : strdup(config->dir);
	s->own = leat_launch_argv(model, file);
	s->argv = s->own;
	if (!s->dir || !s->own)
		return -ENOMEM;
	if (leat_start_is_boxed(config, step))
		rc = wrap_in_container(s, config, step);
	return rc ? rc : wrap_command(s, config, step);
}

void leat_start_release(struct leat_start *s)
{
	leat_words_free(s->own);
	leat_argv_release(&s->boxed);
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

	/* Batch systems and containers do not always set USER, which charliecloud goes by. */
	return (struct leat_environment_spec){
		.dir = config->dir,
		.plain = model->staged || !config->library,
		.within = model->dir ? model->dir : "",
		.step = model->name,
		.workflow = wf->name,
		.task = model->ensemble > 1 ? model->task : NULL,
		.instance = model->instance,
		.instances = model->ensemble,
		.named = config->plan->containers[step].engine == LEAT_ENGINE_CHARLIECLOUD,
		.mpi = model->nprocs > 1,
		.runtime_dir = config->runtime_dir,
		.library = model->staged || leat_start_is_mounted(config, step) ? NULL
										: config->library,
		.tracer = model->staged ? config->tracer : NULL,
		.mount = config->mount_command,
		.sealed = config->sealed,
		.key = config->enforce ? key : NULL};
}
