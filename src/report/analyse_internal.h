/* Between the files of the analysis: how things are found. */
#ifndef LEAT_REPORT_ANALYSE_INTERNAL_H
#define LEAT_REPORT_ANALYSE_INTERNAL_H

#include "report/analyse.h"
#include "report/table.h"

/* An open file description. */
struct leat_report_handle {
	uint32_t file;
	uint32_t task, edge; /* who used it last; UINT32_MAX: nobody */
	bool placed;         /* is `at` known? */
	uint64_t at;         /* where its last call ended */
};

struct leat_mounted {
	char *at, *type; /* owned */
	size_t length;   /* of `at` */
	unsigned node;
};

struct leat_analysis_tables {
	struct leat_table tasks, inodes, paths, handles, edges;
	/* Space in the arrays of the analysis. */
	uint32_t task_capacity, file_capacity, edge_capacity, system_capacity, node_capacity;
	struct leat_report_handle *handle; /* owned */
	uint32_t handle_capacity;
	uint32_t *free_handles; /* owned; of handle_capacity */
	uint32_t n_free;
	struct leat_mounted *mounts; /* owned */
	uint32_t n_mounts, mount_capacity;
};

/* Space for one more of an array. 0 or -ENOMEM. */
int leat_analysis_grow(void *array, uint32_t n, uint32_t *capacity, size_t size);

/* The node's metrics; its number is at most that of a reader's traces. NULL: out of memory. */
struct leat_report_node *leat_analysis_node(struct leat_analysis *a, unsigned node);

/* The file that a call is about, made if there is none; *handle: what it was opened as, NULL: the
 * call names no handle. Valid until the next. 0 or -ENOMEM. */
int leat_analysis_find_file(struct leat_analysis *a, unsigned node,
			    const struct leat_trace_call *call, uint32_t *file,
			    struct leat_report_handle **handle);

/* A number of a node's trace. */
struct leat_number_key {
	uint64_t number;
	uint64_t node;
};

/* A handle of the file, in place of the oldest if there are too many. 0 or -ENOMEM. */
int leat_analysis_make_handle(struct leat_analysis *a, const struct leat_number_key *key,
			      uint32_t file, struct leat_report_handle **handle);

/* The handle is no more. */
void leat_analysis_close(struct leat_analysis *a, unsigned node, uint64_t handle);

/* A name was taken away, or given to another file. 0 or -ENOMEM. */
int leat_analysis_unlink(struct leat_analysis *a, unsigned node,
			 const struct leat_trace_call *call);
int leat_analysis_rename(struct leat_analysis *a, unsigned node,
			 const struct leat_trace_call *call);

/* The edge of a task and a file, made if there is none; the file is another one if it has no space
 * for the edge. 0 or -ENOMEM. */
int leat_analysis_find_edge(struct leat_analysis *a, uint32_t task, uint32_t file, uint32_t *edge);

/* The file system of a path. 0 or -ENOMEM. */
int leat_analysis_find_system(struct leat_analysis *a, unsigned node, const char *path,
			      uint32_t *system, bool *shared);

#endif
