/* What kubectl says of pods: `get pods -o json`, `get events` as JSON or as text.
 *
 * A pod's labels or annotations tell whose task it runs (nextflow.io/taskName, taskName, Airflow's
 * dag_id and task_id, a job's name); its uid and its containers' ids are parts of cgroup paths. Of
 * an event only the pod's name is known, which Nextflow makes of the work directory's hash. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/syntax/value.h"

/* An object of a stream of them, which a watch is, gathered by lines. */
struct gather {
	char *text; /* owned */
	size_t size, space;
	long line; /* where it begins */
	int depth;
	bool quoted, escaped;
};

struct reader {
	struct leat_associate_map *m;
	struct leat_associate_source *s;
	size_t source;
	struct gather gather;
	bool began, json; /* what its first line is */
	bool any;
};

static const char *text_of(const struct leat_value *map, const char *key)
{
	const struct leat_value *v = leat_value_get(map, key);

	return v && v->kind == LEAT_VALUE_SCALAR && !leat_value_is_null(v) && *v->text ? v->text
										       : NULL;
}

/* ---- whose a pod is ---- */

struct pod {
	const char *name, *space, *uid, *node; /* borrowed; NULL unknown */
	const struct leat_value *labels, *notes, *status;
};

static const char *label(const struct pod *p, const char *const *names)
{
	for (; *names; names++) {
		const char *text = text_of(p->labels, *names);

		if (!text)
			text = text_of(p->notes, *names);
		if (text)
			return text;
	}
	return NULL;
}

/* "nf-002fdc87df831ed4f74f0f2a66482475", maybe with a suffix: the work directory's hash. */
static bool nextflow_name(const char *name, char dir[34])
{
	enum { DIGITS = 32 };

	if (!name || !leat_str_begins(name, "nf-"))
		return false;
	name += 3;
	for (int i = 0; i < DIGITS; i++)
		if (!isdigit((unsigned char)name[i]) && (name[i] < 'a' || name[i] > 'f'))
			return false;
	if (name[DIGITS] && name[DIGITS] != '-')
		return false;
	snprintf(dir, 34, "%.2s/%.30s", name, name + 2);
	return true;
}

static struct leat_associate_entry *add_nextflow_task(struct reader *r, const struct pod *p,
						      const char *task, const char *dir)
{
	static const char *const runs[] = {"nextflow.io/runName", "runName", NULL};
	static const char *const processes[] = {"nextflow.io/processName", "processName", NULL};
	const char *run = label(p, runs), *process = label(p, processes);
	char hash[10];
	struct leat_associate_entry *e;

	snprintf(hash, sizeof(hash), "%.9s", dir);
	e = leat_associate_entry_find(r->m, "nextflow", "", hash);
	/* Labels have "_" for all that they may not have: the log's names are better. */
	if (e)
		return e;
	e = leat_associate_entry(r->m, r->source, "nextflow", "", hash,
				 process ? process
				 : task  ? task
					 : p->name,
				 task ? task : p->name);
	if (!e || leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_HASH, hash, e->task.number) ||
	    leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_DIR, dir, e->task.number) ||
	    (run && leat_associate_entry_set(&e->task.workflow, run)))
		return NULL;
	return e;
}

static struct leat_associate_entry *add_airflow_task(struct reader *r, const struct pod *p,
						     const char *dag)
{
	static const char *const runs[] = {"run_id", "execution_date", NULL};
	const char *run = label(p, runs), *task = text_of(p->notes, "task_id");
	const char *index = text_of(p->notes, "map_index"),
		   *tried = text_of(p->notes, "try_number");

	if (!task)
		task = text_of(p->labels, "task_id");
	if (!index)
		index = text_of(p->labels, "map_index");
	if (!tried)
		tried = text_of(p->labels, "try_number");
	return leat_associate_airflow_entry(r->m, r->source, dag, run ? run : "", task,
					    index ? atoi(index) : -1, tried ? atoi(tried) : 1);
}

/* *known is false where nothing tells of a task: a pod of the cluster itself. */
static struct leat_associate_entry *add_pod_task(struct reader *r, const struct pod *p, bool *known)
{
	static const char *const tasks[] = {"nextflow.io/taskName", "taskName", NULL};
	static const char *const jobs[] = {"batch.kubernetes.io/job-name", "job-name", NULL};
	const char *task = label(p, tasks), *job = label(p, jobs);
	const char *dag = text_of(p->notes, "dag_id");
	char dir[34];

	*known = true;
	if (!dag)
		dag = text_of(p->labels, "dag_id");
	if (nextflow_name(p->name, dir))
		return add_nextflow_task(r, p, task, dir);
	if (dag && (text_of(p->notes, "task_id") || text_of(p->labels, "task_id")))
		return add_airflow_task(r, p, dag);
	*known = task || job;
	if (!*known)
		return NULL;
	return leat_associate_entry(r->m, r->source, "kubernetes", p->space ? p->space : "",
				    p->name, task ? task : job, p->name);
}

/* ---- JSON ---- */

static void read_stamp(const char *text, struct leat_associate_stamp *out)
{
	struct leat_associate_stamp read;

	if (text && !out->set && leat_associate_stamp_iso(text, &read, NULL))
		*out = read;
}

/* "containerd://ID" */
static int read_container(struct reader *r, const struct leat_value *c,
			  struct leat_associate_entry *e)
{
	const char *id = text_of(c, "containerID"), *at = id ? strstr(id, "://") : NULL;
	const struct leat_value *state = leat_value_get(c, "state");
	const struct leat_value *ended = leat_value_get(state, "terminated");
	const char *status = text_of(ended, "exitCode");
	char text[40];

	read_stamp(text_of(ended, "startedAt"), &e->began);
	read_stamp(text_of(leat_value_get(state, "running"), "startedAt"), &e->began);
	if (text_of(ended, "finishedAt") && !e->ended.set) {
		read_stamp(text_of(ended, "finishedAt"), &e->ended);
		e->over = e->ended.set;
	}
	if (status && !*e->task.status) {
		snprintf(text, sizeof(text), "exit %.20s", status);
		if (leat_associate_entry_set(&e->task.status, text))
			return -ENOMEM;
	}
	return at ? leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_TOKEN, at + 3, e->task.number)
		  : 0;
}

static int read_pod(struct reader *r, const struct leat_value *root)
{
	static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
	const struct leat_value *meta = leat_value_get(root, "metadata");
	struct pod p = {.name = text_of(meta, "name"),
			.space = text_of(meta, "namespace"),
			.uid = text_of(meta, "uid"),
			.node = text_of(leat_value_get(root, "spec"), "nodeName"),
			.labels = leat_value_get(meta, "labels"),
			.notes = leat_value_get(meta, "annotations"),
			.status = leat_value_get(root, "status")};
	struct leat_associate_entry *e;
	bool known;
	int error = 0;

	r->any = true;
	if (!p.name) {
		leat_associate_complain(r->m, r->s, "a pod without a name: it is left out");
		return 0;
	}
	e = add_pod_task(r, &p, &known);
	if (!e)
		return known ? -ENOMEM : 0;
	read_stamp(text_of(p.status, "startTime"), &e->began);
	error = leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_POD, p.name, e->task.number);
	if (p.uid && !error)
		error = leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_TOKEN, p.uid,
						e->task.number);
	for (int i = 0; i < 2; i++) {
		const struct leat_value *list = leat_value_get(p.status, lists[i]);

		for (size_t k = 0; list && list->kind == LEAT_VALUE_LIST && k < list->n && !error;
		     k++)
			error = read_container(r, list->v[k], e);
	}
	return error;
}

static int read_event_pod(struct reader *r, const struct pod *p, const char *time)
{
	struct leat_associate_entry *e;
	bool known;
	char dir[34];

	r->any = true;
	/* Only Nextflow's names lead to a task. */
	if (!nextflow_name(p->name, dir))
		return 0;
	e = add_pod_task(r, p, &known);
	if (!e || leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_POD, p->name, e->task.number))
		return -ENOMEM;
	read_stamp(time, &e->began);
	return p->uid ? leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_TOKEN, p->uid,
						e->task.number)
		      : 0;
}

static int read_event(struct reader *r, const struct leat_value *root)
{
	const struct leat_value *about = leat_value_get(root, "involvedObject");
	const char *kind, *reason = text_of(root, "reason"),
			  *time = text_of(root, "firstTimestamp");
	struct pod p;

	if (!about)
		about = leat_value_get(root, "regarding");
	kind = text_of(about, "kind");
	r->any = true;
	if (!kind || strcmp(kind, "Pod") != 0 || !reason || strcmp(reason, "Started") != 0)
		return 0;
	p = (struct pod){.name = text_of(about, "name"),
			 .space = text_of(about, "namespace"),
			 .uid = text_of(about, "uid")};
	return read_event_pod(r, &p, time ? time : text_of(root, "eventTime"));
}

static int read_object(struct reader *r, const struct leat_value *root)
{
	const struct leat_value *items = leat_value_get(root, "items");
	const struct leat_value *inner = leat_value_get(root, "object");
	const char *kind = text_of(root, "kind");
	int error = 0;

	if (inner && text_of(root, "type")) /* of a watch */
		return read_object(r, inner);
	if (items && items->kind == LEAT_VALUE_LIST) {
		r->any = true;
		for (size_t i = 0; i < items->n && !error; i++)
			error = read_object(r, items->v[i]);
		return error;
	}
	if (kind && strcmp(kind, "Pod") == 0)
		return read_pod(r, root);
	return kind && strcmp(kind, "Event") == 0 ? read_event(r, root) : 0;
}

static void warn_not_json(struct reader *r, const struct leat_diags *diags)
{
	char *text = NULL, *message;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out)
		leat_diags_print(diags, out, false);
	if (!out || fclose(out)) {
		free(text);
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	message = strstr(text, "error: ");
	leat_associate_complain(r->m, r->s,
				"not JSON: %s (the object that begins here is left out)",
				message ? message + 7 : text);
	free(text);
}

static int parse_json(struct reader *r, const char *text, size_t size)
{
	struct leat_diags *diags = leat_diags_new(r->s->path, text);
	struct leat_value *root = NULL;
	int error = diags ? leat_value_parse(text, size, 0, true, diags, &root) : -ENOMEM;

	if (!error)
		error = read_object(r, root);
	else if (error == -EINVAL) {
		warn_not_json(r, diags);
		error = 0;
	}
	leat_value_free(root);
	leat_diags_free(diags);
	return error;
}

static int gather_add(struct gather *g, char c)
{
	if (g->size + 2 > g->space) {
		size_t space = g->space ? 2 * g->space : 4096;
		char *bigger = realloc(g->text, space);

		if (!bigger)
			return -ENOMEM;
		g->text = bigger;
		g->space = space;
	}
	g->text[g->size++] = c;
	g->text[g->size] = '\0';
	return 0;
}

/* Follow one character. True: it ends an object. */
static bool gather_follow(struct gather *g, char c)
{
	if (g->quoted) {
		if (g->escaped)
			g->escaped = false;
		else if (c == '\\')
			g->escaped = true;
		else if (c == '"')
			g->quoted = false;
		return false;
	}
	if (c == '"')
		g->quoted = true;
	else if (c == '{' || c == '[')
		g->depth++;
	else if ((c == '}' || c == ']') && g->depth)
		return --g->depth == 0;
	return false;
}

static int parse_stream_line(struct reader *r, const char *line)
{
	struct gather *g = &r->gather;
	int error = 0;

	for (; *line && !error; line++) {
		bool ends;

		if (!g->size) {
			if (*line == ' ' || *line == '\t')
				continue;
			g->line = r->s->line;
		}
		ends = gather_follow(g, *line);
		error = gather_add(g, *line);
		if (!error && ends) {
			long line_now = r->s->line;

			r->s->line = g->line;
			error = parse_json(r, g->text, g->size);
			r->s->line = line_now;
			g->size = 0;
		}
	}
	/* Strings do not go over a line's end: what is open there is malformed. */
	g->quoted = g->escaped = false;
	return error ? error : g->size ? gather_add(g, '\n') : 0;
}

/* ---- text ---- */

/* Columns: [NAMESPACE] LAST SEEN, TYPE, REASON, OBJECT, MESSAGE, with any number of spaces. */
static int parse_text(struct reader *r, char *line)
{
	char *rest = line, *word;
	struct pod p = {0};
	bool started = false;

	if (strstr(line, "LAST SEEN")) {
		r->any = true;
		return 0;
	}
	while ((word = strsep(&rest, " \t"))) {
		if (strcmp(word, "Started") == 0) {
			started = true;
		} else if (started && leat_str_begins(word, "pod/")) {
			p.name = word + 4;
			return read_event_pod(r, &p, NULL);
		}
	}
	return 0;
}

static int parse_line(void *reader, char *line)
{
	struct reader *r = reader;
	char first = line[strspn(line, " \t")];

	if (!r->began && first) {
		r->json = first == '{';
		r->began = true;
	}
	return r->json ? parse_stream_line(r, line) : parse_text(r, line);
}

static int read_log(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in)
{
	struct reader r = {.m = m, .s = s, .source = (size_t)(s - m->sources)};
	int error = leat_associate_lines(s, in, parse_line, &r);

	if (!error && r.gather.size > 1) {
		s->line = r.gather.line;
		leat_associate_complain(m, s,
					"the object that begins here is cut off: it is left out");
	}
	free(r.gather.text);
	return error ? error : r.any ? 0 : -EINVAL;
}

/* ---- what shows that it is one ---- */

static bool begins(const char *text)
{
	static const char *const kinds[] = {"Pod",       "PodList", "Event",
					    "EventList", "List",    "WatchEvent"};
	const char *at = text + strspn(text, " \t\r\n");

	if (*at == '{') {
		at = strstr(at, "\"kind\"");
		at = at ? strchr(at + 6, '"') : NULL;
		for (size_t i = 0; at && i < sizeof(kinds) / sizeof(*kinds); i++)
			if (leat_str_begins(at + 1, kinds[i]) && at[1 + strlen(kinds[i])] == '"')
				return true;
		return false;
	}
	if (leat_str_begins(at, "NAMESPACE "))
		at += strcspn(at, " "), at += strspn(at, " ");
	return leat_str_begins(at, "LAST SEEN ");
}

/* A container's host name is its pod's. */
static int find_by_labels(struct leat_associate_map *m,
			  const struct leat_associate_environment *env, size_t *task)
{
	const char *pod = leat_associate_either(env, "POD_NAME", "KUBERNETES_POD_NAME");

	if (!pod)
		pod = leat_associate_variable(env, "HOSTNAME");
	if (pod)
		*task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_POD, pod, strlen(pod));
	return pod != NULL;
}

const struct leat_associate_format leat_associate_kubernetes = {
	.name = "Kubernetes",
	.option = "kubernetes",
	.argument = "FILE",
	.doc = "What kubectl get pods -o json, or kubectl get events, has printed.",
	.begins = begins,
	.labels = find_by_labels,
	.read = read_log,
};
