/* What shows whose a process is: the names of files it opens, where it starts, its environment. */
#include "associate/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"
#include "base/str.h"

/* ---- paths ---- */

/* The path as the tracer's machine sees it: a new string where that differs, else NULL. */
static char *translate(const struct leat_associate_map *m, const struct leat_associate_image *l,
		       const char *path)
{
	const struct leat_associate_mount *best = NULL;
	size_t best_length = 0;

	for (size_t i = 0; l->mounts && i < m->n_mounts; i++) {
		const struct leat_associate_mount *mount = &m->mounts[i];
		size_t n = leat_associate_path_length(mount->at);

		if (mount->node != l->node || mount->space != l->mounts || n < best_length)
			continue;
		if (n == 1)
			n = 0; /* "/" */
		if (strncmp(path, mount->at, n) != 0 || (path[n] && path[n] != '/'))
			continue;
		best = mount;
		best_length = n;
	}
	if (!best || !best->from)
		return NULL;
	return leat_strf("%.*s%s",
			 strcmp(best->from, "/") == 0 ? 0
						      : (int)leat_associate_path_length(best->from),
			 best->from, path + best_length);
}

/* A touch of a task of one log. 0 or -ENOMEM. */
static int touch(struct leat_associate_map *m, struct leat_associate_image *l, size_t task,
		 int64_t time_ns, bool output)
{
	size_t source = m->tasks[task]->source, at = l->touches;
	struct leat_associate_touch *t;

	while (at != LEAT_ASSOCIATE_NONE && m->touches[at].source != source)
		at = m->touches[at].next;
	if (at == LEAT_ASSOCIATE_NONE) {
		if (leat_associate_grow(&m->touches, m->n_touches, &m->space_touches,
					sizeof(*m->touches)))
			return -ENOMEM;
		m->touches[m->n_touches] =
			(struct leat_associate_touch){.image = (size_t)(l - m->images),
						      .source = source,
						      .task = task,
						      .ns = time_ns,
						      .other = LEAT_ASSOCIATE_NONE,
						      .outputs = output,
						      .next = l->touches};
		l->touches = m->n_touches++;
		return 0;
	}
	t = &m->touches[at];
	if (t->task != task && t->other == LEAT_ASSOCIATE_NONE) {
		t->other = task;
		t->other_ns = time_ns;
	}
	return 0;
}

/* The name's task in each log. */
static void claim(struct leat_associate_map *m, struct leat_associate_image *l,
		  const struct leat_associate_name *name, int64_t time_ns, bool output)
{
	for (; name; name = name->also)
		if (touch(m, l, name->task, time_ns, output))
			m->failed = true;
}

enum role { NOBODY, TASK, MANAGER };

/* Files that Nextflow puts into each work directory: the manager writes the scripts and reads what
 * came of them; the task does it the other way round. */
static enum role nextflow_role(const char *name, bool writes)
{
	static const char *const scripts[] = {".command.run", ".command.sh"};
	static const char *const results[] = {".exitcode", ".command.begin", ".command.out",
					      ".command.err", ".command.trace"};

	if (name[0] != '.')
		return NOBODY;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (strcmp(name, scripts[i]) == 0)
			return writes ? MANAGER : TASK;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (strcmp(name, results[i]) == 0)
			return writes ? TASK : NOBODY;
	return NOBODY;
}

static bool is_log(const struct leat_associate_map *m, const char *path, const char *name)
{
	for (size_t i = 0; i < m->n_sources; i++) {
		const struct leat_associate_source *s = &m->sources[i];
		const char *own = strrchr(s->path, '/');

		if (s->real && strcmp(s->real, path) == 0)
			return true;
		/* Its name has the time in it: a copy is known by that. */
		if (s->kind == LEAT_ASSOCIATE_SNAKEMAKE &&
		    strcmp(own ? own + 1 : s->path, name) == 0)
			return true;
	}
	return false;
}

/* An output, or what is in a directory that is one. */
static const struct leat_associate_name *output_of(const struct leat_associate_map *m,
						   const char *path)
{
	const struct leat_associate_name *name = NULL;

	if (!m->names[LEAT_ASSOCIATE_NAME_OUTPUT])
		return NULL;
	for (size_t n = strlen(path); n && !name; n--)
		if (!path[n] || path[n] == '/')
			name = leat_associate_name_of(m, LEAT_ASSOCIATE_NAME_OUTPUT, path, n);
	return name;
}

static bool claim_path(struct leat_associate_map *m, struct leat_associate_image *l,
		       const char *path, bool writes, int64_t time_ns)
{
	const char *slash = strrchr(path, '/');
	const struct leat_associate_name *name;
	enum role role;

	if (!slash)
		return false;
	role = nextflow_role(slash + 1, writes);
	if (role != NOBODY) {
		name = leat_associate_dir_of(m, path, (size_t)(slash - path));
		if (!name)
			return false;
		if (role == MANAGER)
			l->manager = true;
		else
			claim(m, l, name, time_ns, false);
		return true;
	}
	if (!writes)
		return false;
	if (is_log(m, path, slash + 1)) {
		l->manager = true;
		return true;
	}
	name = output_of(m, path);
	claim(m, l, name, time_ns, true);
	return name;
}

static void claim_seen(struct leat_associate_map *m, struct leat_associate_image *l,
		       const char *path, bool writes, int64_t time_ns)
{
	char *outside;

	if (claim_path(m, l, path, writes, time_ns))
		return;
	outside = translate(m, l, path);
	if (outside)
		claim_path(m, l, outside, writes, time_ns);
	free(outside);
}

int leat_associate_claim_call(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_call *call)
{
	bool writes = call->type == LEAT_TRACE_CREATE || (call->flags & O_ACCMODE) != O_RDONLY ||
		      (call->flags & O_TRUNC);

	if (call->result < 0)
		return 0;
	if (call->type == LEAT_TRACE_OPEN || call->type == LEAT_TRACE_CREATE)
		claim_seen(m, l, call->path, writes, call->start_ns);
	else if (call->type == LEAT_TRACE_RENAME && call->to)
		claim_seen(m, l, call->to, true, call->start_ns);
	return m->failed ? -ENOMEM : 0;
}

int leat_associate_claim_exec(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_process *p)
{
	const struct leat_associate_name *name;
	size_t inherited = l->label;
	char *outside;

	l->label = l->slurm = LEAT_ASSOCIATE_NONE;
	if (p->labels && leat_associate_labels(m, p->labels, &l->label, &l->slurm))
		return -ENOMEM;
	l->fresh = l->label != LEAT_ASSOCIATE_NONE && l->label != inherited;
	if (!p->dir)
		return 0;
	name = leat_associate_dir_of(m, p->dir, leat_associate_path_length(p->dir));
	outside = name ? NULL : translate(m, l, p->dir);
	if (outside)
		name = leat_associate_dir_of(m, outside, leat_associate_path_length(outside));
	free(outside);
	claim(m, l, name, p->time_ns, false);
	return m->failed ? -ENOMEM : 0;
}

/* ---- labels ---- */

enum word {
	LEAT_STEP,
	LEAT_APP_NAME,
	LEAT_WORKFLOW_NAME,
	LEAT_TASK,
	CAPIO_APP_NAME,
	CAPIO_WORKFLOW_NAME,
	NXF_TASK_WORKDIR,
	AIRFLOW_DAG,
	AIRFLOW_TASK,
	AIRFLOW_RUN,
	AIRFLOW_TRY,
	SLURM_JOB,
	SLURM_STEP,
	SLURM_NAME,
	SLURM_ARRAY,
	SLURM_ARRAY_TASK,
	POD,
	POD_HOST,
	WORDS
};

static const struct {
	const char *name;
	enum word word;
} words[] = {
	{"LEAT_STEP", LEAT_STEP},
	{"LEAT_APP_NAME", LEAT_APP_NAME},
	{"LEAT_WORKFLOW_NAME", LEAT_WORKFLOW_NAME},
	{"LEAT_TASK", LEAT_TASK},
	{"CAPIO_APP_NAME", CAPIO_APP_NAME},
	{"CAPIO_WORKFLOW_NAME", CAPIO_WORKFLOW_NAME},
	{"NXF_TASK_WORKDIR", NXF_TASK_WORKDIR},
	{"AIRFLOW_CTX_DAG_ID", AIRFLOW_DAG},
	{"AIRFLOW_CTX_TASK_ID", AIRFLOW_TASK},
	{"AIRFLOW_CTX_DAG_RUN_ID", AIRFLOW_RUN},
	{"AIRFLOW_CTX_TRY_NUMBER", AIRFLOW_TRY},
	{"SLURM_JOB_ID", SLURM_JOB},
	{"SLURM_JOBID", SLURM_JOB},
	{"SLURM_STEP_ID", SLURM_STEP},
	{"SLURM_STEPID", SLURM_STEP},
	{"SLURM_JOB_NAME", SLURM_NAME},
	{"SLURM_ARRAY_JOB_ID", SLURM_ARRAY},
	{"SLURM_ARRAY_TASK_ID", SLURM_ARRAY_TASK},
	{"POD_NAME", POD},
	{"KUBERNETES_POD_NAME", POD},
	{"HOSTNAME", POD_HOST},
};

/* Words that are not as they should be are none. */
static void split(char *labels, const char *values[WORDS])
{
	char *word, *value;

	while ((word = strsep(&labels, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!leat_percent_decode(value) || !*value)
			continue;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (strcmp(word, words[i].name) == 0)
				values[words[i].word] = value;
	}
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int label_slurm(struct leat_associate_map *m, const char *const v[WORDS], size_t *task,
		       size_t *slurm)
{
	const char *job = v[SLURM_JOB];
	char array[64];
	struct leat_associate_entry *e;

	if (!job)
		return 0;
	if (*task == LEAT_ASSOCIATE_NONE)
		*task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_SLURM, job, strlen(job));
	if (*task == LEAT_ASSOCIATE_NONE && v[SLURM_ARRAY] && v[SLURM_ARRAY_TASK]) {
		snprintf(array, sizeof(array), "%s_%s", v[SLURM_ARRAY], v[SLURM_ARRAY_TASK]);
		*task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_SLURM, array,
						 strlen(array));
	}
	if (!m->options.slurm)
		return 0;
	e = leat_associate_slurm_entry(m, job, or_empty(v[SLURM_STEP]), v[SLURM_NAME]);
	if (!e)
		return -ENOMEM;
	*slurm = e->task.number;
	return 0;
}

/* A container's host name is its pod's. */
static struct leat_associate_entry *pod_task(const struct leat_associate_map *m,
					     const char *const v[WORDS])
{
	const char *pod = v[POD] ? v[POD] : v[POD_HOST];
	size_t task = pod ? leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_POD, pod, strlen(pod))
			  : LEAT_ASSOCIATE_NONE;

	return task == LEAT_ASSOCIATE_NONE ? NULL : m->tasks[task];
}

/* The innermost that says so: a step of leat in a task of Airflow in a job of Slurm. */
static struct leat_associate_entry *label_task(struct leat_associate_map *m,
					       const char *const v[WORDS], bool *failed)
{
	struct leat_associate_entry *e = NULL;
	const char *step = v[LEAT_APP_NAME] ? v[LEAT_APP_NAME] : v[CAPIO_APP_NAME];
	const char *workflow =
		v[LEAT_WORKFLOW_NAME] ? v[LEAT_WORKFLOW_NAME] : v[CAPIO_WORKFLOW_NAME];

	if (v[LEAT_STEP]) {
		e = leat_associate_entry(m, LEAT_ASSOCIATE_NONE, "label", or_empty(workflow),
					 v[LEAT_STEP], v[LEAT_STEP], v[LEAT_STEP]);
	} else if (step) {
		e = leat_associate_entry(m, LEAT_ASSOCIATE_NONE, "leat", or_empty(workflow), step,
					 v[LEAT_TASK] ? v[LEAT_TASK] : step, step);
	} else if (v[NXF_TASK_WORKDIR]) {
		size_t task = leat_associate_dir_find(
			m, v[NXF_TASK_WORKDIR], leat_associate_path_length(v[NXF_TASK_WORKDIR]));

		return task == LEAT_ASSOCIATE_NONE ? NULL : m->tasks[task];
	} else if (v[AIRFLOW_DAG] && v[AIRFLOW_TASK]) {
		e = leat_associate_airflow_entry(m, LEAT_ASSOCIATE_NONE, v[AIRFLOW_DAG],
						 or_empty(v[AIRFLOW_RUN]), v[AIRFLOW_TASK], -1,
						 v[AIRFLOW_TRY] ? atoi(v[AIRFLOW_TRY]) : 1);
	} else {
		return pod_task(m, v);
	}
	*failed = !e;
	return e;
}

int leat_associate_labels(struct leat_associate_map *m, const char *labels, size_t *task,
			  size_t *slurm)
{
	const char *values[WORDS] = {NULL};
	char *copy = strdup(labels);
	struct leat_associate_entry *e;
	bool failed = false;
	int error;

	*task = *slurm = LEAT_ASSOCIATE_NONE;
	if (!copy)
		return -ENOMEM;
	split(copy, values);
	e = label_task(m, values, &failed);
	if (e)
		*task = e->task.number;
	error = failed ? -ENOMEM : label_slurm(m, values, task, slurm);
	free(copy);
	return error;
}
