/* Kinds of tasks, by name. They outlive the run time: a program registers them once. */
#include "task/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct leat_task_kind *kinds; /* owned; by name */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct leat_task_kind *kind, leat_task_function *function,
		    const struct leat_task_constraints *c)
{
	const struct leat_task_constraints *old = &kind->constraints;

	return kind->function == function && old->io == c->io &&
	       old->computing_units == c->computing_units &&
	       same_text(old->storage_bw, c->storage_bw) && same_text(old->device, c->device);
}

static int check(const char *name, const struct leat_task_constraints *c,
		 struct leat_bandwidth *bandwidth)
{
	char why[LEAT_BANDWIDTH_WHY];

	if (c->io && c->computing_units > 0)
		return leat_tasks_set_error(-EINVAL,
					    "task %s: an I/O task takes no computing units; leave "
					    "computing_units 0, or io false",
					    name);
	if (!c->io && (c->storage_bw || c->device))
		return leat_tasks_set_error(-EINVAL, "task %s: %s is for I/O tasks; set io, too",
					    name, c->storage_bw ? "storage_bw" : "device");
	if (leat_bandwidth_parse(c->storage_bw ? c->storage_bw : "", bandwidth, why) < 0)
		return leat_tasks_set_error(-EINVAL, "task %s: storage_bw: %s", name, why);
	return 0;
}

static void free_kind(struct leat_task_kind *kind)
{
	free((void *)(uintptr_t)kind->constraints.storage_bw);
	free((void *)(uintptr_t)kind->constraints.device);
	free(kind->name);
	free(kind);
}

static struct leat_task_kind *make(const char *name, leat_task_function *function,
				   const struct leat_task_constraints *c)
{
	struct leat_task_kind *kind = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->name = strdup(name);
	kind->function = function;
	kind->constraints = *c;
	kind->constraints.storage_bw = c->storage_bw ? strdup(c->storage_bw) : NULL;
	kind->constraints.device = c->device ? strdup(c->device) : NULL;
	if (kind->name && !kind->constraints.storage_bw == !c->storage_bw &&
	    !kind->constraints.device == !c->device)
		return kind;
	free_kind(kind);
	return NULL;
}

static int add(const char *name, leat_task_function *function,
	       const struct leat_task_constraints *c, const struct leat_bandwidth *bandwidth,
	       struct leat_task_kind **out)
{
	struct leat_task_kind *kind;

	HASH_FIND_STR(kinds, name, kind);
	if (kind && !is_same(kind, function, c))
		return leat_tasks_set_error(
			-EEXIST,
			"task %s is registered already, with another function or "
			"other constraints",
			name);
	if (!kind) {
		kind = make(name, function, c);
		if (!kind)
			return leat_tasks_set_error(-ENOMEM, "out of memory for task %s", name);
		kind->bandwidth = *bandwidth;
		kind->id = HASH_COUNT(kinds);
		HASH_ADD_KEYPTR(hh, kinds, kind->name, strlen(kind->name), kind);
	}
	*out = kind;
	return 0;
}

const struct leat_task_kind *leat_task_register(const char *name, leat_task_function *function,
						const struct leat_task_constraints *constraints)
{
	const struct leat_task_constraints none = {0};
	const struct leat_task_constraints *c = constraints ? constraints : &none;
	struct leat_bandwidth bandwidth = {0};
	struct leat_task_kind *kind = NULL;
	int ret;

	if (!name || !*name || !function) {
		ret = leat_tasks_set_error(-EINVAL, "a task needs a name and a function");
	} else {
		ret = check(name, c, &bandwidth);
		if (ret == 0) {
			pthread_mutex_lock(&lock);
			ret = add(name, function, c, &bandwidth, &kind);
			pthread_mutex_unlock(&lock);
		}
	}
	if (ret < 0)
		errno = -ret;
	return kind;
}

const struct leat_task_kind *leat_task_kind_find(const char *name)
{
	struct leat_task_kind *kind;

	pthread_mutex_lock(&lock);
	HASH_FIND_STR(kinds, name, kind);
	pthread_mutex_unlock(&lock);
	return kind;
}
