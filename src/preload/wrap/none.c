/* libleat.so: libc's own functions, patched. Where that cannot be done the program is started once
 * more with libleat-wrap.so, so that the wrappers cost nothing in all other places. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/core/engine.h"
#include "preload/core/intercept.h"

#define PRELOAD "LD_PRELOAD="
#define ENDING ".so"
#define WRAP_ENDING "-wrap.so" /* of the other library's name */

const bool leat_has_wrappers = false;

void leat_wrappers_start(void)
{
}

/* Is there a file whose name are the `size` bytes at `name`? */
static bool is_present(const char *name, size_t size)
{
	char path[PATH_MAX];

	if (size >= sizeof path)
		return false;
	memcpy(path, name, size);
	path[size] = '\0';
	return leat_raw(SYS_faccessat, AT_FDCWD, (long)path, R_OK, 0, 0, 0) == 0;
}

/* `preload` ("LD_PRELOAD=...") with the other library, which must be there: without it the program
 * would come back here for ever. */
static int rename_library(const char *preload, char *buffer, size_t size)
{
	size_t length, head, tail;
	const char *own = leat_environment_library(preload + strlen(PRELOAD), &length);

	if (!own || length < strlen(ENDING) ||
	    memcmp(own + length - strlen(ENDING), ENDING, strlen(ENDING)) != 0)
		return -ENOENT;
	head = (size_t)(own - preload) + length - strlen(ENDING);
	tail = strlen(own + length) + 1;
	if (head + strlen(WRAP_ENDING) + tail > size)
		return -E2BIG;
	memcpy(buffer, preload, head);
	memcpy(buffer + head, WRAP_ENDING, strlen(WRAP_ENDING));
	memcpy(buffer + head + strlen(WRAP_ENDING), own + length, tail);
	length += strlen(WRAP_ENDING) - strlen(ENDING);
	return is_present(buffer + (own - preload), length) ? 0 : -ENOENT;
}

int leat_reexec_with_wrappers(char **envp)
{
	static char preload[2 * PATH_MAX];

	for (char **e = envp; *e; e++) {
		int error;

		if (strncmp(*e, PRELOAD, strlen(PRELOAD)) != 0)
			continue;
		error = rename_library(*e, preload, sizeof preload);
		if (error)
			return error;
		*e = preload;
		return leat_reexec(envp);
	}
	return -ENOENT;
}
