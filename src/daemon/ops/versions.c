/* Files by other names, and in versions: what the rules say is behind a name (stream/stream.h) is
 * found, made and removed here. */
#include "daemon/ops/versions.h"

#include "base/fd.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/core/user.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/request.h"
#include "daemon/ops/rules.h"
#include "daemon/run/ranks.h"
#include "daemon/space/spill.h"
#include "model/version.h"
#include "model/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct leat_step *model_of(const struct leat_conn *c)
{
	return c->step >= 0 ? &c->d->wf->steps[c->step] : NULL;
}

/* Ranks of an MPI job have each their place among the versions of a name. */
static unsigned rank_of(struct leat_conn *c)
{
	const struct leat_step *model = model_of(c);

	return model && model->nprocs > 1 ? leat_rank_of(c) : 0;
}

static bool is_source(const struct leat_inport *in, int step)
{
	for (size_t i = 0; in->flow != LEAT_FLOW_BATCH && i < in->n_sources; i++)
		if (in->sources[i].step == step)
			return true;
	return false;
}

bool leat_versions_made_by(const struct leat_daemon *d, int step)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		for (size_t k = 0; k < d->wf->steps[i].n_inports; k++)
			if (is_source(&d->wf->steps[i].inports[k], step))
				return true;
	return false;
}

/* ---- which file is meant ---- */

/* What an instance makes, or finds, in its own directory is not looked for elsewhere. */
static bool is_own(const struct leat_conn *c, enum leat_call call, const struct leat_found *found)
{
	const struct leat_step *model = model_of(c);
	const struct leat_inport *in = model ? leat_view_find(model, found->path) : NULL;

	return in && !in->n_sources && (call == LEAT_CALL_WRITE || found->root != LEAT_ROOT_NONE);
}

/* A directory on the way to what is seen elsewhere, which the step has not made itself. */
static bool leads_behind(const struct leat_conn *c, const struct leat_found *found,
			 char name[PATH_MAX])
{
	const struct leat_step *model = model_of(c);
	const struct leat_inport *in = model && found->root == LEAT_ROOT_NONE
					       ? leat_view_find_above(model, found->path)
					       : NULL;

	for (size_t i = 0; in && (i < in->n_sources || !i); i++)
		if (leat_view_made(c->d->wf, model, in, i, found->path, name) &&
		    leat_tree_look(c->d->tree, name, &(enum leat_root){0}, NULL) == 0)
			return true;
	return false;
}

/* What a call gets that is about no version. */
static int error_of(enum leat_version_answer answer)
{
	static const int errors[] = {[LEAT_VERSION_NAMED] = 0,
				     [LEAT_VERSION_NONE] = -ENOENT,
				     [LEAT_VERSION_GONE] = -ESTALE,
				     [LEAT_VERSION_NAME_TOO_LONG] = -ENAMETOOLONG,
				     [LEAT_VERSION_NO_MEMORY] = -ENOMEM};

	return errors[answer];
}

/* By which name the rules know what the client opens as `path`, or otherwise means. */
static enum leat_version_answer version_of(struct leat_conn *c, enum leat_call call,
					   const char *path, char name[PATH_MAX])
{
	return leat_stream_version(c->d->stream, c->step, rank_of(c), call, path, name);
}

int leat_versions_find(struct leat_conn *c, enum leat_call call, struct leat_found *found,
		       char seen[PATH_MAX])
{
	enum leat_version_answer answer = LEAT_VERSION_NAMED;
	enum leat_find how = LEAT_FIND_NOFOLLOW;
	char name[PATH_MAX];
	int rc;

	if (seen)
		*seen = 0;
	if (!c->d->has_views || found->outside || is_own(c, call, found))
		return 0;
	/* One process of a step closes a version, another one begins the next. */
	leat_procs_hear(c->d, c->step);
	leat_descriptions_close_ended(c->d);
	if (leads_behind(c, found, name))
		how = call == LEAT_CALL_OPEN ? LEAT_FIND_FOLLOW : how;
	else
		answer = version_of(c, call, found->path, name);
	/* To look at what there is instead does no harm. */
	if (answer == LEAT_VERSION_GONE)
		answer = version_of(c, LEAT_CALL_LOOK, found->path, name);
	rc = error_of(answer);
	if (rc || !strcmp(name, found->path))
		return rc;
	if (seen)
		memcpy(seen, found->path, PATH_MAX);
	/* The directories on the way are ours: nobody has to have made them. */
	if (call == LEAT_CALL_WRITE && leat_str_begins(name, LEAT_VERSIONS_DIR "/"))
		rc = leat_tree_make_parents(c->d->tree, LEAT_ROOT_STORE, name);
	return rc ? rc : leat_user_find(c->user, c->d->tree, name, how, found);
}

/* A rank that comes when what it would have to begin with has gone must not go on with another. */
static int missed(struct leat_conn *c, const char *path)
{
	const char *last = leat_stream_missed(c->d->stream, c->step, path);
	const struct leat_step *model = model_of(c);
	char title[LEAT_VERSION_TITLE];

	if (leat_step_missed(c->d, c->step, path))
		leat_problem_add(c->d, -EIO,
				 "rank %u of step %s opens %s for the first time after %s, which "
				 "the other ranks have read, has gone: give the step \"nwriters: "
				 "%u\", so that its versions are kept for all its ranks",
				 leat_rank_of(c), model->name, path,
				 last ? leat_version_title(last, title) : path, model->nprocs);
	return -EIO;
}

/* May the client go on among the versions of what it has named? */
static int admit(struct leat_request *r, enum leat_call call)
{
	const struct leat_step *model = model_of(r->c);
	const char *path = r->found.path;
	const struct leat_inport *in;
	char name[PATH_MAX];
	int rc;

	if (!r->d->has_views || !model || model->nprocs <= 1 || r->in->op != LEAT_OP_OPEN ||
	    call != LEAT_CALL_OPEN || r->found.outside || is_own(r->c, call, &r->found))
		return 0;
	in = leat_view_find(model, path);
	if (!in || !leat_inport_has_versions(in))
		return 0;
	rc = leat_rank_check(r->c, path, "to read its versions");
	if (!rc && version_of(r->c, call, path, name) == LEAT_VERSION_GONE)
		rc = missed(r->c, path);
	return rc;
}

int leat_versions_resolve(struct leat_request *r, enum leat_call call)
{
	int rc;

	leat_descriptions_close_ended(r->d);
	rc = admit(r, call);

	return rc ? rc : leat_versions_find(r->c, call, &r->found, r->seen);
}

/* ---- the next version ---- */

int leat_versions_carry_over(struct leat_request *r)
{
	struct leat_daemon *d = r->d;
	struct leat_found last;
	char name[PATH_MAX];
	enum leat_root to;
	int rc, from;

	if (!*r->seen || r->exists)
		return 0;
	rc = error_of(version_of(r->c, LEAT_CALL_LOOK, r->seen, name));
	if (!rc)
		rc = leat_user_find(r->c->user, d->tree, name, LEAT_FIND_NOFOLLOW, &last);
	if (rc || last.root == LEAT_ROOT_NONE)
		return rc;
	if (r->in->flags & O_CREAT && r->in->flags & O_EXCL)
		return -EEXIST;
	/* Another user than the daemon's cannot go into the spill directory. */
	to = r->c->user ? LEAT_ROOT_STORE
			: leat_spill_choose_root(
				  d, r->in->flags & O_TRUNC ? 0 : (uint64_t)last.st.st_size);
	from = leat_user_hold(last.root == LEAT_ROOT_SPILL ? NULL : r->c->user,
			      leat_tree_fd(d->tree, last.root), name);
	rc = from < 0 ? from
		      : leat_tree_copy(d->tree, from, to, r->found.path, r->in->flags & O_TRUNC);
	leat_close(&from);
	if (!rc)
		rc = leat_tree_look(d->tree, r->found.path, &r->found.root, &r->found.st);
	r->exists = !rc;
	r->carried = r->exists && !(r->in->flags & O_TRUNC);
	if (!rc)
		r->file->reported = r->file->made = true;
	return rc;
}

bool leat_versions_keep(struct leat_conn *c, const char *name)
{
	struct leat_daemon *d = c->d;
	enum leat_role role = leat_stream_role(d->stream, c->step, name);

	if (!d->has_views || !leat_stream_has_versions(d->stream, name) ||
	    leat_stream_state(d->stream, name) != LEAT_FILE_COMMITTED)
		return false;
	/* The next one may be made; a consumer is given it then. */
	if (role == LEAT_ROLE_PRODUCER)
		leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_UNLINK,
							 .step = c->step,
							 .pid = c->pid,
							 .name = name});
	return role == LEAT_ROLE_PRODUCER || role == LEAT_ROLE_CONSUMER;
}

/* ---- who reads one ---- */

uint64_t leat_versions_take(struct leat_request *r)
{
	struct leat_daemon *d = r->d;
	struct leat_description *l;

	if (!r->file || r->is_dir || r->role != LEAT_ROLE_CONSUMER ||
	    !leat_stream_has_versions(d->stream, r->file->name))
		return 0;
	l = leat_description_new_reader(d, r->file, r->c);
	if (!l)
		return 0;
	if (leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_TAKE,
						     .step = r->c->step,
						     .pid = r->c->pid,
						     .ofd = l->id,
						     .code = rank_of(r->c),
						     .name = r->file->name,
						     .to = *r->seen ? r->seen : r->found.path}))
		return 0;
	l->counted = true;
	return l->id;
}

int leat_handle_read(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_read *in = msg;
	struct leat_description *l;

	HASH_FIND(hh, c->d->files->descriptions, &in->ofd, sizeof(in->ofd), l);
	if (l && l->reads && l->step == c->step)
		l->read |= in->how == LEAT_READ_ALL;
	if (l && l->reads && l->counted && l->step == c->step)
		leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_READ,
							    .step = c->step,
							    .pid = c->pid,
							    .code = in->how,
							    .offset = in->end,
							    .length = in->partly ? in->end : 0,
							    .ofd = l->id});
	return 0;
}

/* ---- listings ---- */

bool leat_versions_shows(struct leat_conn *c, const char *dir, const char *name)
{
	const struct leat_step *model = model_of(c);
	const struct leat_inport *in;
	char path[PATH_MAX];

	if (!*dir && !strcmp(name, LEAT_VERSIONS_DIR))
		return false;
	if (!c->d->has_views || !model || !leat_path_put(path, dir, name))
		return true;
	in = leat_view_find(model, path);
	/* What it sees in its place is added to the listing. */
	return !in || !in->n_sources;
}

struct adding {
	struct leat_conn *c;
	const char *dir;
	int (*add)(void *ctx, const struct leat_store_entry *e);
	void *ctx;
};

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return leat_path_is_below(path, dir) && !strchr(path + n + (n > 0), '/');
}

/* Add `seen`, behind which is `made`. */
static int add_entry(const struct adding *a, const char *seen, const char *made)
{
	struct leat_store_entry e = {.type = DT_UNKNOWN, .name = (char *)(uintptr_t)last_of(seen)};
	enum leat_root root;
	struct stat st;

	if (leat_tree_look(a->c->d->tree, made, &root, &st))
		return 0;
	e.ino = st.st_ino;
	e.type = IFTODT(st.st_mode);
	return a->add(a->ctx, &e);
}

/* A version is shown when it is the step's turn to read it. */
static int add_due(void *ctx, const char *seen, const char *made)
{
	const struct adding *a = ctx;

	return is_in(seen, a->dir) ? add_entry(a, seen, made) : 0;
}

/* A whole file of another step, or a directory on the way to one. */
static int add_seen(const struct adding *a, const struct leat_inport *in, size_t source,
		    const struct leat_listing *names, const char *made_dir)
{
	struct leat_daemon *d = a->c->d;
	char made[PATH_MAX], seen[PATH_MAX], back[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; !rc && i < names->n; i++) {
		const char *name = names->v[i].name;

		if (leat_is_dots(name) || !leat_path_put(made, made_dir, name) ||
		    !leat_path_put(seen, a->dir, name) ||
		    !leat_view_made(d->wf, model_of(a->c), in, source, seen, back) ||
		    strcmp(made, back) != 0 || !leat_rules_show(a->c, made_dir, name))
			continue;
		rc = add_entry(a, seen, made);
	}
	return rc;
}

/* Where what the inport shows in `dir` is. */
static bool dir_behind(struct leat_conn *c, const struct leat_inport *in, size_t source,
		       const char *dir, char out[PATH_MAX])
{
	const struct leat_step *model = model_of(c);
	size_t n = leat_pattern_directory(in->seen.text);
	bool holds = (strlen(dir) == n && !strncmp(dir, in->seen.text, n)) ||
		     leat_view_find_above(model, dir) == in || leat_view_find(model, dir) == in;
	const char *maker = in->n_sources ? c->d->wf->steps[in->sources[source].step].dir : NULL;
	const char *rest = dir;

	if (!holds || leat_inport_has_versions(in))
		return false;
	if (model->dir)
		rest = strcmp(dir, model->dir) ? dir + strlen(model->dir) + 1 : "";
	if (!maker || !*rest)
		return snprintf(out, PATH_MAX, "%s", maker ? maker : rest) < PATH_MAX;
	return leat_path_put(out, maker, rest);
}

static size_t sources_of(const struct leat_inport *in)
{
	return in->n_sources ? in->n_sources : 1;
}

static int list_behind(const struct adding *a)
{
	const struct leat_step *model = model_of(a->c);
	char dir[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; model && i < model->n_inports; i++)
		for (size_t k = 0; !rc && k < sources_of(&model->inports[i]); k++) {
			struct leat_listing names = {0};

			if (!dir_behind(a->c, &model->inports[i], k, a->dir, dir))
				continue;
			rc = leat_tree_list(a->c->d->tree, dir, &names);
			rc = rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
			if (!rc)
				rc = add_seen(a, &model->inports[i], k, &names, dir);
			leat_listing_release(&names);
		}
	return rc;
}

int leat_versions_list(struct leat_conn *c, const char *dir,
		       int (*add)(void *ctx, const struct leat_store_entry *e), void *ctx)
{
	struct adding a = {c, dir, add, ctx};
	int rc;

	if (!c->d->has_views)
		return 0;
	rc = leat_stream_each_version(c->d->stream, c->step, rank_of(c), add_due, &a);
	return rc ? rc : list_behind(&a);
}

bool leat_versions_list_behind(struct leat_conn *c, const char *dir, size_t n, char out[PATH_MAX])
{
	const struct leat_step *model = c->d->has_views ? model_of(c) : NULL;

	for (size_t i = 0; model && i < model->n_inports; i++)
		for (size_t k = 0; k < sources_of(&model->inports[i]); k++)
			if (dir_behind(c, &model->inports[i], k, dir, out) && strcmp(out, dir) &&
			    !n--)
				return true;
	return false;
}
