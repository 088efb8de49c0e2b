/* Unix sockets whose addresses are paths. The socket itself is on disk, wherever its name belongs:
 * so the kernel finds it by the address as the program wrote it, and shows it so (getsockname). */
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Space for the path of an address, with its end. */
enum { PATH_SIZE = sizeof(((struct sockaddr_un *)0)->sun_path) + 1 };

/* False: it has none. */
static bool path_of(const struct leat_syscall *c, char out[PATH_SIZE])
{
	const struct sockaddr_un *from = (const struct sockaddr_un *)c->a[1];
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	size_t size = (size_t)(uint32_t)c->a[2];

	if (!from || size <= head || size > sizeof(*from) || from->sun_family != AF_UNIX ||
	    !from->sun_path[0])
		return false;
	memcpy(out, from->sun_path, size - head);
	out[size - head] = 0;
	return true;
}

static bool stat_of(int dirfd, const char *path, struct stat *st)
{
	return raw(SYS_newfstatat, dirfd, path, st, 0) == 0;
}

/* Do both paths lead to the same file? */
static bool is_same(int dirfd, const char *path, const char *written)
{
	struct stat a, b;

	return stat_of(dirfd, path, &a) && stat_of(AT_FDCWD, written, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static void cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		*path = '.';
	if (!slash || slash == path)
		path[1] = 0;
	else
		*slash = 0;
}

/* The same of the directories above. */
static bool is_same_above(const struct leat_resolved *resolved, const char *written)
{
	char *above = resolved->guard.t->name, written_above[PATH_SIZE];

	memcpy(above, resolved->path, strlen(resolved->path) + 1);
	memcpy(written_above, written, strlen(written) + 1);
	cut_name(above);
	cut_name(written_above);
	return is_same(resolved->dirfd, above, written_above);
}

/* Another address of a place, and the descriptor that it names the directory by (-1: none). */
struct address {
	struct sockaddr_un to;
	int above;
};

static bool by_directory(const struct leat_resolved *resolved, struct leat_text *text)
{
	leat_text_add(text, leat_session.real);
	leat_text_add(text, "/");
	leat_text_add(text, resolved->path);
	return resolved->location == LEAT_LOCATION_DISK && !text->full;
}

/* 0 or -errno. */
static int address_of(struct leat_resolved *resolved, struct address *a)
{
	struct leat_text text;
	const char *slash = strrchr(resolved->path, '/');
	char *above = resolved->guard.t->name, head[LEAT_FD_PATH];

	*a = (struct address){.to.sun_family = AF_UNIX, .above = -1};
	text = leat_text_in(a->to.sun_path, sizeof(a->to.sun_path));
	if (by_directory(resolved, &text))
		return 0;
	memcpy(above, resolved->path, strlen(resolved->path) + 1);
	cut_name(above);
	a->above = (int)raw(SYS_openat, resolved->dirfd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->above < 0)
		return a->above;
	leat_fd_path(a->above, head);
	text = leat_text_in(a->to.sun_path, sizeof(a->to.sun_path));
	leat_text_add(&text, head);
	leat_text_add(&text, "/");
	leat_text_add(&text, slash ? slash + 1 : resolved->path);
	return text.full ? -ENAMETOOLONG : 0;
}

static long call_with(const struct leat_syscall *c, struct address *a)
{
	return raw(c->nr, c->a[0], &a->to, sizeof(a->to));
}

static void release(struct address *a)
{
	if (a->above >= 0)
		raw(SYS_close, a->above);
}

long leat_hook_bind(const struct leat_syscall *c)
{
	struct address other;
	struct leat_resolved resolved;
	char path[PATH_SIZE];
	struct leat_target target = {
		.op = LEAT_OP_MAKE, .dirfd = AT_FDCWD, .path = path, .mode = S_IFSOCK | 0777};
	long rc;

	if (!path_of(c, path))
		return LEAT_PASS;
	rc = leat_resolve(&resolved, &target);
	if (rc)
		return rc == LEAT_OUTSIDE ? LEAT_PASS : rc == -EEXIST ? -EADDRINUSE : rc;
	if (is_same_above(&resolved, path))
		return leat_resolved_made(&resolved, leat_as_is(c));
	rc = address_of(&resolved, &other);
	if (!rc)
		rc = call_with(c, &other);
	release(&other);
	return leat_resolved_made(&resolved, rc);
}

/* It may wait, with the signals as the program has them. */
long leat_hook_connect(const struct leat_syscall *c)
{
	struct address other;
	struct leat_resolved resolved;
	char path[PATH_SIZE];
	struct leat_target target = {.op = LEAT_OP_ACCESS, .dirfd = AT_FDCWD, .path = path};
	long rc;
	bool same;

	if (!path_of(c, path))
		return LEAT_PASS;
	rc = leat_resolve(&resolved, &target);
	if (rc)
		return rc == LEAT_OUTSIDE ? LEAT_PASS : rc;
	same = is_same(resolved.dirfd, resolved.path, path);
	rc = same ? LEAT_PASS : address_of(&resolved, &other);
	leat_resolved_leave(&resolved);
	if (same)
		return rc;
	if (!rc)
		rc = call_with(c, &other);
	release(&other);
	return rc;
}
