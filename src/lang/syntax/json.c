/* Why a text is not JSON, in words for its author.
 *
 * libfyaml decides that a text is refused, but says it in terms of YAML, and of what spans lines at
 * a later place: of a list in braces "JSON does not allow empty values in a mapping", of a bracket
 * that is never closed "missing comma in flow mapping", of a string that is not closed "Invalid
 * JSON unescaped character" in the next line. This finds the first token that cannot follow the one
 * before it. */
#include "lang/syntax/json.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"

struct token {
	char type; /* one of {}[]:, or 'k' a key, 'v' another value, 'w' another word, 0 the end */
	size_t at, end;
};

/* An open bracket. */
struct frame {
	char bracket; /* '{', '[' or 0 at the top */
	size_t at;
};

struct scan {
	const char *text;
	size_t size;
	int file;
	struct leat_diags *diags;
	struct frame *frames; /* owned */
	size_t depth;
	struct token last; /* the token before; its type is 0 at the start */
	regex_t literal;   /* a value that is no string */
};

/* The types of tokens that may follow the one before; "": only the end. */
static const char *wanted(const struct scan *s)
{
	char bracket = s->frames[s->depth - 1].bracket;

	switch (s->last.type) {
	case 0:
	case ':':
		return "{[v";
	case '{':
		return "k}";
	case '[':
		return "{[v]";
	case 'k':
		return ":";
	case ',':
		return bracket == '{' ? "k" : "{[v";
	default:
		return bracket == '{' ? ",}" : bracket == '[' ? ",]" : "";
	}
}

static struct leat_pos at(const struct scan *s, size_t offset)
{
	return leat_text_pos(s->text, offset, s->file);
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

static bool is_literal(const struct scan *s, const struct token *t)
{
	regmatch_t m = {.rm_so = (regoff_t)t->at, .rm_eo = (regoff_t)t->end};

	return !regexec(&s->literal, s->text, 1, &m, REG_STARTEND) && m.rm_so == (regoff_t)t->at &&
	       m.rm_eo == (regoff_t)t->end;
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
	if (t->type == '"') {
		t->type = strchr(wanted(s), 'k') ? 'k' : 'v';
		return scan_string(s, t);
	}
	if (is_delimiter(t->type) && !isspace((unsigned char)t->type))
		return true;
	while (t->end < s->size && !is_delimiter(s->text[t->end]))
		t->end++;
	t->type = is_literal(s, t) ? 'v' : 'w';
	return true;
}

static bool word_begins(const struct scan *s, const struct token *t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t->end - t->at >= n && !strncmp(s->text + t->at, prefix, n);
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
			t->type, f->bracket, at(s, f->at).line, f->bracket == '[' ? ']' : '}');
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
	else if (t->type == 'w' || t->type == 'v')
		report_word(s, t, true);
	else if (t->type == ',')
		leat_lang_report(s->diags, L_JSON_COMMA, pos, "one comma too many");
	else if (t->type == '{' && s->last.type == '{')
		leat_lang_report(s->diags, L_JSON_LIST_BRACES, at(s, f->at),
				 "not JSON: this \"{\" holds a list of objects; write the list "
				 "with \"[ ]\": [ {...}, {...} ]");
	else if (t->type == '{')
		leat_lang_report(s->diags, L_JSON_BRACKET, pos,
				 "an object where a key is expected: is the \"}\" for line %d "
				 "missing, or should that line open a list with \"[\"?",
				 at(s, f->at).line);
	else
		leat_lang_report(s->diags, L_JSON_SYNTAX, pos,
				 "a key in double quotes is expected here, not \"%c\"", t->type);
}

static void report_value(const struct scan *s, const struct token *t, const struct frame *f)
{
	struct leat_pos pos = at(s, t->at);

	if (t->type == ']' && s->last.type == ',')
		leat_lang_report(s->diags, L_JSON_TRAILING_COMMA, at(s, s->last.at),
				 "a comma before \"]\": remove it");
	else if (f->bracket == '{' && (t->type == '}' || t->type == ','))
		leat_lang_report(s->diags, L_JSON_COLON, pos, "the value after \":\" is missing");
	else if (t->type == '}' || t->type == ']')
		report_bracket(s, t, f);
	else if (t->type == ',')
		leat_lang_report(s->diags, L_JSON_COMMA, pos,
				 s->last.type == ',' ? "one comma too many"
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
	else if (!f->bracket)
		leat_lang_report(s->diags, L_JSON_AFTER_END, at(s, t->at),
				 "text after the end of the JSON value: is a \"}\" too early?");
	else if (t->type == 'w')
		report_word(s, t, false);
	else if (t->type == ':' && f->bracket == '[')
		leat_lang_report(s->diags, L_JSON_COLON, at(s, t->at),
				 "\"key\": value stands in a list: is the \"]\" for line %d "
				 "missing, or should that line open an object with \"{\"?",
				 at(s, f->at).line);
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
	const char *want = wanted(s);

	if (!t->type)
		report_end(s, f);
	else if (*want == ':')
		leat_lang_report(s->diags, L_JSON_COLON, at(s, s->last.end),
				 "\":\" is missing after the key");
	else if (*want == 'k')
		report_key(s, t, f);
	else if (*want == '{')
		report_value(s, t, f);
	else
		report_after_value(s, t, f);
}

/* Open a bracket (0: the top). */
static bool push(struct scan *s, char bracket, size_t offset)
{
	if ((s->depth & (s->depth - 1)) == 0) {
		struct frame *v = reallocarray(s->frames, s->depth ? 2 * s->depth : 1, sizeof(*v));

		if (!v)
			return false;
		s->frames = v;
	}
	s->frames[s->depth++] = (struct frame){bracket, offset};
	return true;
}

/* Go on to the token. False when out of memory. */
static bool take(struct scan *s, const struct token *t)
{
	if ((t->type == '{' || t->type == '[') && !push(s, t->type, t->at))
		return false;
	if (t->type == '}' || t->type == ']')
		s->depth--;
	s->last = *t;
	return true;
}

/* False if memory is out or nothing is wrong. */
static bool find_fault(struct scan *s)
{
	struct token t;

	do {
		if (!scan_token(s, s->last.end, &t))
			return true;
		if (t.type ? !strchr(wanted(s), t.type) : *wanted(s) != '\0') {
			report(s, &t);
			return true;
		}
	} while (t.type && take(s, &t));
	return false;
}

bool leat_json_explain(const char *text, size_t size, int file, struct leat_diags *diags)
{
	struct scan s = {.text = text, .size = size, .file = file, .diags = diags};
	bool reported;

	if (regcomp(&s.literal, "true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?",
		    REG_EXTENDED))
		return false;
	reported = push(&s, 0, 0) && find_fault(&s);
	free(s.frames);
	regfree(&s.literal);
	return reported;
}
