#include "resume/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int leat_stamped_add(struct leat_stamped_list *list, const char *name,
		     const struct leat_stamp *stamp)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 8;
		struct leat_stamped *grown = reallocarray(list->v, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->v = grown;
		list->capacity = capacity;
	}
	list->v[list->n] = (struct leat_stamped){.name = strdup(name), .stamp = *stamp};
	if (!list->v[list->n].name)
		return -ENOMEM;
	list->n++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct leat_stamped *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void leat_stamped_sort(struct leat_stamped_list *list)
{
	size_t kept = 0;

	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_name);
	for (size_t i = 0; i < list->n; i++) {
		if (kept && strcmp(list->v[kept - 1].name, list->v[i].name) == 0)
			free(list->v[i].name);
		else
			list->v[kept++] = list->v[i];
	}
	list->n = kept;
}

const struct leat_stamped *leat_stamped_find(const struct leat_stamped_list *list, const char *name)
{
	struct leat_stamped key = {.name = (char *)(uintptr_t)name};

	return list->n ? bsearch(&key, list->v, list->n, sizeof(*list->v), by_name) : NULL;
}

void leat_stamped_release(struct leat_stamped_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].name);
	free(list->v);
	*list = (struct leat_stamped_list){0};
}
