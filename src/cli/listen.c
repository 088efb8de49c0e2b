#include "cli/listen.h"

#include "base/installed.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/listen_http.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct leat_listen {
	struct leat_http *http; /* owned */
	leat_http_stop_fn *stop;
};

/* Relative to the command: in the build tree, and installed. */
static const char *const http_paths[] = {"libleat-metrics.so",
					 "../" LEAT_LIBDIR "/leat/libleat-metrics.so", NULL};

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
	/* Of a greater number getaddrinfo takes the last 16 bits. */
	if (length >= sizeof(host) || !*port || (colon && !length) ||
	    strtoul(port, NULL, 10) > UINT16_MAX) {
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

static void print_address(const struct sockaddr_storage *address)
{
	bool six = address->ss_family == AF_INET6;
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

	getnameinfo((const struct sockaddr *)address, sizeof(*address), host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	fprintf(stderr, "leat: metrics at http://%s%s%s:%s/metrics\n", six ? "[" : "", host,
		six ? "]" : "", port);
}

/* Load the server, for the rest of this process. 0, else the exit status, after one line. */
static int load(const char *text, leat_http_start_fn **start, leat_http_stop_fn **stop)
{
	char *path = leat_find_installed(http_paths, NULL);
	void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!path)
		leat_error("--listen %s: this leat has no libleat-metrics.so: it was built without "
			   "metrics (libmicrohttpd), or installed without it",
			   text);
	else if (!module)
		leat_error("--listen %s: cannot load %s", text, dlerror());
	else if (!leat_find_function(module, "leat_http_start", start) ||
		 !leat_find_function(module, "leat_http_stop", stop))
		leat_error("--listen %s: %s is of another version of leat", text, path);
	free(path);
	return *start && *stop ? 0 : LEAT_EXIT_SELF;
}

/* 0, or -errno. */
static int start_at(struct sockaddr_storage *address, leat_http_start_fn *start, leat_listen_fn *fn,
		    void *ctx, struct leat_listen *l)
{
	int fd = listen_at(address);

	if (fd < 0)
		return fd;
	l->http = start(fd, fn, ctx);
	return l->http ? 0 : -ENOMEM;
}

int leat_listen_begin(const struct leat_args *args, leat_listen_fn *fn, void *ctx,
		      struct leat_listen **l)
{
	const char *text = leat_args_text(args, "listen");
	struct sockaddr_storage address = {0};
	struct leat_listen new = {0};
	leat_http_start_fn *start = NULL;
	int status, rc;

	*l = NULL;
	if (!text)
		return 0;
	status = find_address(text, &address);
	if (!status)
		status = load(text, &start, &new.stop);
	if (status)
		return status;
	*l = malloc(sizeof(**l));
	rc = *l ? start_at(&address, start, fn, ctx, &new) : -ENOMEM;
	if (rc) {
		leat_error("--listen %s: cannot listen there: %s", text, strerror(-rc));
		free(*l);
		*l = NULL;
		return LEAT_EXIT_SELF;
	}
	**l = new;
	print_address(&address);
	return 0;
}

void leat_listen_end(struct leat_listen *l)
{
	if (!l)
		return;
	l->stop(l->http);
	free(l);
}
