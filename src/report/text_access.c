/* Of the text: who read and wrote what, by which calls, and who waited. */
#include "report/text_internal.h"

#include "report/columns.h"
#include "report/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks and files ---- */

struct access {
	struct leat_row row;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->row.index != y->row.index)
		return x->row.index < y->row.index ? -1 : 1;
	return (int)x->row.way - (int)y->row.way;
}

static void put_legend(const struct leat_report_text *t)
{
	for (size_t i = 0; i < leat_columns_edges.n; i++) {
		const struct leat_column *c = &leat_columns_edges.v[i];
		char lead[64];

		if (!(c->uses & LEAT_COLUMN_TEXT) || !c->help)
			continue;
		snprintf(lead, sizeof(lead), "%s: ", c->title);
		leat_text_paragraph(t, lead, c->help);
	}
}

void leat_text_put_edges(struct leat_report_text *t)
{
	struct leat_grid g = {0};
	struct access *v = calloc((size_t)LEAT_WAYS * t->r->n_edges + 1, sizeof(*v));
	uint32_t n = 0;

	if (!v) {
		t->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < t->r->n_edges; i++) {
		const struct leat_report_edge *e = &t->a->edges[t->r->edges[i]];

		for (int way = 0; way < LEAT_WAYS; way++)
			if (e->ways[way])
				v[n++] = (struct access){{t->r, t->r->edges[i], (enum leat_way)way},
							 e->ways[way]->sum.bytes};
	}
	qsort(v, n, sizeof(*v), by_bytes);
	leat_columns_begin_text(&leat_columns_edges, &g);
	for (uint32_t i = 0; i < leat_text_least(n, t->top); i++)
		leat_columns_put_text(&leat_columns_edges, &v[i].row, &g);
	free(v);
	leat_text_title(t, "EDGES: tasks that read (<-) and wrote (->) files, by bytes");
	leat_text_grid(t, &g);
	leat_text_more(t, n, "edges");
	put_legend(t);
}

void leat_text_put_waits(struct leat_report_text *t)
{
	const struct leat_report_found *f = &t->r->found;
	struct leat_grid g = {0};

	if (!f->n_waits)
		return;
	leat_columns_begin_text(&leat_columns_waits, &g);
	for (uint32_t i = 0; i < f->n_waits && i < t->top; i++)
		leat_columns_put_text(&leat_columns_waits, &(struct leat_row){t->r, i, 0}, &g);
	leat_text_title(t, "WAITING, in the streamed run, by total time");
	leat_text_grid(t, &g);
	leat_text_more(t, (uint32_t)f->n_waits, "waits");
}

/* ---- sizes ---- */

static void put_size(const struct leat_report_text *t, int bin, uint64_t n, uint64_t most)
{
	char from[LEAT_WORD], count[LEAT_WORD];
	int length = (int)((double)n / (double)most * (t->width - 36) + 0.5);

	if (bin < 1)
		snprintf(from, sizeof(from), "0");
	else if (bin < 11)
		snprintf(from, sizeof(from), "%" PRIu64 " B", UINT64_C(1) << (bin - 1));
	else
		snprintf(from, sizeof(from), "%" PRIu64 " %ciB", UINT64_C(1) << (bin - 1) % 10,
			 " KMGT"[(bin - 1) / 10]);
	fprintf(t->out, "%10s  %16s  ", from, leat_words_count(n, count));
	for (int i = 0; i < length || (n && i < 1); i++)
		fputs(t->utf8 ? "\xe2\x96\x88" : "#", t->out);
	putc('\n', t->out);
}

void leat_text_put_sizes(const struct leat_report_text *t, enum leat_way way)
{
	uint64_t sums[LEAT_ANALYSIS_BINS] = {0}, most = 0;
	int first = LEAT_ANALYSIS_BINS, last = -1;

	for (uint32_t i = 0; i < t->r->n_edges; i++) {
		const struct leat_report_edge *p = &t->a->edges[t->r->edges[i]];

		for (int k = 0; p->ways[way] && k < LEAT_ANALYSIS_BINS; k++)
			sums[k] += p->ways[way]->sum.sizes[k];
	}
	for (int k = 0; k < LEAT_ANALYSIS_BINS; k++) {
		if (!sums[k])
			continue;
		first = k < first ? k : first;
		last = k;
		most = sums[k] > most ? sums[k] : most;
	}
	if (last < 0)
		return;
	leat_text_title(t, way == LEAT_READ ? "READS, by the bytes requested (from ... on)"
					    : "WRITES, by the bytes given (from ... on)");
	for (int k = first; k <= last; k++)
		put_size(t, k, sums[k], most);
}
