/* Nextflow's .nextflow.log, of any version.
 *
 * Lines that tell of tasks:
 *	[e8/cee4b5] Submitted process > NAME (TAG)	also Re-submitted, Cached, Stored
 *	[SLURM] submitted process NAME (TAG) > jobId: 15; workDir: DIR
 *	Task completed > TaskHandler[id: 6; name: ...; status: ...; ...; workDir: DIR]
 *	Task completed > TaskHandler[jobId: 123; id: 6; ...; workDir: DIR started: N; ...]
 *	~> TaskHandler[...]				of those that have not ended
 */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct reader {
	struct leat_associate_map *m;
	struct leat_associate_source *s;
	size_t source;
	char *run; /* owned; its name; NULL unknown */
	bool any;  /* a line of a task, or of Nextflow's beginning */
	bool months_said;
};

/* A dump of a task as the log has it; parts of the line. */
struct handler {
	char *name, *status, *exit, *dir, *job, *started, *exited;
};

/* ---- taking a line apart ---- */

/* The last `word` in `text`. */
static char *find_last(char *text, const char *word)
{
	char *found = NULL;

	for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
		found = at;
	return found;
}

/* Cut the text at the last `word`; what follows it, or NULL. */
static char *cut_last(char *text, const char *word)
{
	char *at = find_last(text, word);

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(word);
}

/* From behind, because names and directories are anything. False: cut off. */
static bool parse_handler(char *text, struct handler *h)
{
	size_t n = strlen(text);

	*h = (struct handler){0};
	while (n && text[n - 1] == ' ')
		text[--n] = '\0';
	if (!n || text[n - 1] != ']')
		return false;
	text[--n] = '\0';
	if (leat_str_begins(text, "jobId: "))
		h->job = text + strlen("jobId: ");
	h->dir = cut_last(text, "; workDir: ");
	if (!h->dir)
		return false;
	h->exited = cut_last(h->dir, "; exited: ");
	if (h->exited)
		h->exited[strcspn(h->exited, ";")] = '\0';
	h->started = h->exited ? cut_last(h->dir, " started: ") : NULL;
	if (!cut_last(text, "; error: "))
		return false;
	h->exit = cut_last(text, "; exit: ");
	h->status = h->exit ? cut_last(text, "; status: ") : NULL;
	h->name = h->status ? strstr(text, "name: ") : NULL;
	if (h->job)
		h->job[strcspn(h->job, ";")] = '\0';
	if (!h->name)
		return false;
	h->name += strlen("name: ");
	return *h->name && *h->dir;
}

/* ---- tasks ---- */

static int name_task(struct reader *r, struct leat_associate_entry *e, const char *name,
		     const char *hash)
{
	const char *tag = strstr(name, " (");
	char *logical = strndup(name, tag && tag > name ? (size_t)(tag - name) : strlen(name));
	char *physical = hash ? leat_strf("%s [%s]", name, hash) : strdup(name);
	int error = -ENOMEM;

	if (logical && physical)
		error = leat_associate_entry_set(&e->task.logical, logical);
	if (!error)
		error = leat_associate_entry_set(&e->task.physical, physical);
	if (!error && r->run)
		error = leat_associate_entry_set(&e->task.workflow, r->run);
	/* A pod's, which was there before its log. */
	e->source = r->source;
	free(logical);
	free(physical);
	return error;
}

/* Another log tells of it, and knows when it ran. */
static bool is_of_another(const struct reader *r, const struct leat_associate_entry *e)
{
	return e && e->source != LEAT_ASSOCIATE_NONE && e->source != r->source &&
	       r->m->sources[e->source].format == r->s->format && (e->began.set || e->ended.set);
}

/* By the hash or, where a directory has none, by that. Two logs that say when it ran do not say the
 * same, if they are of two runs: the trace shows which one is right. */
static struct leat_associate_entry *add_entry(struct reader *r, const char *identity)
{
	struct leat_associate_entry *first =
		leat_associate_entry_find(r->m, "nextflow", "", identity);

	return is_of_another(r, first) ? leat_associate_entry_rival(r->m, first, r->source)
				       : leat_associate_entry(r->m, r->source, "nextflow", "",
							      identity, identity, identity);
}

static struct leat_associate_entry *add_entry_of_hash(struct reader *r, const char *hash,
						      const char *name)
{
	struct leat_associate_entry *e = add_entry(r, hash);

	if (!e || name_task(r, e, name, hash) ||
	    leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_HASH, hash, e->task.number))
		return NULL;
	return e;
}

static struct leat_associate_entry *add_entry_of_dir(struct reader *r, const char *dir,
						     const char *name)
{
	char hash[10];
	bool hashed = leat_associate_dir_hash(dir, leat_associate_path_length(dir), hash);
	struct leat_associate_entry *e =
		hashed ? add_entry_of_hash(r, hash, name) : add_entry(r, dir);

	if (!e || (!hashed && name_task(r, e, name, NULL)) ||
	    leat_associate_entry_set(&e->task.dir, dir) ||
	    leat_associate_dir_add(r->m, dir, e->task.number))
		return NULL;
	return e;
}

static void read_stamp(struct reader *r, const char *line, struct leat_associate_stamp *out)
{
	if (leat_associate_stamp_nextflow(line, out) || r->months_said)
		return;
	r->months_said = true;
	leat_associate_complain(r->m, r->s,
				"its time is not understood: %.24s (the tasks' times are left "
				"out)",
				line);
}

/* "COMPLETED" only says that it is over. */
static int set_status(struct leat_associate_entry *e, const struct handler *h)
{
	char text[64];

	if (strcmp(h->exit, "-") == 0 || !*h->exit)
		return leat_associate_entry_set(&e->task.status, h->status);
	snprintf(text, sizeof(text), "exit %.20s", h->exit);
	return leat_associate_entry_set(&e->task.status, text);
}

static int add_handler(struct reader *r, const char *line, char *text, bool completed)
{
	struct handler h;
	struct leat_associate_entry *e;
	struct leat_associate_stamp time;

	if (!parse_handler(text, &h)) {
		leat_associate_complain(r->m, r->s,
					"a task that is cut off, or told in a way that is "
					"not known: it is left out");
		return 0;
	}
	e = add_entry_of_dir(r, h.dir, h.name);
	if (!e || set_status(e, &h) ||
	    (h.job &&
	     leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_SLURM, h.job, e->task.number)))
		return -ENOMEM;
	r->any = true;
	if (completed) {
		e->over = true;
		read_stamp(r, line, &e->ended);
	}
	if (h.started && leat_associate_stamp_epoch_ms(h.started, &time) && !e->began.set)
		e->began = time;
	return 0;
}

/* "NAME > jobId: 15; workDir: DIR" */
static int parse_job(struct reader *r, char *text)
{
	char *job = cut_last(text, " > jobId: ");
	char *dir = job ? strstr(job, "; workDir: ") : NULL;
	struct leat_associate_entry *e;

	if (!dir)
		return 0;
	*dir = '\0';
	dir += strlen("; workDir: ");
	e = add_entry_of_dir(r, dir, text);
	if (!e || leat_associate_name_add(r->m, LEAT_ASSOCIATE_NAME_SLURM, job, e->task.number))
		return -ENOMEM;
	r->any = true;
	return 0;
}

/* "[e8/cee4b5] Submitted process > NAME": `at` is behind the "> ". */
static int parse_hash(struct reader *r, const char *line, char *word, const char *name)
{
	static const char *const words[] = {"] Submitted process > ", "] Re-submitted process > ",
					    "] Cached process > ", "] Stored process > "};
	struct leat_associate_entry *e;
	size_t kind = 0;
	char hash[10];

	while (kind < 3 && !leat_str_begins(word, words[kind]))
		kind++;
	r->any = true;
	if (word - line < 10 || word[-10] != '[')
		return 0; /* "[skipping]": it has no directory */
	memcpy(hash, word - 9, 9);
	hash[9] = '\0';
	if (hash[2] != '/')
		return 0;
	if (kind >= 2) {
		/* It ran before; its own run's log knows more. */
		if (leat_associate_name_find(r->m, LEAT_ASSOCIATE_NAME_HASH, hash, 9) !=
		    LEAT_ASSOCIATE_NONE)
			return 0;
		e = add_entry_of_hash(r, hash, name);
		return !e || leat_associate_entry_set(&e->task.status, "cached") ? -ENOMEM : 0;
	}
	e = add_entry_of_hash(r, hash, name);
	if (!e)
		return -ENOMEM;
	read_stamp(r, line, &e->began);
	return 0;
}

/* ---- what is said of the run ---- */

static int set_run(struct reader *r, const char *name, size_t n)
{
	char *copy = strndup(name, n);

	if (!copy)
		return -ENOMEM;
	free(r->run);
	r->run = copy;
	return 0;
}

static int parse_run(struct reader *r, char *line)
{
	char *at = strstr(line, " - Run name: ");
	const char *end;

	if (at)
		return set_run(r, at + strlen(" - Run name: "),
			       strlen(at) - strlen(" - Run name: "));
	at = strstr(line, " - Launching ");
	at = at ? strstr(at, "` [") : NULL;
	end = at ? strchr(at + 3, ']') : NULL;
	if (end)
		return set_run(r, at + 3, (size_t)(end - at - 3));
	/* "  Process: 107992@host [172.16.201.199]" */
	if (leat_str_begins(line, "  Process: ") && !r->s->host) {
		at = line + strlen("  Process: ");
		r->s->pid = atoi(at);
		at += strcspn(at, "@");
		if (*at && at[1])
			r->s->host = strndup(at + 1, strcspn(at + 1, " ["));
	}
	return 0;
}

static int parse_line(void *reader, char *line)
{
	static const char completed[] = "Task completed > TaskHandler[", dump[] = "~> TaskHandler[";
	struct leat_associate_stamp now;
	struct reader *r = reader;
	char *at;

	if (leat_associate_stamp_nextflow(line, &now))
		r->s->last = now;
	if (strstr(line, "N E X T F L O W") || strstr(line, " nextflow."))
		r->any = true;
	at = strstr(line, completed);
	if (at)
		return add_handler(r, line, at + strlen(completed), true);
	if (leat_str_begins(line, dump))
		return add_handler(r, line, line + strlen(dump), false);
	at = strstr(line, " process > ");
	if (at) {
		char *word = at;

		while (word > line && *word != ']')
			word--;
		if (*word == ']' &&
		    (leat_str_begins(word, "] Submitted ") ||
		     leat_str_begins(word, "] Re-submitted ") ||
		     leat_str_begins(word, "] Cached ") || leat_str_begins(word, "] Stored ")))
			return parse_hash(r, line, word, at + strlen(" process > "));
	}
	at = strstr(line, "] submitted process ");
	if (at)
		return parse_job(r, at + strlen("] submitted process "));
	return parse_run(r, line);
}

static int read_log(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in)
{
	struct reader r = {.m = m, .s = s, .source = (size_t)(s - m->sources)};
	int error = leat_associate_lines(s, in, parse_line, &r);

	free(r.run);
	return error ? error : r.any ? 0 : -EINVAL;
}

/* ---- what shows in a trace ---- */

static int find_by_labels(struct leat_associate_map *m,
			  const struct leat_associate_environment *env, size_t *task)
{
	const char *dir = leat_associate_variable(env, "NXF_TASK_WORKDIR");

	if (dir)
		*task = leat_associate_dir_find(m, dir, leat_associate_path_length(dir));
	return dir != NULL;
}

/* Files that each work directory gets: the manager writes the scripts and reads what
 * came of them; the task does it the other way round. */
static enum leat_associate_role classify_name(const char *name, bool writes)
{
	static const char *const scripts[] = {".command.run", ".command.sh"};
	static const char *const results[] = {".exitcode", ".command.begin", ".command.out",
					      ".command.err", ".command.trace"};

	if (name[0] != '.')
		return LEAT_ASSOCIATE_ROLE_NONE;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (strcmp(name, scripts[i]) == 0)
			return writes ? LEAT_ASSOCIATE_ROLE_MANAGER : LEAT_ASSOCIATE_ROLE_TASK;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (strcmp(name, results[i]) == 0)
			return writes ? LEAT_ASSOCIATE_ROLE_TASK : LEAT_ASSOCIATE_ROLE_NONE;
	return LEAT_ASSOCIATE_ROLE_NONE;
}

static const char *const signatures[] = {"N E X T F L O W",
					 " nextflow.cli.",
					 " nextflow.Session - ",
					 " nextflow.executor.",
					 " nextflow.processor.",
					 "TaskPollingMonitor - ",
					 NULL};

const struct leat_associate_format leat_associate_nextflow = {
	.name = "Nextflow",
	.option = "nextflow",
	.argument = "LOG",
	.doc = "A .nextflow.log.",
	.signatures = signatures,
	.labels = find_by_labels,
	.read = read_log,
	.claim = classify_name,
	.files_only = true,
};
