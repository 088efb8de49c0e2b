/* Tables on a terminal: columns as wide as what is in them; names are shortened where there is no
 * space. One thread at a time. */
#ifndef LEAT_REPORT_GRID_H
#define LEAT_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LEAT_GRID_COLUMNS = 10 };

struct leat_grid_column {
	const char *title; /* borrowed */
	bool name;         /* to the left, and shortened at its beginning */
	bool optional;     /* not printed if all its cells are empty */
};

/* Empty when all 0. */
struct leat_grid {
	struct leat_grid_column columns[LEAT_GRID_COLUMNS];
	size_t n_columns;
	char *(*rows)[LEAT_GRID_COLUMNS]; /* owned, with their texts */
	size_t n_rows, capacity;
	size_t column; /* of the last row, to be filled next */
	bool failed;   /* out of memory: nothing will be printed */
};

/* A further column; all, before the first row. Beyond LEAT_GRID_COLUMNS they are left out. */
void leat_grid_column(struct leat_grid *g, const char *title, bool name, bool optional);

/* A new row, and its cells, which are copied; control characters are made visible. */
void leat_grid_row(struct leat_grid *g);
void leat_grid_cell(struct leat_grid *g, const char *text);

/* Print and empty it. 0 or -ENOMEM. Errors of writing stay in `out`. */
int leat_grid_print(struct leat_grid *g, FILE *out, int width, bool utf8);

/* How many characters a text has. */
int leat_grid_length(const char *text);

/* Print the text in `width` characters, shortened at its beginning where it is longer; padded if
 * `pad`. */
void leat_grid_put_name(FILE *out, const char *text, int width, bool pad, bool utf8);

#endif
