/* From a workload file (YAML or JSON) to the model. Its syntax is described in leat-simulate(1). */
#ifndef LEAT_LANG_RESOURCES_WORKLOAD_H
#define LEAT_LANG_RESOURCES_WORKLOAD_H

#include "base/diag.h"
#include "model/workload.h"

/* Read the file `path`; the caller frees what it returns. NULL if there is an error (or no memory).
 * `*diags` is set as by leat_lang_load(). Any thread. */
struct leat_workload *leat_workload_load(const char *path, struct leat_diags **diags);

/* The same from memory: `text` of `size` bytes is copied; `path` is used in messages. */
struct leat_workload *leat_workload_parse(const char *text, size_t size, const char *path,
					  struct leat_diags **diags);

#endif
