/* What the files of this directory share. */
#ifndef LEAT_ASSOCIATE_INTERNAL_H
#define LEAT_ASSOCIATE_INTERNAL_H

#include "associate/associate.h"

#include <limits.h>
#include <uthash.h>

#define LEAT_ASSOCIATE_NONE SIZE_MAX
#define LEAT_ASSOCIATE_SECOND INT64_C(1000000000)

/* ---- times of logs ---- */

/* A time as a log has it: some have no year, many no zone. */
struct leat_associate_stamp {
	bool set;
	bool zoned; /* zone_s is known */
	int year;   /* 0 unknown */
	int month, day;
	int64_t day_ns; /* since midnight */
	int zone_s;     /* east of UTC */
};

/* Read a time at the beginning of `text`: ISO 8601 and its relatives, or milliseconds since the
 * epoch. False: it is none. *end, unless NULL, is what follows. */
bool leat_associate_stamp_iso(const char *text, struct leat_associate_stamp *s, const char **end);
bool leat_associate_stamp_epoch_ms(const char *text, struct leat_associate_stamp *s);
bool leat_associate_stamp_epoch_ns(int64_t ns, struct leat_associate_stamp *s);
/* "Okt.-05 09:59:06.046", of Nextflow; the month in any of many languages. */
bool leat_associate_stamp_nextflow(const char *text, struct leat_associate_stamp *s);
/* "[Sun Nov 22 13:04:55 2026]", of ctime(3). */
bool leat_associate_stamp_ctime(const char *text, struct leat_associate_stamp *s);
/* Since the epoch; `zone_s` is taken where the stamp has none, and the year that is nearest to
 * `near_ns`. */
int64_t leat_associate_stamp_ns(const struct leat_associate_stamp *s, int zone_s, int64_t near_ns);

/* ---- logs ---- */

/* How well a log's times and the trace's go together. */
struct leat_associate_fit {
	size_t n;       /* processes that touched a task's own files */
	size_t in_time; /* so many of them at the task's time, by a clock that is possible */
	size_t any;     /* and by the clock that suits them best, however wrong */
	int64_t any_ns; /* what the log's is ahead of a node's then, at most: of `node` */
	unsigned node;
	int64_t shift_ns; /* what its clock and zone are from those that are expected */
	double spread_s;  /* mean deviation of the times between a task's beginning and its files */
};

/* A log, whose times have one clock. */
struct leat_associate_source {
	char *path; /* owned */
	char *real; /* owned; the same, resolved; NULL unknown */
	const struct leat_associate_format *format;
	long line;      /* that is being read */
	bool bad;       /* something was malformed */
	unsigned n_bad; /* how often */
	int zone_s;     /* resolved; of times without one */
	bool local;     /* resolved: they are this machine's local times, summer and winter */
	bool foreign;   /* resolved: they are of a zone that is not this machine's, nor given */
	bool refused;   /* resolved: it is not of the trace, and tells nothing of it */
	struct leat_associate_stamp last; /* the last time in it; not set: unknown */
	struct leat_associate_fit fit;    /* resolved */
	int64_t *ahead_ns;  /* owned; resolved, by node: what its clock is ahead of the node's */
	int64_t changed_ns; /* when the file was written last */
	char *host;         /* owned; where its manager ran; NULL unknown */
	int32_t pid;        /* of its manager; 0 unknown */
};

/* ---- tasks ---- */

struct leat_associate_entry {
	struct leat_associate_task task; /* strings owned */
	size_t source;                   /* LEAT_ASSOCIATE_NONE: of a label or cgroup */
	struct leat_associate_stamp began, ended;
	bool over;         /* it has ended, by its log */
	bool fallback;     /* counts only where nothing else claims a process */
	char *host;        /* owned; where it ran; NULL unknown */
	size_t rival;      /* the same in another log; LEAT_ASSOCIATE_NONE */
	char *key;         /* owned; manager, workflow, identity: unique */
	UT_hash_handle hh; /* by key */
};

/* A process that a log names. */
struct leat_associate_pid {
	size_t task;
	int32_t pid;
	struct leat_associate_stamp began, ended; /* of the process; not set: of the task */
};

/* A text that leads to a task: a work directory, an output, a short hash, a pod's uid, a
 * container's id, a batch job's number. */
enum leat_associate_name_kind {
	LEAT_ASSOCIATE_NAME_DIR,
	LEAT_ASSOCIATE_NAME_OUTPUT,
	LEAT_ASSOCIATE_NAME_HASH,  /* "ab/cdef01" */
	LEAT_ASSOCIATE_NAME_TOKEN, /* of cgroup paths */
	LEAT_ASSOCIATE_NAME_SLURM, /* "123" or "123_4" */
	LEAT_ASSOCIATE_NAME_POD,
	LEAT_ASSOCIATE_NAMES
};

struct leat_associate_name {
	char *text; /* owned */
	size_t task;
	struct leat_associate_name *also; /* owned; the same text in another log; not in the hash */
	UT_hash_handle hh;
};

/* An image has touched own files of a log's tasks: of one, or of several of the same log. */
struct leat_associate_touch {
	size_t image, source;
	size_t task;
	int64_t ns;
	size_t other; /* a second such task; LEAT_ASSOCIATE_NONE */
	int64_t other_ns;
	bool outputs; /* `task` is by an output */
	size_t next;  /* of the same image, of another log; LEAT_ASSOCIATE_NONE */
};

/* ---- what a trace tells ---- */

struct leat_associate_image {
	unsigned node;
	int32_t pid;
	size_t parent; /* who made it: another image, or that of the same process before its exec */
	size_t earlier;           /* image of the same number before it, maybe of another process */
	size_t cgroup;            /* index; LEAT_ASSOCIATE_NONE unknown */
	uint64_t mounts;          /* mount namespace; 0 unknown */
	size_t program;           /* index of its program; LEAT_ASSOCIATE_NONE unknown */
	int64_t begin_ns, end_ns; /* INT64_MIN: before the trace; INT64_MAX: not yet */
	size_t label;             /* task of its environment, its own or inherited */
	size_t touches;           /* index of the first; LEAT_ASSOCIATE_NONE */
	size_t slurm;             /* job step of its environment */
	bool fresh;               /* `label` is not what it has inherited */
	bool forked;              /* its beginning was seen */
	bool executed;            /* it began with an exec */
	bool exits;               /* its process ended with it */
	size_t next;              /* the same process after its exec; LEAT_ASSOCIATE_NONE */
	size_t lift;              /* task of some image below it */
	bool lifts_many;          /* of several */
	bool manager;             /* it made tasks' files, or wrote a log that was read */
	bool own;                 /* `answer` is by evidence of its own */
	bool wide; /* which holds for its cgroup, too: all that touch a work directory's own files
		      in a container are of one task */
	bool resolved;
	struct leat_associate_answer answer;
};

struct leat_associate_process {
	uint64_t key; /* node and pid */
	size_t image; /* its present image, or its last */
	UT_hash_handle hh;
};

struct leat_associate_cgroup {
	struct {
		uint64_t node, id;
	} key;
	char *path;   /* owned; NULL unknown */
	size_t token; /* task by its path; LEAT_ASSOCIATE_NONE */
	size_t slurm; /* its job step, a fallback */
	size_t task;  /* resolved; LEAT_ASSOCIATE_NONE: unattributed, or shared */
	bool shared;
	size_t index;
	UT_hash_handle hh;
};

struct leat_associate_mount {
	unsigned node;
	uint64_t space;
	char *at, *from; /* owned; from may be NULL */
};

struct leat_associate_word {
	char *text; /* owned */
	size_t number;
	UT_hash_handle hh;
};

enum { LEAT_ASSOCIATE_CACHE = 256 };

struct leat_associate_map {
	struct leat_associate_options options;
	struct leat_associate_source *sources; /* owned, each with its strings */
	size_t n_sources, space_sources;
	struct leat_associate_entry **tasks; /* owned, and each of them */
	size_t n_tasks, space_tasks;
	struct leat_associate_pid *pids; /* owned */
	size_t n_pids, space_pids;
	struct leat_associate_entry *by_key;                     /* uthash of tasks */
	struct leat_associate_name *names[LEAT_ASSOCIATE_NAMES]; /* owned */
	struct leat_associate_image *images;                     /* owned */
	size_t n_images, space_images;
	struct leat_associate_touch *touches; /* owned */
	size_t n_touches, space_touches;
	struct leat_associate_process *processes; /* owned */
	struct {
		uint64_t key;
		struct leat_associate_process *process;
	} cache[LEAT_ASSOCIATE_CACHE];
	struct leat_associate_cgroup *cgroups; /* owned; by node and id */
	struct leat_associate_cgroup **cgroup; /* owned, by index; borrowed each */
	size_t n_cgroups, space_cgroups;
	struct leat_associate_mount *mounts; /* owned */
	size_t n_mounts, space_mounts;
	struct leat_associate_word *words; /* owned: programs */
	const char **word;                 /* owned, by number; borrowed each */
	size_t n_words, space_words;
	char **hosts; /* owned; by node; NULL unknown */
	size_t n_hosts;
	int64_t first_ns; /* of the trace; INT64_MAX none */
	int64_t last_ns;  /* INT64_MIN none */
	unsigned n_nodes;
	bool *reported; /* owned; by two logs: that nothing shows which is the trace's */
	bool partial;
	bool failed; /* out of memory while a log was read */
};

/* Let an array have space for one more of `size` bytes each. 0 or -ENOMEM. */
int leat_associate_grow(void *array, size_t n, size_t *space, size_t size);

/* Say something of the line of a log that is being read; of the first few malformed ones. */
void leat_associate_complain(struct leat_associate_map *m, struct leat_associate_source *source,
			     const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Say something of the whole. */
void leat_associate_note(struct leat_associate_map *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- tasks: tasks.c ---- */

/* The task of that manager, workflow and identity; made, with `logical` and `physical`, if there is
 * none. NULL: out of memory. All texts are copied. */
struct leat_associate_entry *leat_associate_entry(struct leat_associate_map *m, size_t source,
						  const char *manager, const char *workflow,
						  const char *identity, const char *logical,
						  const char *physical);
struct leat_associate_entry *leat_associate_entry_find(struct leat_associate_map *m,
						       const char *manager, const char *workflow,
						       const char *identity);
/* The same task as a later log tells of it, of which `first` is what the first one tells. NULL: out
 * of memory. */
struct leat_associate_entry *leat_associate_entry_rival(struct leat_associate_map *m,
							struct leat_associate_entry *first,
							size_t source);
/* Replace a string of a task. 0 or -ENOMEM. */
int leat_associate_entry_set(const char **field, const char *text);

/* That text leads to the task; of those of one log the last that was told stands. 0 or -ENOMEM. */
int leat_associate_name_add(struct leat_associate_map *m, enum leat_associate_name_kind kind,
			    const char *text, size_t task);
/* The name, of the log that was read first; NULL. `length` bytes of `text`. */
const struct leat_associate_name *leat_associate_name_of(const struct leat_associate_map *m,
							 enum leat_associate_name_kind kind,
							 const char *text, size_t length);
/* LEAT_ASSOCIATE_NONE: it leads nowhere. `length` bytes of `text`. */
size_t leat_associate_name_find(const struct leat_associate_map *m,
				enum leat_associate_name_kind kind, const char *text,
				size_t length);

/* A process of the task, at the time when the task ran. 0 or -ENOMEM. */
int leat_associate_pid_add(struct leat_associate_map *m, size_t task, int32_t pid);

/* Length of the path without slashes at its end. */
size_t leat_associate_path_length(const char *path);
/* A work directory: by its path and, where its name ends in Nextflow's hash, by that. */
int leat_associate_dir_add(struct leat_associate_map *m, const char *dir, size_t task);
/* The task that has it, or LEAT_ASSOCIATE_NONE; `length` bytes. */
size_t leat_associate_dir_find(const struct leat_associate_map *m, const char *dir, size_t length);
/* The same in all logs; NULL. */
const struct leat_associate_name *leat_associate_dir_of(const struct leat_associate_map *m,
							const char *dir, size_t length);
/* Does `dir` end in "ab/cdef01..." with 32 hexadecimal digits? Then its short form is put. */
bool leat_associate_dir_hash(const char *dir, size_t length, char hash[10]);

/* ---- claims: claims.c ---- */

/* What a path says of who opened it so. */
int leat_associate_claim_call(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_call *call);
int leat_associate_claim_exec(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_process *p);
/* ---- labels: environment.c, labels.c ---- */

struct leat_associate_label {
	const char *name, *value; /* borrowed from the environment's text */
};

struct leat_associate_environment {
	struct leat_associate_label *v; /* owned */
	size_t n, space;
	char *text; /* owned */
};

/* From KEY=VALUE words as a trace has them; words that are not as they should be are left out. 0 or
 * -ENOMEM; to be released either way. */
int leat_associate_environment_init(struct leat_associate_environment *env, const char *labels);
void leat_associate_environment_release(struct leat_associate_environment *env);
/* The value of a variable of the environment; NULL: it is not there. */
const char *leat_associate_variable(const struct leat_associate_environment *env, const char *name);
/* Of the one or, if that is not there, of the other. */
const char *leat_associate_either(const struct leat_associate_environment *env, const char *name,
				  const char *other);
/* A task, and a job step of Slurm, by the words of an environment; LEAT_ASSOCIATE_NONE. 0 or
 * -ENOMEM. */
int leat_associate_labels(struct leat_associate_map *m, const char *labels, size_t *task,
			  size_t *slurm);

/* ---- cgroups: cgroup.c ---- */

/* The task that is a job step, of a fallback. NULL: out of memory. */
struct leat_associate_entry *leat_associate_slurm_entry(struct leat_associate_map *m,
							const char *job, const char *step,
							const char *name);
/* The cgroup of that node and id; NULL out of memory. */
struct leat_associate_cgroup *leat_associate_cgroup_of(struct leat_associate_map *m, unsigned node,
						       uint64_t id);
int leat_associate_cgroup_name(struct leat_associate_map *m, unsigned node,
			       const struct leat_trace_cgroup *g);
/* "123" and "123.batch" of Slurm's paths. */
bool leat_associate_slurm_path(const char *path, char job[32], char step[32]);
/* Which are one task's alone. */
void leat_associate_cgroups_resolve(struct leat_associate_map *m);

/* ---- clocks: clock.c ---- */

/* Find the zone of each log, and what it is ahead of each node, so that most tasks ran when their
 * files were touched; and the tasks' times by that. 0 or -ENOMEM. */
int leat_associate_clocks_resolve(struct leat_associate_map *m);
/* Say of the logs that are not refused how far their clocks are off. */
void leat_associate_clocks_note(struct leat_associate_map *m);
/* What the clocks of a log and a node may differ by, zones aside. */
int64_t leat_associate_most_ns(const struct leat_associate_map *m);
/* A time of that log, since the epoch; of one that has no zone by its zone. */
int64_t leat_associate_source_ns(const struct leat_associate_map *m,
				 const struct leat_associate_source *s,
				 const struct leat_associate_stamp *stamp);
/* How far `time_ns` of the node is from the task's time by its log; 0: it ran then. */
int64_t leat_associate_distance_ns(const struct leat_associate_map *m, size_t task, unsigned node,
				   int64_t time_ns);
/* Did the task run at that time of the node, give or take the slack? Unknown ends are open, and so
 * are times that are not known (INT64_MIN). */
bool leat_associate_in_window(const struct leat_associate_map *m, size_t task, unsigned node,
			      int64_t time_ns);
/* What its log's clock is ahead of the node's. */
int64_t leat_associate_ahead_ns(const struct leat_associate_map *m, size_t task, unsigned node);

/* ---- which log is the trace's: rivals.c ---- */

/* Refuse logs that are of another day or run, as is said: when the clocks are resolved. */
void leat_associate_refuse(struct leat_associate_map *m);
/* What the image's touches say by the log that is the trace's. False: nothing; *reason is why. */
bool leat_associate_touch_of(struct leat_associate_map *m, const struct leat_associate_image *l,
			     struct leat_associate_touch *found,
			     enum leat_associate_reason *reason);
/* The task of the label, by the log that is the trace's. LEAT_ASSOCIATE_NONE: nothing shows which
 * is. */
size_t leat_associate_label_of(struct leat_associate_map *m, const struct leat_associate_image *l);

/* ---- logs: formats.c, lines.c, log.c, and one for each format ---- */

/* Airflow's name of one try of a task. NULL: out of memory. */
struct leat_associate_entry *leat_associate_airflow_entry(struct leat_associate_map *m,
							  size_t source, const char *dag,
							  const char *run, const char *task,
							  int map_index, int try_number);

/* Each line of the log `in` to `take`, without its end, escape sequences of terminals and what
 * docker compose puts before it; it may be written to. 0, -errno of reading, or the first that
 * `take` returns. */
int leat_associate_lines(struct leat_associate_source *s, FILE *in,
			 int (*take)(void *reader, char *line), void *reader);

#endif
