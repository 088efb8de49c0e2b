/* The store is made as large as the limits of the machine and its control groups let it be. */
#include "daemon/space/fit.h"

#include "base/clock.h"
#include "base/log.h"
#include "daemon/files/files.h"
#include "daemon/space/budget.h"
#include "daemon/space/memory_limits.h"
#include "daemon/space/space.h"

#include <errno.h>
#include <string.h>

#define LOOK_NS UINT64_C(5000000)
/* What the store holds is looked at so often at most; where all files have to be looked at for it,
 * so often, and never for more than a part of the time. */
#define LOOK_USED_NS UINT64_C(1000000)
#define LOOK_FILES_NS UINT64_C(100000000)
#define LOOK_SHARE 10u
/* For a process that needs space now. */
#define LOOK_ANEW_SHARE 4u
#define PAGE UINT64_C(65536)
/* So many writers may be unasked for at most so many bytes each. */
#define ASKERS 32
#define MAX_UNASKED (UINT64_C(4) << 20)

/* What may still be written through mappings, which find no space otherwise than by SIGBUS. */
static uint64_t count_promised(struct leat_daemon *d)
{
	const struct leat_file *f;
	uint64_t sum = 0;
	struct stat st;

	if (!leat_shm_has_pinned(d->shm))
		return 0;
	for (f = d->files->by_name; f; f = f->hh.next)
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

static uint64_t in_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static void resize(struct leat_daemon *d, uint64_t now, uint64_t used)
{
	const struct leat_budget *b = &d->space->limits.budget;
	uint64_t wanted = in_pages(b->now_bytes), taken = used + PAGE;
	int rc;

	if (!is_other(now, wanted, in_pages(b->most_bytes)))
		return;
	if (wanted < now)
		taken += count_promised(d);
	if (wanted < taken)
		wanted = in_pages(taken);
	if (wanted == now || (b->now_bytes < now && wanted > now))
		return;
	rc = leat_store_resize(d->store, wanted);
	if (rc && rc != -EINVAL) /* EINVAL: more is in use by now; it is tried again */
		leat_debug("the store stays as large as it is: %s", strerror(-rc));
}

/* /dev/shm has no size of the run's: what writers may add unasked. */
static void have_writers_ask(struct leat_daemon *d)
{
	uint64_t every = d->space->limits.budget.now_bytes / ASKERS;

	leat_shm_ask_every(d->shm, every < MAX_UNASKED ? every : MAX_UNASKED);
}

void leat_space_fit(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;
	uint64_t now = leat_clock_ns(), size = 0, used = 0;

	if (s->fitted_ns && now - s->fitted_ns < LOOK_NS)
		return;
	s->fitted_ns = now;
	if (leat_store_usage(d->store, &size, &used))
		return;
	leat_limits_look(&d->space->limits, leat_store_is_private(d->store) ? s->used_bytes : used,
			 now);
	if (leat_store_is_private(d->store))
		have_writers_ask(d);
	else
		resize(d, size, used);
}

struct leat_cgroup *leat_space_meet(struct leat_daemon *d, pid_t pid)
{
	struct leat_cgroup *group;

	if (leat_limits_meet(&d->space->limits, pid, &group)) {
		d->space->fitted_ns = 0;
		leat_space_fit(d);
	}
	return group;
}

/* In /dev/shm nobody but leat counts what its files take. */
static uint64_t count_used(struct leat_daemon *d)
{
	const struct leat_file *f;
	uint64_t sum = 0;
	struct stat st;

	for (f = d->files->by_name; f; f = f->hh.next)
		if (leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st) && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_blocks * 512;
	return sum;
}

/* Others have files there, too. */
static void look_at_files(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;
	uint64_t left = s->budget_bytes - s->used_bytes, begin = leat_clock_ns();

	s->used_bytes = count_used(d);
	s->budget_bytes = s->used_bytes + left;
	s->look_ns = leat_clock_ns() - begin;
}

static uint64_t least_pause(const struct leat_daemon *d)
{
	uint64_t pause = LOOK_SHARE * d->space->look_ns;

	if (!leat_store_is_private(d->store))
		return LOOK_USED_NS;
	return pause > LOOK_FILES_NS ? pause : LOOK_FILES_NS;
}

void leat_space_look(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;
	uint64_t now = leat_clock_ns();

	if (s->looked_ns && now - s->looked_ns < least_pause(d))
		return;
	s->looked_ns = now;
	if (leat_store_usage(d->store, &s->budget_bytes, &s->used_bytes))
		return;
	if (leat_store_is_private(d->store))
		look_at_files(d);
	if (d->space->limits.budget.now_bytes < s->budget_bytes)
		s->budget_bytes = d->space->limits.budget.now_bytes;
}

void leat_space_look_anew(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;

	if (leat_clock_ns() - s->looked_ns >= LOOK_ANEW_SHARE * s->look_ns)
		s->looked_ns = 0;
	leat_space_look(d);
}

int leat_space_check(struct leat_daemon *d, const struct leat_file *f, uint64_t length)
{
	struct leat_daemon_space *s = d->space;
	struct stat st;

	if (!leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st))
		return 0;
	/* All files are looked at when those who ask have added what was left. */
	s->used_bytes += length;
	if (s->used_bytes < s->budget_bytes)
		return 0;
	if (leat_clock_ns() - s->looked_ns >= LOOK_NS)
		leat_space_look_anew(d);
	return s->used_bytes < s->budget_bytes ? 0 : -ENOSPC;
}
