#include "driver/preview.h"

#include "base/cpus.h"
#include "driver/internal.h"
#include "driver/start.h"
#include "lang/output/internal.h"
#include "lang/syntax/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct preview {
	const struct leat_driver_config *config;
	const struct leat_workflow *wf;
	struct leat_graph *graph; /* owned */
	unsigned *cpus;           /* owned; those that steps may be pinned to */
	size_t n_cpus;
	FILE *out;
};

/* The name of a line, as wide as those of the graph. */
static void print_label(const struct preview *p, const char *name)
{
	fprintf(p->out, "  %-8s", name);
}

/* ---- the run ---- */

static bool has_ensembles(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (wf->steps[i].ensemble > 1)
			return true;
	return false;
}

static int put_cpus(const struct preview *p)
{
	char *text = leat_cpus_text(p->cpus, p->n_cpus);

	if (text)
		fputs(text, p->out);
	free(text);
	return text ? 0 : -ENOMEM;
}

static int put_run(const struct preview *p)
{
	int result = 0;

	fprintf(p->out, "workflow %s: nothing is started\n", p->wf->name);
	print_label(p, "dir");
	leat_words_put(p->out, p->config->dir);
	fputc('\n', p->out);
	print_label(p, "steps");
	fprintf(p->out, "%zu, %s\n", p->wf->n_steps,
		p->config->library ? "at once" : "one after another on plain files");
	if (p->config->library && p->config->resources) {
		print_label(p, "at once");
		fprintf(p->out,
			"tasks of %u computing units, those that wait not counted, and %u I/O "
			"tasks\n",
			p->config->resources->hosts[0].computing_units,
			p->config->resources->hosts[0].io_executors);
	} else if (p->config->library && has_ensembles(p->wf)) {
		print_label(p, "at once");
		fprintf(p->out, "%zu instances of ensembles, those that wait not counted\n",
			leat_launch_most(p->config, leat_count_cpus()));
	}
	if (p->config->pin) {
		print_label(p, "cpus");
		result = put_cpus(p);
		fputc('\n', p->out);
	}
	return result;
}

/* ---- a step ---- */

static int put_command(const struct preview *p, size_t step)
{
	struct leat_start start;
	int result = leat_start_init(&start, p->config, step, LEAT_LAUNCH_FILENAME);

	if (!result) {
		print_label(p, "dir");
		leat_words_put(p->out, start.dir);
		fputc('\n', p->out);
		print_label(p, "command");
		leat_words_put(p->out, start.program);
		for (char *const *word = start.argv + 1; *word; word++) {
			fputc(' ', p->out);
			leat_words_put(p->out, *word);
		}
		fputc('\n', p->out);
	}
	leat_start_release(&start);
	return result;
}

static void put_image(const struct preview *p, size_t step)
{
	const struct leat_plan_container *container = &p->config->plan->containers[step];

	if (!leat_start_is_boxed(p->config, step))
		return;
	print_label(p, "image");
	leat_words_put(p->out, container->image.name);
	fprintf(p->out, " (%s, by %s)\n", leat_image_kind_text(container->image.kind),
		leat_engine_name(container->engine));
}

/* How its files are given to it. */
static void put_way(const struct preview *p, size_t step)
{
	const struct leat_driver_config *config = p->config;

	print_label(p, "via");
	if (!config->library)
		fputs("plain files (--plain)\n", p->out);
	else if (p->wf->steps[step].staged)
		fprintf(p->out,
			"plain files (staged: starts when its inputs are complete and on disk%s)\n",
			p->wf->steps[step].concurrent ? ""
						      : ", and the steps before it have ended");
	else if (leat_start_is_mounted(config, step))
		fprintf(p->out, "mount (%s)\n", config->plan->mounted[step]);
	else
		fprintf(p->out, "preload of %s\n", config->library);
}

static int put_environment(const struct preview *p, size_t step)
{
	const struct leat_environment_spec spec =
		leat_start_environment(p->config, step, "(made when it starts)");
	char **added = leat_environment_added(&spec);

	for (char **entry = added; entry && *entry; entry++) {
		size_t name = strcspn(*entry, "=") + 1;

		print_label(p, "env");
		fprintf(p->out, "%.*s", (int)name, *entry);
		if ((*entry)[name])
			leat_words_put(p->out, *entry + name);
		fputc('\n', p->out);
	}
	leat_environment_free(added);
	return added ? 0 : -ENOMEM;
}

static void put_launches(const struct preview *p, const struct leat_step *step)
{
	if (!p->config->library || !leat_launch_may_rest(step))
		return;
	print_label(p, "starts");
	fputs(leat_launch_waits(step) ? "for each version of its inputs\n"
				      : "at once, and again for further versions if it takes one\n",
	      p->out);
}

static void put_actions(const struct preview *p, const struct leat_step *step)
{
	if (!step->action_file)
		return;
	print_label(p, "actions");
	fprintf(p->out, "%s of ", step->action_function);
	leat_words_put(p->out, step->action_file);
	fputc('\n', p->out);
}

static int put_pinning(const struct preview *p, const struct leat_step *step)
{
	unsigned needed = step->nprocs > 1 ? step->nprocs : 1;
	int result;

	if (!p->config->pin)
		return 0;
	print_label(p, "cpus");
	if (needed < p->n_cpus)
		fprintf(p->out, "%u of ", needed);
	result = put_cpus(p);
	fputs(needed > p->n_cpus ? ", shared by its processes\n" : "\n", p->out);
	return result;
}

/* False: it would not be started. */
static bool put_resumption(const struct preview *p, size_t step)
{
	const struct leat_resume *resume = p->config->resume;
	const char *why = resume ? leat_resume_why(resume, step) : NULL;
	bool skipped = resume && leat_resume_skips(resume, step);

	if (why) {
		print_label(p, "resume");
		fprintf(p->out, "%s: %s\n", skipped ? "skipped" : "run", why);
	}
	return !skipped;
}

static int put_step(const struct preview *p, size_t step)
{
	const struct leat_step *model = &p->wf->steps[step];
	int result;

	fprintf(p->out, "\nstep %s", model->name);
	if (model->ensemble > 1)
		fprintf(p->out, " (%u of %u of %s)", model->instance, model->ensemble, model->task);
	fputc('\n', p->out);
	if (!put_resumption(p, step))
		return 0;
	result = put_command(p, step);
	if (result)
		return result;
	put_image(p, step);
	put_way(p, step);
	put_launches(p, model);
	put_actions(p, model);
	result = put_pinning(p, model);
	if (!result)
		result = put_environment(p, step);
	leat_graph_write_step(p->graph, step, p->out);
	return result;
}

int leat_driver_preview(const struct leat_driver_config *config, FILE *out)
{
	const struct leat_plan *plan = config->plan;
	const size_t *order = config->library ? plan->launches : plan->order;
	struct preview p = {
		.config = config, .wf = plan->wf, .graph = leat_graph_new(plan->wf), .out = out};
	int result = p.graph ? 0 : -ENOMEM;

	if (!result && config->pin)
		result = leat_read_cpus(&p.cpus, &p.n_cpus);
	if (!result)
		result = put_run(&p);
	for (size_t i = 0; !result && i < p.wf->n_steps; i++)
		result = put_step(&p, order[i]);
	leat_graph_free(p.graph);
	free(p.cpus);
	return result;
}
