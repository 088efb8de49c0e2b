/* `resources`: hosts and storage devices. */
#include "lang/resources/resources.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/keys.h"
#include "lang/reader/scalar.h"
#include "lang/resources/internal.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"
#include "model/bandwidth.h"

enum { TOP_SHARED_DIR, TOP_NODES, TOP_STORAGE, N_TOP };

static const struct leat_key resources_keys[] = {
	{"shared_working_directory", LEAT_KEY_TAKEN, TOP_SHARED_DIR},
	{"nodes", LEAT_KEY_TAKEN, TOP_NODES},
	{"storage", LEAT_KEY_TAKEN, TOP_STORAGE},
	{NULL, 0, 0},
};

enum { NODE_NAME, NODE_COUNT, NODE_UNITS, NODE_EXECUTORS, NODE_STORAGE, N_NODE };

static const struct leat_key node_keys[] = {
	{"name", LEAT_KEY_TAKEN, NODE_NAME},
	{"count", LEAT_KEY_TAKEN, NODE_COUNT},
	{"computing_units", LEAT_KEY_TAKEN, NODE_UNITS},
	{"computingUnits", LEAT_KEY_VARIANT, NODE_UNITS},
	{"cpus", LEAT_KEY_VARIANT, NODE_UNITS},
	{"io_executors", LEAT_KEY_TAKEN, NODE_EXECUTORS},
	{"storage", LEAT_KEY_TAKEN, NODE_STORAGE},
	{NULL, 0, 0},
};

enum {
	DEVICE_NAME,
	DEVICE_TYPE,
	DEVICE_BANDWIDTH,
	DEVICE_SIZE,
	DEVICE_PATHS,
	DEVICE_SHARED,
	N_DEVICE
};

static const struct leat_key device_keys[] = {
	{"name", LEAT_KEY_TAKEN, DEVICE_NAME},           {"type", LEAT_KEY_TAKEN, DEVICE_TYPE},
	{"bandwidth", LEAT_KEY_TAKEN, DEVICE_BANDWIDTH}, {"size", LEAT_KEY_TAKEN, DEVICE_SIZE},
	{"paths", LEAT_KEY_TAKEN, DEVICE_PATHS},         {"path", LEAT_KEY_VARIANT, DEVICE_PATHS},
	{"shared", LEAT_KEY_TAKEN, DEVICE_SHARED},       {NULL, 0, 0},
};

enum { NODES_MAX = 100000 };

/* --- devices --------------------------------------------------------------------------------- */

static int read_path(struct leat_front *front, const struct leat_value *node,
		     struct leat_device *device)
{
	char path[PATH_MAX];
	size_t length;

	if (node->kind != LEAT_VALUE_SCALAR || node->text[0] != '/' ||
	    strlen(node->text) >= sizeof(path)) {
		leat_lang_report(front->diags, L_TYPE, node->pos,
				 "a path of a storage device must be an absolute directory, not %s",
				 node->kind == LEAT_VALUE_SCALAR && node->text[0]
					 ? node->text
					 : leat_value_describe(node));
		return 0;
	}
	strcpy(path, node->text);
	for (length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	return leat_device_add_path(device, path);
}

static int read_paths(struct leat_front *front, const struct leat_value *value,
		      struct leat_device *device)
{
	int ret = 0;

	if (value->kind != LEAT_VALUE_LIST)
		return read_path(front, value, device);
	for (size_t i = 0; !ret && i < value->n; i++)
		ret = read_path(front, value->v[i], device);
	return ret;
}

/* All of a device but its name. */
static int read_device(struct leat_front *front, const struct leat_pair *slots,
		       struct leat_device *device)
{
	unsigned size_gb = 0;
	const char *type;

	device->bandwidth_mbps = 1;
	if (slots[DEVICE_BANDWIDTH].key)
		leat_read_number(front, &slots[DEVICE_BANDWIDTH], 1, LEAT_BANDWIDTH_MAX,
				 &device->bandwidth_mbps);
	else
		leat_key_missing(front, device->pos, "bandwidth",
				 "a storage device, in MB/s (leat probe measures it),");
	if (slots[DEVICE_SIZE].key &&
	    leat_read_number(front, &slots[DEVICE_SIZE], 1, INT_MAX, &size_gb))
		device->size_bytes = (uint64_t)size_gb * 1000000000;
	type = slots[DEVICE_TYPE].key ? leat_read_text(front, &slots[DEVICE_TYPE]) : NULL;
	if (type) {
		device->type = strdup(type);
		if (!device->type)
			return -ENOMEM;
	}
	return slots[DEVICE_PATHS].key ? read_paths(front, slots[DEVICE_PATHS].value, device) : 0;
}

static const struct leat_device *find_in(const struct leat_device *devices, size_t n,
					 const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(devices[i].name, name))
			return &devices[i];
	return NULL;
}

/* May a device of this name be added to `host` (NULL: to the shared ones)? Reported if not. */
static bool is_new(struct leat_front *front, const struct leat_resources *res,
		   const struct leat_host *host, const struct leat_value *name)
{
	const struct leat_device *known = find_in(res->shared, res->n_shared, name->text);

	if (!known && host)
		known = find_in(host->devices, host->n_devices, name->text);
	for (size_t h = 0; !known && !host && h < res->n_hosts; h++)
		known = find_in(res->hosts[h].devices, res->hosts[h].n_devices, name->text);
	if (!known)
		return true;
	leat_lang_report(front->diags, L_RESOURCE_TWICE, name->pos,
			 "a storage device \"%s\" is already described (line %d)", name->text,
			 known->pos.line);
	return false;
}

static int add_device(struct leat_front *front, struct leat_resources *res, struct leat_host *host,
		      const struct leat_value *item)
{
	struct leat_pair slots[N_DEVICE];
	struct leat_device *device;
	const char *name;
	bool shared = !host;

	if (!leat_keys_read(front, item, "a storage device", device_keys, slots, N_DEVICE))
		return 0;
	if (slots[DEVICE_SHARED].key)
		leat_read_bool(front, &slots[DEVICE_SHARED], &shared);
	if (!slots[DEVICE_NAME].key) {
		leat_key_missing(front, item->pos, "name", "a storage device");
		return 0;
	}
	name = leat_read_text(front, &slots[DEVICE_NAME]);
	if (!name || !is_new(front, res, shared ? NULL : host, slots[DEVICE_NAME].value))
		return 0;
	device = shared || !host ? leat_resources_add_shared(res, name)
				 : leat_host_add_device(host, name);
	if (!device)
		return -ENOMEM;
	device->pos = slots[DEVICE_NAME].value->pos;
	return read_device(front, slots, device);
}

static int add_devices(struct leat_front *front, struct leat_resources *res, struct leat_host *host,
		       const struct leat_pair *entry)
{
	size_t n = leat_read_objects(front, entry);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = add_device(front, res, host, leat_pair_item(entry, i));
	return ret;
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* By name, and of equal names in the order of the file. */
static int compare_hosts(const void *a, const void *b)
{
	const struct leat_host *x = *(const struct leat_host *const *)a;
	const struct leat_host *y = *(const struct leat_host *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x > y) - (x < y);
}

/* Report nodes of one name. */
static int check_names(struct leat_front *front, const struct leat_resources *res)
{
	const struct leat_host **sorted = calloc(res->n_hosts + 1, sizeof(struct leat_host *));

	if (!sorted)
		return -ENOMEM;
	for (size_t h = 0; h < res->n_hosts; h++)
		sorted[h] = &res->hosts[h];
	qsort(sorted, res->n_hosts, sizeof(struct leat_host *), compare_hosts);
	for (size_t h = 1; h < res->n_hosts; h++)
		if (!strcmp(sorted[h]->name, sorted[h - 1]->name))
			leat_lang_report(front->diags, L_RESOURCE_TWICE, sorted[h]->pos,
					 "a node \"%s\" is already described (line %d)",
					 sorted[h]->name, sorted[h - 1]->pos.line);
	free(sorted);
	return 0;
}

/* Nodes name0, name1 ...: the first is there already, under its name without a number. */
static int multiply(struct leat_resources *res, size_t first, unsigned count, const char *name)
{
	int ret = 0;

	for (unsigned i = 0; !ret && i < count; i++) {
		char numbered[256];
		char *copy;

		snprintf(numbered, sizeof(numbered), "%.200s%u", name, i);
		if (i) {
			ret = leat_resources_copy_host(res, first, numbered);
			continue;
		}
		copy = strdup(numbered);
		if (!copy)
			return -ENOMEM;
		free(res->hosts[first].name);
		res->hosts[first].name = copy;
	}
	return ret;
}

static int fill_host(struct leat_front *front, const struct leat_pair *slots,
		     struct leat_resources *res, size_t host)
{
	res->hosts[host].pos = slots[NODE_NAME].value->pos;
	res->hosts[host].computing_units = 1;
	res->hosts[host].io_executors = LEAT_IO_EXECUTORS;
	if (slots[NODE_UNITS].key)
		leat_read_number(front, &slots[NODE_UNITS], 1, INT_MAX,
				 &res->hosts[host].computing_units);
	else
		leat_key_missing(front, res->hosts[host].pos, "computing_units", "a node");
	if (slots[NODE_EXECUTORS].key)
		leat_read_number(front, &slots[NODE_EXECUTORS], 0, INT_MAX,
				 &res->hosts[host].io_executors);
	return slots[NODE_STORAGE].key
		       ? add_devices(front, res, &res->hosts[host], &slots[NODE_STORAGE])
		       : 0;
}

static int add_host(struct leat_front *front, struct leat_resources *res,
		    const struct leat_value *item)
{
	struct leat_pair slots[N_NODE];
	size_t host = res->n_hosts;
	unsigned count = 0;
	const char *name;
	int ret;

	if (!leat_keys_read(front, item, "a node", node_keys, slots, N_NODE))
		return 0;
	if (!slots[NODE_NAME].key) {
		leat_key_missing(front, item->pos, "name", "a node");
		return 0;
	}
	name = leat_read_text(front, &slots[NODE_NAME]);
	if (slots[NODE_COUNT].key &&
	    !leat_read_number(front, &slots[NODE_COUNT], 1, NODES_MAX, &count))
		return 0;
	if (!name)
		return 0;
	if (!leat_resources_add_host(res, name))
		return -ENOMEM;
	ret = fill_host(front, slots, res, host);
	return !ret && count ? multiply(res, host, count, name) : ret;
}

int leat_read_resources(struct leat_front *front, const struct leat_value *map,
			struct leat_resources *res)
{
	struct leat_pair slots[N_TOP];
	size_t n;
	int ret = 0;

	if (!leat_keys_read(front, map, "\"resources\"", resources_keys, slots, N_TOP))
		return 0;
	if (slots[TOP_SHARED_DIR].key)
		leat_read_bool(front, &slots[TOP_SHARED_DIR], &res->shared_dir);
	if (!slots[TOP_NODES].key) {
		leat_key_missing(front, map->pos, "nodes", "\"resources\"");
		return 0;
	}
	if (slots[TOP_STORAGE].key)
		ret = add_devices(front, res, NULL, &slots[TOP_STORAGE]);
	n = leat_read_objects(front, &slots[TOP_NODES]);
	for (size_t i = 0; !ret && i < n; i++)
		ret = add_host(front, res, leat_pair_item(&slots[TOP_NODES], i));
	if (!ret && !n && slots[TOP_NODES].value->kind == LEAT_VALUE_LIST)
		leat_lang_report(front->diags, L_RESOURCE_NONE, slots[TOP_NODES].value->pos,
				 "\"nodes\" describes no node: tasks need at least one to run on");
	return ret ? ret : check_names(front, res);
}

/* --- a file ------------------------------------------------------------ */

static int read_document(struct leat_diags *diags, const char *text, size_t size,
			 struct leat_resources **res)
{
	struct leat_front front = {.diags = diags};
	const struct leat_value *map;
	struct leat_value *root = NULL;
	int ret;

	front.json = text[strspn(text, " \t\r\n")] == '{';
	ret = leat_value_parse(text, size, 0, front.json, diags, &root);
	if (ret)
		return ret;
	map = leat_value_get(root, "resources");
	if (!map) {
		leat_lang_report(diags, L_RESOURCE_NONE, root->pos,
				 "not a resources file: leat's has \"resources\" at the top, that "
				 "of COMPSs is XML");
		ret = -EINVAL;
	} else {
		*res = leat_resources_new();
		ret = *res ? 0 : -ENOMEM;
	}
	if (!ret) {
		(*res)->shared_dir = true;
		ret = leat_read_resources(&front, map, *res);
	}
	leat_value_free(root);
	return ret;
}

struct leat_resources *leat_resources_parse(const char *given, size_t size, const char *path,
					    struct leat_diags **diags)
{
	struct leat_resources *res = NULL;
	const char *text;
	int ret = leat_source_take(path, given, &size, diags, &text);

	if (!ret)
		ret = text[strspn(text, " \t\r\n")] == '<'
			      ? leat_compss_read(text, size, *diags, &res)
			      : read_document(*diags, text, size, &res);
	if (leat_source_finish(ret, diags))
		return res;
	leat_resources_free(res);
	return NULL;
}

struct leat_resources *leat_resources_load(const char *path, struct leat_diags **diags)
{
	struct leat_resources *res;
	size_t size;
	char *text = leat_source_load(path, &size, diags);

	res = text ? leat_resources_parse(text, size, path, diags) : NULL;
	free(text);
	return res;
}
