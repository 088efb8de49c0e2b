/* IDENTIFY: which file is this descriptor that a process inherited. */
#include "daemon/core/connections.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/ops/handlers.h"

#include <errno.h>
#include <fcntl.h>

static bool is_final(enum leat_file_state state)
{
	return state == LEAT_FILE_COMMITTED || state == LEAT_FILE_FAILED || state == LEAT_FILE_GONE;
}

static uint32_t kind_for_reading(struct leat_conn *c, const struct leat_file *f)
{
	struct leat_daemon *d = c->d;
	enum leat_role role = leat_stream_role(d->stream, c->step, f->name);

	/* Who produces it, too, has waited for the other producers when it was opened. */
	if (role == LEAT_ROLE_CONSUMER &&
	    (f->rule->drop || !is_final(leat_stream_state(d->stream, f->name))))
		return LEAT_KIND_CONSUMER;
	return LEAT_KIND_COUNTED;
}

/* The only live description of the file, or 0: then any may be meant. */
static uint64_t sole_ofd(const struct leat_file *f)
{
	return f->descriptions && !f->descriptions->next ? f->descriptions->id : 0;
}

static bool has_intact(const struct leat_file *f)
{
	const struct leat_description *l;

	DL_SEARCH_SCALAR(f->descriptions, l, intact, true);
	return l;
}

/* A version that a process of the step has opened to read it. */
static uint64_t reader_ofd(const struct leat_conn *c, const struct leat_file *f)
{
	const struct leat_description *l;

	DL_FOREACH(f->readers_open, l)
	if (l->step == c->step)
		return l->id;
	return 0;
}

static void describe(struct leat_conn *c, const struct leat_msg_identify *in, const struct stat *st,
		     struct leat_file *f, struct leat_msg_resolved *m)
{
	if (S_ISDIR(st->st_mode)) {
		m->kind = LEAT_KIND_DIR;
		return;
	}
	m->kind = S_ISREG(st->st_mode) ? LEAT_KIND_COUNTED : LEAT_KIND_NONE;
	if (!f || !S_ISREG(st->st_mode))
		return;
	m->input = leat_stream_role(c->d->stream, c->step, f->name) == LEAT_ROLE_CONSUMER;
	m->generation = leat_shm_generation(leat_file_shm(c->d, f)) / LEAT_GENERATION_NEXT *
			LEAT_GENERATION_NEXT; /* where it still is */
	if ((in->flags & O_ACCMODE) == O_RDONLY) {
		m->kind = kind_for_reading(c, f);
		f->watched |= m->kind == LEAT_KIND_COUNTED;
		m->ofd = reader_ofd(c, f);
	} else if (f->descriptions) {
		m->kind = f->publishes ? LEAT_KIND_PUBLISHER : LEAT_KIND_PRODUCER;
		m->ofd = sole_ofd(f);
		m->intact = has_intact(f);
	}
	/* what is final stays what it is, wherever it goes */
	if (m->kind != LEAT_KIND_COUNTED || !is_final(leat_stream_state(c->d->stream, f->name)))
		m->slot = f->slot;
}

/* The file that was renamed or removed since it was opened is found by its
 * inode, if somebody writes it. */
static struct leat_file *find_by_inode(struct leat_daemon *d, const struct leat_msg_identify *in,
				       struct stat *st)
{
	struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (l->probe >= 0 && fstat(l->probe, st) == 0 && st->st_ino == in->ino &&
		    st->st_dev == in->dev)
			return l->file;
	return NULL;
}

/* The place a file has left: whoever has it open is to follow. */
static struct leat_file *find_moved(struct leat_conn *c, const struct leat_msg_identify *in,
				    struct leat_msg_resolved *m)
{
	const struct leat_former *o = leat_former_find(c->d, in->dev, in->ino);
	struct stat st = {.st_mode = S_IFREG};

	if (!o)
		return NULL;
	describe(c, in, &st, leat_former_file(o), m);
	m->slot = leat_former_file(o)->slot;
	m->generation = leat_former_generation(o);
	return leat_former_file(o);
}

int leat_handle_identify(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_identify *in = msg;
	struct leat_daemon *d = c->d;
	const char *path = leat_wire_string(msg, sizeof(*in), 0);
	struct leat_msg_resolved *m = leat_wire_begin(d->out, LEAT_MSG_RESOLVED, sizeof(*m));
	const char *name = path ? leat_tree_inside(d->tree, path) : NULL;
	struct leat_file *f = NULL;
	enum leat_root root;
	struct stat st;

	if (!path)
		return -EPROTO;
	m->location = LEAT_LOCATION_ASIS;
	m->kind = LEAT_KIND_NONE;
	if (name && *name && leat_tree_look(d->tree, name, &root, &st) == 0 &&
	    ((st.st_ino == in->ino && st.st_dev == in->dev) || S_ISDIR(st.st_mode))) {
		f = leat_file_find(d, name);
		describe(c, in, &st, f, m);
	} else if (name && !*name) {
		m->kind = LEAT_KIND_DIR;
		name = "";
	} else if ((f = find_moved(c, in, m))) {
		name = f->name;
	} else if ((f = find_by_inode(d, in, &st))) {
		describe(c, in, &st, f, m);
		name = f->name;
	}
	if (leat_wire_put(m, name ? name : "") == 0)
		leat_conn_send(c, m);
	return 0;
}
