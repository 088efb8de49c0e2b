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
	{.name = "d3", .text = leat_page_d3_notice},
	{.name = "d3", .text = leat_page_d3},
	{.name = "common-style", .text = leat_page_style},
	{.name = "format", .text = leat_page_format},
	{.name = "tip", .text = leat_page_tip},
};

/* All parts of that name, in their order. 0 or -errno. */
static int put_parts(const char *name, size_t length, const struct leat_page_part *parts, size_t n,
		     FILE *out)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		if (strlen(parts[i].name) != length || strncmp(parts[i].name, name, length) != 0)
			continue;
		if (parts[i].text)
			fputs(parts[i].text, out);
		else
			error = put_data(&parts[i], out);
	}
	return error;
}

bool leat_page_possible(void)
{
	return true;
}

int leat_page_write(const char *frame, const struct leat_page_part *parts, size_t n, FILE *out)
{
	static const char mark[] = "<!-- leat: ", end[] = " -->";
	const char *rest = frame, *at;
	int error = 0;

	while (!error && (at = strstr(rest, mark))) {
		const char *name = at + strlen(mark), *stop = strstr(name, end);

		fwrite(rest, 1, (size_t)(at - rest), out);
		error = put_parts(name, (size_t)(stop - name), common,
				  sizeof(common) / sizeof(*common), out);
		if (!error)
			error = put_parts(name, (size_t)(stop - name), parts, n, out);
		rest = stop + strlen(end);
	}
	fputs(rest, out);
	errno = 0;
	if (!error && (fflush(out) || ferror(out)))
		error = errno ? -errno : -EIO;
	return error;
}
