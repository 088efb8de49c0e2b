/* What the parts of the report for a terminal are made of. */
#include "report/text_internal.h"

#include "report/words.h"

#include <string.h>

uint32_t leat_text_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void leat_text_paragraph(const struct leat_report_text *t, const char *lead, const char *text)
{
	int indent = leat_grid_length(lead), column = indent;

	fputs(lead, t->out);
	for (bool first = true; *text; first = false) {
		size_t n = strcspn(text, " ");
		char word[1024];
		int length;

		snprintf(word, sizeof(word), "%.*s", (int)(n < 1000 ? n : 1000), text);
		for (char *c = word; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 127)
				*c = '?';
		length = leat_grid_length(word);
		if (!first && column + 1 + length > t->width) {
			fprintf(t->out, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			putc(' ', t->out);
			column++;
		}
		fputs(word, t->out);
		column += length;
		text += n;
		text += strspn(text, " ");
	}
	putc('\n', t->out);
}

void leat_text_more(const struct leat_report_text *t, uint32_t all, const char *what)
{
	char n[LEAT_WORD];

	if (all > t->top)
		fprintf(t->out, "%s and %s more %s (--top N, --html, --json)\n",
			t->utf8 ? "\xe2\x80\xa6" : "...", leat_words_count(all - t->top, n), what);
}

void leat_text_grid(struct leat_report_text *t, struct leat_grid *g)
{
	int error = leat_grid_print(g, t->out, t->width, t->utf8);

	if (error)
		t->error = error;
}

void leat_text_title(const struct leat_report_text *t, const char *text)
{
	fprintf(t->out, "\n%s\n", text);
}
