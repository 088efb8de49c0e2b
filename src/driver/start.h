/* What a step is started as: the command line, with a container, a mount and an MPI launcher before
 * it where it needs them, and its environment. */
#ifndef LEAT_DRIVER_START_H
#define LEAT_DRIVER_START_H

#include "driver/engine.h"
#include "driver/driver.h"
#include "driver/environment.h"

struct leat_start {
	const char *program;    /* to be executed; borrowed */
	char *const *argv;      /* one of the following */
	char *dir;              /* owned; of an instance it may have to be made */
	char **own;             /* owned: the program's arguments, */
	struct leat_argv boxed; /* the same in a container; without words: in none */
	char **mounted;         /* the same behind a mount; owned, its words borrowed; NULL: none */
	char **job;             /* and under the MPI launcher; the same */
	char number[16];
};

/* For a launch of the step for `file`; NULL: for the only one there is. 0 or -errno; then too
 * leat_start_release is due. */
int leat_start_init(struct leat_start *s, const struct leat_driver_config *config, size_t step,
		    const char *file);
void leat_start_release(struct leat_start *s);

/* Does the step run in a container? */
bool leat_start_is_boxed(const struct leat_driver_config *config, size_t step);

/* Does the step see its files through a mount? */
bool leat_start_is_mounted(const struct leat_driver_config *config, size_t step);

/* Its environment; `key` (base/confine.h) is borrowed, and left out unless it is needed. */
struct leat_environment_spec leat_start_environment(const struct leat_driver_config *config,
						    size_t step, const char *key);

#endif
