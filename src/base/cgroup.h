/* Limits that the machine's control groups set for a process: memory, CPU time, number of
 * processes; versions 1 and 2, also side by side. A limit of any level above the process holds for
 * it. Source: cgroups(7), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of Linux. */
#ifndef LEAT_BASE_CGROUP_H
#define LEAT_BASE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LEAT_NO_LIMIT UINT64_MAX

struct leat_cgroup;

/* Find the groups of a process (0: this one). `machine` is put before /proc and all mount points:
 * "" but in tests. 0, or -errno: none are known. Any thread, as everything here. */
int leat_cgroup_open(const char *machine, pid_t pid, struct leat_cgroup **group);
/* The same where the groups are likely those of `like`, which was opened for this process: they are
 * looked for only if the kernel tells others, or mounts have changed since. What is opened so may
 * be `like` itself, once more; it is for one thread. */
int leat_cgroup_open_like(struct leat_cgroup *like, pid_t pid, struct leat_cgroup **group);
/* Once more, to be closed as often. Returns it. One thread. */
struct leat_cgroup *leat_cgroup_ref(struct leat_cgroup *group);
void leat_cgroup_close(struct leat_cgroup *group); /* NULL is allowed */
/* Is the process's own group of memory still there? */
bool leat_cgroup_exists(const struct leat_cgroup *group);
/* Are they the same groups? */
bool leat_cgroup_equal(const struct leat_cgroup *a, const struct leat_cgroup *b);
/* Is it the same group of memory? */
bool leat_cgroup_shares_memory(const struct leat_cgroup *a, const struct leat_cgroup *b);

struct leat_cgroup_memory {
	uint64_t limit_bytes; /* the tightest of all levels, LEAT_NO_LIMIT: none */
	uint64_t spare_bytes; /* what may still be taken where least is left; what the kernel can
				 take back without swapping counts as left */
	char file[PATH_MAX];  /* that says limit_bytes */
};

/* What cannot be read sets no limit, here and below: other levels, and the kernel, still do. */
void leat_cgroup_memory(const struct leat_cgroup *group, struct leat_cgroup_memory *memory);
/* The limit alone: cheaper. */
uint64_t leat_cgroup_memory_limit(const struct leat_cgroup *group, char file[PATH_MAX]);
/* Processes that the kernel has killed in the group since it was made because memory was full. */
uint64_t leat_cgroup_kills(const struct leat_cgroup *group);
/* Microseconds in which some process of the group (else, of the machine) had to wait for memory;
 * 0 where the kernel does not tell. */
uint64_t leat_cgroup_stalled_us(const struct leat_cgroup *group);

struct leat_cgroup_pids {
	uint64_t limit; /* the tightest, LEAT_NO_LIMIT: none */
	uint64_t left;  /* of processes and threads, where least are left */
	char file[PATH_MAX];
};

void leat_cgroup_pids(const struct leat_cgroup *group, struct leat_cgroup_pids *pids);

/* Processes and threads that were not started in the group because of such a limit. */
uint64_t leat_cgroup_refused(const struct leat_cgroup *group);

/* CPUs' worth of time: the tightest quota, 0: there is none. */
double leat_cgroup_cpus(const struct leat_cgroup *group);

/* ---- what the kernel's files say: nothing is read here ---- */

/* The path of the group in a text of /proc/PID/cgroup; `controller` "": of version 2. */
bool leat_cgroup_path(const char *text, const char *controller, char out[PATH_MAX]);

struct leat_cgroup_mount {
	char root[PATH_MAX];  /* the group that is mounted */
	char point[PATH_MAX]; /* where */
	bool is_v2;
	char options[256];
};

/* One line of /proc/PID/mountinfo; false: it is no control groups'. */
bool leat_cgroup_mount(const char *line, struct leat_cgroup_mount *mount);
/* Is the word one of those that commas part? */
bool leat_cgroup_has_word(const char *words, const char *word);
/* The directory of the group `path` behind a mount; false: not to be seen there. */
bool leat_cgroup_below(const struct leat_cgroup_mount *mount, const char *path, char out[PATH_MAX]);
/* A number; "max", -1, and the largest that version 1 knows are LEAT_NO_LIMIT. False: none. */
bool leat_cgroup_number(const char *text, uint64_t *number);
/* The number behind `key` and a space at the beginning of a line; 0: there is none. */
uint64_t leat_cgroup_stat(const char *text, const char *key);
/* cpu.max: CPUs' worth, 0: no limit. */
double leat_cgroup_quota(const char *text);
/* memory.pressure: "total" of the line "some". */
uint64_t leat_cgroup_total_us(const char *text);

#endif
