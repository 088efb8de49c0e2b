#include "store/store.h"

#include "base/fd.h"
#include "base/log.h"
#include "store/private.h"
#include "store/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRIVATE_BASE "/dev/shm"

struct leat_store {
	int fd;
	int ns_fd;  /* holds the mount namespace: paths of its files keep their mount point */
	char *path; /* owned */
	dev_t dev;
	bool is_private;
};

static int write_text(const char *path, const char *text)
{
	int rc;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	rc = leat_write_all(fd, text, strlen(text));
	close(fd);
	return rc;
}

static int map_id(const char *file, unsigned id)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1", id, id);
	return write_text(file, text);
}

/* An ordinary user gets the right to mount from a user namespace; root needs
 * none, and one would hide other users' files from it. */
static int enter_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int rc;

	if (uid == 0 && unshare(CLONE_NEWNS) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	rc = write_text("/proc/self/setgroups", "deny");
	if (rc && rc != -ENOENT)
		return rc;
	rc = map_id("/proc/self/uid_map", uid);
	return rc ? rc : map_id("/proc/self/gid_map", gid);
}

static int mount_here(const char *mount_point, uint64_t size_bytes)
{
	/* Nothing that only reads changes what stat shows: it may be remembered. */
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOATIME;
	char options[96];

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	/* huge=always would take 2 MB for each small file. */
	snprintf(options, sizeof(options), "mode=0700,size=%llu,huge=within_size",
		 (unsigned long long)size_bytes);
	if (mount("leat", mount_point, "tmpfs", flags, options) == 0)
		return 0;
	*strrchr(options, ',') = 0; /* a kernel without huge pages in tmpfs */
	return mount("leat", mount_point, "tmpfs", flags, options) < 0 ? -errno : 0;
}

/* Runs in the child: whatever happens there ends with it but for the two
 * descriptors sent. */
static int mount_and_send(int sock, const char *mount_point, uint64_t size_bytes)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {0};
	int fds[2] = {-1, -1};
	int rc = enter_namespace();
	struct iovec io = {.iov_base = &rc, .iov_len = sizeof(rc)};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (!rc)
		rc = mount_here(mount_point, size_bytes);
	if (!rc) {
		fds[0] = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fds[1] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
		if (fds[0] < 0 || fds[1] < 0)
			rc = -errno;
	}
	if (!rc) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(c), fds, sizeof(fds));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0;
}

static int receive(int sock, int fds[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {0};
	int rc = 0;
	struct iovec io = {.iov_base = &rc, .iov_len = sizeof(rc)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(rc))
		return -EIO;
	c = CMSG_FIRSTHDR(&msg);
	if (!rc && (!c || c->cmsg_len != CMSG_LEN(2 * sizeof(int))))
		return -EIO;
	if (!rc)
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return rc;
}

/* The daemon itself stays in the machine's namespaces: a child mounts and hands
 * over the directory and the namespace. */
static int mount_in_child(const char *mount_point, uint64_t size_bytes, int fds[2])
{
	int sv[2];
	pid_t child;
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		rc = -errno;
		goto out;
	}
	if (child == 0)
		_exit(mount_and_send(sv[1], mount_point, size_bytes));
	leat_close(&sv[1]);
	rc = receive(sv[0], fds);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
out:
	leat_close(&sv[0]);
	leat_close(&sv[1]);
	return rc;
}

static uint64_t half_of_memory(void)
{
	struct sysinfo info;

	if (sysinfo(&info) < 0)
		return 1u << 30;
	return (uint64_t)info.totalram * info.mem_unit / 2;
}

/* Takes the descriptors over, also when it fails. */
static int wrap(int fd, int ns_fd, const char *path, bool is_private, struct leat_store **store)
{
	struct leat_store *s = calloc(1, sizeof(*s));
	struct stat st;
	int rc = 0;

	if (!s || !(s->path = strdup(path)))
		rc = -ENOMEM;
	else if (fstat(fd, &st) < 0)
		rc = -errno;
	if (rc) {
		if (s)
			free(s->path);
		free(s);
		leat_close(&fd);
		leat_close(&ns_fd);
		return rc;
	}
	s->fd = fd;
	s->ns_fd = ns_fd;
	s->dev = st.st_dev;
	s->is_private = is_private;
	*store = s;
	return 0;
}

int leat_store_create(const char *mount_point, uint64_t size_bytes, struct leat_store **store)
{
	const char *asked = getenv("LEAT_STORE");
	int fds[2];
	int rc;

	if (asked && strcmp(asked, "shm") == 0)
		return leat_store_create_private(store);
	rc = mount_in_child(mount_point, size_bytes ? size_bytes : half_of_memory(), fds);
	if (!rc)
		return wrap(fds[0], fds[1], mount_point, false, store);
	leat_warn("no private mount here (%s): the store is a directory in " PRIVATE_BASE
		  ", without huge pages",
		  strerror(-rc));
	return leat_store_create_private(store);
}

int leat_store_create_private(struct leat_store **store)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), PRIVATE_BASE "/leat-%u-XXXXXX", geteuid());
	fd = leat_private_make(path);
	return fd < 0 ? fd : wrap(fd, -1, path, true, store);
}

int leat_store_mirror(struct leat_store *store, int dir_fd)
{
	struct stat st;

	if (store->is_private)
		return 0;
	if (fstat(dir_fd, &st) < 0 || fchown(store->fd, st.st_uid, st.st_gid) < 0 ||
	    fchmod(store->fd, st.st_mode & 07777) < 0)
		return -errno;
	return 0;
}

void leat_store_destroy(struct leat_store *store)
{
	int saved = errno;

	if (!store)
		return;
	if (store->is_private && leat_remove_tree(AT_FDCWD, store->path) < 0)
		leat_warn("cannot remove %s", store->path);
	leat_close(&store->fd);
	leat_close(&store->ns_fd);
	free(store->path);
	free(store);
	errno = saved;
}

int leat_store_fd(const struct leat_store *store)
{
	return store->fd;
}

const char *leat_store_path(const struct leat_store *store)
{
	return store->path;
}

dev_t leat_store_dev(const struct leat_store *store)
{
	return store->dev;
}

bool leat_store_is_private(const struct leat_store *store)
{
	return store->is_private;
}

void leat_store_clean_stale(void)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "leat-%u-", geteuid());
	leat_private_clean_stale(PRIVATE_BASE, prefix);
}

int leat_store_room(const struct leat_store *store, uint64_t *budget_bytes, uint64_t *used_bytes)
{
	struct statvfs room;

	if (fstatvfs(store->fd, &room) < 0)
		return -errno;
	*budget_bytes = (uint64_t)room.f_blocks * room.f_frsize;
	*used_bytes = (uint64_t)(room.f_blocks - room.f_bfree) * room.f_frsize;
	return 0;
}
