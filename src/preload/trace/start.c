/* The trace buffer of this process, and its beginning on it. */
#include "preload/trace/start.h"

#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/process.h"
#include "preload/trace/calls.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <limits.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* Out of the way of what goes to places of its own near the libraries: mapped texts' stubs. */
static void *far_away(void)
{
	return (void *)(((uintptr_t)&leat_tracing & ~UINT64_C(0xffff)) - (UINT64_C(8) << 30));
}

bool leat_trace_find(char **envp)
{
	const char *path = leat_environment_get(envp, LEAT_TRACE_VARIABLE);
	struct stat st;
	long fd, at;

	if (!path || !*path)
		return false;
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false; /* the tracer sees that it is not seen */
	if (raw(SYS_fstat, fd, &st) < 0 || st.st_size < (long)sizeof(struct leat_tracebuf)) {
		raw(SYS_close, fd);
		return false;
	}
	at = raw(SYS_mmap, far_away(), st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	raw(SYS_close, fd);
	if (at < 0 && at > -4096)
		return false;
	if (!leat_tracebuf_is_good((struct leat_tracebuf *)at, (uint64_t)st.st_size)) {
		raw(SYS_munmap, at, st.st_size);
		return false;
	}
	raw(SYS_madvise, at, st.st_size, MADV_DONTDUMP);
	leat_trace_buffer = (struct leat_tracebuf *)at;
	return true;
}

static void record_start(const struct leat_trace_self *me, char **envp)
{
	const char *program = (const char *)getauxval(AT_EXECFN);
	struct leat_tracebuf_record *r;
	char *end;

	if (!program)
		program = "";
	r = leat_trace_record(me, LEAT_TRACEBUF_STARTED, NULL,
			      leat_trace_path_size(AT_FDCWD, program) + PATH_MAX +
				      leat_tracebuf_labels_size(envp));
	if (!r)
		return;
	r->flags = (uint32_t)raw(SYS_geteuid);
	r->offset = (uint32_t)raw(SYS_getegid);
	r->inode = leat_trace_root_mount();
	r->texts = 2;
	end = leat_trace_put_path(r->text, AT_FDCWD, program);
	end = leat_trace_put_path(end, AT_FDCWD, "");
	leat_trace_done(r, leat_tracebuf_put_labels(r, end, envp));
}

void leat_trace_start(char **envp, bool is_patched)
{
	const struct leat_trace_self *me;

	if (!leat_trace_buffer)
		return;
	if (!leat_trace_self_find()) {
		if (is_patched)
			leat_trace_calls_start();
		return;
	}
	if (!is_patched) { /* it will look as what could not load this library */
		leat_trace_self_leave();
		return;
	}
	leat_trace_clock_init();
	me = leat_trace_self_begin();
	record_start(me, envp);
	if (me->process != LEAT_TRACEBUF_NONE)
		leat_trace_close_all(me, true);
	leat_trace_calls_start();
}
