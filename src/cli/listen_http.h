/* The HTTP server of --listen. It is a module of its own, libleat-metrics.so, which listen.c loads:
 * libmicrohttpd brings a dozen libraries that would be loaded at each start of leat. */
#ifndef LEAT_CLI_LISTEN_HTTP_H
#define LEAT_CLI_LISTEN_HTTP_H

#include "cli/listen.h"

/* Answer with what `fn` writes, in a thread of its own, until leat_http_stop. `fd` listens, and is
 * the server's from now on; `ctx` is borrowed. NULL: no memory or no thread. */
typedef struct leat_http *leat_http_start_fn(int fd, leat_listen_fn *fn, void *ctx);
/* `fn` is not called any more. */
typedef void leat_http_stop_fn(struct leat_http *http);

/* The symbols of the module. */
leat_http_start_fn leat_http_start;
leat_http_stop_fn leat_http_stop;

#endif
