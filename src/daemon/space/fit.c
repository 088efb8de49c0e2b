/* The store is made as large as the limits of the machine and its control groups let it be. */
#include "base/clock.h"
#include "base/log.h"
#include "daemon/space/spill.h"

#include <errno.h>
#include <string.h>

#define LOOK_NS UINT64_C(5000000)
#define PAGE UINT64_C(65536)
/* So many writers may be unasked for at most so many bytes each. */
#define ASKERS 32
#define MAX_UNASKED (UINT64_C(4) << 20)

/* What may still be written through mappings, which find no room otherwise than by SIGBUS. */
static uint64_t count_promised(struct leat_daemon *d)
{
	const struct leat_file *f;
	uint64_t sum = 0;
	struct stat st;

	for (f = d->files; f; f = f->hh.next)
		if ((leat_shm_flags(leat_file_shm(d, f)) & LEAT_SHM_PINNED) &&
		    leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st) &&
		    st.st_size > st.st_blocks * 512)
			sum += (uint64_t)(st.st_size - st.st_blocks * 512);
	return sum;
}

/* Worth a process that changes it: also the last bit of the way up, and what is too much. */
static bool is_other(uint64_t now, uint64_t wanted, uint64_t most)
{
	uint64_t apart = now > wanted ? now - wanted : wanted - now;

	return apart > most / 16 || (apart && wanted == most);
}

static void resize(struct leat_daemon *d, uint64_t now, uint64_t used)
{
	const struct leat_budget *b = &d->limits.budget;
	uint64_t wanted = b->now_bytes, taken = used + PAGE;
	int rc;

	if (!is_other(now, wanted, b->most_bytes))
		return;
	if (wanted < now)
		taken += count_promised(d);
	if (wanted < taken)
		wanted = taken;
	wanted = (wanted + PAGE - 1) / PAGE * PAGE;
	if (wanted == now || (b->now_bytes < now && wanted > now))
		return;
	rc = leat_store_resize(d->store, wanted);
	if (rc && rc != -EINVAL) /* EINVAL: more is in use by now; it is tried again */
		leat_debug("the store stays as large as it is: %s", strerror(-rc));
}

/* /dev/shm has no size of the run's: what writers may add unasked. */
static void have_writers_ask(struct leat_daemon *d)
{
	uint64_t every = d->limits.budget.now_bytes / ASKERS;

	leat_shm_ask_every(d->shm, every < MAX_UNASKED ? every : MAX_UNASKED);
}

void leat_spill_fit(struct leat_daemon *d)
{
	struct leat_spill *s = &d->spill;
	uint64_t now = leat_clock_ns(), size = 0, used = 0;

	if (s->fitted_ns && now - s->fitted_ns < LOOK_NS)
		return;
	s->fitted_ns = now;
	if (leat_store_room(d->store, &size, &used))
		return;
	leat_limits_look(&d->limits, leat_store_is_private(d->store) ? s->used_bytes : used, now);
	if (leat_store_is_private(d->store))
		have_writers_ask(d);
	else
		resize(d, size, used);
}

struct leat_cgroup *leat_spill_meet(struct leat_daemon *d, pid_t pid)
{
	struct leat_cgroup *group;

	if (leat_limits_meet(&d->limits, pid, &group)) {
		d->spill.fitted_ns = 0;
		leat_spill_fit(d);
	}
	return group;
}

int leat_spill_has_room(struct leat_daemon *d, const struct leat_file *f, uint64_t length)
{
	struct leat_spill *s = &d->spill;
	struct stat st;

	if (!leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st))
		return 0;
	/* All files are looked at when those who ask have added what was left. */
	s->used_bytes += length;
	if (s->used_bytes < s->budget_bytes)
		return 0;
	if (leat_clock_ns() - s->looked_ns >= LOOK_NS)
		s->looked_ns = 0;
	leat_spill_look(d);
	return s->used_bytes < s->budget_bytes ? 0 : -ENOSPC;
}
