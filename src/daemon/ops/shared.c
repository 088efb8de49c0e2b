#include "daemon/ops/shared.h"

#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/request.h"

void leat_shared_begin(struct leat_request *r)
{
	struct leat_shm_file *s = leat_file_shm(r->d, r->file);

	if (!(leat_shm_flags(s) & LEAT_SHM_SHARED) &&
	    leat_stream_is_shared(r->d->stream, r->c->step, r->found.path))
		leat_shm_file_update(s, LEAT_SHM_SHARED, 0);
}

/* Whoever writes looks at the flag afterwards: what is not in this length is reported. */
uint64_t leat_shared_length(const struct leat_request *r)
{
	struct stat st;

	if (!(leat_shm_flags(leat_file_shm(r->d, r->file)) & LEAT_SHM_SHARED) ||
	    leat_tree_look(r->d->tree, r->found.path, &(enum leat_root){0}, &st) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

static uint64_t known_ofd(struct leat_daemon *d, const struct leat_file *f, uint64_t id)
{
	struct leat_description *l;

	HASH_FIND(hh, d->files->descriptions, &id, sizeof(id), l);
	return l && l->file == f && l->counted ? id : 0;
}

/* What has lost its name since is nobody's output. */
int leat_handle_written(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_written *in = msg;
	struct leat_file *f = leat_file_at(c->d, in->slot);

	if (!f || f->retired || c->step < 0 || !leat_enforce_fact(c, f, true))
		return 0;
	leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_WRITTEN,
						    .step = c->step,
						    .pid = c->pid,
						    .name = f->name,
						    .ofd = known_ofd(c->d, f, in->ofd),
						    .code = in->appended,
						    .offset = in->offset,
						    .length = in->length});
	return 0;
}
