/* A shared segment of the test's own, for cmocka's setup and teardown. */
#ifndef LEAT_TESTS_SEGMENT_H
#define LEAT_TESTS_SEGMENT_H

#include "shm/state.h"

#include <unistd.h>

static struct leat_shm *shm;
static int shm_fd;

static int setup(void **state)
{
	(void)state;
	return leat_shm_create(&shm_fd, &shm);
}

static int teardown(void **state)
{
	(void)state;
	leat_shm_unmap(shm);
	return close(shm_fd);
}

#endif
