#include "cli/top_screen.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum { PAIR_WAITS = 1, PAIR_FAILED, PAIR_OVER };

static SCREEN *screen;

int leat_screen_open(void)
{
	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	set_term(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	if (!getenv("NO_COLOR") && has_colors() && start_color() == OK) {
		use_default_colors();
		init_pair(PAIR_WAITS, COLOR_YELLOW, -1);
		init_pair(PAIR_FAILED, COLOR_RED, -1);
		init_pair(PAIR_OVER, COLOR_GREEN, -1);
	}
	return 0;
}

void leat_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static attr_t look_of(enum leat_snapshot_kind kind)
{
	switch (kind) {
	case LEAT_LINE_TITLE:
		return A_BOLD;
	case LEAT_LINE_HEADING:
		return A_REVERSE;
	case LEAT_LINE_WAITS:
		return (attr_t)COLOR_PAIR(PAIR_WAITS);
	case LEAT_LINE_FAILED:
		return (attr_t)COLOR_PAIR(PAIR_FAILED) | A_BOLD;
	case LEAT_LINE_OVER:
		return (attr_t)COLOR_PAIR(PAIR_OVER);
	case LEAT_LINE_PLAIN:
		break;
	}
	return A_NORMAL;
}

/* So many bytes of the text fit into `columns`. What is no character of the locale is taken for one
 * column. */
static int count_fitting_bytes(const char *text, int columns)
{
	const char *at = text;
	mbstate_t state = {0};

	while (*at) {
		wchar_t c;
		size_t n = mbrtowc(&c, at, MB_CUR_MAX, &state);
		int width = n < (size_t)-2 ? wcwidth(c) : 1;

		if (n >= (size_t)-2) {
			n = 1;
			state = (mbstate_t){0};
		}
		columns -= width > 0 ? width : 0;
		if (columns < 0)
			break;
		at += n;
	}
	return (int)(at - text);
}

static void draw_line(int row, const struct leat_snapshot_line *line)
{
	attr_t look = look_of(line->kind);

	move(row, 0);
	attron(look);
	addnstr(line->text, count_fitting_bytes(line->text, COLS - 1));
	/* A heading goes over the whole width. */
	if (line->kind == LEAT_LINE_HEADING)
		for (int x = getcurx(stdscr); getcury(stdscr) == row && x < COLS - 1; x++)
			addch(' ');
	attroff(look);
}

/* The last line: which lines are seen, and the keys. */
static void draw_foot(const struct leat_top_view *view, size_t n, size_t shown)
{
	static const char *const keys[] = {
		[LEAT_SORT_ORDER] = "order", [LEAT_SORT_NAME] = "name",
		[LEAT_SORT_WALL] = "wall",   [LEAT_SORT_WAITING] = "waiting",
		[LEAT_SORT_CPU] = "CPU",     [LEAT_SORT_IN] = "in",
		[LEAT_SORT_OUT] = "out"};
	char text[400];

	if (*view->message)
		snprintf(text, sizeof(text), "%s", view->message);
	else
		snprintf(
			text, sizeof(text),
			"%zu-%zu of %zu  q quit  arrows scroll  sorted by %s%s: o order, n name, w "
			"wall, a waiting, c CPU, i in, u out, r reverse",
			n ? view->first + 1 : 0, view->first + shown, n, keys[view->key],
			view->reverse ? " reversed" : "");
	attron(*view->message ? A_BOLD : A_DIM);
	mvaddnstr(LINES - 1, 0, text, COLS - 1);
	attroff(*view->message ? A_BOLD : A_DIM);
}

void leat_screen_draw(const struct leat_snapshot_lines *lines, struct leat_top_view *view)
{
	size_t head = lines->n_head, n = lines->n - head;
	size_t space = LINES > (int)head + 1 ? (size_t)LINES - head - 1 : 0;
	size_t last = n > space ? n - space : 0, shown = n < space ? n : space;

	if (view->first > last)
		view->first = last;
	erase();
	for (size_t i = 0; i < head && (int)i < LINES - 1; i++)
		draw_line((int)i, &lines->v[i]);
	for (size_t i = 0; i < shown; i++)
		draw_line((int)(head + i), &lines->v[head + view->first + i]);
	draw_foot(view, n, shown);
	refresh();
}

static bool sort_key(int c, enum leat_snapshot_key *key)
{
	static const struct {
		int c;
		enum leat_snapshot_key key;
	} keys[] = {{'o', LEAT_SORT_ORDER},   {'n', LEAT_SORT_NAME}, {'w', LEAT_SORT_WALL},
		    {'a', LEAT_SORT_WAITING}, {'c', LEAT_SORT_CPU},  {'i', LEAT_SORT_IN},
		    {'u', LEAT_SORT_OUT}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].c == c) {
			*key = keys[i].key;
			return true;
		}
	return false;
}

static void scroll_by(struct leat_top_view *view, long lines)
{
	if (lines < 0 && view->first < (size_t)-lines)
		view->first = 0;
	else
		view->first += (size_t)lines; /* drawing knows the end */
}

static enum leat_top_key handle_key(int c, struct leat_top_view *view)
{
	switch (c) {
	case 'q':
	case 'Q':
		return LEAT_TOP_QUIT;
	case 'r':
		view->reverse = !view->reverse;
		return LEAT_TOP_SORT;
	case KEY_UP:
	case 'k':
		scroll_by(view, -1);
		break;
	case KEY_DOWN:
	case 'j':
		scroll_by(view, 1);
		break;
	case KEY_PPAGE:
		scroll_by(view, -LINES / 2);
		break;
	case KEY_NPAGE:
	case ' ':
		scroll_by(view, LINES / 2);
		break;
	case KEY_HOME:
		view->first = 0;
		break;
	case KEY_END:
		view->first = SIZE_MAX / 2;
		break;
	default:
		return sort_key(c, &view->key) ? LEAT_TOP_SORT : LEAT_TOP_MOVED;
	}
	return LEAT_TOP_MOVED;
}

enum leat_top_key leat_screen_key(struct leat_top_view *view)
{
	int c = getch();

	return c == ERR ? LEAT_TOP_NONE : handle_key(c, view);
}
