/* Why a text is not JSON. */
#ifndef LEAT_LANG_SYNTAX_JSON_H
#define LEAT_LANG_SYNTAX_JSON_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/* Add the error that explains why `text`, which libfyaml has refused, is not
 * JSON. False if this function finds nothing wrong with it. */
bool leat_json_explain(const char *text, size_t size, int file, struct leat_diags *diags);

#endif
