/* Flow control: which version of a file each step sees, and who waits for whom (Wilkins (2024)
 * Sec. 3.6). A version is a name like any other (model/version.h); here it is counted for the
 * links it concerns. Internal to this room; others use stream/stream.h. */
#ifndef LEAT_STREAM_VERSIONS_H
#define LEAT_STREAM_VERSIONS_H

#include "stream/internal.h"

struct leat_flow_port;

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

/* Find the links. 0 or -ENOMEM. */
int leat_versions_init(struct leat_stream *s);
void leat_versions_free(struct leat_stream *s);

/* Is it the name of a version of something, by any link? */
bool leat_versions_concern(const struct leat_stream *s, const char *name);
/* Does input `text` of `step`, as it is made, come in versions? */
bool leat_versions_concern_input(const struct leat_stream *s, int step, const char *text);
/* Producer `step` made a content under a name: if that is a version, it is counted. */
void leat_versions_made(struct leat_stream *s, struct leat_name_state *n, int step);
/* The last description of a content was closed: it is released if it has no name any more, or was
 * opened as the next version of one, and nothing was changed. */
void leat_versions_untouched(struct leat_stream *s, struct leat_content *c);
/* Its producer takes the content of `n` from it: with a version that was not begun goes the name,
 * and the version before must not show by it again. */
void leat_versions_leave(struct leat_stream *s, const struct leat_name_state *n);
/* A step removes a name. True: it is a complete version, and gone for its producer only. */
bool leat_versions_removed(struct leat_stream *s, struct leat_name_state *n, int step);
/* The state of a name has changed. */
void leat_versions_changed(struct leat_stream *s, struct leat_name_state *n);
/* A step has ended: nobody waits for it to take anything. */
void leat_versions_step_over(struct leat_stream *s, int step);

/* Must `step` wait before it makes version `n`? `*blocker` is then who has not taken the one
 * before. */
bool leat_versions_hold(const struct leat_stream *s, const struct leat_name_state *n, int step,
			int *blocker);
/* Does the step see only what is complete, whatever the rule says? */
bool leat_versions_whole(const struct leat_stream *s, const struct leat_name_state *n, int step);
/* A further launch of a step: LEAT_CALL_MORE. */
enum leat_answer leat_decide_more(struct leat_stream *s, const struct leat_question *q,
				  struct leat_blocker *blocker);

/* ---- versions.c, for take.c, behind.c and launch.c ---- */

static inline const struct leat_source *leat_link_source(const struct leat_flow_link *link)
{
	return &link->in->sources[link->source];
}

/* Has somebody opened `n` as the next version of its name, and not changed it yet? */
bool leat_version_is_prepared(const struct leat_stream *s, const struct leat_name_state *n);
/* Does the link carry what step `from` makes as `base`? */
bool leat_link_carries(const struct leat_flow_link *link, int from, const char *base);
/* Version `n` itself, with `too`, and under `latest` what is older, is of no use to this consumer
 * any more. */
void leat_link_pass(struct leat_stream *s, struct leat_flow_link *link,
		    const struct leat_name_state *n, bool too);
/* A consumer is given `n`: what was there before the run, and was not touched, is the first. */
void leat_version_found(struct leat_stream *s, const struct leat_name_state *n);
/* Calls that wait for what a version, or its taking, decides look again. */
void leat_link_wake(struct leat_stream *s, const struct leat_flow_link *link);
/* One needs it less; it goes when nobody does. */
void leat_version_unwant(struct leat_stream *s, struct leat_name_state *n);
/* The versions of `base`; NULL: it has none yet. */
struct leat_series *leat_series_find(const struct leat_stream *s, const char *base);

/* ---- launch.c ---- */

/* May the consumer open this version now? */
bool leat_link_is_open(struct leat_stream *s, const struct leat_flow_link *link,
		       const struct leat_delivery *d);
int leat_fact_take(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_read(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_return(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_launch(struct leat_stream *s, const struct leat_event *ev);

#endif
