/* Status and summary as JSON: docs/reference/daemon-json.md. */
#include "daemon/run/report.h"

#include "base/clock.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/blame.h"
#include "daemon/run/milestones.h"
#include "daemon/run/run.h"
#include "daemon/run/samples.h"
#include "daemon/run/settled.h"
#include "daemon/run/track.h"
#include "daemon/run/unmade.h"
#include "daemon/space/space.h"
#include "model/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_name(struct leat_json *j, const char *key, const char *name)
{
	char title[LEAT_VERSION_TITLE];

	leat_json_string(j, key, leat_version_title(name, title));
}

static void put_header(struct leat_daemon *d, struct leat_json *j)
{
	leat_json_string(j, "workflow", d->wf->name ? d->wf->name : "");
	leat_json_string(j, "dir", d->dir);
	leat_json_bool(j, "serve", d->options.serve);
	leat_json_number(j, "start_ns", d->start_ns);
	leat_json_number(j, "now_ns", leat_clock_ns());
}

static void put_step(struct leat_daemon *d, struct leat_json *j, size_t i)
{
	const struct leat_step_run *s = &d->steps[i];
	struct leat_shm_step *shm = &d->shm->steps[i];

	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", d->wf->steps[i].name);
	leat_json_string(j, "state", leat_step_state_name(s));
	leat_json_number(j, "pid", (unsigned)s->pid);
	leat_json_number(j, "start_ns", s->start_ns);
	leat_json_number(j, "end_ns", s->running ? 0 : s->end_ns);
	leat_json_number(j, "status", (unsigned)s->status);
	leat_json_string(j, "reason", s->reason ? s->reason : "");
	leat_json_string(j, "cause", s->spoiled ? s->spoiled : "");
	leat_json_bool(j, "settled", leat_step_settled(d, (int)i) == LEAT_SETTLED);
	leat_json_number(j, "bytes_in", leat_shm_counted(&shm->bytes_in));
	leat_json_number(j, "bytes_out", leat_shm_counted(&shm->bytes_out));
	leat_json_number(j, "reads", leat_shm_counted(&shm->reads));
	leat_json_number(j, "writes", leat_shm_counted(&shm->writes));
	leat_json_number(j, "opens", leat_shm_counted(&shm->opens));
	/* A wait that is under way is counted when it ends. */
	leat_json_number(j, "wait_ns",
			 leat_shm_counted(&shm->wait_ns) +
				 (s->running ? d->run->samples[i].owed_ns : 0));
	leat_json_number(j, "waiting", leat_shm_counted(&shm->waiting));
	leat_json_number(j, "copy_ns", leat_shm_counted(&shm->copy_ns));
	leat_json_number(j, "limit_mbps", d->wf->steps[i].needs.limit_mbps);
	leat_json_number(j, "throttled_ns", leat_shm_counted(&d->shm->limits[i].throttled_ns));
	leat_json_number(j, "cpu_ns", leat_step_cpu_ns(d, (int)i));
	leat_json_bool(j, "idle", s->state == LEAT_RUN_RESTING);
	leat_json_close(j);
}

static void put_steps(struct leat_daemon *d, struct leat_json *j)
{
	leat_json_list(j, "steps", true);
	for (size_t i = 0; i < d->wf->n_steps; i++)
		put_step(d, j, i);
	leat_json_close(j);
}

/* ---- status ---- */

static void put_file(struct leat_daemon *d, struct leat_json *j, const struct leat_file *f)
{
	static const char *const states[] = {
		[LEAT_FILE_ABSENT] = "absent",       [LEAT_FILE_PRODUCED] = "produced",
		[LEAT_FILE_COMMITTED] = "committed", [LEAT_FILE_FAILED] = "failed",
		[LEAT_FILE_GONE] = "gone",
	};
	static const char *const places[] = {[LEAT_ROOT_NONE] = "none",
					     [LEAT_ROOT_STORE] = "store",
					     [LEAT_ROOT_SPILL] = "spill",
					     [LEAT_ROOT_DISK] = "disk"};
	enum leat_root root = LEAT_ROOT_NONE;
	const struct leat_description *l;
	struct stat st = {0};
	unsigned writers = 0;

	DL_COUNT(f->descriptions, l, writers);
	if (leat_tree_look(d->tree, f->name, &root, &st) < 0)
		root = LEAT_ROOT_NONE;
	leat_json_object(j, NULL, true);
	put_name(j, "name", f->name);
	leat_json_string(j, "state", states[leat_stream_state(d->stream, f->name)]);
	leat_json_string(j, "place", places[root]);
	leat_json_number(j, "bytes", root == LEAT_ROOT_NONE ? 0 : (uint64_t)st.st_size);
	leat_json_number(j, "writers", writers);
	if (f->why)
		leat_json_string(j, "why", f->why);
	leat_json_close(j);
}

static void put_needs(struct leat_daemon *d, struct leat_json *j, const struct leat_file *f,
		      const char *key, bool missing)
{
	leat_json_list(j, key, true);
	for (int i = 0; i < (int)d->wf->n_steps; i++) {
		const struct leat_step_run *s = &d->steps[i];
		bool waits = s->state == LEAT_RUN_WAITING;
		bool counts = waits || (!missing && s->running);

		if (counts && leat_steps_has(f->rule->producers, i))
			leat_json_string(j, NULL, d->wf->steps[i].name);
	}
	leat_json_close(j);
}

static void put_waits(struct leat_daemon *d, struct leat_json *j)
{
	struct leat_conn *c;

	leat_json_list(j, "waits", true);
	DL_FOREACH(d->conns, c)
	{
		const struct leat_file *f = leat_file_at(d, c->waiting_slot);

		if (!leat_conn_waits(c) || !f || c->step < 0)
			continue;
		leat_json_object(j, NULL, true);
		leat_json_string(j, "step", d->wf->steps[c->step].name);
		put_name(j, "file", f->name);
		put_needs(d, j, f, "needs", false);
		put_needs(d, j, f, "missing", true);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_blocked(struct leat_daemon *d, struct leat_json *j)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	leat_stream_deadlock(d->stream, NULL, NULL, out);
	if (fclose(out) == 0)
		leat_json_string(j, "blocked", text);
	free(text);
}

static void put_memory(struct leat_daemon *d, struct leat_json *j)
{
	const struct leat_file *f;
	uint64_t spilled = 0;
	enum leat_root root;
	struct stat st;

	for (f = d->files->by_name; d->space->fd >= 0 && f; f = f->hh.next)
		if (leat_tree_has_ours(d->tree, f->name, &root, &st) && root == LEAT_ROOT_SPILL)
			spilled += (uint64_t)st.st_size;
	leat_json_object(j, "memory", true);
	leat_json_number(j, "budget_bytes", d->space->budget_bytes);
	leat_json_number(j, "used_bytes", d->space->used_bytes);
	leat_json_number(j, "limit_bytes", d->space->limits.limit_bytes);
	leat_json_number(j, "spilled_bytes", spilled);
	leat_json_string(j, "spill_dir", d->space->path);
	leat_json_close(j);
}

void leat_report_status(struct leat_daemon *d, FILE *out)
{
	struct leat_json writer = {.out = out}, *j = &writer;
	const struct leat_file *f;

	leat_json_object(j, NULL, false);
	put_header(d, j);
	put_steps(d, j);
	put_memory(d, j);
	leat_json_list(j, "files", true);
	for (f = d->files->by_name; f; f = f->hh.next)
		put_file(d, j, f);
	leat_json_close(j);
	put_waits(d, j);
	put_blocked(d, j);
	leat_json_close(j);
}

/* ---- summary ---- */

static void put_pieces(const struct leat_daemon *d, struct leat_json *j, size_t step)
{
	const struct leat_track *t = &d->run->samples[step].track;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (unsigned i = 0; out && i < t->n; i++) {
		const struct leat_piece *p = &t->v[i];

		fprintf(out,
			"%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %u;",
			(p->begin_ns - d->start_ns) / 1000, p->length_ns / 1000, p->wait_ns / 1000,
			p->copy_ns / 1000, p->rest_ns / 1000, p->bytes_in, p->bytes_out, p->file);
	}
	leat_json_string(j, NULL, out && fclose(out) == 0 ? text : "");
	free(text);
}

static void put_timeline(struct leat_daemon *d, struct leat_json *j)
{
	leat_json_object(j, "timeline", true);
	leat_json_number(j, "interval_ms", leat_samples_interval_ms(d));
	leat_milestones_put(d, j);
	leat_json_list(j, "pieces", true);
	for (size_t i = 0; i < d->wf->n_steps; i++)
		put_pieces(d, j, i);
	leat_json_close(j);
	leat_json_close(j);
}

struct counts {
	unsigned committed, failed, open, saved, unsaved;
};

static struct counts count_files(struct leat_daemon *d)
{
	struct counts n = {0};
	const struct leat_file *f;

	for (f = d->files->by_name; f; f = f->hh.next) {
		enum leat_file_state state = leat_stream_state(d->stream, f->name);

		n.committed += state == LEAT_FILE_COMMITTED;
		n.failed += state == LEAT_FILE_FAILED;
		n.open += state == LEAT_FILE_PRODUCED;
		n.saved += f->saved;
		n.unsaved += f->save_error != 0;
	}
	return n;
}

static void put_failed_file(struct leat_daemon *d, struct leat_json *j, const char *name, int step,
			    const char *why)
{
	leat_json_object(j, NULL, true);
	put_name(j, "name", name);
	leat_json_string(j, "step", step < 0 ? "" : d->wf->steps[step].name);
	leat_json_string(j, "why", why);
	leat_json_close(j);
}

/* A file has a rule and a state once somebody has spoken of it. What a failed step's outputs
 * spell out, and nobody came to, is missing all the same. */
static void put_never_made(struct leat_daemon *d, struct leat_json *j, int step)
{
	const struct leat_names *outputs = &d->wf->steps[step].outputs;

	for (size_t i = 0; i < outputs->n; i++) {
		const char *name = outputs->v[i].text;
		char *why;

		if (leat_step_never_made(d, name) != step)
			continue;
		why = leat_step_blame(d, step);
		put_failed_file(d, j, name, step, why ? why : "");
		free(why);
	}
}

static void put_bad_files(struct leat_daemon *d, struct leat_json *j)
{
	const struct leat_file *f;

	leat_json_list(j, "failed_files", true);
	for (f = d->files->by_name; f; f = f->hh.next)
		if (leat_stream_state(d->stream, f->name) == LEAT_FILE_FAILED)
			put_failed_file(d, j, f->name, leat_step_culprit(d, f->rule),
					f->why ? f->why : "");
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (d->steps[i].status)
			put_never_made(d, j, i);
	leat_json_close(j);
	leat_json_list(j, "unsaved_files", true);
	for (f = d->files->by_name; f; f = f->hh.next) {
		if (!f->save_error)
			continue;
		leat_json_object(j, NULL, true);
		put_name(j, "name", f->name);
		leat_json_number(j, "error", (unsigned)f->save_error);
		leat_json_string(j, "why", strerror(f->save_error));
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_problems(struct leat_daemon *d, struct leat_json *j)
{
	const struct leat_problem *p;

	leat_json_number(j, "violations", d->n_violations);
	leat_json_list(j, "problems", true);
	DL_FOREACH(d->problems, p)
	{
		leat_json_object(j, NULL, true);
		leat_json_number(j, "error", (unsigned)-p->error);
		leat_json_string(j, "text", p->text);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static bool no_step_failed(const struct leat_daemon *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].status)
			return false;
	return true;
}

bool leat_report_summary(struct leat_daemon *d, FILE *out)
{
	struct leat_json writer = {.out = out}, *j = &writer;
	struct counts n = count_files(d);
	bool ok =
		!d->failed && !n.failed && !n.unsaved && no_step_failed(d) && !leat_unmade_fails(d);

	leat_json_object(j, NULL, false);
	put_header(d, j);
	leat_json_bool(j, "ok", ok);
	put_steps(d, j);
	if (d->wants_timeline)
		put_timeline(d, j);
	leat_json_object(j, "files", true);
	leat_json_number(j, "committed", n.committed);
	leat_json_number(j, "failed", n.failed);
	leat_json_number(j, "open", n.open);
	leat_json_number(j, "saved", n.saved);
	leat_json_close(j);
	put_bad_files(d, j);
	leat_unmade_put(d, j);
	put_problems(d, j);
	leat_json_close(j);
	return ok;
}
