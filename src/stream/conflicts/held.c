/* Declared outputs that steps before their producers have open. */
#include "stream/conflicts/held.h"
#include "stream/conflicts/order.h"
#include "stream/state/content.h"
#include "stream/state/names.h"

#include <errno.h>

/* An open description of such a step; key id. */
struct leat_hold {
	uint64_t id;
	struct leat_content *content;
	int step;
	bool writes;
	UT_hash_handle hh;
};

int leat_fact_hold(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	struct leat_hold *h;

	HASH_FIND(hh, s->holds, &ev->ofd, sizeof(ev->ofd), h);
	if (!ev->ofd || h || !n || !n->content)
		return -EINVAL;
	h = leat_heap_alloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	*h = (struct leat_hold){
		.id = ev->ofd, .content = n->content, .step = ev->step, .writes = ev->code};
	HASH_ADD(hh, s->holds, id, sizeof(h->id), h);
	if (!h->hh.tbl) {
		leat_heap_free(h);
		return -ENOMEM;
	}
	h->content->holds++;
	return 0;
}

static void let_go(struct leat_stream *s, struct leat_hold *h)
{
	h->content->holds--;
	leat_content_touch(s, h->content);
	leat_content_release(s, h->content);
	HASH_DEL(s->holds, h);
	leat_heap_free(h);
}

int leat_fact_let_go(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_hold *h;

	HASH_FIND(hh, s->holds, &ev->ofd, sizeof(ev->ofd), h);
	if (!h)
		return -EINVAL;
	let_go(s, h);
	return 0;
}

void leat_holds_free(struct leat_stream *s)
{
	struct leat_hold *h, *next;

	HASH_ITER(hh, s->holds, h, next)
	{
		let_go(s, h);
	}
}

int leat_held_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		     bool changes)
{
	const struct leat_hold *h;

	if (!n->content || !n->content->holds)
		return -1;
	for (h = s->holds; h; h = h->hh.next)
		if (h->content == n->content && (changes || h->writes) &&
		    leat_order_of(s, h->step, step) == LEAT_BEFORE)
			return h->step;
	return -1;
}

int leat_stream_held(const struct leat_stream *s, int step, const char *name, bool changes)
{
	const struct leat_name_state *n = step < 0 ? NULL : leat_name_find(s, name);

	return n && n->governed ? leat_held_before(s, n, step, changes) : -1;
}
