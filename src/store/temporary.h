/* Names that leat gives to files it has not finished writing. */
#ifndef LEAT_STORE_TEMPORARY_H
#define LEAT_STORE_TEMPORARY_H

#include <stdbool.h>

#define LEAT_TEMPORARY_PREFIX ".leat-"

/* True for such a name; directory listings leave it out. */
bool leat_is_temporary_name(const char *name);

#endif
