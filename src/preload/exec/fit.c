/* Will the next program be able to load this library, and to attach? What the dynamic loader cannot
 * load it leaves out, and the program runs unseen. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/connection/session.h"
#include "preload/connection/starved.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"

/* Standard streams, what is open while it connects, and one for the program. */
#define FILES 10

static bool allows(int resource, uint64_t needed, uint64_t *limit)
{
	struct rlimit l;

	if (leat_raw(SYS_prlimit64, 0, resource, 0, (long)&l, 0, 0))
		return true;
	*limit = l.rlim_cur;
	return l.rlim_cur >= needed;
}

static const char *report(struct leat_text *t, const char *what, uint64_t limit, uint64_t unit,
			  uint64_t needed)
{
	leat_text_add(t, what);
	leat_text_add(t, " is ");
	leat_text_add_number(t, (unsigned long)(limit / unit));
	leat_text_add(t, ", and libleat needs ");
	leat_text_add_number(t, (unsigned long)((needed + unit - 1) / unit));
	leat_text_add(t, ": raise it");
	return t->at;
}

/* The library by the path that the loader takes. */
static bool can_load(char path[PATH_MAX])
{
	const char *list = leat_environment_kept("LD_PRELOAD"), *library;
	size_t size;
	long rc;

	library = list ? leat_environment_library(list, &size) : NULL;
	if (!library || *library != '/' || size >= PATH_MAX)
		return true;
	memcpy(path, library, size);
	path[size] = 0;
	rc = leat_raw(SYS_faccessat2, AT_FDCWD, (long)path, R_OK, AT_EACCESS, 0, 0);
	return rc == 0 || rc == -ENOSYS;
}

const char *leat_exec_unfit(char *why, size_t size)
{
	struct leat_text t = leat_text_in(why, size);
	char path[PATH_MAX];
	uint64_t limit;

	if (!allows(RLIMIT_AS, LEAT_OWN_SPACE, &limit))
		return report(&t, "ulimit -v (address space, KiB)", limit, 1024, LEAT_OWN_SPACE);
	if (!allows(RLIMIT_DATA, LEAT_OWN_DATA, &limit))
		return report(&t, "ulimit -d (data segment, KiB)", limit, 1024, LEAT_OWN_DATA);
	if (!allows(RLIMIT_NOFILE, FILES, &limit))
		return report(&t, "ulimit -n (open files)", limit, 1, FILES);
	if (!leat_session_in_sight()) {
		leat_text_add(&t,
			      "the workflow's or the session's directory is not in its sight "
			      "(renamed, another root directory or mount namespace): leave both "
			      "where they are");
		return why;
	}
	if (can_load(path))
		return NULL;
	leat_text_add(&t, path);
	leat_text_add(&t,
		      " cannot be read where it runs (another root directory, or another user): "
		      "have it there");
	return why;
}
