/* Pages that hold all they need: a frame of HTML, in which lines `<!-- leat: NAME -->` stand for
 * parts. Any thread. */
#ifndef LEAT_PAGE_H
#define LEAT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Text as it is (one that page/embed has put into the binary), or data, as JSON. */
struct leat_page_part {
	const char *name;
	const char *text;
	int (*write)(void *ctx, FILE *out); /* without a text: 0 or -errno */
	void *ctx;
};

/* What every page has, without being among its parts: "common-style", a stylesheet; and "foot",
 * which ends the body but for the page's own scripts: the part "data", "d3", D3 of version 3 with
 * what its license wants to be said with it, "format", numbers for people, and "tip", what is shown
 * beside the pointer, scripts that need no other but D3. */
extern const char leat_page_d3[];
extern const char leat_page_d3_notice[];
extern const char leat_page_style[];
extern const char leat_page_format[];
extern const char leat_page_tip[];
extern const char leat_page_foot[];

/* Was leat built with pages? Without, leat_page_write refuses. */
bool leat_page_possible(void);

/* What a refusal says. */
#define LEAT_PAGE_MISSING "leat was built without pages (D3)"

/* Write the page; a part that nobody has is left out. 0 or -errno, of a part or of the
 * writing; -ENOTSUP if there are no pages. */
int leat_page_write(const char *frame, const struct leat_page_part *parts, size_t n, FILE *out);

#endif
