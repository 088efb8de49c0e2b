#include "model/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/match.h"

enum token_kind { TOKEN_END, TOKEN_LITERAL, TOKEN_ANY, TOKEN_RUN, TOKEN_SET };

struct token {
	enum token_kind kind;
	uint32_t c;          /* LITERAL: the character */
	const char *set;     /* SET: its members, ranges as "a-z" */
	const char *set_end; /* SET: the closing bracket */
	bool negated;
};

/* Beyond Unicode: bytes that are not UTF-8 stand for themselves. */
enum { RAW_BYTE = 0x110000 };

/* The character at `p` (before `end`), and in `next` the place after it. */
static uint32_t decode(const char *p, const char *end, const char **next)
{
	unsigned char lead = (unsigned char)*p++;
	int more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
	uint32_t c = lead;

	*next = p;
	if (lead < 0x80)
		return lead;
	if (more == 0 || end - p < more)
		return RAW_BYTE + lead;
	c &= 0x3fu >> more;
	for (int i = 0; i < more; i++) {
		unsigned char byte = (unsigned char)p[i];

		if ((byte & 0xc0) != 0x80)
			return RAW_BYTE + lead;
		c = c << 6 | (byte & 0x3f);
	}
	*next = p + more;
	return c;
}

/* If a well-formed set begins at `p` (on its bracket), fill in the token and
 * return the place after it; else NULL: then the bracket is a literal. */
static const char *scan_set(const char *p, struct token *t)
{
	const char *members = p + 1;
	const char *end;

	t->negated = *members == '!' || *members == '^';
	members += t->negated;
	if (!*members)
		return NULL;
	/* A bracket in the first place is a member. */
	end = strchr(members + 1, ']');
	if (!end)
		return NULL;
	t->kind = TOKEN_SET;
	t->set = members;
	t->set_end = end;
	return end + 1;
}

/* Take the token at `p` apart; returns the place after it. */
static const char *scan(const char *p, struct token *t)
{
	const char *next;

	switch (*p) {
	case '\0':
		t->kind = TOKEN_END;
		return p;
	case '*':
		t->kind = TOKEN_RUN;
		return p + 1;
	case '?':
		t->kind = TOKEN_ANY;
		return p + 1;
	case '[':
		next = scan_set(p, t);
		if (next)
			return next;
		break;
	default:
		break;
	}
	t->kind = TOKEN_LITERAL;
	if ((unsigned char)*p < 0x80) {
		t->c = (unsigned char)*p;
		return p + 1;
	}
	t->c = decode(p, p + strnlen(p, 4), &next);
	return next;
}

/* Take the next member or range [lo, hi] of a set; false at its end. */
static bool next_range(const struct token *t, const char **p, uint32_t *lo, uint32_t *hi)
{
	if (*p >= t->set_end)
		return false;
	*lo = *hi = decode(*p, t->set_end, p);
	if (*p + 1 < t->set_end && **p == '-')
		*hi = decode(*p + 1, t->set_end, p);
	return true;
}

/* True if one-character token `t` admits character `c`. */
static bool admits(const struct token *t, uint32_t c)
{
	uint32_t lo, hi;
	const char *p;

	if (t->kind == TOKEN_LITERAL)
		return t->c == c;
	if (t->kind == TOKEN_ANY)
		return true;
	p = t->set;
	while (next_range(t, &p, &lo, &hi))
		if (lo <= c && c <= hi)
			return !t->negated;
	return t->negated;
}

bool leat_pattern_match_n(const char *pattern, const char *path, size_t length)
{
	const char *end = path + length, *run = NULL, *run_path = NULL, *after;
	struct token t;

	while (path < end) {
		const char *next = scan(pattern, &t);

		if (t.kind == TOKEN_RUN) {
			run = pattern = next;
			run_path = path;
			continue;
		}
		if (t.kind != TOKEN_END && admits(&t, decode(path, end, &after))) {
			pattern = next;
			path = after;
			continue;
		}
		if (!run)
			return false;
		/* Let the last run take one character more. */
		decode(run_path, end, &run_path);
		path = run_path;
		pattern = run;
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

bool leat_pattern_match(const char *pattern, const char *path)
{
	return leat_pattern_match_n(pattern, path, strlen(path));
}

bool leat_pattern_covers(const char *pattern, const char *path)
{
	for (size_t length = strlen(path); length > 0; length--)
		if (path[length] == '/' && leat_pattern_match_n(pattern, path, length))
			return true;
	return false;
}

bool leat_pattern_reaches_below(const char *pattern, const char *dir)
{
	size_t length = strlen(dir);
	const char *p = dir, *end = dir + length, *next = dir;
	bool slash_due = length > 0;
	struct token t;

	for (;;) {
		pattern = scan(pattern, &t);
		if (t.kind == TOKEN_END)
			return false;
		/* A run swallows what is left of the directory. */
		if (t.kind == TOKEN_RUN)
			return true;
		if (p == end && !slash_due)
			return true;
		if (!admits(&t, p < end ? decode(p, end, &next) : (uint32_t)'/'))
			return false;
		if (p == end)
			slash_due = false;
		p = next;
	}
}

bool leat_pattern_is_wild(const char *text)
{
	return !leat_pattern_specificity(text).exact;
}

struct leat_specificity leat_pattern_specificity(const char *pattern)
{
	struct leat_specificity s = {true, 0, 0};
	const char *p = pattern;
	struct token t;

	for (;;) {
		const char *next = scan(p, &t);

		if (t.kind == TOKEN_END)
			return s;
		if (t.kind == TOKEN_LITERAL)
			s.literals++;
		else
			s.exact = false;
		if (s.exact)
			s.prefix = (size_t)(next - pattern);
		p = next;
	}
}

size_t leat_pattern_directory(const char *pattern)
{
	size_t length = leat_pattern_specificity(pattern).prefix;

	while (length && pattern[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

struct leat_specificity leat_pattern_specificity_below(struct leat_specificity directory)
{
	directory.prefix += directory.exact;
	directory.literals++;
	directory.exact = false;
	return directory;
}

int leat_specificity_compare(const struct leat_specificity *a, const struct leat_specificity *b)
{
	if (a->exact != b->exact)
		return a->exact ? 1 : -1;
	if (a->prefix != b->prefix)
		return a->prefix > b->prefix ? 1 : -1;
	return (a->literals > b->literals) - (a->literals < b->literals);
}

int leat_pattern_compare(const char *a, const char *b)
{
	struct leat_specificity sa = leat_pattern_specificity(a);
	struct leat_specificity sb = leat_pattern_specificity(b);

	return leat_specificity_compare(&sa, &sb);
}

/* A character that the set admits: its first member, or one that is in no set. */
static size_t sample_set(const struct token *t, char *out)
{
	const char *next;
	size_t n;

	if (t->negated) {
		for (uint32_t c = '0'; c < 'z'; c++) {
			*out = (char)c;
			if (admits(t, c))
				break;
		}
		return 1;
	}
	decode(t->set, t->set_end, &next);
	n = (size_t)(next - t->set);
	memcpy(out, t->set, n);
	return n;
}

char *leat_pattern_sample(const char *pattern)
{
	/* Never longer than the pattern: a set is longer than its member. */
	char *sample = malloc(strlen(pattern) + 1), *out = sample;
	struct token t;

	if (!sample)
		return NULL;
	for (const char *next; (next = scan(pattern, &t)), t.kind != TOKEN_END; pattern = next) {
		if (t.kind == TOKEN_SET) {
			out += sample_set(&t, out);
			continue;
		}
		memcpy(out, pattern, (size_t)(next - pattern));
		out += next - pattern;
	}
	*out = '\0';
	return sample;
}

/* True if some character is admitted by both. Membership of a set changes only
 * at the ends of its ranges, so it is enough to try those and one character
 * outside of all. */
static bool tokens_meet(const struct token *a, const struct token *b)
{
	const struct token *sets[] = {a, b};
	uint32_t lo, hi;

	if (a->kind == TOKEN_LITERAL)
		return admits(b, a->c);
	if (b->kind == TOKEN_LITERAL)
		return admits(a, b->c);
	if (a->kind == TOKEN_ANY || b->kind == TOKEN_ANY)
		return true;
	for (int i = 0; i < 2; i++) {
		const char *p = sets[i]->set;

		while (next_range(sets[i], &p, &lo, &hi))
			if ((admits(a, lo) && admits(b, lo)) ||
			    (admits(a, hi + 1) && admits(b, hi + 1)))
				return true;
	}
	return a->negated && b->negated;
}

/* Fill `reached`, a table of the pairs of places (i in `a`, j in `b`) that some
 * common text leads to; both places only ever move forward. */
static bool overlap_search(const char *a, size_t na, const char *b, size_t nb, bool *reached)
{
	struct token ta, tb;

	reached[0] = true;
	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			size_t i2, j2;

			if (!reached[i * (nb + 1) + j])
				continue;
			i2 = (size_t)(scan(a + i, &ta) - a);
			j2 = (size_t)(scan(b + j, &tb) - b);
			if (ta.kind == TOKEN_RUN)
				reached[i2 * (nb + 1) + j] = true;
			if (tb.kind == TOKEN_RUN)
				reached[i * (nb + 1) + j2] = true;
			if (ta.kind == TOKEN_END || tb.kind == TOKEN_END)
				continue;
			if (ta.kind == TOKEN_RUN)
				reached[i * (nb + 1) + j2] = true;
			else if (tb.kind == TOKEN_RUN)
				reached[i2 * (nb + 1) + j] = true;
			else if (tokens_meet(&ta, &tb))
				reached[i2 * (nb + 1) + j2] = true;
		}
	}
	return reached[na * (nb + 1) + nb];
}

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[';
}

/* True if the texts differ before anything that may be a wildcard: most pairs do. */
static bool begin_apart(const char *a, const char *b)
{
	while (*a == *b && *a && !is_special(*a)) {
		a++;
		b++;
	}
	return *a != *b && !is_special(*a) && !is_special(*b);
}

bool leat_pattern_overlap(const char *a, const char *b)
{
	struct leat_specificity sa, sb;
	size_t na = strlen(a), nb = strlen(b);
	bool *reached, found;

	if (begin_apart(a, b))
		return false;
	sa = leat_pattern_specificity(a);
	sb = leat_pattern_specificity(b);
	if (sa.exact)
		return sb.exact ? !strcmp(a, b) : leat_pattern_match(b, a);
	if (sb.exact)
		return leat_pattern_match(a, b);
	if (memcmp(a, b, sa.prefix < sb.prefix ? sa.prefix : sb.prefix))
		return false;
	reached = calloc((na + 1) * (nb + 1), sizeof(*reached));
	/* Without memory say yes: overlap is the careful answer. */
	if (!reached)
		return true;
	found = overlap_search(a, na, b, nb, reached);
	free(reached);
	return found;
}

bool leat_step_keeps(const struct leat_step *step, const char *name)
{
	for (size_t i = 0; i < step->private.n; i++) {
		const char *pattern = step->private.v[i].text;

		if (leat_pattern_match(pattern, name) || leat_pattern_covers(pattern, name))
			return true;
	}
	return false;
}
