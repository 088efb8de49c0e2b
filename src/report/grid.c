#include "report/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NAME_LEAST = 8 };

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

int leat_grid_length(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += begins_character(*text);
	return n;
}

void leat_grid_put_name(FILE *out, const char *text, int room, bool pad, bool utf8)
{
	const char *mark = utf8 ? "\xe2\x80\xa6" : "...";
	int length = leat_grid_length(text), leave = room - leat_grid_length(mark);

	if (length <= room) {
		fprintf(out, "%s%*s", text, pad ? room - length : 0, "");
		return;
	}
	for (; *text && (length > leave || !begins_character(*text)); text++)
		length -= begins_character(*text);
	/* Behind the first byte of the last character that was left out come others of it. */
	while (*text && !begins_character(*text))
		text++;
	fprintf(out, "%s%s", mark, text);
}

void leat_grid_row(struct leat_grid *g)
{
	if (g->n_rows == g->room && !g->failed) {
		size_t room = g->room ? 2 * g->room : 16;
		void *rows = reallocarray(g->rows, room, sizeof(*g->rows));

		if (rows) {
			g->rows = rows;
			g->room = room;
		}
		g->failed = !rows;
	}
	if (g->failed)
		return;
	memset(g->rows[g->n_rows++], 0, sizeof(*g->rows));
	g->column = 0;
}

void leat_grid_cell(struct leat_grid *g, const char *text)
{
	char *cell;

	if (g->failed)
		return;
	cell = strdup(text);
	g->failed = !cell;
	if (!cell)
		return;
	for (char *c = cell; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	g->rows[g->n_rows - 1][g->column++] = cell;
}

static const char *cell_of(const struct leat_grid *g, size_t row, size_t column)
{
	const char *text = g->rows[row][column];

	return text ? text : "";
}

static bool is_name(const struct leat_grid *g, size_t column)
{
	return g->titles[column][0] == '<';
}

static const char *title_of(const struct leat_grid *g, size_t column)
{
	return g->titles[column] + is_name(g, column);
}

/* What the widest needs; then names get less, the widest first, until all fits. */
static size_t measure(const struct leat_grid *g, int width, int widths[LEAT_GRID_COLUMNS])
{
	int sum = 0, widest;
	size_t n;

	for (n = 0; g->titles[n]; n++) {
		widths[n] = leat_grid_length(title_of(g, n));
		for (size_t row = 0; row < g->n_rows; row++) {
			int length = leat_grid_length(cell_of(g, row, n));

			if (length > widths[n])
				widths[n] = length;
		}
		sum += widths[n] + (n ? GAP : 0);
	}
	for (; sum > width; sum--) {
		widest = -1;
		for (size_t i = 0; i < n; i++)
			if (is_name(g, i) && widths[i] > NAME_LEAST &&
			    (widest < 0 || widths[i] > widths[widest]))
				widest = (int)i;
		if (widest < 0)
			break;
		widths[widest]--;
	}
	return n;
}

static void print_cell(const struct leat_grid *g, size_t column, bool last, const char *text,
		       int width, FILE *out, bool utf8)
{
	if (column)
		fprintf(out, "%*s", GAP, "");
	if (is_name(g, column))
		leat_grid_put_name(out, text, width, !last, utf8);
	else
		fprintf(out, "%*s%s", width - leat_grid_length(text), "", text);
}

static void clear(struct leat_grid *g)
{
	for (size_t row = 0; row < g->n_rows; row++)
		for (size_t i = 0; i < LEAT_GRID_COLUMNS; i++)
			free(g->rows[row][i]);
	free(g->rows);
	g->rows = NULL;
	g->n_rows = g->room = 0;
}

int leat_grid_print(struct leat_grid *g, FILE *out, int width, bool utf8)
{
	int widths[LEAT_GRID_COLUMNS];
	size_t n;

	if (g->failed) {
		clear(g);
		return -ENOMEM;
	}
	n = measure(g, width, widths);
	for (size_t i = 0; i < n; i++)
		print_cell(g, i, i + 1 == n, title_of(g, i), widths[i], out, utf8);
	putc('\n', out);
	for (size_t row = 0; row < g->n_rows; row++) {
		for (size_t i = 0; i < n; i++)
			print_cell(g, i, i + 1 == n, cell_of(g, row, i), widths[i], out, utf8);
		putc('\n', out);
	}
	clear(g);
	return 0;
}
