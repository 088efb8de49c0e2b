/* leat's own keys in CAPIO-CL: what the language has no words for, so that every
 * model has a canonical form. Front ends of others ignore or refuse them. */
#include "lang/reader/extension.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/words.h"

int leat_read_argv(struct leat_front *front, const struct leat_pair *entry, char ***argv)
{
	const struct leat_value *list = entry->value;
	char **v;

	if (!list)
		return 0;
	if (list->kind != LEAT_VALUE_LIST || !list->n) {
		leat_lang_report(front->diags, L_TYPE, list->pos,
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
			leat_lang_report(front->diags, L_TYPE, word->pos,
					 "an argument must be a string, not %s",
					 leat_value_describe(word));
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

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* The file of an action as its name says: of one without an ending, as Wilkins has it, the
 * Python module. NULL in *out if it is none (reported). */
static int action_file(struct leat_front *front, const struct leat_value *node, char **out)
{
	const char *slash = strrchr(node->text, '/'), *last = slash ? slash + 1 : node->text;
	bool whole = ends_with(last, ".so") || ends_with(last, ".py");

	*out = NULL;
	if (!whole && (!*last || strchr(last, '.'))) {
		leat_lang_report(
			front->diags, L_ACTION, node->pos,
			"\"%s\" is no action file: it is a shared object, \"name.so\", or Python, "
			"\"name.py\" or \"name\"",
			node->text);
		return 0;
	}
	*out = whole ? strdup(node->text) : leat_strf("%s.py", node->text);
	return *out ? 0 : -ENOMEM;
}

/* ["file", "function"] */
int leat_read_actions(struct leat_front *front, const struct leat_pair *entry,
		      struct leat_step *step)
{
	const struct leat_value *list = entry->value;
	bool good = list->kind == LEAT_VALUE_LIST && list->n == 2;
	int ret;

	for (size_t i = 0; good && i < 2; i++)
		good = list->v[i]->kind == LEAT_VALUE_SCALAR && list->v[i]->text[0] &&
		       !leat_value_is_null(list->v[i]) && !(front->json && list->v[i]->plain);
	if (!good) {
		leat_lang_report(front->diags, L_ACTION, list->pos,
				 "\"%s\" must be a list of two strings, [\"file\", \"function\"]",
				 entry->key->text);
		return 0;
	}
	ret = action_file(front, list->v[0], &step->action_file);
	if (ret || !step->action_file)
		return ret;
	step->action_pos = list->v[0]->pos;
	step->action_function = strdup(list->v[1]->text);
	return step->action_function ? 0 : -ENOMEM;
}
