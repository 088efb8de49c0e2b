#include "stream/replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#define SHOWN_DIFFERENCES 20

/* A decision the rules took, not yet met in the log. */
struct decision {
	enum leat_event_kind kind;
	unsigned code;
	uint64_t waiter;
	char *name; /* owned; NULL for ANSWER */
	struct decision *prev, *next;
};

struct replay {
	struct leat_event_reader *reader;
	struct decision *decisions;
	FILE *err;
	struct leat_replay_result result;
	int error;
};

static void difference(struct replay *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void difference(struct replay *r, const char *format, ...)
{
	va_list ap;

	if (r->result.differences++ >= SHOWN_DIFFERENCES || !r->err)
		return;
	fprintf(r->err, "line %ld: ", leat_event_reader_line(r->reader));
	va_start(ap, format);
	vfprintf(r->err, format, ap);
	va_end(ap);
	putc('\n', r->err);
}

static void decide(struct replay *r, enum leat_event_kind kind, const char *name, unsigned code,
		   uint64_t waiter)
{
	struct decision *d = calloc(1, sizeof(*d));

	if (!d || (name && !(d->name = strdup(name)))) {
		free(d);
		r->error = -ENOMEM;
		return;
	}
	d->kind = kind;
	d->code = code;
	d->waiter = waiter;
	DL_APPEND(r->decisions, d);
}

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	decide(ctx, LEAT_EV_STATE, name, state, 0);
}

static void on_wake(void *ctx, const char *name)
{
	decide(ctx, LEAT_EV_WAKE, name, 0, 0);
}

static void drop_first(struct replay *r)
{
	struct decision *d = r->decisions;

	DL_DELETE(r->decisions, d);
	free(d->name);
	free(d);
}

/* The log holds a decision: the rules must have taken the same one next. */
static void compare(struct replay *r, const struct leat_event *ev)
{
	const struct decision *d = r->decisions;
	const char *name = ev->name ? ev->name : "";

	r->result.decisions++;
	if (!d) {
		difference(r, "the log says %s %s %u, replay says nothing",
			   leat_event_kind_name(ev->kind), name, ev->code);
		return;
	}
	if (d->kind != ev->kind || d->code != ev->code || d->waiter != ev->waiter ||
	    strcmp(d->name ? d->name : "", name) != 0)
		difference(r, "the log says %s %s %u, replay says %s %s %u",
			   leat_event_kind_name(ev->kind), name, ev->code,
			   leat_event_kind_name(d->kind), d->name ? d->name : "", d->code);
	drop_first(r);
}

/* The log goes on without decisions the rules took. */
static void expect_none(struct replay *r)
{
	while (r->decisions) {
		const struct decision *d = r->decisions;

		difference(r, "replay says %s %s %u before this line, the log does not",
			   leat_event_kind_name(d->kind), d->name ? d->name : "", d->code);
		drop_first(r);
	}
}

/* Facts the rules refuse are refused here as they were in the run. */
static int step(struct replay *r, struct leat_stream *s, const struct leat_event *ev)
{
	int rc;

	if (ev->kind >= LEAT_EV_ANSWER) {
		compare(r, ev);
		return 0;
	}
	expect_none(r);
	r->result.events++;
	if (ev->kind == LEAT_EV_ASK) {
		unsigned answer = leat_stream_ask(s, ev);

		decide(r, LEAT_EV_ANSWER, NULL, answer, ev->waiter);
		return 0;
	}
	rc = leat_stream_apply(s, ev);
	return rc == -ENOMEM ? rc : 0;
}

int leat_replay(struct leat_matcher *m, const struct leat_workflow *wf, FILE *in, FILE *err,
		struct leat_replay_result *result)
{
	static const struct leat_stream_ops ops = {.state = on_state, .wake = on_wake};
	struct replay r = {.err = err};
	struct leat_stream *s = NULL;
	struct leat_event ev;
	int rc;

	r.reader = leat_event_reader_new(in);
	if (!r.reader)
		return -errno;
	s = leat_stream_new(m, wf, &ops, &r);
	rc = s ? 1 : -ENOMEM;
	while (rc > 0 && (rc = leat_event_read(r.reader, &ev)) > 0) {
		int failed = step(&r, s, &ev);

		if (failed || r.error)
			rc = failed ? failed : r.error;
	}
	if (rc == -EINVAL && err)
		fprintf(err, "line %ld: not an event\n", leat_event_reader_line(r.reader));
	if (!rc)
		expect_none(&r);
	while (r.decisions)
		drop_first(&r);
	leat_stream_free(s);
	leat_event_reader_free(r.reader);
	if (!rc)
		*result = r.result;
	return rc;
}
