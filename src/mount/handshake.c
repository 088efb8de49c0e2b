#include "mount/handshake.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

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

int leat_handshake_receive(int fd, char *text)
{
	struct message m;
	ssize_t n;

	do
		n = recv(fd, &m, sizeof(m), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(m))
		return n < 0 ? -errno : -EPIPE;
	if (!m.result)
		memcpy(text, m.text, sizeof(m.text));
	return m.result;
}

int leat_handshake_send_fd(int fd, int sent, bool flag)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {.iov_base = &flag, .iov_len = sizeof(flag)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &sent, sizeof(int));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int leat_handshake_receive_fd(int fd, bool *flag)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec io = {.iov_base = flag, .iov_len = sizeof(*flag)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int received;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return n < 0 ? -errno : -EPIPE;
	memcpy(&received, CMSG_DATA(c), sizeof(int));
	return received;
}
