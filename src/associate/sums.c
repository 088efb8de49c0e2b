/* Figures by task. */
#include "associate/sums.h"
#include "associate/internal.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add(struct leat_associate_sum *to, const struct leat_associate_sum *what)
{
	to->calls += what->calls;
	to->bytes_read += what->bytes_read;
	to->bytes_written += what->bytes_written;
	to->time_ns += what->time_ns;
}

int leat_associate_sums_add(struct leat_associate_sums *s, size_t image,
			    const struct leat_trace_call *call)
{
	struct leat_associate_sum one = {.calls = 1};

	if (call->end_ns > call->start_ns)
		one.time_ns = (uint64_t)(call->end_ns - call->start_ns);
	if (call->type == LEAT_TRACE_READ && call->result > 0)
		one.bytes_read = (uint64_t)call->result;
	else if (call->type == LEAT_TRACE_WRITE && call->result > 0)
		one.bytes_written = (uint64_t)call->result;
	if (image >= s->space) {
		size_t space = s->space ? s->space : 64;
		struct leat_associate_sum *bigger;

		while (space <= image)
			space *= 2;
		bigger = reallocarray(s->images, space, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + s->space, 0, (space - s->space) * sizeof(*bigger));
		s->images = bigger;
		s->space = space;
	}
	if (image >= s->n)
		s->n = image + 1;
	add(&s->images[image], &one);
	add(&s->all, &one);
	return 0;
}

void leat_associate_sums_release(struct leat_associate_sums *s)
{
	free(s->images);
	*s = (struct leat_associate_sums){0};
}

/* ---- folding ---- */

struct group {
	struct leat_associate_sum sum;
	uint64_t images;
	uint64_t by[LEAT_ASSOCIATE_EVIDENCES]; /* calls, by evidence */
	uint64_t most_calls;
	const char *program; /* of an image that makes the most; NULL unknown */
};

struct fold {
	struct group *tasks;
	struct group reasons[LEAT_ASSOCIATE_REASONS];
	struct group found, lost;
};

static void fold_image(struct group *g, const struct leat_associate_map *m, size_t image,
		       const struct leat_associate_sum *sum, const struct leat_associate_answer *a)
{
	const char *program = leat_associate_program(m, image);

	g->images++;
	add(&g->sum, sum);
	g->by[a->evidence] += sum->calls;
	if (program && sum->calls > g->most_calls) {
		g->most_calls = sum->calls;
		g->program = program;
	}
}

static int fold(const struct leat_associate_map *m, const struct leat_associate_sums *s,
		struct fold *f)
{
	static const struct leat_associate_sum nothing;

	*f = (struct fold){.tasks = calloc(m->n_tasks + 1, sizeof(*f->tasks))};
	if (!f->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_images; i++) {
		const struct leat_associate_sum *sum = i < s->n ? &s->images[i] : &nothing;
		struct leat_associate_answer a;

		leat_associate_answer(m, i, &a);
		if (a.task) {
			fold_image(&f->tasks[a.task->number], m, i, sum, &a);
			add(&f->found.sum, sum);
		} else if (sum->calls) {
			fold_image(&f->reasons[a.reason], m, i, sum, &a);
			add(&f->lost.sum, sum);
		}
	}
	return 0;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static uint64_t bytes(const struct leat_associate_sum *sum)
{
	return sum->bytes_read + sum->bytes_written;
}

/* ---- text ---- */

static const char *format_amount(uint64_t n, char text[24])
{
	static const char units[] = "kMGTPE";
	double value = (double)n;
	int unit = -1;

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(text, 24, "%" PRIu64 " B", n);
	else
		snprintf(text, 24, "%.*f %cB", value < 99.95 ? 1 : 0, value, units[unit]);
	return text;
}

static void print_row(FILE *out, const char *name, const struct leat_associate_sum *sum,
		      const char *rest)
{
	char in[24], outgoing[24];

	fprintf(out, "%-40s %10" PRIu64 " %10s %10s  %s\n", name, sum->calls,
		format_amount(sum->bytes_read, in), format_amount(sum->bytes_written, outgoing),
		rest);
}

/* "work directory, process tree" */
static void format_evidence(const struct group *g, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (int i = LEAT_ASSOCIATE_BY_LABEL; i < LEAT_ASSOCIATE_EVIDENCES && n < size; i++)
		if (g->by[i])
			n += (size_t)snprintf(
				text + n, size - n, "%s%s", n ? ", " : "",
				leat_associate_evidence_name((enum leat_associate_evidence)i));
}

static void print_tasks(const struct leat_associate_map *m, const struct fold *f, FILE *out)
{
	const char *manager = NULL, *workflow = NULL;
	char text[128];

	for (size_t i = 0; i < m->n_tasks; i++) {
		const struct leat_associate_task *t = leat_associate_task(m, i);

		if (!f->tasks[i].images)
			continue;
		if (!manager || strcmp(manager, t->manager) != 0 ||
		    strcmp(workflow, t->workflow) != 0) {
			fprintf(out, "%s%s%s%s\n", manager ? "\n" : "", t->manager,
				*t->workflow ? ": " : "", t->workflow);
			manager = t->manager;
			workflow = t->workflow;
			fprintf(out, "%-40s %10s %10s %10s  %s\n", "task", "calls", "read",
				"written", "evidence");
		}
		format_evidence(&f->tasks[i], text, sizeof(text));
		print_row(out, t->physical, &f->tasks[i].sum, text);
	}
}

static void print_unattributed(const struct leat_associate_sums *s, const struct fold *f, FILE *out)
{
	char text[300];

	fprintf(out, "\n%.1f %% of the calls and %.1f %% of the bytes are attributed to tasks",
		share(f->found.sum.calls, s->all.calls),
		share(bytes(&f->found.sum), bytes(&s->all)));
	fputs(f->lost.sum.calls ? "; unattributed:\n" : "\n", out);
	for (int i = 1; i < LEAT_ASSOCIATE_REASONS; i++) {
		const struct group *g = &f->reasons[i];

		if (!g->sum.calls)
			continue;
		snprintf(text, sizeof(text), "%.1f %%%s%.200s", share(g->sum.calls, s->all.calls),
			 g->program ? ", most by " : "", g->program ? g->program : "");
		print_row(out, leat_associate_reason_name((enum leat_associate_reason)i), &g->sum,
			  text);
	}
}

static int finish(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* Of a log that is not the trace's nothing counts. */
static bool counts(const struct leat_associate_map *m, const struct fold *f, size_t task)
{
	size_t source = m->tasks[task]->source;

	return f->tasks[task].images || source == LEAT_ASSOCIATE_NONE ||
	       !m->sources[source].refused;
}

static void print_unseen_tasks(const struct leat_associate_map *m, const struct fold *f, FILE *out)
{
	size_t idle = 0, all = 0;

	for (size_t i = 0; i < m->n_tasks; i++)
		if (counts(m, f, i)) {
			idle += !f->tasks[i].images;
			all++;
		}
	if (idle)
		fprintf(out, "%zu of %zu tasks do not appear in the trace\n", idle, all);
}

int leat_associate_write_text(const struct leat_associate_map *m,
			      const struct leat_associate_sums *s,
			      const struct leat_associate_facts *facts, FILE *out)
{
	struct fold f;
	int error = fold(m, s, &f);

	if (error)
		return error;
	print_tasks(m, &f, out);
	print_unattributed(s, &f, out);
	print_unseen_tasks(m, &f, out);
	if (facts->partial_trace)
		fprintf(out, "PARTIAL: the trace is cut off or lacks records (%" PRIu64 " known)\n",
			facts->lost);
	if (leat_associate_is_partial(m))
		fputs("PARTIAL: not all of the logs could be read\n", out);
	free(f.tasks);
	return finish(out);
}

/* ---- JSON ---- */

static void put_sum(struct leat_json *j, const struct leat_associate_sum *sum)
{
	leat_json_number(j, "calls", sum->calls);
	leat_json_number(j, "bytes_read", sum->bytes_read);
	leat_json_number(j, "bytes_written", sum->bytes_written);
	leat_json_real(j, "seconds_in_calls", (double)sum->time_ns / 1e9);
}

static void put_task(struct leat_json *j, const struct leat_associate_task *t,
		     const struct group *g)
{
	leat_json_object(j, NULL, true);
	leat_json_string(j, "manager", t->manager);
	leat_json_string(j, "workflow", t->workflow);
	leat_json_string(j, "logical", t->logical);
	leat_json_string(j, "physical", t->physical);
	if (t->dir)
		leat_json_string(j, "dir", t->dir);
	leat_json_string(j, "status", t->status);
	if (t->began_ns > 0)
		leat_json_real(j, "began", (double)t->began_ns / 1e9);
	if (t->ended_ns > 0)
		leat_json_real(j, "ended", (double)t->ended_ns / 1e9);
	leat_json_number(j, "programs", g->images);
	put_sum(j, &g->sum);
	leat_json_object(j, "evidence", true);
	for (int i = LEAT_ASSOCIATE_BY_LABEL; i < LEAT_ASSOCIATE_EVIDENCES; i++)
		if (g->by[i])
			leat_json_number(
				j, leat_associate_evidence_name((enum leat_associate_evidence)i),
				g->by[i]);
	leat_json_close(j);
	leat_json_close(j);
}

static void put_reason(struct leat_json *j, enum leat_associate_reason reason,
		       const struct group *g, const struct leat_associate_sums *s)
{
	leat_json_object(j, NULL, true);
	leat_json_string(j, "reason", leat_associate_reason_name(reason));
	put_sum(j, &g->sum);
	leat_json_real(j, "percent_of_calls", share(g->sum.calls, s->all.calls));
	leat_json_real(j, "percent_of_bytes", share(bytes(&g->sum), bytes(&s->all)));
	if (g->program)
		leat_json_string(j, "program", g->program);
	leat_json_close(j);
}

int leat_associate_write_json(const struct leat_associate_map *m,
			      const struct leat_associate_sums *s,
			      const struct leat_associate_facts *facts, FILE *out)
{
	struct leat_json writer = {.out = out}, *j = &writer;
	struct fold f;
	int error = fold(m, s, &f);

	if (error)
		return error;
	leat_json_object(j, NULL, false);
	leat_json_bool(j, "partial", facts->partial_trace || leat_associate_is_partial(m));
	leat_json_bool(j, "partial_trace", facts->partial_trace);
	leat_json_bool(j, "partial_logs", leat_associate_is_partial(m));
	leat_json_number(j, "lost_records", facts->lost);
	leat_json_object(j, "all", true);
	put_sum(j, &s->all);
	leat_json_close(j);
	leat_json_object(j, "attributed", true);
	put_sum(j, &f.found.sum);
	leat_json_real(j, "percent_of_calls", share(f.found.sum.calls, s->all.calls));
	leat_json_real(j, "percent_of_bytes", share(bytes(&f.found.sum), bytes(&s->all)));
	leat_json_close(j);
	leat_json_list(j, "tasks", false);
	for (size_t i = 0; i < m->n_tasks; i++)
		if (counts(m, &f, i))
			put_task(j, leat_associate_task(m, i), &f.tasks[i]);
	leat_json_close(j);
	leat_json_list(j, "refused_logs", false);
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->sources[i].refused)
			leat_json_string(j, NULL, m->sources[i].path);
	leat_json_close(j);
	leat_json_list(j, "unattributed", false);
	for (int i = 1; i < LEAT_ASSOCIATE_REASONS; i++)
		if (f.reasons[i].sum.calls)
			put_reason(j, (enum leat_associate_reason)i, &f.reasons[i], s);
	leat_json_close(j);
	leat_json_close(j);
	free(f.tasks);
	return finish(out);
}

/* ---- the table of calls ---- */

/* RFC 4180 */
static void put_text(FILE *out, const char *text)
{
	putc(',', out);
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

void leat_associate_write_csv_head(FILE *out)
{
	fputs("time_start,time_end,pid,inode,type,result,handle,offset,size,path,outside,node,"
	      "manager,workflow,logical_task,physical_task,evidence,reason\n",
	      out);
}

void leat_associate_write_csv(const char *host, const struct leat_trace_call *call,
			      const struct leat_associate_answer *a, FILE *out)
{
	const struct leat_associate_task *t = a->task;

	fprintf(out,
		"%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64 ",%" PRId32 ",%" PRIu64
		",%c,%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		call->start_ns / LEAT_ASSOCIATE_SECOND, call->start_ns % LEAT_ASSOCIATE_SECOND,
		call->end_ns / LEAT_ASSOCIATE_SECOND, call->end_ns % LEAT_ASSOCIATE_SECOND,
		call->pid, call->inode, call->type, call->result, call->handle, call->offset,
		call->size);
	put_text(out, call->path);
	put_text(out, call->outside);
	put_text(out, host);
	put_text(out, t ? t->manager : NULL);
	put_text(out, t ? t->workflow : NULL);
	put_text(out, t ? t->logical : NULL);
	put_text(out, t ? t->physical : NULL);
	put_text(out, t ? leat_associate_evidence_name(a->evidence) : NULL);
	put_text(out, t ? NULL : leat_associate_reason_name(a->reason));
	putc('\n', out);
}
