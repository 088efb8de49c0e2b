#include "base/percent.h"

void leat_percent_put(FILE *out, const char *text, char also)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == '%' || c == 0x7f || c == (unsigned char)also)
			fprintf(out, "%%%02X", c);
		else
			putc(c, out);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool leat_percent_decode(char *text)
{
	char *out = text;

	for (; *text; text++, out++) {
		int high, low;

		*out = *text;
		if (*text != '%')
			continue;
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || !(high | low))
			return false;
		*out = (char)(high << 4 | low);
		text += 2;
	}
	*out = '\0';
	return true;
}
