#include "preload/path/halves.h"

#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/text.h"
#include "preload/path/names.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void leat_half_note(struct leat_preload_half *h, const struct leat_resolved *resolved)
{
	h->in_store = resolved->location == LEAT_LOCATION_STORE;
	h->is_dir =
		resolved->kind == LEAT_KIND_DIR &&
		(h->in_store || resolved->location == LEAT_LOCATION_DISK) &&
		!raw(SYS_newfstatat, resolved->dirfd, resolved->path, &h->st, AT_SYMLINK_NOFOLLOW);
}

void leat_half_note_fd(struct leat_preload_half *h, int fd)
{
	const struct leat_server_info *w = leat_server_known();

	h->is_dir = w && leat_fd_kind(fd) == LEAT_KIND_DIR && !raw(SYS_fstat, fd, &h->st) &&
		    S_ISDIR(h->st.st_mode) && h->st.st_nlink;
	h->in_store = h->is_dir && h->st.st_dev == w->store_dev;
}

static int ask(struct leat_thread *t, const struct leat_preload_half *h, const char *path,
	       unsigned flags)
{
	struct leat_channel_word ignored;

	return leat_channel_change(leat_client_channel(t), LEAT_CHANGE_ALIKE,
				   flags | (h->in_store ? LEAT_ALIKE_FROM_STORE : 0), path, NULL,
				   &ignored);
}

long leat_half_changed(const struct leat_preload_half *h, struct leat_resolved *resolved, long rc,
		       unsigned flags)
{
	struct leat_thread *t = resolved->guard.t;
	const struct timespec times[2] = {h->st.st_atim, h->st.st_mtim};
	int error;

	if (rc < 0 || !h->is_dir)
		return rc;
	/* It lies where the request is built. */
	memcpy(t->below[1], resolved->path, strlen(resolved->path) + 1);
	resolved->path = t->below[1];
	error = ask(t, h, resolved->path, flags);
	if (!error)
		return rc;
	raw(SYS_fchownat, resolved->dirfd, resolved->path, h->st.st_uid, h->st.st_gid, 0);
	raw(SYS_fchmodat, resolved->dirfd, resolved->path, h->st.st_mode & 07777);
	raw(SYS_utimensat, resolved->dirfd, resolved->path, times, 0);
	return error;
}

long leat_half_changed_fd(const struct leat_preload_half *h, int fd, long rc, unsigned flags)
{
	struct leat_guard guard;
	const struct timespec times[2] = {h->st.st_atim, h->st.st_mtim};
	const char *below;
	int error;

	if (rc < 0 || !h->is_dir)
		return rc;
	error = leat_guard_acquire(&guard);
	if (error)
		return error;
	error = (int)leat_fd_name(fd, guard.t->name, sizeof(guard.t->name));
	below = error < 0 ? NULL : leat_path_of_name(guard.t->name);
	error = error < 0 ? error : below ? ask(guard.t, h, below, flags) : 0;
	leat_guard_release(&guard);
	if (!error)
		return rc;
	raw(SYS_fchown, fd, h->st.st_uid, h->st.st_gid);
	raw(SYS_fchmod, fd, h->st.st_mode & 07777);
	raw(SYS_utimensat, fd, NULL, times, 0);
	return error;
}
