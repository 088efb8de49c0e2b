/* What a step prints, kept until it is known how it ends: of a failed one it stays on disk. */
#ifndef LEAT_DRIVER_KEPT_H
#define LEAT_DRIVER_KEPT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Of more than this the beginning and the end are kept. */
enum { LEAT_KEPT_HEAD_BYTES = 32 << 10, LEAT_KEPT_BYTES = 160 << 10 };

/* Zero is empty. */
struct leat_kept {
	char *v; /* owned; behind the head a ring */
	size_t capacity;
	uint64_t total_bytes; /* printed */
};

/* What does not fit into memory is not kept. */
void leat_kept_add(struct leat_kept *k, const char *data, size_t n);
void leat_kept_release(struct leat_kept *k);

/* The file of a failed step's output, in the place that belongs to the workflow's directory
 * (resume/state_dir.h). */
void leat_kept_name(const char *workflow, const char *step, char out[NAME_MAX + 1]);
/* Write it anew. 0 or -errno. */
int leat_kept_save(const struct leat_kept *k, int dir_fd, const char *name);

#endif
