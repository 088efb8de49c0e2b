#include "trace/who.h"

#include "base/fd.h"
#include "base/percent.h"
#include "base/str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

enum { MAX_ENVIRONMENT = 16 << 20, MAX_CGROUP = 1 << 20 };

struct cgroup {
	UT_hash_handle hh;
	uint64_t id;
	char path[]; /* key */
};

struct leat_trace_who {
	struct leat_trace_sink *sink; /* borrowed */
	struct cgroup *cgroups;       /* owned, by path */
	struct leat_mounts *mounts;   /* owned */
};

/* ---- labels ---- */

static const char *const names[] = {
	"SLURM_JOB_ID",
	"SLURM_JOBID",
	"SLURM_JOB_NAME",
	"SLURM_STEP_ID",
	"SLURM_STEPID",
	"SLURM_PROCID",
	"SLURM_NODEID",
	"SLURM_LOCALID",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_CLUSTER_NAME",
	"SLURMD_NODENAME",
	"LEAT_STEP",
	"LEAT_APP_NAME",
	"LEAT_WORKFLOW_NAME",
	"LEAT_TASK",
	"LEAT_INSTANCE",
	"LEAT_INSTANCES",
	"LEAT_DIR",
	"CAPIO_APP_NAME",
	"CAPIO_WORKFLOW_NAME",
	"PMIX_RANK",
	"OMPI_COMM_WORLD_RANK",
	"PMI_RANK",
	"KUBERNETES_POD_NAME",
	"POD_NAME",
	"HOSTNAME",
};
static const char *const prefixes[] = {"NXF_", "AIRFLOW_CTX_"};
/* A trace is given to others. */
static const char *const secrets[] = {"SECRET", "TOKEN", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"};

static bool is_label(const char *entry)
{
	size_t length = strcspn(entry, "=");
	char name[128];

	if (length >= sizeof(name) || entry[length] != '=')
		return false;
	memcpy(name, entry, length);
	name[length] = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (strstr(name, secrets[i]))
			return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (leat_str_begins(name, prefixes[i]))
			return true;
	return false;
}

char *leat_trace_labels(const char *environment, size_t size)
{
	char *labels = NULL;
	size_t length = 0;
	FILE *out = NULL;

	/* The last entry may have been cut off by who wrote it: it then has no end. */
	for (size_t at = 0; at < size;) {
		size_t n = strnlen(environment + at, size - at);

		if (at + n < size && is_label(environment + at)) {
			if (!out)
				out = open_memstream(&labels, &length);
			else
				fputc(' ', out);
			if (!out)
				return NULL;
			leat_percent_put(out, environment + at, ' ');
		}
		at += n + 1;
	}
	if (out && fclose(out) != 0) {
		free(labels);
		return NULL;
	}
	return labels;
}

/* ---- cgroups ---- */

static char *read_proc(pid_t pid, const char *what, size_t max, size_t *size)
{
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return leat_read_file(path, max, &text, size) < 0 ? NULL : text;
}

static uint64_t cgroup_id(const char *path)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct stat st;
	uint64_t id = 0;

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots) && !id; i++) {
		char *full = leat_strf("%s%s", roots[i], path);
		char *probe = leat_strf("%s/cgroup.controllers", roots[i]);

		/* Its inode is the id only in the one hierarchy of v2. */
		if (full && probe && access(probe, F_OK) == 0 && stat(full, &st) == 0)
			id = st.st_ino;
		free(full);
		free(probe);
	}
	return id;
}

/* The id of a cgroup by its path below the root of cgroups. */
static uint64_t cgroup_at(struct leat_trace_who *w, const char *path)
{
	size_t length = strlen(path);
	struct cgroup *c;
	uint64_t id;

	HASH_FIND(hh, w->cgroups, path, length, c);
	if (c)
		return c->id;
	id = cgroup_id(path);
	c = calloc(1, sizeof(*c) + length + 1);
	if (!c)
		return id;
	c->id = id;
	memcpy(c->path, path, length + 1);
	HASH_ADD(hh, w->cgroups, path, length, c);
	if (id)
		leat_trace_sink_cgroup(w->sink, &(struct leat_trace_cgroup){id, c->path});
	return id;
}

uint64_t leat_trace_who_cgroup(struct leat_trace_who *w, pid_t pid)
{
	char *text = read_proc(pid, "cgroup", MAX_CGROUP, NULL), *at;
	uint64_t id = 0;

	if (!text)
		return 0;
	at = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (at) {
		at += *at == '\n' ? 4 : 3;
		at[strcspn(at, "\n")] = 0;
		id = cgroup_at(w, at);
	}
	free(text);
	return id;
}

/* ---- mounts ---- */

static void write_mounts(struct leat_trace_who *w, const struct leat_mount_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct leat_mounted_at *m = &v->mounts[i];
		struct leat_fs_path place = {m->major, m->minor, m->type, m->source, m->root};
		char *from = v->space == leat_mounts_own(w->mounts)
				     ? strdup(m->at)
				     : leat_mounts_seen_by_us(w->mounts, &place);

		leat_trace_sink_mount(w->sink,
				      &(struct leat_trace_mount){v->space, m->at, from, m->type});
		free(from);
	}
}

/* Reads the mounts as the process sees them; they are said if they were not known so. */
static const struct leat_mount_view *look(struct leat_trace_who *w, uint64_t space, pid_t pid)
{
	bool changed;
	const struct leat_mount_view *v = leat_mounts_look(w->mounts, space, pid, &changed);

	if (v && changed)
		write_mounts(w, v);
	return v;
}

static uint64_t report_mounts(struct leat_trace_who *w, pid_t pid)
{
	uint64_t space = leat_mounts_space_of(pid);

	/* The tracer's own are said once: looking at them for each program costs too much. */
	if (space && (space != leat_mounts_own(w->mounts) || !leat_mounts_find(w->mounts, space)))
		look(w, space, pid);
	return space;
}

void leat_trace_who_mounts(struct leat_trace_who *w, pid_t pid)
{
	report_mounts(w, pid);
}

struct leat_mounts *leat_trace_who_views(struct leat_trace_who *w)
{
	return w->mounts;
}

static const char *find_type(const struct leat_mount_view *v, uint64_t mount_id)
{
	for (size_t i = 0; v && i < v->n; i++)
		if (v->mounts[i].id == mount_id)
			return v->mounts[i].type;
	return NULL;
}

const char *leat_trace_who_filesystem(struct leat_trace_who *w, pid_t pid, uint64_t mount_id)
{
	uint64_t space = leat_mounts_space_of(pid);
	const char *type = find_type(leat_mounts_find(w->mounts, space), mount_id);

	if (!type && space)
		type = find_type(look(w, space, pid), mount_id);
	return type;
}

/* ---- programs ---- */

/* Where a link of /proc leads; the caller frees it. */
static char *read_link(pid_t pid, const char *what)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = 0;
	return strdup(target);
}

uint64_t leat_trace_who_exec(struct leat_trace_who *w, pid_t ppid, pid_t pid, int64_t time_ns)
{
	size_t size = 0;
	uint64_t space = report_mounts(w, pid);
	char *environment = read_proc(pid, "environ", MAX_ENVIRONMENT, &size);
	char *labels = environment ? leat_trace_labels(environment, size) : NULL;
	char *program = read_link(pid, "exe"), *dir = read_link(pid, "cwd");
	struct leat_trace_process p = {.time_ns = time_ns,
				       .change = LEAT_TRACE_EXEC,
				       .ppid = ppid,
				       .pid = pid,
				       .cgroup = leat_trace_who_cgroup(w, pid),
				       .mounts = space == leat_mounts_own(w->mounts) ? 0 : space,
				       .program = program,
				       .dir = dir,
				       .labels = labels};

	leat_trace_sink_process(w->sink, &p);
	free(environment);
	free(labels);
	free(program);
	free(dir);
	return p.cgroup;
}

struct leat_trace_who *leat_trace_who_new(struct leat_trace_sink *sink)
{
	struct leat_trace_who *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->sink = sink;
	w->mounts = leat_mounts_new();
	if (!w->mounts) {
		free(w);
		return NULL;
	}
	report_mounts(w, getpid());
	return w;
}

void leat_trace_who_free(struct leat_trace_who *w)
{
	struct cgroup *c, *next_c;

	if (!w)
		return;
	HASH_ITER(hh, w->cgroups, c, next_c)
	{
		HASH_DEL(w->cgroups, c);
		free(c);
	}
	leat_mounts_free(w->mounts);
	free(w);
}
