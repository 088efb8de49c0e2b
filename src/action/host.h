/* The process that calls the actions of one rank of a step. */
#ifndef LEAT_ACTION_HOST_H
#define LEAT_ACTION_HOST_H

#include "leat/action.h"

#include <stdint.h>

/* A descriptor of the process: messages ACT come from there, ACTED go back (wire/wire.h). */
#define LEAT_ACTION_FD 3

struct leat_action {
	int fd; /* -1: none, it is only looked whether the actions can be loaded */
	int32_t step;
	uint32_t rank;
	struct {
		leat_action_callback *fn;
		void *data;
	} on[LEAT_ACTION_AFTER_EXIT + 1];
	unsigned closes;
	bool served; /* by the callback that runs */
	char why[512];
};

/* Of libleat-python.so: run `file`, and take `function` from it, which leat_python_setup calls. 0,
 * or -1 after leat_action_fail. */
typedef int leat_python_loader(struct leat_action *action, const char *file, const char *function);

#endif
