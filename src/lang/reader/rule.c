/* One streaming entry: commit rule, firing rule, and for which names. */
#include "lang/reader/rule.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/names.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

/* What one entry says, before it is given to each of its names. */
struct reading {
	const struct leat_rule_text *text;
	bool is_dir;
	bool wrong; /* reported: add no rule */
	enum leat_commit commit;
	unsigned count;
	unsigned n_files;
	enum leat_fire fire;
	bool retain;
	struct leat_names deps; /* owned */
};

static void wrong(struct reading *r)
{
	r->wrong = true;
}

/* --- Which names --------------------------------------------------------- */

static void read_type(struct leat_front *front, struct reading *r)
{
	const struct leat_pair *type = &r->text->type;
	const char *text;

	if (!type->value)
		return;
	text = leat_read_text(front, type);
	if (!text) {
		wrong(r);
	} else if (!strcmp(text, "d")) {
		leat_lang_report(
			front->diags, L_RULE_TYPE_D, type->key->pos,
			"\"type\": \"d\" is the form of 2023: write \"dirname\" instead of "
			"\"name\"");
		r->is_dir = true;
	} else {
		leat_lang_report(front->diags, L_RULE_TYPE, type->value->pos,
				 "unknown type \"%s\": a file is given by \"name\", a directory by "
				 "\"dirname\"",
				 text);
		wrong(r);
	}
}

static int read_names(struct leat_front *front, struct reading *r, struct leat_names *names)
{
	const struct leat_rule_text *text = r->text;
	unsigned flags = strcmp(text->name_key, "name") ? LEAT_NAMES_ONE_OK : 0;

	if (text->name.key && text->dirname.key) {
		leat_lang_report(front->diags, L_RULE_NAMES, text->dirname.key->pos,
				 "\"%s\" and \"dirname\" together: write two entries",
				 text->name.key->text);
		wrong(r);
		return 0;
	}
	if (!text->name.key && !text->dirname.key) {
		leat_lang_report(
			front->diags, L_RULE_NAMES, text->pos,
			"neither \"%s\" (for files) nor \"dirname\" (for directories) is given",
			text->name_key);
		wrong(r);
		return 0;
	}
	r->is_dir = text->dirname.key != NULL;
	read_type(front, r);
	return leat_read_names(front, text->dirname.key ? &text->dirname : &text->name, flags,
			       names);
}

/* --- The commit rule ------------------------------------------------------ */

struct commit_word {
	const char *word;
	enum leat_commit commit;
	bool counted; /* ":N" may follow */
};

static const struct commit_word commit_words[] = {
	{"on_close", LEAT_COMMIT_ON_CLOSE, true},
	{"on_termination", LEAT_COMMIT_ON_TERMINATION, true},
	{"n_files", LEAT_COMMIT_N_FILES, true},
	{"on_n_files", LEAT_COMMIT_N_FILES, false},
	{"on_file", LEAT_COMMIT_ON_FILE, false},
	{NULL, 0, false},
};

static const struct commit_word *find_commit(const char *text, size_t n)
{
	for (const struct commit_word *w = commit_words; w->word; w++)
		if (strlen(w->word) == n && !strncmp(w->word, text, n))
			return w;
	return NULL;
}

static const char *nearest_commit(const char *text, size_t n)
{
	const char *best = NULL;
	unsigned best_distance = 4;
	char *word = strndup(text, n);

	for (const struct commit_word *w = commit_words; word && w->word; w++) {
		unsigned distance = leat_str_distance(word, w->word);

		if (distance < best_distance) {
			best_distance = distance;
			best = w->word;
		}
	}
	free(word);
	return best;
}

static bool declares(const struct leat_names *names, const char *path, bool patterns)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i].text, path) ||
		    (patterns && leat_pattern_match(names->v[i].text, path)))
			return true;
	return false;
}

/* True if `text` names a group or a file of some stream. Patterns count only for
 * what does not look like a misspelt rule: "*" would match anything. */
static bool is_declared(struct leat_front *front, const char *text)
{
	bool patterns = !nearest_commit(text, strcspn(text, ":"));

	if (leat_group_find(front, text))
		return true;
	for (size_t i = 0; i < front->wf->n_steps; i++)
		if (declares(&front->wf->steps[i].outputs, text, patterns) ||
		    declares(&front->wf->steps[i].inputs, text, patterns))
			return true;
	return false;
}

/* Add the dependency that is written into the rule itself. */
static int add_dep(struct leat_front *front, struct reading *r, const char *text)
{
	struct leat_value node = {.kind = LEAT_VALUE_SCALAR, .pos = r->text->committed.value->pos};
	int ret;

	node.text = strdup(text);
	if (!node.text)
		return -ENOMEM;
	r->commit = LEAT_COMMIT_ON_FILE;
	ret = leat_read_name(front, &node, &r->deps);
	free(node.text);
	return ret;
}

static void report_commit(struct leat_front *front, struct reading *r, const char *text)
{
	const char *meant = nearest_commit(text, strcspn(text, ":"));
	const char *rules = "on_close[:N], on_termination[:N], on_file with \"file_deps\", or "
			    "n_files:N for a directory";

	if (meant)
		leat_lang_report(
			front->diags, L_RULE_UNKNOWN, r->text->committed.value->pos,
			"unknown commit rule \"%s\"; did you mean \"%s\"? The rules are %s", text,
			meant, rules);
	else
		leat_lang_report(
			front->diags, L_RULE_UNKNOWN, r->text->committed.value->pos,
			"\"%s\" is neither a commit rule nor a declared file; the rules are %s",
			text, rules);
	wrong(r);
}

static void read_count(struct leat_front *front, struct reading *r, const struct commit_word *word,
		       const char *count)
{
	unsigned zero;

	r->commit = word->commit;
	if (!count)
		return;
	if (r->text->capio && word->commit == LEAT_COMMIT_ON_CLOSE &&
	    leat_parse_count(count, 0, &zero) && !zero) {
		leat_lang_report(front->diags, L_RULE_COUNT_ZERO, r->text->committed.value->pos,
				 "\"on_close:%s\" is read as \"on_close\"", count);
	} else if (!leat_parse_count(count, 1, &r->count)) {
		leat_lang_report(front->diags, L_RULE_COUNT, r->text->committed.value->pos,
				 "\"%s:%s\": the count must be a whole number of at least 1",
				 word->word, count);
		wrong(r);
	}
}

static int read_committed(struct leat_front *front, struct reading *r)
{
	const struct leat_pair *entry = &r->text->committed;
	const char *text = leat_read_text(front, entry);
	const struct commit_word *word;
	const char *colon;

	if (!text) {
		wrong(r);
		return 0;
	}
	colon = strchr(text, ':');
	word = find_commit(text, colon ? (size_t)(colon - text) : strlen(text));
	if (word && (word->counted || !colon)) {
		read_count(front, r, word, colon ? colon + 1 : NULL);
		return 0;
	}
	if (word && word->commit == LEAT_COMMIT_ON_FILE && colon[1]) {
		leat_lang_report(
			front->diags, L_RULE_ON_FILE_SHORT, entry->value->pos,
			"\"%s\" is read as \"committed\": \"on_file\", \"file_deps\": [\"%s\"]",
			text, colon + 1);
		return add_dep(front, r, colon + 1);
	}
	if (!word && is_declared(front, text)) {
		leat_lang_report(front->diags, L_RULE_ON_FILE_SHORT, entry->value->pos,
				 "a file as commit rule is the form of 2023: write \"committed\": "
				 "\"on_file\", \"file_deps\": [\"%s\"]",
				 text);
		return add_dep(front, r, text);
	}
	report_commit(front, r, text);
	return 0;
}

/* --- What goes with it ---------------------------------------------------- */

/* CAPIO called it "append" in 2022, and "noupdate" in 2023. */
static bool is_old_mode(const char *text)
{
	return !strcmp(text, "noupdate") || !strcmp(text, "append");
}

static void read_mode(struct leat_front *front, struct reading *r)
{
	const struct leat_pair *entry = &r->text->mode;
	const char *text;

	if (!entry->value)
		return;
	text = leat_read_text(front, entry);
	if (text && !strcmp(text, "no_update"))
		r->fire = LEAT_FIRE_NO_UPDATE;
	else if (text && is_old_mode(text)) {
		leat_lang_report(front->diags, L_RULE_MODE_OLD, entry->value->pos,
				 "\"%s\" is read as \"no_update\"", text);
		r->fire = LEAT_FIRE_NO_UPDATE;
	} else if (text && strcmp(text, "update"))
		leat_lang_report(
			front->diags, L_RULE_MODE, entry->value->pos,
			"unknown mode \"%s\": it is \"update\" (readable once committed) or "
			"\"no_update\" (readable as it is written)",
			text);
	else if (!text)
		wrong(r);
}

static int read_deps(struct leat_front *front, struct reading *r)
{
	const struct leat_pair *entry = &r->text->deps;
	int ret;

	if (r->commit == LEAT_COMMIT_ON_FILE) {
		ret = leat_read_names(front, entry, LEAT_NAMES_ONE_OK, &r->deps);
		if (ret || r->deps.n || r->wrong)
			return ret;
		leat_lang_report(front->diags, L_RULE_ON_FILE_NO_DEPS,
				 r->text->committed.value->pos,
				 "\"on_file\" needs \"file_deps\": [...], the files to wait for");
		wrong(r);
	} else if (entry->value && !r->wrong &&
		   (entry->value->kind == LEAT_VALUE_SCALAR || entry->value->n)) {
		leat_lang_report(front->diags, L_RULE_DEPS_UNUSED, entry->key->pos,
				 "\"%s\" is ignored: the commit rule is not \"on_file\"",
				 entry->key->text);
	}
	return 0;
}

/* True for a number that CAPIO's schema lets pass and that says nothing: of a file, or 0
 * (reported). A directory of so many files as nobody knows is complete when its producers have
 * ended (CAPIO, 2023, Sec. IV-B). */
static bool is_no_number(struct leat_front *front, struct reading *r, bool by_rule, unsigned n)
{
	const struct leat_pair *entry = &r->text->n_files;
	const char *why = "is ignored: it is 0";

	if (!r->text->capio || !entry->value || r->wrong || (n && (r->is_dir || by_rule)))
		return false;
	if (n)
		why = "is ignored: it is for a directory (\"dirname\")";
	else if (by_rule && r->is_dir && !r->count)
		why = "is 0, so the number of files is unknown: \"on_termination\" is assumed";
	leat_lang_report(front->diags, L_RULE_N_FILES_UNUSED, entry->value->pos, "\"%s\" %s",
			 entry->key->text, why);
	if (by_rule && r->is_dir && !r->count) {
		r->commit = LEAT_COMMIT_ON_TERMINATION;
		by_rule = false;
	}
	return !by_rule;
}

/* The number of files: from the rule, from the key beside it, or both alike. */
static void read_n_files(struct leat_front *front, struct reading *r)
{
	const struct leat_pair *entry = &r->text->n_files;
	bool by_rule = r->commit == LEAT_COMMIT_N_FILES && r->text->committed.value;
	unsigned n = 0;

	if (entry->value && !leat_read_number(front, entry, !r->text->capio, INT_MAX, &n)) {
		wrong(r);
		return;
	}
	if (is_no_number(front, r, by_rule, n) || r->wrong || (!n && !by_rule))
		return;
	if (!r->is_dir) {
		leat_lang_report(
			front->diags, L_RULE_N_FILES_ON_FILE,
			n ? entry->key->pos : r->text->committed.value->pos,
			"a number of files is for a directory: write \"dirname\" instead of "
			"\"%s\"",
			r->text->name_key);
		wrong(r);
	} else if (by_rule && !n && !r->count) {
		leat_lang_report(front->diags, L_RULE_N_FILES_MISSING,
				 r->text->committed.value->pos,
				 "the number of files is missing: write \"n_files:N\"");
		wrong(r);
	} else if (by_rule && n && r->count && n != r->count) {
		leat_lang_report(
			front->diags, L_RULE_N_FILES_DIFFER, entry->value->pos,
			"two numbers of files for one directory: %u here, %u in the commit rule", n,
			r->count);
		wrong(r);
	} else if (by_rule) {
		r->count = r->count ? r->count : n;
	} else {
		r->n_files = n;
	}
}

static int add_rule(struct leat_step *step, const struct leat_name *name, const struct reading *r)
{
	struct leat_rule *rule = leat_step_add_rule(step, name->text, name->pos);
	int ret = rule ? 0 : -ENOMEM;

	if (ret)
		return ret;
	rule->is_dir = r->is_dir;
	rule->commit = r->commit;
	rule->count = r->count;
	if (r->text->committed.value)
		rule->commit_pos = r->text->committed.value->pos;
	rule->fire = r->fire;
	rule->n_files = r->n_files;
	rule->drop = !r->retain;
	for (size_t i = 0; !ret && i < r->deps.n; i++)
		ret = leat_names_add(&rule->deps, r->deps.v[i].text, r->deps.v[i].pos);
	return ret;
}

int leat_read_rule(struct leat_front *front, size_t step, const struct leat_rule_text *text)
{
	struct reading r = {.text = text, .retain = true};
	struct leat_names names = {NULL, 0};
	int ret = read_names(front, &r, &names);

	if (!ret && text->committed.value)
		ret = read_committed(front, &r);
	read_mode(front, &r);
	if (text->retain.key)
		leat_read_bool(front, &text->retain, &r.retain);
	if (!ret)
		ret = read_deps(front, &r);
	read_n_files(front, &r);
	for (size_t i = 0; !ret && !r.wrong && i < names.n; i++)
		ret = add_rule(&front->wf->steps[step], &names.v[i], &r);
	leat_names_release(&names);
	leat_names_release(&r.deps);
	return ret;
}

/* --- All rules together ---------------------------------------------------- */

/* A directory and the first rule that says how many files complete it. */
struct counted {
	const struct leat_rule *rule;
	unsigned n;
	UT_hash_handle hh;
};

static unsigned rule_n_files(const struct leat_rule *rule)
{
	return rule->commit == LEAT_COMMIT_N_FILES ? rule->count : rule->n_files;
}

static int check_rule(struct leat_front *front, const struct leat_rule *rule,
		      struct counted **known)
{
	struct counted *first;
	unsigned n = rule_n_files(rule);

	if (!n)
		return 0;
	HASH_FIND_STR(*known, rule->name.text, first);
	if (first) {
		if (first->n != n)
			leat_lang_report(front->diags, L_RULE_N_FILES_DIFFER, rule->name.pos,
					 "two numbers of files for \"%s\": %u here, %u in line %d",
					 rule->name.text, n, first->n, first->rule->name.pos.line);
		return 0;
	}
	first = calloc(1, sizeof(*first));
	if (!first)
		return -ENOMEM;
	*first = (struct counted){.rule = rule, .n = n};
	HASH_ADD_KEYPTR(hh, *known, rule->name.text, strlen(rule->name.text), first);
	if (!first->hh.tbl) {
		free(first);
		return -ENOMEM;
	}
	return 0;
}

int leat_rules_check(struct leat_front *front)
{
	struct counted *known = NULL, *c, *next;
	int ret = 0;

	for (size_t i = 0; i < front->wf->n_steps; i++)
		for (size_t k = 0; !ret && k < front->wf->steps[i].n_rules; k++)
			ret = check_rule(front, &front->wf->steps[i].rules[k], &known);
	HASH_ITER(hh, known, c, next)
	{
		HASH_DEL(known, c);
		free(c);
	}
	return ret;
}
