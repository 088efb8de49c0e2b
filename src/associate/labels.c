/* Labels: the task that the variables of a program's environment name. */
#include "associate/internal.h"

#include <errno.h>
#include <string.h>

/* By the first format whose variables are there. 0 or -ENOMEM. */
static int task_of(struct leat_associate_map *m, const struct leat_associate_environment *env,
		   size_t *task)
{
	int result = 0;

	for (size_t i = 0; leat_associate_formats[i] && !result; i++)
		if (leat_associate_formats[i]->labels)
			result = leat_associate_formats[i]->labels(m, env, task);
	return result < 0 ? result : 0;
}

static int slurm_of(struct leat_associate_map *m, const struct leat_associate_environment *env,
		    size_t *task, size_t *slurm)
{
	const char *job = leat_associate_either(env, "SLURM_JOB_ID", "SLURM_JOBID");
	const char *step = leat_associate_either(env, "SLURM_STEP_ID", "SLURM_STEPID");
	const char *array_job = leat_associate_variable(env, "SLURM_ARRAY_JOB_ID");
	const char *array_task = leat_associate_variable(env, "SLURM_ARRAY_TASK_ID");
	char array[64];
	struct leat_associate_entry *e;

	if (!job)
		return 0;
	if (*task == LEAT_ASSOCIATE_NONE)
		*task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_SLURM, job, strlen(job));
	if (*task == LEAT_ASSOCIATE_NONE && array_job && array_task) {
		snprintf(array, sizeof(array), "%s_%s", array_job, array_task);
		*task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_SLURM, array,
						 strlen(array));
	}
	if (!m->options.slurm)
		return 0;
	e = leat_associate_slurm_entry(m, job, step ? step : "",
				       leat_associate_variable(env, "SLURM_JOB_NAME"));
	if (!e)
		return -ENOMEM;
	*slurm = e->task.number;
	return 0;
}

int leat_associate_labels(struct leat_associate_map *m, const char *labels, size_t *task,
			  size_t *slurm)
{
	struct leat_associate_environment env;
	int error = leat_associate_environment_init(&env, labels);

	*task = *slurm = LEAT_ASSOCIATE_NONE;
	if (!error)
		error = task_of(m, &env, task);
	if (!error)
		error = slurm_of(m, &env, task, slurm);
	leat_associate_environment_release(&env);
	return error;
}
