#include "driver/engine.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An image directory does not say what its PATH is. */
#define PATH_OF_DIRECTORIES "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* ---- words ---- */

static void add_all(struct leat_argv *argv, const char *const *words)
{
	for (; *words; words++)
		leat_argv_add(argv, *words);
}

/* ---- the environment ---- */

bool leat_engine_passes(const char *variable)
{
	/* Language and time, numbers of threads, and what leat tells of instances. A name that ends
	 * with "_" stands for all that begin so. */
	static const char *const names[] = {"LANG",
					    "LANGUAGE",
					    "LC_",
					    "TZ",
					    "SOURCE_DATE_EPOCH",
					    "OMP_",
					    "GOMP_",
					    "KMP_",
					    "MKL_",
					    "BLIS_",
					    "OPENBLAS_NUM_THREADS",
					    "NUMEXPR_NUM_THREADS",
					    "LEAT_TASK",
					    "LEAT_INSTANCE",
					    "LEAT_INSTANCES"};
	size_t length = strcspn(variable, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(variable, names[i], n) == 0 && (length == n || names[i][n - 1] == '_'))
			return true;
	}
	return false;
}

/* ---- the engines ---- */

static int put_bubblewrap(const struct leat_engine_facts *f, struct leat_argv *argv)
{
	/* What lies below /tmp has its place there. */
	const char *bound = leat_str_begins(f->bound, "/tmp/") ? NULL : f->bound;
	const char *const places[] = {"/dev", "/proc", "/sys", "/tmp", bound, NULL};
	static const char *const mounts[] = {"--dev",     "/dev",    "--proc", "/proc",
					     "--ro-bind", "/sys",    "/sys",   "--perms",
					     "1777",      "--tmpfs", "/tmp",   NULL};
	struct leat_argv after = {.n = 0};
	int rc = leat_engine_root(f->image->name, places, argv, &after);

	add_all(argv, mounts);
	leat_argv_add(argv, "--bind");
	leat_argv_add(argv, f->bound);
	leat_argv_add(argv, f->bound);
	for (size_t i = 0; i < after.n; i++)
		leat_argv_add(argv, after.v[i]);
	leat_argv_add(argv, "--chdir");
	leat_argv_add(argv, f->dir);
	leat_argv_add(argv, "--die-with-parent");
	leat_argv_add(argv, "--clearenv");
	leat_argv_add(argv, "--setenv");
	leat_argv_add(argv, "PATH");
	leat_argv_add(argv, strchr(PATH_OF_DIRECTORIES, '=') + 1);
	leat_argv_add(argv, "--setenv");
	leat_argv_add(argv, "HOME");
	leat_argv_add(argv, "/tmp");
	for (char *const *v = f->variables; *v; v++) {
		leat_argv_add(argv, "--setenv");
		leat_argv_addf(argv, "%.*s", (int)strcspn(*v, "="), *v);
		leat_argv_add(argv, strchr(*v, '=') + 1);
	}
	leat_argv_add(argv, "--");
	leat_argv_release(&after);
	return rc;
}

static int put_charliecloud(const struct leat_engine_facts *f, struct leat_argv *argv)
{
	leat_argv_add(argv, "--private-tmp");
	leat_argv_addf(argv, "--bind=%s:%s", f->bound, f->bound);
	leat_argv_addf(argv, "--cd=%s", f->dir);
	leat_argv_add(argv, "--env-no-expand");
	leat_argv_add(argv, "--unset-env=*");
	leat_argv_add(argv, "--set-env=" PATH_OF_DIRECTORIES);
	leat_argv_add(argv, "--set-env=HOME=/tmp");
	for (char *const *v = f->variables; *v; v++)
		leat_argv_addf(argv, "--set-env=%s", *v);
	leat_argv_add(argv, f->image->name);
	leat_argv_add(argv, "--");
	return 0;
}

static void put_podman_image(const struct leat_image *image, struct leat_argv *argv)
{
	if (image->kind == LEAT_IMAGE_DIRECTORY) {
		leat_argv_add(argv, "--rootfs");
		leat_argv_addf(argv, "%s:O", image->name); /* places are made beside it */
	} else if (image->kind == LEAT_IMAGE_OCI) {
		leat_argv_addf(argv, "oci:%s%s%s", image->name, image->tag ? ":" : "",
			       image->tag ? image->tag : "");
	} else {
		leat_argv_add(argv, image->name);
	}
}

static int put_podman(const struct leat_engine_facts *f, struct leat_argv *argv)
{
	/* In the host's process namespace the program is no process 1, which signals do not end. */
	static const char *const always[] = {"run",
					     "--rm",
					     "--log-driver=none",
					     "--network=host",
					     "--pid=host",
					     "--shm-size=0",
					     "--security-opt=label=disable",
					     "--read-only",
					     "--read-only-tmpfs=false",
					     "--tmpfs=/tmp:rw,exec,mode=1777",
					     "--entrypoint=",
					     NULL};

	add_all(argv, always);
	/* What a layout holds is copied into podman's own storage. */
	if (f->image->kind == LEAT_IMAGE_REFERENCE)
		leat_argv_add(argv, "--pull=never");
	if (f->uid)
		leat_argv_add(argv, "--userns=keep-id");
	leat_argv_addf(argv, "--user=%u:%u", (unsigned)f->uid, (unsigned)f->gid);
	leat_argv_addf(argv, "--umask=%04o", (unsigned)f->umask);
	leat_argv_addf(argv, "--volume=%s:%s", f->bound, f->bound);
	leat_argv_addf(argv, "--workdir=%s", f->dir);
	leat_argv_add(argv, "--env=HOME=/tmp");
	for (char *const *v = f->variables; *v; v++)
		leat_argv_addf(argv, "--env=%s", *v);
	put_podman_image(f->image, argv);
	return 0;
}

/* "NAME=value" as one field of comma-separated ones, which is how more than one "=" is read. */
static void add_field(struct leat_argv *argv, const char *variable)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		fputs("--env=\"", out);
		for (const char *p = variable; *p; p++)
			fputs(*p == '"' ? "\"\"" : (const char[]){*p, 0}, out);
		fputc('"', out);
		if (fclose(out))
			text = NULL;
	}
	leat_argv_take(argv, text);
}

static int put_apptainer(const struct leat_engine_facts *f, struct leat_argv *argv)
{
	static const char *const always[] = {"exec", "--contain", "--cleanenv", "--no-eval", NULL};
	static const char *const schemes[] = {
		[LEAT_IMAGE_OCI] = "oci:", [LEAT_IMAGE_REFERENCE] = "docker://"};

	add_all(argv, always);
	/* Its set-id starter, where there is one, has no rights in the namespace of leat's mount.
	 */
	if (f->uid != 0)
		leat_argv_add(argv, "--userns");
	leat_argv_addf(argv, "--bind=%s:%s", f->bound, f->bound);
	leat_argv_addf(argv, "--pwd=%s", f->dir);
	for (char *const *v = f->variables; *v; v++) {
		if (strchr(strchr(*v, '=') + 1, '='))
			add_field(argv, *v);
		else
			leat_argv_addf(argv, "--env=%s", *v);
	}
	leat_argv_addf(
		argv, "%s%s%s%s", f->image->kind >= LEAT_IMAGE_OCI ? schemes[f->image->kind] : "",
		f->image->name, f->image->tag ? ":" : "", f->image->tag ? f->image->tag : "");
	return 0;
}

static const struct {
	int (*put)(const struct leat_engine_facts *f, struct leat_argv *argv);
	const char *apart; /* characters that its options take paths apart at */
} engines[LEAT_N_ENGINES] = {
	[LEAT_ENGINE_BUBBLEWRAP] = {put_bubblewrap, ""},
	[LEAT_ENGINE_CHARLIECLOUD] = {put_charliecloud, ":"},
	[LEAT_ENGINE_PODMAN] = {put_podman, ":,"},
	[LEAT_ENGINE_APPTAINER] = {put_apptainer, ":,"},
};

/* Why the engine cannot, or NULL. */
static const char *obstacle_of(const struct leat_engine_facts *f)
{
	if (!leat_engine_takes(f->engine, f->image->kind))
		return "takes no such image";
	if (strpbrk(f->bound, engines[f->engine].apart))
		return "cannot be given the workflow's directory, which has a \":\" or \",\" in "
		       "its path";
	if (f->engine == LEAT_ENGINE_PODMAN && f->image->kind == LEAT_IMAGE_DIRECTORY &&
	    strchr(f->image->name, ':'))
		return "cannot be given the image, which has a \":\" in its path";
	/* Its path becomes the name of an image. */
	if (f->engine == LEAT_ENGINE_PODMAN && f->image->kind == LEAT_IMAGE_OCI &&
	    f->image->name[strspn(f->image->name, "abcdefghijklmnopqrstuvwxyz0123456789/._-")])
		return "cannot be given the layout, whose path has to be of small letters, digits "
		       "and \"._-/\"";
	/* It moves the image's parent directory, which "/" cannot be. */
	if (f->engine == LEAT_ENGINE_CHARLIECLOUD && strrchr(f->image->name, '/') == f->image->name)
		return "cannot start an image that lies directly below /: give it a directory to "
		       "lie in";
	if (f->engine == LEAT_ENGINE_CHARLIECLOUD && !leat_str_begins(f->bound, "/tmp/") &&
	    !leat_engine_has_mount_point(f->image->name, f->bound))
		return "has no place for the workflow's directory: make an empty one of the same "
		       "path in the image";
	return NULL;
}

int leat_engine_argv(const struct leat_engine_facts *facts, struct leat_argv *argv,
		     const char **why)
{
	int rc;

	*argv = (struct leat_argv){.n = 0};
	*why = obstacle_of(facts);
	if (*why)
		return -EINVAL;
	leat_argv_add(argv, leat_engine_program(facts->engine));
	rc = engines[facts->engine].put(facts, argv);
	for (char *const *word = facts->command; *word; word++)
		leat_argv_add(argv, *word);
	if (!rc && argv->failed)
		rc = -ENOMEM;
	if (rc)
		leat_argv_release(argv);
	return rc;
}
