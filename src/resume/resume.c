#include "resume/resume.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "resume/internal.h"
#include "resume/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A record is longer only if somebody wants it to be. */
#define MAX_RECORD_BYTES ((size_t)1 << 30)

struct leat_resume {
	const struct leat_workflow *wf; /* borrowed */
	struct leat_matcher *m;         /* borrowed */
	char *dir;                      /* owned */
	int dir_fd;
	char *place; /* where the record is; owned, NULL: not known yet */
	int place_fd;
	char name[NAME_MAX + 1]; /* of the record */
	int fd;                  /* the record, to be added to; -1 */
	bool broken;             /* it could not be written */
	/* One element a step, owned. */
	struct leat_entry_of_step *entries;
	struct leat_resume_verdict *verdicts;
	struct leat_stamped_list *given; /* the inputs that no step makes, when the run began */
};

struct leat_resume *leat_resume_new(const struct leat_workflow *wf, struct leat_matcher *m,
				    const char *dir)
{
	struct leat_resume *r = calloc(1, sizeof(*r));
	size_t n = wf->n_steps ? wf->n_steps : 1;

	if (!r)
		return NULL;
	*r = (struct leat_resume){.wf = wf, .m = m, .place_fd = -1, .fd = -1};
	r->dir = strdup(dir);
	r->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->entries = calloc(n, sizeof(*r->entries));
	r->verdicts = calloc(n, sizeof(*r->verdicts));
	r->given = calloc(n, sizeof(*r->given));
	leat_record_name(wf, r->name);
	if (!r->dir || !r->entries || !r->verdicts || !r->given) {
		leat_resume_free(r);
		return NULL;
	}
	for (size_t i = 0; i < wf->n_steps; i++)
		r->verdicts[i].run = true;
	return r;
}

void leat_resume_free(struct leat_resume *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->wf->n_steps; i++) {
		if (r->entries)
			leat_entry_release(&r->entries[i]);
		if (r->verdicts)
			free(r->verdicts[i].why);
		if (r->given)
			leat_stamped_release(&r->given[i]);
	}
	free(r->entries);
	free(r->verdicts);
	free(r->given);
	leat_close(&r->fd);
	leat_close(&r->dir_fd);
	leat_close(&r->place_fd);
	free(r->place);
	free(r->dir);
	free(r);
}

/* ---- what was, and what is ---- */

/* Where others may make files anybody can have made it: only whose the directory is, and who runs
 * leat, are believed. */
static bool is_believed(int fd, int dir_fd)
{
	struct stat st, dir;

	return fstat(fd, &st) == 0 && fstat(dir_fd, &dir) == 0 &&
	       (st.st_uid == geteuid() || st.st_uid == dir.st_uid);
}

static int load_record(int dir_fd, const char *name, char **text, size_t *size)
{
	int fd = leat_beneath_open_regular(dir_fd, name, O_RDONLY);
	int rc = fd < 0 ? fd : 0;

	if (fd >= 0)
		rc = is_believed(fd, dir_fd) ? leat_read_fd(fd, MAX_RECORD_BYTES, text, size)
					     : -EPERM;
	leat_close(&fd);
	return rc;
}

/* Sets *path, which the caller frees, to the record's. One in the workflow's directory is an
 * earlier version's. */
static int find_record(struct leat_resume *r, char **path, char **text, size_t *size)
{
	char old[NAME_MAX + 1], *place;
	int place_fd = leat_state_dir_open(r->dir, false, &place), rc = place_fd;

	*path = place ? leat_path_join(place, r->name) : NULL;
	if (place_fd >= 0)
		rc = load_record(place_fd, r->name, text, size);
	leat_close(&place_fd);
	free(place);
	if (rc != -ENOENT)
		return rc;
	free(*path);
	leat_record_old_name(r->wf, old);
	*path = leat_path_join(r->dir, old);
	return *path ? load_record(r->dir_fd, old, text, size) : -ENOMEM;
}

static int read_record(struct leat_resume *r)
{
	char *path = NULL, *text = NULL;
	const char *what = NULL;
	size_t size = 0;
	long line = 0;
	int rc = find_record(r, &path, &text, &size);

	if (rc == -ENOENT)
		rc = 0; /* no step is in it */
	else if (rc == -EPERM)
		leat_error("%s belongs to another user; nothing was started", path);
	else if (rc)
		leat_error("cannot read the record of the last run, %s: %s", path ? path : r->dir,
			   strerror(-rc));
	else
		rc = leat_record_parse(text, size, r->wf, r->entries, &line, &what);
	if (rc == -EBADMSG)
		leat_error("%s:%ld: the record of the last run is broken: %s; nothing was "
			   "started or changed; run without --resume to begin anew",
			   path, line, what);
	else if (rc == -ENOMEM)
		leat_error("out of memory");
	free(text);
	free(path);
	return rc;
}

/* The first difference between what was and what is; `news`: a file that was not there is one. */
static const char *compare(const struct leat_resume *r, const struct leat_stamped_list *then,
			   const struct leat_stamped_list *now, bool news, const char **how)
{
	for (size_t i = 0; i < then->n; i++) {
		const struct leat_stamped *was = &then->v[i];
		const struct leat_stamped *is = leat_stamped_find(now, was->name);

		*how = is ? "changed" : "missing";
		if (!is || !leat_stamp_same(r->dir_fd, was->name, &was->stamp, &is->stamp))
			return was->name;
	}
	for (size_t i = 0; news && i < now->n; i++) {
		*how = "new";
		if (!leat_stamped_find(then, now->v[i].name))
			return now->v[i].name;
	}
	return NULL;
}

/* The text is `now`'s, which lives no longer than this layer looks at one step. */
struct look_result {
	struct leat_stamped_list inputs, outputs;
};

static int find_out(struct leat_resume *r, size_t step, struct leat_finding *f,
		    struct look_result *now)
{
	const struct leat_entry_of_step *e = &r->entries[step];
	char *command;
	int rc;

	*f = (struct leat_finding){.state = e->state,
				   .why = e->why,
				   .n_inputs = e->inputs.n,
				   .n_outputs = e->outputs.n};
	if (e->state != LEAT_ENTRY_COMPLETE)
		return 0;
	command = leat_entry_command(&r->wf->steps[step]);
	if (!command)
		return -ENOMEM;
	f->other_command = strcmp(command, e->command) != 0;
	f->other_declared = leat_entry_declared(&r->wf->steps[step]) != e->declared;
	free(command);
	rc = leat_look(r->dir_fd, r->wf, r->m, step, LEAT_SIDE_INPUTS, &now->inputs);
	if (!rc)
		rc = leat_look(r->dir_fd, r->wf, r->m, step, LEAT_SIDE_OUTPUTS, &now->outputs);
	if (rc)
		return rc;
	f->input = compare(r, &e->inputs, &now->inputs, true, &f->input_is);
	f->output = compare(r, &e->outputs, &now->outputs, false, &f->output_is);
	return 0;
}

/* ---- how steps hang together ---- */

static bool tie_is_upstream(void *ctx, size_t up, size_t down)
{
	const struct leat_resume *r = ctx;

	return leat_is_upstream(r->m, (int)up, (int)down);
}

static const char *tie_name(void *ctx, size_t step)
{
	const struct leat_resume *r = ctx;

	return r->wf->steps[step].name;
}

static const char *tie_lends(void *ctx, size_t up, size_t down)
{
	const struct leat_resume *r = ctx;

	return leat_lends(r->wf, r->m, up, down);
}

static const char *tie_updates(void *ctx, size_t up, size_t down)
{
	const struct leat_resume *r = ctx;

	return leat_updates(r->wf, up, down);
}

/* ---- deciding ---- */

static int decide(struct leat_resume *r, struct leat_finding *findings, struct look_result *now)
{
	const struct leat_ties ties = {.ctx = r,
				       .is_upstream = tie_is_upstream,
				       .lends = tie_lends,
				       .updates = tie_updates,
				       .name = tie_name};
	int rc = 0;

	for (size_t i = 0; !rc && i < r->wf->n_steps; i++) {
		rc = find_out(r, i, &findings[i], &now[i]);
		r->verdicts[i] = (struct leat_resume_verdict){0};
	}
	return rc ? rc : leat_decide_resume(findings, r->wf->n_steps, &ties, r->verdicts);
}

int leat_resume_load(struct leat_resume *r)
{
	size_t n = r->wf->n_steps ? r->wf->n_steps : 1;
	struct leat_finding *findings = calloc(n, sizeof(*findings));
	struct look_result *now = calloc(n, sizeof(*now));
	int rc = findings && now ? read_record(r) : -ENOMEM;

	if (!rc) {
		rc = decide(r, findings, now);
		if (rc)
			leat_error("cannot compare %s with the record of the last run: %s", r->dir,
				   strerror(-rc));
	}
	for (size_t i = 0; now && i < r->wf->n_steps; i++) {
		leat_stamped_release(&now[i].inputs);
		leat_stamped_release(&now[i].outputs);
	}
	free(findings);
	free(now);
	return rc;
}

bool leat_resume_skips(const struct leat_resume *r, size_t step)
{
	return !r->verdicts[step].run;
}

const char *leat_resume_why(const struct leat_resume *r, size_t step)
{
	return r->verdicts[step].why;
}

/* ---- writing ---- */

static void give_up(struct leat_resume *r, int error)
{
	if (!r->broken)
		leat_warn("cannot keep the record of this run, %s/%s: %s; the run goes on, but "
			  "cannot be resumed (LEAT_STATE_DIR may name another directory)",
			  r->place ? r->place : r->dir, r->name, leat_state_dir_error(error));
	r->broken = true;
	leat_close(&r->fd);
}

static int put_all(const struct leat_resume *r, int fd)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return -ENOMEM;
	leat_record_put_header(out, r->wf);
	for (size_t i = 0; i < r->wf->n_steps; i++)
		leat_record_put_entry(out, r->wf->steps[i].name, &r->entries[i]);
	rc = fclose(out) == 0 ? leat_write_all(fd, text, size) : -ENOMEM;
	free(text);
	return rc;
}

/* Whole or not at all: to another name, then renamed. The old one is lost only then. */
static void write_all(struct leat_resume *r, bool sync)
{
	char temporary[sizeof(r->name) + 8];
	int fd, rc;

	if (r->broken)
		return;
	leat_close(&r->fd);
	snprintf(temporary, sizeof(temporary), "%s.new", r->name);
	leat_beneath_unlink(r->place_fd, temporary, 0);
	fd = leat_beneath_open(r->place_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_APPEND,
			       0666);
	rc = fd < 0 ? fd : put_all(r, fd);
	if (!rc && sync && fdatasync(fd) < 0)
		rc = -errno;
	if (!rc)
		rc = leat_beneath_rename(r->place_fd, temporary, r->place_fd, r->name, 0);
	if (!rc) {
		r->fd = fd;
		return;
	}
	if (fd >= 0)
		leat_beneath_unlink(r->place_fd, temporary, 0);
	leat_close(&fd);
	give_up(r, -rc);
}

static void add_entry(struct leat_resume *r, size_t step)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = r->fd < 0 ? NULL : open_memstream(&text, &size);
	int rc;

	if (!out)
		return;
	leat_record_put_entry(out, r->wf->steps[step].name, &r->entries[step]);
	rc = fclose(out) == 0 ? leat_write_all(r->fd, text, size) : -ENOMEM;
	free(text);
	if (rc)
		give_up(r, -rc);
}

/* ---- the run ---- */

void leat_resume_begin(struct leat_resume *r)
{
	char old[NAME_MAX + 1];
	int rc = 0;

	for (size_t i = 0; i < r->wf->n_steps && !rc; i++) {
		if (!r->verdicts[i].run)
			continue;
		leat_entry_release(&r->entries[i]);
		r->entries[i].state = LEAT_ENTRY_BEGUN;
		rc = leat_look(r->dir_fd, r->wf, r->m, i, LEAT_SIDE_GIVEN, &r->given[i]);
	}
	if (!rc) {
		r->place_fd = leat_state_dir_open(r->dir, true, &r->place);
		rc = r->place_fd < 0 ? r->place_fd : 0;
	}
	if (rc)
		give_up(r, -rc);
	write_all(r, false);
	/* An earlier version's, which no step is to see. */
	leat_record_old_name(r->wf, old);
	leat_beneath_unlink(r->dir_fd, old, 0);
}

/* Inputs that no step makes are what they were when the run began: who changes one later has it
 * read again. Those that steps make are what they are now. */
static int settle_inputs(struct leat_resume *r, size_t step, struct leat_stamped_list *out)
{
	const struct leat_stamped_list *given = &r->given[step];
	int rc = 0;

	for (size_t i = 0; !rc && i < given->n; i++)
		rc = leat_stamped_add(out, given->v[i].name, &given->v[i].stamp);
	return rc ? rc : leat_look(r->dir_fd, r->wf, r->m, step, LEAT_SIDE_MADE, out);
}

static void hash_all(const struct leat_resume *r, struct leat_stamped_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		leat_stamp_hash(r->dir_fd, list->v[i].name, &list->v[i].stamp);
}

static int describe(struct leat_resume *r, size_t step, struct leat_entry_of_step *e)
{
	int rc;

	e->state = LEAT_ENTRY_COMPLETE;
	e->command = leat_entry_command(&r->wf->steps[step]);
	e->declared = leat_entry_declared(&r->wf->steps[step]);
	if (!e->command)
		return -ENOMEM;
	rc = settle_inputs(r, step, &e->inputs);
	if (!rc)
		rc = leat_look(r->dir_fd, r->wf, r->m, step, LEAT_SIDE_OUTPUTS, &e->outputs);
	if (rc)
		return rc;
	hash_all(r, &e->inputs);
	hash_all(r, &e->outputs);
	return 0;
}

void leat_resume_complete(struct leat_resume *r, size_t step)
{
	struct leat_entry_of_step e = {0};
	int rc;

	if (r->broken)
		return;
	rc = describe(r, step, &e);
	if (rc) {
		leat_entry_release(&e);
		give_up(r, -rc);
		return;
	}
	leat_entry_release(&r->entries[step]);
	r->entries[step] = e;
	add_entry(r, step);
}

void leat_resume_incomplete(struct leat_resume *r, size_t step, const char *why)
{
	leat_entry_release(&r->entries[step]);
	r->entries[step].state = LEAT_ENTRY_STOPPED;
	r->entries[step].why = strdup(why);
	add_entry(r, step);
}

bool leat_resume_is_complete(const struct leat_resume *r, size_t step)
{
	return r->entries[step].state == LEAT_ENTRY_COMPLETE;
}

/* What the daemon writes after the step was complete is its time and mode only. */
static void look_again(const struct leat_resume *r, struct leat_stamped_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct leat_stamp *was = &list->v[i].stamp, is;
		const struct leat_file_rule *rule = leat_match(r->m, list->v[i].name);

		if (!rule || !leat_is_made(r->wf, rule) ||
		    leat_stamp_take(r->dir_fd, list->v[i].name, &is) < 0 ||
		    is.size_bytes != was->size_bytes || is.inode != was->inode)
			continue;
		if (!was->hashed || leat_stamp_same(r->dir_fd, list->v[i].name, was, &is))
			was->mtime_ns = is.mtime_ns;
	}
}

void leat_resume_finish(struct leat_resume *r, bool had_daemon)
{
	for (size_t i = 0; had_daemon && i < r->wf->n_steps; i++) {
		if (!r->verdicts[i].run || r->entries[i].state != LEAT_ENTRY_COMPLETE)
			continue;
		look_again(r, &r->entries[i].inputs);
		look_again(r, &r->entries[i].outputs);
	}
	write_all(r, true);
	leat_close(&r->fd);
}
