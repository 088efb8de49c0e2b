#include "base/fd.h"
#include "base/memory_of.h"
#include "base/str.h"
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define STATX_WANTED (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)
#define TICK_NS INT64_C(10000000) /* unit of the times in /proc/PID/stat */

int64_t leat_ptrace_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- memory ---- */

uint64_t leat_ptrace_iov_bytes(pid_t tid, uint64_t address, uint64_t n)
{
	struct iovec part[64];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n && n <= IOV_MAX; i += 64) {
		size_t count = n - i < 64 ? n - i : 64;

		if (leat_memory_of(tid, address + i * sizeof(*part), part, count * sizeof(*part)) <
		    0)
			return 0;
		for (size_t k = 0; k < count; k++)
			sum += part[k].iov_len;
	}
	return sum;
}

/* ---- CPU times ---- */

static void open_schedstat(struct thread *th)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)th->tid, (int)th->tid);
	th->schedstat = open(path, O_RDONLY | O_CLOEXEC);
	if (th->schedstat < 0)
		th->schedstat = -2;
}

/* All CPU time of the thread, in ns; -1 unknown. */
static int64_t total_of(struct thread *th)
{
	char text[64], *rest;
	int64_t total;
	ssize_t n;

	if (th->schedstat == -1)
		open_schedstat(th);
	n = th->schedstat >= 0 ? pread(th->schedstat, text, sizeof(text) - 1, 0) : -1;
	if (n <= 0)
		return -1;
	text[n] = 0;
	total = strtoll(text, &rest, 10);
	th->waited_ns = strtoll(rest, NULL, 10);
	return total;
}

/* What it was doing whenever the clock of the kernel ticked. */
static bool read_ticks(pid_t tid, uint64_t *user, uint64_t *kernel)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')');
	return at &&
	       sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		      user, kernel) == 2;
}

/* How much of the CPU time since the last call was the kernel's, in calls that do not stop. The
 * kernel knows the sum exactly and its parts by samples, which are looked at when there can be new
 * ones; what they do not show is the program's. */
static int64_t kernel_part(struct thread *th, int64_t total, int64_t new)
{
	uint64_t user, kernel;
	int64_t part;

	if (total - th->ticks_ns < TICK_NS)
		return 0;
	th->ticks_ns = total;
	if (!read_ticks(th->tid, &user, &kernel) || user + kernel == 0)
		return 0;
	part = (int64_t)((double)total * (double)kernel / (double)(user + kernel)) - th->stime_ns;
	return part < 0 ? 0 : part < new ? part : new;
}

void leat_ptrace_cpu(struct thread *th, bool inside, int64_t *utime_ns, int64_t *stime_ns)
{
	int64_t total = total_of(th), new = total - th->utime_ns - th->stime_ns;

	if (total >= 0 && new > 0) {
		int64_t part = inside ? new : kernel_part(th, total, new);

		th->stime_ns += part;
		th->utime_ns += new - part;
	}
	*utime_ns = th->utime_ns;
	*stime_ns = th->stime_ns;
}

/* ---- descriptors ---- */

/* Of what is served, only what never changes: the kernel knows that. */
static bool stat_file(struct tracer *t, struct thread *th, int at, const char *path,
		      struct statx *st)
{
	int flags = AT_STATX_DONT_SYNC | (*path ? 0 : AT_EMPTY_PATH);
	unsigned known = STATX_TYPE | STATX_INO | STATX_MNT_ID;
	const char *type;

	if (!leat_ptrace_view_is_served(t, th))
		return statx(at, path, flags, STATX_WANTED, st) == 0;
	if (statx(at, path, flags, known, st) < 0)
		return false;
	type = leat_trace_who_filesystem(t->who, th->tid, st->stx_mnt_id);
	return !type || leat_str_begins(type, "fuse") ||
	       statx(at, path, flags, STATX_WANTED, st) == 0;
}

bool leat_ptrace_stat_fd(struct tracer *t, struct thread *th, int fd, struct statx *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)th->tid, fd);
	return stat_file(t, th, AT_FDCWD, path, st);
}

/* Where a link leads; the caller frees it. NULL: it cannot be read, or not in full. */
static char *read_link(const char *link)
{
	char target[2 * PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0 || (size_t)n == sizeof(target) - 1)
		return NULL;
	target[n] = 0;
	return strdup(target);
}

char *leat_ptrace_path_of_fd(pid_t tid, int fd, bool unlinked)
{
	static const char mark[] = " (deleted)";
	char link[64], *path;
	size_t length;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)tid, fd);
	path = read_link(link);
	length = path ? strlen(path) : 0;
	if (unlinked && length > sizeof(mark) &&
	    strcmp(path + length + 1 - sizeof(mark), mark) == 0)
		path[length + 1 - sizeof(mark)] = 0;
	return path;
}

int64_t leat_ptrace_offset_of_fd(pid_t tid, int fd)
{
	char path[64], text[128];
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)tid, fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	n = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = 0;
	return strncmp(text, "pos:", 4) == 0 ? strtoll(text + 4, NULL, 10) : -1;
}

/* ---- names ---- */

/* The directory that names are relative to, as a link of /proc. */
static void format_base(pid_t tid, int dir, bool absolute, char out[64])
{
	if (absolute)
		snprintf(out, 64, "/proc/%d/root", (int)tid);
	else if (dir == AT_FDCWD)
		snprintf(out, 64, "/proc/%d/cwd", (int)tid);
	else
		snprintf(out, 64, "/proc/%d/fd/%d", (int)tid, dir);
}

/* "dir/name", without the double slashes and "." of both. */
static char *join_plainly(const char *dir, const char *name)
{
	char *out = malloc(strlen(dir) + strlen(name) + 3), *end = out;

	if (!out)
		return NULL;
	for (int half = 0; half < 2; half++)
		for (const char *p = half ? name : dir; *p;) {
			size_t n = strcspn(p, "/");

			if (n && !(n == 1 && *p == '.')) {
				*end++ = '/';
				memcpy(end, p, n);
				end += n;
			}
			p += n + (p[n] == '/');
		}
	if (end == out)
		*end++ = '/';
	*end = 0;
	return out;
}

/* As the tracer sees it in the thread's namespace. */
static char *make_plain_path(const struct thread *th, int dir, const char *name)
{
	char base[64], *from, *path;

	format_base(th->tid, dir, *name == '/', base);
	from = *name == '/' ? leat_ptrace_view_seen(th, "/") : read_link(base);
	path = from ? join_plainly(from, name) : NULL;
	free(from);
	return path;
}

char *leat_ptrace_plain_path(struct tracer *t, struct thread *th, int dir, uint64_t address,
			     char **outside)
{
	char text[PATH_MAX], *inside;

	*outside = NULL;
	if (leat_memory_string_of(th->tid, address, text) < 0)
		return NULL;
	leat_ptrace_view_name(t, th, make_plain_path(th, dir, text), 0, &inside, outside);
	return inside;
}

void leat_ptrace_name_release(struct name *name)
{
	free(name->path);
	free(name->outside);
	*name = (struct name){0};
}

/* The real path of the directory that is open as `fd`, and `last` in it. */
static char *make_resolved_path(int fd, const char *last)
{
	char link[64], *dir, *path;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	dir = read_link(link);
	path = dir ? leat_strf("%s%s%s", dir, strcmp(dir, "/") == 0 ? "" : "/", last) : NULL;
	free(dir);
	return path;
}

/* Symbolic links lead from the thread's root, not from the tracer's. */
static int open_elsewhere(struct tracer *t, const struct thread *th, int dir, const char *name,
			  bool follow)
{
	char base[64], *from, *path;
	const char *behind;
	int fd, error;

	if (*name == '/')
		return leat_ptrace_view_open(t, th, name, follow);
	format_base(th->tid, dir, false, base);
	from = read_link(base);
	behind = from ? leat_path_behind(from, th->root ? th->root : "") : NULL;
	path = behind ? leat_strf("%s/%s", behind, name) : NULL;
	fd = path ? leat_ptrace_view_open(t, th, path, follow) : -1;
	error = errno;
	free(path);
	free(from);
	errno = error;
	return fd;
}

/* Splits "a/b" into "a" and "b"; NULL: there is no name at the end. */
static char *cut_last(char *path)
{
	char *slash = strrchr(path, '/');
	char *last = slash ? slash + 1 : path;

	return *last && !leat_is_dots(last) ? last : NULL;
}

/* The real path of the directory that the last name of `text` is in, with that; NULL: it cannot be
 * found out. *mount is then its mount. */
static char *find_path_elsewhere(struct tracer *t, struct thread *th, int dir, char *text,
				 uint64_t *mount)
{
	char *last = cut_last(text), *copy = last ? strdup(last) : NULL, *seen = NULL;
	struct statx st;
	int fd;

	if (!copy)
		return NULL;
	/* "/a" is a in "/", and "a" in ".". */
	*last = 0;
	fd = open_elsewhere(t, th, dir, *text ? text : ".", true);
	if (fd >= 0)
		seen = make_resolved_path(fd, copy);
	if (seen && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) == 0)
		*mount = st.stx_mnt_id;
	leat_close(&fd);
	free(copy);
	return seen;
}

static void look_elsewhere(struct tracer *t, struct thread *th, int dir, char *text, bool follow,
			   struct name *name)
{
	char *seen, *plain = make_plain_path(th, dir, text);
	int fd = open_elsewhere(t, th, dir, text, follow);
	uint64_t mount = 0;

	name->unsure = fd < 0 && errno == EAGAIN;
	name->exists = fd >= 0 && stat_file(t, th, fd, "", &name->st);
	leat_close(&fd);
	seen = find_path_elsewhere(t, th, dir, text, &mount);
	if (seen)
		free(plain);
	leat_ptrace_view_name(t, th, seen ? seen : plain, mount, &name->path, &name->outside);
}

void leat_ptrace_look(struct tracer *t, struct thread *th, int dir, uint64_t address, bool follow,
		      struct name *name)
{
	char text[PATH_MAX], base[64], full[PATH_MAX + 80], *last;
	int fd;

	*name = (struct name){0};
	if (leat_memory_string_of(th->tid, address, text) < 0)
		return;
	if (th->elsewhere) {
		look_elsewhere(t, th, dir, text, follow, name);
		return;
	}
	format_base(th->tid, dir, *text == '/', base);
	snprintf(full, sizeof(full), "%s/%s", base, text);
	name->exists =
		statx(AT_FDCWD, full, AT_STATX_DONT_SYNC | (follow ? 0 : AT_SYMLINK_NOFOLLOW),
		      STATX_WANTED, &name->st) == 0;
	last = strrchr(full, '/');
	*last++ = 0;
	fd = *last && !leat_is_dots(last) ? open(full, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	name->path = fd < 0 ? make_plain_path(th, dir, text) : make_resolved_path(fd, last);
	if (fd >= 0)
		close(fd);
}
