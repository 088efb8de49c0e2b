/* Versions on their way to a consumer, and how long each is kept. */
#ifndef LEAT_STREAM_FLOW_LINKS_H
#define LEAT_STREAM_FLOW_LINKS_H

#include "stream/state/ports.h"

/* A version on its way to a consumer. */
struct leat_delivery {
	struct leat_name_state *name;
	bool given; /* it is in a sequence */
	struct leat_delivery *prev, *next;
};

/* A name that has versions. */
struct leat_series {
	char *base;      /* key, owned */
	uint64_t latest; /* number of the version made last; 0: none */
	bool removed;    /* and its producer has removed it */
	UT_hash_handle hh;
};

/* The versions of `base`; NULL: it has none yet. */
struct leat_series *leat_series_find(const struct leat_stream *s, const char *base);
/* The same, made if need be. NULL when out of memory (s->error is set). */
struct leat_series *leat_series_get(struct leat_stream *s, const char *base);
/* Nobody will ask for this version any more: it need not be kept. */
void leat_version_drop_unwanted(struct leat_stream *s, struct leat_name_state *n);
/* One needs it less; it goes when nobody does. */
void leat_version_unwant(struct leat_stream *s, struct leat_name_state *n);
/* Version `n` is due for the consumer of the link. */
void leat_link_deliver(struct leat_stream *s, struct leat_flow_link *link,
		       struct leat_name_state *n);
/* It is not due any more. */
void leat_link_remove(struct leat_stream *s, struct leat_flow_link *link, struct leat_delivery *d);
/* Version `n` itself, with `too`, and under `latest` what is older, is of no use to this consumer
 * any more. */
void leat_link_pass(struct leat_stream *s, struct leat_flow_link *link,
		    const struct leat_name_state *n, bool too);
/* Calls that wait for what a version, or its taking, decides look again. */
void leat_link_wake(struct leat_stream *s, const struct leat_flow_link *link);
/* A consumer is given `n`: what was there before the run, and was not touched, is the first. */
void leat_version_found(struct leat_stream *s, const struct leat_name_state *n);
void leat_series_free(struct leat_stream *s);
void leat_deliveries_free(struct leat_stream *s);

#endif
