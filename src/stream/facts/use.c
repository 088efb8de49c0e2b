/* A step uses a name in a way that others may notice. */
#include "stream/facts/use.h"
#include "stream/conflicts/declared.h"
#include "stream/conflicts/uses.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"

#include <errno.h>

int leat_fact_use(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_file_rule *rule = leat_match(s->m, ev->name);

	if (!rule)
		return -ENOMEM;
	if (!ev->code || ev->code >= LEAT_USE_KINDS)
		return -EINVAL;
	if (rule->excluded || leat_uses_is_cache(ev->name))
		return 0;
	return leat_rule_governs(s, rule) ? leat_declared_use(s, ev, rule)
					  : leat_undeclared_use(s, ev);
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

bool leat_stream_use_is_news(struct leat_stream *s, int step, const char *name, enum leat_use use)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	if (step < 0 || !rule || rule->excluded)
		return false;
	if (rule->declared && leat_rule_governs(s, rule))
		return use != LEAT_USE_NEED &&
		       (!leat_declared_allows(s, rule, step, use) ||
			(use == LEAT_USE_SEEK &&
			 leat_declared_is_taken(s, leat_name_find(s, name), step)));
	return leat_undeclared_is_news(s, step, name, use);
}
