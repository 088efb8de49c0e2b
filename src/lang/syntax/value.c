#include "lang/syntax/value.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/diagnostics.h"
#include "lang/syntax/json.h"
#include "lang/syntax/source.h"
#include "lang/syntax/token.h"

/* Deeper than any section of the languages, and shallow enough for recursion. */
enum { DEPTH_MAX = 64 };

struct builder {
	const char *text;
	int file;
	bool json;
	struct leat_diags *diags;
	struct leat_value *root;            /* owned */
	struct leat_value *open[DEPTH_MAX]; /* lists and maps not ended; borrowed from root */
	int depth;
	int documents;
	/* The place last asked for: events come in the order of the text. */
	size_t offset;
	struct leat_pos pos;
};

static struct leat_pos builder_pos(struct builder *b, size_t at)
{
	if (at < b->offset) {
		b->offset = 0;
		b->pos = (struct leat_pos){1, 1, b->file};
	}
	leat_text_advance(b->text, b->offset, at, &b->pos);
	b->offset = at;
	return b->pos;
}

/* Where `token` begins, with its quote (or "*", "&") if it has one; the last place known if it has
 * no text. */
static struct leat_pos token_pos(struct builder *b, struct fy_token *token, bool quoted)
{
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;

	if (!mark)
		return b->pos;
	return builder_pos(b, mark->input_pos - (quoted && mark->input_pos > 0));
}

static int append(struct leat_value *parent, struct leat_value *child)
{
	if ((parent->n & (parent->n - 1)) == 0) {
		size_t capacity = parent->n ? 2 * parent->n : 1;
		struct leat_value **v =
			reallocarray(parent->v, capacity, sizeof(struct leat_value *));

		if (!v)
			return -ENOMEM;
		parent->v = v;
	}
	parent->v[parent->n++] = child;
	return 0;
}

/* Put a new node at its place in the tree, which owns it from here on. */
static int builder_add(struct builder *b, enum leat_value_kind kind, struct leat_pos pos,
		       struct leat_value **out)
{
	struct leat_value *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;
	struct leat_value *node = calloc(1, sizeof(*node));
	int ret;

	if (!node)
		return -ENOMEM;
	node->kind = kind;
	node->pos = pos;
	if (parent && parent->kind == LEAT_VALUE_MAP && parent->n % 2 == 0 &&
	    kind != LEAT_VALUE_SCALAR) {
		leat_lang_report(b->diags, L_TYPE, pos,
				 "a key must be a string, not a list or an object");
		leat_value_free(node);
		return -EINVAL;
	}
	if (!parent) {
		b->root = node;
	} else {
		ret = append(parent, node);
		if (ret) {
			leat_value_free(node);
			return ret;
		}
	}
	*out = node;
	return 0;
}

/* For a value that is not there, libfyaml gives no token up to 0.7, an empty one at the end of its
 * key from 0.8 on. */
static struct fy_token *token_of_scalar(struct fy_token *token)
{
	const struct fy_mark *begin, *end;

	if (!token || fy_token_scalar_style(token) != FYSS_PLAIN)
		return token;
	begin = fy_token_start_mark(token);
	end = fy_token_end_mark(token);
	return begin && end && begin->input_pos == end->input_pos ? NULL : token;
}

/* `token`: NULL for a value that is not there. */
static int builder_scalar(struct builder *b, struct fy_token *token)
{
	enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
	bool quoted = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
	struct leat_value *node;
	const char *why;
	size_t size = 0;
	int ret;

	ret = builder_add(b, LEAT_VALUE_SCALAR, token_pos(b, token, quoted), &node);
	if (ret)
		return ret;
	node->plain = style == FYSS_PLAIN;
	if (token)
		ret = leat_token_text(token, b->text, &node->text, &size, &why);
	else if (!(node->text = strdup("")))
		ret = -ENOMEM;
	if (ret == -EINVAL)
		leat_lang_report(b->diags, b->json ? L_JSON_SYNTAX : L_YAML_SYNTAX,
				 builder_pos(b, size), "not %s: %s", b->json ? "JSON" : "YAML",
				 why);
	if (ret)
		return ret;
	if (strlen(node->text) < size)
		leat_lang_report(b->diags, L_NUL, node->pos, "the string holds a NUL character");
	return 0;
}

static int builder_open(struct builder *b, enum leat_value_kind kind, struct fy_token *token)
{
	struct leat_pos pos = token_pos(b, token, false);
	struct leat_value *node;
	int ret;

	if (b->depth == DEPTH_MAX) {
		leat_lang_report(b->diags, L_DEPTH, pos, "nested more than %d deep", DEPTH_MAX);
		return -EINVAL;
	}
	ret = builder_add(b, kind, pos, &node);
	if (!ret)
		b->open[b->depth++] = node;
	return ret;
}

static int by_text_then_position(const void *pa, const void *pb)
{
	const struct leat_value *a = *(struct leat_value *const *)pa;
	const struct leat_value *b = *(struct leat_value *const *)pb;
	int order = strcmp(a->text, b->text);

	if (order)
		return order;
	if (a->pos.line != b->pos.line)
		return a->pos.line < b->pos.line ? -1 : 1;
	return (a->pos.column > b->pos.column) - (a->pos.column < b->pos.column);
}

/* Report keys that a map has twice. Sorted, because a map may be large. */
static int check_unique(struct builder *b, const struct leat_value *map)
{
	size_t n = map->n / 2;
	struct leat_value **keys;

	if (n < 2)
		return 0;
	keys = calloc(n, sizeof(struct leat_value *));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		keys[i] = map->v[2 * i];
	qsort(keys, n, sizeof(struct leat_value *), by_text_then_position);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(keys[i]->text, keys[i - 1]->text))
			leat_lang_report(b->diags, L_KEY_TWICE, keys[i]->pos,
					 "\"%s\" is given twice here (first in line %d)",
					 keys[i]->text, keys[i - 1]->pos.line);
	free(keys);
	return 0;
}

static int builder_close(struct builder *b)
{
	const struct leat_value *done = b->depth > 0 ? b->open[--b->depth] : NULL;

	return done && done->kind == LEAT_VALUE_MAP ? check_unique(b, done) : 0;
}

static int refuse_alias(struct builder *b, struct fy_token *token)
{
	size_t size = 0;
	const char *text = fy_token_get_text(token, &size);

	leat_lang_report(
		b->diags, L_YAML_ALIAS, token_pos(b, token, true),
		"a name that begins with \"*\" must be in quotes: \"*%.*s\" (unquoted it is a YAML "
		"alias)",
		(int)size, text ? text : "");
	return -EINVAL;
}

static int refuse_extras(struct builder *b, struct fy_token *anchor, struct fy_token *tag)
{
	if (anchor) {
		leat_lang_report(b->diags, L_YAML_ALIAS, token_pos(b, anchor, true),
				 "YAML anchors are not supported: write repeated values out");
		return -EINVAL;
	}
	if (tag) {
		leat_lang_report(
			b->diags, L_YAML_TAG, token_pos(b, tag, false),
			"YAML tags are not supported; put a name that begins with \"!\" in quotes");
		return -EINVAL;
	}
	return 0;
}

static int builder_document(struct builder *b)
{
	if (++b->documents == 1)
		return 0;
	leat_lang_report(
		b->diags, L_YAML_DOCUMENTS, b->pos,
		"a second YAML document begins after this one: one file holds one workflow");
	return -EINVAL;
}

static int builder_event(struct builder *b, const struct fy_event *e)
{
	int ret;

	switch (e->type) {
	case FYET_DOCUMENT_START:
		return builder_document(b);
	case FYET_SCALAR:
		ret = refuse_extras(b, e->scalar.anchor, e->scalar.tag);
		return ret ? ret : builder_scalar(b, token_of_scalar(e->scalar.value));
	case FYET_SEQUENCE_START:
		ret = refuse_extras(b, e->sequence_start.anchor, e->sequence_start.tag);
		return ret ? ret
			   : builder_open(b, LEAT_VALUE_LIST, e->sequence_start.sequence_start);
	case FYET_MAPPING_START:
		ret = refuse_extras(b, e->mapping_start.anchor, e->mapping_start.tag);
		return ret ? ret : builder_open(b, LEAT_VALUE_MAP, e->mapping_start.mapping_start);
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		return builder_close(b);
	case FYET_ALIAS:
		return refuse_alias(b, e->alias.anchor);
	default:
		return 0;
	}
}

/* libfyaml's words for what people get wrong most, and ours. */
static const char *yaml_words(const char *message)
{
	static const struct {
		const char *part, *words;
	} table[] = {
		{"tab character", "a tab cannot indent in YAML: use spaces"},
		{"did not find expected '-'", "wrong indentation: this is neither a \"- \" entry "
					      "of the list above nor aligned with its keys"},
		{"invalid indentation in mapping", "wrong indentation: aligned with no key above"},
		{"invalid scalar at the end of block sequence",
		 "wrong indentation: this is neither a \"- \" entry of the list above nor aligned "
		 "with its keys"},
		{"without closing quote", "the string is not closed"},
		{"wrongly indented double-quoted", "the string is not closed on its line"},
		{"wrongly indented single-quoted", "the string is not closed on its line"},
		{"invalid nested block mapping",
		 "\": \" twice in one line: put the value in quotes"},
		{"plain scalar cannot start with",
		 "a value that begins with this character must be in quotes"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(message, table[i].part))
			return table[i].words;
	return message;
}

static void report_refusal(struct builder *b, struct fy_diag *collected, size_t size, bool json)
{
	void *state = NULL;
	const struct fy_diag_error *e = fy_diag_errors_iterate(collected, &state);
	struct leat_pos pos = b->pos;

	if (json && leat_json_explain(b->text, size, b->file, b->diags))
		return;
	if (e && e->line > 0)
		pos = (struct leat_pos){e->line, e->column, b->file};
	leat_lang_report(b->diags, json ? L_JSON_SYNTAX : L_YAML_SYNTAX, pos, "not %s: %s",
			 json ? "JSON" : "YAML", e ? yaml_words(e->msg) : "cannot be parsed");
}

static int run_parser(struct builder *b, struct fy_parser *parser, struct fy_diag *collected,
		      size_t size, bool json)
{
	struct fy_event *e;
	int ret = 0;

	if (fy_parser_set_string(parser, b->text, size))
		return -ENOMEM;
	while (!ret && (e = fy_parser_parse(parser))) {
		ret = builder_event(b, e);
		fy_parser_event_free(parser, e);
	}
	if (!ret && fy_parser_get_stream_error(parser)) {
		report_refusal(b, collected, size, json);
		ret = -EINVAL;
	}
	if (!ret && !b->root) {
		leat_lang_report(b->diags, L_FILE_EMPTY, (struct leat_pos){0, 0, b->file},
				 "the file is empty");
		ret = -EINVAL;
	}
	return ret;
}

int leat_value_parse(const char *text, size_t size, int file, bool json, struct leat_diags *diags,
		     struct leat_value **root)
{
	struct builder b = {
		.text = text, .file = file, .json = json, .diags = diags, .pos = {1, 1, file}};
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG |
					       FYPCF_DEFAULT_VERSION_1_2 |
					       (json ? FYPCF_JSON_FORCE : FYPCF_JSON_NONE)};
	struct fy_diag_cfg diag_config;
	struct fy_parser *parser = NULL;
	int ret = -ENOMEM;

	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	config.diag = fy_diag_create(&diag_config);
	if (!config.diag)
		goto out;
	fy_diag_set_collect_errors(config.diag, true);
	parser = fy_parser_create(&config);
	if (!parser)
		goto out;
	ret = run_parser(&b, parser, config.diag, size, json);
	if (!ret) {
		*root = b.root;
		b.root = NULL;
	}
out:
	leat_value_free(b.root);
	if (parser)
		fy_parser_destroy(parser);
	fy_diag_destroy(config.diag);
	return ret;
}

void leat_value_free(struct leat_value *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n; i++)
		leat_value_free(node->v[i]);
	free(node->v);
	free(node->text);
	free(node);
}

const struct leat_value *leat_value_get(const struct leat_value *map, const char *key)
{
	if (!map || map->kind != LEAT_VALUE_MAP)
		return NULL;
	for (size_t i = 0; i + 1 < map->n; i += 2)
		if (!strcmp(map->v[i]->text, key))
			return map->v[i + 1];
	return NULL;
}

const char *leat_value_text(const struct leat_value *map, const char *key)
{
	const struct leat_value *v = leat_value_get(map, key);

	return v && v->kind == LEAT_VALUE_SCALAR ? v->text : "";
}

uint64_t leat_value_number(const struct leat_value *map, const char *key)
{
	return strtoull(leat_value_text(map, key), NULL, 10);
}

bool leat_value_is_null(const struct leat_value *node)
{
	return node->kind == LEAT_VALUE_SCALAR && node->plain &&
	       (!node->text[0] || !strcmp(node->text, "~") || !strcmp(node->text, "null") ||
		!strcmp(node->text, "Null") || !strcmp(node->text, "NULL"));
}
