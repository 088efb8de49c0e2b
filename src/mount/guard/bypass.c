/* Calls of programs behind the mount after which they would see the files below it instead: those
 * that take it away, a bind or an overlay of a directory above the workflow's without the mounts in
 * it, the device that the directory lies on, and another process's mount namespace. The kernel asks
 * us before it makes them; see filter.c, seccomp_unotify(2). */
#include "mount/guard/bypass.h"

#include "base/fd.h"
#include "base/layers.h"
#include "base/memory_of.h"
#include "base/str.h"
#include "mount/daemon/handshake.h"
#include "mount/guard/cover.h"
#include "mount/guard/filter.h"
#include "mount/guard/kills.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BARE_BIND                                                                                  \
	"a directory above the workflow's is bound without the mounts in it, leat's among them: "  \
	"bind it with them (mount --rbind), or give the step `staged: true`"
#define BARE_LAYER                                                                                 \
	"an overlay is made of a directory above the workflow's, without the mounts in it, "       \
	"leat's among them: give the step `staged: true`"
#define SAME_DEVICE                                                                                \
	"the file system that the workflow's directory lies in is mounted once more, where "       \
	"leat's view of it is not: give the step `staged: true`"
#define UNCOVERED                                                                                  \
	"leat's mount over the workflow's directory would be taken away, and the plain directory " \
	"be seen: leave it where it is, or give the step `staged: true`"
#define OTHER_NAMESPACE                                                                            \
	"the mount namespace that it enters does not have leat's view of the workflow's "          \
	"directory; give the step `staged: true`"

/* sys/mount.h and linux/mount.h do not go together in every libc. */
#ifndef UMOUNT_NOFOLLOW
#define UMOUNT_NOFOLLOW 8
#endif

enum { MOUNTS_MOST = 1 << 22 };

/* ---- what a process means by a name ---- */

/* Names of its own in /proc would be ours here, and lead nowhere from its root. */
static int open_own(pid_t pid, const char *path, unsigned flags)
{
	static const char *const fronts[] = {"/proc/self/", "/proc/thread-self/"};
	char *name;
	int fd;

	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts); i++) {
		size_t n = strlen(fronts[i]);

		if (strncmp(path, fronts[i], n) != 0)
			continue;
		name = leat_strf("/proc/%d/%s", (int)pid, path + n);
		fd = name ? open(name, (int)(O_PATH | O_CLOEXEC | flags)) : -1;
		free(name);
		return fd;
	}
	return -1;
}

/* What the process means by it, without a lookup of its last name's file. -1: nothing there. */
static int open_as(pid_t pid, int dirfd, const char *path, unsigned flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags};
	char base[64];
	int at, fd = open_own(pid, path, flags);

	if (fd >= 0)
		return fd;
	if (*path == '/') {
		how.resolve = RESOLVE_IN_ROOT;
		snprintf(base, sizeof(base), "/proc/%d/root", (int)pid);
	} else if (dirfd == AT_FDCWD) {
		snprintf(base, sizeof(base), "/proc/%d/cwd", (int)pid);
	} else {
		snprintf(base, sizeof(base), "/proc/%d/fd/%d", (int)pid, dirfd);
	}
	at = open(base, O_PATH | O_CLOEXEC);
	if (at < 0 || !*path)
		return at;
	fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	leat_close(&at);
	return fd;
}

/* ---- binds, and the like ---- */

static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

static bool stat_mount(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, st) == 0;
}

/* Is it above the workflow's directory, in the same mount? */
static bool is_above(const struct leat_mount *m, const struct statx *it)
{
	struct statx dir, here, below;
	bool found = false, more = stat_mount(m->dir_fd, &dir);
	int fd = more ? openat(m->dir_fd, "..", O_PATH | O_CLOEXEC) : -1;

	below = dir;
	while (fd >= 0 && !found) {
		int up = -1;

		more = stat_mount(fd, &here) && here.stx_mnt_id == dir.stx_mnt_id &&
		       !is_same(&here, &below);
		found = more && is_same(&here, it);
		below = here;
		if (more && !found)
			up = openat(fd, "..", O_PATH | O_CLOEXEC);
		leat_close(&fd);
		fd = up;
	}
	return found;
}

/* What lies in the workflow's directory by its name does not have to be looked up, which may take
 * until it is made. */
static bool is_in_view(const struct leat_mount *m, pid_t pid, int dirfd, const char *path)
{
	char link[64], cwd[PATH_MAX];
	ssize_t n;

	if (strstr(path, ".."))
		return false;
	if (*path == '/')
		return leat_path_is_below(path, m->spec->dir);
	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	n = dirfd == AT_FDCWD ? readlink(link, cwd, sizeof(cwd) - 1) : -1;
	if (n <= 0)
		return false;
	cwd[n] = 0;
	return strcmp(cwd, m->spec->dir) == 0 || leat_path_is_below(cwd, m->spec->dir);
}

static bool exposes(const struct leat_mount *m, pid_t pid, int dirfd, const char *path)
{
	struct statx st;
	bool above;
	int fd;

	if (is_in_view(m, pid, dirfd, path))
		return false;
	fd = open_as(pid, dirfd, path, 0);
	above = fd >= 0 && stat_mount(fd, &st) && is_above(m, &st);
	leat_close(&fd);
	return above;
}

static bool exposes_at(const struct leat_mount *m, pid_t pid, int dirfd, uint64_t address)
{
	char path[PATH_MAX];

	return leat_memory_string_of(pid, address, path) == 0 && exposes(m, pid, dirfd, path);
}

static bool exposes_one_of(const struct leat_mount *m, pid_t pid, struct leat_layers layers)
{
	char path[PATH_MAX];

	while (leat_layers_next(&layers, path, sizeof(path)))
		if (exposes(m, pid, AT_FDCWD, path))
			return true;
	return false;
}

/* Is it the device that the workflow's directory lies on? */
static bool is_device(const struct leat_mount *m, pid_t pid, const char *path)
{
	struct stat dir, device;
	int fd = *path == '/' ? open_as(pid, AT_FDCWD, path, 0) : -1;
	bool is = fd >= 0 && fstat(fd, &device) == 0 && S_ISBLK(device.st_mode) &&
		  fstat(m->dir_fd, &dir) == 0 && dir.st_dev == device.st_rdev;

	leat_close(&fd);
	return is;
}

static const char *judge_new(const struct leat_mount *m, pid_t pid, const __u64 *args)
{
	char type[PATH_MAX], text[PATH_MAX];

	if (leat_memory_string_of(pid, args[2], type))
		return NULL;
	if (strcmp(type, "overlay") == 0)
		return leat_memory_string_of(pid, args[4], text) == 0 &&
				       exposes_one_of(m, pid, leat_layers_of_options(text))
			       ? BARE_LAYER
			       : NULL;
	return leat_memory_string_of(pid, args[0], text) == 0 && is_device(m, pid, text)
		       ? SAME_DEVICE
		       : NULL;
}

/* A part of what a file system is to be made of. */
static const char *judge_config(const struct leat_mount *m, pid_t pid, const __u64 *args)
{
	char key[PATH_MAX], value[PATH_MAX];
	unsigned command = (unsigned)args[1];
	int aux = (int)args[4];

	if (command < FSCONFIG_SET_STRING || command > FSCONFIG_SET_FD ||
	    leat_memory_string_of(pid, args[2], key))
		return NULL;
	if (command == FSCONFIG_SET_FD)
		return leat_layers_is_key(key) && exposes(m, pid, aux, "") ? BARE_LAYER : NULL;
	if (leat_memory_string_of(pid, args[3], value))
		return NULL;
	if (strcmp(key, "source") == 0)
		return is_device(m, pid, value) ? SAME_DEVICE : NULL;
	if (!leat_layers_is_key(key))
		return NULL;
	return (command == FSCONFIG_SET_STRING ? exposes_one_of(m, pid, leat_layers_of_value(value))
					       : exposes(m, pid, aux, value))
		       ? BARE_LAYER
		       : NULL;
}

/* ---- leat's mount itself ---- */

/* Is what has this name a mount that covers the workflow's directory? */
static bool is_cover(const struct leat_mount *m, pid_t pid, int dirfd, const char *path,
		     unsigned flags)
{
	char link[64], name[PATH_MAX];
	int fd = open_as(pid, dirfd, path, flags);
	int is = fd < 0 ? 0 : leat_cover_is(m, pid, fd);

	/* An absolute symlink in it has led to a mount in our own namespace. */
	if (is == -ENOENT && *path && *path != '/') {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, name, sizeof(name) - 1);
		name[n > 0 ? n : 0] = 0;
		leat_close(&fd);
		fd = n > 0 ? open_as(pid, AT_FDCWD, name, flags) : -1;
		is = fd < 0 ? 0 : leat_cover_is(m, pid, fd);
	}
	leat_close(&fd);
	return is > 0;
}

static const char *judge_taken(const struct leat_mount *m, pid_t pid, int dirfd, uint64_t address,
			       unsigned flags)
{
	char path[PATH_MAX];

	return leat_memory_string_of(pid, address, path) == 0 &&
			       is_cover(m, pid, dirfd, path, flags)
		       ? UNCOVERED
		       : NULL;
}

/* In the order in which the kernel looks at the flags (do_mount). */
static const char *judge_mount(const struct leat_mount *m, pid_t pid, const __u64 *args)
{
	unsigned long flags = (unsigned long)args[3];

	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(unsigned long)MS_MGC_MSK;
	if (flags & MS_REMOUNT)
		return NULL;
	if (flags & MS_BIND)
		return !(flags & MS_REC) && exposes_at(m, pid, AT_FDCWD, args[0]) ? BARE_BIND
										  : NULL;
	if (flags & (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE))
		return NULL;
	if (flags & MS_MOVE)
		return judge_taken(m, pid, AT_FDCWD, args[0], 0);
	return judge_new(m, pid, args);
}

/* ---- namespaces ---- */

/* The devices of leat's mounts that a process sees, each between spaces; freed by the caller. */
static char *views_of(pid_t pid)
{
	char path[64], *text = NULL, *rest = NULL, *out, *to, device[32];

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	if (leat_read_file(path, MOUNTS_MOST, &text, NULL))
		return NULL;
	to = out = calloc(1, strlen(text) + 2);
	for (char *line = out ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, " - fuse.leat ") && sscanf(line, "%*d %*d %31s", device) == 1)
			to += sprintf(to, " %s ", device);
	free(text);
	return out;
}

/* Is there a mount that both have? */
static bool share_view(pid_t a, pid_t b)
{
	char *of_a = views_of(a), *of_b = views_of(b), *rest = NULL;
	bool found = false;

	for (char *word = of_a && of_b ? strtok_r(of_a, " ", &rest) : NULL; word && !found;
	     word = strtok_r(NULL, " ", &rest)) {
		char *spaced = leat_strf(" %s ", word);

		found = spaced && strstr(of_b, spaced);
		free(spaced);
	}
	free(of_a);
	free(of_b);
	return found;
}

static bool read_link(char out[64], pid_t pid, const char *what)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	n = readlink(path, out, 63);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* A process that is in the mount namespace of this name; 0: there is none. */
static pid_t member_of(const char *namespace)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;
	char link[64];

	while (proc && !found && (e = readdir(proc))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && read_link(link, pid, "ns/mnt") && strcmp(link, namespace) == 0)
			found = pid;
	}
	if (proc)
		closedir(proc);
	return found;
}

static pid_t process_of_pidfd(pid_t pid, int fd)
{
	char path[64], *text = NULL, *at;
	pid_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	if (leat_read_file(path, 4096, &text, NULL) == 0 && (at = strstr(text, "\nPid:")))
		found = (pid_t)atoi(at + 5);
	free(text);
	return found > 0 ? found : 0;
}

/* Does the call enter a mount namespace in which leat's mount is not to be seen? */
static bool leaves(pid_t pid, int fd, unsigned kinds)
{
	char number[32], link[64], own[64];
	pid_t there;

	snprintf(number, sizeof(number), "fd/%d", fd);
	if (!read_link(link, pid, number) || !read_link(own, pid, "ns/mnt"))
		return false; /* no such descriptor: the kernel says so */
	if (strcmp(link, own) == 0)
		return false;
	if (strncmp(link, "mnt:", 4) == 0)
		there = member_of(link);
	else if (kinds & CLONE_NEWNS)
		there = process_of_pidfd(pid, fd);
	else
		return false;
	return !there || !share_view(pid, there);
}

/* ---- answers ---- */

static const char *judge(const struct leat_mount *m, const struct seccomp_notif *n)
{
	const __u64 *args = n->data.args;
	pid_t pid = (pid_t)n->pid;

	switch (leat_filter_call(&n->data)) {
	case SYS_mount:
		return judge_mount(m, pid, args);
	case SYS_umount2:
		return judge_taken(m, pid, AT_FDCWD, args[0],
				   args[1] & UMOUNT_NOFOLLOW ? O_NOFOLLOW : 0);
	case SYS_move_mount:
		return judge_taken(m, pid, (int)args[0], args[1],
				   args[4] & MOVE_MOUNT_F_SYMLINKS ? 0 : O_NOFOLLOW);
	case SYS_pivot_root:
		return judge_taken(m, pid, AT_FDCWD, args[0], 0);
	case SYS_open_tree:
		return exposes_at(m, pid, (int)args[0], args[1]) ? BARE_BIND : NULL;
	case SYS_fsconfig:
		return judge_config(m, pid, args);
	case SYS_setns:
		return leaves(pid, (int)args[0], (unsigned)args[1]) ? OTHER_NAMESPACE : NULL;
	default:
		return NULL;
	}
}

void leat_bypass_fail(struct leat_mount *m, pid_t pid, const char *why)
{
	char path[64], *name = NULL, *text = NULL;
	struct leat_connection *connection;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (leat_read_file(path, 64, &name, NULL) == 0)
		text = leat_strf("%.*s: %s", (int)strcspn(name, "\n"), name, why);
	if (leat_connection_get(m, &connection) == 0)
		leat_channel_refused(leat_connection_channel(connection), text ? text : why, true);
	free(name);
	free(text);
}

void leat_bypass_fail_unread(struct leat_mount *m, pid_t pid, const char *name)
{
	char *why =
		leat_strf("a version of %s is empty, and was opened again after a close without "
			  "a read: whether it was taken cannot be told behind a mount, where "
			  "reads of 0 bytes are not seen",
			  name);

	leat_bypass_fail(m, pid, why ? why : "nobody knows whether an empty version was taken");
	free(why);
}

/* False: there is nobody left to ask. */
static bool answer(struct leat_mount *m, int fd)
{
	/* The kernel's structures may be longer than those that we know. */
	union {
		struct seccomp_notif n;
		char bytes[512];
	} asked = {.bytes = {0}};
	union {
		struct seccomp_notif_resp r;
		char bytes[512];
	} reported = {.bytes = {0}};
	const char *why;

	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		return errno == EINTR || errno == ENOENT;
	leat_kills_meet(m, (pid_t)asked.n.pid);
	why = judge(m, &asked.n);
	if (why)
		leat_bypass_fail(m, (pid_t)asked.n.pid, why);
	reported.r.id = asked.n.id;
	reported.r.error = why ? -EPERM : 0;
	reported.r.flags = why ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &reported); /* who was killed needs none */
	return true;
}

static void *watch(void *context)
{
	struct leat_mount *m = context;
	bool unused;
	int fd = leat_handshake_receive_fd(m->peer, &unused);

	leat_close(&m->peer);
	while (fd >= 0 && answer(m, fd))
		continue;
	leat_close(&fd);
	return NULL;
}

int leat_bypass_watch(struct leat_mount *m)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, watch, m);

	if (!rc)
		pthread_detach(thread);
	return -rc;
}
