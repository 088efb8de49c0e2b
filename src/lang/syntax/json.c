/* Why a text is not JSON, in words for its author.
 *
 * libfyaml decides that a text is refused, but says it in terms of YAML. This
 * walks through the text by the grammar of JSON up to the first token that does
 * not fit, and tells what was meant there. */
#include "lang/syntax/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"

/* What may come next inside a bracket. */
enum want {
	WANT_KEY_OR_END, /* after "{" */
	WANT_KEY,        /* after "," in an object */
	WANT_COLON,
	WANT_VALUE,        /* after ":" or "," in a list, and at the top */
	WANT_VALUE_OR_END, /* after "[" */
	WANT_COMMA_OR_END,
	WANT_NOTHING, /* after the value at the top */
};

struct frame {
	char bracket; /* '{', '[' or 0 at the top */
	enum want want;
	size_t at;
	size_t pairs; /* values complete in it */
};

struct token {
	char type; /* one of {}[]:, or '"' a string, 'w' a word, 0 the end */
	size_t at, end;
};

struct scan {
	const char *text;
	size_t size;
	int file;
	struct leat_diags *diags;
	struct frame *frames; /* owned */
	size_t depth;
	struct token last; /* the token before; its type is 0 at the start */
};

static struct leat_pos at(const struct scan *s, size_t offset)
{
	return leat_text_pos(s->text, offset, s->file);
}

static int line_of(const struct scan *s, size_t offset)
{
	return at(s, offset).line;
}

static bool is_delimiter(char c)
{
	return strchr("{}[]:,\"", c) || isspace((unsigned char)c);
}

/* The escape at `i` (a backslash): its length, or 0 if JSON has none such. */
static size_t escape_length(const char *text, size_t i)
{
	if (text[i + 1] == 'u') {
		for (size_t k = 2; k < 6; k++)
			if (!isxdigit((unsigned char)text[i + k]))
				return 0;
		return 6;
	}
	return text[i + 1] && strchr("\"\\/bfnrt", text[i + 1]) ? 2 : 0;
}

/* Find the end of the string that begins at `t->at`. False when reported. */
static bool scan_string(const struct scan *s, struct token *t)
{
	size_t i = t->at + 1, length;

	for (; i < s->size && s->text[i] != '"'; i += length) {
		length = 1;
		if (s->text[i] == '\n' || s->text[i] == '\r')
			break;
		if (s->text[i] == '\\') {
			length = escape_length(s->text, i);
			if (!length) {
				leat_lang_report(s->diags, L_JSON_STRING, at(s, i),
						 "unknown escape; a backslash is written \"\\\\\"");
				return false;
			}
		} else if ((unsigned char)s->text[i] < 0x20) {
			leat_lang_report(s->diags, L_JSON_STRING, at(s, i),
					 "a string holds a control character, such as a tab: write "
					 "it as an escape, \\t");
			return false;
		}
	}
	if (i >= s->size || s->text[i] != '"') {
		leat_lang_report(
			s->diags, L_JSON_NEWLINE, at(s, t->at),
			"the string is not closed on its line: add the \" or, if it was broken "
			"over two lines, join them");
		return false;
	}
	t->end = i + 1;
	return true;
}

/* Read the token at or after `from`. False when reported. */
static bool scan_token(const struct scan *s, size_t from, struct token *t)
{
	while (from < s->size && strchr(" \t\r\n", s->text[from]))
		from++;
	*t = (struct token){.at = from, .end = from + 1};
	if (from >= s->size) {
		t->end = from;
		return true;
	}
	t->type = s->text[from];
	if (t->type == '"')
		return scan_string(s, t);
	if (is_delimiter(t->type) && !isspace((unsigned char)t->type))
		return true;
	t->type = 'w';
	while (t->end < s->size && !is_delimiter(s->text[t->end]))
		t->end++;
	return true;
}

static bool word_begins(const struct scan *s, const struct token *t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t->type == 'w' && t->end - t->at >= n && !strncmp(s->text + t->at, prefix, n);
}

/* Length of the digits at `p`. */
static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

static bool is_number(const char *p, size_t size)
{
	const char *end = p + size;
	size_t n;

	if (*p == '-')
		p++;
	n = digits(p);
	if (!n || (n > 1 && *p == '0'))
		return false;
	p += n;
	if (*p == '.') {
		n = digits(++p);
		if (!n)
			return false;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		n = digits(p);
		if (!n)
			return false;
		p += n;
	}
	return p == end;
}

static bool is_value_word(const struct scan *s, const struct token *t)
{
	static const char *const words[] = {"true", "false", "null"};
	const char *p = s->text + t->at;
	size_t size = t->end - t->at;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (size == strlen(words[i]) && !strncmp(p, words[i], size))
			return true;
	return is_number(p, size);
}

/* A word that cannot be where it is, or is none of JSON's. */
static void report_word(const struct scan *s, const struct token *t, bool as_key)
{
	struct leat_pos pos = at(s, t->at);
	int size = t->end - t->at < 40 ? (int)(t->end - t->at) : 40;
	const char *text = s->text + t->at;

	/* Do not cut a character in two. */
	while (size > 1 && ((unsigned char)text[size] & 0xc0) == 0x80)
		size--;
	if (word_begins(s, t, "//") || word_begins(s, t, "/*") || word_begins(s, t, "#"))
		leat_lang_report(s->diags, L_JSON_COMMENT, pos, "JSON has no comments: remove it");
	else if (word_begins(s, t, "..."))
		leat_lang_report(s->diags, L_JSON_VALUE, pos,
				 "\"...\" is not JSON: write what it stands for, or remove it");
	else if (word_begins(s, t, "'"))
		leat_lang_report(s->diags, L_JSON_QUOTES, pos,
				 "JSON strings are in double quotes: write \" instead of '");
	else if (word_begins(s, t, "\xe2\x80\x9c") || word_begins(s, t, "\xe2\x80\x9d"))
		leat_lang_report(s->diags, L_JSON_QUOTES, pos,
				 "a typographic quote: JSON strings are in straight double quotes");
	else if (as_key)
		leat_lang_report(s->diags, L_JSON_QUOTES, pos,
				 "a key must be in double quotes: \"%.*s\"", size, text);
	else
		leat_lang_report(s->diags, L_JSON_VALUE, pos,
				 "%.*s is not a JSON value; text must be in double quotes", size,
				 text);
}

/* A closing bracket that does not close what is open. */
static void report_bracket(const struct scan *s, const struct token *t, const struct frame *f)
{
	if (!f->bracket)
		leat_lang_report(s->diags, L_JSON_BRACKET, at(s, t->at),
				 "\"%c\" closes nothing: remove it", t->type);
	else
		leat_lang_report(
			s->diags, L_JSON_BRACKET, at(s, t->at),
			"\"%c\" while the \"%c\" of line %d is open: put \"%c\" before it, or "
			"remove it if it "
			"is one too many",
			t->type, f->bracket, line_of(s, f->at), f->bracket == '[' ? ']' : '}');
}

static void report_end(const struct scan *s, const struct frame *f)
{
	if (!f->bracket)
		leat_lang_report(s->diags, L_FILE_EMPTY, (struct leat_pos){0, 0, s->file},
				 "the file is empty");
	else
		leat_lang_report(s->diags, L_JSON_UNCLOSED, at(s, f->at),
				 "this \"%c\" is never closed: add \"%c\"", f->bracket,
				 f->bracket == '[' ? ']' : '}');
}

/* Where an object wants a key, something else stands. */
static void report_key(const struct scan *s, const struct token *t, const struct frame *f)
{
	struct leat_pos pos = at(s, t->at);

	if (t->type == '}')
		leat_lang_report(s->diags, L_JSON_TRAILING_COMMA, at(s, s->last.at),
				 "a comma before \"}\": remove it");
	else if (t->type == ']')
		report_bracket(s, t, f);
	else if (t->type == 'w')
		report_word(s, t, true);
	else if (t->type == ',')
		leat_lang_report(s->diags, L_JSON_COMMA, pos, "one comma too many");
	else if (t->type == '{' && !f->pairs)
		leat_lang_report(
			s->diags, L_JSON_LIST_BRACES, at(s, f->at),
			"not JSON: this \"{\" holds a list of objects; write the list with "
			"\"[ ]\": [ {...}, {...} ]");
	else if (t->type == '{')
		leat_lang_report(
			s->diags, L_JSON_BRACKET, pos,
			"an object where a key is expected: is the \"}\" for line %d missing, or "
			"should that line open a list with \"[\"?",
			line_of(s, f->at));
	else
		leat_lang_report(s->diags, L_JSON_SYNTAX, pos,
				 "a key in double quotes is expected here, not \"%c\"", t->type);
}

static void report_value(const struct scan *s, const struct token *t, const struct frame *f)
{
	struct leat_pos pos = at(s, t->at);
	bool after_comma = s->last.type == ',';

	if (t->type == ']' && f->bracket == '[')
		leat_lang_report(s->diags, L_JSON_TRAILING_COMMA, at(s, s->last.at),
				 "a comma before \"]\": remove it");
	else if (f->bracket == '{' && (t->type == '}' || t->type == ','))
		leat_lang_report(s->diags, L_JSON_COLON, pos, "the value after \":\" is missing");
	else if (t->type == '}' || t->type == ']')
		report_bracket(s, t, f);
	else if (t->type == ',')
		leat_lang_report(s->diags, L_JSON_COMMA, pos,
				 after_comma ? "one comma too many"
					     : "a value is expected before the comma");
	else if (t->type == 'w')
		report_word(s, t, false);
	else
		leat_lang_report(s->diags, L_JSON_SYNTAX, pos,
				 "a value is expected here, not \"%c\"", t->type);
}

static void report_after_value(const struct scan *s, const struct token *t, const struct frame *f)
{
	if (t->type == '}' || t->type == ']')
		report_bracket(s, t, f);
	else if (t->type == 'w' && !is_value_word(s, t))
		report_word(s, t, false);
	else if (t->type == ':' && f->bracket == '[')
		leat_lang_report(
			s->diags, L_JSON_COLON, at(s, t->at),
			"\"key\": value stands in a list: is the \"]\" for line %d missing, or "
			"should that line open an object with \"{\"?",
			line_of(s, f->at));
	else if (t->type == ':')
		leat_lang_report(s->diags, L_JSON_COLON, at(s, t->at),
				 "a second \":\" after one key");
	else
		leat_lang_report(s->diags, L_JSON_COMMA, at(s, s->last.end),
				 "a comma is missing between this and what follows");
}

static void report(const struct scan *s, const struct token *t)
{
	const struct frame *f = &s->frames[s->depth - 1];

	if (!t->type) {
		report_end(s, f);
		return;
	}
	switch (f->want) {
	case WANT_KEY:
	case WANT_KEY_OR_END:
		report_key(s, t, f);
		break;
	case WANT_COLON:
		leat_lang_report(s->diags, L_JSON_COLON, at(s, s->last.end),
				 "\":\" is missing after the key");
		break;
	case WANT_VALUE:
	case WANT_VALUE_OR_END:
		report_value(s, t, f);
		break;
	case WANT_COMMA_OR_END:
		report_after_value(s, t, f);
		break;
	case WANT_NOTHING:
		if (t->type == '}' || t->type == ']')
			report_bracket(s, t, f);
		else
			leat_lang_report(
				s->diags, L_JSON_AFTER_END, at(s, t->at),
				"text after the end of the JSON value: is a \"}\" too early?");
		break;
	}
}

static bool push(struct scan *s, char bracket, enum want want, size_t offset)
{
	if ((s->depth & (s->depth - 1)) == 0) {
		struct frame *v = reallocarray(s->frames, s->depth ? 2 * s->depth : 1, sizeof(*v));

		if (!v)
			return false;
		s->frames = v;
	}
	s->frames[s->depth++] = (struct frame){bracket, want, offset, 0};
	return true;
}

/* A value is complete in the innermost frame. */
static void value_done(struct scan *s)
{
	struct frame *f = &s->frames[s->depth - 1];

	f->pairs++;
	f->want = f->bracket ? WANT_COMMA_OR_END : WANT_NOTHING;
}

static bool wants_value(enum want want)
{
	return want == WANT_VALUE || want == WANT_VALUE_OR_END;
}

static bool may_close(const struct frame *f, char bracket)
{
	if (bracket == '}')
		return f->bracket == '{' &&
		       (f->want == WANT_KEY_OR_END || f->want == WANT_COMMA_OR_END);
	return f->bracket == '[' && (f->want == WANT_VALUE_OR_END || f->want == WANT_COMMA_OR_END);
}

/* Take one token. False if it does not fit (or memory is out). */
static bool take(struct scan *s, const struct token *t)
{
	struct frame *f = &s->frames[s->depth - 1];

	switch (t->type) {
	case '{':
		return wants_value(f->want) && push(s, '{', WANT_KEY_OR_END, t->at);
	case '[':
		return wants_value(f->want) && push(s, '[', WANT_VALUE_OR_END, t->at);
	case '}':
	case ']':
		if (!may_close(f, t->type))
			return false;
		s->depth--;
		value_done(s);
		return true;
	case ':':
		if (f->want != WANT_COLON)
			return false;
		f->want = WANT_VALUE;
		return true;
	case ',':
		if (f->want != WANT_COMMA_OR_END)
			return false;
		f->want = f->bracket == '{' ? WANT_KEY : WANT_VALUE;
		return true;
	case '"':
		if (f->want == WANT_KEY || f->want == WANT_KEY_OR_END) {
			f->want = WANT_COLON;
			return true;
		}
		break;
	default:
		if (!is_value_word(s, t))
			return false;
	}
	if (!wants_value(f->want))
		return false;
	value_done(s);
	return true;
}

bool leat_json_explain(const char *text, size_t size, int file, struct leat_diags *diags)
{
	struct scan s = {.text = text, .size = size, .file = file, .diags = diags};
	struct token t;
	bool reported = false;

	if (!push(&s, 0, WANT_VALUE, 0))
		return false;
	for (;;) {
		reported = !scan_token(&s, s.last.end, &t);
		if (reported || (!t.type && s.frames[0].want == WANT_NOTHING))
			break;
		if (!t.type || !take(&s, &t)) {
			report(&s, &t);
			reported = true;
			break;
		}
		s.last = t;
	}
	free(s.frames);
	return reported;
}
