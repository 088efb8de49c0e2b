/* Tables of descriptors that are not those of one process. */
#ifndef LEAT_PRELOAD_HOOKS_UNSHARE_H
#define LEAT_PRELOAD_HOOKS_UNSHARE_H

#include <stdbool.h>

/* May `call` give the calling thread descriptors of its own? Not if there are other threads: what
 * libleat knows of a number it knows for the process. False: that is reported, and the call is to
 * fail with -EPERM. */
bool leat_unshare_allows(const char *call);

#endif
