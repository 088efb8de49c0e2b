/* Times as logs have them. */
#include "associate/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static bool read_digits(const char **at, int n, int *value)
{
	*value = 0;
	for (int i = 0; i < n; i++, (*at)++) {
		if (!isdigit((unsigned char)**at))
			return false;
		*value = 10 * *value + (**at - '0');
	}
	return true;
}

static bool skip(const char **at, const char *any)
{
	if (!**at || !strchr(any, **at))
		return false;
	(*at)++;
	return true;
}

/* "16:18:11", with any number of digits behind a point or a comma. */
static bool read_clock_time(const char **at, struct leat_associate_stamp *s)
{
	int hour, minute, second;
	int64_t unit = LEAT_ASSOCIATE_SECOND / 10;

	if (!read_digits(at, 2, &hour) || !skip(at, ":") || !read_digits(at, 2, &minute) ||
	    !skip(at, ":") || !read_digits(at, 2, &second) || hour > 23 || minute > 59 ||
	    second > 60)
		return false;
	s->day_ns = (hour * INT64_C(3600) + minute * INT64_C(60) + second) * LEAT_ASSOCIATE_SECOND;
	if (!skip(at, ".,"))
		return true;
	for (; isdigit((unsigned char)**at); (*at)++, unit /= 10)
		s->day_ns += (**at - '0') * unit;
	return true;
}

/* "Z", "+0200", "+02:00" */
static void read_zone(const char **at, struct leat_associate_stamp *s)
{
	const char *text = *at;
	int sign = *text == '-' ? -1 : 1, hours, minutes = 0;

	if (skip(at, "Zz")) {
		s->zoned = true;
		return;
	}
	if (!skip(&text, "+-") || !read_digits(&text, 2, &hours))
		return;
	skip(&text, ":");
	if (isdigit((unsigned char)*text) && !read_digits(&text, 2, &minutes))
		return;
	s->zoned = true;
	s->zone_s = sign * (hours * 3600 + minutes * 60);
	*at = text;
}

/* The last whole one of which all nanoseconds since 1970 can be counted. */
enum { LAST_YEAR = 2261 };

static bool is_date(const struct leat_associate_stamp *s)
{
	return s->year <= LAST_YEAR && s->month >= 1 && s->month <= 12 && s->day >= 1 &&
	       s->day <= 31;
}

bool leat_associate_stamp_iso(const char *text, struct leat_associate_stamp *s, const char **end)
{
	struct leat_associate_stamp out = {.set = true};

	if (!read_digits(&text, 4, &out.year) || !skip(&text, "-") ||
	    !read_digits(&text, 2, &out.month) || !skip(&text, "-") ||
	    !read_digits(&text, 2, &out.day) || !skip(&text, "T ") ||
	    !read_clock_time(&text, &out) || !is_date(&out) || out.year < 1970)
		return false;
	read_zone(&text, &out);
	*s = out;
	if (end)
		*end = text;
	return true;
}

bool leat_associate_stamp_epoch_ns(int64_t ns, struct leat_associate_stamp *s)
{
	time_t seconds = (time_t)(ns / LEAT_ASSOCIATE_SECOND);
	struct tm tm;

	if (ns <= 0 || !gmtime_r(&seconds, &tm) || tm.tm_year + 1900 > LAST_YEAR)
		return false;
	*s = (struct leat_associate_stamp){.set = true,
					   .zoned = true,
					   .year = tm.tm_year + 1900,
					   .month = tm.tm_mon + 1,
					   .day = tm.tm_mday};
	s->day_ns = ns % (86400 * LEAT_ASSOCIATE_SECOND);
	return true;
}

bool leat_associate_stamp_epoch_ms(const char *text, struct leat_associate_stamp *s)
{
	char *end;
	long long ms = strtoll(text, &end, 10);

	return end != text && ms > 0 && ms <= INT64_MAX / 1000000 &&
	       leat_associate_stamp_epoch_ns(ms * 1000000, s);
}

/* ---- months ---- */

/* How Java abbreviates months in the languages that people run clusters in, without full stops; by
 * their beginnings, in lower case where that is ASCII. */
static const char *const months[12][14] = {
	{"jan", "gen", "ene", "sty", "янв", "led", "ian", "oca", "tammi", "sausis", NULL},
	{"feb", "fév", "fev", "lut", "фев", "úno", "şub", "helmi", "vas", NULL},
	{"mar", "mär", "mrz", "maa", "mrt", "мар", "bře", "márc", "kov", NULL},
	{"apr", "avr", "abr", "kwi", "апр", "dub", "ápr", "nis", "huhti", "bal", NULL},
	{"may", "mai", "mag", "mei", "maj", "мая", "май", "kvě", "máj", "touko", "geg", NULL},
	{"jun", "juin", "giu", "cze", "июн", "čvn", "jún", "haz", "kesä", "bir", NULL},
	{"jul", "juil", "lug", "lip", "июл", "čvc", "iul", "júl", "tem", "heinä", NULL},
	{"aug", "aoû", "aou", "ago", "sie", "авг", "srp", "ağu", "elo", "rugp", NULL},
	{"sep", "set", "wrz", "сен", "zář", "szept", "eyl", "syys", "rugs", NULL},
	{"oct", "okt", "ott", "out", "paź", "окт", "říj", "eki", "loka", "spa", NULL},
	{"nov", "lis", "ноя", "noi", "kas", "marras", "lapkr", NULL},
	{"dec", "dez", "déc", "dic", "gru", "дек", "pro", "des", "ara", "joulu", NULL},
};

/* Longer names first: "mar" begins "marras", "jui" is in two. */
static int month_of(const char *text, size_t n)
{
	size_t best = 0;
	int found = 0;

	for (int month = 0; month < 12; month++) {
		for (int i = 0; months[month][i]; i++) {
			size_t k = strlen(months[month][i]);

			if (k <= n && k > best && strncasecmp(text, months[month][i], k) == 0) {
				best = k;
				found = month + 1;
			}
		}
	}
	return found;
}

/* "10月", "10월" */
static int read_month_number(const char *text)
{
	char *end;
	long month = strtol(text, &end, 10);

	if (end == text || month < 1 || month > 12)
		return 0;
	return strncmp(end, "月", strlen("月")) == 0 || strncmp(end, "월", strlen("월")) == 0
		       ? (int)month
		       : 0;
}

bool leat_associate_stamp_nextflow(const char *text, struct leat_associate_stamp *s)
{
	struct leat_associate_stamp out = {.set = true};
	size_t n = strcspn(text, " ");
	const char *at = memchr(text, '-', n);

	if (!at)
		return false;
	out.month = isdigit((unsigned char)*text) ? read_month_number(text)
						  : month_of(text, (size_t)(at - text));
	at++;
	if (!read_digits(&at, 2, &out.day) || !skip(&at, " ") || !read_clock_time(&at, &out) ||
	    !is_date(&out))
		return false;
	*s = out;
	return true;
}

bool leat_associate_stamp_ctime(const char *text, struct leat_associate_stamp *s)
{
	struct leat_associate_stamp out = {.set = true};
	const char *at = text;

	if (!skip(&at, "["))
		return false;
	at += strcspn(at, " ]"); /* day of the week */
	if (!skip(&at, " "))
		return false;
	out.month = month_of(at, strcspn(at, " "));
	at += strcspn(at, " ]");
	at += strspn(at, " ");
	out.day = atoi(at);
	at += strspn(at, "0123456789");
	if (!skip(&at, " ") || !read_clock_time(&at, &out) || !skip(&at, " ") ||
	    !read_digits(&at, 4, &out.year) || !skip(&at, "]") || !is_date(&out) || out.year < 1970)
		return false;
	*s = out;
	return true;
}

/* ---- since the epoch ---- */

static int64_t in_year(const struct leat_associate_stamp *s, int year, int zone_s)
{
	struct tm tm = {.tm_year = year - 1900, .tm_mon = s->month - 1, .tm_mday = s->day};

	return ((int64_t)timegm(&tm) - zone_s) * LEAT_ASSOCIATE_SECOND + s->day_ns;
}

int64_t leat_associate_stamp_ns(const struct leat_associate_stamp *s, int zone_s, int64_t near_ns)
{
	time_t near_s;
	struct tm tm;
	int64_t best = 0;
	int year;

	if (near_ns < 0)
		near_ns = 0;
	near_s = (time_t)(near_ns / LEAT_ASSOCIATE_SECOND);

	if (s->zoned)
		zone_s = s->zone_s;
	if (s->year)
		return in_year(s, s->year, zone_s);
	year = gmtime_r(&near_s, &tm) ? tm.tm_year + 1900 : 1970;
	for (int y = year - 1; y <= year + 1 && y <= LAST_YEAR; y++) {
		int64_t ns = in_year(s, y, zone_s);

		if (y < year || llabs(ns - near_ns) < llabs(best - near_ns))
			best = ns;
	}
	return best;
}
