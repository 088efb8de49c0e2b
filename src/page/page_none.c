/* In place of page.c where leat is built without D3 (-Dpages=disabled). */
#include "page/page.h"

#include <errno.h>

bool leat_page_possible(void)
{
	return false;
}

int leat_page_write(const char *frame, const struct leat_page_part *parts, size_t n, FILE *out)
{
	(void)frame;
	(void)parts;
	(void)n;
	(void)out;
	return -ENOTSUP;
}
