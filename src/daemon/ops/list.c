/* LIST: directories as the step may see them. */
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/user.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/ops.h"
#include "daemon/ops/private.h"
#include "daemon/ops/rules.h"
#include "daemon/ops/versions.h"
#include "store/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A client whose handle was dropped starts anew, so the oldest may go. */
#define MAX_CATALOGS 4096u

struct leat_catalog_name {
	UT_hash_handle hh; /* by name, which is the listing's */
};

/* One listing in progress. */
struct leat_catalog {
	UT_hash_handle hh;
	uint64_t handle;
	char *dir; /* owned */
	struct leat_listing names;
	struct leat_catalog_name *seen; /* while more names may come */
	uint64_t shown;                 /* by the rules' count, before the last look */
	bool complete;
};

static void free_seen(struct leat_catalog *k)
{
	struct leat_catalog_name *s, *next;

	HASH_ITER(hh, k->seen, s, next)
	{
		HASH_DEL(k->seen, s);
		free(s);
	}
}

static void free_catalog(struct leat_daemon *d, struct leat_catalog *k)
{
	HASH_DEL(d->ops->catalogs, k);
	free_seen(k);
	leat_listing_release(&k->names);
	free(k->dir);
	free(k);
}

void leat_catalogs_free(struct leat_daemon *d)
{
	struct leat_catalog *k, *next;

	HASH_ITER(hh, d->ops->catalogs, k, next)
	free_catalog(d, k);
}

static struct leat_catalog *new_catalog(struct leat_daemon *d, const char *dir)
{
	struct leat_catalog *k = calloc(1, sizeof(*k));

	if (!k || !(k->dir = strdup(dir))) {
		free(k);
		return NULL;
	}
	if (HASH_COUNT(d->ops->catalogs) >= MAX_CATALOGS)
		free_catalog(d, d->ops->catalogs);
	k->handle = ++d->ops->last_catalog;
	HASH_ADD(hh, d->ops->catalogs, handle, sizeof(k->handle), k);
	if (k->hh.tbl)
		return k;
	free(k->dir);
	free(k);
	return NULL;
}

/* Whether the step may see the name now. */
static bool is_visible(struct leat_conn *c, const char *dir, const char *name)
{
	if (leat_is_dots(name))
		return true;
	if (!leat_versions_shows(c, dir, name) || !leat_private_shows(c, dir, name))
		return false;
	return leat_rules_show(c, dir, name);
}

static bool is_input(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	bool consumed = rule->holds_inputs;

	for (size_t i = 0; i < leat_steps_words(d->matcher); i++)
		consumed |= rule->consumers[i] != 0;
	return consumed && !rule->excluded;
}

/* The rules know what happened in the run. Once for each directory, they get as events what
 * is there of it, too, lest they have the listing wait for it. */
static int report_present(struct leat_daemon *d, struct leat_file *dir)
{
	struct leat_listing now = {0};
	const struct leat_file_rule *rule;
	struct leat_file *f;
	char path[PATH_MAX];
	int rc;

	if (dir->listed)
		return 0;
	rc = leat_tree_list(d->tree, dir->name, &now);
	for (size_t i = 0; rc >= 0 && i < now.n; i++) {
		if (leat_is_dots(now.v[i].name) || !leat_path_put(path, dir->name, now.v[i].name))
			continue;
		rule = leat_match(d->matcher, path);
		f = rule && is_input(d, rule) ? leat_file_get(d, path) : NULL;
		if (f)
			leat_file_report_present(d, f);
	}
	leat_listing_release(&now);
	dir->listed = rc >= 0;
	return rc < 0 && rc != -ENOENT ? rc : 0;
}

static int note_entry(void *ctx, const struct leat_store_entry *e)
{
	struct leat_catalog *k = ctx;
	struct leat_catalog_name *s;
	const char *name;
	int rc;

	HASH_FIND(hh, k->seen, e->name, strlen(e->name), s);
	if (s)
		return 0;
	s = malloc(sizeof(*s));
	rc = s ? leat_listing_add(&k->names, e->ino, e->type, e->name) : -ENOMEM;
	if (rc) {
		free(s);
		return rc;
	}
	name = k->names.v[k->names.n - 1].name;
	HASH_ADD_KEYPTR(hh, k->seen, name, strlen(name), s);
	if (s->hh.tbl)
		return 0;
	free(s);
	return -ENOMEM;
}

/* Add whatever the step may see that is not in the listing yet. */
static int look_at_all(struct leat_conn *c, struct leat_catalog *k)
{
	struct leat_listing now = {0};
	int rc = leat_tree_list(c->d->tree, k->dir, &now);

	for (size_t i = 0; !rc && i < now.n; i++)
		if (is_visible(c, k->dir, now.v[i].name))
			rc = note_entry(k, &now.v[i]);
	leat_listing_release(&now);
	return rc;
}

/* Add one name that the rules have come to show. */
static int look_at(struct leat_conn *c, struct leat_catalog *k, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct leat_store_entry e = {.name = strdup(name)};
	enum leat_root root;
	struct stat st;
	int rc = e.name ? 0 : -ENOMEM;

	if (!rc && is_visible(c, k->dir, name) && !leat_tree_look(c->d->tree, path, &root, &st)) {
		e.ino = st.st_ino;
		e.type = IFTODT(st.st_mode);
		rc = note_entry(k, &e);
	}
	free(e.name);
	return rc;
}

/* Add what the rules have come to show since the last look: reading all of a directory for each
 * name that comes would take the square of their number. */
static int look_at_new(struct leat_conn *c, struct leat_catalog *k)
{
	const char **names;
	ssize_t n = leat_stream_shown_since(c->d->stream, k->dir, k->shown, &names);
	int rc = n < 0 ? (int)n : 0;

	for (ssize_t i = 0; !rc && i < n; i++)
		rc = look_at(c, k, names[i]);
	if (n >= 0)
		free(names);
	return rc;
}

/* What the rules do not know is found by the first look and by the last. */
static int look(struct leat_conn *c, struct leat_catalog *k, bool all)
{
	uint64_t shown = leat_stream_shown(c->d->stream, k->dir);
	int rc = all ? look_at_all(c, k) : look_at_new(c, k);

	k->shown = shown;
	if (!rc)
		rc = leat_versions_list(c, k->dir, note_entry, k);
	if (!rc)
		rc = leat_private_list(c, k->dir, note_entry, k);
	if (k->complete)
		free_seen(k);
	return rc;
}

/* May more names of the directory be given? As leat_ask_rules. */
static int ask_one(struct leat_conn *c, const char *dir, uint64_t shown, struct leat_file **on,
		   bool *streams)
{
	const struct leat_file_rule *rule = leat_match(c->d->matcher, dir);
	int rc;

	*streams = false;
	if (!rule)
		return -ENOMEM;
	if (!leat_rule_matters(rule))
		return 0;
	*on = leat_file_get(c->d, dir);
	if (!*on)
		return -ENFILE;
	rc = report_present(c->d, *on);
	return rc ? rc : leat_ask_rules(c, *on, LEAT_CALL_LIST, shown, 0, streams);
}

/* The same of what the step sees there and is elsewhere; that is waited for whole. */
static int ask(struct leat_conn *c, const char *dir, uint64_t shown, struct leat_file **on,
	       bool *streams)
{
	char behind[PATH_MAX];
	bool grows;
	int rc = ask_one(c, dir, shown, on, streams);

	for (size_t i = 0; !rc && leat_versions_list_behind(c, dir, i, behind); i++) {
		rc = ask_one(c, behind, UINT64_MAX, on, &grows);
		if (rc == -ENOENT)
			rc = 0;
	}
	return rc;
}

/* Have names beyond the first `cookie`, or know that there are none. */
static int go_on(struct leat_conn *c, struct leat_catalog *k, uint64_t cookie,
		 struct leat_file **on)
{
	bool streams;
	int rc = 0;

	/* What is new may be for others' eyes only: then the question is asked again. */
	while (!rc && !k->complete && cookie >= k->names.n) {
		rc = ask(c, k->dir, k->shown, on, &streams);
		if (rc)
			break;
		k->complete = !streams;
		rc = look(c, k, k->complete);
	}
	return rc;
}

static int start(struct leat_conn *c, const char *path, uint64_t cookie, struct leat_file **on,
		 struct leat_catalog **catalog)
{
	struct leat_found found;
	bool streams;
	int rc = leat_user_find(c->user, c->d->tree, path, LEAT_FIND_FOLLOW, &found);

	if (!rc)
		rc = leat_private_find_dir(c, &found);
	if (!rc)
		rc = leat_versions_find(c, LEAT_CALL_OPEN, &found, NULL);
	if (!rc && (found.outside || found.root == LEAT_ROOT_NONE))
		rc = -ENOENT;
	if (!rc && !S_ISDIR(found.st.st_mode))
		rc = -ENOTDIR;
	if (!rc)
		rc = leat_enforce_list(c, found.path);
	if (!rc && c->user)
		rc = leat_user_access(c->user, leat_tree_fd(c->d->tree, found.root), found.path,
				      R_OK);
	if (!rc)
		rc = ask(c, found.path, 0, on, &streams);
	if (rc)
		return rc;
	*catalog = new_catalog(c->d, found.path);
	if (!*catalog)
		return -ENOMEM;
	(*catalog)->complete = !streams;
	rc = look(c, *catalog, true);
	return rc ? rc : go_on(c, *catalog, cookie, on);
}

static void put_names(struct leat_msg_names *m, const struct leat_catalog *k, uint64_t cookie)
{
	uint64_t i = cookie;

	for (; i < k->names.n; i++) {
		const struct leat_store_entry *e = &k->names.v[i];
		size_t size = sizeof(e->ino) + sizeof(e->type) + strlen(e->name) + 1;

		if (m->h.size + size > LEAT_WIRE_MAX)
			break;
		leat_wire_put_raw(m, &e->ino, sizeof(e->ino));
		leat_wire_put_raw(m, &e->type, sizeof(e->type));
		leat_wire_put(m, e->name);
		m->count++;
	}
	m->handle = k->handle;
	m->cookie = i;
}

int leat_handle_list(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_list *in = msg;
	struct leat_daemon *d = c->d;
	const char *path = leat_wire_string(msg, sizeof(*in), 0);
	struct leat_catalog *k = NULL;
	struct leat_file *on = NULL;
	struct leat_msg_names *m;
	int rc = -ESTALE;

	if (!path)
		return -EPROTO;
	HASH_FIND(hh, d->ops->catalogs, &in->handle, sizeof(in->handle), k);
	if (in->release) {
		if (k)
			free_catalog(d, k);
		return 0;
	}
	if (!in->handle)
		rc = start(c, path, in->cookie, &on, &k);
	else if (k)
		rc = go_on(c, k, in->cookie, &on);
	m = leat_wire_begin(d->out, LEAT_MSG_NAMES, sizeof(*m));
	m->error = rc;
	m->handle = k ? k->handle : 0;
	if (on) {
		m->slot = on->slot;
		m->seq = leat_shm_seq(leat_file_shm(d, on));
	}
	if (!rc)
		put_names(m, k, in->cookie);
	leat_conn_send(c, m);
	return 0;
}
