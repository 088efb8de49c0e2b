/* The screen of leat top. One thread. Source: curses(3), by ncurses. */
#ifndef LEAT_CLI_TOP_SCREEN_H
#define LEAT_CLI_TOP_SCREEN_H

#include "control/snapshot.h"

enum leat_top_key {
	LEAT_TOP_NONE, /* no key is there */
	LEAT_TOP_QUIT,
	LEAT_TOP_MOVED, /* to be drawn anew */
	LEAT_TOP_SORT,  /* by another key */
};

/* What the user has chosen. */
struct leat_top_view {
	size_t first; /* line below the head that is at the top */
	enum leat_snapshot_key key;
	bool reverse;
	char message[160]; /* in place of the keys; "": none */
};

/* Take the terminal over. 0, -ENOTTY: it cannot be used so, or -ENOTSUP: leat was built without
 * ncurses. */
int leat_screen_open(void);
/* Give it back as it was. More than once is allowed. */
void leat_screen_close(void);

void leat_screen_draw(const struct leat_snapshot_lines *lines, struct leat_top_view *view);

/* Take one key that is there. */
enum leat_top_key leat_screen_key(struct leat_top_view *view);

#endif
