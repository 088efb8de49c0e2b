/* Committed files are published by name, so that clients open them and look at them without a
 * message (shm/names.h). */
#include "daemon/files/publish_name.h"

#include "daemon/core/events.h"
#include "daemon/files/files.h"
#include "shm/names.h"

/* Steps that are no producers of it are treated as consumers; under --enforce only who says so. */
static bool is_consumer(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	return leat_stream_role(d->stream, step, f->name) == LEAT_ROLE_CONSUMER &&
	       (!d->options.enforce || leat_steps_has(f->rule->consumers, step));
}

/* Who is a consumer by this rule, as far as the table can say. */
static uint64_t consumers_of(struct leat_daemon *d, const struct leat_file *f)
{
	if (d->files->published_rule != f->rule) {
		d->files->published_rule = f->rule;
		d->files->published_consumers = 0;
		for (int i = 0; i < (int)d->wf->n_steps && i < LEAT_SHM_NAME_STEPS; i++)
			if (is_consumer(d, f, i))
				d->files->published_consumers |= UINT64_C(1) << i;
	}
	return d->files->published_consumers;
}

void leat_file_publish_name(struct leat_daemon *d, struct leat_file *f, const struct stat *st)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	if (f->retired || f->versioned || f->descriptions || f->hidden || f->rewritable ||
	    f->rule->drop || !S_ISREG(st->st_mode) || st->st_nlink != 1 ||
	    st->st_dev != leat_store_dev(d->store) ||
	    (leat_shm_flags(s) & (LEAT_SHM_COMMITTED | LEAT_SHM_FAILED)) != LEAT_SHM_COMMITTED)
		return;
	leat_shm_name_put(d->shm, f->name,
			  &(struct leat_shm_fact){.common = leat_shm_changes(d->shm),
						  .consumers = consumers_of(d, f),
						  .changes = leat_shm_file_changes(s),
						  .slot = f->slot});
}

/* As if those of its consumers had asked. */
static void report_seen(struct leat_daemon *d, const struct leat_file *f, uint64_t by, bool looked)
{
	enum leat_call call = looked ? LEAT_CALL_LOOK : LEAT_CALL_OPEN;

	for (int i = 0; i < (int)d->wf->n_steps && i < LEAT_SHM_NAME_STEPS; i++)
		if (by >> i & 1 && is_consumer(d, f, i))
			leat_events_ask(d, i, 0, call, f->name, 0, 0);
}

void leat_file_withdraw_name(struct leat_daemon *d, struct leat_file *f)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	leat_shm_file_changed(s);
	if (leat_shm_was_seen(s) && leat_shm_flags(s) & LEAT_SHM_COMMITTED)
		report_seen(d, f, leat_shm_seen_by(s), leat_shm_flags(s) & LEAT_SHM_LOOKED);
}
