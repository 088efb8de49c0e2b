/* In place of listen.c where leat is built without libmicrohttpd (-Dmetrics=disabled). */
#include "cli/listen.h"

#include "base/log.h"
#include "cli/command.h"

int leat_listen_begin(const struct leat_args *args, leat_listen_fn *fn, void *ctx,
		      struct leat_listen **l)
{
	const char *place = leat_args_text(args, "listen");

	(void)fn;
	(void)ctx;
	*l = NULL;
	if (!place)
		return 0;
	leat_error("--listen %s: leat was built without metrics (libmicrohttpd)", place);
	return LEAT_EXIT_SELF;
}

void leat_listen_end(struct leat_listen *l)
{
	(void)l;
}
