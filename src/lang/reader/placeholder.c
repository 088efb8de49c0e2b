#include "lang/reader/placeholder.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lang/syntax/diagnostics.h"

/* What leat puts something in the place of. */
static const char *const placeholders[] = {"{filename}", "{instance}"};

void leat_refuse_placeholders(struct leat_front *front, const char *name, struct leat_pos pos)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(*placeholders); i++)
		if (strstr(name, placeholders[i]))
			leat_lang_report(
				front->diags, L_PLACEHOLDER, pos,
				"\"%s\" is replaced in \"exec\" and \"args\" only: leave it out of "
				"names; the files of each instance are in a directory of its own",
				placeholders[i]);
}

/* The placeholder that `word`, "{...}", is nearly; NULL: it is one, or none. */
static const char *meant_placeholder(const char *word)
{
	const char *meant = NULL;

	for (size_t i = 0; i < sizeof(placeholders) / sizeof(*placeholders); i++) {
		if (!strcmp(word, placeholders[i]))
			return NULL;
		if (leat_str_distance(word, placeholders[i]) <= 2)
			meant = placeholders[i];
	}
	return meant;
}

void leat_warn_placeholders(struct leat_front *front, const char *text, struct leat_pos pos)
{
	for (const char *at = text; (at = strchr(at, '{')); at++) {
		size_t length = strcspn(at, "} \t\n") + 1;
		char word[16];
		const char *meant;

		if (length >= sizeof(word) || at[length - 1] != '}')
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		meant = meant_placeholder(word);
		if (meant)
			leat_lang_report(
				front->diags, L_PLACEHOLDER_SPELLING, pos,
				"\"%s\" is passed to the program unchanged; did you mean \"%s\"?",
				word, meant);
	}
}
