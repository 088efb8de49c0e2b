#include "base/subid.h"

#include "base/argv.h"
#include "base/fd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 24, CANNOT_EXECUTE = 127 };

/* "NAME:FIRST:COUNT", or with the number in place of the name. False: not of this user, or no such
 * line. */
static bool parse(const char *line, const char *name, uid_t uid, struct leat_subid *id)
{
	size_t length = strcspn(line, ":");
	char number[16], rest[8];

	snprintf(number, sizeof(number), "%u", (unsigned)uid);
	if ((strlen(name) != length || strncmp(line, name, length) != 0) &&
	    (strlen(number) != length || strncmp(line, number, length) != 0))
		return false;
	return sscanf(line + length, ":%u:%u%7s", &id->first, &id->count, rest) == 2 && id->count;
}

int leat_subid_read(const char *path, const char *name, uid_t uid, struct leat_subids *ids)
{
	char *text = NULL, *line, *rest = NULL;
	struct leat_subid id;
	int rc = leat_read_file(path, FILE_MOST, &text, NULL);

	ids->n = 0;
	for (line = rc ? NULL : strtok_r(text, "\n", &rest); line && !rc;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!parse(line, name, uid, &id))
			continue;
		if (ids->n == LEAT_SUBID_MOST)
			rc = -E2BIG;
		else
			ids->v[ids->n++] = id;
	}
	free(text);
	return rc == -ENOENT ? 0 : rc;
}

static int run(char *const *argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(CANNOT_EXECUTE);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_EXECUTE)
		return -ENOENT;
	return status ? -EPERM : 0;
}

int leat_subid_map(const char *tool, pid_t member, uint32_t own, const struct leat_subids *ids)
{
	struct leat_argv argv = {.n = 0};
	unsigned inside = 1;
	int rc;

	leat_argv_add(&argv, tool);
	leat_argv_addf(&argv, "%d", (int)member);
	leat_argv_add(&argv, "0");
	leat_argv_addf(&argv, "%u", (unsigned)own);
	leat_argv_add(&argv, "1");
	for (size_t i = 0; i < ids->n; i++) {
		leat_argv_addf(&argv, "%u", inside);
		leat_argv_addf(&argv, "%u", (unsigned)ids->v[i].first);
		leat_argv_addf(&argv, "%u", (unsigned)ids->v[i].count);
		inside += ids->v[i].count;
	}
	rc = argv.failed ? -ENOMEM : run(argv.v);
	leat_argv_release(&argv);
	return rc;
}
