/* Rows of a table as text and as JSON. */
#include "report/columns.h"

#include "report/words.h"

#include <stdio.h>

static void put_cell(const struct leat_column *c, const struct leat_cell *cell, struct leat_grid *g)
{
	char word[LEAT_WORD] = "";

	switch (c->unit) {
	case LEAT_UNIT_NAME:
	case LEAT_UNIT_WORD:
		leat_grid_cell(g, cell->text);
		return;
	case LEAT_UNIT_COUNT:
		leat_words_count(cell->n, word);
		break;
	case LEAT_UNIT_BYTES:
		leat_format_bytes(cell->n, word);
		break;
	case LEAT_UNIT_NS:
		leat_words_time(cell->n, word);
		break;
	case LEAT_UNIT_US:
		leat_words_time(cell->n * 1000, word);
		break;
	case LEAT_UNIT_SHARE:
		leat_words_share(cell->part, word);
		break;
	case LEAT_UNIT_PERCENT:
		leat_words_share(cell->part / 100, word);
		break;
	case LEAT_UNIT_FACTOR:
		snprintf(word, sizeof(word), "%s%.1fx", cell->estimate ? "~" : "", cell->part);
		break;
	}
	leat_grid_cell(g, word);
}

void leat_columns_begin_text(const struct leat_columns *columns, struct leat_grid *g)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct leat_column *c = &columns->v[i];

		if (c->uses & LEAT_COLUMN_TEXT)
			leat_grid_column(g, c->title, c->unit == LEAT_UNIT_NAME,
					 c->uses & LEAT_COLUMN_OPTIONAL);
	}
}

void leat_columns_put_text(const struct leat_columns *columns, const struct leat_row *row,
			   struct leat_grid *g)
{
	leat_grid_row(g);
	for (size_t i = 0; i < columns->n; i++) {
		const struct leat_column *c = &columns->v[i];
		struct leat_cell cell = {0};

		if (!(c->uses & LEAT_COLUMN_TEXT))
			continue;
		if (c->value(row, &cell) &&
		    (!(c->uses & LEAT_COLUMN_OPTIONAL) || cell.text || cell.n))
			put_cell(c, &cell, g);
		else
			leat_grid_cell(g, "");
	}
}

static void put_member(const struct leat_column *c, const struct leat_cell *cell,
		       struct leat_json *j)
{
	switch (c->unit) {
	case LEAT_UNIT_NAME:
	case LEAT_UNIT_WORD:
		leat_json_string(j, c->key, cell->text);
		break;
	case LEAT_UNIT_COUNT:
	case LEAT_UNIT_BYTES:
	case LEAT_UNIT_NS:
	case LEAT_UNIT_US:
		leat_json_number(j, c->key, cell->n);
		break;
	case LEAT_UNIT_SHARE:
	case LEAT_UNIT_PERCENT:
	case LEAT_UNIT_FACTOR:
		leat_json_real(j, c->key, cell->part);
		break;
	}
}

void leat_columns_put_json(const struct leat_columns *columns, const struct leat_row *row,
			   struct leat_json *j)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct leat_column *c = &columns->v[i];
		struct leat_cell cell = {0};

		if ((c->uses & LEAT_COLUMN_JSON) && c->value(row, &cell))
			put_member(c, &cell, j);
	}
}

static void describe(const struct leat_columns *columns, struct leat_json *j)
{
	static const char *const units[] = {
		[LEAT_UNIT_NAME] = "name",    [LEAT_UNIT_WORD] = "word",
		[LEAT_UNIT_COUNT] = "count",  [LEAT_UNIT_BYTES] = "bytes",
		[LEAT_UNIT_NS] = "ns",        [LEAT_UNIT_US] = "us",
		[LEAT_UNIT_SHARE] = "share",  [LEAT_UNIT_PERCENT] = "percent",
		[LEAT_UNIT_FACTOR] = "factor"};

	leat_json_list(j, columns->name, false);
	for (size_t i = 0; i < columns->n; i++) {
		const struct leat_column *c = &columns->v[i];

		if (!(c->uses & LEAT_COLUMN_PAGE))
			continue;
		leat_json_object(j, NULL, true);
		leat_json_string(j, "key", c->key);
		leat_json_string(j, "title", c->title);
		leat_json_string(j, "unit", units[c->unit]);
		if (c->help)
			leat_json_string(j, "help", c->help);
		if (c->uses & LEAT_COLUMN_OPTIONAL)
			leat_json_bool(j, "optional", true);
		leat_json_close(j);
	}
	leat_json_close(j);
}

void leat_columns_describe(struct leat_json *j)
{
	static const struct leat_columns *const tables[] = {
		&leat_columns_tasks, &leat_columns_files, &leat_columns_edges, &leat_columns_calls,
		&leat_columns_waits};

	leat_json_object(j, "columns", false);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		describe(tables[i], j);
	leat_json_close(j);
}
