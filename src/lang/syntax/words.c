/* Splitting a command line into words, as a shell does before any expansion. */
#include "lang/syntax/words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct words {
	char **v; /* owned; NULL-terminated */
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* A backslash before a newline joins lines, also between words. */
static bool is_joint(const char *p)
{
	return p[0] == '\\' && p[1] == '\n';
}

static int words_add(struct words *words, const char *text, size_t size)
{
	char **v = reallocarray(words->v, words->n + 2, sizeof(*v));

	if (!v)
		return -ENOMEM;
	words->v = v;
	v[words->n] = strndup(text, size);
	if (!v[words->n])
		return -ENOMEM;
	v[++words->n] = NULL;
	return 0;
}

/* Copy what is between the quote at *text and its partner to *out. */
static int take_quoted(const char **text, char **out, const char **why)
{
	const char *p = *text;
	char quote = *p++;

	for (; *p && *p != quote; p++) {
		/* Between double quotes a backslash keeps its place before other characters. */
		if (quote == '"' && *p == '\\') {
			if (is_joint(p)) {
				p++;
				continue;
			}
			if (p[1] && strchr("\"\\$`", p[1]))
				p++;
		}
		*(*out)++ = *p;
	}
	if (!*p) {
		*why = quote == '"' ? "a \" is not closed" : "a ' is not closed";
		return -EINVAL;
	}
	*text = p + 1;
	return 0;
}

/* Copy one word to `out`, which has space for it, and move *text behind it. */
static int take_word(const char **text, char *out, size_t *size, const char **why)
{
	const char *p = *text;
	char *start = out;
	int ret;

	while (*p && !is_blank(*p)) {
		if (*p == '"' || *p == '\'') {
			ret = take_quoted(&p, &out, why);
			if (ret)
				return ret;
			continue;
		}
		if (is_joint(p)) {
			p += 2;
			continue;
		}
		if (*p == '\\' && !*++p) {
			*why = "a \\ at the end escapes nothing";
			return -EINVAL;
		}
		*out++ = *p++;
	}
	*text = p;
	*size = (size_t)(out - start);
	return 0;
}

int leat_words_split(const char *text, char ***argv, const char **why)
{
	struct words words = {calloc(1, sizeof(*words.v)), 0};
	char *buffer = malloc(strlen(text) + 1);
	size_t size;
	int ret = words.v && buffer ? 0 : -ENOMEM;

	while (!ret) {
		while (is_blank(*text) || is_joint(text))
			text += is_blank(*text) ? 1 : 2;
		if (!*text)
			break;
		ret = take_word(&text, buffer, &size, why);
		if (!ret)
			ret = words_add(&words, buffer, size);
	}
	free(buffer);
	if (ret) {
		leat_words_free(words.v);
		return ret;
	}
	*argv = words.v;
	return 0;
}

/* True if the shell would expand what begins with the "$" at `p`. */
static bool is_expansion(const char *p)
{
	return *p == '$' &&
	       (strchr("{(_@*#?", p[1]) || (p[1] >= 'A' && p[1] <= 'Z') ||
		(p[1] >= 'a' && p[1] <= 'z') || (p[1] >= '0' && p[1] <= '9')) &&
	       p[1];
}

/* True if the unquoted operator at `p`, in the word that begins at `word`, is
 * where people write it for a shell, not inside of a word like QUAL>20. */
static bool is_operator(const char *word, const char *p)
{
	if ((*p == '<' || *p == '>') && word + strspn(word, "0123456789") == p)
		return true;
	if (!strchr("|&;", *p))
		return false;
	return p == word || (*p != '|' && (!p[1] || is_blank(p[1])));
}

char leat_words_shell(const char *text)
{
	const char *word = text;
	char quote = '\0';

	for (const char *p = text; *p; p++) {
		if (*p == '\\' && quote != '\'') {
			if (!*++p)
				break;
		} else if (quote && *p == quote) {
			quote = '\0';
		} else if (!quote && (*p == '"' || *p == '\'')) {
			quote = *p;
		} else if (quote != '\'' && (*p == '`' || is_expansion(p))) {
			return *p;
		} else if (!quote && is_blank(*p)) {
			word = p + 1;
		} else if (!quote && (is_operator(word, p) || (*p == '*' && *word != '-'))) {
			return *p;
		}
	}
	return '\0';
}

void leat_words_free(char **argv)
{
	for (char **arg = argv; arg && *arg; arg++)
		free(*arg);
	free(argv);
}

void leat_words_put(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "@%_+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}
