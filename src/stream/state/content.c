/* Contents: what open descriptions, renames and links act on. */
#include "stream/state/content.h"
#include "stream/state/names.h"
#include "stream/state/queue.h"

#include <errno.h>

struct leat_content *leat_content_new(struct leat_stream *s, struct leat_name_state *n, int creator,
				      bool is_dir)
{
	struct leat_content *c = leat_heap_alloc(1, sizeof(*c));

	if (!c) {
		s->error = -ENOMEM;
		return NULL;
	}
	c->is_dir = is_dir;
	c->creator = creator;
	c->lost = -1;
	leat_content_attach(s, c, n);
	if (creator >= 0 && !n->governed)
		leat_link_add(s, &s->steps[creator].names, n);
	return c;
}

/* What is waited for below a directory depends on whether it is one. */
static void note_directory(struct leat_stream *s, const struct leat_content *c,
			   const struct leat_name_state *n)
{
	s->broad = s->broad || c->is_dir || n->rule->n_files;
}

void leat_content_attach(struct leat_stream *s, struct leat_content *c, struct leat_name_state *n)
{
	note_directory(s, c, n);
	n->content = c;
	DL_APPEND2(c->names, n, same_prev, same_next);
	leat_touch(s, n);
	leat_name_account(s, n);
	if (n->parent)
		leat_touch(s, n->parent);
}

void leat_content_release(struct leat_stream *s, struct leat_content *c)
{
	if (c->names || c->writers || c->holds)
		return;
	leat_pending_drop(s, c);
	leat_extents_release(&c->extents);
	for (size_t i = 0; i < c->n_parts; i++)
		leat_extents_release(&c->parts[i].written);
	leat_heap_free(c->parts);
	leat_heap_free(c);
}

void leat_content_detach(struct leat_stream *s, struct leat_name_state *n)
{
	struct leat_content *c = n->content;

	note_directory(s, c, n);
	n->content = NULL;
	n->readers = 0;
	DL_DELETE2(c->names, n, same_prev, same_next);
	leat_touch(s, n);
	leat_name_account(s, n);
	leat_content_release(s, c);
}

struct leat_part *leat_content_find_part(const struct leat_content *c, int step)
{
	for (size_t i = 0; i < c->n_parts; i++)
		if (c->parts[i].step == step)
			return &c->parts[i];
	return NULL;
}

struct leat_part *leat_content_part(struct leat_stream *s, struct leat_content *c, int step)
{
	struct leat_part *part = leat_content_find_part(c, step), *parts;

	if (part)
		return part;
	parts = leat_heap_resize(c->parts, c->n_parts + 1, sizeof(*parts));
	if (!parts) {
		s->error = -ENOMEM;
		return NULL;
	}
	c->parts = parts;
	part = &parts[c->n_parts++];
	*part = (struct leat_part){.step = step};
	return part;
}

void leat_content_touch(struct leat_stream *s, struct leat_content *c)
{
	struct leat_name_state *n;

	DL_FOREACH2(c->names, n, same_next)
	{
		leat_touch(s, n);
		leat_name_account(s, n);
	}
}

/* ---- empty closes ---- */

static struct leat_process *process_get(struct leat_stream *s, int node, int pid)
{
	struct leat_process_key key = {node, pid};
	struct leat_process *p;

	HASH_FIND(hh, s->processes, &key, sizeof(key), p);
	if (p)
		return p;
	p = leat_heap_alloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->key = key;
	HASH_ADD(hh, s->processes, key, sizeof(p->key), p);
	if (!p->hh.tbl) {
		leat_heap_free(p);
		return NULL;
	}
	return p;
}

void leat_pending_add(struct leat_stream *s, struct leat_content *c, const struct leat_ofd *o)
{
	struct leat_part *part = leat_content_part(s, c, o->step);
	struct leat_process *process = process_get(s, o->node, o->pid);
	struct leat_pending *p = leat_heap_alloc(1, sizeof(*p));

	if (!part || !process || !p) {
		s->error = -ENOMEM;
		leat_heap_free(p);
		return;
	}
	p->content = c;
	p->process = process;
	p->step = o->step;
	DL_APPEND(c->pending, p);
	DL_APPEND2(process->pending, p, process_prev, process_next);
	part->pending++;
}

static void pending_free(struct leat_stream *s, struct leat_pending *p)
{
	struct leat_process *process = p->process;
	struct leat_part *part = leat_content_find_part(p->content, p->step);

	part->pending--;
	DL_DELETE(p->content->pending, p);
	DL_DELETE2(process->pending, p, process_prev, process_next);
	if (!process->pending) {
		HASH_DEL(s->processes, process);
		leat_heap_free(process);
	}
	leat_heap_free(p);
}

void leat_pending_drop(struct leat_stream *s, struct leat_content *c)
{
	while (c->pending)
		pending_free(s, c->pending);
}

static void process_exit(struct leat_stream *s, struct leat_process *process, bool normally)
{
	bool more = process;

	while (more) {
		struct leat_pending *p = process->pending;
		struct leat_content *c = p->content;

		more = p->process_next;
		if (normally)
			leat_content_find_part(c, p->step)->data_closes++;
		else
			c->broken = true;
		pending_free(s, p);
		leat_content_touch(s, c);
	}
}

void leat_pending_exit(struct leat_stream *s, int node, int pid, bool normally)
{
	struct leat_process_key key = {node, pid};
	struct leat_process *process;

	HASH_FIND(hh, s->processes, &key, sizeof(key), process);
	process_exit(s, process, normally);
}

void leat_pending_exit_behind(struct leat_stream *s, int server, bool normally)
{
	struct leat_process *process, *next;

	HASH_ITER(hh, s->processes, process, next)
	if (server && process->key.node == server)
		process_exit(s, process, normally);
}
