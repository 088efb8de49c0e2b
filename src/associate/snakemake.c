/* Snakemake's log, .snakemake/log/TIME.snakemake.log: jobs with their outputs, and when each began
 * and ended, to the second. Who writes an output of a job is of that job. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct reader {
	struct leat_associate_map *m;
	struct leat_associate_source *s;
	size_t source;
	struct leat_associate_stamp time; /* the last one */
	char *dir;                        /* owned; the workflow's; NULL unknown */
	char *run;                        /* owned; the log's name */
	/* Of the job that is being told: owned. */
	char *rule, *names, *wildcards, *number;
	bool any;
};

static void job_release(struct reader *r)
{
	free(r->rule);
	free(r->names);
	free(r->wildcards);
	free(r->number);
	r->rule = r->names = r->wildcards = r->number = NULL;
}

/* DIR of "DIR/.snakemake/log/NAME" */
static int find_places(struct reader *r)
{
	const char *path = r->s->real ? r->s->real : r->s->path, *name = strrchr(path, '/');
	const char *at = strstr(path, "/.snakemake/log/");

	r->run = strdup(name ? name + 1 : path);
	r->dir = at ? strndup(path, (size_t)(at - path)) : NULL;
	return r->run && (!at || r->dir) ? 0 : -ENOMEM;
}

static int add_output(struct reader *r, const char *name, size_t task)
{
	char *path = *name == '/' || r->dir ? leat_path_join(r->dir, name) : NULL;
	int error = 0;

	if (path)
		error = leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_OUTPUT, path, task);
	else if (*name == '/' || r->dir)
		error = -ENOMEM;
	free(path);
	return error;
}

/* "a.txt, b.txt" */
static int add_outputs(struct reader *r, size_t task)
{
	char *rest = r->names, *at;
	int error = 0;

	while (rest && !error) {
		at = rest;
		rest = strstr(rest, ", ");
		if (rest) {
			*rest = '\0';
			rest += 2;
		}
		if (*at)
			error = add_output(r, at, task);
	}
	return error;
}

static struct leat_associate_entry *find_job(struct reader *r, const char *number)
{
	return leat_associate_entry_find(r->m, "snakemake", r->run, number);
}

static int add_job(struct reader *r)
{
	struct leat_associate_entry *e;
	char *physical;
	int error;

	if (!r->rule || !r->number)
		return 0;
	physical = r->wildcards ? leat_strf("%s %s (%s)", r->rule, r->number, r->wildcards)
				: leat_strf("%s %s", r->rule, r->number);
	e = physical ? leat_associate_entry(r->m, r->source, "snakemake", r->run, r->number,
					    r->rule, physical)
		     : NULL;
	error = e ? leat_associate_entry_set(&e->task.physical, physical) : -ENOMEM;
	free(physical);
	if (error)
		return error;
	if (!e->began.set)
		e->began = r->time;
	error = add_outputs(r, e->task.number);
	return error;
}

static int set_text(char **field, const char *text)
{
	free(*field);
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

static int add_names(struct reader *r, const char *text)
{
	char *both = r->names ? leat_strf("%s, %s", r->names, text) : strdup(text);

	free(r->names);
	r->names = both;
	return both ? 0 : -ENOMEM;
}

/* Its number comes before its wildcards: it is made at its end. */
static int end_job(struct reader *r)
{
	int error = add_job(r);

	job_release(r);
	return error;
}

static int begin_job(struct reader *r, const char *line)
{
	static const char *const words[] = {"rule ", "localrule ", "checkpoint ",
					    "localcheckpoint "};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]), end = strlen(line);

		if (leat_str_begins(line, words[i]) && end > n + 1 && line[end - 1] == ':') {
			r->any = true;
			r->rule = strndup(line + n, end - n - 1);
			return r->rule ? 0 : -ENOMEM;
		}
	}
	return 0;
}

static int end_of_job(struct reader *r, const char *number, const char *status)
{
	struct leat_associate_entry *e = find_job(r, number);

	if (!e)
		return 0;
	e->over = true;
	e->ended = r->time;
	/* Times are cut to the second. */
	e->ended.day_ns += LEAT_ASSOCIATE_SECOND;
	return leat_associate_entry_set(&e->task.status, status);
}

static int parse_line(void *reader, char *line)
{
	static const char finished[] = "Finished job ";
	const char *at = line + strspn(line, " ");
	struct reader *r = reader;
	int error = 0;

	if (*at && at > line && r->rule) {
		if (leat_str_begins(at, "output: "))
			return add_names(r, at + 8);
		if (leat_str_begins(at, "log: ") || leat_str_begins(at, "benchmark: "))
			return add_names(r, strchr(at, ' ') + 1);
		if (leat_str_begins(at, "wildcards: "))
			return set_text(&r->wildcards, at + 11);
		if (leat_str_begins(at, "jobid: "))
			return set_text(&r->number, at + 7);
		return 0;
	}
	error = end_job(r);
	if (error)
		return error;
	if (*line == '[') {
		leat_associate_stamp_ctime(line, &r->time);
		r->s->last = r->time;
	} else if (leat_str_begins(line, finished)) {
		char id[24];

		snprintf(id, sizeof(id), "%.*s", (int)strcspn(line + strlen(finished), ". "),
			 line + strlen(finished));
		return end_of_job(r, id, "finished");
	}
	if (strstr(line, "Building DAG of jobs"))
		r->any = true;
	return begin_job(r, line);
}

static int read_log(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in)
{
	struct reader r = {.m = m, .s = s, .source = (size_t)(s - m->sources)};
	int error = find_places(&r);

	if (!error)
		error = leat_associate_lines(s, in, parse_line, &r);
	if (!error)
		error = end_job(&r);
	if (!error && r.any && !r.dir)
		leat_associate_note(
			m,
			"%s: it is not in DIRECTORY/.snakemake/log, so that outputs with "
			"relative names are not known",
			s->path);
	job_release(&r);
	free(r.dir);
	free(r.run);
	return error ? error : r.any ? 0 : -EINVAL;
}

static const char *const signatures[] = {"Building DAG of jobs...", "\nSelect jobs to execute...",
					 NULL};

const struct leat_associate_format leat_associate_snakemake = {
	.name = "Snakemake",
	.option = "snakemake",
	.argument = "LOG",
	.doc = "A log of .snakemake/log. Each of these may also be a directory that has such logs.",
	.signatures = signatures,
	.read = read_log,
	.unique_name = true,
	.files_only = true,
};
