/* Which files are a trace. */
#include "iotrace/csv.h"
#include "iotrace/stream.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the tools of the paper call their files. */
#define PAPER_CALLS "file-bpf.csv"
#define PAPER_PROCESSES "cgroups.csv"

struct list {
	char **v; /* owned */
	size_t n;
};

void leat_trace_find_free(char **files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i]);
	free(files);
}

/* Takes `path`, also when it fails. */
static int add(struct list *l, char *path)
{
	char **v = path ? reallocarray(l->v, l->n + 1, sizeof(*v)) : NULL;

	if (!v) {
		free(path);
		return -ENOMEM;
	}
	l->v = v;
	v[l->n++] = path;
	return 0;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);

	return n >= m && strcmp(text + n - m, with) == 0;
}

/* `path` with another name at its end. The caller frees it. */
static char *sibling(const char *path, const char *name)
{
	return leat_strf("%.*s%s", (int)(name_of(path) - path), path, name);
}

/* Of NAME.pids.csv the NAME.csv; of the paper's the other one. NULL: it is no name of processes,
 * or memory ran out. */
static char *calls_of(const char *path)
{
	if (strcmp(name_of(path), PAPER_PROCESSES) == 0)
		return sibling(path, PAPER_CALLS);
	if (!leat_trace_csv_is_beside(path))
		return NULL;
	return leat_strf("%.*s.csv", (int)(strlen(path) - strlen(".pids.csv")), path);
}

/* A file, and that of its processes if there is one. */
static int find_pair(struct list *l, const char *path, char *why)
{
	char *calls = calls_of(path), *beside = NULL;
	int rc = 0;

	if (calls && access(calls, F_OK) == 0) {
		snprintf(why, LEAT_TRACE_WHY_BYTES,
			 "%s: these are the processes of %s, and are read with it: leave it out",
			 path, calls);
		rc = -EBADMSG;
	}
	free(calls);
	if (!rc)
		rc = add(l, strdup(path));
	if (rc || ends(path, ".trace"))
		return rc;
	beside = leat_trace_csv_beside(path);
	if (beside && access(beside, F_OK) < 0 && strcmp(name_of(path), PAPER_CALLS) == 0) {
		free(beside);
		beside = sibling(path, PAPER_PROCESSES);
	}
	if (!beside)
		return -ENOMEM;
	if (access(beside, F_OK) == 0)
		return add(l, beside);
	free(beside);
	return 0;
}

static int is_trace_name(const struct dirent *d)
{
	return d->d_name[0] != '.' && (ends(d->d_name, ".csv") || ends(d->d_name, ".trace"));
}

static int find_in(struct list *l, const char *dir, char *why)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_trace_name, alphasort), rc = 0;

	if (n < 0) {
		rc = -errno;
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s: %s", dir, strerror(-rc));
		return rc;
	}
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add(l, leat_path_join(dir, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	if (rc || n)
		return rc;
	snprintf(why, LEAT_TRACE_WHY_BYTES,
		 "%s: the directory has no trace, which is a file NAME.csv or NAME.trace; if it "
		 "has a "
		 "directory for each node, give those",
		 dir);
	return -EBADMSG;
}

int leat_trace_find(const char *path, char ***files, size_t *n, char *why)
{
	struct list l = {0};
	struct stat st;
	int rc;

	if (stat(path, &st) < 0) {
		rc = -errno;
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s: %s", path, strerror(-rc));
		return rc;
	}
	rc = S_ISDIR(st.st_mode) ? find_in(&l, path, why) : find_pair(&l, path, why);
	if (rc == -ENOMEM)
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s: %s", path, strerror(ENOMEM));
	if (rc) {
		leat_trace_find_free(l.v, l.n);
		return rc;
	}
	*files = l.v;
	*n = l.n;
	return 0;
}
