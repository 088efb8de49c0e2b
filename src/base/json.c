#include "base/json.h"

#include <stddef.h>
#include <string.h>

/* Bytes of the UTF-8 character at `p`, 0 if it is none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] > 0xf4 || (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', out);
	while (*p) {
		size_t n = utf8_length(p);

		if (n == 0)
			fputs("\xef\xbf\xbd", out);
		else if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p == '\n')
			fputs("\\n", out);
		else if (*p == '\t')
			fputs("\\t", out);
		else if (*p < 0x20 || *p == 0x7f)
			fprintf(out, "\\u%04x", *p);
		else
			fwrite(p, 1, n, out);
		p += n ? n : 1;
	}
	fputc('"', out);
}

static void new_line(struct leat_json *j)
{
	fputc('\n', j->out);
	for (int i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

/* What stands before a value: comma, line, key. */
static void begin_value(struct leat_json *j, const char *key)
{
	if (j->depth > 0) {
		bool flat = j->levels[j->depth - 1].flat;

		if (j->levels[j->depth - 1].used)
			fputs(flat ? ", " : ",", j->out);
		if (!flat)
			new_line(j);
		j->levels[j->depth - 1].used = true;
	}
	if (key) {
		put_string(j->out, key);
		fputs(": ", j->out);
	}
}

static void open_level(struct leat_json *j, const char *key, const char *brackets, bool flat)
{
	begin_value(j, key);
	fputc(brackets[0], j->out);
	flat |= j->depth > 0 && j->levels[j->depth - 1].flat;
	j->levels[j->depth].close = brackets[1];
	j->levels[j->depth].flat = flat;
	j->levels[j->depth].used = false;
	j->depth++;
}

void leat_json_object(struct leat_json *j, const char *key, bool flat)
{
	open_level(j, key, "{}", flat);
}

void leat_json_list(struct leat_json *j, const char *key, bool flat)
{
	open_level(j, key, "[]", flat);
}

void leat_json_close(struct leat_json *j)
{
	j->depth--;
	if (j->levels[j->depth].used && !j->levels[j->depth].flat)
		new_line(j);
	fputc(j->levels[j->depth].close, j->out);
	if (j->depth == 0)
		fputc('\n', j->out);
}

void leat_json_string(struct leat_json *j, const char *key, const char *text)
{
	begin_value(j, key);
	put_string(j->out, text);
}

void leat_json_number(struct leat_json *j, const char *key, unsigned long long value)
{
	begin_value(j, key);
	fprintf(j->out, "%llu", value);
}

void leat_json_real(struct leat_json *j, const char *key, double value)
{
	unsigned long long thousandths = (unsigned long long)(value * 1000 + 0.5);

	begin_value(j, key);
	/* printf's decimal point follows the locale */
	fprintf(j->out, "%llu.%03llu", thousandths / 1000, thousandths % 1000);
}

void leat_json_bool(struct leat_json *j, const char *key, bool value)
{
	begin_value(j, key);
	fputs(value ? "true" : "false", j->out);
}
