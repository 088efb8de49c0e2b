#include "sched/machine.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* --- what is due -------------------------------------------------------------------------------
 */

static bool is_before(const struct leat_due_entry *a, const struct leat_due_entry *b)
{
	return a->at < b->at || (a->at <= b->at && a->order < b->order);
}

int leat_due_put(struct leat_due *due, double at, size_t task)
{
	struct leat_due_entry entry = {at, due->orders++, task};
	size_t i = due->n;

	if (due->n == due->capacity) {
		size_t capacity = due->capacity ? 2 * due->capacity : 64;
		struct leat_due_entry *v = reallocarray(due->v, capacity, sizeof(*v));

		if (!v)
			return -ENOMEM;
		due->v = v;
		due->capacity = capacity;
	}
	due->n++;
	for (; i && is_before(&entry, &due->v[(i - 1) / 2]); i = (i - 1) / 2)
		due->v[i] = due->v[(i - 1) / 2];
	due->v[i] = entry;
	return 0;
}

size_t leat_due_take(struct leat_due *due)
{
	size_t task = due->v[0].task, i = 0;
	struct leat_due_entry last = due->v[--due->n];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= due->n)
			break;
		if (child + 1 < due->n && is_before(&due->v[child + 1], &due->v[child]))
			child++;
		if (!is_before(&due->v[child], &last))
			break;
		due->v[i] = due->v[child];
		i = child;
	}
	due->v[i] = last;
	return task;
}

/* --- devices -----------------------------------------------------------------------------------
 */

static double each_mbps(const struct leat_machine *m, const struct leat_shared_disk *disk)
{
	return leat_congestion_mbps(&m->model, disk->bandwidth_mbps, disk->tasks.n) /
	       (double)disk->tasks.n;
}

/* Bring the device up to the present. */
static void advance(struct leat_machine *m, struct leat_shared_disk *disk)
{
	double passed = m->now_s - disk->since_s;

	if (disk->tasks.n) {
		disk->each_mb += passed * each_mbps(m, disk);
		disk->busy_s += passed;
	} else {
		disk->each_mb = 0;
	}
	disk->since_s = m->now_s;
}

/* Foresee when the first is done, if none comes or goes. */
static void foresee(struct leat_machine *m, struct leat_shared_disk *disk)
{
	double left;

	disk->next_s = INFINITY;
	if (!disk->tasks.n)
		return;
	left = disk->tasks.v[0].at - disk->each_mb;
	disk->next_s = m->now_s + (left > 0 ? left / each_mbps(m, disk) : 0);
}

int leat_machine_init(struct leat_machine *m, const struct leat_congestion *model, size_t n_disks)
{
	*m = (struct leat_machine){.model = *model, .n_disks = n_disks};
	m->disks = calloc(n_disks + 1, sizeof(*m->disks));
	for (size_t i = 0; m->disks && i < n_disks; i++)
		m->disks[i].next_s = INFINITY;
	return m->disks ? 0 : -ENOMEM;
}

void leat_machine_release(struct leat_machine *m)
{
	for (size_t i = 0; m->disks && i < m->n_disks; i++)
		free(m->disks[i].tasks.v);
	free(m->disks);
	free(m->timers.v);
}

int leat_machine_sleep(struct leat_machine *m, size_t task, double seconds)
{
	return leat_due_put(&m->timers, m->now_s + seconds, task);
}

int leat_machine_transfer(struct leat_machine *m, size_t task, size_t number, double megabytes)
{
	struct leat_shared_disk *disk = &m->disks[number];
	int ret;

	advance(m, disk);
	ret = leat_due_put(&disk->tasks, disk->each_mb + megabytes, task);
	if (disk->tasks.n > disk->most)
		disk->most = disk->tasks.n;
	foresee(m, disk);
	return ret;
}

size_t leat_machine_next(struct leat_machine *m)
{
	double at = m->timers.n ? m->timers.v[0].at : INFINITY;
	struct leat_shared_disk *first = NULL;
	size_t task;

	for (size_t i = 0; i < m->n_disks; i++) {
		if (m->disks[i].next_s >= at)
			continue;
		first = &m->disks[i];
		at = first->next_s;
	}
	if (!first && !m->timers.n)
		return SIZE_MAX;
	m->now_s = at;
	if (!first)
		return leat_due_take(&m->timers);
	advance(m, first);
	/* That is what the time was foreseen for: let no rounding keep it. */
	if (first->each_mb < first->tasks.v[0].at)
		first->each_mb = first->tasks.v[0].at;
	task = leat_due_take(&first->tasks);
	foresee(m, first);
	return task;
}
