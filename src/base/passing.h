/* Descriptors that go with a message over a socket: its control data. Any thread. */
#ifndef LEAT_BASE_PASSING_H
#define LEAT_BASE_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum { LEAT_MAX_PASSED = 2 };

union leat_passing {
	struct cmsghdr head;
	char space[CMSG_SPACE(LEAT_MAX_PASSED * sizeof(int))];
};

/* Give the `n` descriptors (at most LEAT_MAX_PASSED) to a message that is to be sent; `buffer` is
 * needed until then. */
static inline void leat_pass(struct msghdr *msg, union leat_passing *buffer, const int *fds,
			     size_t n)
{
	*buffer = (union leat_passing){0};
	msg->msg_control = buffer->space;
	msg->msg_controllen = CMSG_SPACE(n * sizeof(int));
	buffer->head.cmsg_level = SOL_SOCKET;
	buffer->head.cmsg_type = SCM_RIGHTS;
	buffer->head.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&buffer->head), fds, n * sizeof(int));
}

/* Has exactly that many descriptors come with a message that was received? Then they are in `fds`,
 * else that is left alone. */
static inline bool leat_take_passed(struct msghdr *msg, int *fds, size_t n)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(msg);

	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(n * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(head), n * sizeof(int));
	return true;
}

#endif
