/* Where leat keeps what it knows of a workflow's directory from one run to the next: the record,
 * and what failed steps have printed. Not in that directory, where steps would find it
 * (docs/adr/0080). Any thread. */
#ifndef LEAT_RESUME_STATE_DIR_H
#define LEAT_RESUME_STATE_DIR_H

#include <stdbool.h>

/* Open the place that belongs to the directory `dir` (a real path), and, with `make`, make it where
 * it is not. The directory's descriptor; -ENOENT if there is none and none is to be made; other
 * -errno. *path, which the caller frees, is its name, also of one that could not be had; NULL when
 * out of memory. */
int leat_state_dir_open(const char *dir, bool make, char **path);
/* Why it could not be, for people; `error` is positive. */
const char *leat_state_dir_error(int error);

#endif
