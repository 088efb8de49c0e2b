/* Architectures without a patcher: the wrappers are the only mode. */
#include <errno.h>

#include <sys/syscall.h>

#include "preload/core/engine.h"
#include "preload/core/intercept.h"

int leat_patch_libc(const char *kept_in, struct leat_unseen *unseen)
{
	(void)kept_in;
	(void)unseen;
	return -ENOSYS;
}

uintptr_t leat_caller(const struct leat_syscall *c)
{
	(void)c;
	return 0;
}

long leat_code_map(const struct leat_syscall *c)
{
	return leat_as_is(c);
}
