#include "daemon/files/files.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/core/events.h"
#include "daemon/files/persist.h"
#include "daemon/space/spill.h"
#include "daemon/run/steps.h"
#include "daemon/files/times.h"
#include "daemon/core/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct leat_file *leat_file_find(struct leat_daemon *d, const char *name)
{
	struct leat_file *f;

	HASH_FIND_STR(d->files, name, f);
	return f;
}

struct leat_file *leat_file_at(struct leat_daemon *d, uint32_t slot)
{
	return slot && slot <= d->n_slots ? d->by_slot[slot] : NULL;
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
	if (d->n_slots + 1 >= LEAT_SHM_MAX_FILES)
		return -ENFILE;
	if (d->n_slots + 1 >= d->room_slots) {
		uint32_t room = d->room_slots ? 2 * d->room_slots : 256;
		struct leat_file **v = realloc(d->by_slot, room * sizeof(struct leat_file *));

		if (!v)
			return -ENOMEM;
		d->by_slot = v;
		d->room_slots = room;
		d->by_slot[0] = NULL;
	}
	f->slot = ++d->n_slots;
	d->by_slot[f->slot] = f;
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

struct leat_file *leat_file_get(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = leat_file_find(d, name);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->drop_fd = -1;
	f->name = strdup(name);
	f->rule = leat_match(d->matcher, name);
	if (!f->name || !f->rule)
		goto fail;
	HASH_ADD_KEYPTR(hh, d->files, f->name, strlen(f->name), f);
	if (!f->hh.tbl)
		goto fail;
	if (take_slot(d, f)) {
		HASH_DEL(d->files, f);
		goto fail;
	}
	leat_shm_file_init(leat_file_shm(d, f));
	f->versioned = d->has_views && leat_stream_has_versions(d->stream, name);
	if (f->rule->drop && leat_rule_home(d, f->rule) == LEAT_ROOT_STORE)
		leat_shm_file_update(leat_file_shm(d, f), LEAT_SHM_DROP, 0);
	leat_file_refresh(d, f, leat_stream_state(d->stream, name));
	return f;
fail:
	free_file(f);
	return NULL;
}

void leat_files_free(struct leat_daemon *d)
{
	HASH_CLEAR(hh, d->files);
	for (uint32_t i = 1; i <= d->n_slots; i++)
		free_file(d->by_slot[i]);
	free(d->by_slot);
	d->by_slot = NULL;
	d->n_slots = 0;
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

enum leat_root leat_rule_home(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	return leat_rule_produced(d, rule) && rule->storage == LEAT_STORAGE_MEMORY ? LEAT_ROOT_STORE
										   : LEAT_ROOT_DISK;
}

void leat_file_tell_present(struct leat_daemon *d, struct leat_file *f)
{
	struct stat st;
	enum leat_root root;

	if (f->told || leat_tree_look(d->tree, f->name, &root, &st) < 0)
		return;
	f->told = true;
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_PRESENT,
						 .step = -1,
						 .name = f->name,
						 .length = (uint64_t)st.st_size,
						 .flags = S_ISDIR(st.st_mode) ? LEAT_EVF_DIR : 0});
}

static void hide_extents(struct leat_daemon *d, struct leat_file *f)
{
	if (f->table)
		leat_shm_extents_give(d->shm, f->table);
	f->table = 0;
}

static void on_commit(struct leat_daemon *d, struct leat_file *f)
{
	struct stat st;
	enum leat_root root;

	if ((f->rule->permanent || f->keep || !f->measured) &&
	    leat_file_measure(d, f, -1, &st, &root) == 0) {
		f->touched_ns = leat_clock_ns();
		leat_times_commit(d, f, root, &st);
		if (leat_root_is_ours(root) && (f->rule->permanent || f->keep))
			leat_keep_file(d, f);
	}
	leat_shm_file_finish(leat_file_shm(d, f), f->size);
	hide_extents(d, f);
	if (f->early && !f->early_due) {
		f->early_due = true;
		f->early_next = d->early_due;
		d->early_due = f;
	}
}

static void on_failure(struct leat_daemon *d, struct leat_file *f)
{
	leat_shm_file_update(leat_file_shm(d, f), LEAT_SHM_FAILED, 0);
	hide_extents(d, f);
	for (int i = 0; f->readers && i < (int)d->wf->n_steps; i++)
		if (leat_steps_has(f->readers, i))
			leat_step_spoil(d, i, f->name);
}

void leat_file_refresh(struct leat_daemon *d, struct leat_file *f, enum leat_file_state state)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	switch (state) {
	case LEAT_FILE_COMMITTED:
		on_commit(d, f);
		break;
	case LEAT_FILE_FAILED:
		on_failure(d, f);
		break;
	case LEAT_FILE_ABSENT:
	case LEAT_FILE_PRODUCED:
	case LEAT_FILE_GONE:
		leat_shm_file_update(s, 0, LEAT_SHM_COMMITTED | LEAT_SHM_FAILED);
		break;
	}
}

void leat_file_sync_frontier(struct leat_daemon *d, struct leat_file *f)
{
	struct leat_shm_file *s = leat_file_shm(d, f);
	uint64_t seen, known;

	if (!f->publishes || f->retired)
		return;
	seen = leat_shm_frontier(s);
	if (seen > f->told_frontier) {
		leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_EXTENT,
							 .step = -1,
							 .name = f->name,
							 .offset = f->told_frontier,
							 .length = seen - f->told_frontier});
		f->told_frontier = seen;
	}
	known = leat_stream_frontier(d->stream, f->name);
	if (known > seen) {
		leat_shm_publish(s, known);
		f->told_frontier = known;
	}
}

void leat_file_show_extents(struct leat_daemon *d, struct leat_file *f,
			    const struct leat_range *changed)
{
	size_t n;
	const struct leat_range *ranges = leat_stream_extents(d->stream, f->name, &n);

	if (!f->table && !f->retired)
		f->table = leat_shm_extents_take(d->shm, f->slot);
	if (f->table)
		leat_shm_extents_put(d->shm, f->table, ranges, n, changed);
	else
		leat_shm_wake_range(leat_file_shm(d, f), changed);
}

void leat_file_finish_loose(struct leat_daemon *d, struct leat_file *f)
{
	if (!f->retired && !f->lives && !leat_rule_produced(d, f->rule))
		leat_shm_file_finish(leat_file_shm(d, f), f->size);
}

void leat_file_retire(struct leat_daemon *d, struct leat_file *f)
{
	if (f->retired)
		return;
	HASH_DEL(d->files, f);
	f->retired = true;
	leat_move_forget(f);
	hide_extents(d, f);
	leat_shm_file_changed(leat_file_shm(d, f));
	leat_keep_forget(d, f);
	leat_close(&f->drop_fd);
	if (!f->lives)
		leat_shm_file_finish(leat_file_shm(d, f), f->size);
	else
		leat_shm_file_update(leat_file_shm(d, f), 0, 0);
}

int leat_file_rename(struct leat_daemon *d, struct leat_file *f, const char *name)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, name);
	char *copy = strdup(name);

	if (!copy || !rule) {
		free(copy);
		return -ENOMEM;
	}
	leat_move_forget(f);
	leat_shm_file_changed(leat_file_shm(d, f));
	leat_keep_forget(d, f);
	HASH_DEL(d->files, f);
	free(f->name);
	f->name = copy;
	f->rule = rule;
	f->told = f->made = true;
	if (!rule->drop)
		leat_shm_retain(leat_file_shm(d, f));
	else if (leat_rule_home(d, rule) == LEAT_ROOT_STORE)
		leat_shm_file_update(leat_file_shm(d, f), LEAT_SHM_DROP, 0);
	HASH_ADD_KEYPTR(hh, d->files, f->name, strlen(f->name), f);
	if (!f->hh.tbl) {
		f->retired = true;
		return -ENOMEM;
	}
	return 0;
}

bool leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	const struct leat_step_run *s = &d->steps[step];

	return leat_steps_has(f->rule->consumers, step) &&
	       (s->running || (!s->started && !s->done));
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
	leat_shm_file_changed(leat_file_shm(d, f));
	return add_step(d, &f->hidden, step);
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

void leat_file_note_place(struct leat_daemon *d, struct leat_file *f, enum leat_root root)
{
	enum leat_root home = leat_rule_home(d, f->rule);
	struct stat st;

	f->on_disk = (struct leat_inode){0};
	if (root == LEAT_ROOT_DISK && leat_tree_has(d->tree, root, f->name, &st))
		f->on_disk = (struct leat_inode){st.st_dev, st.st_ino};
	f->adopted = root == LEAT_ROOT_DISK && home == LEAT_ROOT_STORE;
	f->keep = leat_root_is_ours(root) && home == LEAT_ROOT_DISK;
}

bool leat_file_is_on_disk(const struct leat_daemon *d, const struct leat_file *f)
{
	struct stat st;

	if (!leat_tree_is_distrusted(d->tree) || !f->on_disk.ino)
		return true;
	return !leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, &st) ||
	       leat_inode_is(&f->on_disk, &st);
}
