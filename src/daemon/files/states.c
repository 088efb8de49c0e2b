/* What the rules decide of a file, and what its names are, as clients and the disk see it. */
#include "daemon/files/states.h"

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/core/events.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/moving.h"
#include "daemon/files/persist.h"
#include "daemon/files/sizes.h"
#include "daemon/files/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_file *leat_file_get(struct leat_daemon *d, const char *name)
{
	struct leat_file *f = leat_file_find(d, name);

	if (f)
		return f;
	f = leat_file_add(d, name);
	if (!f)
		return NULL;
	f->versioned = d->has_views && leat_stream_has_versions(d->stream, name);
	if (f->rule->drop && leat_rule_root(d, f->rule) == LEAT_ROOT_STORE)
		leat_shm_file_update(leat_file_shm(d, f), LEAT_SHM_DROP, 0);
	leat_file_refresh(d, f, leat_stream_state(d->stream, name));
	return f;
}

void leat_file_report_present(struct leat_daemon *d, struct leat_file *f)
{
	struct stat st;
	enum leat_root root;

	if (f->reported || leat_tree_look(d->tree, f->name, &root, &st) < 0)
		return;
	f->reported = true;
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

/* It may be moved to another place now, if it is in one of leat's own. */
static void list(struct leat_daemon *d, struct leat_file *f)
{
	enum leat_root root = LEAT_ROOT_STORE;
	struct stat st;

	/* Without a place for what the store does not hold all is in the store, or stays. */
	if (leat_tree_fd(d->tree, LEAT_ROOT_SPILL) >= 0 &&
	    !leat_tree_has_ours(d->tree, f->name, &root, &st))
		root = LEAT_ROOT_NONE;
	if (!f->size)
		root = LEAT_ROOT_NONE;
	if (f->complete_in != root)
		leat_file_list_complete(d, f, root);
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
			leat_file_persist(d, f);
	}
	leat_shm_file_finish(leat_file_shm(d, f), f->size);
	list(d, f);
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
		leat_file_list_complete(d, f, LEAT_ROOT_NONE);
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
	if (seen > f->reported_frontier) {
		leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_EXTENT,
							 .step = -1,
							 .name = f->name,
							 .offset = f->reported_frontier,
							 .length = seen - f->reported_frontier});
		f->reported_frontier = seen;
	}
	known = leat_stream_frontier(d->stream, f->name);
	if (known > seen) {
		leat_shm_publish(s, known);
		f->reported_frontier = known;
	}
}

uint32_t leat_file_seq(struct leat_daemon *d, const struct leat_file *f)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	if (!f->publishes || f->retired || f->reported_frontier)
		return leat_shm_seq(s);
	return leat_shm_seq_without_bytes(s);
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
	if (f->retired || f->descriptions || leat_rule_produced(d, f->rule))
		return;
	leat_shm_file_finish(leat_file_shm(d, f), f->size);
	list(d, f);
}

void leat_file_retire(struct leat_daemon *d, struct leat_file *f)
{
	if (f->retired)
		return;
	leat_recent_forget(&d->files->recent, f);
	HASH_DEL(d->files->by_name, f);
	f->retired = true;
	leat_file_list_complete(d, f, LEAT_ROOT_NONE);
	leat_move_forget(f);
	hide_extents(d, f);
	leat_shm_file_changed(leat_file_shm(d, f));
	leat_file_persist_cancel(d, f);
	leat_close(&f->drop_fd);
	if (!f->descriptions)
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
	leat_file_persist_cancel(d, f);
	leat_recent_forget(&d->files->recent, f);
	HASH_DEL(d->files->by_name, f);
	free(f->name);
	f->name = copy;
	f->milestones_number = 0;
	f->rule = rule;
	f->reported = f->made = true;
	if (!rule->drop)
		leat_shm_retain(leat_file_shm(d, f));
	else if (leat_rule_root(d, rule) == LEAT_ROOT_STORE)
		leat_shm_file_update(leat_file_shm(d, f), LEAT_SHM_DROP, 0);
	HASH_ADD_KEYPTR(hh, d->files->by_name, f->name, strlen(f->name), f);
	if (!f->hh.tbl) {
		f->retired = true;
		leat_file_list_complete(d, f, LEAT_ROOT_NONE);
		return -ENOMEM;
	}
	return 0;
}
