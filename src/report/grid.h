/* Tables on a terminal: columns as wide as what is in them; names are shortened where there is no
 * room. One thread at a time. */
#ifndef LEAT_REPORT_GRID_H
#define LEAT_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LEAT_GRID_COLUMNS = 10 };

struct leat_grid {
	/* Titles; those that begin with "<" are of names: to the left, and shortened at their
	 * beginning. Ends with NULL. Borrowed. */
	const char *titles[LEAT_GRID_COLUMNS + 1];
	char *(*rows)[LEAT_GRID_COLUMNS]; /* owned, with their texts */
	size_t n_rows, room;
	size_t column; /* of the last row, to be filled next */
	bool failed;   /* out of memory: nothing will be printed */
};

/* A new row, and its cells, which are copied; control characters are made visible. */
void leat_grid_row(struct leat_grid *g);
void leat_grid_cell(struct leat_grid *g, const char *text);

/* Print and empty it. 0 or -ENOMEM. Errors of writing stay in `out`. */
int leat_grid_print(struct leat_grid *g, FILE *out, int width, bool utf8);

/* How many characters a text has. */
int leat_grid_length(const char *text);

/* Print the text in `room` characters, shortened at its beginning where it is longer; padded if
 * `pad`. */
void leat_grid_put_name(FILE *out, const char *text, int room, bool pad, bool utf8);

#endif
