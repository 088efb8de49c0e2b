/* leat's own keys in CAPIO-CL: what the language has no words for, so that every
 * model has a canonical form. Front ends of others ignore or refuse them. */
#include "lang/front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"

int leat_read_argv(struct leat_front *front, const struct leat_pair *entry, char ***argv)
{
	const struct leat_value *list = entry->value;
	char **v;

	if (!list)
		return 0;
	if (list->kind != LEAT_VALUE_LIST || !list->n) {
		leat_say(front->diags, "L-TYPE", list->pos,
			 "\"%s\" must be a list of strings that begins with a program",
			 entry->key->text);
		return 0;
	}
	v = calloc(list->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		const struct leat_value *word = list->v[i];

		if (word->kind != LEAT_VALUE_SCALAR || word->plain)
			leat_say(front->diags, "L-TYPE", word->pos,
				 "an argument must be a string, not %s", leat_value_describe(word));
		v[i] = strdup(word->kind == LEAT_VALUE_SCALAR ? word->text : "");
		if (!v[i]) {
			leat_words_free(v);
			return -ENOMEM;
		}
	}
	*argv = v;
	return 0;
}

int leat_read_dir(struct leat_front *front, const struct leat_pair *entry)
{
	const char *text = entry->value ? leat_read_text(front, entry) : NULL;

	if (!text)
		return 0;
	front->wf->dir = strdup(text);
	return front->wf->dir ? 0 : -ENOMEM;
}
