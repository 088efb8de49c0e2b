#include "base/oom.h"

#include "base/cgroup.h"
#include "base/format.h"
#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void leat_oom_begin(struct leat_oom *oom, pid_t pid)
{
	struct leat_cgroup *group;

	leat_oom_begin_in(oom, leat_cgroup_open("", pid, &group) == 0 ? group : NULL);
}

void leat_oom_begin_in(struct leat_oom *oom, struct leat_cgroup *group)
{
	*oom = (struct leat_oom){.group = group};
	if (!group)
		return;
	oom->kills = leat_cgroup_kills(oom->group);
	oom->refused = leat_cgroup_refused(oom->group);
}

void leat_oom_end(struct leat_oom *oom)
{
	leat_cgroup_close(oom->group);
	oom->group = NULL;
}

uint64_t leat_oom_kills(const struct leat_oom *oom)
{
	uint64_t now = oom->group ? leat_cgroup_kills(oom->group) : 0;

	return now > oom->kills ? now - oom->kills : 0;
}

char *leat_oom_explain(const struct leat_oom *oom)
{
	char file[PATH_MAX] = "", limit[LEAT_WORD];
	uint64_t bytes;

	if (!leat_oom_kills(oom))
		return NULL;
	bytes = leat_cgroup_memory_limit(oom->group, file);
	if (bytes == LEAT_NO_LIMIT)
		return strdup("out of memory: the machine's was full");
	return leat_strf("out of memory: its limit is %s (%s)", leat_format_bytes(bytes, limit),
			 file);
}

char *leat_oom_explain_refused(const struct leat_oom *oom)
{
	struct leat_cgroup_pids pids;

	if (!oom->group || leat_cgroup_refused(oom->group) <= oom->refused)
		return NULL;
	leat_cgroup_pids(oom->group, &pids);
	if (pids.limit == LEAT_NO_LIMIT)
		return strdup("a process or thread could not be started: there were too many");
	return leat_strf("a process or thread could not be started: the limit is %llu (%s)",
			 (unsigned long long)pids.limit, pids.file);
}

bool leat_oom_is_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) == SIGKILL
					: WEXITSTATUS(wait_status) == 128 + SIGKILL;
}
