/* The result of a run as JSON. */
#include "timeline/result.h"

#include "base/json.h"

#include <errno.h>
#include <sys/wait.h>

#define NS 1e9

static void put_step(struct leat_json *j, const struct leat_result *r,
		     const struct leat_step_result *s)
{
	uint64_t wall_ns = leat_step_wall_ns(r, s);

	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", s->name);
	leat_json_string(j, "state", leat_step_word(s));
	if (s->end_ns && WIFSIGNALED(s->status))
		leat_json_number(j, "signal", (unsigned)WTERMSIG(s->status));
	else if (s->end_ns)
		leat_json_number(j, "exit_status", (unsigned)WEXITSTATUS(s->status));
	leat_json_string(j, "cause", s->cause ? s->cause : "");
	if (s->log)
		leat_json_string(j, "log", s->log);
	if (s->resume)
		leat_json_string(j, "resume", s->resume);
	if (s->start_ns && wall_ns)
		leat_json_real(j, "seconds", (double)wall_ns / NS);
	if (s->start_ns && r->streamed) {
		leat_json_real(j, "waiting_seconds", (double)leat_step_wait_ns(s) / NS);
		leat_json_number(j, "bytes_in", s->counters.bytes_in);
		leat_json_number(j, "bytes_out", s->counters.bytes_out);
		if (s->counters.limit_mbps) {
			leat_json_number(j, "storage_bw_limit", s->counters.limit_mbps);
			leat_json_real(j, "throttled_seconds",
				       (double)s->counters.throttled_ns / NS);
		}
	}
	leat_json_close(j);
}

static void put_lost(struct leat_json *j, const struct leat_lost_file *f)
{
	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", f->name);
	leat_json_string(j, "step", f->step);
	leat_json_string(j, "why", f->why);
	leat_json_close(j);
}

static void put_unmade(struct leat_json *j, const struct leat_unmade_file *f)
{
	leat_json_object(j, NULL, true);
	leat_json_string(j, "name", f->name);
	leat_json_string(j, "step", f->step);
	if (*f->remover)
		leat_json_string(j, "removed_by", f->remover);
	leat_json_bool(j, "error", f->error);
	leat_json_close(j);
}

int leat_result_write_json(const struct leat_result *r, const struct leat_workflow *wf,
			   const char *dir, FILE *out)
{
	struct leat_json writer = {.out = out}, *j = &writer;

	leat_json_object(j, NULL, false);
	leat_json_string(j, "workflow", wf->name ? wf->name : "");
	leat_json_string(j, "file", wf->path ? wf->path : "");
	leat_json_string(j, "dir", dir);
	leat_json_bool(j, "streamed", r->streamed);
	leat_json_number(j, "exit_status", (unsigned)r->exit_status);
	leat_json_string(j, "why", r->why);
	leat_json_real(j, "seconds",
		       r->end_ns > r->start_ns ? (double)(r->end_ns - r->start_ns) / NS : 0);
	leat_json_list(j, "steps", false);
	for (size_t i = 0; i < r->n_steps; i++)
		put_step(j, r, &r->steps[i]);
	leat_json_close(j);
	leat_json_list(j, "not_complete", false);
	for (size_t i = 0; i < r->n_lost; i++)
		put_lost(j, &r->lost[i]);
	leat_json_close(j);
	leat_json_list(j, "not_made", false);
	for (size_t i = 0; i < r->n_unmade; i++)
		put_unmade(j, &r->unmade[i]);
	leat_json_close(j);
	leat_json_list(j, "problems", false);
	for (size_t i = 0; i < r->n_problems; i++)
		leat_json_string(j, NULL, r->problems[i]);
	leat_json_close(j);
	if (r->learned)
		leat_learned_write(r->learned, j);
	leat_json_close(j);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
