/* Descriptors in a message. */
#ifndef LEAT_PRELOAD_CORE_RIGHTS_H
#define LEAT_PRELOAD_CORE_RIGHTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static inline void leat_each_right(const struct msghdr *m, void (*visit)(int fd))
{
	const struct cmsghdr *h;

	if (!m->msg_control || m->msg_controllen < sizeof(struct cmsghdr))
		return;
	for (h = CMSG_FIRSTHDR(m); h;
	     h = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, (struct cmsghdr *)(uintptr_t)h)) {
		size_t n;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS ||
		    h->cmsg_len < CMSG_LEN(0))
			continue;
		n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
			visit(fd);
		}
	}
}

#endif
