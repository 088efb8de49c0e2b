/* Formats of logs, and which of them a log has. */
#include "associate/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

/* As much of a file as is looked at. */
enum { LOOK_BYTES = 1 << 20 };

#define ROW(NAME) &leat_associate_##NAME,
const struct leat_associate_format *const leat_associate_formats[] = {LEAT_ASSOCIATE_FORMATS(ROW)
									      NULL};
#undef ROW

/* Where the first of the format's signatures is; NULL: nowhere. */
static const char *first_signature(const struct leat_associate_format *f, const char *text)
{
	const char *first = NULL;

	for (size_t i = 0; f->signatures && f->signatures[i]; i++) {
		const char *at = strstr(text, f->signatures[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

static const struct leat_associate_format *format_of(char *text, size_t size)
{
	const struct leat_associate_format *found = NULL, *f;
	const char *first = NULL;

	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = ' ';
	for (size_t i = 0; (f = leat_associate_formats[i]); i++)
		if (f->begins && f->begins(text))
			return f;
	/* A log may quote another: what comes first says what it is. */
	for (size_t i = 0; (f = leat_associate_formats[i]); i++) {
		const char *at = first_signature(f, text);

		if (at && (!first || at < first)) {
			first = at;
			found = f;
		}
	}
	return found;
}

int leat_associate_detect(const char *path, const struct leat_associate_format **format)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	char *text = malloc(LOOK_BYTES + 1);
	long n;

	if (fd < 0 || !text) {
		result = fd < 0 ? -errno : -ENOMEM;
		goto out;
	}
	n = leat_read_all(fd, text, LOOK_BYTES);
	if (n >= 0)
		text[n] = '\0';
	*format = n < 0 ? NULL : format_of(text, (size_t)n);
	result = n < 0 ? (int)n : 0;
out:
	free(text);
	leat_close(&fd);
	return result;
}
