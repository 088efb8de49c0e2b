/* What may be asked of types of tasks: checked when they are made known, so that whatever is
 * submitted can run. */
#include "sched/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static int refuse(char why[LEAT_SCHED_WHY], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(char why[LEAT_SCHED_WHY], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, LEAT_SCHED_WHY, format, ap);
	va_end(ap);
	return -EINVAL;
}

static int check_compute(const struct leat_sched *s, const struct leat_sched_task_type *spec,
			 char why[LEAT_SCHED_WHY])
{
	unsigned most = 0;

	if (spec->device || spec->bandwidth.kind != LEAT_BANDWIDTH_NONE)
		return refuse(why,
			      "task type \"%.60s\" asks for storage bandwidth but is no I/O task: "
			      "make it one, or ask for none",
			      spec->name);
	for (unsigned h = 0; h < s->n_hosts; h++)
		if (s->hosts[h].is->computing_units > most)
			most = s->hosts[h].is->computing_units;
	if (!spec->computing_units)
		return refuse(why,
			      "task type \"%.60s\" asks for no computing units: a compute task "
			      "needs at least 1",
			      spec->name);
	if (spec->computing_units > most)
		return refuse(why,
			      "task type \"%.60s\" asks for %u computing units, but no host has "
			      "more than %u",
			      spec->name, spec->computing_units, most);
	return 0;
}

/* The device that was probably meant, or all there are. */
static int refuse_device(const struct leat_sched *s, const struct leat_sched_task_type *spec,
			 char why[LEAT_SCHED_WHY])
{
	const char *near = NULL;
	char known[120] = "";
	unsigned least = 3;

	for (size_t i = 0; i < s->n_families; i++) {
		const char *name = s->families[i].name;
		unsigned distance = leat_str_distance(name, spec->device);
		size_t length = strlen(known);

		snprintf(known + length, sizeof(known) - length, "%s\"%.30s\"", i ? ", " : "",
			 name);
		if (distance >= least)
			continue;
		least = distance;
		near = name;
	}
	if (near)
		return refuse(why,
			      "task type \"%.40s\": there is no storage device \"%.40s\"; did you "
			      "mean \"%.40s\"?",
			      spec->name, spec->device, near);
	return refuse(why, "task type \"%.40s\": there is no storage device \"%.40s\"; there is %s",
		      spec->name, spec->device, *known ? known : "none in the resources");
}

static int check_bandwidth(const struct leat_sched *s, const struct leat_sched_task_type *spec,
			   const struct family *family, char why[LEAT_SCHED_WHY])
{
	char text[LEAT_BANDWIDTH_WHY];
	unsigned most = 0;

	if (leat_bandwidth_check(&spec->bandwidth, text))
		return refuse(why, "task type \"%.50s\": %s", spec->name, text);
	if (spec->bandwidth.kind == LEAT_BANDWIDTH_NONE)
		return 0;
	leat_bandwidth_format(&spec->bandwidth, text, sizeof(text));
	if (!family)
		return refuse(why,
			      "task type \"%.50s\" asks for a bandwidth of %s, but not of which "
			      "storage device",
			      spec->name, text);
	for (unsigned h = 0; h < s->n_hosts; h++)
		if (family->at[h] && s->hosts[h].is->io_executors &&
		    family->at[h]->is->bandwidth_mbps > most)
			most = family->at[h]->is->bandwidth_mbps;
	if (spec->bandwidth.min > most)
		return refuse(why,
			      "task type \"%.50s\" asks for a bandwidth of %s MB/s, but storage "
			      "device \"%.50s\" has %u MB/s: ask for no more than that",
			      spec->name, text, family->name, most);
	return 0;
}

int leat_sched_type_check(const struct leat_sched *s, const struct leat_sched_task_type *spec,
			  const struct family *family, char why[LEAT_SCHED_WHY])
{
	if (!spec->io)
		return check_compute(s, spec, why);
	if (spec->computing_units)
		return refuse(why,
			      "task type \"%.60s\" is an I/O task and asks for computing units: "
			      "I/O tasks run beside compute tasks and take none",
			      spec->name);
	if (spec->device && !family)
		return refuse_device(s, spec, why);
	for (unsigned h = 0; h < s->n_hosts; h++)
		if (leat_sched_fits_ever(s, family, h, 0))
			return check_bandwidth(s, spec, family, why);
	return refuse(why,
		      "task type \"%.60s\" does I/O, but no host with its storage device has I/O "
		      "executors",
		      spec->name);
}
