/* The machines that tasks run on and the storage devices they have: what is written under
 * `resources`, and in a resources file of COMPSs. */
#ifndef LEAT_MODEL_RESOURCES_H
#define LEAT_MODEL_RESOURCES_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_IO_EXECUTORS = 64 }; /* of a host that says nothing about it */

/* A storage device: one of a host, or one that all hosts share and that counts once for all. */
struct leat_device {
	char *name;              /* owned; hosts may each have a device of one name */
	char *type;              /* owned, as written ("SSD"); or NULL */
	unsigned bandwidth_mbps; /* what it sustains; at least 1 */
	uint64_t size_bytes;     /* 0: not said */
	char **paths;            /* owned: the absolute directories that lie on it */
	size_t n_paths;
	struct leat_pos pos;
};

/* A machine that runs tasks. */
struct leat_host {
	char *name;                  /* owned; unique */
	unsigned computing_units;    /* for compute tasks */
	unsigned io_executors;       /* so many I/O tasks at a time, beside the compute tasks */
	struct leat_device *devices; /* owned: its own */
	size_t n_devices;
	struct leat_pos pos;
};

struct leat_resources {
	struct leat_host *hosts; /* owned; tasks go to the first that can take them */
	size_t n_hosts;
	struct leat_device *shared; /* owned: what all hosts see */
	size_t n_shared;
	bool shared_dir; /* one working directory for all hosts: no task is bound to its data */
};

/* NULL when out of memory. Any thread. */
struct leat_resources *leat_resources_new(void);

/* One host, "localhost", with these numbers and no devices. NULL when out of memory. */
struct leat_resources *leat_resources_local(unsigned computing_units, unsigned io_executors);

/* NULL is allowed; errno is preserved. */
void leat_resources_free(struct leat_resources *res);

/* Append a host or a device; what `name` says is copied, all else is zero. The pointer is valid
 * until the next append. NULL when out of memory. */
struct leat_host *leat_resources_add_host(struct leat_resources *res, const char *name);
struct leat_device *leat_host_add_device(struct leat_host *host, const char *name);
struct leat_device *leat_resources_add_shared(struct leat_resources *res, const char *name);

/* Append a directory to the device's. 0 or -ENOMEM. */
int leat_device_add_path(struct leat_device *device, const char *path);

/* Append to `res` a copy of host `host` under another name. 0 or -ENOMEM. */
int leat_resources_copy_host(struct leat_resources *res, size_t host, const char *name);

/* Leave the host only that is the machine of the name `self`, or "localhost", or the only one. 0;
 * -ENOENT: none is, and nothing has changed. */
int leat_resources_keep_host(struct leat_resources *res, const char *self);

/* True if both describe the same, positions aside; either may be NULL. Any thread. */
bool leat_resources_equal(const struct leat_resources *a, const struct leat_resources *b);

/* The device of `host` (an index) on which the absolute, normal path `path` lies: that with the
 * longest directory, own devices before shared ones. NULL: on none that is described. Any thread.
 */
const struct leat_device *leat_resources_device_of(const struct leat_resources *res, size_t host,
						   const char *path);

/* The device of that name that `host` sees, or NULL. Any thread. */
const struct leat_device *leat_resources_find_device(const struct leat_resources *res, size_t host,
						     const char *name);

#endif
