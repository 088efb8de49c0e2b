#include "daemon/core/session.h"

#include "base/fd.h"
#include "base/log.h"
#include "shm/roll.h"
#include "store/remove.h"
#include "store/store.h"
#include "wire/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Tries to take a session that others are just leaving. */
#define ATTEMPTS 100

__attribute__((format(printf, 4, 5))) static int refuse(int rc, char *error, size_t error_size,
							const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, error_size, format, ap);
	va_end(ap);
	return rc;
}

/* A directory that somebody else could change would let them impersonate the
 * daemon. */
static int check_ours(const char *path, char *error, size_t error_size)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return refuse(-errno, error, error_size, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return refuse(-EPERM, error, error_size,
			      "%s must be a directory of yours with mode 0700: remove it, or set "
			      "LEAT_RUNTIME_DIR to another directory",
			      path);
	return 0;
}

static int make_ours(const char *path, char *error, size_t error_size)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return refuse(-errno, error, error_size,
			      "cannot make the session directory %s: %s (LEAT_RUNTIME_DIR may name "
			      "another place)",
			      path, strerror(errno));
	return 0;
}

static long lock_holder(const char *dir)
{
	char path[PATH_MAX + 8];
	char *text = NULL;
	long pid = 0;

	snprintf(path, sizeof(path), "%s/lock", dir);
	if (leat_read_file(path, 64, &text, NULL) == 0)
		pid = strtol(text, NULL, 10);
	free(text);
	return pid;
}

/* Takes the lock of the session directory `dir`. The lock's descriptor, -EWOULDBLOCK if a daemon
 * holds it, -ESTALE if somebody has just removed it, or looks whether to. */
static int take_lock(const char *dir, int flags)
{
	char path[PATH_MAX + 8];
	struct stat a, b;
	int rc = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		rc = errno == EWOULDBLOCK && !lock_holder(dir) ? -ESTALE : -errno;
	else if (fstat(fd, &a) < 0)
		rc = -errno;
	else if (stat(path, &b) < 0 || a.st_ino != b.st_ino || a.st_dev != b.st_dev)
		rc = -ESTALE;
	if (rc)
		leat_close(&fd);
	return rc ? rc : fd;
}

static int note_holder(int fd, pid_t pid)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld\n", (long)pid);

	if (ftruncate(fd, 0) < 0)
		return -errno;
	return leat_write_all(fd, text, (size_t)length);
}

static bool remove_part(const char *dir, const char *name)
{
	char path[PATH_MAX + 8];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = leat_remove_tree(AT_FDCWD, path);
	if (rc)
		leat_warn("cannot remove %s: %s", path, strerror(-rc));
	return !rc;
}

/* The lock file goes last: whoever sees it unlocked finds nothing else. It stays with what cannot
 * be removed, for the next session that clears away. */
static void remove_session(const char *dir, int lock_fd)
{
	static const char *const parts[] = {"socket", "store", "sites", LEAT_LOST_LINKS,
					    LEAT_ROLL_NAME};
	bool is_empty = true;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		is_empty = remove_part(dir, parts[i]) && is_empty;
	if (is_empty && remove_part(dir, "lock"))
		rmdir(dir);
	close(lock_fd);
}

/* What leat_wire_session_path calls a session: in a directory shared with others
 * nothing else may be touched. */
static bool is_session(const char *name, const char *path)
{
	char error[PATH_MAX + 128];

	return strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16 &&
	       check_ours(path, error, sizeof(error)) == 0;
}

/* Can others exchange what is in the directory while we look at it? */
static bool is_anybodys(int dir)
{
	struct stat st;

	return fstat(dir, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0) ||
	       (st.st_mode & 022 && !(st.st_mode & S_ISVTX));
}

/* Sessions whose daemon was killed. */
static void clean_stale(const char *base)
{
	struct dirent *e;
	char path[PATH_MAX];
	DIR *dir = opendir(base);

	if (!dir)
		return;
	while (!is_anybodys(dirfd(dir)) && (e = readdir(dir))) {
		int lock;

		if (snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path) ||
		    !is_session(e->d_name, path))
			continue;
		lock = take_lock(path, 0);
		if (lock >= 0)
			remove_session(path, lock);
	}
	closedir(dir);
}

/* A directory that was asked for may be shared; the session's never is. */
static int make_base(const struct leat_session *s, char *error, size_t error_size)
{
	int rc = make_ours(s->base, error, error_size);

	return rc || !s->is_default ? rc : check_ours(s->base, error, error_size);
}

static int lock_session(struct leat_session *s, const char *real_dir, pid_t pid, char *error,
			size_t error_size)
{
	int rc = -ESTALE;

	/* A daemon that is just ending may remove the directory under our hands. */
	for (int attempt = 0; attempt < ATTEMPTS && (rc == -ESTALE || rc == -ENOENT); attempt++) {
		if (attempt > 10)
			usleep(1000);
		rc = make_base(s, error, error_size);
		if (!rc)
			rc = make_ours(s->dir, error, error_size);
		if (!rc)
			rc = check_ours(s->dir, error, error_size);
		if (!rc)
			rc = take_lock(s->dir, O_CREAT);
		else if (rc != -ENOENT || attempt == ATTEMPTS - 1)
			return rc;
	}
	if (rc == -EWOULDBLOCK) {
		long holder = lock_holder(s->dir);

		return refuse(
			-EBUSY, error, error_size,
			"another leat run (pid %ld) is using %s: wait for its end, or stop it",
			holder, real_dir);
	}
	if (rc < 0)
		return refuse(rc, error, error_size, "cannot lock %s: %s", s->dir, strerror(-rc));
	s->lock_fd = rc;
	rc = note_holder(s->lock_fd, pid);
	return rc ? refuse(rc, error, error_size, "%s/lock: %s", s->dir, strerror(-rc)) : 0;
}

static int make_directory(const char *path, char *error, size_t error_size)
{
	if (leat_remove_tree(AT_FDCWD, path) < 0 || mkdir(path, 0700) < 0)
		return refuse(-errno, error, error_size, "cannot make %s: %s", path,
			      strerror(errno));
	return 0;
}

/* The store's mount point, where the interception library keeps what it finds in libc, and where
 * processes that cannot connect leave word. */
static int make_directories(const struct leat_session *s, char *error, size_t error_size)
{
	char path[PATH_MAX + 8];
	int rc = make_directory(s->store, error, error_size);

	snprintf(path, sizeof(path), "%s/sites", s->dir);
	if (!rc)
		rc = make_directory(path, error, error_size);
	snprintf(path, sizeof(path), "%s/" LEAT_LOST_LINKS, s->dir);
	return rc ? rc : make_directory(path, error, error_size);
}

int leat_session_open(struct leat_session *s, const char *runtime_dir, const char *real_dir,
		      pid_t pid, char *error, size_t error_size)
{
	int rc;

	*s = (struct leat_session){.lock_fd = -1, .socket_fd = -1};
	s->is_default = !runtime_dir || !*runtime_dir;
	rc = leat_wire_session_path(runtime_dir, geteuid(), real_dir, s->socket, PATH_MAX - 8);
	if (rc)
		return refuse(rc, error, error_size, "LEAT_RUNTIME_DIR is too long");
	snprintf(s->dir, sizeof(s->dir), "%.*s", (int)(strrchr(s->socket, '/') - s->socket),
		 s->socket);
	snprintf(s->store, sizeof(s->store), "%.*s/store", PATH_MAX - 8, s->dir);
	snprintf(s->base, sizeof(s->base), "%.*s", (int)(strrchr(s->dir, '/') - s->dir), s->dir);
	clean_stale(s->base);
	leat_store_clean_stale();
	rc = lock_session(s, real_dir, pid, error, error_size);
	return rc ? rc : make_directories(s, error, error_size);
}

int leat_session_make(const struct leat_session *s, const char *name)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int leat_session_listen(struct leat_session *s, char *error, size_t error_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(s->socket);
	int rc = 0;

	if (length >= sizeof(address.sun_path))
		return refuse(-ENAMETOOLONG, error, error_size,
			      "%s is too long for a socket: set LEAT_RUNTIME_DIR to a shorter path",
			      s->socket);
	memcpy(address.sun_path, s->socket, length + 1);
	unlink(s->socket);
	/* Nobody else can search its directory. Who was root and is not any more, and holds a
	 * descriptor of it, may still need it. */
	s->socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->socket_fd < 0 ||
	    bind(s->socket_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(s->socket, geteuid() ? 0600 : 0666) < 0 || listen(s->socket_fd, SOMAXCONN) < 0)
		rc = refuse(-errno, error, error_size, "cannot listen on %s: %s", s->socket,
			    strerror(errno));
	return rc;
}

void leat_session_close(struct leat_session *s)
{
	leat_close(&s->socket_fd);
	if (s->lock_fd >= 0)
		remove_session(s->dir, s->lock_fd);
	s->lock_fd = -1;
	/* Fails while other sessions are there; a directory that was asked for stays. */
	if (s->is_default)
		rmdir(s->base);
}
