/* Directories: listings come from the daemon, which joins store and disk; the
 * working directory is really changed to, and translated back. */
#include "client/names.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/names.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How long a reader waits for more names that has had so many, and at most. */
#define NAMES_A_MS 64u
#define LONGEST_MS 20u

/* --- the working directory --- */

static long follow_cwd(long rc)
{
	char name[256];
	long n;

	if (rc)
		return rc;
	/* Outside for certain only if the name is known and not ours. */
	n = leat_fd_name(AT_FDCWD, name, sizeof(name));
	leat_path_moved(n < 0 || leat_path_of_name(name) != NULL);
	return 0;
}

static long change_dir(const struct leat_resolved *resolved)
{
	long fd =
		raw(SYS_openat, resolved->dirfd, resolved->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long rc;

	if (fd < 0)
		return fd;
	/* O_PATH has not asked for the right to search. */
	rc = raw(SYS_fchdir, fd);
	raw(SYS_close, fd);
	return rc;
}

long leat_hook_chdir(const struct leat_syscall *c)
{
	struct leat_target target = {
		.op = LEAT_OP_CHDIR, .dirfd = AT_FDCWD, .path = (const char *)c->a[0]};
	struct leat_resolved resolved;
	long made, rc = leat_resolve(&resolved, &target);

	if (rc == LEAT_OUTSIDE) {
		made = leat_as_is(c);
		if (made != -ENOENT || !leat_path_dangles(AT_FDCWD, target.path))
			return follow_cwd(made);
		target.follow = true;
		rc = leat_resolve(&resolved, &target);
		if (rc == LEAT_OUTSIDE)
			return made;
	}
	if (rc)
		return rc;
	rc = follow_cwd(change_dir(&resolved));
	leat_resolved_leave(&resolved);
	return rc;
}

long leat_hook_fchdir(const struct leat_syscall *c)
{
	return follow_cwd(leat_as_is(c));
}

static bool is_ours(const char *name)
{
	struct leat_guard g;
	const struct leat_server_info *w;

	if (leat_path_of_name(name))
		return true;
	if (leat_server_known() || leat_guard_acquire(&g))
		return false;
	leat_client_server(g.t, &w);
	leat_guard_release(&g);
	return leat_path_of_name(name) != NULL;
}

long leat_hook_getcwd(const struct leat_syscall *c)
{
	char *out = (char *)c->a[0];
	size_t size = (size_t)c->a[1];
	long n;

	if (!leat_path_cwd_inside() || !out)
		return LEAT_PASS;
	n = leat_fd_name(AT_FDCWD, out, size);
	if (n < 0)
		return n == -ENAMETOOLONG ? -ERANGE : n;
	if (!is_ours(out))
		return LEAT_PASS;
	n = leat_path_translate(out, size);
	return n < 0 ? n : n + 1;
}

/* --- listings --- */

/* Ask for the entries behind the record's cookie, into t->msg. */
static int request(struct leat_thread *t, int fd, const struct leat_fd *r)
{
	const char *below;
	int rc = leat_client_connect(t);

	if (rc)
		return rc;
	rc = (int)leat_fd_name(fd, t->name, sizeof(t->name));
	if (rc < 0)
		return rc;
	below = leat_path_of_name(t->name);
	/* With the daemon goes its mount, and with that the name. readdir(3) takes ENOENT for the
	 * end. */
	if (!below)
		return leat_client_alive(t) ? -ENOENT : -EIO;
	return leat_channel_list(leat_client_channel(t), r->handle, r->cookie, below);
}

/* One entry into the program's buffer: bytes used, 0 if there is no space. */
static long put_entry(char *out, size_t capacity, const struct leat_listed_name *listed,
		      uint64_t next)
{
	struct dirent64 *e = (struct dirent64 *)(void *)out;
	size_t length = strlen(listed->name) + 1;
	size_t size = (offsetof(struct dirent64, d_name) + length + 7) & ~(size_t)7;

	if (size > capacity)
		return 0;
	memset(out, 0, size);
	e->d_ino = listed->ino;
	e->d_off = (off64_t)next;
	e->d_reclen = (unsigned short)size;
	e->d_type = listed->type;
	memcpy(e->d_name, listed->name, length);
	return (long)size;
}

/* The part of the reply that fits: bytes written, -EINVAL if not even one name
 * does, -EIO if the reply is malformed. */
static long put_entries(const struct leat_msg_names *m, struct leat_fd *r, char *out,
			size_t capacity)
{
	const char *at = (const char *)m + sizeof(*m), *end = (const char *)m + m->h.size;
	long used = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		struct leat_listed_name listed;
		long n;

		if (!leat_listed_next(&at, end, &listed))
			return -EIO;
		n = put_entry(out + used, capacity - (size_t)used, &listed, r->cookie + 1);
		if (!n)
			return used ? used : -EINVAL;
		used += n;
		r->cookie++;
	}
	return used;
}

/* The position is kept where the kernel keeps it, in the open file description: other processes
 * may have it, too. The directory is never read there, so what it would mean to its file system
 * is of no account. */
static int take_position(int fd, struct leat_fd *r)
{
	long at = raw(SYS_lseek, fd, 0, SEEK_CUR);
	struct leat_fd old = *r;

	if (at < 0)
		return (int)at; /* O_PATH */
	if ((uint64_t)at == r->cookie)
		return 0;
	r->cookie = (uint64_t)at;
	if (at || !r->handle)
		return 0;
	r->handle = 0; /* rewound by somebody else */
	leat_fd_report_close(&old);
	return 0;
}

/* Names of a growing directory are waited for together, the longer the more there have been: to be
 * woken for each and to ask for it would cost all sides more than the name, and there may be many
 * readers. */
static void await_more(const struct leat_fd *r)
{
	uint64_t ms = 1 + r->cookie / NAMES_A_MS;

	if (r->cookie)
		leat_sleep((ms < LONGEST_MS ? ms : LONGEST_MS) * 1000000u);
}

/* Wait until there are entries behind the record's cookie, or the end, and put them into `out`
 * unless that is NULL: bytes written or -errno. */
static long list(int fd, struct leat_fd *r, char *out, size_t capacity)
{
	for (;;) {
		const struct leat_msg_names *m;
		uint32_t slot = 0, seq = 0;
		struct leat_guard g;
		long rc = leat_guard_acquire(&g);

		if (rc)
			return rc;
		m = (const struct leat_msg_names *)g.t->msg;
		rc = request(g.t, fd, r);
		if (!rc)
			rc = m->error;
		if (!rc || rc == -EAGAIN) {
			r->handle = m->handle ? m->handle : r->handle;
			slot = m->slot;
			seq = m->seq;
		}
		if (!rc && out)
			rc = put_entries(m, r, out, capacity);
		leat_guard_release(&g);
		if (rc == -ESTALE && r->handle)
			r->handle = 0;
		else if (rc != -EAGAIN)
			return rc;
		else if (leat_wait_slot(slot, seq))
			return -EIO;
		else if (out)
			await_more(r);
	}
}

long leat_hook_getdents64(const struct leat_syscall *c)
{
	int fd = (int)c->a[0];
	struct leat_fd *r = leat_fd_get(fd);
	uint64_t at;
	long rc;

	if (!r || r->kind != LEAT_KIND_DIR || leat_in_vfork())
		return LEAT_PASS;
	rc = take_position(fd, r);
	if (rc)
		return rc;
	at = r->cookie;
	rc = list(fd, r, (char *)c->a[1], (size_t)(unsigned)c->a[2]);
	/* Its name may not be listed any more, but it is open: the kernel shows what is in this one
	 * place. */
	if (rc == -EACCES && !r->handle)
		return LEAT_PASS;
	if (r->cookie != at)
		raw(SYS_lseek, fd, r->cookie, SEEK_SET);
	return rc;
}

void leat_dir_settle(int fd)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r && r->kind == LEAT_KIND_DIR && !r->handle && !leat_in_vfork() &&
	    !take_position(fd, r))
		list(fd, r, NULL, 0);
}

/* rewinddir, telldir, seekdir */
long leat_dir_seek(int fd, int64_t offset, int whence)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_fd old;
	int rc = take_position(fd, r);

	if (rc)
		return rc;
	if (whence == SEEK_CUR)
		offset += (int64_t)r->cookie;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset < 0)
		return -EINVAL;
	if (offset == 0 && r->handle) { /* a rewound stream sees what is new */
		old = *r;
		r->handle = 0;
		r->cookie = 0;
		leat_fd_report_close(&old);
	}
	r->cookie = (uint64_t)offset;
	raw(SYS_lseek, fd, offset, SEEK_SET);
	return offset;
}
