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

void leat_grid_put_name(FILE *out, const char *text, int width, bool pad, bool utf8)
{
	const char *mark = utf8 ? "\xe2\x80\xa6" : "...";
	int length = leat_grid_length(text), leave = width - leat_grid_length(mark);

	if (length <= width) {
		fprintf(out, "%s%*s", text, pad ? width - length : 0, "");
		return;
	}
	for (; *text && (length > leave || !begins_character(*text)); text++)
		length -= begins_character(*text);
	/* Behind the first byte of the last character that was left out come others of it. */
	while (*text && !begins_character(*text))
		text++;
	fprintf(out, "%s%s", mark, text);
}

void leat_grid_column(struct leat_grid *g, const char *title, bool name, bool optional)
{
	if (g->n_columns < LEAT_GRID_COLUMNS)
		g->columns[g->n_columns++] = (struct leat_grid_column){title, name, optional};
}

void leat_grid_row(struct leat_grid *g)
{
	if (g->n_rows == g->capacity && !g->failed) {
		size_t capacity = g->capacity ? 2 * g->capacity : 16;
		void *rows = reallocarray(g->rows, capacity, sizeof(*g->rows));

		if (rows) {
			g->rows = rows;
			g->capacity = capacity;
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

	if (g->failed || g->column == g->n_columns)
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

static bool is_hidden(const struct leat_grid *g, size_t column)
{
	bool empty = g->columns[column].optional;

	for (size_t row = 0; empty && row < g->n_rows; row++)
		empty = !*cell_of(g, row, column);
	return empty;
}

/* Leave out what is optional and empty. */
static void hide_empty(struct leat_grid *g)
{
	for (size_t i = g->n_columns; i-- > 0;) {
		if (!is_hidden(g, i))
			continue;
		for (size_t row = 0; row < g->n_rows; row++) {
			char **cells = g->rows[row];

			free(cells[i]);
			memmove(cells + i, cells + i + 1, (g->n_columns - i - 1) * sizeof(*cells));
			cells[g->n_columns - 1] = NULL;
		}
		memmove(g->columns + i, g->columns + i + 1,
			(g->n_columns - i - 1) * sizeof(*g->columns));
		g->n_columns--;
	}
}

/* What the widest needs; then names get less, the widest first, until all fits. */
static void measure(const struct leat_grid *g, int width, int widths[LEAT_GRID_COLUMNS])
{
	int sum = 0, widest;

	for (size_t n = 0; n < g->n_columns; n++) {
		widths[n] = leat_grid_length(g->columns[n].title);
		for (size_t row = 0; row < g->n_rows; row++) {
			int length = leat_grid_length(cell_of(g, row, n));

			if (length > widths[n])
				widths[n] = length;
		}
		sum += widths[n] + (n ? GAP : 0);
	}
	for (; sum > width; sum--) {
		widest = -1;
		for (size_t i = 0; i < g->n_columns; i++)
			if (g->columns[i].name && widths[i] > NAME_LEAST &&
			    (widest < 0 || widths[i] > widths[widest]))
				widest = (int)i;
		if (widest < 0)
			break;
		widths[widest]--;
	}
}

static void print_cell(const struct leat_grid *g, size_t column, bool last, const char *text,
		       int width, FILE *out, bool utf8)
{
	if (column)
		fprintf(out, "%*s", GAP, "");
	if (g->columns[column].name)
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
	*g = (struct leat_grid){0};
}

int leat_grid_print(struct leat_grid *g, FILE *out, int width, bool utf8)
{
	int widths[LEAT_GRID_COLUMNS];
	size_t n;

	hide_empty(g);
	n = g->n_columns;
	if (g->failed) {
		clear(g);
		return -ENOMEM;
	}
	measure(g, width, widths);
	for (size_t i = 0; i < n; i++)
		print_cell(g, i, i + 1 == n, g->columns[i].title, widths[i], out, utf8);
	putc('\n', out);
	for (size_t row = 0; row < g->n_rows; row++) {
		for (size_t i = 0; i < n; i++)
			print_cell(g, i, i + 1 == n, cell_of(g, row, i), widths[i], out, utf8);
		putc('\n', out);
	}
	clear(g);
	return 0;
}
