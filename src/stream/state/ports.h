/* Inports whose files come in versions, and from where. */
#ifndef LEAT_STREAM_STATE_PORTS_H
#define LEAT_STREAM_STATE_PORTS_H

#include "stream/state/state.h"

/* An inport whose files come in versions: all links to it. */
struct leat_flow_port {
	int step;
	const struct leat_inport *in;
	uint64_t given;          /* versions in its sequences so far */
	uint64_t furthest;       /* the last of them that a rank has taken */
	struct leat_entry *kept; /* taken, but kept for ranks that may come; NULL: none */
	struct leat_flow_port *next;
};

/* From one source to one inport. */
struct leat_flow_link {
	int step; /* the consumer */
	const struct leat_inport *in;
	struct leat_flow_port *port;
	size_t source;
	uint64_t begun;            /* versions made so far */
	uint64_t taken;            /* of those that were for the consumer */
	unsigned taken_now;        /* by the launch that runs */
	struct leat_delivery *due; /* for the consumer, not taken yet; in order */
	struct leat_flow_link *next;
};

static inline const struct leat_source *leat_link_source(const struct leat_flow_link *link)
{
	return &link->in->sources[link->source];
}

/* Find the links. 0 or -ENOMEM. */
int leat_ports_init(struct leat_stream *s);
/* Does the link carry what step `from` makes as `base`? */
bool leat_link_carries(const struct leat_flow_link *link, int from, const char *base);
/* Is it the name of a version of something, by any link? */
bool leat_name_has_versions(const struct leat_stream *s, const char *name);
/* Does input `text` of `step`, as it is made, come in versions? */
bool leat_input_has_versions(const struct leat_stream *s, int step, const char *text);
/* When nothing is due any more. */
void leat_ports_free(struct leat_stream *s);

#endif
