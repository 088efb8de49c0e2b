/* Names of files: made relative and normal, groups expanded. */
#include "lang/reader/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/keys.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "model/match.h"

enum { SLOT_GROUP_NAME, SLOT_FILES, N_GROUP_SLOTS };

static const struct leat_key group_keys[] = {
	{"group_name", LEAT_KEY_TAKEN, SLOT_GROUP_NAME},
	{"files", LEAT_KEY_TAKEN, SLOT_FILES},
	{NULL, 0, 0},
};

/* Drop the last component of `path`, of which `*n` bytes are used. False if it
 * has none, or one whose parent is not known because it is a pattern. */
static bool drop_last(char *path, size_t *n)
{
	size_t start = *n;

	if (!*n)
		return false;
	path[*n] = '\0';
	while (start > 0 && path[start - 1] != '/')
		start--;
	if (leat_pattern_is_wild(path + start))
		return false;
	*n = start ? start - 1 : 0;
	return true;
}

/* Write `text` without "//", ".", ".." and outer slashes to `path`, which has
 * space for all of it. False if ".." leads out of it. */
static bool normalise(const char *text, char *path)
{
	bool absolute = text[0] == '/';
	size_t used = 0;

	while (*text) {
		size_t n = strcspn(text, "/");

		if (n == 2 && text[0] == '.' && text[1] == '.') {
			if (!drop_last(path, &used) && (used || !absolute))
				return false;
		} else if (n && !(n == 1 && text[0] == '.')) {
			if (used)
				path[used++] = '/';
			memcpy(path + used, text, n);
			used += n;
		}
		text += n + (text[n] == '/');
	}
	path[used] = '\0';
	return true;
}

/* The part of the absolute `path` (normal, so without its first slash) below
 * the absolute directory `dir`, or NULL. */
static const char *below(const char *path, const char *dir)
{
	size_t n;

	if (!dir)
		return NULL;
	dir++;
	n = strlen(dir);
	if (!n)
		return path;
	if (strncmp(path, dir, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

/* The path in *out, the caller's to free; "" is the workflow's directory, NULL that there is none
 * (reported). 0 or -ENOMEM. */
static int find_inside(struct leat_front *front, const char *text, struct leat_pos pos, char **out)
{
	char *path = malloc(strlen(text) + 1);
	const char *inside = path;

	*out = NULL;
	if (!path)
		return -ENOMEM;
	if (!normalise(text, path)) {
		leat_lang_report(front->diags, L_PATH_ESCAPE, pos,
				 "\"%s\" leads out of the workflow's directory", text);
		goto out;
	}
	if (text[0] == '/') {
		inside = below(path, front->dir);
		if (!inside)
			inside = below(path, front->real_dir);
		if (!inside) {
			leat_lang_report(
				front->diags, L_PATH_OUTSIDE, pos,
				"\"%s\" is ignored: it is outside the workflow's directory %s",
				text, front->dir ? front->dir : "(unknown)");
			goto out;
		}
	}
	memmove(path, inside, strlen(inside) + 1);
	*out = path;
	return 0;
out:
	free(path);
	return 0;
}

int leat_path_normal(struct leat_front *front, const char *text, struct leat_pos pos, char **out)
{
	int ret = find_inside(front, text, pos, out);

	if (ret || !*out || **out)
		return ret;
	leat_lang_report(front->diags, L_PATH_ROOT, pos,
			 "\"%s\" is the workflow's directory itself: name what is in it (\"*\" is "
			 "everything)",
			 text);
	free(*out);
	*out = NULL;
	return 0;
}

/* The text of a name, or NULL (reported). */
static const char *name_text(struct leat_front *front, const struct leat_value *node)
{
	if (node->kind != LEAT_VALUE_SCALAR || leat_value_is_null(node) ||
	    (front->json && node->plain)) {
		leat_lang_report(front->diags, L_TYPE, node->pos, "a name must be a string, not %s",
				 leat_value_describe(node));
		return NULL;
	}
	if (!node->text[0]) {
		leat_lang_report(front->diags, L_EMPTY, node->pos, "the name is empty");
		return NULL;
	}
	return node->text;
}

static int add_path(struct leat_front *front, const struct leat_value *node,
		    struct leat_names *names)
{
	const char *text = name_text(front, node);
	char *path;
	int ret;

	if (!text)
		return 0;
	ret = leat_path_normal(front, text, node->pos, &path);
	if (ret || !path)
		return ret;
	ret = leat_names_add(names, path, node->pos);
	free(path);
	return ret;
}

int leat_read_name(struct leat_front *front, const struct leat_value *node,
		   struct leat_names *names)
{
	const struct leat_names *files = NULL;
	int ret = 0;

	if (node->kind == LEAT_VALUE_SCALAR)
		files = leat_group_find(front, node->text);
	if (!files)
		return add_path(front, node, names);
	for (size_t i = 0; !ret && i < files->n; i++)
		ret = leat_names_add(names, files->v[i].text, node->pos);
	return ret;
}

typedef int read_one(struct leat_front *front, const struct leat_value *node,
		     struct leat_names *names);

static int read_list(struct leat_front *front, const struct leat_pair *entry, unsigned flags,
		     read_one *one, struct leat_names *names)
{
	const struct leat_value *list = entry->value;
	int ret = 0;

	if (!list)
		return 0;
	if (list->kind == LEAT_VALUE_SCALAR && !leat_value_is_null(list)) {
		if (!(flags & LEAT_NAMES_ONE_OK) && !(front->json && list->plain))
			leat_lang_report(front->diags, L_LIST_STRING, list->pos,
					 "\"%s\" is read as a list of one name; write [\"%s\"]",
					 entry->key->text, list->text);
		return one(front, list, names);
	}
	if (list->kind != LEAT_VALUE_LIST) {
		leat_lang_report(front->diags, L_TYPE, list->pos,
				 "\"%s\" must be a list of names, not %s", entry->key->text,
				 leat_value_describe(list));
		return 0;
	}
	for (size_t i = 0; !ret && i < list->n; i++)
		ret = one(front, list->v[i], names);
	return ret;
}

int leat_read_names(struct leat_front *front, const struct leat_pair *entry, unsigned flags,
		    struct leat_names *names)
{
	return read_list(front, entry, flags, leat_read_name, names);
}

/* Of the workflow's directory itself CAPIO excludes the directory, not what is in it: there is
 * nothing to do, for leat leaves it alone. */
static int read_excluded(struct leat_front *front, const struct leat_value *node,
			 struct leat_names *names)
{
	const char *text;
	char *path;
	int ret;

	if (node->kind == LEAT_VALUE_SCALAR && leat_group_find(front, node->text))
		return leat_read_name(front, node, names);
	text = name_text(front, node);
	if (!text)
		return 0;
	ret = find_inside(front, text, node->pos, &path);
	if (ret || !path)
		return ret;
	if (*path)
		ret = leat_names_add(names, path, node->pos);
	else
		leat_lang_report(front->diags, L_EXCLUDE_ROOT, node->pos,
				 "\"%s\" is the workflow's directory itself, which excludes "
				 "nothing in it; \"*\" excludes everything",
				 text);
	free(path);
	return ret;
}

int leat_read_exclude(struct leat_front *front, const struct leat_pair *entry)
{
	return read_list(front, entry, 0, read_excluded, &front->wf->exclude);
}

enum { STORAGE_MEMORY, STORAGE_FS, N_STORAGE };

static const struct leat_key storage_keys[] = {
	{"memory", LEAT_KEY_TAKEN, STORAGE_MEMORY},
	{"fs", LEAT_KEY_TAKEN, STORAGE_FS},
	{NULL, 0, 0},
};

int leat_read_storage(struct leat_front *front, const struct leat_pair *entry)
{
	struct leat_pair slots[N_STORAGE];
	int ret;

	if (!entry->value ||
	    !leat_keys_read(front, entry->value, "\"storage\"", storage_keys, slots, N_STORAGE))
		return 0;
	ret = leat_read_names(front, &slots[STORAGE_MEMORY], 0, &front->wf->store_memory);
	return ret ? ret : leat_read_names(front, &slots[STORAGE_FS], 0, &front->wf->store_fs);
}

const struct leat_names *leat_group_find(const struct leat_front *front, const char *name)
{
	const struct leat_lookup *group = leat_lookup_find(front->groups, name);

	return group ? &front->wf->aliases[group->index].files : NULL;
}

int leat_group_add(struct leat_front *front, const struct leat_value *name,
		   const struct leat_pair *files)
{
	const struct leat_lookup *known = leat_lookup_find(front->groups, name->text);
	struct leat_alias *alias;
	int ret;

	if (known) {
		leat_lang_report(front->diags, L_ALIAS_TWICE, name->pos,
				 "an alias \"%s\" already exists (line %d)", name->text,
				 front->wf->aliases[known->index].name.pos.line);
		return 0;
	}
	alias = leat_workflow_add_alias(front->wf, name->text, name->pos);
	if (!alias)
		return -ENOMEM;
	ret = leat_lookup_add(&front->groups, alias->name.text, front->wf->n_aliases - 1);
	return ret ? ret : read_list(front, files, 0, add_path, &alias->files);
}

bool leat_read_group(struct leat_front *front, const struct leat_value *node, const char *where,
		     struct leat_pair *name, struct leat_pair *files)
{
	struct leat_pair slots[N_GROUP_SLOTS];

	if (!leat_keys_read(front, node, where, group_keys, slots, N_GROUP_SLOTS))
		return false;
	*name = slots[SLOT_GROUP_NAME];
	*files = slots[SLOT_FILES];
	if (!files->key)
		leat_key_missing(front, node->pos, "files", where);
	return files->key && (!name->key || leat_read_text(front, name));
}

int leat_read_aliases(struct leat_front *front, const struct leat_pair *entry)
{
	size_t n = leat_read_objects(front, entry);
	struct leat_pair name, files;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		const struct leat_value *item = leat_pair_item(entry, i);

		if (!leat_read_group(front, item, "an alias", &name, &files))
			continue;
		if (!name.key)
			leat_key_missing(front, item->pos, "group_name", "an alias");
		else
			ret = leat_group_add(front, name.value, &files);
	}
	return ret;
}

void leat_groups_check(struct leat_front *front)
{
	for (size_t i = 0; i < front->wf->n_aliases; i++) {
		const struct leat_alias *alias = &front->wf->aliases[i];

		for (size_t k = 0; k < alias->files.n; k++)
			if (leat_group_find(front, alias->files.v[k].text))
				leat_lang_report(front->diags, L_ALIAS_NESTED,
						 alias->files.v[k].pos,
						 "\"%s\" is an alias itself: list its files here",
						 alias->files.v[k].text);
	}
}
