#include "daemon/run/children.h"

#include "daemon/core/steps.h"
#include "daemon/run/peek.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TID_SIZE = 24, MAX_BYTES = 1 << 20 };

int leat_children_each(pid_t pid, const char *tid, bool (*fn)(void *ctx, pid_t child), void *ctx)
{
	char *text = NULL, *end;
	int rc = leat_peek_task(pid, tid, "children", MAX_BYTES, &text);
	bool goes_on = true;

	if (rc < 0)
		return rc;
	for (const char *at = text; goes_on; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		goes_on = fn(ctx, child);
	}
	free(text);
	return !goes_on;
}

struct orphans {
	const struct leat_daemon *d;
	bool (*fn)(void *ctx, pid_t orphan);
	void *ctx;
};

static bool is_orphan(const struct leat_daemon *d, pid_t pid)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && d->steps[i].pid == pid)
			return false;
	return pid != getpid();
}

static bool visit(void *ctx, pid_t pid)
{
	const struct orphans *o = ctx;

	return !is_orphan(o->d, pid) || o->fn(o->ctx, pid);
}

int leat_orphans_each(const struct leat_daemon *d, bool (*fn)(void *ctx, pid_t orphan), void *ctx)
{
	struct orphans o = {d, fn, ctx};
	char tid[TID_SIZE];

	if (d->driver <= 0)
		return 0;
	snprintf(tid, sizeof(tid), "%d", (int)d->driver);
	return leat_children_each(d->driver, tid, visit, &o);
}
