/* From a resources file to the model: leat's own YAML (or JSON), with "resources" at the top, and
 * the resources XML of COMPSs. Which one it is in is told from its content. */
#ifndef LEAT_LANG_RESOURCES_RESOURCES_H
#define LEAT_LANG_RESOURCES_RESOURCES_H

#include "base/diag.h"
#include "model/resources.h"

#include <stddef.h>

/* Read the file `path` and return what it describes, which the caller frees; it has at least one
 * host. NULL if there is an error (or no memory). `*diags` is set as by leat_lang_load(). Any
 * thread. */
struct leat_resources *leat_resources_load(const char *path, struct leat_diags **diags);

/* The same from memory: `text` of `size` bytes is copied; `path` is used in messages. */
struct leat_resources *leat_resources_parse(const char *text, size_t size, const char *path,
					    struct leat_diags **diags);

#endif
