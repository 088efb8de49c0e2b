#include "lang/reader/directory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* `path` made absolute, without "//", "/." and a slash at its end. */
static char *absolute_path(const char *path)
{
	char cwd[PATH_MAX], *joined, *to;

	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return NULL;
	joined = leat_path_join(path[0] == '/' ? NULL : cwd, path);
	if (!joined)
		return NULL;
	to = joined;
	for (const char *from = joined; *from;) {
		size_t n = strcspn(from, "/");

		if (n && !(n == 1 && from[0] == '.')) {
			*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n + (from[n] == '/');
	}
	if (to == joined)
		*to++ = '/';
	*to = '\0';
	return joined;
}

char *leat_lang_dir(const struct leat_workflow *wf, const char *given)
{
	const char *slash = wf && wf->path ? strrchr(wf->path, '/') : NULL;
	char *folder, *joined, *dir;

	if (!given)
		given = getenv("LEAT_DIR");
	if (!given || !given[0])
		given = getenv("CAPIO_DIR");
	if (given && given[0])
		return absolute_path(given);
	if (!wf || !wf->dir)
		return absolute_path(".");
	folder = slash ? strndup(wf->path, (size_t)(slash - wf->path) + 1) : strdup("");
	joined = folder ? leat_path_join(folder, wf->dir) : NULL;
	dir = joined ? absolute_path(joined) : NULL;
	free(joined);
	free(folder);
	return dir;
}
