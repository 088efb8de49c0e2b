/* Traces as CSV: NAME.csv with the calls, NAME.pids.csv with the processes
 * (docs/reference/trace-format.md).
 */
#include "iotrace/csv.h"
#include "iotrace/writer.h"

#include "base/percent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All numbers of a row at their longest, with what is between them. */
enum { NUMBERS_BYTES = 512 };

static const char digits[] = "00010203040506070809101112131415161718192021222324252627282930313233"
			     "34353637383940414243444546474849505152535455565758596061626364656667"
			     "6869707172737475767778798081828384858687888990919293949596979899";

static char *put_u64(char *at, uint64_t value)
{
	char text[20], *p = text + sizeof(text);
	size_t n;

	while (value >= 100) {
		p -= 2;
		memcpy(p, digits + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		p -= 2;
		memcpy(p, digits + value * 2, 2);
	} else {
		*--p = (char)('0' + value);
	}
	n = (size_t)(text + sizeof(text) - p);
	memcpy(at, p, n);
	return at + n;
}

static char *put_i64(char *at, int64_t value)
{
	if (value < 0)
		*at++ = '-';
	return put_u64(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_hex(char *at, uint32_t value)
{
	int shift = 28;

	*at++ = '0';
	*at++ = 'x';
	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[value >> shift & 15];
	return at;
}

/* Seconds; nine decimals, or just 0: many programs are traced without CPU times. */
static char *put_time(char *at, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint32_t fraction = (uint32_t)(size % 1000000000u);

	if (ns < 0)
		*at++ = '-';
	at = put_u64(at, size / 1000000000u);
	if (!ns)
		return at;
	at[0] = '.';
	for (int i = 8; i > 0; i -= 2) {
		memcpy(at + i, digits + fraction % 100 * 2, 2);
		fraction /= 100;
	}
	at[1] = (char)('0' + fraction);
	return at + 10;
}

/* Quoted, whatever is in it; NULL is an empty field. */
static char *put_text(char *at, const char *text)
{
	const char *quote;

	if (!text)
		return at;
	*at++ = '"';
	while ((quote = strchr(text, '"'))) {
		at = mempcpy(at, text, (size_t)(quote - text) + 1);
		*at++ = '"';
		text = quote + 1;
	}
	at = stpcpy(at, text);
	*at++ = '"';
	return at;
}

static char *put_call(char *at, const struct leat_trace_call *c)
{
	const int64_t cpu[] = {c->utime_start_ns, c->utime_end_ns, c->stime_start_ns,
			       c->stime_end_ns};

	at = put_time(at, c->start_ns);
	*at++ = ',';
	at = put_time(at, c->end_ns);
	*at++ = ',';
	at = put_i64(at, c->pid);
	for (size_t i = 0; i < 4; i++) {
		*at++ = ',';
		at = put_time(at, cpu[i]);
	}
	*at++ = ',';
	at = put_u64(at, c->inode);
	*at++ = ',';
	*at++ = (char)c->type;
	*at++ = ',';
	at = put_i64(at, c->result);
	*at++ = ',';
	at = put_u64(at, c->handle);
	*at++ = ',';
	at = put_u64(at, c->offset);
	*at++ = ',';
	at = put_u64(at, c->size);
	*at++ = ',';
	at = put_hex(at, c->flags);
	*at++ = ',';
	at = put_text(at, c->path);
	*at++ = ',';
	at = put_text(at, c->to);
	*at++ = ',';
	at = put_text(at, c->outside);
	*at++ = ',';
	at = put_text(at, c->to_outside);
	*at++ = '\n';
	return at;
}

static char *put_process(char *at, const struct leat_trace_process *p)
{
	const char *const texts[] = {p->program, p->dir, p->labels};

	at = put_time(at, p->time_ns);
	*at++ = ',';
	at = put_i64(at, p->ppid);
	*at++ = ',';
	at = put_i64(at, p->pid);
	*at++ = ',';
	at = put_u64(at, p->cgroup);
	*at++ = ',';
	at = stpcpy(at, leat_trace_changes[p->change]);
	*at++ = ',';
	at = put_i64(at, p->status);
	*at++ = ',';
	at = put_u64(at, p->mounts);
	for (size_t i = 0; i < 3; i++) {
		*at++ = ',';
		at = put_text(at, texts[i]);
	}
	*at++ = '\n';
	return at;
}

static char *put_cgroup(char *at, const struct leat_trace_cgroup *c)
{
	at = stpcpy(at, LEAT_TRACE_CSV_CGROUP);
	at = put_u64(at, c->id);
	*at++ = ',';
	at = put_text(at, c->path);
	*at++ = '\n';
	return at;
}

static char *put_mount(char *at, const struct leat_trace_mount *m)
{
	const char *const texts[] = {m->at, m->from, m->type};

	at = stpcpy(at, LEAT_TRACE_CSV_MOUNT);
	at = put_u64(at, m->namespace_id);
	for (size_t i = 0; i < 3; i++) {
		*at++ = ',';
		at = put_text(at, texts[i]);
	}
	*at++ = '\n';
	return at;
}

static char *put_unseen(char *at, const struct leat_trace_unseen *u)
{
	at = stpcpy(at, LEAT_TRACE_CSV_UNSEEN);
	at = put_u64(at, u->times);
	*at++ = ',';
	at = put_text(at, u->program);
	*at++ = ',';
	at = put_text(at, u->why);
	*at++ = '\n';
	return at;
}

static int put(struct leat_trace_writer *w, const struct leat_trace_record *record)
{
	struct leat_trace_out *out = record->kind == LEAT_TRACE_CALL ? &w->calls : &w->processes;
	long texts = leat_trace_texts_size(record);
	char *at;
	int rc;

	if (texts < 0)
		return (int)texts;
	if (record->kind == LEAT_TRACE_PROCESS &&
	    (unsigned)record->process.change >= LEAT_TRACE_CHANGES)
		return -EINVAL;
	rc = leat_trace_out_reserve(out, NUMBERS_BYTES + 2 * (size_t)texts, &at);
	if (rc)
		return rc;
	switch (record->kind) {
	case LEAT_TRACE_CALL:
		at = put_call(at, &record->call);
		break;
	case LEAT_TRACE_PROCESS:
		at = put_process(at, &record->process);
		break;
	case LEAT_TRACE_CGROUP:
		at = put_cgroup(at, &record->cgroup);
		break;
	case LEAT_TRACE_MOUNT:
		at = put_mount(at, &record->mount);
		break;
	case LEAT_TRACE_UNSEEN:
		at = put_unseen(at, &record->unseen);
		break;
	}
	out->used = (size_t)(at - out->buffer);
	out->pending += record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	return 0;
}

/* ---- head and trailer ---- */

static int append(struct leat_trace_out *out, const char *text, size_t n)
{
	char *at;
	int rc = leat_trace_out_reserve(out, n, &at);

	if (rc)
		return rc;
	memcpy(at, text, n);
	out->used += n;
	return 0;
}

static void print_key(FILE *f, const char *key, const char *value)
{
	if (!value)
		return;
	fprintf(f, "# %s: ", key);
	leat_percent_put(f, value, 0);
	putc('\n', f);
}

static int put_head(struct leat_trace_out *out, const struct leat_trace_head *head,
		    const char *title, const char *columns)
{
	char began[NUMBERS_BYTES], *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = -ENOMEM;

	if (!f)
		return -errno;
	*put_time(began, head->began_ns) = '\0';
	fprintf(f, "%s\n", title);
	print_key(f, "host", head->host);
	print_key(f, "tracer", head->tracer);
	print_key(f, "command", head->command);
	print_key(f, "began", head->began_ns ? began : NULL);
	fprintf(f, "%s\n", columns);
	if (fclose(f) == 0)
		rc = append(out, text, n);
	free(text);
	return rc;
}

static int put_tail(struct leat_trace_out *out, const struct leat_trace_tail *tail)
{
	char text[NUMBERS_BYTES];
	int n = snprintf(text, sizeof(text),
			 LEAT_TRACE_CSV_END "calls %" PRIu64 " processes %" PRIu64, tail->calls,
			 tail->processes);

	for (int i = 0; i < LEAT_TRACE_LOSSES; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " lost_%s %" PRIu64,
			      leat_trace_loss_name((enum leat_trace_loss)i), tail->lost[i]);
	text[n++] = '\n';
	return append(out, text, (size_t)n);
}

/* First the processes: calls whose process is unknown are worth less than the reverse. */
static int flush(struct leat_trace_writer *w)
{
	int rc = leat_trace_out_flush(&w->processes);

	return rc ? rc : leat_trace_out_flush(&w->calls);
}

static int begin(struct leat_trace_writer *w, const char *path, const struct leat_trace_head *head)
{
	char *beside = leat_trace_csv_beside(path);
	int rc;

	if (!beside)
		return -ENOMEM;
	rc = leat_trace_out_open(&w->calls, path);
	if (!rc)
		rc = leat_trace_out_open(&w->processes, beside);
	if (!rc)
		rc = put_head(&w->calls, head, LEAT_TRACE_CSV_CALLS, LEAT_TRACE_CSV_CALL_COLUMNS);
	if (!rc)
		rc = put_head(&w->processes, head, LEAT_TRACE_CSV_PROCESSES,
			      LEAT_TRACE_CSV_PROCESS_COLUMNS);
	free(beside);
	/* At once, so that it is known for what it is, however much is written. */
	return rc ? rc : flush(w);
}

static int end(struct leat_trace_writer *w)
{
	int rc = put_tail(&w->processes, &w->tail), rc2 = put_tail(&w->calls, &w->tail);

	return rc ? rc : rc2;
}

static void unwritten(struct leat_trace_writer *w, uint64_t *calls, uint64_t *processes)
{
	*calls = w->calls.pending;
	*processes = w->processes.pending;
}

static void release(struct leat_trace_writer *w)
{
	(void)w;
}

const struct leat_trace_form leat_trace_form_csv = {begin, put, flush, end, unwritten, release};
