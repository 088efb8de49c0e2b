/* Open descriptions. */
#include "stream/state/ofds.h"
#include "stream/state/content.h"
#include "stream/state/names.h"

struct leat_ofd *leat_ofd_find(const struct leat_stream *s, uint64_t id)
{
	struct leat_ofd *o;

	HASH_FIND(hh, s->ofds, &id, sizeof(id), o);
	return o;
}

struct leat_ofd *leat_ofd_new(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = leat_heap_alloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct leat_ofd){.id = ev->ofd, .step = ev->step, .node = ev->node, .pid = ev->pid};
	HASH_ADD(hh, s->ofds, id, sizeof(o->id), o);
	if (!o->hh.tbl) {
		leat_heap_free(o);
		return NULL;
	}
	return o;
}

void leat_ofd_free(struct leat_stream *s, struct leat_ofd *o)
{
	HASH_DEL(s->ofds, o);
	leat_heap_free(o);
}

struct leat_content *leat_content_of(const struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_ofd *o = ev->ofd ? leat_ofd_find(s, ev->ofd) : NULL;
	const struct leat_name_state *n = ev->name ? leat_name_find(s, ev->name) : NULL;

	return o ? o->content : n ? n->content : NULL;
}

void leat_ofds_free(struct leat_stream *s)
{
	struct leat_ofd *o, *next;

	HASH_ITER(hh, s->ofds, o, next)
	{
		o->content->writers--;
		leat_content_release(s, o->content);
		leat_ofd_free(s, o);
	}
}
