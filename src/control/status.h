/* Reading the daemon's JSON: status and summary (docs/reference/daemon-json.md). */
#ifndef LEAT_CONTROL_STATUS_H
#define LEAT_CONTROL_STATUS_H

#include "timeline/result.h"

/* Names of steps that running ones wait for and that have not started, "a, b"; "" if
 * there are none. */
void leat_status_missing(const char *json, char *out, size_t out_size);

/* Fill the result, initialised for the same workflow, from the daemon's summary. 0 or -errno
 * (-EPROTO: not what it should be). */
int leat_status_result(const char *json, struct leat_result *result);

/* Take over from the daemon's summary what only it knows: steps that failed whatever their exit
 * status says, every file that is not whole, and the timeline if there is one. 0 or -errno (-EPROTO
 * as above). */
int leat_status_losses(const char *json, struct leat_result *result);

/* Print the status for a person. 0 or -errno. */
int leat_status_print(const char *json, FILE *out);

#endif
