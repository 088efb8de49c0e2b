/* Versions of one file: each time its producer makes it anew, under flow control. A version is a
 * file by itself, with a name of its own; the first has the name itself. Whatever governs the name
 * governs its versions. Source: docs/explanation/versions.md. */
#ifndef LEAT_MODEL_VERSION_H
#define LEAT_MODEL_VERSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Where all but the first are; nobody sees this directory. */
#define LEAT_VERSIONS_DIR ".leat.versions"

/* The name of version `number` (from 1) of `base`. False: too long. */
bool leat_version_put(char out[PATH_MAX], const char *base, uint64_t number);

/* What `name` is a version of, within it: `name` itself if it is the first; *number which one. */
const char *leat_version_base(const char *name, uint64_t *number);

enum { LEAT_VERSION_TITLE = PATH_MAX + 32 };

/* How a person is told of it: `name` itself, or, in `out`, "x (version 2)". */
const char *leat_version_title(const char *name, char out[LEAT_VERSION_TITLE]);

#endif
