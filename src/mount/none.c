/* In place of the rest of this layer where leat is built without libfuse (-Dfuse=disabled). */
#include "base/log.h"
#include "mount/mount.h"

enum { OWN_FAILURE = 125 };

bool leat_mount_possible(bool ranged, const char **why)
{
	(void)ranged;
	*why = "leat was built without FUSE";
	return false;
}

bool leat_mount_is_ranged(const char *program, char *const argv[])
{
	(void)program;
	(void)argv;
	return false;
}

int leat_mount_exec(const struct leat_mount_spec *spec)
{
	leat_error("%s cannot be put behind a mount: leat was built without FUSE", spec->program);
	return OWN_FAILURE;
}
