#include "model/bandwidth.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FORMS "write a number of MB/s, auto, or auto(min,max,delta)"

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* Read a whole number, up to LEAT_BANDWIDTH_MAX. NULL: there is none at `at`. */
static const char *read_number(const char *at, unsigned *value)
{
	unsigned sum = 0;
	bool any = false;

	for (at = skip_blanks(at); *at >= '0' && *at <= '9'; at++) {
		sum = sum * 10 + (unsigned)(*at - '0');
		any = true;
		if (sum > LEAT_BANDWIDTH_MAX)
			return NULL;
	}
	*value = sum;
	return any ? skip_blanks(at) : NULL;
}

/* Read "(min,max,delta)" up to the end of the text. */
static bool read_bounds(const char *at, struct leat_bandwidth *b)
{
	at = read_number(at + 1, &b->min);
	if (!at || *at != ',')
		return false;
	at = read_number(at + 1, &b->max);
	if (!at || *at != ',')
		return false;
	at = read_number(at + 1, &b->delta);
	return at && *at == ')' && !*skip_blanks(at + 1);
}

int leat_bandwidth_parse(const char *text, struct leat_bandwidth *bandwidth,
			 char why[LEAT_BANDWIDTH_WHY])
{
	struct leat_bandwidth b = {.kind = LEAT_BANDWIDTH_NONE};
	const char *at = skip_blanks(text);
	int ret;

	if (!strncmp(at, "auto", 4)) {
		at = skip_blanks(at + 4);
		b.kind = *at ? LEAT_BANDWIDTH_BOUNDED : LEAT_BANDWIDTH_AUTO;
		if (*at && (*at != '(' || !read_bounds(at, &b)))
			goto malformed;
	} else if (*at) {
		b.kind = LEAT_BANDWIDTH_STATIC;
		at = read_number(at, &b.min);
		if (!at || *at)
			goto malformed;
	}
	ret = leat_bandwidth_check(&b, why);
	if (!ret)
		*bandwidth = b;
	return ret;

malformed:
	snprintf(why, LEAT_BANDWIDTH_WHY, "\"%.40s\" is no bandwidth: " FORMS " in whole numbers",
		 text);
	return -EINVAL;
}

static int check_bounds(const struct leat_bandwidth *b, char why[LEAT_BANDWIDTH_WHY])
{
	if (b->min < 1)
		snprintf(why, LEAT_BANDWIDTH_WHY,
			 "auto(%u,%u,%u): the minimum must be at least 1 MB/s", b->min, b->max,
			 b->delta);
	else if (b->min > b->max)
		snprintf(why, LEAT_BANDWIDTH_WHY,
			 "auto(%u,%u,%u): the minimum, %u, is above the maximum, %u; the order is "
			 "auto(min,max,delta)",
			 b->min, b->max, b->delta, b->min, b->max);
	else if (b->delta < 2)
		snprintf(
			why, LEAT_BANDWIDTH_WHY,
			"auto(%u,%u,%u): delta must be at least 2: the constraint is multiplied by "
			"it from epoch to epoch",
			b->min, b->max, b->delta);
	else if (b->max > LEAT_BANDWIDTH_MAX)
		snprintf(why, LEAT_BANDWIDTH_WHY, "auto(%u,%u,%u): above %d MB/s", b->min, b->max,
			 b->delta, LEAT_BANDWIDTH_MAX);
	else
		return 0;
	return -EINVAL;
}

int leat_bandwidth_check(const struct leat_bandwidth *b, char why[LEAT_BANDWIDTH_WHY])
{
	switch (b->kind) {
	case LEAT_BANDWIDTH_NONE:
	case LEAT_BANDWIDTH_AUTO:
		return 0;
	case LEAT_BANDWIDTH_STATIC:
		if (b->min >= 1 && b->min <= LEAT_BANDWIDTH_MAX)
			return 0;
		snprintf(why, LEAT_BANDWIDTH_WHY,
			 "a bandwidth of %u MB/s: it must be at least 1 and at most %d; leave it "
			 "out "
			 "for tasks without a constraint",
			 b->min, LEAT_BANDWIDTH_MAX);
		return -EINVAL;
	case LEAT_BANDWIDTH_BOUNDED:
		return check_bounds(b, why);
	}
	snprintf(why, LEAT_BANDWIDTH_WHY, "kind %d of bandwidth is not known", (int)b->kind);
	return -EINVAL;
}

void leat_bandwidth_format(const struct leat_bandwidth *b, char *out, size_t size)
{
	switch (b->kind) {
	case LEAT_BANDWIDTH_STATIC:
		snprintf(out, size, "%u", b->min);
		return;
	case LEAT_BANDWIDTH_AUTO:
		snprintf(out, size, "auto");
		return;
	case LEAT_BANDWIDTH_BOUNDED:
		snprintf(out, size, "auto(%u,%u,%u)", b->min, b->max, b->delta);
		return;
	case LEAT_BANDWIDTH_NONE:
		break;
	}
	if (size)
		*out = '\0';
}
