/* A workflow compiled for questions about paths, from its beginning to its end. */
#include "model/matcher.h"

#include <errno.h>
#include <stdlib.h>

struct leat_matcher *leat_matcher_new(const struct leat_workflow *wf)
{
	struct leat_matcher *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return NULL;
	m->wf = wf;
	m->words = (wf->n_steps + 63) / 64;
	rc = leat_index_init(&m->index, wf);
	if (!rc) {
		m->hits = calloc(m->index.n_entries + 1, sizeof(*m->hits));
		rc = m->hits ? leat_matcher_order(m) : -ENOMEM;
	}
	if (rc) {
		leat_matcher_free(m);
		return NULL;
	}
	return m;
}

void leat_matcher_free(struct leat_matcher *m)
{
	struct leat_kept_rule *k, *next_rule;
	struct leat_cached *c, *next;
	int saved = errno;

	if (!m)
		return;
	HASH_ITER(hh, m->cache, c, next)
	{
		HASH_DEL(m->cache, c);
		free(c);
	}
	HASH_ITER(hh, m->rules, k, next_rule)
	{
		HASH_DEL(m->rules, k);
		free(k);
	}
	free(m->next);
	leat_index_release(&m->index);
	free(m->hits);
	free(m->upstream);
	free(m);
	errno = saved;
}
