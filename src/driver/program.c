/* Before anything starts: is there a program, and can it be followed? */
#include "driver/plan.h"

#include "base/container.h"
#include "base/elf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The interpreter of a script into `out`; false if it is none. */
static bool read_interpreter(int fd, char *out, size_t size)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *word;

	line[n > 0 ? n : 0] = 0;
	if (strncmp(line, "#!", 2) != 0)
		return false;
	line[strcspn(line, "\n")] = 0;
	word = line + 2 + strspn(line + 2, " \t");
	word[strcspn(word, " \t")] = 0;
	return *word && strlen(word) < size && strcpy(out, word);
}

static bool drops_preload(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	       ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid());
}

/* What has to be known of a program before it is started. */
struct program {
	const char *why; /* the library cannot follow it, NULL: it can */
	bool gains_rights;
	enum leat_container container;
};

/* A file that cannot be read can still be executed, and is then judged by the library. */
static void inspect(const char *path, char *const argv[], const char *dir, struct program *p)
{
	char interpreter[256] = "";
	char *full = leat_path_join(dir, path);
	int fd = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0 && read_interpreter(fd, interpreter, sizeof(interpreter))) {
		leat_close(&fd);
		fd = open(interpreter, O_RDONLY | O_CLOEXEC);
	}
	*p = (struct program){.gains_rights = fd >= 0 && drops_preload(fd),
			      .container = leat_container_of(*interpreter ? interpreter : path,
							     argv, environ, geteuid() == 0)};
	p->why = leat_container_obstacle(p->container);
	if (!p->why && fd >= 0)
		p->why = leat_elf_obstacle(leat_elf_inspect(fd, pread));
	if (!p->why && p->gains_rights)
		p->why = "setuid or setgid";
	leat_close(&fd);
	free(full);
}

static bool is_sealable(const char *step, const struct leat_plan_reach *reach, const char **mounted)
{
	const char *no_mount = "there is no mount here";

	if (reach->can_mount && reach->can_mount(false, &no_mount))
		*mounted = "--sealed";
	else
		leat_error("step %s: --sealed puts each step behind a mount, and %s", step,
			   no_mount);
	return *mounted != NULL;
}

static void refuse(const char *step, const char *path, const char *why, const char *no_mount)
{
	leat_error("step %s: %s is %s and cannot be intercepted, and %s; give the step "
		   "`staged: true` to run it outside, between its inputs and outputs",
		   step, path, why, no_mount);
}

/* What keeps a program that needs a mount from having one; NULL: nothing. An engine of containers
 * that is set-id does without its rights where users may have namespaces. */
static const char *no_mount_for(const struct program *p, const struct leat_plan_reach *reach)
{
	const char *why = "there is no mount here";

	if (p->container == LEAT_CONTAINER_DAEMON)
		return "no mount reaches there (another engine's programs see one)";
	if (p->gains_rights && p->container == LEAT_CONTAINER_NONE && geteuid() != 0)
		return "a mount of an ordinary user takes its rights away";
	return reach->can_mount && reach->can_mount(p->container == LEAT_CONTAINER_USERS, &why)
		       ? NULL
		       : why;
}

static bool is_engine(enum leat_container kind)
{
	return kind == LEAT_CONTAINER_ENTERS || kind == LEAT_CONTAINER_USERS;
}

/* Can the program be reached? */
static bool is_reachable(const char *step, const char *path, char *const argv[], const char *dir,
			 const struct leat_plan_reach *reach, const char **mounted)
{
	struct program p = {0};
	const char *no_mount = NULL;

	*mounted = NULL;
	if (reach->intercepted)
		inspect(path, argv, dir, &p);
	if (p.why && reach->sealed && is_engine(p.container))
		no_mount = "--sealed lets a step mount nothing";
	else if (reach->sealed && !p.gains_rights && p.container == LEAT_CONTAINER_NONE)
		return is_sealable(step, reach, mounted);
	else if (p.why)
		no_mount = no_mount_for(&p, reach);
	if (no_mount)
		refuse(step, path, p.why, no_mount);
	else
		*mounted = p.why;
	return !no_mount;
}

int leat_plan_program(const char *step, char *const argv[], const char *dir,
		      const struct leat_plan_reach *reach, char **path, const char **mounted)
{
	const char *name = argv[0];
	int result = leat_plan_find(name, dir, path);

	if (result == -ENOMEM) {
		leat_error("out of memory");
		return LEAT_PLAN_NO_MEMORY;
	}
	if (result == -ENOENT) {
		leat_error("step %s: program %s was not found; install it, or correct its name",
			   step, name);
		return LEAT_PLAN_NOT_FOUND;
	}
	if (result < 0) {
		leat_error("step %s: %s is not an executable file; look at its permissions", step,
			   name);
		return LEAT_PLAN_CANNOT_EXECUTE;
	}
	if (is_reachable(step, *path, argv, dir, reach, mounted))
		return 0;
	free(*path);
	*path = NULL;
	return LEAT_PLAN_CANNOT_EXECUTE;
}

static int make_absolute(char **program, const char *dir)
{
	char *path = leat_path_join(dir, *program);

	free(*program);
	*program = path;
	if (path)
		return 0;
	leat_error("out of memory");
	return LEAT_PLAN_NO_MEMORY;
}

/* An engine is reached as any program that starts others in a container. */
static int plan_container(struct leat_plan *plan, size_t step, const char *dir,
			  const struct leat_plan_reach *reach)
{
	static char run[] = "run";
	const char *name = plan->wf->steps[step].name;
	int result = leat_plan_engine(plan, step, dir, reach);
	char *const argv[] = {plan->programs[step], run, NULL};

	if (result)
		return result;
	return is_reachable(name, argv[0], argv, dir, reach, &plan->mounted[step])
		       ? 0
		       : LEAT_PLAN_CANNOT_EXECUTE;
}

/* What the step itself executes, in no container. */
static int plan_program(struct leat_plan *plan, size_t step, const char *dir,
			const struct leat_plan_reach *reach)
{
	const struct leat_step *model = &plan->wf->steps[step];
	int result = leat_plan_program(model->name, model->argv, dir, reach, &plan->programs[step],
				       &plan->mounted[step]);

	return !result && model->dir ? make_absolute(&plan->programs[step], dir) : result;
}

int leat_plan_programs(struct leat_plan *plan, const char *dir, const struct leat_plan_reach *reach)
{
	const struct leat_plan_reach outside = {0};
	int first = 0;

	for (size_t i = 0; i < plan->wf->n_steps; i++) {
		const struct leat_step *step = &plan->wf->steps[i];
		const struct leat_plan_reach *of_step = step->staged ? &outside : reach;
		int result = step->container ? plan_container(plan, i, dir, of_step)
					     : plan_program(plan, i, dir, of_step);

		if (!first)
			first = result;
	}
	return first;
}
