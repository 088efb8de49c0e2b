/* Control groups: which they are, and what their files say. */
#include "base/cgroup.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT (1u << 20)

enum chain { MEMORY, CPU, PIDS, UNIFIED, N_CHAINS };

/* The levels of one controller: the directory of the process's group, and those above it. */
struct levels {
	char *dir;  /* owned; NULL: none is to be seen */
	size_t top; /* so long is the name of the uppermost that is to be seen */
	bool is_v2;
};

struct leat_cgroup {
	unsigned refs;
	char *machine;    /* owned */
	char *reported;   /* what the kernel tells of the process; owned */
	int mounts_fd;    /* this process's mountinfo, which tells of changes; -1: not followed */
	bool is_outdated; /* mounts have changed */
	struct levels chains[N_CHAINS];
};

/* ---- finding them ---- */

static const char *const controllers[N_CHAINS] = {
	[MEMORY] = "memory", [CPU] = "cpu", [PIDS] = "pids", [UNIFIED] = ""};

static int take_mount(struct leat_cgroup *g, struct levels *l, const struct leat_cgroup_mount *m,
		      const char *path)
{
	char dir[PATH_MAX];

	if (l->dir || !leat_cgroup_below(m, path, dir))
		return 0;
	l->dir = leat_strf("%s%s", g->machine, dir);
	if (!l->dir)
		return -ENOMEM;
	if (access(l->dir, X_OK) < 0) { /* another mount may show it */
		free(l->dir);
		l->dir = NULL;
		return 0;
	}
	l->top = strlen(g->machine) + strlen(m->point);
	l->is_v2 = m->is_v2;
	return 0;
}

/* The mounts in which the controller's groups are: those of version 1 if it has any. */
static int find_levels(struct leat_cgroup *g, enum chain chain, const char *groups, char *mounts)
{
	const char *controller = controllers[chain];
	struct leat_cgroup_mount m;
	char path[PATH_MAX];
	bool is_v1 = *controller && leat_cgroup_path(groups, controller, path);
	int rc = 0;

	if (!is_v1 && !leat_cgroup_path(groups, "", path))
		return 0;
	for (char *line = mounts; !rc && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (leat_cgroup_mount(line, &m) && m.is_v2 != is_v1 &&
		    (m.is_v2 || leat_cgroup_has_word(m.options, controller)))
			rc = take_mount(g, &g->chains[chain], &m, path);
	return rc;
}

static int read_below(const char *machine, const char *name, char **text)
{
	char *path = leat_strf("%s%s", machine, name);
	int rc = path ? leat_read_file(path, MAX_TEXT, text, NULL) : -ENOMEM;

	free(path);
	return rc;
}

static int read_reported(const char *machine, pid_t pid, char **reported)
{
	char name[64] = "/proc/self/cgroup";

	if (pid)
		snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	return read_below(machine, name, reported);
}

/* The mounts as they are, to be followed from here on. */
static int read_mounts(struct leat_cgroup *g, char **mounts)
{
	char *path = leat_strf("%s/proc/self/mountinfo", g->machine);

	g->mounts_fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	free(path);
	if (g->mounts_fd < 0)
		return path ? -errno : -ENOMEM;
	return leat_read_fd(g->mounts_fd, MAX_TEXT, mounts, NULL);
}

static int find_groups(struct leat_cgroup *g)
{
	char *mounts = NULL;
	int rc = read_mounts(g, &mounts);

	for (enum chain c = 0; !rc && c < N_CHAINS; c++)
		rc = find_levels(g, c, g->reported, mounts);
	free(mounts);
	return rc;
}

int leat_cgroup_open(const char *machine, pid_t pid, struct leat_cgroup **group)
{
	struct leat_cgroup *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return -ENOMEM;
	*g = (struct leat_cgroup){.refs = 1, .mounts_fd = -1, .machine = strdup(machine)};
	rc = g->machine ? read_reported(machine, pid, &g->reported) : -ENOMEM;
	if (!rc)
		rc = find_groups(g);
	if (rc) {
		leat_cgroup_close(g);
		return rc;
	}
	if (pid) /* others' are looked at again: a descriptor each would be too many */
		leat_close(&g->mounts_fd);
	*group = g;
	return 0;
}

/* The kernel tells each change once. Source: proc_pid_mounts(5). */
static bool is_current(struct leat_cgroup *g)
{
	struct pollfd mounts = {.fd = g->mounts_fd, .events = POLLPRI};
	int changes;

	do
		changes = poll(&mounts, 1, 0);
	while (changes < 0 && errno == EINTR);
	if (g->mounts_fd < 0 || changes)
		g->is_outdated = true;
	return !g->is_outdated;
}

int leat_cgroup_open_like(struct leat_cgroup *like, pid_t pid, struct leat_cgroup **group)
{
	char *reported;
	int rc;

	if (!is_current(like))
		return leat_cgroup_open(like->machine, pid, group);
	rc = read_reported(like->machine, pid, &reported);
	if (rc)
		return rc;
	rc = strcmp(reported, like->reported);
	free(reported);
	if (rc)
		return leat_cgroup_open(like->machine, pid, group);
	*group = leat_cgroup_ref(like);
	return 0;
}

struct leat_cgroup *leat_cgroup_ref(struct leat_cgroup *group)
{
	group->refs++;
	return group;
}

void leat_cgroup_close(struct leat_cgroup *group)
{
	if (!group || --group->refs)
		return;
	for (enum chain c = 0; c < N_CHAINS; c++)
		free(group->chains[c].dir);
	leat_close(&group->mounts_fd);
	free(group->reported);
	free(group->machine);
	free(group);
}

bool leat_cgroup_exists(const struct leat_cgroup *group)
{
	const char *dir = group->chains[MEMORY].dir;

	return dir && access(dir, X_OK) == 0;
}

static bool shares(const struct leat_cgroup *a, const struct leat_cgroup *b, enum chain chain)
{
	const char *x = a->chains[chain].dir, *y = b->chains[chain].dir;

	return x && y ? strcmp(x, y) == 0 : !x && !y;
}

bool leat_cgroup_equal(const struct leat_cgroup *a, const struct leat_cgroup *b)
{
	for (enum chain c = 0; c < N_CHAINS; c++)
		if (!shares(a, b, c))
			return false;
	return true;
}

bool leat_cgroup_shares_memory(const struct leat_cgroup *a, const struct leat_cgroup *b)
{
	return shares(a, b, MEMORY);
}

/* ---- their files ---- */

/* One level at a time, from the process's own upwards. */
struct climb {
	char dir[PATH_MAX];
	size_t top;
	bool is_v2;
	bool more;
};

static struct climb begin_climb(const struct levels *l)
{
	struct climb c = {.top = l->top, .is_v2 = l->is_v2};

	c.more = l->dir && snprintf(c.dir, sizeof(c.dir), "%s", l->dir) < (int)sizeof(c.dir);
	return c;
}

static void climb(struct climb *c)
{
	char *end = strrchr(c->dir, '/');

	c->more = end && (size_t)(end - c->dir) >= c->top;
	if (c->more)
		*end = 0;
}

/* The beginning of a file of the level; false: it cannot be read. */
static bool read_text(const char *dir, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	long n;
	int fd;

	if (!leat_path_put(path, dir, name))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = leat_read_all(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static uint64_t read_limit(const char *dir, const char *name)
{
	char text[64];
	uint64_t number;

	return read_text(dir, name, text, sizeof(text)) && leat_cgroup_number(text, &number)
		       ? number
		       : LEAT_NO_LIMIT;
}

/* Keeps the tighter limit, and the file that says it. */
static void tighten(const char *dir, const char *name, uint64_t *limit, char file[PATH_MAX])
{
	uint64_t found = read_limit(dir, name);

	if (found >= *limit)
		return;
	*limit = found;
	if (!leat_path_put(file, dir, name))
		snprintf(file, PATH_MAX, "%s", name);
}

/* Keeps what is left where least is. */
static void keep_least(uint64_t limit, uint64_t used, uint64_t *left)
{
	uint64_t here = used < limit ? limit - used : 0;

	if (here < *left)
		*left = here;
}

/* ---- memory ---- */

/* In version 1 the uppermost level that is to be seen tells of the limits above it, too. */
static void tighten_unseen(const struct climb *c, uint64_t *limit, char file[PATH_MAX])
{
	const char *dir = c->dir;
	char text[8192];
	uint64_t found;

	if (strlen(dir) > c->top || !read_text(dir, "memory.stat", text, sizeof(text)))
		return;
	found = leat_cgroup_stat(text, "hierarchical_memory_limit");
	if (!found || found >= *limit)
		return;
	*limit = found;
	if (!leat_path_put(file, dir, "memory.stat"))
		snprintf(file, PATH_MAX, "memory.stat");
}

static void tighten_memory(const struct climb *c, uint64_t *limit, char file[PATH_MAX])
{
	if (c->is_v2) {
		tighten(c->dir, "memory.max", limit, file);
		tighten(c->dir, "memory.high", limit, file);
	} else {
		tighten(c->dir, "memory.limit_in_bytes", limit, file);
		tighten_unseen(c, limit, file);
	}
}

/* What is in use and cannot be taken back at once. */
static uint64_t count_needed(const struct climb *c)
{
	uint64_t used = read_limit(c->dir, c->is_v2 ? "memory.current" : "memory.usage_in_bytes");
	uint64_t cached = 0;
	char text[8192];

	if (used == LEAT_NO_LIMIT)
		return 0;
	if (!read_text(c->dir, "memory.stat", text, sizeof(text)))
		return used;
	if (c->is_v2)
		cached = leat_cgroup_stat(text, "inactive_file") +
			 leat_cgroup_stat(text, "active_file") +
			 leat_cgroup_stat(text, "slab_reclaimable");
	else
		cached = leat_cgroup_stat(text, "total_inactive_file") +
			 leat_cgroup_stat(text, "total_active_file");
	return used > cached ? used - cached : 0;
}

void leat_cgroup_memory(const struct leat_cgroup *group, struct leat_cgroup_memory *memory)
{
	memory->limit_bytes = memory->spare_bytes = LEAT_NO_LIMIT;
	memory->file[0] = 0;
	for (struct climb c = begin_climb(&group->chains[MEMORY]); c.more; climb(&c)) {
		uint64_t limit = LEAT_NO_LIMIT;
		char file[PATH_MAX];

		tighten_memory(&c, &limit, file);
		if (limit == LEAT_NO_LIMIT)
			continue;
		keep_least(limit, count_needed(&c), &memory->spare_bytes);
		if (limit < memory->limit_bytes) {
			memory->limit_bytes = limit;
			memcpy(memory->file, file, sizeof(file));
		}
	}
}

uint64_t leat_cgroup_memory_limit(const struct leat_cgroup *group, char file[PATH_MAX])
{
	uint64_t limit = LEAT_NO_LIMIT;

	file[0] = 0;
	for (struct climb c = begin_climb(&group->chains[MEMORY]); c.more; climb(&c))
		tighten_memory(&c, &limit, file);
	return limit;
}

uint64_t leat_cgroup_kills(const struct leat_cgroup *group)
{
	char text[1024];

	/* The lowest level that counts; one of version 2 counts what is below it. */
	for (struct climb c = begin_climb(&group->chains[MEMORY]); c.more; climb(&c))
		if (read_text(c.dir, c.is_v2 ? "memory.events" : "memory.oom_control", text,
			      sizeof(text)))
			return leat_cgroup_stat(text, "oom_kill");
	return 0;
}

uint64_t leat_cgroup_stalled_us(const struct leat_cgroup *group)
{
	char text[1024];

	for (struct climb c = begin_climb(&group->chains[UNIFIED]); c.more; climb(&c))
		if (read_text(c.dir, "memory.pressure", text, sizeof(text)))
			return leat_cgroup_total_us(text);
	snprintf(text, sizeof(text), "%.900s/proc/pressure", group->machine);
	return read_text(text, "memory", text, sizeof(text)) ? leat_cgroup_total_us(text) : 0;
}

/* ---- processes and CPU time ---- */

void leat_cgroup_pids(const struct leat_cgroup *group, struct leat_cgroup_pids *pids)
{
	pids->limit = pids->left = LEAT_NO_LIMIT;
	pids->file[0] = 0;
	for (struct climb c = begin_climb(&group->chains[PIDS]); c.more; climb(&c)) {
		uint64_t limit = read_limit(c.dir, "pids.max"), now;

		if (limit == LEAT_NO_LIMIT)
			continue;
		now = read_limit(c.dir, "pids.current");
		keep_least(limit, now == LEAT_NO_LIMIT ? 0 : now, &pids->left);
		tighten(c.dir, "pids.max", &pids->limit, pids->file);
	}
}

uint64_t leat_cgroup_refused(const struct leat_cgroup *group)
{
	uint64_t refused = 0;
	char text[256];

	/* Which level counts depends on the kernel. */
	for (struct climb c = begin_climb(&group->chains[PIDS]); c.more; climb(&c))
		if (read_text(c.dir, "pids.events", text, sizeof(text)))
			refused += leat_cgroup_stat(text, "max");
	return refused;
}

/* 0: none. */
static double quota_of(const struct climb *c)
{
	char quota[64], period[64], text[130];

	if (c->is_v2)
		return read_text(c->dir, "cpu.max", text, sizeof(text)) ? leat_cgroup_quota(text)
									: 0;
	if (!read_text(c->dir, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
	    !read_text(c->dir, "cpu.cfs_period_us", period, sizeof(period)))
		return 0;
	snprintf(text, sizeof(text), "%s %s", quota, period);
	return leat_cgroup_quota(text);
}

double leat_cgroup_cpus(const struct leat_cgroup *group)
{
	double least = 0;

	for (struct climb c = begin_climb(&group->chains[CPU]); c.more; climb(&c)) {
		double quota = quota_of(&c);

		if (quota > 0 && (least <= 0 || quota < least))
			least = quota;
	}
	return least;
}
