/* Reading a trace beside the work on what was read: another thread reads ahead, a few thousand
 * records at most. */
#ifndef LEAT_REPORT_FEED_H
#define LEAT_REPORT_FEED_H

#include "iotrace/trace.h"

struct leat_feed;

/* Begin to read. The reader is borrowed, and used by nobody else until the feed is freed. NULL and
 * errno. */
struct leat_feed *leat_feed_new(struct leat_trace_reader *reader);

/* The next record; its strings live until the next call. 1, 0 at the end, -EBADMSG for what was
 * left out, of which leat_feed_why tells; other -errno are final. */
int leat_feed_next(struct leat_feed *f, const struct leat_trace_record **record);
const char *leat_feed_why(const struct leat_feed *f);

void leat_feed_free(struct leat_feed *f);

#endif
