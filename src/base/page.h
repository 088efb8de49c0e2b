/* Pages that hold all they need: a frame of HTML, in which lines `<!-- leat: NAME -->` stand for
 * parts. Any thread. */
#ifndef LEAT_BASE_PAGE_H
#define LEAT_BASE_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Text as it is (one that base/embed has put into the binary), or data, as JSON. */
struct leat_page_part {
	const char *name;
	const char *text;
	int (*write)(void *ctx, FILE *out); /* without a text: 0 or -errno */
	void *ctx;
};

/* D3, version 3, and what its license wants to be said with it. */
extern const char leat_page_d3[];
extern const char leat_page_d3_notice[];

/* Write the page; a part that is not among `parts` is left out, but for "d3". 0 or -errno, of a
 * part or of the writing. */
int leat_page_write(const char *frame, const struct leat_page_part *parts, size_t n, FILE *out);

#endif
