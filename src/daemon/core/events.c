#include "daemon/core/events.h"

#include "base/clock.h"
#include "base/log.h"
#include "daemon/core/observer.h"

#include <errno.h>
#include <string.h>

void leat_event_log(struct leat_daemon *d, struct leat_event *ev)
{
	int rc;

	ev->seq = d->seq++;
	ev->time_ns = leat_clock_ns();
	if (!d->log)
		return;
	rc = leat_event_write(d->log, ev);
	if (rc) {
		leat_error("event log %s: %s; it ends here", d->options.log_path, strerror(-rc));
		fclose(d->log);
		d->log = NULL;
	}
}

int leat_events_init(struct leat_daemon *d, const struct leat_stream_ops *decisions, char *error,
		     size_t error_size)
{
	if (d->options.log_path) {
		d->log = fopen(d->options.log_path, "we");
		if (!d->log) {
			snprintf(error, error_size, "cannot write the event log %s: %s",
				 d->options.log_path, strerror(errno));
			return -errno;
		}
	}
	for (size_t i = 0; i < d->wf->n_steps; i++)
		d->has_views |= d->wf->steps[i].n_inports > 0;
	d->matcher = leat_matcher_new(d->wf);
	if (d->matcher)
		d->stream = leat_stream_new(d->matcher, d->wf, decisions, d);
	if (d->stream)
		return 0;
	snprintf(error, error_size, "out of memory");
	return -ENOMEM;
}

void leat_events_release(struct leat_daemon *d)
{
	if (d->log && fclose(d->log) != 0)
		leat_error("event log %s: %s", d->options.log_path, strerror(errno));
	d->log = NULL;
	leat_stream_free(d->stream);
	leat_matcher_free(d->matcher);
	d->stream = NULL;
	d->matcher = NULL;
}

/* Sizes relied on before a commit are judged when it has come, outside the callback that reported
 * it. */
static void judge_early(struct leat_daemon *d)
{
	if (d->early_due)
		d->observer->sizes_due(d);
}

int leat_events_apply(struct leat_daemon *d, struct leat_event ev)
{
	int rc;

	d->progress++;
	leat_event_log(d, &ev);
	d->applying = ev.step;
	rc = leat_stream_apply(d->stream, &ev);
	d->applying = -1;
	if (rc)
		leat_debug("event %s of %s: %s", leat_event_kind_name(ev.kind),
			   ev.name ? ev.name : "-", strerror(-rc));
	judge_early(d);
	return rc;
}

unsigned leat_event_use_flags(enum leat_use use, mode_t type)
{
	if (S_ISLNK(type) && use >= LEAT_USE_APPEND)
		return LEAT_EVF_SYMLINK;
	return S_ISDIR(type) ? LEAT_EVF_DIR : 0;
}

enum leat_answer leat_events_ask(struct leat_daemon *d, int step, uint64_t waiter,
				 enum leat_call call, const char *name, uint64_t offset,
				 uint64_t length)
{
	struct leat_event ev = {.kind = LEAT_EV_ASK,
				.step = step,
				.waiter = waiter,
				.call = call,
				.name = name,
				.offset = offset,
				.length = length};
	struct leat_event answer = {.kind = LEAT_EV_ANSWER, .step = -1, .waiter = waiter};
	enum leat_answer a;

	leat_event_log(d, &ev);
	a = leat_stream_ask(d->stream, &ev);
	answer.code = a;
	leat_event_log(d, &answer);
	if (a != LEAT_WAIT)
		d->progress++;
	judge_early(d);
	return a;
}

void leat_events_cancel(struct leat_daemon *d, uint64_t waiter)
{
	struct leat_event ev = {.kind = LEAT_EV_CANCEL, .step = -1, .waiter = waiter};

	leat_event_log(d, &ev);
	leat_stream_apply(d->stream, &ev);
}
