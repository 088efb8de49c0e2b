#include "daemon/space/memory_limits.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/space/budget.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define MACHINE_NS (SECOND / 5)
#define MOMENT_NS (SECOND / 5)
/* Groups that are watched at most: more come from starters that give each process its own, whose
 * limits are those of the level above. */
#define MAX_GROUPS 64u

/* ---- the groups ---- */

/* True: it is a new one. */
static bool add(struct leat_limits *l, struct leat_cgroup *group)
{
	struct leat_limits_group *grown;

	for (size_t i = 0; i < l->n_groups; i++)
		if (leat_cgroup_equal(l->groups[i].cgroup, group))
			return false;
	grown = l->n_groups < MAX_GROUPS ? reallocarray(l->groups, l->n_groups + 1, sizeof(*grown))
					 : NULL;
	if (!grown)
		return false;
	l->groups = grown;
	l->groups[l->n_groups++] = (struct leat_limits_group){.cgroup = leat_cgroup_ref(group)};
	l->looked_ns = 0;
	return true;
}

bool leat_limits_meet(struct leat_limits *l, pid_t pid, struct leat_cgroup **group)
{
	int rc = l->n_groups ? leat_cgroup_open_like(l->groups[0].cgroup, pid, group)
			     : leat_cgroup_open("", pid, group);

	if (rc)
		*group = NULL;
	return *group && add(l, *group);
}

/* Those of job steps that have ended are gone. */
static void drop_gone(struct leat_limits *l)
{
	size_t n = l->n_groups ? 1 : 0;

	for (size_t i = 1; i < l->n_groups; i++)
		if (leat_cgroup_exists(l->groups[i].cgroup))
			l->groups[n++] = l->groups[i];
		else
			leat_cgroup_close(l->groups[i].cgroup);
	l->n_groups = n;
}

static void find_limited(struct leat_limits *l, uint64_t now)
{
	char file[PATH_MAX];

	if (l->looked_ns && now - l->looked_ns < SECOND)
		return;
	l->looked_ns = now;
	drop_gone(l);
	for (size_t i = 0; i < l->n_groups; i++)
		l->groups[i].is_limited =
			leat_cgroup_memory_limit(l->groups[i].cgroup, file) != LEAT_NO_LIMIT;
}

/* ---- the machine ---- */

static uint64_t kilobytes(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static void look_at_machine(struct leat_limits *l, uint64_t now)
{
	char *text;

	if (l->machine_ns && now - l->machine_ns < MACHINE_NS)
		return;
	l->machine_ns = now;
	l->machine_bytes = UINT64_C(2) << 30;
	l->machine_free = INT64_MAX / 2;
	if (leat_read_file("/proc/meminfo", 1u << 16, &text, NULL) < 0)
		return;
	l->machine_bytes = kilobytes(text, "MemTotal:") * 1024;
	l->machine_free =
		leat_budget_free(l->machine_bytes, kilobytes(text, "\nMemAvailable:") * 1024);
	free(text);
}

/* ---- both ---- */

/* What programs have taken beyond files since a moment ago: they may take as much again before a
 * file has made way. */
static uint64_t growth(struct leat_limits_group *g, const struct leat_cgroup_memory *memory,
		       const struct leat_budget_sight *s)
{
	uint64_t taken = memory->limit_bytes - memory->spare_bytes;
	uint64_t others = taken > s->used_bytes ? taken - s->used_bytes : 0;
	uint64_t grown = g->others_ns && others > g->others_bytes ? others - g->others_bytes : 0;

	if (!g->others_ns || s->now_ns - g->others_ns > MOMENT_NS) {
		g->others_ns = s->now_ns;
		g->others_bytes = others;
	}
	return grown;
}

static void look_at_group(struct leat_limits_group *g, struct leat_budget_sight *s)
{
	struct leat_cgroup_memory memory;
	int64_t space;

	leat_cgroup_memory(g->cgroup, &memory);
	if (memory.limit_bytes == LEAT_NO_LIMIT)
		return;
	space = leat_budget_free(memory.limit_bytes, memory.spare_bytes) -
		(int64_t)growth(g, &memory, s);
	if (memory.limit_bytes < s->limit_bytes)
		s->limit_bytes = memory.limit_bytes;
	if (space < s->free_bytes)
		s->free_bytes = space;
}

static void look_for_stalls(struct leat_limits *l, struct leat_limits_group *g)
{
	uint64_t now = leat_cgroup_stalled_us(g->cgroup);

	if (g->is_met && now > g->stalled_us)
		l->stalled_us += now - g->stalled_us;
	g->is_met = true;
	g->stalled_us = now;
}

void leat_limits_look(struct leat_limits *l, uint64_t used_bytes, uint64_t now_ns)
{
	struct leat_budget_sight s = {.now_ns = now_ns, .used_bytes = used_bytes};

	look_at_machine(l, now_ns);
	find_limited(l, now_ns);
	s.limit_bytes = l->machine_bytes;
	s.free_bytes = l->machine_free;
	for (size_t i = 0; i < l->n_groups; i++) {
		if (l->groups[i].is_limited)
			look_at_group(&l->groups[i], &s);
		look_for_stalls(l, &l->groups[i]);
	}
	s.stalled_us = l->stalled_us;
	l->is_limited = s.limit_bytes < l->machine_bytes;
	l->limit_bytes = s.limit_bytes;
	leat_budget_update(&l->budget, &s);
}

void leat_limits_init(struct leat_limits *l, uint64_t asked_bytes)
{
	struct leat_cgroup *own;

	*l = (struct leat_limits){.budget.asked_bytes = asked_bytes};
	leat_limits_meet(l, 0, &own);
	leat_cgroup_close(own);
	leat_limits_look(l, 0, leat_clock_ns());
}

void leat_limits_release(struct leat_limits *l)
{
	for (size_t i = 0; i < l->n_groups; i++)
		leat_cgroup_close(l->groups[i].cgroup);
	free(l->groups);
	*l = (struct leat_limits){0};
}
