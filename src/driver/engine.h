/* The command lines of container engines: one program, in one image, in one way, whatever the
 * engine ([ADR 0069](docs/adr/0069-containers-one-way.md)). */
#ifndef LEAT_DRIVER_ENGINE_H
#define LEAT_DRIVER_ENGINE_H

#include "base/argv.h"
#include "model/container.h"

#include <stdbool.h>
#include <sys/types.h>

struct leat_engine_facts {
	enum leat_engine engine;        /* not LEAT_ENGINE_AUTO */
	const struct leat_image *image; /* its path is absolute */
	const char *bound; /* the workflow's directory, absolute: is there at the same path */
	const char *dir;   /* the working directory, in or below it */
	uid_t uid;
	gid_t gid;
	mode_t umask;
	char *const *variables; /* "NAME=value": all of the environment but what the image sets */
	char *const *command; /* the program, by its name or path in the container, and its words */
};

/* The engine's command line into *argv, which is new and the caller's to release. 0; -EINVAL with
 * *why, a constant that follows the engine's name, if it cannot do that; or -errno of looking into
 * the image directory. */
int leat_engine_argv(const struct leat_engine_facts *facts, struct leat_argv *argv,
		     const char **why);

/* Does the program in a container get this variable, "NAME=value", of its step's environment? */
bool leat_engine_passes(const char *variable);

/* Bubblewrap's words that make `image`, a directory, the read-only root, with a place for each of
 * `places`, absolute paths, also where the image has none; NULL ends them. `after` are those that
 * have to follow when all is mounted. 0 or -errno. */
int leat_engine_root(const char *image, const char *const *places, struct leat_argv *argv,
		     struct leat_argv *after);

/* Is there a directory for `path`, absolute, in the image directory, without symbolic links? */
bool leat_engine_has_mount_point(const char *image, const char *path);

#endif
