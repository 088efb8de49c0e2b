/* Labels: the variables of a program's environment that a tracer writes down, and the task that
 * they name. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

struct variable {
	const char *name, *value; /* of the environment's text */
};

struct leat_associate_environment {
	struct variable *v; /* owned */
	size_t n, space;
	char *text; /* owned */
};

const char *leat_associate_variable(const struct leat_associate_environment *env, const char *name)
{
	for (size_t i = env->n; i > 0; i--)
		if (strcmp(env->v[i - 1].name, name) == 0)
			return env->v[i - 1].value;
	return NULL;
}

const char *leat_associate_either(const struct leat_associate_environment *env, const char *name,
				  const char *other)
{
	const char *value = leat_associate_variable(env, name);

	return value ? value : leat_associate_variable(env, other);
}

/* Words that are not as they should be are none. 0 or -ENOMEM. */
static int split(struct leat_associate_environment *env)
{
	char *rest = env->text, *word, *value;

	while ((word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!leat_percent_decode(value) || !*value)
			continue;
		if (leat_associate_grow(&env->v, env->n, &env->space, sizeof(*env->v)))
			return -ENOMEM;
		env->v[env->n++] = (struct variable){.name = word, .value = value};
	}
	return 0;
}

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
	struct leat_associate_environment env = {.text = strdup(labels)};
	int error;

	*task = *slurm = LEAT_ASSOCIATE_NONE;
	if (!env.text)
		return -ENOMEM;
	error = split(&env);
	if (!error)
		error = task_of(m, &env, task);
	if (!error)
		error = slurm_of(m, &env, task, slurm);
	free(env.v);
	free(env.text);
	return error;
}
