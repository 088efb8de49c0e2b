#include "cli/listen_http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONNECTIONS = 16, TIMEOUT_S = 10 };

struct leat_http {
	struct MHD_Daemon *daemon; /* owned */
	leat_listen_fn *fn;
	void *ctx; /* borrowed */
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, char *text, bool owned)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(text), text, owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!r) {
		if (owned)
			free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				status == MHD_HTTP_OK ? "text/plain; version=0.0.4; charset=utf-8"
						      : "text/plain; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result answer_metrics(struct leat_http *http, struct MHD_Connection *c)
{
	static char none[] = "there are no metrics now: the run is starting or ending\n";
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? http->fn(http->ctx, out) : -ENOMEM;

	if (out && fclose(out) != 0)
		rc = -ENOMEM;
	if (!rc)
		return answer(c, MHD_HTTP_OK, text, true);
	free(text);
	return answer(c, MHD_HTTP_SERVICE_UNAVAILABLE, none, false);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	static char nowhere[] = "the metrics are at /metrics\n";
	static char no_method[] = "only GET\n";
	static int seen;

	(void)version;
	(void)upload;
	/* First come the headers; the answer is due when called again. */
	if (!*request) {
		*request = &seen;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, no_method, false);
	if (strcmp(url, "/metrics") != 0)
		return answer(c, MHD_HTTP_NOT_FOUND, nowhere, false);
	return answer_metrics(ctx, c);
}

__attribute__((visibility("default"))) struct leat_http *leat_http_start(int fd, leat_listen_fn *fn,
									 void *ctx)
{
	struct leat_http *http = calloc(1, sizeof(*http));
	sigset_t all, old;

	if (!http)
		return NULL;
	http->fn = fn;
	http->ctx = ctx;
	/* Signals are for the other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	http->daemon =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, on_request, http,
				 MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned)TIMEOUT_S, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (http->daemon)
		return http;
	free(http);
	return NULL;
}

__attribute__((visibility("default"))) void leat_http_stop(struct leat_http *http)
{
	MHD_stop_daemon(http->daemon);
	free(http);
}
