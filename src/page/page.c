#include "page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* JSON inside of a script element: its text ends at the next "</script", whatever that is in, and
 * "<!--" begins something else. In JSON "<" stands only in strings, where it can be written so. */
static void put_safely(const char *json, FILE *out)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			putc(*json, out);
}

static int put_data(const struct leat_page_part *part, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int error;

	if (!memory)
		return -errno;
	error = part->write(part->ctx, memory);
	if (fclose(memory) && !error)
		error = -ENOMEM;
	if (!error)
		put_safely(text, out);
	free(text);
	return error;
}

static const struct leat_page_part common[] = {
	{.name = "d3", .text = leat_page_d3_notice},       {.name = "d3", .text = leat_page_d3},
	{.name = "common-style", .text = leat_page_style}, {.name = "foot", .text = leat_page_foot},
	{.name = "format", .text = leat_page_format},      {.name = "tip", .text = leat_page_tip},
};

/* A page's own parts, and where it goes. */
struct page {
	const struct leat_page_part *parts;
	size_t n;
	FILE *out;
};

static int put(const struct page *page, const char *text);

/* Those of `parts` that have that name, in their order. 0 or -errno. */
static int put_parts(const struct page *page, const struct leat_page_part *parts, size_t n,
		     const char *name, size_t length)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		if (strlen(parts[i].name) != length || strncmp(parts[i].name, name, length) != 0)
			continue;
		error = parts[i].text ? put(page, parts[i].text) : put_data(&parts[i], page->out);
	}
	return error;
}

/* A text, with the parts that its marks stand for. 0 or -errno. */
static int put(const struct page *page, const char *text)
{
	static const char mark[] = "<!-- leat: ", end[] = " -->";
	const char *rest = text, *at;
	int error = 0;

	while (!error && (at = strstr(rest, mark))) {
		const char *name = at + strlen(mark), *stop = strstr(name, end);
		size_t length = (size_t)(stop - name);

		fwrite(rest, 1, (size_t)(at - rest), page->out);
		error = put_parts(page, common, sizeof(common) / sizeof(*common), name, length);
		if (!error)
			error = put_parts(page, page->parts, page->n, name, length);
		rest = stop + strlen(end);
	}
	fputs(rest, page->out);
	return error;
}

bool leat_page_possible(void)
{
	return true;
}

int leat_page_write(const char *frame, const struct leat_page_part *parts, size_t n, FILE *out)
{
	const struct page page = {parts, n, out};
	int error = put(&page, frame);

	errno = 0;
	if (!error && (fflush(out) || ferror(out)))
		error = errno ? -errno : -EIO;
	return error;
}
