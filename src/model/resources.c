#include "model/resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_resources *leat_resources_new(void)
{
	return calloc(1, sizeof(struct leat_resources));
}

struct leat_resources *leat_resources_local(unsigned computing_units, unsigned io_executors)
{
	struct leat_resources *res = leat_resources_new();
	struct leat_host *host = res ? leat_resources_add_host(res, "localhost") : NULL;

	if (!host) {
		leat_resources_free(res);
		return NULL;
	}
	host->computing_units = computing_units;
	host->io_executors = io_executors;
	res->shared_dir = true;
	return res;
}

static void device_release(struct leat_device *device)
{
	free(device->name);
	free(device->type);
	for (size_t i = 0; i < device->n_paths; i++)
		free(device->paths[i]);
	free(device->paths);
}

static void devices_free(struct leat_device *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		device_release(&devices[i]);
	free(devices);
}

void leat_resources_free(struct leat_resources *res)
{
	int err = errno;

	if (!res)
		return;
	for (size_t i = 0; i < res->n_hosts; i++) {
		free(res->hosts[i].name);
		devices_free(res->hosts[i].devices, res->hosts[i].n_devices);
	}
	free(res->hosts);
	devices_free(res->shared, res->n_shared);
	free(res);
	errno = err;
}

/* Space for one more behind `n` elements; the space doubles. NULL when out of memory. */
static void *more(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : reallocarray(array, n ? 2 * n : 1, size);
}

struct leat_host *leat_resources_add_host(struct leat_resources *res, const char *name)
{
	struct leat_host *hosts = more(res->hosts, res->n_hosts, sizeof(*hosts));
	struct leat_host host = {.name = strdup(name)};

	if (hosts)
		res->hosts = hosts;
	if (!hosts || !host.name) {
		free(host.name);
		return NULL;
	}
	hosts[res->n_hosts] = host;
	return &hosts[res->n_hosts++];
}

static struct leat_device *add_device(struct leat_device **devices, size_t *n, const char *name)
{
	struct leat_device *grown = more(*devices, *n, sizeof(*grown));
	struct leat_device device = {.name = strdup(name)};

	if (grown)
		*devices = grown;
	if (!grown || !device.name) {
		free(device.name);
		return NULL;
	}
	grown[*n] = device;
	return &grown[(*n)++];
}

struct leat_device *leat_host_add_device(struct leat_host *host, const char *name)
{
	return add_device(&host->devices, &host->n_devices, name);
}

struct leat_device *leat_resources_add_shared(struct leat_resources *res, const char *name)
{
	return add_device(&res->shared, &res->n_shared, name);
}

int leat_device_add_path(struct leat_device *device, const char *path)
{
	char **paths = more(device->paths, device->n_paths, sizeof(*paths));
	char *copy = strdup(path);

	if (paths)
		device->paths = paths;
	if (!paths || !copy) {
		free(copy);
		return -ENOMEM;
	}
	paths[device->n_paths++] = copy;
	return 0;
}

static int copy_device(struct leat_host *to, const struct leat_device *from)
{
	struct leat_device *device = leat_host_add_device(to, from->name);
	int ret = 0;

	if (!device)
		return -ENOMEM;
	device->bandwidth_mbps = from->bandwidth_mbps;
	device->size_bytes = from->size_bytes;
	device->pos = from->pos;
	if (from->type) {
		device->type = strdup(from->type);
		if (!device->type)
			return -ENOMEM;
	}
	for (size_t i = 0; !ret && i < from->n_paths; i++)
		ret = leat_device_add_path(device, from->paths[i]);
	return ret;
}

int leat_resources_copy_host(struct leat_resources *res, size_t host, const char *name)
{
	struct leat_host *to = leat_resources_add_host(res, name);
	const struct leat_host *from = &res->hosts[host];
	int ret = to ? 0 : -ENOMEM;

	if (ret)
		return ret;
	to->computing_units = from->computing_units;
	to->io_executors = from->io_executors;
	to->pos = from->pos;
	for (size_t i = 0; !ret && i < from->n_devices; i++)
		ret = copy_device(to, &from->devices[i]);
	return ret;
}

/* Length of the longest directory of the device in which `path` lies, plus one; 0: in none. */
static size_t holds(const struct leat_device *device, const char *path)
{
	size_t longest = 0;

	for (size_t i = 0; i < device->n_paths; i++) {
		size_t length = strlen(device->paths[i]);

		if (length + 1 <= longest || strncmp(path, device->paths[i], length) != 0)
			continue;
		if (!path[length] || path[length] == '/' || (length && path[length - 1] == '/'))
			longest = length + 1;
	}
	return longest;
}

const struct leat_device *leat_resources_device_of(const struct leat_resources *res, size_t host,
						   const char *path)
{
	const struct leat_host *h = &res->hosts[host];
	const struct leat_device *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < h->n_devices + res->n_shared; i++) {
		const struct leat_device *device =
			i < h->n_devices ? &h->devices[i] : &res->shared[i - h->n_devices];
		size_t length = holds(device, path);

		if (length > longest) {
			longest = length;
			found = device;
		}
	}
	return found;
}

const struct leat_device *leat_resources_find_device(const struct leat_resources *res, size_t host,
						     const char *name)
{
	const struct leat_host *h = &res->hosts[host];

	for (size_t i = 0; i < h->n_devices; i++)
		if (!strcmp(h->devices[i].name, name))
			return &h->devices[i];
	for (size_t i = 0; i < res->n_shared; i++)
		if (!strcmp(res->shared[i].name, name))
			return &res->shared[i];
	return NULL;
}

/* --- the host that is here ------------------------------------------------------------------- */

/* Is `name` the machine `self`? Either may leave out the domain. */
static bool is_this(const char *name, const char *self)
{
	size_t a = strcspn(name, "."), b = strcspn(self, ".");

	if (strcmp(name, "localhost") == 0)
		return true;
	if (name[a] && self[b])
		return strcmp(name, self) == 0;
	return a == b && strncmp(name, self, a) == 0;
}

static void keep_only(struct leat_resources *res, size_t keep)
{
	for (size_t i = 0; i < res->n_hosts; i++) {
		if (i == keep)
			continue;
		free(res->hosts[i].name);
		devices_free(res->hosts[i].devices, res->hosts[i].n_devices);
	}
	res->hosts[0] = res->hosts[keep];
	res->n_hosts = 1;
}

int leat_resources_keep_host(struct leat_resources *res, const char *self)
{
	size_t keep = 0;

	while (keep < res->n_hosts && !is_this(res->hosts[keep].name, self))
		keep++;
	if (keep == res->n_hosts && res->n_hosts != 1)
		return -ENOENT;
	keep_only(res, keep == res->n_hosts ? 0 : keep);
	return 0;
}

/* --- equality ----------------------------------------------------------------------------------
 */

static bool devices_equal(const struct leat_device *a, size_t n, const struct leat_device *b,
			  size_t m)
{
	if (n != m)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(a[i].name, b[i].name) || !a[i].type != !b[i].type ||
		    (a[i].type && strcmp(a[i].type, b[i].type)) ||
		    a[i].bandwidth_mbps != b[i].bandwidth_mbps ||
		    a[i].size_bytes != b[i].size_bytes || a[i].n_paths != b[i].n_paths)
			return false;
		for (size_t p = 0; p < a[i].n_paths; p++)
			if (strcmp(a[i].paths[p], b[i].paths[p]))
				return false;
	}
	return true;
}

static bool hosts_equal(const struct leat_host *a, const struct leat_host *b)
{
	return !strcmp(a->name, b->name) && a->computing_units == b->computing_units &&
	       a->io_executors == b->io_executors &&
	       devices_equal(a->devices, a->n_devices, b->devices, b->n_devices);
}

bool leat_resources_equal(const struct leat_resources *a, const struct leat_resources *b)
{
	if (!a || !b)
		return a == b;
	if (a->n_hosts != b->n_hosts || a->shared_dir != b->shared_dir)
		return false;
	for (size_t i = 0; i < a->n_hosts; i++)
		if (!hosts_equal(&a->hosts[i], &b->hosts[i]))
			return false;
	return devices_equal(a->shared, a->n_shared, b->shared, b->n_shared);
}
