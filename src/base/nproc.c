#include "base/nproc.h"

#include "base/cgroup.h"
#include "base/str.h"

#include <sys/resource.h>
#include <unistd.h>

static struct leat_cgroup_pids look(void)
{
	struct leat_cgroup_pids pids = {.limit = LEAT_NO_LIMIT, .left = LEAT_NO_LIMIT};
	struct leat_cgroup *group;

	if (leat_cgroup_open("", 0, &group) == 0) {
		leat_cgroup_pids(group, &pids);
		leat_cgroup_close(group);
	}
	return pids;
}

char *leat_nproc_limit(void)
{
	struct leat_cgroup_pids pids = look();
	struct rlimit limit;

	if (pids.limit != LEAT_NO_LIMIT)
		return leat_strf("the limit is %llu processes and threads (%s)",
				 (unsigned long long)pids.limit, pids.file);
	if (geteuid() && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return leat_strf("the limit is %llu processes and threads of this user (ulimit -u)",
				 (unsigned long long)limit.rlim_cur);
	return NULL;
}

char *leat_nproc_lack(uint64_t n)
{
	struct leat_cgroup_pids pids = look();

	if (pids.left >= n)
		return NULL;
	return leat_strf("%llu of %llu processes and threads are left (%s)",
			 (unsigned long long)pids.left, (unsigned long long)pids.limit, pids.file);
}
