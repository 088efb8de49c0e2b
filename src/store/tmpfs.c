/* The mount of the store, in a namespace of its own. */
#include "store/tmpfs.h"

#include "base/fd.h"
#include "base/passing.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing that only reads changes what stat shows: it may be remembered. */
#define FLAGS (MS_NOSUID | MS_NODEV | MS_NOATIME)

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
	char options[96];

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	/* huge=always would take 2 MB for each small file. */
	snprintf(options, sizeof(options), "mode=0700,size=%llu,huge=within_size",
		 (unsigned long long)size_bytes);
	if (mount("leat", mount_point, "tmpfs", FLAGS, options) == 0)
		return 0;
	*strrchr(options, ',') = 0; /* a kernel without huge pages in tmpfs */
	return mount("leat", mount_point, "tmpfs", FLAGS, options) < 0 ? -errno : 0;
}

/* Runs in the child: whatever happens there ends with it but for the two
 * descriptors sent. */
static int mount_and_send(int sock, const char *mount_point, uint64_t size_bytes)
{
	union leat_passing passing;
	int fds[2] = {-1, -1};
	int rc = enter_namespace();
	struct iovec io = {.iov_base = &rc, .iov_len = sizeof(rc)};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};

	if (!rc)
		rc = mount_here(mount_point, size_bytes);
	if (!rc) {
		fds[0] = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fds[1] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
		if (fds[0] < 0 || fds[1] < 0)
			rc = -errno;
	}
	if (!rc)
		leat_pass(&msg, &passing, fds, 2);
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0;
}

static int receive(int sock, int fds[2])
{
	union leat_passing passing;
	int rc = 0;
	struct iovec io = {.iov_base = &rc, .iov_len = sizeof(rc)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = passing.space,
			     .msg_controllen = sizeof(passing.space)};
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(rc))
		return -EIO;
	return !rc && !leat_take_passed(&msg, fds, 2) ? -EIO : rc;
}

/* The daemon itself stays in the machine's namespaces: a child mounts and hands
 * over the directory and the namespace. */
int leat_tmpfs_mount(const char *mount_point, uint64_t size_bytes, int fds[2])
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

const char *leat_tmpfs_path(int fd, const char *mount_point, char out[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, PATH_MAX);
	if (n <= 0 || n == PATH_MAX)
		return mount_point;
	out[n] = 0;
	return out;
}

/* The user namespace that owns the mount's, unless it is ours. */
static int enter_owner(int ns_fd)
{
	int owner = ioctl(ns_fd, NS_GET_USERNS);
	struct stat theirs, ours;
	int rc = 0;

	if (owner < 0)
		return -errno;
	if (fstat(owner, &theirs) < 0 || stat("/proc/self/ns/user", &ours) < 0 ||
	    (theirs.st_ino != ours.st_ino && setns(owner, CLONE_NEWUSER) < 0))
		rc = -errno;
	close(owner);
	return rc;
}

/* Runs in the child. */
static int resize_here(const char *mount_point, int ns_fd, uint64_t size_bytes)
{
	char options[32];
	int rc = enter_owner(ns_fd);

	if (rc)
		return rc;
	snprintf(options, sizeof(options), "size=%llu", (unsigned long long)size_bytes);
	if (setns(ns_fd, CLONE_NEWNS) < 0 ||
	    mount("leat", mount_point, "tmpfs", MS_REMOUNT | FLAGS, options) < 0)
		return -errno;
	return 0;
}

int leat_tmpfs_resize(const char *mount_point, int ns_fd, uint64_t size_bytes)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0)
		_exit(-resize_here(mount_point, ns_fd, size_bytes));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}
