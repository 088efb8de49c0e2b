/* In place of top_screen.c where leat is built without ncurses (-Dtui=disabled). */
#include "cli/top_screen.h"

#include <errno.h>

int leat_screen_open(void)
{
	return -ENOTSUP;
}

void leat_screen_close(void)
{
}

void leat_screen_draw(const struct leat_snapshot_lines *lines, struct leat_top_view *view)
{
	(void)lines;
	(void)view;
}

enum leat_top_key leat_screen_key(struct leat_top_view *view)
{
	(void)view;
	return LEAT_TOP_QUIT;
}
