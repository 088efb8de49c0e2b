/* Architectures without a patcher: the wrappers are the only mode. */
#include <errno.h>

#include <sys/syscall.h>

#include "preload/core/call.h"
#include "preload/engine/patch.h"
#include "preload/engine/stub_x86_64.h"

int leat_patch_libc(const struct leat_stub_table *entries, const char *kept_in,
		    struct leat_unseen *unseen)
{
	(void)entries;
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
