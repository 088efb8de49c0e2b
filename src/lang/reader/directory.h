/* Which directory is the workflow's. */
#ifndef LEAT_LANG_READER_DIRECTORY_H
#define LEAT_LANG_READER_DIRECTORY_H

#include "model/workflow.h"

/* The absolute path of the workflow's directory, not resolved and perhaps not
 * there: `given` if not NULL, else $LEAT_DIR, $CAPIO_DIR, the file's own `dir`
 * (relative to the file), the current directory. `wf` may be NULL. The caller
 * frees it; NULL with errno set on failure. Any thread. */
char *leat_lang_dir(const struct leat_workflow *wf, const char *given);

#endif
