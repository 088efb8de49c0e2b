/* Between the files of the text. */
#ifndef LEAT_REPORT_TEXT_INTERNAL_H
#define LEAT_REPORT_TEXT_INTERNAL_H

#include "report/grid.h"
#include "report/report.h"

struct leat_report_text {
	const struct leat_report *r;
	const struct leat_analysis *a;
	FILE *out;
	int width;
	bool utf8;
	uint32_t top;
	int error;
};

/* ---- text_parts.c ---- */

uint32_t leat_text_least(uint32_t a, uint32_t b);

/* A paragraph, broken at spaces; all but the first line stand as far right as `lead` is long. */
void leat_text_paragraph(const struct leat_report_text *t, const char *lead, const char *text);

void leat_text_title(const struct leat_report_text *t, const char *text);

/* Prints and empties the grid. */
void leat_text_grid(struct leat_report_text *t, struct leat_grid *g);

/* "... and 5 more tasks", if not all were shown. */
void leat_text_more(const struct leat_report_text *t, uint32_t all, const char *what);

/* ---- text_access.c ---- */

void leat_text_put_edges(struct leat_report_text *t);
void leat_text_put_waits(struct leat_report_text *t);
void leat_text_put_sizes(const struct leat_report_text *t, enum leat_way way);

#endif
