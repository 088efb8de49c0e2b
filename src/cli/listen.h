/* --listen: metrics of a run or trace, for Prometheus and others that ask by HTTP. */
#ifndef LEAT_CLI_LISTEN_H
#define LEAT_CLI_LISTEN_H

#include "cli/options.h"

#define LEAT_OPTION_ROW_LISTEN                                                                     \
	{                                                                                          \
		.name = "listen", .type = LEAT_OPTION_TEXT, .argument = "[ADDRESS:]PORT",          \
		.env = "LEAT_LISTEN",                                                              \
		.doc = "Serve metrics at http://ADDRESS:PORT/metrics, in the format of "           \
		       "Prometheus. Only this machine can read them if no address is given; port " \
		       "0 takes one that is free."                                                 \
	}

/* Write the metrics. 0, or -errno: there are none just now. Called in a thread of its own, once at
 * a time. */
typedef int leat_listen_fn(void *ctx, FILE *out);

struct leat_listen;

/* Answer at the place that the option says, until leat_listen_end, and say where. `*l` is NULL
 * without the option. `ctx` is borrowed. 0, else the exit status, after one line. */
int leat_listen_begin(const struct leat_args *args, leat_listen_fn *fn, void *ctx,
		      struct leat_listen **l);

/* NULL is allowed. `fn` is not called any more. */
void leat_listen_end(struct leat_listen *l);

/* ---- the text format of Prometheus ---- */

/* What the samples that follow are: "counter" or "gauge". */
void leat_metric(FILE *out, const char *name, const char *kind, const char *help);

/* A sample; `label`, unless NULL, has that value. */
void leat_metric_sample(FILE *out, const char *name, const char *label, const char *value,
			double number);

#endif
