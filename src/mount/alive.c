#include "mount/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Out of the program's way, as the descriptors of the interception library. */
enum { HIDE_FROM = 1000 };

void leat_alive_hold(const char *dir)
{
	char path[PATH_MAX];
	struct rlimit limit;
	int fd, from = HIDE_FROM;

	if (snprintf(path, sizeof(path), "%s/" LEAT_ALIVE_NAME, dir) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIDE_FROM + 16)
		from = (int)(limit.rlim_cur / 2);
	if (fd >= 0 && fcntl(fd, F_DUPFD, from) >= 0)
		close(fd);
}

bool leat_alive_is(struct leat_mount *m, fuse_ino_t parent, const char *name)
{
	return !m->program && parent == FUSE_ROOT_ID && strcmp(name, LEAT_ALIVE_NAME) == 0;
}

void leat_alive_entry(struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){.ino = LEAT_ALIVE_INO,
				       .attr = {.st_mode = S_IFREG | 0444, .st_nlink = 1}};
}

void leat_alive_opened(struct leat_errand *call)
{
	call->m->program = leat_caller_process(call->tid);
}

void leat_alive_flushed(struct leat_errand *call)
{
	int status;

	if (leat_caller_process(call->tid) == call->m->program &&
	    leat_caller_ending(call->tid, &status) && WIFEXITED(status))
		leat_line_exiting(call->line, call->m->program, WEXITSTATUS(status));
}
