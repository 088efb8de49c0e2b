/* The tables of a report, each once: its columns are what the text, the page and, where no other
 * part of the document has them, the JSON rows show. A new column is one row of columns.c. Any
 * thread. */
#ifndef LEAT_REPORT_COLUMNS_H
#define LEAT_REPORT_COLUMNS_H

#include "base/format.h"
#include "base/json.h"
#include "report/grid.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_unit {
	LEAT_UNIT_NAME, /* a text that may be long */
	LEAT_UNIT_WORD,
	LEAT_UNIT_COUNT,
	LEAT_UNIT_BYTES,
	LEAT_UNIT_NS,
	LEAT_UNIT_US,
	LEAT_UNIT_SHARE,   /* 0 to 1 */
	LEAT_UNIT_PERCENT, /* 0 to 100 */
	LEAT_UNIT_FACTOR,
};

/* A row of any table: which it is. */
struct leat_row {
	const struct leat_report *r;
	uint32_t index;
	enum leat_way way; /* of an edge */
};

/* What stands in one column of one row. */
struct leat_cell {
	const char *text; /* of a name or word */
	uint64_t n;       /* count, bytes, ns, us */
	double part;      /* share, percent, factor */
	bool estimate;    /* of the factor */
	char made[LEAT_WORD];
};

enum leat_column_use {
	LEAT_COLUMN_TEXT = 1,
	LEAT_COLUMN_PAGE = 2,
	LEAT_COLUMN_JSON = 4,     /* the table writes the member: nothing else does */
	LEAT_COLUMN_OPTIONAL = 8, /* not shown where all its cells are empty or 0 */
};

struct leat_column {
	const char *key;   /* member of the JSON row; "read.bytes": a member of its member */
	const char *title; /* of the text; the page begins it with a capital */
	enum leat_unit unit;
	unsigned uses;
	/* Fill *cell; false: it is empty. NULL: only the page, or another part of the document,
	 * knows. */
	bool (*value)(const struct leat_row *row, struct leat_cell *cell);
	const char *help; /* NULL: the title says all */
};

struct leat_columns {
	const char *name; /* in the member "columns" of the document */
	const struct leat_column *v;
	size_t n;
};

extern const struct leat_columns leat_columns_tasks, leat_columns_files, leat_columns_edges,
	leat_columns_calls, leat_columns_waits, leat_columns_systems;

/* The names of the types of calls, by their index. */
extern const char *const leat_call_names[LEAT_ANALYSIS_TYPES];

/* Set the grid up for the columns of the text, and add rows to it. */
void leat_columns_begin_text(const struct leat_columns *columns, struct leat_grid *g);
void leat_columns_put_text(const struct leat_columns *columns, const struct leat_row *row,
			   struct leat_grid *g);

/* Write the members of a row that are the table's to write into the open object. */
void leat_columns_put_json(const struct leat_columns *columns, const struct leat_row *row,
			   struct leat_json *j);

/* Write the member "columns": key, title, unit and help of the columns of the page, by table. */
void leat_columns_describe(struct leat_json *j);

#endif
