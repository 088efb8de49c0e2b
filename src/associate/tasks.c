/* Tasks, and the texts that lead to them. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Between the parts of a key: in no text of a log. */
#define KEY "%s\x1f%s\x1f%s"

static struct leat_associate_entry *find_key(struct leat_associate_map *m, const char *key)
{
	struct leat_associate_entry *e;

	HASH_FIND_STR(m->by_key, key, e);
	return e;
}

struct leat_associate_entry *leat_associate_entry_find(struct leat_associate_map *m,
						       const char *manager, const char *workflow,
						       const char *identity)
{
	char *key = leat_strf(KEY, manager, workflow, identity);
	struct leat_associate_entry *e = key ? find_key(m, key) : NULL;

	free(key);
	return e;
}

static void discard(struct leat_associate_entry *e)
{
	free((void *)(uintptr_t)e->task.workflow);
	free((void *)(uintptr_t)e->task.logical);
	free((void *)(uintptr_t)e->task.physical);
	free((void *)(uintptr_t)e->task.status);
	free(e->key);
	free(e);
}

/* With that key, which it owns from here on, and the names of `from`. NULL: out of memory. */
static struct leat_associate_entry *entry_new(struct leat_associate_map *m, size_t source,
					      char *key, const struct leat_associate_task *from)
{
	struct leat_associate_entry *e = calloc(1, sizeof(*e));

	if (!e || leat_associate_grow(&m->tasks, m->n_tasks, &m->space_tasks, sizeof(*m->tasks))) {
		free(key);
		free(e);
		return NULL;
	}
	e->key = key;
	e->source = source;
	e->rival = LEAT_ASSOCIATE_NONE;
	e->task = (struct leat_associate_task){.number = m->n_tasks,
					       .manager = from->manager,
					       .workflow = strdup(from->workflow),
					       .logical = strdup(from->logical),
					       .physical = strdup(from->physical),
					       .status = strdup("")};
	if (!e->task.workflow || !e->task.logical || !e->task.physical || !e->task.status) {
		discard(e);
		return NULL;
	}
	m->tasks[m->n_tasks++] = e;
	HASH_ADD_KEYPTR(hh, m->by_key, e->key, strlen(e->key), e);
	return e;
}

struct leat_associate_entry *leat_associate_entry(struct leat_associate_map *m, size_t source,
						  const char *manager, const char *workflow,
						  const char *identity, const char *logical,
						  const char *physical)
{
	char *key = leat_strf(KEY, manager, workflow, identity);
	struct leat_associate_entry *e = key ? find_key(m, key) : NULL;
	const struct leat_associate_task names = {
		.manager = manager, .workflow = workflow, .logical = logical, .physical = physical};

	if (!e && key)
		return entry_new(m, source, key, &names);
	free(key);
	return e;
}

struct leat_associate_entry *leat_associate_entry_rival(struct leat_associate_map *m,
							struct leat_associate_entry *first,
							size_t source)
{
	char *key = leat_strf("%s\x1f%zu", first->key, source);
	struct leat_associate_entry *e = key ? find_key(m, key) : NULL;

	if (key && !e) {
		e = entry_new(m, source, key, &first->task);
		key = NULL;
		if (e) {
			e->rival = first->rival;
			first->rival = e->task.number;
		}
	}
	free(key);
	return e;
}

int leat_associate_entry_set(const char **field, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free((void *)(uintptr_t)*field);
	*field = copy;
	return 0;
}

/* ---- names ---- */

int leat_associate_name_add(struct leat_associate_map *m, enum leat_associate_name_kind kind,
			    const char *text, size_t task)
{
	struct leat_associate_name *first, *name;

	HASH_FIND_STR(m->names[kind], text, first);
	for (name = first; name; name = name->also)
		if (m->tasks[name->task]->source == m->tasks[task]->source) {
			name->task = task;
			return 0;
		}
	name = calloc(1, sizeof(*name));
	if (name && first) {
		name->task = task;
		name->also = first->also;
		first->also = name;
		return 0;
	}
	if (name)
		name->text = strdup(text);
	if (!name || !name->text) {
		free(name);
		return -ENOMEM;
	}
	name->task = task;
	HASH_ADD_KEYPTR(hh, m->names[kind], name->text, strlen(name->text), name);
	return 0;
}

const struct leat_associate_name *leat_associate_name_of(const struct leat_associate_map *m,
							 enum leat_associate_name_kind kind,
							 const char *text, size_t length)
{
	struct leat_associate_name *name;

	HASH_FIND(hh, m->names[kind], text, length, name);
	return name;
}

size_t leat_associate_name_find(const struct leat_associate_map *m,
				enum leat_associate_name_kind kind, const char *text, size_t length)
{
	const struct leat_associate_name *name = leat_associate_name_of(m, kind, text, length);

	return name ? name->task : LEAT_ASSOCIATE_NONE;
}

int leat_associate_pid_add(struct leat_associate_map *m, size_t task, int32_t pid)
{
	if (leat_associate_grow(&m->pids, m->n_pids, &m->space_pids, sizeof(*m->pids)))
		return -ENOMEM;
	m->pids[m->n_pids++] = (struct leat_associate_pid){.task = task, .pid = pid};
	return 0;
}

/* ---- work directories ---- */

size_t leat_associate_path_length(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

static bool is_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	return true;
}

bool leat_associate_dir_hash(const char *dir, size_t length, char hash[10])
{
	const char *at;

	if (length < 34 || dir[length - 34] != '/')
		return false;
	/* "/ab/" and thirty digits */
	at = dir + length - 33;
	if (at[2] != '/' || !is_hex(at, 2) || !is_hex(at + 3, 30))
		return false;
	memcpy(hash, at, 9);
	hash[9] = '\0';
	return true;
}

int leat_associate_dir_add(struct leat_associate_map *m, const char *dir, size_t task)
{
	size_t n = leat_associate_path_length(dir);
	char hash[10], *text = strndup(dir, n);
	int error = -ENOMEM;

	if (!text)
		return error;
	error = leat_associate_name_add(m, LEAT_ASSOCIATE_NAME_DIR, text, task);
	/* The same directory under another name, in a container or behind a link, is known by its
	 * digits, which are those of a hash of 128 bits. */
	if (!error && leat_associate_dir_hash(text, n, hash))
		error = leat_associate_name_add(m, LEAT_ASSOCIATE_NAME_DIR, text + n - 33, task);
	free(text);
	return error;
}

const struct leat_associate_name *leat_associate_dir_of(const struct leat_associate_map *m,
							const char *dir, size_t length)
{
	const struct leat_associate_name *name =
		leat_associate_name_of(m, LEAT_ASSOCIATE_NAME_DIR, dir, length);
	char hash[10];

	if (name || !leat_associate_dir_hash(dir, length, hash))
		return name;
	name = leat_associate_name_of(m, LEAT_ASSOCIATE_NAME_DIR, dir + length - 33, 33);
	if (name)
		return name;
	/* Lines of tasks that have not ended, or were not run again, show the first digits only. */
	name = leat_associate_name_of(m, LEAT_ASSOCIATE_NAME_HASH, hash, 9);
	return !name || m->tasks[name->task]->task.dir ? NULL : name;
}

size_t leat_associate_dir_find(const struct leat_associate_map *m, const char *dir, size_t length)
{
	const struct leat_associate_name *name = leat_associate_dir_of(m, dir, length);

	return name ? name->task : LEAT_ASSOCIATE_NONE;
}

size_t leat_associate_tasks(const struct leat_associate_map *m)
{
	return m->n_tasks;
}

const struct leat_associate_task *leat_associate_task(const struct leat_associate_map *m,
						      size_t number)
{
	return &m->tasks[number]->task;
}
