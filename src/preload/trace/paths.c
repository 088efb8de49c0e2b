/* Calls on names: what is removed, renamed and cut, and where relative names begin. */
#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/trace/calls.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

/* Names of a call: what it is about, and for a rename the new one. */
struct names {
	int dirfd, to_dirfd;
	const char *path, *to;
};

static struct names names_of(const struct leat_syscall *c)
{
	struct names n = {AT_FDCWD, AT_FDCWD, (const char *)c->a[0], (const char *)c->a[1]};

	if (c->nr == SYS_unlinkat) {
		n.dirfd = (int)c->a[0];
		n.path = (const char *)c->a[1];
	} else if (c->nr == SYS_renameat2
#ifdef SYS_renameat
		   || c->nr == SYS_renameat
#endif
	) {
		n = (struct names){(int)c->a[0], (int)c->a[2], (const char *)c->a[1],
				   (const char *)c->a[3]};
	}
	return n;
}

static void put_file(struct leat_tracebuf_record *r, const struct leat_trace_file *file)
{
	r->device = file->device;
	r->inode = file->inode;
	r->birth_ns = file->birth_ns;
	r->offset = file->has_names; /* so that its inode is not free */
}

bool leat_trace_unlink_begin(struct leat_traced *t)
{
	struct names n = names_of(&t->call);

	if (t->call.nr == SYS_unlinkat && t->call.a[2] & AT_REMOVEDIR)
		return false;
	leat_trace_identify(&t->file, n.dirfd, n.path, AT_SYMLINK_NOFOLLOW);
	return true;
}

void leat_trace_unlink_end(struct leat_traced *t, long result)
{
	struct names n = names_of(&t->call);
	struct leat_tracebuf_record *r;

	if (result == -EFAULT)
		return;
	r = leat_trace_record(leat_trace_me(), LEAT_TRACE_UNLINK, t,
			      leat_trace_path_size(n.dirfd, n.path));
	if (!r)
		return;
	r->result = result;
	put_file(r, &t->file);
	r->texts = 1;
	leat_trace_done(r, leat_trace_put_path(r->text, n.dirfd, n.path));
}

bool leat_trace_rename_begin(struct leat_traced *t)
{
	struct names n = names_of(&t->call);

	leat_trace_identify(&t->file, n.dirfd, n.path, AT_SYMLINK_NOFOLLOW);
	return true;
}

void leat_trace_rename_end(struct leat_traced *t, long result)
{
	struct names n = names_of(&t->call);
	struct leat_tracebuf_record *r;
	char *end;

	if (result == -EFAULT)
		return;
	r = leat_trace_record(leat_trace_me(), LEAT_TRACE_RENAME, t,
			      leat_trace_path_size(n.dirfd, n.path) +
				      leat_trace_path_size(n.to_dirfd, n.to));
	if (!r)
		return;
	r->result = result;
	put_file(r, &t->file);
	r->texts = 2;
	end = leat_trace_put_path(r->text, n.dirfd, n.path);
	leat_trace_done(r, leat_trace_put_path(end, n.to_dirfd, n.to));
}

bool leat_trace_truncate_begin(struct leat_traced *t)
{
	leat_trace_identify(&t->file, AT_FDCWD, (const char *)t->call.a[0], 0);
	return true;
}

void leat_trace_truncate_end(struct leat_traced *t, long result)
{
	struct leat_tracebuf_record *r;

	if (result == -EFAULT)
		return;
	r = leat_trace_record(leat_trace_me(), LEAT_TRACE_TRUNCATE, t,
			      leat_trace_path_size(AT_FDCWD, (const char *)t->call.a[0]));
	if (!r)
		return;
	r->result = result;
	r->length = (uint64_t)t->call.a[1];
	put_file(r, &t->file);
	r->texts = 1;
	leat_trace_done(r, leat_trace_put_path(r->text, AT_FDCWD, (const char *)t->call.a[0]));
}

bool leat_trace_chdir_begin(struct leat_traced *t)
{
	(void)t;
	return true;
}

void leat_trace_chdir_end(struct leat_traced *t, long result)
{
	(void)t;
	if (!result)
		leat_trace_moved();
}
