#include "daemon/ops/change_request.h"

#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/files/persist.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "daemon/ops/rules.h"
#include "store/list.h"

#include <errno.h>

int leat_change_ask(struct leat_change_request *r, const char *name, enum leat_call call)
{
	struct leat_daemon *d = r->d;
	const struct leat_file_rule *rule = leat_match(d->matcher, name);
	struct leat_file *f = leat_file_find(d, name);
	bool streams;

	if (!rule || rule->excluded || (!rule->declared && !f) ||
	    (leat_stream_role(d->stream, r->c->step, name) == LEAT_ROLE_PRODUCER &&
	     !(call == LEAT_CALL_WRITE && leat_stream_has_versions(d->stream, name))))
		return 0;
	f = leat_file_get(d, name);
	if (!f)
		return -ENFILE;
	leat_file_report_present(d, f);
	if (leat_file_is_hidden(f, r->c->step))
		return -ENOENT;
	r->on = f;
	return leat_ask_rules(r->c, f, call, 0, 0, &streams);
}

/* The file `name` of directory `dir`, if the step has removed it for itself; else NULL. */
static struct leat_file *find_removed(const struct leat_change_request *r, const char *dir,
				      const char *name)
{
	char path[PATH_MAX];
	struct leat_file *f = leat_path_put(path, dir, name) ? leat_file_find(r->d, path) : NULL;

	return f && leat_file_is_hidden(f, r->c->step) ? f : NULL;
}

int leat_change_await_empty(struct leat_change_request *r, const char *name)
{
	struct leat_listing l = {0};
	struct leat_file *removed = NULL;
	int rc = leat_tree_list(r->d->tree, name, &l);

	/* What may not be read may be removed: the kernel looks itself. */
	if (rc == -EACCES)
		rc = 0;
	for (size_t i = 0; !rc && i < l.n; i++) {
		if (leat_is_dots(l.v[i].name))
			continue;
		removed = find_removed(r, name, l.v[i].name);
		if (!removed)
			rc = -ENOTEMPTY;
	}
	leat_listing_release(&l);
	/* A step that waits for this one is not waited for. */
	if (rc || (removed && leat_file_is_wanted_around(r->d, removed, r->c->step)))
		return -ENOTEMPTY;
	if (!removed) {
		r->on = leat_files_await_persist(r->d, name);
		return r->on ? -EAGAIN : 0;
	}
	r->on = removed;
	r->c->waiting = true;
	r->c->waiting_slot = removed->slot;
	return -EAGAIN;
}
