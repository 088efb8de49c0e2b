/* Architectures without a patcher: the wrappers are the only mode. */
#include <errno.h>

#include "preload/intercept.h"

int leat_patch_libc(const char *kept_in)
{
	(void)kept_in;
	return -ENOSYS;
}
