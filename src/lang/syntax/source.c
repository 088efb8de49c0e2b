/* The texts of files: read, checked, and handed to the diagnostics that quote them. */
#include "lang/syntax/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/syntax/diagnostics.h"

enum { SIZE_MAX_BYTES = 16 << 20 };

int leat_source_read(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *buffer = NULL;
	size_t used = 0, capacity = 0;
	ssize_t got = 1;
	int ret = fd < 0 ? -errno : 0;

	while (!ret && got > 0) {
		if (capacity - used < 2) {
			char *grown = realloc(buffer, capacity ? 2 * capacity : 1 << 16);

			if (!grown) {
				ret = -ENOMEM;
				break;
			}
			buffer = grown;
			capacity = capacity ? 2 * capacity : 1 << 16;
		}
		got = read(fd, buffer + used, capacity - used - 1);
		if (got < 0 && errno != EINTR)
			ret = -errno;
		used += got > 0 ? (size_t)got : 0;
		got = got < 0 ? 1 : got;
		if (used > SIZE_MAX_BYTES)
			ret = -EFBIG;
	}
	if (fd >= 0)
		close(fd);
	if (ret) {
		free(buffer);
		return ret;
	}
	buffer[used] = '\0';
	*text = buffer;
	*size = used;
	return 0;
}

/* Length of the UTF-8 character at `p`, or 0 if it is none. */
static size_t utf8_length(const unsigned char *p)
{
	static const struct {
		unsigned char mask, bits; /* of the first byte */
	} forms[] = {{0xe0, 0xc0}, {0xf0, 0xe0}, {0xf8, 0xf0}};

	if (p[0] < 0x80)
		return p[0] ? 1 : 0;
	if (p[0] < 0xc2 || p[0] > 0xf4 || (p[0] == 0xe0 && p[1] < 0xa0) ||
	    (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if ((p[0] & forms[i].mask) != forms[i].bits)
			continue;
		for (size_t k = 1; k < i + 2; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return i + 2;
	}
	return 0;
}

bool leat_source_check(struct leat_diags *diags, const char *text, size_t size, int file)
{
	size_t i = 0, n = 1;

	while (i < size && (n = utf8_length((const unsigned char *)text + i)) > 0)
		i += n;
	if (i >= size)
		return true;
	leat_lang_report(diags, L_FILE_ENCODING, leat_text_pos(text, i, file),
			 text[i] ? "the file is not UTF-8 text"
				 : "a NUL character: this is not a text file");
	return false;
}

char *leat_source_copy(const char *text, size_t *size)
{
	size_t mark = *size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	char *copy = malloc(*size - mark + 1);

	if (!copy)
		return NULL;
	*size -= mark;
	memcpy(copy, text + mark, *size);
	copy[*size] = '\0';
	return copy;
}

void leat_source_unreadable(struct leat_diags *diags, int error, struct leat_pos pos,
			    const char *name)
{
	if (error == -EFBIG)
		leat_lang_report(diags, L_FILE_BIG, pos, "%s is too large for a workflow file",
				 name);
	else
		leat_lang_report(diags, L_FILE_READ, pos, "cannot read %s: %s", name,
				 strerror(-error));
}

void leat_text_advance(const char *text, size_t from, size_t to, struct leat_pos *pos)
{
	for (size_t i = from; i < to; i++) {
		if (text[i] == '\n') {
			pos->line++;
			pos->column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			pos->column++;
		}
	}
}

struct leat_pos leat_text_pos(const char *text, size_t at, int file)
{
	struct leat_pos pos = {1, 1, file};

	leat_text_advance(text, 0, at, &pos);
	return pos;
}

/* Give the diagnostics a copy of `text`; 0 or -ENOMEM, with *diags NULL. */
static int keep(const char *path, const char *text, size_t *size, struct leat_diags **diags,
		char **kept)
{
	*kept = leat_source_copy(text, size);
	*diags = *kept ? leat_diags_new(path, *kept) : NULL;
	if (*diags && !leat_diags_keep(*diags, *kept))
		return 0;
	leat_diags_free(*diags);
	*diags = NULL;
	free(*kept);
	*kept = NULL;
	return -ENOMEM;
}

int leat_source_take(const char *path, const char *given, size_t *size, struct leat_diags **diags,
		     const char **text)
{
	char *kept;
	int ret = keep(path, given, size, diags, &kept);

	if (ret)
		return ret;
	*text = kept;
	if (!leat_source_check(*diags, kept, *size, 0))
		return -EINVAL;
	if (strspn(kept, " \t\r\n") == *size) {
		leat_lang_report(*diags, L_FILE_EMPTY, (struct leat_pos){0, 0, 0},
				 "the file is empty");
		return -EINVAL;
	}
	return 0;
}

char *leat_source_load(const char *path, size_t *size, struct leat_diags **diags)
{
	char *text = NULL;
	int ret = leat_source_read(path, &text, size);

	if (!ret)
		return text;
	*diags = ret == -ENOMEM ? NULL : leat_diags_new(path, NULL);
	if (*diags)
		leat_source_unreadable(*diags, ret, (struct leat_pos){0, 0, 0}, "the file");
	return NULL;
}

bool leat_source_finish(int ret, struct leat_diags **diags)
{
	if (ret == -ENOMEM) {
		leat_diags_free(*diags);
		*diags = NULL;
	}
	return !ret && !leat_diags_count(*diags, LEAT_ERROR);
}
