#include "driver/environment.h"
#include "driver/mpi.h"

#include "base/hash.h"
#include "base/putby.h"
#include "base/str.h"
#include "wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* leat's own variables, and those for MPI launchers. */
enum { MOST_ADDED = 25 };

struct builder {
	char **v;
	size_t n;
	bool failed;
};

static void add(struct builder *b, const char *name, const char *value, const char *rest)
{
	char *text;

	if (asprintf(&text, "%s=%s%s%s", name, value, rest ? " " : "", rest ? rest : "") < 0)
		b->failed = true;
	else
		b->v[b->n++] = text;
}

/* Of Open MPI; one that leat has set is that of the step that this leat runs in. */
#define SESSION_DIR "OMPI_MCA_orte_top_session_dir"

static bool is_own_session_dir(const char *value)
{
	return strstr(value, "/ompi.leat.") != NULL;
}

/* Is the entry "NAME=..." that of the variable? */
static bool is_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_replaced(const char *entry, const struct leat_environment_spec *spec)
{
	static const char *const names[] = {
		"LEAT_DIR",   "LEAT_APP_NAME", "LEAT_WORKFLOW_NAME", "LEAT_RUNTIME_DIR",
		"LEAT_MOUNT", "LEAT_SITES",    "LEAT_KEY",           "LEAT_SEAL",
		"LEAT_TASK",  "LEAT_INSTANCE", "LEAT_INSTANCES",     "LEAT_DIR_ID"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_of(entry, names[i]))
			return true;
	if (spec->within && is_of(entry, "PWD"))
		return true;
	if (is_of(entry, SESSION_DIR))
		return is_own_session_dir(entry);
	/* This may be the leat of a step on plain files. */
	return ((spec->library || spec->plain) && is_of(entry, "LEAT_TRACE_BUFFER_ONLY")) ||
	       ((spec->library || spec->tracer) && is_of(entry, "LD_PRELOAD"));
}

/* Which directory it is, so that a step's programs do not take another one for it. */
static void add_identity(struct builder *b, const char *dir)
{
	char id[48];
	struct stat st;

	if (stat(dir, &st) < 0)
		return; /* whoever looks for the daemon says so */
	snprintf(id, sizeof(id), "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	add(b, "LEAT_DIR_ID", id, NULL);
}

static void add_preload(struct builder *b, const char *library)
{
	const char *old = getenv("LD_PRELOAD");

	if (old && strncmp(old, library, strlen(library)) == 0)
		add(b, "LD_PRELOAD", old, NULL);
	else
		add(b, "LD_PRELOAD", library, old && *old ? old : NULL);
}

/* In the session's directory: where the library keeps what it finds in libc, unless the user has
 * emptied the variable. It can do without. */
static void add_sites(struct builder *b, const struct leat_environment_spec *spec)
{
	static const char name[] = "sites";
	const char *old = getenv("LEAT_SITES");
	char path[PATH_MAX];

	if (old && !*old) {
		add(b, "LEAT_SITES", "", NULL);
		return;
	}
	if (leat_wire_session_path(spec->runtime_dir, getuid(), spec->dir, path, sizeof(path)))
		return;
	memcpy(strrchr(path, '/') + 1, name, sizeof(name)); /* shorter than the socket's */
	add(b, "LEAT_SITES", path, NULL);
}

/* Shells and others believe it where it names the working directory. */
static void add_working_dir(struct builder *b, const struct leat_environment_spec *spec)
{
	char *path = *spec->within ? leat_path_join(spec->dir, spec->within) : strdup(spec->dir);

	if (path)
		add(b, "PWD", path, NULL);
	else
		b->failed = true;
	free(path);
}

static void add_user(struct builder *b)
{
	const struct passwd *user = getpwuid(geteuid());
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	add(b, "USER", user && *user->pw_name ? user->pw_name : number, NULL);
}

static void add_mpi(struct builder *b)
{
	const char *variable;

	for (unsigned i = 0; (variable = leat_mpi_variable(i, geteuid() == 0)); i++) {
		char *name = strndup(variable, strcspn(variable, "="));

		if (!name)
			b->failed = true;
		else if (!getenv(name))
			add(b, name, strchr(variable, '=') + 1, NULL);
		free(name);
	}
}

/* Programs of Open MPI that start at the same moment, as steps do, fail now and then in making the
 * directory that they all use, /tmp/ompi.HOST.UID. Each step has its own; who uses it makes and
 * removes it. Open MPI 2 to 4. */
static void add_session_directory(struct builder *b, const struct leat_environment_spec *spec)
{
	uint64_t hash = leat_hash(spec->dir, strlen(spec->dir), 0);
	const char *tmp = getenv("TMPDIR"), *set = getenv(SESSION_DIR);
	char *path;

	if ((set && !is_own_session_dir(set)) || getenv("OMPI_MCA_orte_tmpdir_base"))
		return;
	hash = leat_hash(spec->step, strlen(spec->step), hash);
	path = leat_strf("%s/ompi.leat.%u.%016" PRIx64, tmp && *tmp ? tmp : "/tmp",
			 (unsigned)getuid(), hash);
	if (path)
		add(b, SESSION_DIR, path, NULL);
	else
		b->failed = true;
	free(path);
}

static void add_instance(struct builder *b, const struct leat_environment_spec *spec)
{
	char number[24];

	add(b, "LEAT_TASK", spec->task, NULL);
	snprintf(number, sizeof(number), "%u", spec->instance);
	add(b, "LEAT_INSTANCE", number, NULL);
	snprintf(number, sizeof(number), "%u", spec->instances);
	add(b, "LEAT_INSTANCES", number, NULL);
}

char **leat_environment_added(const struct leat_environment_spec *spec)
{
	struct builder b = {.v = calloc(MOST_ADDED + 1, sizeof(*b.v))};

	if (!b.v)
		return NULL;
	if (spec->plain)
		add(&b, "LEAT_TRACE_BUFFER_ONLY", "1", NULL);
	else
		add(&b, "LEAT_DIR", spec->dir, NULL);
	if (spec->library)
		add_identity(&b, spec->dir);
	/* Where this leat is traced itself, a library would put the variable back. */
	if (spec->library && getenv("LEAT_TRACE_BUFFER_ONLY"))
		add(&b, "LEAT_TRACE_BUFFER_ONLY", "", NULL);
	add(&b, "LEAT_APP_NAME", spec->step, NULL);
	add(&b, "LEAT_WORKFLOW_NAME", spec->workflow, NULL);
	if (spec->within)
		add_working_dir(&b, spec);
	if (spec->named && !getenv("USER"))
		add_user(&b);
	if (spec->mpi)
		add_mpi(&b);
	add_session_directory(&b, spec);
	if (spec->task)
		add_instance(&b, spec);
	if (spec->runtime_dir)
		add(&b, "LEAT_RUNTIME_DIR", spec->runtime_dir, NULL);
	if (spec->sealed)
		add(&b, "LEAT_SEAL", "1", NULL);
	if (spec->key)
		add(&b, "LEAT_KEY", spec->key, NULL);
	if (spec->mount)
		add(&b, "LEAT_MOUNT", spec->mount, NULL);
	if (spec->library || spec->tracer) {
		add_sites(&b, spec);
		add_preload(&b, spec->library ? spec->library : spec->tracer);
	}
	if (b.failed) {
		leat_environment_free(b.v);
		return NULL;
	}
	return b.v;
}

static size_t count(char *const *v)
{
	size_t n = 0;

	while (v[n])
		n++;
	return n;
}

static void put_by_entry(struct builder *b, char **entry)
{
	char *text = leat_strf(LEAT_PUT_BY "%s", *entry);

	if (!text) {
		b->failed = true;
		return;
	}
	free(*entry);
	*entry = text;
}

/* What the loader would load into the step's first program, or into leat where that makes the
 * mount, may be in memory: whoever is there first gives it its name back (base/putby.h). */
static void put_by(struct builder *b, const struct leat_environment_spec *spec)
{
	static const char preload[] = "LD_PRELOAD=", audit[] = "LD_AUDIT=";
	const size_t n = b->n;

	for (size_t i = 0; i < n && !b->failed; i++) {
		const char *entry = b->v[i];
		bool is_preload = strncmp(entry, preload, sizeof(preload) - 1) == 0;

		if (!is_preload && strncmp(entry, audit, sizeof(audit) - 1) != 0)
			continue;
		if (is_preload && spec->library && !strcmp(entry + strlen(preload), spec->library))
			continue; /* nothing else */
		put_by_entry(b, &b->v[i]);
		if (is_preload && spec->library)
			add(b, "LD_PRELOAD", spec->library, NULL);
	}
	if (spec->library && !b->failed)
		add(b, "LEAT_BEGUN", "1", NULL);
}

char **leat_environment_new(const struct leat_environment_spec *spec)
{
	char **added = leat_environment_added(spec);
	size_t n = added ? count(environ) : 0, n_added = added ? count(added) : 0;
	struct builder b = {.v = added ? calloc(n + n_added + 3, sizeof(*b.v)) : NULL};

	if (!b.v) {
		leat_environment_free(added);
		return NULL;
	}
	for (size_t i = 0; i < n && !b.failed; i++) {
		if (is_replaced(environ[i], spec))
			continue;
		b.v[b.n] = strdup(environ[i]);
		b.failed = !b.v[b.n];
		b.n += !b.failed;
	}
	memcpy(b.v + b.n, added, n_added * sizeof(*added));
	b.n += n_added;
	free(added);
	if (!spec->plain && !b.failed)
		put_by(&b, spec);
	if (!b.failed)
		return b.v;
	leat_environment_free(b.v);
	return NULL;
}

void leat_environment_free(char **envp)
{
	int saved = errno;

	for (char **p = envp; p && *p; p++)
		free(*p);
	free(envp);
	errno = saved;
}
