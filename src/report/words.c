#include "report/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *leat_words_time(uint64_t ns, char out[LEAT_WORD])
{
	double s = (double)ns / 1e9;

	if (!ns)
		snprintf(out, LEAT_WORD, "0 s");
	else if (s < 0.000995)
		snprintf(out, LEAT_WORD, "%.*f us", s < 0.00000995 ? 1 : 0, s * 1e6);
	else if (s < 0.995)
		snprintf(out, LEAT_WORD, "%.*f ms", s < 0.00995 ? 1 : 0, s * 1e3);
	else if (s < 99.95)
		snprintf(out, LEAT_WORD, "%.*f s", s < 9.995 ? 2 : 1, s);
	else if (s < 5999.5)
		snprintf(out, LEAT_WORD, "%.0f s", s);
	else if (s < 360000)
		snprintf(out, LEAT_WORD, "%.1f h", s / 3600);
	else
		snprintf(out, LEAT_WORD, "%.0f d", s / 86400);
	return out;
}

char *leat_words_count(uint64_t n, char out[LEAT_WORD])
{
	char digits[LEAT_WORD], *to = out;
	size_t length;

	/* Longer ones would not fit with their commas; nor are there so many of anything. */
	if (n > UINT64_C(99999999999999))
		n = UINT64_C(99999999999999);
	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

char *leat_words_share(double share, char out[LEAT_WORD])
{
	double percent = 100 * share;

	if (percent > 0 && percent < 0.5)
		snprintf(out, LEAT_WORD, "<1 %%");
	else if (percent < 100 && percent >= 99.5)
		snprintf(out, LEAT_WORD, ">99 %%");
	else
		snprintf(out, LEAT_WORD, "%.0f %%", percent);
	return out;
}

const char *leat_words_file(const struct leat_report *r, uint32_t file, char out[LEAT_WORD])
{
	const struct leat_report_file *f = &r->found.analysis->files[file];

	if (f->path)
		return f->path;
	snprintf(out, LEAT_WORD, "(unnamed %" PRIu32 ")", file);
	return out;
}
