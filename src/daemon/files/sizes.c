/* Sizes of files that a client writes through a window: the kernel's is then ahead of the
 * file's length (shm/state.h). */
#include "daemon/files/sizes.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/files/files.h"
#include "shm/window.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* A copy takes less than a microsecond, a new window some hundred; but who is at it may have been
 * put to sleep. */
#define PATIENCE_NS 2000000

/* Where the length counts, and where the kernel's size, changes once in 2 MB; a client that changes
 * it all the time must not keep us. */
enum { MAX_LOOKS = 100 };

int leat_file_measure(struct leat_daemon *d, struct leat_file *f, int probe, struct stat *st,
		      enum leat_root *root)
{
	struct leat_shm_file *s = leat_file_shm(d, f);
	enum leat_root unused;

	for (int i = 0; i < MAX_LOOKS; i++) {
		uint32_t epoch = leat_shm_epoch(s);
		int rc = probe >= 0 ? (fstat(probe, st) < 0 ? -errno : 0)
				    : leat_tree_look(d->tree, f->name, root ? root : &unused, st);

		if (rc)
			return rc;
		if (leat_shm_length(s, epoch, (uint64_t)st->st_size, &f->size))
			break;
	}
	return 0;
}

static bool take(struct leat_shm_file *s, bool force)
{
	uint64_t until = leat_clock_ns() + PATIENCE_NS;
	bool taken = leat_shm_window_take(s, false, force);

	while (!taken && leat_shm_is_ahead(s) && leat_clock_ns() < until) {
		sched_yield();
		taken = leat_shm_window_take(s, false, false);
	}
	return taken;
}

/* Client memory is hostile: it may make the file shorter, never longer. */
static void cut(struct leat_daemon *d, const struct leat_file *f, int probe)
{
	char path[64];
	struct stat st;
	int fd;

	if (probe >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", probe);
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	} else {
		fd = leat_file_open(d, f, O_WRONLY);
	}
	LEAT_FAULT("size.cut");
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    leat_shm_reserved(leat_file_shm(d, f)) < (uint64_t)st.st_size &&
	    ftruncate(fd, (off_t)leat_shm_reserved(leat_file_shm(d, f))) < 0)
		leat_problem_add(d, -errno, "cannot set the size of %s", f->name);
	leat_close(&fd);
}

bool leat_file_settle(struct leat_daemon *d, const struct leat_file *f, bool shut)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	while (leat_shm_is_ahead(s)) {
		if (!take(s, false))
			return false;
		cut(d, f, -1);
		leat_shm_window_give(s, shut ? LEAT_WINDOW_SHUT : LEAT_WINDOW_NONE, 0);
	}
	return !shut || leat_shm_window_shut(s);
}

void leat_file_settle_closed(struct leat_daemon *d, const struct leat_file *f, int probe)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	if (leat_shm_is_ahead(s) && take(s, true))
		cut(d, f, probe);
	leat_shm_window_give(s, LEAT_WINDOW_NONE, 0);
}

void leat_sizes_judge(struct leat_daemon *d)
{
	struct leat_file *f;

	while ((f = d->early_due)) {
		struct leat_early *e;

		d->early_due = f->early_next;
		f->early_due = false;
		while ((e = f->early)) {
			f->early = e->next;
			if (f->size > e->size)
				leat_events_apply(
					d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
							       .step = e->step,
							       .name = f->name,
							       .code = LEAT_VIOLATION_EARLY_SIZE,
							       .flags = LEAT_EVF_RANGE,
							       .offset = e->read_end,
							       .length = e->size});
			free(e);
		}
	}
}
