/* File systems: those that the trace names. */
#include "report/analyse_internal.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SYSTEMS = 64, MOST_MOUNTS = 4096 };

/* Those that many machines see. */
static bool is_shared(const char *type)
{
	static const char *const types[] = {"nfs",    "nfs4",   "cifs",     "smb3",  "ceph",
					    "lustre", "gpfs",   "beegfs",   "afs",   "9p",
					    "ocfs2",  "gfs2",   "orangefs", "pvfs2", "glusterfs",
					    "panfs",  "wekafs", "daos"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(type, types[i]) || (leat_str_begins(type, "fuse.") &&
						!strncmp(type + 5, types[i], strlen(types[i]))))
			return true;
	return false;
}

static const struct leat_mounted *find_mount(const struct leat_analysis *a, unsigned node,
					     const char *path)
{
	const struct leat_mounted *found = NULL;

	/* Of a container's own file systems the tracer's machine sees none. */
	if (*path != '/')
		return NULL;
	for (uint32_t i = 0; i < a->tables->n_mounts; i++) {
		const struct leat_mounted *m = &a->tables->mounts[i];

		/* The later one lies over the earlier one. */
		if (m->node == node && (!found || m->length >= found->length) &&
		    leat_path_is_below(path, m->at))
			found = m;
	}
	return found;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int make_system(struct leat_analysis *a, unsigned node, const struct leat_mounted *m)
{
	struct leat_report_system *s;
	int error = leat_analysis_grow(&a->systems, a->n_systems, &a->tables->system_capacity,
				       sizeof(*a->systems));

	if (error)
		return error;
	s = &a->systems[a->n_systems];
	*s = (struct leat_report_system){.node = node};
	if (m) {
		s->type = strdup(m->type);
		s->at = strdup(*m->at ? m->at : "/");
		if (!s->type || !s->at) {
			free(s->type);
			free(s->at);
			return -ENOMEM;
		}
	}
	a->n_systems++;
	return 0;
}

int leat_analysis_find_system(struct leat_analysis *a, unsigned node, const char *path,
			      uint32_t *system, bool *shared)
{
	const struct leat_mounted *m = path ? find_mount(a, node, path) : NULL;
	const char *at = !m ? NULL : *m->at ? m->at : "/";
	int error = 0;

	*shared = m && is_shared(m->type);
	for (*system = 0; *system < a->n_systems; ++*system) {
		const struct leat_report_system *s = &a->systems[*system];

		if (same(s->at, at) && same(s->type, m ? m->type : NULL) &&
		    (!m || *shared || s->node == node))
			return 0;
	}
	if (a->n_systems < MOST_SYSTEMS)
		error = make_system(a, node, m);
	else
		*system = 0;
	return error;
}

/* "/" as "", since all lie in that; others without a slash at the end. */
static char *plain(const char *at)
{
	size_t n = strlen(at);

	while (n && at[n - 1] == '/')
		n--;
	return strndup(at, n);
}

int leat_analysis_mount(struct leat_analysis *a, unsigned node, const struct leat_trace_mount *m)
{
	struct leat_analysis_tables *t = a->tables;
	char *at, *type;
	int error;

	/* What only a container sees has no place among the names of the tracer's machine; and
	 * leat's own mounts show files of other file systems. */
	if (!m->from || !m->type || leat_str_begins(m->type, "fuse.leat"))
		return 0;
	at = plain(m->from);
	for (uint32_t i = 0; at && i < t->n_mounts; i++) {
		if (t->mounts[i].node == node && same(t->mounts[i].at, at) &&
		    same(t->mounts[i].type, m->type)) {
			free(at);
			return 0;
		}
	}
	type = strdup(m->type);
	error = at && type ? leat_analysis_grow(&t->mounts, t->n_mounts, &t->mount_capacity,
						sizeof(*t->mounts))
			   : -ENOMEM;
	if (error || t->n_mounts >= MOST_MOUNTS) {
		free(at);
		free(type);
		return error;
	}
	t->mounts[t->n_mounts++] = (struct leat_mounted){at, type, strlen(at), node};
	return 0;
}
