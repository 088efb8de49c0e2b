/* Between the program's process and its server, before the program starts. */
#include "mount/daemon/handshake.h"

#include "base/passing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
	int32_t result;
	char text[PATH_MAX];
};

int leat_handshake_send(int fd, int result, const char *text)
{
	struct message m = {.result = result};
	size_t length = strlen(text);

	if (length >= sizeof(m.text))
		return -ENAMETOOLONG;
	memcpy(m.text, text, length);
	return send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t leat_handshake_receive_with(int fd, void *data, size_t size, int *fds, size_t n_fds)
{
	union leat_passing passing;
	struct iovec io = {.iov_base = data, .iov_len = size};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = n_fds ? passing.space : NULL,
			     .msg_controllen = n_fds ? sizeof(passing.space) : 0};
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n_fds && n > 0)
		leat_take_passed(&msg, fds, n_fds);
	return n < 0 ? -errno : n;
}

/* The new descriptor takes the number over. */
static int take_number(int fd, int new)
{
	int flags = fcntl(fd, F_GETFD);
	int rc = flags < 0 ? flags : dup3(new, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0);

	rc = rc < 0 ? -errno : 0;
	close(new);
	return rc;
}

int leat_handshake_receive(int fd, char *text)
{
	struct message m;
	ssize_t n;

	for (;;) {
		int new = -1;

		n = leat_handshake_receive_with(fd, &m, sizeof(m), &new, 1);
		if (n != (ssize_t)sizeof(m))
			return n < 0 ? (int)n : -EPIPE;
		if (new < 0)
			break;
		n = take_number(m.result, new);
		if (n)
			return (int)n;
	}
	if (!m.result)
		memcpy(text, m.text, sizeof(m.text));
	return m.result;
}

int leat_handshake_exchange(int fd, int number, int new)
{
	struct message m = {.result = number};
	int rc = leat_handshake_send_with(fd, &m, sizeof(m), new);

	return rc ? rc : take_number(number, new);
}

int leat_handshake_send_with(int fd, const void *data, size_t size, int sent)
{
	union leat_passing passing;
	struct iovec io = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};

	leat_pass(&msg, &passing, &sent, 1);
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int leat_handshake_send_fd(int fd, int sent, bool flag)
{
	return leat_handshake_send_with(fd, &flag, sizeof(flag), sent);
}

int leat_handshake_receive_fd(int fd, bool *flag)
{
	int received = -1;
	ssize_t n = leat_handshake_receive_with(fd, flag, sizeof(*flag), &received, 1);

	if (n > 0)
		return received >= 0 ? received : -EPERM;
	return n < 0 ? (int)n : -EPIPE;
}
