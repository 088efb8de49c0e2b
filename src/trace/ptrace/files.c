#include "trace/ptrace/files.h"

#include <stdlib.h>
#include <string.h>

/* Beyond any limit of descriptors that a kernel allows (sysctl_nr_open_max). */
#define MAX_FD (UINT64_C(1) << 30)

struct fdtab *leat_fdtab_new(void)
{
	struct fdtab *fds = calloc(1, sizeof(*fds));

	if (fds)
		fds->refs = 1;
	return fds;
}

struct fdtab *leat_fdtab_ref(struct fdtab *fds)
{
	fds->refs++;
	return fds;
}

struct fdtab *leat_fdtab_copy(const struct fdtab *fds)
{
	struct fdtab *copy = leat_fdtab_new();

	if (!copy || !fds->n)
		return copy;
	copy->slots = malloc(fds->n * sizeof(*copy->slots));
	if (!copy->slots) {
		free(copy);
		return NULL;
	}
	copy->n = fds->n;
	memcpy(copy->slots, fds->slots, fds->n * sizeof(*copy->slots));
	for (size_t i = 0; i < copy->n; i++)
		if (copy->slots[i].handle)
			leat_handle_ref(copy->slots[i].handle);
	return copy;
}

struct slot *leat_fdtab_slot(struct fdtab *fds, uint64_t fd)
{
	return fd < fds->n ? &fds->slots[fd] : NULL;
}

bool leat_fdtab_names_cpus(struct fdtab *fds, uint64_t fd)
{
	const struct slot *slot = leat_fdtab_slot(fds, fd);

	return slot && slot->names_cpus;
}

struct slot *leat_fdtab_make(struct fdtab *fds, uint64_t fd)
{
	if (fd >= MAX_FD)
		return NULL;
	if (fd >= fds->n) {
		size_t n = fd < 8 ? 16 : 2 * (size_t)fd;
		struct slot *slots = reallocarray(fds->slots, n, sizeof(*slots));

		if (!slots)
			return NULL;
		memset(slots + fds->n, 0, (n - fds->n) * sizeof(*slots));
		fds->slots = slots;
		fds->n = n;
	}
	return &fds->slots[fd];
}

struct handle *leat_fdtab_take(struct fdtab *fds, uint64_t fd)
{
	struct slot *slot = leat_fdtab_slot(fds, fd);
	struct handle *h = slot ? slot->handle : NULL;

	if (slot)
		*slot = (struct slot){0};
	return h;
}

void leat_fdtab_free(struct fdtab *fds)
{
	free(fds->slots);
	free(fds);
}
