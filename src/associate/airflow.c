/* Airflow's scheduler log, of versions 1.10 to 3, plain, coloured, or by docker compose.
 *
 * What is read:
 *	Sending TaskInstanceKey(dag_id='..', task_id='..', run_id='..', try_number=1, ...) to ...
 *	Received executor event with state success for task instance TaskInstanceKey(...)
 *	Sending ('dag', 'task', datetime.datetime(2020, 5, 18, 0, 0, ...), 1) to executor ...
 *	Executor reports execution of DAG.TASK run_id=.. exited with status success for ...
 *	Running <TaskInstance: DAG.TASK RUN [queued]> on host HOST
 *	TaskInstance Finished: dag_id=.., task_id=.., run_id=.., ..., run_end_date=.., ..., pid=379
 */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct reader {
	struct leat_associate_map *m;
	struct leat_associate_source *s;
	size_t source;
	bool any;
};

/* The parts of a task's key. */
struct key {
	char *dag, *task, *run; /* owned */
	int map_index, try_number;
};

static void key_release(struct key *k)
{
	free(k->dag);
	free(k->task);
	free(k->run);
}

struct leat_associate_entry *leat_associate_airflow_entry(struct leat_associate_map *m,
							  size_t source, const char *dag,
							  const char *run, const char *task,
							  int map_index, int try_number)
{
	char *workflow = leat_strf("%s%s%s", dag, *run ? " " : "", run);
	char *identity = leat_strf("%s\x1e%d\x1e%d", task, map_index, try_number);
	char index[24] = "", tried[32] = "", *physical;
	struct leat_associate_entry *e = NULL;

	if (map_index >= 0)
		snprintf(index, sizeof(index), "[%d]", map_index);
	if (try_number > 1)
		snprintf(tried, sizeof(tried), " (try %d)", try_number);
	physical = leat_strf("%s%s%s", task, index, tried);
	if (workflow && identity && physical)
		e = leat_associate_entry(m, source, "airflow", workflow, identity, task, physical);
	/* Its environment may be known before its log. */
	if (e && e->source == LEAT_ASSOCIATE_NONE)
		e->source = source;
	free(workflow);
	free(identity);
	free(physical);
	return e;
}

/* ---- keys, as Python shows them ---- */

/* The end of an argument: a comma or parenthesis outside of quotes, brackets and <...>. NULL: cut
 * off. */
static const char *argument_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '\'' || *at == '"') {
			char quote = *at++;

			for (; *at && *at != quote; at++)
				if (*at == '\\' && at[1])
					at++;
			if (!*at)
				return NULL;
		} else if (strchr("([<{", *at)) {
			depth++;
		} else if (depth == 0 && (*at == ',' || *at == ')')) {
			return at;
		} else if (strchr(")]>}", *at)) {
			depth--;
		}
	}
	return NULL;
}

static char *unquote(const char *at, size_t n)
{
	char *text = malloc(n + 1), *out = text;

	for (size_t i = 1; text && i + 1 < n; i++) {
		if (at[i] == '\\' && i + 2 < n)
			i++;
		*out++ = at[i];
	}
	if (text)
		*out = '\0';
	return text;
}

/* datetime.datetime(2021, 8, 30, 4, 3, 5, 174490, tzinfo=...), as it is written elsewhere. */
static char *date_text(const char *at)
{
	int v[7] = {0}, n = 0;

	at = strchr(at, '(');
	while (at && n < 7) {
		at += 1 + strspn(at + 1, " ");
		if (!isdigit((unsigned char)*at))
			break;
		v[n++] = atoi(at);
		at = strchr(at, ',');
	}
	if (n < 3)
		return NULL;
	if (v[6])
		return leat_strf("%04d-%02d-%02dT%02d:%02d:%02d.%06d+00:00", v[0], v[1], v[2], v[3],
				 v[4], v[5], v[6]);
	return leat_strf("%04d-%02d-%02dT%02d:%02d:%02d+00:00", v[0], v[1], v[2], v[3], v[4], v[5]);
}

static char *value_text(const char *at, size_t n)
{
	if (n >= 2 && (*at == '\'' || *at == '"'))
		return unquote(at, n);
	if (leat_str_begins(at, "datetime.") || leat_str_begins(at, "DateTime"))
		return date_text(at);
	return strndup(at, n);
}

static void key_set(struct key *k, const char *name, size_t n, char *value)
{
	static const struct {
		const char *name;
		int field;
	} fields[] = {{"dag_id", 0},         {"task_id", 1},    {"run_id", 2},
		      {"execution_date", 2}, {"try_number", 3}, {"map_index", 4}};
	char **texts[] = {&k->dag, &k->task, &k->run};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strlen(fields[i].name) != n || strncmp(name, fields[i].name, n) != 0)
			continue;
		if (fields[i].field < 3 && !*texts[fields[i].field]) {
			*texts[fields[i].field] = value;
			return;
		}
		if (fields[i].field == 3)
			k->try_number = atoi(value);
		else if (fields[i].field == 4)
			k->map_index = atoi(value);
	}
	free(value);
}

/* What is between the parentheses; by name, or in the order of the fields. */
static bool key_read(const char *at, struct key *k)
{
	static const char *const order[] = {"dag_id", "task_id", "run_id", "try_number",
					    "map_index"};

	*k = (struct key){.map_index = -1, .try_number = 1};
	for (size_t i = 0; *at && *at != ')'; i++) {
		const char *end, *equals;
		char *value;

		at += strspn(at, " ");
		end = argument_end(at);
		if (!end)
			return false;
		equals = at + strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		if (*equals == '=') {
			value = value_text(equals + 1, (size_t)(end - equals - 1));
			if (value)
				key_set(k, at, (size_t)(equals - at), value);
		} else if (i < sizeof(order) / sizeof(*order)) {
			value = value_text(at, (size_t)(end - at));
			if (value)
				key_set(k, order[i], strlen(order[i]), value);
		}
		at = *end == ',' ? end + 1 : end;
	}
	return *at == ')' && k->dag && k->task && k->run;
}

static struct leat_associate_entry *add_entry(struct reader *r, const struct key *k)
{
	r->any = true;
	return leat_associate_airflow_entry(r->m, r->source, k->dag, k->run, k->task, k->map_index,
					    k->try_number);
}

/* ---- lines ---- */

static int parse_key(struct reader *r, const char *line, const char *at)
{
	static const char state[] = " with state ";
	struct leat_associate_entry *e;
	struct key k;
	int error = 0;

	if (!key_read(at, &k)) {
		leat_associate_complain(r->m, r->s,
					"a task's key that is cut off or not understood: it "
					"is left out");
		key_release(&k);
		return 0;
	}
	e = add_entry(r, &k);
	key_release(&k);
	if (!e)
		return -ENOMEM;
	at = strstr(line, state);
	if (at) {
		char word[32];

		at += strlen(state);
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " ,"), at);
		/* Queued again, after it has finished, it is another try's. */
		if (strcmp(word, "queued") != 0 || !*e->task.status)
			error = leat_associate_entry_set(&e->task.status, word);
	}
	return error;
}

/* The value of "NAME=" in "a=1, b=x y, c=2", in a new string; NULL: it is not there. */
static char *copy_field(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *at = text, *end;

	for (;; at++) {
		at = strstr(at, name);
		if (!at)
			return NULL;
		if (at[n] == '=' && (at == text || at[-1] == ' ' || at[-1] == ','))
			break;
	}
	at += n + 1;
	/* It ends where the next one begins. */
	for (end = strchr(at, ','); end; end = strchr(end + 1, ',')) {
		const char *next = end + 1 + strspn(end + 1, " ");
		size_t word = strspn(next, "abcdefghijklmnopqrstuvwxyz_");

		if (word && next[word] == '=')
			break;
	}
	return end ? strndup(at, (size_t)(end - at)) : strdup(at);
}

static int read_number(const char *text, const char *name, int fallback)
{
	char *value = copy_field(text, name), *end;
	long number = value ? strtol(value, &end, 10) : 0;
	bool good = value && end != value && !*end && number >= -1 && number <= INT32_MAX;

	free(value);
	return good ? (int)number : fallback;
}

static void read_stamp(struct reader *r, const char *text, const char *name,
		       struct leat_associate_stamp *out)
{
	char *value = copy_field(text, name);

	if (value && strcmp(value, "None") != 0 && !leat_associate_stamp_iso(value, out, NULL))
		leat_associate_complain(r->m, r->s, "%s is not understood: %.40s", name, value);
	free(value);
}

/* As date_text has it. */
static void join_date(char *run)
{
	if (run && strlen(run) > 10 && run[10] == ' ' && isdigit((unsigned char)*run))
		run[10] = 'T';
}

static int parse_finished(struct reader *r, const char *text)
{
	struct key k = {.dag = copy_field(text, "dag_id"),
			.task = copy_field(text, "task_id"),
			.run = copy_field(text, "run_id"),
			.map_index = read_number(text, "map_index", -1),
			.try_number = read_number(text, "try_number", 1)};
	struct leat_associate_entry *e;
	char *state;
	int error = 0, pid;

	if (!k.run)
		k.run = copy_field(text, "execution_date");
	join_date(k.run);
	if (!k.dag || !k.task || !k.run) {
		leat_associate_complain(r->m, r->s,
					"a finished task without dag_id, task_id or run_id: "
					"it is left out");
		key_release(&k);
		return 0;
	}
	e = add_entry(r, &k);
	key_release(&k);
	if (!e)
		return -ENOMEM;
	state = copy_field(text, "state");
	if (state)
		error = leat_associate_entry_set(&e->task.status, state);
	free(state);
	read_stamp(r, text, "run_start_date", &e->began);
	read_stamp(r, text, "run_end_date", &e->ended);
	e->over = e->ended.set;
	pid = read_number(text, "pid", 0);
	if (!error && pid > 0 && e->over)
		error = leat_associate_pid_add(r->m, e->task.number, pid);
	return error;
}

/* "DAG.TASK", in both of which there may be dots: the one of this run that is known. */
static struct leat_associate_entry *find_dotted(struct reader *r, char *name, const char *run,
						int map_index)
{
	enum { TRIES = 32 };
	struct leat_associate_entry *found = NULL;

	for (char *dot = strchr(name, '.'); dot && !found; dot = strchr(dot + 1, '.')) {
		char *workflow;

		*dot = '\0';
		workflow = leat_strf("%s %s", name, run);
		for (int i = TRIES; workflow && i > 0 && !found; i--) {
			char *identity = leat_strf("%s\x1e%d\x1e%d", dot + 1, map_index, i);

			if (identity)
				found = leat_associate_entry_find(r->m, "airflow", workflow,
								  identity);
			free(identity);
		}
		free(workflow);
		*dot = '.';
	}
	return found;
}

/* "DAG.TASK RUN map_index=0 [queued]> on host HOST" */
static void parse_running(struct reader *r, const char *text)
{
	char *copy = strdup(text), *rest = copy, *name = strsep(&rest, " ");
	char *run = rest ? strsep(&rest, " ") : NULL;
	char *host = rest ? strstr(rest, "> on host ") : NULL;
	struct leat_associate_entry *e = NULL;

	if (host)
		e = find_dotted(r, name, run,
				leat_str_begins(rest, "map_index=") ? atoi(rest + 10) : -1);
	if (e) {
		host += strlen("> on host ");
		host[strcspn(host, " ")] = '\0';
		free(e->host);
		e->host = strdup(host);
	}
	free(copy);
}

/* "DAG.TASK run_id=RUN exited with status success for try_number 1": only the state is new. */
static int parse_report(struct reader *r, const char *text)
{
	char *copy = strdup(text), *rest = copy, *name = copy ? strsep(&rest, " ") : NULL;
	char *run = rest ? strchr(rest, '=') : NULL;
	char *status = rest ? strstr(rest, " exited with ") : NULL;
	struct leat_associate_entry *e = NULL;
	int error = 0;

	if (!copy)
		return -ENOMEM;
	if (run && status && run < status) {
		*status = '\0';
		status += strlen(" exited with ");
		if (leat_str_begins(status, "status "))
			status += strlen("status ");
		status[strcspn(status, " ")] = '\0';
		r->any = true;
		join_date(run + 1);
		e = find_dotted(r, name, run + 1, -1);
	}
	if (e && !e->over && strcmp(status, "queued") != 0)
		error = leat_associate_entry_set(&e->task.status, status);
	free(copy);
	return error;
}

static int parse_line(void *reader, char *line)
{
	struct reader *r = reader;
	static const struct {
		const char *text;
		int (*take)(struct reader *r, const char *text);
	} kinds[] = {{"TaskInstance Finished: ", parse_finished},
		     {"Executor reports execution of ", parse_report}};
	static const char key[] = "TaskInstanceKey(", tuple[] = "Sending (",
			  running[] = "Running <TaskInstance: ";
	const char *at;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		at = strstr(line, kinds[i].text);
		if (at)
			return kinds[i].take(r, at + strlen(kinds[i].text));
	}
	at = strstr(line, key);
	if (at)
		return parse_key(r, line, at + strlen(key));
	at = strstr(line, tuple);
	if (at)
		return parse_key(r, line, at + strlen(tuple));
	at = strstr(line, running);
	if (at)
		parse_running(r, at + strlen(running));
	if (strstr(line, "scheduler_job"))
		r->any = true;
	return 0;
}

static int read_log(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in)
{
	struct reader r = {.m = m, .s = s, .source = (size_t)(s - m->sources)};
	int error = leat_associate_lines(s, in, parse_line, &r);

	return error ? error : r.any ? 0 : -EINVAL;
}

static int find_by_labels(struct leat_associate_map *m,
			  const struct leat_associate_environment *env, size_t *task)
{
	const char *dag = leat_associate_variable(env, "AIRFLOW_CTX_DAG_ID");
	const char *id = leat_associate_variable(env, "AIRFLOW_CTX_TASK_ID");
	const char *run = leat_associate_variable(env, "AIRFLOW_CTX_DAG_RUN_ID");
	const char *tried = leat_associate_variable(env, "AIRFLOW_CTX_TRY_NUMBER");
	struct leat_associate_entry *e;

	if (!dag || !id)
		return 0;
	e = leat_associate_airflow_entry(m, LEAT_ASSOCIATE_NONE, dag, run ? run : "", id, -1,
					 tried ? atoi(tried) : 1);
	if (!e)
		return -ENOMEM;
	*task = e->task.number;
	return 1;
}

static const char *const signatures[] = {
	"TaskInstanceKey(", "TaskInstance Finished: ", "{scheduler_job",
	"scheduler_job.py", "scheduler_job_runner.py", NULL};

const struct leat_associate_format leat_associate_airflow = {
	.name = "Airflow",
	.option = "airflow",
	.argument = "LOG",
	.doc = "A log of Airflow's scheduler.",
	.signatures = signatures,
	.labels = find_by_labels,
	.read = read_log,
};
