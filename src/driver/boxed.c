#include "driver/boxed.h"

#include "base/log.h"
#include "base/str.h"
#include "driver/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- command lines ---- */

/* What the engine executes: the program's words, after those of the MPI launcher in the image.
 * The array is the caller's, its words are borrowed. NULL when out of memory. */
static char **make_inner_argv(const struct leat_plan *plan, size_t step, char *program,
			      char *const *own, char number[16])
{
	unsigned nprocs = plan->wf->steps[step].nprocs;

	return leat_mpi_argv(nprocs > 1 ? plan->boxed_launcher : NULL, nprocs, program, own,
			     number);
}

/* What of the environment goes in; an array of borrowed words. NULL when out of memory. */
static char **select_environment(char *const *environment)
{
	size_t n = 0, k = 0;
	char **v;

	while (environment[n])
		n++;
	v = calloc(n + 1, sizeof(*v));
	for (size_t i = 0; v && i < n; i++)
		if (leat_engine_passes(environment[i]))
			v[k++] = environment[i];
	return v;
}

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

int leat_boxed_argv(const struct leat_plan *plan, const char *dir, size_t step, char *const *own,
		    char *const *environment, struct leat_argv *argv, const char **why)
{
	const struct leat_step *model = &plan->wf->steps[step];
	const char *relative = strchr(own[0], '/');
	char number[16], **variables = select_environment(environment), **command = NULL;
	/* As without a container: relative to the workflow's directory. */
	char *program = relative ? leat_path_join(dir, own[0]) : strdup(own[0]);
	char *within = model->dir ? leat_path_join(dir, model->dir) : strdup(dir);
	int rc = -ENOMEM;

	*why = NULL;
	if (program)
		command = make_inner_argv(plan, step, program, own, number);
	if (within && variables && command) {
		const struct leat_engine_facts facts = {.engine = plan->containers[step].engine,
							.image = &plan->containers[step].image,
							.bound = dir,
							.dir = within,
							.uid = geteuid(),
							.gid = getegid(),
							.umask = current_umask(),
							.variables = variables,
							.command = command};

		rc = leat_engine_argv(&facts, argv, why);
	}
	free(command);
	free(variables);
	free(within);
	free(program);
	return rc;
}

/* ---- the choice of an engine ---- */

/* Everything but a reference is there, by its absolute path. 0, -ENOENT after a message, -ENOMEM.
 */
static int find_image(struct leat_plan *plan, size_t step)
{
	const struct leat_step *model = &plan->wf->steps[step];
	struct leat_image *image = &plan->containers[step].image;
	const char *why;
	char *real;
	int rc = leat_step_image(plan->wf, model, image, &why);

	if (rc || image->kind == LEAT_IMAGE_REFERENCE)
		return rc;
	real = realpath(image->name, NULL);
	if (!real) {
		rc = errno == ENOMEM ? -ENOMEM : -ENOENT;
		leat_error("step %s: cannot use %s %s: %s", model->name,
			   leat_image_kind_text(image->kind), image->name, strerror(errno));
		return rc;
	}
	free(image->name);
	image->name = real;
	return 0;
}

/* Why `engine` cannot start the step, in words that follow its name; NULL: it can, and
 * plan->programs has it. -ENOMEM or 0. */
static int try_engine(struct leat_plan *plan, size_t step, const char *dir, enum leat_engine engine,
		      const char **why)
{
	static char *const nothing[] = {NULL};
	struct leat_plan_container *container = &plan->containers[step];
	struct leat_argv argv = {.n = 0};
	char *path = NULL;
	int rc;

	container->engine = engine;
	*why = "takes no such image";
	if (!leat_engine_takes(engine, container->image.kind))
		return 0;
	rc = leat_plan_find(leat_engine_program(engine), dir, &path);
	*why = rc == -ENOENT ? "is not installed" : "is no executable file";
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	rc = leat_boxed_argv(plan, dir, step, plan->wf->steps[step].argv, nothing, &argv, why);
	if (rc && !*why)
		*why = strerror(-rc);
	leat_argv_release(&argv);
	if (rc)
		free(path);
	else
		plan->programs[step] = path;
	return rc == -ENOMEM ? rc : 0;
}

/* What keeps an engine that could start the step from being given the run's files; NULL: nothing.
 * The others need a mount only, without which no engine is reached. */
static const char *out_of_reach(enum leat_engine engine, const struct leat_plan_reach *reach)
{
	const char *why = "there is no mount here";

	if (!reach->intercepted || engine != LEAT_ENGINE_PODMAN || geteuid() == 0)
		return NULL;
	return reach->can_mount && reach->can_mount(true, &why) ? NULL : why;
}

/* The first that can; what is wrong with the others goes to `reasons`. 0, -ENOENT: there is none,
 * -ENOMEM. */
static int try_all(struct leat_plan *plan, size_t step, const char *dir,
		   const struct leat_plan_reach *reach, char **reasons)
{
	enum leat_engine named = plan->wf->steps[step].engine;
	const char *why = "", *lead;
	int rc = 0;

	*reasons = strdup("");
	for (int i = LEAT_ENGINE_AUTO + 1; *reasons && !rc && why && i < LEAT_N_ENGINES; i++) {
		char *longer;

		if (named != LEAT_ENGINE_AUTO && named != (enum leat_engine)i)
			continue;
		lead = "";
		rc = try_engine(plan, step, dir, (enum leat_engine)i, &why);
		if (!rc && !why && named == LEAT_ENGINE_AUTO &&
		    (why = out_of_reach((enum leat_engine)i, reach))) {
			lead = "cannot be given the run's files: ";
			free(plan->programs[step]);
			plan->programs[step] = NULL;
		}
		if (rc || !why)
			continue;
		longer = leat_strf("%s%s%s (%s) %s%s", *reasons, **reasons ? "; " : "",
				   leat_engine_name((enum leat_engine)i),
				   leat_engine_program((enum leat_engine)i), lead, why);
		free(*reasons);
		*reasons = longer;
	}
	return !*reasons ? -ENOMEM : rc ? rc : why ? -ENOENT : 0;
}

int leat_plan_engine(struct leat_plan *plan, size_t step, const char *dir,
		     const struct leat_plan_reach *reach)
{
	const struct leat_step *model = &plan->wf->steps[step];
	char *reasons = NULL;
	int rc = find_image(plan, step);

	if (rc == -ENOENT)
		return LEAT_PLAN_NOT_FOUND;
	if (!rc)
		rc = try_all(plan, step, dir, reach, &reasons);
	if (rc == -ENOENT)
		leat_error("step %s: nothing can start its container, %s (%s): %s", model->name,
			   model->container,
			   leat_image_kind_text(plan->containers[step].image.kind), reasons);
	else if (rc)
		leat_error("out of memory");
	free(reasons);
	return !rc ? 0 : rc == -ENOENT ? LEAT_PLAN_NOT_FOUND : LEAT_PLAN_NO_MEMORY;
}
