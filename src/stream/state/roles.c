/* How a step stands to a file, by what the workflow file says. */
#include "stream/state/roles.h"

bool leat_rule_governs(const struct leat_stream *s, const struct leat_file_rule *rule)
{
	return rule->declared && !rule->excluded &&
	       leat_steps_next(rule->producers, 0, s->n_steps) < s->n_steps;
}

static bool is_upstream_of_a_producer(const struct leat_stream *s, int step,
				      const struct leat_file_rule *rule)
{
	for (int p = leat_steps_next(rule->producers, 0, s->n_steps); p < s->n_steps;
	     p = leat_steps_next(rule->producers, p + 1, s->n_steps))
		if (leat_is_upstream(s->m, step, p))
			return true;
	return false;
}

enum leat_role leat_rule_role(const struct leat_stream *s, int step,
			      const struct leat_file_rule *rule)
{
	bool consumes;

	if (step < 0 || step >= s->n_steps || !leat_rule_governs(s, rule))
		return LEAT_ROLE_PLAIN;
	consumes = leat_steps_has(rule->consumers, step);
	if (leat_steps_has(rule->producers, step))
		return consumes ? LEAT_ROLE_BOTH : LEAT_ROLE_PRODUCER;
	if (!consumes && is_upstream_of_a_producer(s, step, rule))
		return LEAT_ROLE_PLAIN;
	return LEAT_ROLE_CONSUMER;
}

bool leat_step_consumes(const struct leat_stream *s, int step, const struct leat_name_state *n)
{
	enum leat_role role = leat_rule_role(s, step, n->rule);

	return n->governed && (role == LEAT_ROLE_CONSUMER || role == LEAT_ROLE_BOTH);
}
