/* From a workflow file to the model.
 *
 * Three syntaxes are read: CAPIO-CL JSON as published in 2023 and in 2025, and
 * leat YAML. Which one a file is in is told from its content, not its name.
 * All problems found in one run are in one list of diagnostics, with positions
 * and stable codes (lang/syntax/diagnostics.h); a syntax error ends the run.
 * Sources: CAPIO (2023) Sec. IV-B, CAPIO-CL (2025) Sec. 4, docs/reference/language.md. */
#ifndef LEAT_LANG_LANG_H
#define LEAT_LANG_LANG_H

#include "base/diag.h"
#include "model/workflow.h"

#include <stddef.h>

/* Read the file `path` and return its model, which the caller frees; NULL if
 * there is an error (or no memory).
 *
 * `*diags` is set to a new list which the caller frees, with or without errors;
 * only when out of memory it is NULL. The list owns the source texts, so that it
 * can be printed after the model is gone, and the model does not need the list.
 *
 * Absolute paths in the file are compared with the workflow's directory as
 * leat_lang_dir(wf, NULL) tells it. Any thread. */
struct leat_workflow *leat_lang_load(const char *path, struct leat_diags **diags);

/* The same, with the workflow's directory given (by the command line); NULL as above. */
struct leat_workflow *leat_lang_load_in(const char *path, const char *dir,
					struct leat_diags **diags);

/* The same from memory: `text` of `size` bytes is copied and need not end with
 * NUL; `path` is used in messages and to find the files that the text names. */
struct leat_workflow *leat_lang_parse(const char *text, size_t size, const char *path,
				      const char *dir, struct leat_diags **diags);

#endif
