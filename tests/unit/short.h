/* How long a unit test is: `make unit` plays the short ones (LEAT_TEST_SHORT, unit_bounds in
 * meson.build), `make check` all. */
#ifndef LEAT_TESTS_SHORT_H
#define LEAT_TESTS_SHORT_H

#include <stdlib.h>

static unsigned short_or_full(unsigned in_short, unsigned in_full)
{
	return getenv("LEAT_TEST_SHORT") ? in_short : in_full;
}

#endif
