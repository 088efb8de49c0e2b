#include "cli/nested.h"

#include "base/log.h"
#include "cli/command.h"
#include "driver/mounted.h"
#include "mount/mount.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *step_name(void)
{
	const char *name = getenv("LEAT_APP_NAME");

	return name && *name ? name : getenv("CAPIO_APP_NAME");
}

/* Is the library in this process for a trace alone? Its step is one on plain files then. */
static bool is_only_traced(void)
{
	const char *only = getenv("LEAT_TRACE_BUFFER_ONLY");

	return only && *only;
}

bool leat_cli_is_nested(void)
{
	const char *preload = getenv("LD_PRELOAD"), *step = step_name();

	return step && *step && preload && strstr(preload, "libleat") && !is_only_traced();
}

int leat_cli_nest(char **argv)
{
	const char *command = getenv(LEAT_MOUNT_VARIABLE), *why = "";
	char *self = realpath("/proc/self/exe", NULL), **v = NULL;

	if (command && *command && self)
		v = leat_mounted_argv(command, self, argv);
	if (v) {
		execv(command, v);
		leat_error("cannot execute %s: %s", command, strerror(errno));
	} else if (!leat_mount_possible(false, &why)) {
		leat_error("leat %s within step %s of another run needs a mount to see its files, "
			   "and cannot have one here: %s; give the step `staged: true`, or make "
			   "its steps those of one workflow",
			   argv[1], step_name(), why);
	} else {
		leat_error("leat %s within step %s of another run needs a mount to see its files; "
			   "set " LEAT_MOUNT_VARIABLE " to the path of leat",
			   argv[1], step_name());
	}
	free(v);
	free(self);
	return LEAT_EXIT_SELF;
}

static bool is_mount_of(const struct mntent *m, const char *dir)
{
	return !strcmp(m->mnt_type, "fuse.leat") && !strcmp(m->mnt_dir, dir);
}

bool leat_cli_is_taken(const char *dir)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool taken = false;

	while (mounts && !taken && (m = getmntent(mounts)))
		taken = is_mount_of(m, dir);
	if (mounts)
		endmntent(mounts);
	if (taken)
		leat_error("%s is the directory of the run of which this is a step: give this one "
			   "a directory of its own with --dir, or make its steps those of one "
			   "workflow",
			   dir);
	return taken;
}
