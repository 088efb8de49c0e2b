/* Where a program is. */
#include "driver/plan.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if `path` is a program, -EACCES if something else is there, -ENOENT. */
static int look_at(const char *path, const char *dir)
{
	char *full = leat_path_join(dir, path);
	struct stat st;
	int result = 0;

	if (!full)
		return -ENOMEM;
	if (stat(full, &st) < 0)
		result = errno == EACCES ? -EACCES : -ENOENT;
	else if (!S_ISREG(st.st_mode) || access(full, X_OK) < 0)
		result = -EACCES;
	free(full);
	return result;
}

static int search_path(const char *name, const char *dir, char **path)
{
	const char *at = getenv("PATH");
	int result = -ENOENT;

	if (!at)
		at = "/usr/local/bin:/usr/bin:/bin";
	for (bool more = *name; more;) {
		const char *end = strchrnul(at, ':');
		char *candidate = leat_strf("%.*s/%s", end > at ? (int)(end - at) : 1,
					    end > at ? at : ".", name);
		int found = candidate ? look_at(candidate, dir) : -ENOMEM;

		if (found == 0) {
			*path = candidate;
			return 0;
		}
		free(candidate);
		if (found != -ENOENT)
			result = found;
		more = *end;
		at = end + 1;
	}
	return result;
}

int leat_plan_find(const char *name, const char *dir, char **path)
{
	int result;

	if (!strchr(name, '/'))
		return search_path(name, dir, path);
	result = look_at(name, dir);
	if (result == 0)
		*path = strdup(name);
	return result == 0 && !*path ? -ENOMEM : result;
}
