#include "driver/environment.h"
#include "wire/wire.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool is_replaced(const char *entry, const struct leat_environment_spec *spec)
{
	static const char *const names[] = {
		"LEAT_DIR=",   "LEAT_APP_NAME=", "LEAT_WORKFLOW_NAME=", "LEAT_RUNTIME_DIR=",
		"LEAT_MOUNT=", "LEAT_SITES=",    "LEAT_KEY=",           "LEAT_SEAL="};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return spec->library && strncmp(entry, "LD_PRELOAD=", 11) == 0;
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

char **leat_environment_new(const struct leat_environment_spec *spec)
{
	struct builder b = {0};
	size_t n = 0;

	while (environ[n])
		n++;
	b.v = calloc(n + 10, sizeof(*b.v));
	if (!b.v)
		return NULL;
	for (size_t i = 0; i < n && !b.failed; i++) {
		if (is_replaced(environ[i], spec))
			continue;
		b.v[b.n] = strdup(environ[i]);
		b.failed = !b.v[b.n++];
	}
	add(&b, "LEAT_DIR", spec->dir, NULL);
	add(&b, "LEAT_APP_NAME", spec->step, NULL);
	add(&b, "LEAT_WORKFLOW_NAME", spec->workflow, NULL);
	if (spec->runtime_dir)
		add(&b, "LEAT_RUNTIME_DIR", spec->runtime_dir, NULL);
	if (spec->sealed)
		add(&b, "LEAT_SEAL", "1", NULL);
	if (spec->key)
		add(&b, "LEAT_KEY", spec->key, NULL);
	if (spec->mount)
		add(&b, "LEAT_MOUNT", spec->mount, NULL);
	if (spec->library)
		add_sites(&b, spec);
	if (spec->library)
		add_preload(&b, spec->library);
	if (b.failed) {
		leat_environment_free(b.v);
		return NULL;
	}
	return b.v;
}

void leat_environment_free(char **envp)
{
	int saved = errno;

	for (char **p = envp; p && *p; p++)
		free(*p);
	free(envp);
	errno = saved;
}
