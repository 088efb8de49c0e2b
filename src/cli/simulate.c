/* leat simulate: a workload on machines that need not be there. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/simulate_write.h"
#include "cli/workflow.h"
#include "lang/resources/resources.h"
#include "lang/resources/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct leat_option options[] = {
	{.name = "trials",
	 .letter = 't',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "LIST",
	 .doc = "How to run the workload, instead of what the file says: words with commas "
		"between them. given (as its tasks say), baseline (I/O tasks are compute tasks), "
		"none (no constraint), or for all I/O tasks a number of MB/s, auto, or "
		"auto(min,max,delta); @E behind one gives each node E I/O executors."},
	{.name = "iterations",
	 .letter = 'i',
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "N",
	 .range = "1..1000000",
	 .doc = "Number of iterations, in place of the file's."},
	{.name = "format",
	 .letter = 'f',
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "FORMAT",
	 .fallback = "text",
	 .range = "text|json|csv",
	 .doc = "What to print: tables for people, everything, or one table."},
	{.name = "table",
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "TABLE",
	 .fallback = "trials",
	 .range = "trials|tasks|epochs|registry",
	 .doc = "Which table is printed as CSV."},
	{0},
};

/* --- input ------------------------------------------------------------------------------------ */

static bool is_read(const struct leat_diags *diags, const void *what)
{
	if (diags)
		leat_cli_print_diags(diags);
	else
		leat_error("out of memory");
	return what;
}

/* Length of the word at `text`: up to a comma that is not within parentheses. */
static size_t word_length(const char *text)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n] && (depth > 0 || text[n] != ','); n++)
		depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
	return n;
}

static int add_trials(struct leat_workload *w, const char *list)
{
	int ret = 0;

	leat_workload_clear_trials(w);
	for (size_t n; !ret && *list; list += n + (list[n] == ',')) {
		char why[LEAT_BANDWIDTH_WHY];
		char *word;

		list += strspn(list, " ");
		n = word_length(list);
		word = strndup(list, n);
		ret = word ? leat_workload_add_trial(w, word, why) : -ENOMEM;
		if (ret == -EINVAL)
			leat_error("--trials: %s", why);
		free(word);
	}
	return ret;
}

static int read_options(struct leat_workload *w, const struct leat_args *args)
{
	const char *list = leat_args_text(args, "trials");
	char why[LEAT_BANDWIDTH_WHY];
	int ret = 0;

	if (leat_args_text(args, "iterations"))
		w->iterations = (unsigned)leat_args_number(args, "iterations");
	if (list)
		ret = add_trials(w, list);
	if (!ret && !w->n_trials)
		ret = leat_workload_add_trial(w, "given", why);
	if (ret == -ENOMEM)
		leat_error("out of memory");
	return ret;
}

/* --- trials ----------------------------------------------------------------------------------- */

static int try_all(const struct leat_resources *res, const struct leat_workload *w,
		   struct leat_simulated *results)
{
	const struct leat_congestion model = LEAT_CONGESTION_SSD;
	char why[LEAT_SCHED_WHY];
	int ret = 0;

	for (size_t i = 0; !ret && i < w->n_trials; i++) {
		ret = leat_simulate(res, w, &w->trials[i], &model, &results[i], why);
		if (ret == -EINVAL)
			leat_error("%s, trial %s: %s", w->name, w->trials[i].text, why);
		else if (ret)
			leat_error("%s, trial %s: %s", w->name, w->trials[i].text, strerror(-ret));
	}
	return ret;
}

static void write_results(const struct leat_trials *t, const struct leat_args *args)
{
	const char *format = leat_args_text(args, "format");

	if (!strcmp(format, "json"))
		leat_trials_write_json(t, stdout);
	else if (!strcmp(format, "csv"))
		leat_trials_write_csv(t, leat_args_text(args, "table"), stdout);
	else
		leat_trials_write_text(t, stdout);
}

static int simulate(const struct leat_resources *res, struct leat_workload *w,
		    const struct leat_args *args)
{
	struct leat_trials t = {.res = res, .w = w};
	struct leat_simulated *results;
	int ret = read_options(w, args);

	if (ret)
		return ret;
	results = calloc(w->n_trials + 1, sizeof(*results));
	if (!results) {
		leat_error("out of memory");
		return -ENOMEM;
	}
	t.results = results;
	ret = try_all(res, w, results);
	if (!ret)
		write_results(&t, args);
	for (size_t i = 0; i < w->n_trials; i++)
		leat_simulated_release(&results[i]);
	free(results);
	return ret;
}

static int simulate_command(const struct leat_args *args)
{
	struct leat_diags *diags = NULL;
	struct leat_resources *res = leat_resources_load(args->operands[0], &diags);
	struct leat_workload *w = NULL;
	int status = LEAT_EXIT_FAILURE;

	if (is_read(diags, res)) {
		leat_diags_free(diags);
		w = leat_workload_load(args->operands[1], &diags);
		if (is_read(diags, w) && !simulate(res, w, args))
			status = LEAT_EXIT_OK;
	}
	leat_diags_free(diags);
	leat_workload_free(w);
	leat_resources_free(res);
	return status;
}

const struct leat_command leat_command_simulate = {
	.name = "simulate",
	.summary = "Try constraints of storage bandwidth on a workload, without running it",
	.operands = "RESOURCES WORKLOAD",
	.min_operands = 2,
	.max_operands = 2,
	.options = options,
	.run = simulate_command,
};
