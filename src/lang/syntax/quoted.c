/* Strings in quotes. libfyaml gives them, too, but not always as YAML says (0.7.12: three quotes
 * for two doubled ones in a row). It is trusted with where a string begins and ends. */
#include "lang/syntax/quoted.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct decoder {
	const char *text;
	size_t size, at;
	char *out; /* owned; no escape sequence is shorter than what it stands for, but for \L, \P
		    */
	size_t length;
	size_t kept; /* of `length`: what white space before a line end is not taken from */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_break(const struct decoder *d)
{
	return d->at < d->size && (d->text[d->at] == '\n' || d->text[d->at] == '\r');
}

static void skip_blanks(struct decoder *d)
{
	while (d->at < d->size && is_blank(d->text[d->at]))
		d->at++;
}

/* A line end, and all blank lines behind it: how many line ends. */
static size_t skip_breaks(struct decoder *d)
{
	size_t n = 0;

	for (; is_break(d); n++) {
		bool both =
			d->text[d->at] == '\r' && d->at + 1 < d->size && d->text[d->at + 1] == '\n';

		d->at += both ? 2 : 1;
		skip_blanks(d);
	}
	return n;
}

static void put(struct decoder *d, const char *text, size_t n)
{
	memcpy(d->out + d->length, text, n);
	d->length += n;
}

static void put_lines(struct decoder *d, size_t n)
{
	memset(d->out + d->length, '\n', n);
	d->length += n;
	d->kept = d->length;
}

/* One line end is a space, more are one less. */
static void fold(struct decoder *d)
{
	size_t n = skip_breaks(d);

	while (d->length > d->kept && is_blank(d->out[d->length - 1]))
		d->length--;
	if (n == 1)
		put(d, " ", 1);
	put_lines(d, n - 1);
}

static void put_character(struct decoder *d, uint32_t c)
{
	static const unsigned char firsts[] = {0x00, 0xc0, 0xe0, 0xf0};
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	d->out[d->length++] = (char)(firsts[more] | c >> 6 * more);
	while (more--)
		d->out[d->length++] = (char)(0x80 | (c >> 6 * more & 0x3f));
}

/* `n` hexadecimal digits at d->at. */
static bool read_hex(struct decoder *d, size_t n, uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";

	*value = 0;
	for (size_t i = 0; i < n; i++, d->at++) {
		char c = d->at < d->size ? d->text[d->at] : '\0';
		const char *digit = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

		if (!digit)
			return false;
		*value = *value << 4 | (uint32_t)(digit - digits);
	}
	return true;
}

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c < 0xe000;
}

/* JSON writes characters above 0xffff as two. */
static bool read_second(struct decoder *d, uint32_t *value)
{
	uint32_t second;

	if (*value >= 0xdc00 || d->size - d->at < 2 || memcmp(d->text + d->at, "\\u", 2) != 0)
		return false;
	d->at += 2;
	if (!read_hex(d, 4, &second) || second < 0xdc00 || second >= 0xe000)
		return false;
	*value = 0x10000 + ((*value - 0xd800) << 10) + (second - 0xdc00);
	return true;
}

static bool put_hex(struct decoder *d, size_t digits)
{
	uint32_t c;

	if (!read_hex(d, digits, &c) || (is_surrogate(c) && !read_second(d, &c)) || c > 0x10ffff)
		return false;
	put_character(d, c);
	return true;
}

/* Behind the backslash. */
static bool escape(struct decoder *d)
{
	static const struct {
		char letter;
		unsigned short character;
	} simple[] = {{'0', 0},    {'a', 7},      {'b', 8},     {'t', 9},     {'\t', 9},
		      {'n', 10},   {'v', 11},     {'f', 12},    {'r', 13},    {'e', 27},
		      {' ', ' '},  {'"', '"'},    {'/', '/'},   {'\\', '\\'}, {'N', 0x85},
		      {'_', 0xa0}, {'L', 0x2028}, {'P', 0x2029}};
	char letter;

	if (is_break(d)) {
		put_lines(d, skip_breaks(d) - 1);
		return true;
	}
	letter = d->at < d->size ? d->text[d->at++] : 'z';
	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++)
		if (simple[i].letter == letter) {
			put_character(d, simple[i].character);
			return true;
		}
	return (letter == 'x' && put_hex(d, 2)) || (letter == 'u' && put_hex(d, 4)) ||
	       (letter == 'U' && put_hex(d, 8));
}

/* False: d->at is where an escape sequence begins that is none. */
static bool decode(struct decoder *d, bool double_quoted)
{
	while (d->at < d->size) {
		char c = d->text[d->at];

		if (is_break(d)) {
			fold(d);
		} else if (double_quoted && c == '\\') {
			size_t begin = d->at++;

			if (!escape(d)) {
				d->at = begin;
				return false;
			}
			d->kept = d->length;
		} else {
			put(d, &c, 1);
			d->at += !double_quoted && c == '\'' ? 2 : 1;
		}
	}
	return true;
}

int leat_quoted_decode(const char *text, size_t size, bool double_quoted, char **out,
		       size_t *length)
{
	/* "\L" is three bytes. */
	struct decoder d = {.text = text, .size = size, .out = malloc(size + size / 2 + 1)};

	if (!d.out)
		return -ENOMEM;
	if (!decode(&d, double_quoted)) {
		*length = d.at;
		free(d.out);
		return -EILSEQ;
	}
	d.out[d.length] = '\0';
	*out = d.out;
	*length = d.length;
	return 0;
}
