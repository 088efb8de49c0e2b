#include "daemon/files/files.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/private.h"
#include "base/str.h"
#include "daemon/core/steps.h"
#include "daemon/core/user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_file *leat_file_find(struct leat_daemon *d, const char *name)
{
	void **recent = leat_recent_place(&d->files->recent, name);
	struct leat_file *f = *recent;

	if (f && strcmp(f->name, name) == 0)
		return f;
	HASH_FIND_STR(d->files->by_name, name, f);
	if (f)
		*recent = f;
	return f;
}

struct leat_file *leat_file_at(struct leat_daemon *d, uint32_t slot)
{
	return slot && slot <= d->files->n_slots ? d->files->by_slot[slot] : NULL;
}

void leat_file_list_complete(struct leat_daemon *d, struct leat_file *f, enum leat_root root)
{
	struct leat_daemon_files *files = d->files;

	if (f->complete_in != LEAT_ROOT_NONE) {
		DL_DELETE2(files->complete[f->complete_in], f, complete_prev, complete_next);
		files->n_complete[f->complete_in]--;
	}
	f->complete_in = root;
	if (root == LEAT_ROOT_NONE)
		return;
	DL_APPEND2(files->complete[root], f, complete_prev, complete_next);
	files->n_complete[root]++;
}

struct found_files {
	struct leat_daemon *d;
	struct leat_file **v; /* NULL: they are only counted */
	size_t n;
};

static void add_file(void *ctx, const char *name)
{
	struct found_files *found = ctx;
	struct leat_file *f = leat_file_find(found->d, name);

	if (f && found->v)
		found->v[found->n] = f;
	found->n += f != NULL;
}

struct leat_file **leat_files_below(struct leat_daemon *d, const char *dir, size_t *n)
{
	struct found_files found = {.d = d};

	leat_stream_each_below(d->stream, dir, add_file, &found);
	found.v = calloc(found.n + 1, sizeof(struct leat_file *));
	found.n = 0;
	if (found.v)
		leat_stream_each_below(d->stream, dir, add_file, &found);
	*n = found.n;
	return found.v;
}

int leat_file_open(struct leat_daemon *d, const struct leat_file *f, int access)
{
	enum leat_root root;
	struct stat st;
	int fd;

	if (!leat_tree_has_ours(d->tree, f->name, &root, &st))
		return -1;
	fd = leat_beneath_open_regular(leat_tree_fd(d->tree, root), f->name, access);
	errno = fd < 0 ? -fd : 0;
	return fd < 0 ? -1 : fd;
}

static int take_slot(struct leat_daemon *d, struct leat_file *f)
{
	if (d->files->n_slots + 1 >= LEAT_SHM_MAX_FILES)
		return -ENFILE;
	if (d->files->n_slots + 1 >= d->files->max_slots) {
		uint32_t capacity = d->files->max_slots ? 2 * d->files->max_slots : 256;
		struct leat_file **v =
			realloc(d->files->by_slot, capacity * sizeof(struct leat_file *));

		if (!v)
			return -ENOMEM;
		d->files->by_slot = v;
		d->files->max_slots = capacity;
		d->files->by_slot[0] = NULL;
	}
	f->slot = ++d->files->n_slots;
	d->files->by_slot[f->slot] = f;
	return 0;
}

static void free_file(struct leat_file *f)
{
	struct leat_early *e;

	while ((e = f->early)) {
		f->early = e->next;
		free(e);
	}
	free(f->name);
	free(f->why);
	free(f->hidden);
	free(f->readers);
	free(f->opened);
	free(f->remover);
	leat_close(&f->drop_fd);
	free(f);
}

struct leat_file *leat_file_add(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->drop_fd = -1;
	f->hidden_by = -1;
	f->name = strdup(name);
	f->rule = leat_match(d->matcher, name);
	if (!f->name || !f->rule)
		goto fail;
	HASH_ADD_KEYPTR(hh, d->files->by_name, f->name, strlen(f->name), f);
	if (!f->hh.tbl)
		goto fail;
	if (take_slot(d, f)) {
		HASH_DEL(d->files->by_name, f);
		goto fail;
	}
	leat_shm_file_init(leat_file_shm(d, f));
	return f;
fail:
	free_file(f);
	return NULL;
}

void leat_files_free(struct leat_daemon *d)
{
	HASH_CLEAR(hh, d->files->by_name);
	d->files->recent = (struct leat_recent){0};
	for (uint32_t i = 1; i <= d->files->n_slots; i++)
		free_file(d->files->by_slot[i]);
	free(d->files->by_slot);
	d->files->by_slot = NULL;
	d->files->n_slots = 0;
}

bool leat_rule_matters(const struct leat_file_rule *rule)
{
	return !rule->excluded &&
	       (rule->declared || rule->dir_declared || rule->holds_outputs || rule->holds_inputs);
}

bool leat_rule_produced(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	if (rule->excluded || !rule->declared)
		return false;
	for (size_t i = 0; i < leat_steps_words(d->matcher); i++)
		if (rule->producers[i])
			return true;
	return false;
}

bool leat_rule_is_input(const struct leat_daemon *d, const struct leat_file_rule *rule, int step)
{
	return leat_rule_produced(d, rule) && leat_steps_has(rule->consumers, step);
}

enum leat_root leat_rule_root(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	return leat_rule_produced(d, rule) && rule->storage == LEAT_STORAGE_MEMORY ? LEAT_ROOT_STORE
										   : LEAT_ROOT_DISK;
}

bool leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	const struct leat_step_run *s = &d->steps[step];

	return leat_steps_has(f->rule->consumers, step) &&
	       (s->running || (s->state == LEAT_RUN_WAITING && !s->done));
}

bool leat_file_is_hidden(const struct leat_file *f, int step)
{
	return f->hidden && step >= 0 && leat_steps_has(f->hidden, step);
}

static int add_step(struct leat_daemon *d, uint64_t **set, int step)
{
	if (!*set)
		*set = calloc(leat_steps_words(d->matcher), sizeof(**set));
	if (!*set)
		return -ENOMEM;
	(*set)[step / 64] |= (uint64_t)1 << (step % 64);
	return 0;
}

int leat_file_hide(struct leat_daemon *d, struct leat_file *f, int step)
{
	int rc = add_step(d, &f->hidden, step);

	leat_shm_file_changed(leat_file_shm(d, f));
	if (f->hidden_by < 0)
		f->hidden_by = step;
	for (int o = 0; !rc && o < (int)d->wf->n_steps; o++)
		if (leat_is_strictly_upstream(d->matcher, step, o))
			rc = add_step(d, &f->hidden, o);
	return rc;
}

int leat_file_note_reader(struct leat_daemon *d, struct leat_file *f, int step)
{
	return add_step(d, &f->readers, step);
}

bool leat_file_note_open(struct leat_daemon *d, struct leat_file *f, int step)
{
	if (f->opened && leat_steps_has(f->opened, step))
		return false;
	return add_step(d, &f->opened, step) == 0;
}

int leat_file_note_remover(struct leat_file *f, const struct leat_user *user)
{
	struct leat_user *copy = leat_user_copy(user);

	if (user && !copy)
		return -ENOMEM;
	free(f->remover);
	f->remover = copy;
	return 0;
}

void leat_file_note_root(struct leat_daemon *d, struct leat_file *f, enum leat_root root)
{
	enum leat_root declared = leat_rule_root(d, f->rule);
	struct stat st;

	f->on_disk = (struct leat_inode){0};
	if (root == LEAT_ROOT_DISK && leat_tree_has(d->tree, root, f->name, &st))
		f->on_disk = (struct leat_inode){st.st_dev, st.st_ino};
	f->adopted = root == LEAT_ROOT_DISK && declared == LEAT_ROOT_STORE;
	/* What a step has for itself goes with it, wherever it is. */
	f->keep = leat_root_is_ours(root) && declared == LEAT_ROOT_DISK &&
		  !leat_str_begins(f->name, LEAT_PRIVATE_PREFIX);
}

bool leat_file_is_on_disk(const struct leat_daemon *d, const struct leat_file *f)
{
	struct stat st;

	if (!leat_tree_is_distrusted(d->tree) || !f->on_disk.ino)
		return true;
	return !leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, &st) ||
	       leat_inode_is(&f->on_disk, &st);
}
