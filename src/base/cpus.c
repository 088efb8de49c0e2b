#include "base/cpus.h"

#include "base/cgroup.h"

#include <errno.h>

/* More than any kernel is built for. */
enum { MOST_CPUS = 1 << 20 };

cpu_set_t *leat_cpus_allowed(size_t *size)
{
	for (unsigned n = CPU_SETSIZE; n <= MOST_CPUS; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);

		*size = CPU_ALLOC_SIZE(n);
		if (!set || sched_getaffinity(0, *size, set) == 0)
			return set;
		CPU_FREE(set);
		if (errno != EINVAL) /* not: the kernel has more */
			return NULL;
	}
	return NULL;
}

/* 0: there is none. */
static unsigned count_quota(void)
{
	struct leat_cgroup *group;
	double cpus;
	unsigned whole;

	if (leat_cgroup_open("", 0, &group) < 0)
		return 0;
	cpus = leat_cgroup_cpus(group);
	leat_cgroup_close(group);
	if (cpus >= MOST_CPUS)
		return 0;
	whole = (unsigned)cpus;
	return whole + (cpus > whole);
}

unsigned leat_count_cpus(void)
{
	size_t size;
	cpu_set_t *set = leat_cpus_allowed(&size);
	unsigned n = set ? (unsigned)CPU_COUNT_S(size, set) : 0, quota = count_quota();

	CPU_FREE(set);
	return quota && quota < n ? quota : n;
}
