#include "model/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct leat_workload *leat_workload_new(void)
{
	struct leat_workload *w = calloc(1, sizeof(*w));

	if (w)
		w->iterations = 1;
	return w;
}

void leat_workload_clear_trials(struct leat_workload *w)
{
	for (size_t i = 0; i < w->n_trials; i++)
		free(w->trials[i].text);
	free(w->trials);
	w->trials = NULL;
	w->n_trials = 0;
}

void leat_workload_free(struct leat_workload *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_groups; i++) {
		free(w->groups[i].name);
		free(w->groups[i].device);
		free(w->groups[i].each.v);
		free(w->groups[i].after.v);
		free(w->groups[i].previous.v);
	}
	free(w->groups);
	leat_workload_clear_trials(w);
	free(w->name);
	free(w);
}

struct leat_group *leat_workload_add_group(struct leat_workload *w, const char *name)
{
	struct leat_group *groups = reallocarray(w->groups, w->n_groups + 1, sizeof(*groups));
	struct leat_group group = {.name = strdup(name)};

	if (groups)
		w->groups = groups;
	if (!groups || !group.name) {
		free(group.name);
		return NULL;
	}
	groups[w->n_groups] = group;
	return &groups[w->n_groups++];
}

int leat_groups_add(struct leat_groups *groups, size_t index)
{
	size_t *v = reallocarray(groups->v, groups->n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	groups->v = v;
	v[groups->n++] = index;
	return 0;
}

int leat_workload_find(const struct leat_workload *w, const char *name)
{
	for (size_t i = 0; i < w->n_groups; i++)
		if (!strcmp(w->groups[i].name, name))
			return (int)i;
	return -1;
}

/* --- trials ---------------------------------------------------------------------------------- */

/* What is before "@", and the number behind it. False: there is no number. */
static bool split_executors(char *text, unsigned *executors)
{
	char *at = strchr(text, '@'), *end;
	unsigned long n;

	*executors = 0;
	if (!at)
		return true;
	*at++ = '\0';
	n = strtoul(at, &end, 10);
	if (*at < '0' || *at > '9' || *end || n < 1 || n > 1000000)
		return false;
	*executors = (unsigned)n;
	return true;
}

static int parse_trial(char *text, struct leat_trial *trial, char why[LEAT_BANDWIDTH_WHY])
{
	static const struct {
		const char *word;
		int kind;
	} words[] = {{"given", LEAT_TRIAL_GIVEN},
		     {"baseline", LEAT_TRIAL_BASELINE},
		     {"none", LEAT_TRIAL_BANDWIDTH}};

	if (!split_executors(text, &trial->io_executors)) {
		snprintf(why, LEAT_BANDWIDTH_WHY,
			 "behind \"@\" must be the number of I/O executors of each node");
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].word) != 0)
			continue;
		trial->kind = words[i].kind;
		return 0;
	}
	if (!*text) {
		snprintf(why, LEAT_BANDWIDTH_WHY,
			 "write given, baseline, none, a number of MB/s, auto or "
			 "auto(min,max,delta)");
		return -EINVAL;
	}
	trial->kind = LEAT_TRIAL_BANDWIDTH;
	return leat_bandwidth_parse(text, &trial->bandwidth, why);
}

int leat_workload_add_trial(struct leat_workload *w, const char *text, char why[LEAT_BANDWIDTH_WHY])
{
	struct leat_trial trial = {.text = strdup(text)}, *trials;
	char *copy = strdup(text);
	int ret = copy && trial.text ? parse_trial(copy, &trial, why) : -ENOMEM;

	free(copy);
	trials = ret ? NULL : reallocarray(w->trials, w->n_trials + 1, sizeof(*trials));
	if (!trials) {
		free(trial.text);
		return ret ? ret : -ENOMEM;
	}
	w->trials = trials;
	trials[w->n_trials++] = trial;
	return 0;
}
