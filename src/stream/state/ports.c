/* Inports whose files come in versions, and from where. */
#include "stream/state/ports.h"

#include "model/version.h"
#include "model/view.h"

#include <errno.h>
#include <string.h>

static int link_add(struct leat_stream *s, struct leat_flow_port *port, size_t source)
{
	struct leat_flow_link *link = leat_heap_alloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	*link = (struct leat_flow_link){
		.step = port->step, .in = port->in, .port = port, .source = source};
	LL_APPEND(s->links, link);
	return 0;
}

static int port_add(struct leat_stream *s, int step, const struct leat_inport *in)
{
	struct leat_flow_port *port = leat_heap_alloc(1, sizeof(*port));
	int rc = 0;

	if (!port)
		return -ENOMEM;
	port->step = step;
	port->in = in;
	LL_PREPEND(s->ports, port);
	for (size_t i = 0; !rc && i < in->n_sources; i++)
		rc = link_add(s, port, i);
	return rc;
}

int leat_ports_init(struct leat_stream *s)
{
	int rc = 0;

	for (int step = 0; step < s->n_steps; step++) {
		const struct leat_step *model = &s->wf->steps[step];

		for (size_t i = 0; !rc && i < model->n_inports; i++)
			if (leat_inport_has_versions(&model->inports[i]))
				rc = port_add(s, step, &model->inports[i]);
	}
	return rc;
}

/* Does the link carry what step `from` makes as `base`? */
bool leat_link_carries(const struct leat_flow_link *link, int from, const char *base)
{
	const char *made = leat_link_source(link)->made;

	return leat_link_source(link)->step == from &&
	       (leat_pattern_match(made, base) || leat_pattern_covers(made, base));
}

bool leat_name_has_versions(const struct leat_stream *s, const char *name)
{
	uint64_t number;
	const char *base = leat_version_base(name, &number);
	const struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (leat_link_carries(link, leat_link_source(link)->step, base))
			return true;
	}
	return false;
}

bool leat_input_has_versions(const struct leat_stream *s, int step, const char *text)
{
	const struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (link->step == step && !strcmp(leat_link_source(link)->made, text))
			return true;
	}
	return false;
}

void leat_ports_free(struct leat_stream *s)
{
	struct leat_flow_link *link, *next_link;
	struct leat_flow_port *port, *next_port;

	LL_FOREACH_SAFE(s->links, link, next_link)
	{
		leat_heap_free(link);
	}
	LL_FOREACH_SAFE(s->ports, port, next_port)
	{
		leat_heap_free(port);
	}
}
