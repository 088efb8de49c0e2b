/* Which mounts cover the workflow's directory: leat's, in the namespace of a process behind it or
 * in a copy of its mounts. Where such a one is taken away the plain directory shows. Others of
 * leat's file system, binds of it, cover nothing of ours. */
#include "mount/guard/cover.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOUNTS_MOST = 1 << 22 };

/* Blanks and the like are written as \040. In place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++)
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	*to = 0;
}

/* Where the process sees a mount of leat's to be: the last name of its path, freed by the caller.
 * 0 (and NULL: it is none of leat's), -ENOENT: the process does not see that mount at all. */
static int find_name(pid_t pid, unsigned long long id, char **out)
{
	char path[64], *text = NULL, *line, *kind, *point;
	int rc;

	*out = NULL;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	rc = leat_read_file(path, MOUNTS_MOST, &text, NULL);
	for (line = rc ? NULL : text; line && strtoull(line, NULL, 10) != id;) {
		line = strchr(line, '\n');
		line = line && line[1] ? line + 1 : NULL;
	}
	if (!rc && !line)
		rc = -ENOENT;
	kind = line ? strstr(line, " - ") : NULL;
	if (kind && strncmp(kind, " - fuse.leat ", 13) == 0) {
		for (int i = 0; i < 4; i++) /* number, parent, device, root */
			line = strchr(line, ' ') + 1;
		point = strtok_r(line, " ", &kind);
		unescape(point);
		*out = strdup(strrchr(point, '/') + 1);
	}
	free(text);
	return rc;
}

/* Do both lie in the same directory? */
static bool are_beside(int a, int b)
{
	struct stat of_a, of_b;

	return fstatat(a, "..", &of_a, 0) == 0 && fstatat(b, "..", &of_b, 0) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

int leat_cover_is(const struct leat_mount *m, pid_t pid, int root)
{
	struct statx st;
	char *name = NULL;
	int rc = statx(root, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0
			 ? -errno
			 : find_name(pid, st.stx_mnt_id, &name);

	if (rc || !name)
		return rc;
	rc = strcmp(name, strrchr(m->spec->dir, '/') + 1) == 0 && are_beside(root, m->dir_fd);
	free(name);
	return rc;
}
