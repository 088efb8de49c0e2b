/* Names of files, and which files they are. */
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/hooks/hooks.h"
#include "preload/trace/trace.h"
#include "shm/word.h"

#include <limits.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/sysmacros.h>

#define SECOND INT64_C(1000000000)

/* --- the working directory --- */

/* Changes of it so far, and where it was after `at` of them. A vfork child has a directory of its
 * own and asks the kernel. */
static struct leat_word moves;
static struct {
	struct leat_word guard; /* as in shm/word.h */
	uint64_t at;            /* moves + 1; 0: never asked */
	size_t length;
	char name[PATH_MAX];
} here;

void leat_trace_moved(void)
{
	if (!leat_in_vfork())
		leat_word_add(&moves, 1);
}

/* Its length without the NUL; 0: it has no name. */
static size_t ask_directory(char *to)
{
	long n = leat_active ? leat_hook(SYS_getcwd, (long)to, PATH_MAX, 0, 0, 0, 0) - 1
			     : leat_fd_name(AT_FDCWD, to, PATH_MAX);

	return n > 0 ? (size_t)n : 0;
}

static void remember_directory(uint64_t at, const char *name, size_t length)
{
	uint64_t even = leat_word_get(&here.guard);

	if (even % 2 || !leat_word_write_begin(&here.guard, even))
		return;
	here.at = at;
	here.length = length;
	memcpy(here.name, name, length);
	leat_word_set(&here.guard, even + 2);
}

static size_t put_directory(char *to)
{
	uint64_t now = leat_word_get(&moves) + 1, even = leat_word_get(&here.guard);
	size_t length;

	if (leat_in_vfork())
		return ask_directory(to);
	if (even % 2 == 0 && here.at == now) {
		length = here.length < PATH_MAX ? here.length : 0;
		memcpy(to, here.name, length);
		if (leat_word_still(&here.guard, even))
			return length;
	}
	length = ask_directory(to);
	if (length)
		remember_directory(now, to, length);
	return length;
}

/* --- names --- */

size_t leat_trace_path_size(int dirfd, const char *path)
{
	(void)dirfd;
	return strlen(path) + 2 + (path[0] == '/' ? 0 : PATH_MAX);
}

char *leat_trace_put_path(char *at, int dirfd, const char *path)
{
	size_t length = strlen(path);

	if (path[0] != '/') {
		long n = dirfd == AT_FDCWD ? (long)put_directory(at)
					   : leat_fd_name(dirfd, at, PATH_MAX);

		at += n > 0 ? n : 0;
		if (length && (n <= 0 || at[-1] != '/'))
			*at++ = '/';
	}
	memcpy(at, path, length);
	at[length] = 0;
	return at + length + 1;
}

char *leat_trace_put_name(char *at, int fd, bool is_unlinked, int dirfd, const char *path)
{
	long n = leat_fd_name(fd, at, PATH_MAX);

	if (n <= 0 || at[0] != '/')
		return leat_trace_put_path(at, dirfd, path);
	if (is_unlinked && leat_text_is_deleted(at, (size_t)n))
		n -= (long)sizeof(" (deleted)") - 1;
	at[n] = 0;
	return at + n + 1;
}

void leat_trace_identify(struct leat_trace_file *file, int dirfd, const char *path, int flags)
{
	struct statx st;

	memset(file, 0, sizeof(*file));
	if (raw(SYS_statx, dirfd, path, flags, STATX_INO | STATX_BTIME | STATX_TYPE | STATX_NLINK,
		&st) < 0)
		return;
	file->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	file->inode = st.stx_ino;
	file->mode = st.stx_mode;
	file->has_names = st.stx_nlink > (*path ? 1 : 0);
	if (st.stx_mask & STATX_BTIME)
		file->birth_ns = st.stx_btime.tv_sec * SECOND + st.stx_btime.tv_nsec;
}

/* Files of /proc/self cost as much as all the rest together: what they say the tracer finds out, or
 * asks for itself. Which mounts the process sees shows at its root. */
uint64_t leat_trace_root_mount(void)
{
	struct statx st;

	return raw(SYS_statx, AT_FDCWD, "/", 0, STATX_MNT_ID, &st) == 0 ? st.stx_mnt_id : 0;
}
