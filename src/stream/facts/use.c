/* A step uses a name in a way that others may notice. */
#include "stream/facts/use.h"
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/declared.h"
#include "stream/conflicts/directories.h"
#include "stream/conflicts/order.h"
#include "stream/conflicts/turns.h"
#include "stream/conflicts/uses.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/roles.h"

#include <errno.h>

static bool is_look(enum leat_use use)
{
	return use == LEAT_USE_READ || use == LEAT_USE_SEEK;
}

/* Is there a step before it that is no producer, but may use the file? */
static bool is_preceded(const struct leat_stream *s, const struct leat_file_rule *rule, int step)
{
	for (int o = 0; o < s->n_steps; o++)
		if (!leat_steps_has(rule->producers, o) && leat_order_of(s, o, step) == LEAT_BEFORE)
			return true;
	return false;
}

/* Steps before the producer use its output as any other name among each other. What the producer
 * looks at before it makes anything they have to have left as it is to be. */
static bool goes_by_uses(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			 const char *name, enum leat_use use)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	if ((n && n->versioned) || leat_name_has_versions(s, name))
		return false;
	if (!leat_steps_has(rule->producers, step))
		return leat_rule_role(s, step, rule) == LEAT_ROLE_PLAIN;
	return is_look(use) && !leat_name_is_made_by(n, step) && is_preceded(s, rule, step);
}

static int governed_use(struct leat_stream *s, const struct leat_event *ev,
			const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = s->linked ? leat_name_find(s, ev->name) : NULL;
	int rc = leat_declared_use(s, ev, rule);

	if (n && ev->code == LEAT_USE_READ)
		leat_alias_read(s, n, ev->step);
	if (!rc && ev->flags & LEAT_EVF_DIR)
		rc = leat_directory_use(s, ev, rule);
	if (!rc && ev->flags & LEAT_EVF_DIR)
		rc = leat_turn_directory(s, ev, rule);
	if (rc || (ev->flags & LEAT_EVF_DIR && ev->code < LEAT_USE_APPEND))
		return rc;
	if (goes_by_uses(s, rule, ev->step, ev->name, (enum leat_use)ev->code))
		rc = leat_undeclared_use(s, ev);
	return rc ? rc : leat_turn_look(s, ev, rule);
}

int leat_fact_use(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_file_rule *rule = leat_match(s->m, ev->name);

	if (!rule)
		return -ENOMEM;
	if (!ev->code || ev->code >= LEAT_USE_KINDS)
		return -EINVAL;
	if (rule->excluded || leat_uses_is_cache(ev->name))
		return 0;
	return leat_rule_governs(s, rule) ? governed_use(s, ev, rule) : leat_undeclared_use(s, ev);
}

bool leat_stream_use_is_early(const struct leat_stream *s, int step, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	if (step < 0 || !rule || rule->excluded)
		return false;
	if (rule->declared && leat_rule_governs(s, rule))
		return !leat_declared_allows(s, rule, step, LEAT_USE_READ);
	return leat_undeclared_is_early(s, step, name);
}

/* Has another step changed it by another name? */
static bool is_read_by_link(const struct leat_stream *s, int step, const char *name,
			    enum leat_use use)
{
	const struct leat_name_state *n =
		s->linked && use == LEAT_USE_READ ? leat_name_find(s, name) : NULL;

	return n && leat_alias_is_early(s, n, step);
}

bool leat_stream_use_is_news(struct leat_stream *s, int step, const char *name, enum leat_use use,
			     bool is_dir)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	if (step < 0 || !rule || rule->excluded)
		return false;
	if (!leat_rule_governs(s, rule))
		return leat_undeclared_is_news(s, step, name, use);
	if (is_dir && (leat_directory_use_is_news(s, rule, step, name, use) ||
		       leat_turn_directory_is_news(s, rule, step, name, use)))
		return true;
	return use != LEAT_USE_NEED &&
	       (is_read_by_link(s, step, name, use) || !leat_declared_allows(s, rule, step, use) ||
		(is_look(use) && goes_by_uses(s, rule, step, name, use) &&
		 leat_undeclared_is_news(s, step, name, use)) ||
		leat_turn_look_is_news(s, rule, step, name, use) ||
		leat_declared_remaker(s, rule, step, name, use) >= 0 ||
		(use == LEAT_USE_SEEK && leat_declared_is_taken(s, leat_name_find(s, name), step)));
}
