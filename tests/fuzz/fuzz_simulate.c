/* Any text as resources, or, after a line that is "---" twice, as resources and a workload: neither
 * crash nor leak, an error exactly when nothing is read, and what is read runs to its end in the
 * simulator. Built as fuzz_lang.c says. */
#include "lang/resources/resources.h"
#include "lang/resources/workload.h"
#include "sched/simulate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* As in fuzz_lang.c. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so\n";
}

static void check(const struct leat_diags *diags, bool read)
{
	if (!diags || read == (leat_diags_count(diags, LEAT_ERROR) > 0))
		abort();
}

/* So small that it is soon over. */
static bool is_small(const struct leat_resources *res, const struct leat_workload *w)
{
	uint64_t tasks = 0;

	for (size_t g = 0; g < w->n_groups; g++)
		tasks += w->groups[g].count;
	return res->n_hosts <= 100 && tasks * w->iterations <= 3000;
}

static void run(const struct leat_resources *res, const struct leat_workload *w)
{
	const struct leat_congestion model = LEAT_CONGESTION_SSD;
	const struct leat_trial given = {.kind = LEAT_TRIAL_GIVEN};

	for (size_t i = 0; i <= w->n_trials && i < 4; i++) {
		struct leat_simulated out;
		char why[LEAT_SCHED_WHY];
		uint64_t ran = 0;

		if (leat_simulate(res, w, i ? &w->trials[i - 1] : &given, &model, &out, why))
			continue;
		for (size_t g = 0; g < out.n_groups; g++)
			ran += out.groups[g].tasks;
		if (ran != out.tasks)
			abort();
		leat_simulated_release(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "\n---\n---\n";
	const char *text = (const char *)data;
	const char *found = size ? memmem(text, size, mark, sizeof(mark) - 1) : NULL;
	size_t first = found ? (size_t)(found - text) + 1 : size;
	struct leat_diags *diags;
	struct leat_resources *res = leat_resources_parse(text, first, "resources", &diags);
	struct leat_workload *w;

	check(diags, res);
	leat_diags_free(diags);
	if (found) {
		size_t rest = first + sizeof(mark) - 2;

		w = leat_workload_parse(text + rest, size - rest, "workload", &diags);
		check(diags, w);
		leat_diags_free(diags);
		if (res && w && is_small(res, w))
			run(res, w);
		leat_workload_free(w);
	}
	leat_resources_free(res);
	return 0;
}
