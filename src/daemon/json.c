#include "daemon/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leat_json_init(struct leat_json *j)
{
	*j = (struct leat_json){0};
}

void leat_json_release(struct leat_json *j)
{
	free(j->text);
	leat_json_init(j);
}

static void put(struct leat_json *j, const char *text, size_t size)
{
	if (j->length + size + 1 > j->room) {
		size_t room = 2 * (j->length + size + 1);
		char *grown = j->failed ? NULL : realloc(j->text, room);

		if (!grown) {
			j->failed = true;
			return;
		}
		j->text = grown;
		j->room = room;
	}
	memcpy(j->text + j->length, text, size);
	j->length += size;
	j->text[j->length] = 0;
}

static void puts_(struct leat_json *j, const char *text)
{
	put(j, text, strlen(text));
}

/* Length of the UTF-8 sequence at `s` (RFC 3629), 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : (s[0] & 0xf0) == 0xe0       ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void put_quoted(struct leat_json *j, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char escape[8];

	puts_(j, "\"");
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 0) {
			puts_(j, "\\ufffd");
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			snprintf(escape, sizeof(escape), "\\%c", *s);
			puts_(j, escape);
		} else if (*s < 0x20 || *s == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", *s);
			puts_(j, escape);
		} else {
			put(j, (const char *)s, n);
		}
		s += n;
	}
	puts_(j, "\"");
}

static void begin(struct leat_json *j, const char *key)
{
	if (j->comma)
		puts_(j, ",");
	j->comma = true;
	if (key) {
		put_quoted(j, key);
		puts_(j, ":");
	}
}

void leat_json_open(struct leat_json *j, const char *key, char bracket)
{
	begin(j, key);
	put(j, &bracket, 1);
	j->comma = false;
}

void leat_json_close(struct leat_json *j, char bracket)
{
	put(j, &bracket, 1);
	j->comma = true;
}

void leat_json_string(struct leat_json *j, const char *key, const char *text)
{
	begin(j, key);
	put_quoted(j, text);
}

void leat_json_int(struct leat_json *j, const char *key, int64_t value)
{
	char number[32];

	begin(j, key);
	snprintf(number, sizeof(number), "%" PRId64, value);
	puts_(j, number);
}

void leat_json_bool(struct leat_json *j, const char *key, bool value)
{
	begin(j, key);
	puts_(j, value ? "true" : "false");
}

void leat_json_real(struct leat_json *j, const char *key, double value)
{
	char number[64];

	begin(j, key);
	/* by hand: printf's decimal point follows the locale */
	snprintf(number, sizeof(number), "%s%lld.%03lld", value < 0 ? "-" : "",
		 (long long)((value < 0 ? -value : value) + 0.0005),
		 (long long)(((value < 0 ? -value : value) + 0.0005) * 1000) % 1000);
	puts_(j, number);
}
