/* Measuring what bandwidth a storage device sustains, for so many writers and readers at a time. */
#ifndef LEAT_PROBE_PROBE_H
#define LEAT_PROBE_PROBE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the device --- */

/* What a directory lies on. */
struct leat_probe_device {
	char mount[PATH_MAX];    /* where it is mounted */
	char source[PATH_MAX];   /* as mounted: "/dev/vda1", "server:/export" */
	char name[NAME_MAX + 1]; /* short: "vda1"; of letters, digits, "-", "." and "_" */
	char fs[64];             /* "ext4" */
	const char *type;        /* "SSD", "HDD", "RAM", "network"; static; "unknown" */
	bool shared;             /* other machines may mount it, too */
	uint64_t size_bytes;
	uint64_t free_bytes; /* for this user */
};

/* Look at the device `dir` lies on. 0 or -errno. Any thread. Source: proc_pid_mounts(5), and the
 * block queues of sysfs. */
int leat_probe_look(const char *dir, struct leat_probe_device *device);

/* --- its bandwidth --- */

enum leat_probe_method {
	LEAT_PROBE_FSYNC,  /* through the page cache, until fsync returns; read after it was dropped
			    */
	LEAT_PROBE_DIRECT, /* O_DIRECT */
};

struct leat_probe_options {
	const char *dir; /* borrowed */
	enum leat_probe_method method;
	unsigned tasks;     /* files written, and then read, at the same time */
	double seconds;     /* a measurement is to take so long... */
	uint64_t max_bytes; /* ...but not to write more */
};

struct leat_probe_result {
	unsigned tasks;
	uint64_t bytes; /* written, and read */
	double write_s, read_s;
	double write_mbps, read_mbps; /* of all together; MB is 10^6 bytes */
	bool cached; /* the reading may have come from memory: nothing could be done against that */
};

/* Measure. The files have no names: they go with the process. `data`, from leat_probe_data, is what
 * is written. 0; -EINVAL: O_DIRECT does not work there; -ENOSPC and others of the file system. */
int leat_probe_measure(const struct leat_probe_options *options, const void *data,
		       struct leat_probe_result *result);

/* Bytes that no file system can make smaller; the caller frees them. NULL when out of memory. */
void *leat_probe_data(void);

#endif
