#include "daemon/ops/links.h"

#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/ops/rules.h"
#include "daemon/ops/uses.h"
#include "model/view.h"

#include <errno.h>
#include <string.h>

/* Versions are given by the names that they are made by. */
static int refuse_versions(struct leat_conn *c, const char *link, const char *name)
{
	const struct leat_step *step = &c->d->wf->steps[c->step];
	const struct leat_inport *in = c->d->has_views ? leat_view_find(step, name) : NULL;

	if (!in || !in->n_sources)
		return 0;
	leat_problem_add(
		c->d, -EIO,
		"step %s reads %s in versions, or by another name than it is made by, but %s "
		"is a symlink: name the directory or file that it leads to",
		step->name, name, link);
	leat_step_spoil(c->d, c->step, name);
	return -EIO;
}

static int ask_file(struct leat_conn *c, const char *name, struct leat_file **on)
{
	enum leat_role role = leat_stream_role(c->d->stream, c->step, name);

	if (role != LEAT_ROLE_CONSUMER && role != LEAT_ROLE_BOTH)
		return 0;
	return leat_ask_name(c, name, LEAT_CALL_LOOK, on);
}

/* Whoever gets at the directory may list it where nobody sees it. */
static int ask_directory(struct leat_conn *c, const char *name, struct leat_file **on)
{
	const struct leat_file_rule *rule = leat_match(c->d->matcher, name);

	if (!rule)
		return -ENOMEM;
	if (rule->excluded || !rule->holds_inputs ||
	    !leat_step_reads_below(c->d->matcher, c->step, name))
		return 0;
	return leat_ask_name(c, name, LEAT_CALL_LIST, on);
}

static int ask_link(struct leat_conn *c, const char *link, const char *name, struct leat_file **on)
{
	int rc = refuse_versions(c, link, name);

	if (!rc)
		rc = ask_file(c, link, on);
	if (!rc && strcmp(link, name) != 0)
		rc = ask_file(c, name, on);
	return rc ? rc : ask_directory(c, name, on);
}

/* Behind a mount the kernel follows links by itself, and all that is seen is a look at them. */
static bool is_followed_unseen(const struct leat_conn *c, const struct leat_found *found)
{
	return c->steady && !found->outside && found->root != LEAT_ROOT_NONE &&
	       S_ISLNK(found->st.st_mode);
}

static int ask_links(struct leat_conn *c, const struct leat_found *found, struct leat_file **on)
{
	const char *links = found->links, *link, *name;
	int rc = 0;

	for (size_t at = 0; !rc && at < found->links_size; at += strlen(name) + 1) {
		link = links + at;
		at += strlen(link) + 1;
		name = links + at;
		rc = ask_link(c, link, name, on);
	}
	if (!rc && is_followed_unseen(c, found))
		rc = ask_link(c, found->path, found->path, on);
	return rc ? rc : leat_uses_links(c, found);
}

/* A file in place of a directory. */
static int ask_obstacle(struct leat_conn *c, const struct leat_found *found, struct leat_file **on)
{
	int rc = leat_ask_name(c, found->path, LEAT_CALL_LOOK, on);

	return rc ? rc : leat_uses_met(c, found);
}

int leat_links_ask(struct leat_conn *c, const struct leat_found *found, int error,
		   struct leat_file **on)
{
	int rc;

	if (c->step < 0 || (error && error != -ENOTDIR && error != -ELOOP))
		return error;
	rc = ask_links(c, found, on);
	if (!rc && error == -ENOTDIR && !found->outside)
		rc = ask_obstacle(c, found, on);
	return rc ? rc : error;
}
