/* Of the text: who read and wrote what, by which calls, and who waited. */
#include "report/text_internal.h"

#include "report/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks and files ---- */

static void put_times(struct leat_grid *g, const struct leat_report_pair *p, enum leat_way way)
{
	uint64_t unique = leat_pair_unique(p, way);
	char word[LEAT_WORD];

	if (unique)
		snprintf(word, sizeof(word), "%s%.1f",
			 leat_coverage_is_exact(&p->ways[way]->coverage) ? "" : "~",
			 (double)leat_pair_bytes(p, way) / (double)unique);
	leat_grid_cell(g, unique ? word : "");
}

static void put_pair(struct leat_report_text *t, struct leat_grid *g,
		     const struct leat_report_pair *p, enum leat_way way)
{
	const struct leat_transfer *sum = &p->ways[way]->sum;
	uint64_t done = sum->calls - sum->failed;
	char word[LEAT_WORD], unnamed[LEAT_WORD];

	leat_grid_row(g);
	leat_grid_cell(g, t->a->tasks[p->task].name);
	leat_grid_cell(g, way == LEAT_READ ? "<-" : "->");
	leat_grid_cell(g, leat_words_file(t->r, p->file, unnamed));
	leat_grid_cell(g, leat_format_bytes(sum->bytes, word));
	put_times(g, p, way);
	leat_grid_cell(g, leat_words_count(sum->calls, word));
	leat_grid_cell(g,
		       done ? leat_words_share((double)sum->sequential / (double)done, word) : "");
	leat_grid_cell(g, leat_words_share(leat_pair_bulkiness(t->a, p) / 100, word));
	leat_grid_cell(g, leat_words_time(sum->time_ns, word));
}

struct access {
	const struct leat_report_pair *pair;
	enum leat_way way;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (int)x->way - (int)y->way;
}

void leat_text_put_pairs(struct leat_report_text *t)
{
	struct leat_grid g = {.titles = {"<task", "", "<file", "bytes", "times", "calls", "order",
					 "span", "in calls"}};
	struct access *v = calloc((size_t)LEAT_WAYS * t->r->n_pairs + 1, sizeof(*v));
	uint32_t n = 0;

	if (!v) {
		t->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < t->r->n_pairs; i++) {
		const struct leat_report_pair *p = &t->a->pairs[t->r->pairs[i]];

		for (int way = 0; way < LEAT_WAYS; way++)
			if (p->ways[way])
				v[n++] = (struct access){p, (enum leat_way)way,
							 p->ways[way]->sum.bytes};
	}
	qsort(v, n, sizeof(*v), by_bytes);
	for (uint32_t i = 0; i < leat_text_least(n, t->top); i++)
		put_pair(t, &g, v[i].pair, v[i].way);
	free(v);
	leat_text_title(t, "WHO READ (<-) AND WROTE (->) WHAT, by bytes");
	leat_text_grid(t, &g);
	leat_text_more(t, n, "of these");
	leat_text_paragraph(t, "",
			    "times: bytes by different bytes, 1.0: each once. order: calls that "
			    "begin where the last one ended. span: from first to last access, of "
			    "the task's run; high is like a stream, low is in bulk.");
}

void leat_text_put_waits(struct leat_report_text *t)
{
	struct leat_grid g = {.titles = {"<step", "<waited for", "times", "in all", "longest"}};
	const struct leat_report_found *f = &t->r->found;
	char word[LEAT_WORD];

	if (!f->n_waits)
		return;
	for (size_t i = 0; i < f->n_waits && i < t->top; i++) {
		leat_grid_row(&g);
		leat_grid_cell(&g, f->waits[i].step);
		leat_grid_cell(&g, f->waits[i].name);
		leat_grid_cell(&g, leat_words_count(f->waits[i].times, word));
		leat_grid_cell(&g, leat_words_time(f->waits[i].ns, word));
		leat_grid_cell(&g, leat_words_time(f->waits[i].longest_ns, word));
	}
	leat_text_title(t, "WAITING, in the streamed run, by the time in all");
	leat_text_grid(t, &g);
	leat_text_more(t, (uint32_t)f->n_waits, "of these");
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

	for (uint32_t i = 0; i < t->r->n_pairs; i++) {
		const struct leat_report_pair *p = &t->a->pairs[t->r->pairs[i]];

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
	leat_text_title(t, way == LEAT_READ ? "READS, by the bytes asked for (from ... on)"
					    : "WRITES, by the bytes given (from ... on)");
	for (int k = first; k <= last; k++)
		put_size(t, k, sums[k], most);
}
