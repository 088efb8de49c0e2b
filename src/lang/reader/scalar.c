/* Reading single values of the kind their key takes. */
#include "lang/reader/scalar.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/diagnostics.h"

bool leat_parse_count(const char *text, unsigned min, unsigned *value)
{
	char *end;
	unsigned long n;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n < min || n > INT_MAX)
		return false;
	*value = (unsigned)n;
	return true;
}

const char *leat_value_describe(const struct leat_value *node)
{
	if (node->kind == LEAT_VALUE_LIST)
		return "a list";
	if (node->kind == LEAT_VALUE_MAP)
		return "an object";
	if (!node->plain)
		return "a string";
	if (leat_value_is_null(node))
		return node->text[0] ? "null" : "nothing";
	if (!strcmp(node->text, "true") || !strcmp(node->text, "false"))
		return "true or false";
	if (isdigit((unsigned char)node->text[node->text[0] == '-']))
		return "a number";
	return "a string";
}

const char *leat_read_text(struct leat_front *front, const struct leat_pair *entry)
{
	const struct leat_value *node = entry->value;

	if (node->kind != LEAT_VALUE_SCALAR || leat_value_is_null(node) ||
	    (front->json && node->plain)) {
		leat_lang_report(front->diags, L_TYPE, node->pos, "\"%s\" must be a string, not %s",
				 entry->key->text, leat_value_describe(node));
		return NULL;
	}
	if (!node->text[0]) {
		leat_lang_report(front->diags, L_EMPTY, node->pos, "\"%s\" is empty",
				 entry->key->text);
		return NULL;
	}
	return node->text;
}

bool leat_read_number(struct leat_front *front, const struct leat_pair *entry, unsigned min,
		      unsigned max, unsigned *value)
{
	const struct leat_value *node = entry->value;
	unsigned n;

	if (node->kind == LEAT_VALUE_SCALAR && node->plain &&
	    leat_parse_count(node->text, min, &n) && n <= max) {
		*value = n;
		return true;
	}
	if (node->kind != LEAT_VALUE_SCALAR || !node->plain)
		leat_lang_report(front->diags, L_TYPE, node->pos,
				 "\"%s\" must be a whole number, not %s", entry->key->text,
				 leat_value_describe(node));
	else if (max == INT_MAX)
		leat_lang_report(front->diags, L_NUMBER, node->pos,
				 "\"%s\" must be a whole number of at least %u, not %s",
				 entry->key->text, min, node->text[0] ? node->text : "nothing");
	else
		leat_lang_report(front->diags, L_NUMBER, node->pos,
				 "\"%s\" must be a whole number from %u to %u, not %s",
				 entry->key->text, min, max,
				 node->text[0] ? node->text : "nothing");
	return false;
}

bool leat_read_bool(struct leat_front *front, const struct leat_pair *entry, bool *value)
{
	const struct leat_value *node = entry->value;

	if (node->kind == LEAT_VALUE_SCALAR && node->plain) {
		if (!strcmp(node->text, "true") || !strcmp(node->text, "false")) {
			*value = node->text[0] == 't';
			return true;
		}
	}
	leat_lang_report(front->diags, L_TYPE, node->pos, "\"%s\" must be true or false",
			 entry->key->text);
	return false;
}

void leat_read_staged(struct leat_front *front, const struct leat_pair *entry,
		      struct leat_step *step)
{
	const struct leat_value *node = entry->value;
	const char *text = node->kind == LEAT_VALUE_SCALAR ? node->text : "";

	step->concurrent = !strcmp(text, "concurrent");
	step->staged = step->concurrent || (node->plain && !strcmp(text, "true"));
	if (!step->staged && (!node->plain || strcmp(text, "false") != 0))
		leat_lang_report(front->diags, L_TYPE, node->pos,
				 "\"%s\" must be true, false or concurrent", entry->key->text);
}

bool leat_read_switch(struct leat_front *front, const struct leat_pair *entry, bool *value)
{
	const struct leat_value *node = entry->value;
	bool plain = node && node->kind == LEAT_VALUE_SCALAR && node->plain;

	if (!node)
		return true;
	if (plain && (!strcmp(node->text, "0") || !strcmp(node->text, "1"))) {
		*value = node->text[0] == '1';
		return true;
	}
	if (plain && (!strcmp(node->text, "true") || !strcmp(node->text, "false")))
		return leat_read_bool(front, entry, value);
	leat_lang_report(front->diags, L_TYPE, node->pos, "\"%s\" must be 0 or 1, not %s",
			 entry->key->text,
			 plain && node->text[0] ? node->text : leat_value_describe(node));
	return false;
}

bool leat_read_freq(struct leat_front *front, const struct leat_pair *entry, enum leat_flow *flow,
		    unsigned *every)
{
	const struct leat_value *node = entry->value;
	bool scalar = node->kind == LEAT_VALUE_SCALAR, plain = scalar && node->plain;
	unsigned n;

	if ((scalar && !strcmp(node->text, "latest")) || (plain && !strcmp(node->text, "-1"))) {
		*flow = LEAT_FLOW_LATEST;
		return true;
	}
	if (plain && leat_parse_count(node->text, 0, &n)) {
		*flow = n > 1 ? LEAT_FLOW_SOME : LEAT_FLOW_ALL;
		*every = n > 1 ? n : 0;
		return true;
	}
	leat_lang_report(front->diags, L_IO_FREQ, node->pos,
			 "\"%s\" must be 0 or 1 (every version), N (every Nth), or -1 or "
			 "\"latest\" (the newest), not %s",
			 entry->key->text,
			 plain && node->text[0] ? node->text : leat_value_describe(node));
	return false;
}

size_t leat_read_objects(struct leat_front *front, const struct leat_pair *entry)
{
	if (!entry->value)
		return 0;
	if (entry->value->kind == LEAT_VALUE_LIST)
		return entry->value->n;
	if (entry->value->kind == LEAT_VALUE_MAP) {
		leat_lang_report(front->diags, L_LIST_OBJECT, entry->value->pos,
				 "\"%s\" is read as a list of one object; write [{...}]",
				 entry->key->text);
		return 1;
	}
	leat_lang_report(front->diags, L_TYPE, entry->value->pos,
			 "\"%s\" must be a list of objects, not %s", entry->key->text,
			 leat_value_describe(entry->value));
	return 0;
}

const struct leat_value *leat_pair_item(const struct leat_pair *entry, size_t i)
{
	return entry->value->kind == LEAT_VALUE_LIST ? entry->value->v[i] : entry->value;
}
