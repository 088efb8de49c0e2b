#include "cli/preview.h"

#include "base/log.h"
#include "cli/command.h"
#include "daemon/daemon.h"
#include "control/control.h"
#include "driver/preview.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the daemon of a run would find, which takes the lock of the directory. */
static bool is_in_use(const char *runtime_dir, const char *dir)
{
	struct leat_control *control = NULL;

	int result = leat_control_open(runtime_dir, dir, "", LEAT_CONTROL, &control);

	if (result == 0)
		leat_control_close(control);
	else if (result != -EPROTO) /* of another version of leat */
		return false;
	leat_error("another leat run is using %s: wait for its end, or stop it", dir);
	return true;
}

/* May a file be written there? 0 or -errno. */
static int try_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	char *copy;
	int result;

	if (fd >= 0)
		return close(fd) < 0 ? -errno : 0;
	if (errno != ENOENT)
		return -errno;
	copy = strdup(path);
	result = !copy ? -ENOMEM : access(dirname(copy), W_OK | X_OK) < 0 ? -errno : 0;
	free(copy);
	return result;
}

/* Can what the options name be written? */
static bool can_write(const struct leat_args *args)
{
	const char *report = leat_args_text(args, "report"), *log = leat_args_text(args, "log");
	const char *spill = leat_args_text(args, "spill-dir");
	bool streamed = !leat_args_flag(args, "plain");
	int result = report ? try_write(report) : 0;

	if (result)
		leat_error("cannot write the report %s: %s", report, strerror(-result));
	else if (streamed && log && (result = try_write(log)))
		leat_error("cannot write the event log %s: %s", log, strerror(-result));
	else if (streamed && spill && *spill && (result = access(spill, W_OK | X_OK)))
		leat_error("cannot use the spill directory %s: %s", spill, strerror(errno));
	return result == 0;
}

static int print(const struct leat_driver_config *config)
{
	int result = leat_driver_preview(config, stdout);

	if (!result)
		return LEAT_EXIT_OK;
	leat_error("cannot find out what would be started: %s", strerror(-result));
	return LEAT_EXIT_SELF;
}

int leat_cli_preview(const struct leat_args *args, const struct leat_cli_workflow *w,
		     struct leat_driver_config *config)
{
	char *library = NULL, *mount = NULL, *runtime_dir = NULL;
	int status = LEAT_EXIT_SELF;

	if (!can_write(args))
		return LEAT_EXIT_SELF;
	if (leat_args_flag(args, "plain"))
		return print(config);
	library = leat_cli_library();
	if (library && leat_cli_runtime_dir(args, &runtime_dir) &&
	    !is_in_use(runtime_dir, w->dir)) {
		mount = leat_cli_mount();
		config->library = library;
		config->mount_command = mount;
		config->runtime_dir = runtime_dir;
		status = print(config);
	}
	free(library);
	free(mount);
	free(runtime_dir);
	return status;
}
