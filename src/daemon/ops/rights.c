/* Who may use a file: what a producer changes of it when it is committed is the rules' affair. */
#include "daemon/ops/rights.h"

#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/files/files.h"
#include "daemon/files/modes.h"
#include "daemon/files/publish_name.h"
#include "daemon/ops/request.h"

#include <errno.h>
#include <sys/stat.h>

static unsigned rights_of(mode_t mode)
{
	return (mode & S_IRUSR ? LEAT_RIGHTS_READ : 0) |
	       (mode & (S_IXUSR | S_IXGRP | S_IXOTH) ? LEAT_RIGHTS_RUN : 0);
}

/* To whom it matters of which class they are, owner, group or others: where some may what others
 * may not. */
static unsigned changed_by_owner(const struct leat_request *r)
{
	const struct stat *st = &r->found.st;
	uid_t uid = r->in->uid;
	gid_t gid = r->in->gid;
	unsigned owner = st->st_mode >> 6, group = st->st_mode >> 3, others = st->st_mode;
	unsigned differ = 0;

	/* Of users only root may give a file away. */
	if (uid != (uid_t)-1 && uid != st->st_uid && !r->c->user)
		differ |= (owner ^ others) | (owner ^ group);
	if (gid != (gid_t)-1 && gid != st->st_gid)
		differ |= group ^ others;
	return (differ & S_IROTH ? LEAT_RIGHTS_READ : 0) | (differ & S_IXOTH ? LEAT_RIGHTS_RUN : 0);
}

/* Where all steps run as one user it is the owner's rights that count. */
static unsigned changed(const struct leat_request *r)
{
	uint32_t what = r->in->rights;
	unsigned rights = 0;

	if (what & LEAT_META_MODE)
		rights = rights_of(r->found.st.st_mode) ^ rights_of(r->in->mode);
	if (!leat_tree_is_distrusted(r->d->tree))
		return rights;
	if (what & LEAT_META_OWNER)
		rights |= changed_by_owner(r);
	return what & LEAT_META_LIST ? rights | LEAT_RIGHTS_READ : rights;
}

/* Does a look at it find another mode, owner, time or attribute? */
static bool is_shown(const struct leat_request *r)
{
	const struct stat *st = &r->found.st;
	const struct leat_msg_resolve *in = r->in;

	if (!in->rights || in->rights & LEAT_META_LIST)
		return true;
	return (in->rights & LEAT_META_MODE && (in->mode & 07777) != (st->st_mode & 07777)) ||
	       (in->rights & LEAT_META_OWNER && ((in->uid != (uid_t)-1 && in->uid != st->st_uid) ||
						 (in->gid != (gid_t)-1 && in->gid != st->st_gid)));
}

int leat_request_check_rights(struct leat_request *r)
{
	unsigned violations = r->d->n_violations, rights = 0;
	bool looked_at;
	struct leat_file *f;

	if (r->role == LEAT_ROLE_PLAIN || !r->exists || !S_ISREG(r->found.st.st_mode))
		return 0;
	/* By other producers, whom all that it shows concerns. */
	looked_at = leat_stream_is_one_of_several(r->d->stream, r->c->step, r->found.path);
	if (looked_at && leat_request_file(r))
		return -ENFILE;
	f = leat_file_find(r->d, r->found.path);
	if (!f)
		return 0;
	if (r->role == LEAT_ROLE_PRODUCER)
		rights = changed(r);
	if (rights)
		leat_file_withdraw_name(r->d, f);
	else if (r->in->rights & LEAT_META_MODE)
		leat_mode_changes(r->d, f, r->c->step, leat_request_seen(r), r->found.st.st_mode,
				  r->in->mode);
	if (looked_at && is_shown(r))
		rights |= LEAT_RIGHTS_SHOWN;
	if (!rights)
		return 0;
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_RIGHTS,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->found.path,
						    .code = rights});
	return leat_request_is_violation(r, violations) ? -EIO : 0;
}
