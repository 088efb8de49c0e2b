#include "cli/listen.h"

#include "base/log.h"
#include "cli/command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 16, TIMEOUT_S = 10 };

struct leat_listen {
	struct MHD_Daemon *daemon; /* owned */
	leat_listen_fn *fn;
	void *ctx; /* borrowed */
};

/* ---- answers ---- */

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

static enum MHD_Result answer_metrics(struct leat_listen *l, struct MHD_Connection *c)
{
	static char none[] = "there are no metrics now: the run is starting or ending\n";
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? l->fn(l->ctx, out) : -ENOMEM;

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

/* ---- where ---- */

/* "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT". 0, else the exit status, after one line. */
static int find_address(const char *text, struct sockaddr_storage *address)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	const char *from = *text == '[' ? text + 1 : text;
	struct addrinfo *found = NULL;
	char host[256] = "127.0.0.1";
	size_t length = colon ? (size_t)(colon - from) : 0;
	int error;

	if (length && from != text && from[length - 1] == ']')
		length--;
	if (length >= sizeof(host) || !*port || (colon && !length)) {
		leat_error("--listen %s: give a port, or an address and a port, as 127.0.0.1:9100",
			   text);
		return LEAT_EXIT_USAGE;
	}
	if (length)
		snprintf(host, sizeof(host), "%.*s", (int)length, from);
	error = getaddrinfo(host, port, &hints, &found);
	if (error) {
		leat_error("--listen %s: %s; give a port, or an address and a port, as "
			   "127.0.0.1:9100",
			   text, gai_strerror(error));
		return LEAT_EXIT_USAGE;
	}
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

/* A socket that listens at `address`, in which the port becomes the one that it has; or -errno.
 * Not libmicrohttpd's: its versions differ in what they leave in errno. */
static int listen_at(struct sockaddr_storage *address)
{
	socklen_t length = sizeof(*address);
	struct sockaddr *to = (struct sockaddr *)address;
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	/* The port of a run that has just ended. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (address->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){1}, sizeof(int));
	if (bind(fd, to,
		 address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						: sizeof(struct sockaddr_in)) == 0 &&
	    listen(fd, SOMAXCONN) == 0 && getsockname(fd, to, &length) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* The socket is the server's. 0, or -errno. Signals are for the other threads. */
static int start(struct leat_listen *l, int fd)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	l->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, on_request, l,
				     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				     (unsigned)TIMEOUT_S, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return l->daemon ? 0 : -ENOMEM;
}

static void print_address(const struct sockaddr_storage *address)
{
	bool six = address->ss_family == AF_INET6;
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

	getnameinfo((const struct sockaddr *)address, sizeof(*address), host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	fprintf(stderr, "leat: metrics at http://%s%s%s:%s/metrics\n", six ? "[" : "", host,
		six ? "]" : "", port);
}

int leat_listen_begin(const struct leat_args *args, leat_listen_fn *fn, void *ctx,
		      struct leat_listen **l)
{
	const char *text = leat_args_text(args, "listen");
	struct sockaddr_storage address = {0};
	int status, rc = -ENOMEM;

	*l = NULL;
	if (!text)
		return 0;
	status = find_address(text, &address);
	if (status)
		return status;
	*l = calloc(1, sizeof(**l));
	if (*l) {
		(*l)->fn = fn;
		(*l)->ctx = ctx;
		rc = listen_at(&address);
		if (rc >= 0)
			rc = start(*l, rc);
	}
	if (rc == 0) {
		print_address(&address);
		return 0;
	}
	leat_error("--listen %s: cannot listen there: %s", text, strerror(-rc));
	free(*l);
	*l = NULL;
	return LEAT_EXIT_SELF;
}

void leat_listen_end(struct leat_listen *l)
{
	if (!l)
		return;
	MHD_stop_daemon(l->daemon);
	free(l);
}
