#include "base/uring.h"

#include <linux/io_uring.h>
#include <string.h>

#ifndef IORING_SETUP_NO_MMAP /* Linux 6.5 */
#define IORING_SETUP_NO_MMAP (1U << 14)
#endif

/* Where the hexadecimal number ends. */
static const char *read_hex(const char *at, uint64_t *value)
{
	for (*value = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*value = *value << 4 | (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*value = *value << 4 | (uint64_t)(*at - 'a' + 10);
		else
			return at;
	}
}

/* "<first>-<end> <rights> <offset> <device> <inode> <path>" */
bool leat_uring_find(const char *line, uintptr_t *first, uintptr_t *end)
{
	static const char path[] = "anon_inode:[io_uring]";
	uint64_t from, to, offset;
	const char *at = read_hex(line, &from);
	size_t length;

	if (*at++ != '-')
		return false;
	at = read_hex(at, &to);
	if (*at++ != ' ' || strlen(at) < sizeof("rw-s"))
		return false;
	at = read_hex(at + sizeof("rw-s"), &offset);
	length = strlen(at);
	if (length && at[length - 1] == '\n')
		length--;
	if (offset != IORING_OFF_SQES || length < sizeof(path) - 1 ||
	    memcmp(at + length - (sizeof(path) - 1), path, sizeof(path) - 1) != 0)
		return false;
	*first = (uintptr_t)from;
	*end = (uintptr_t)to;
	return true;
}

static bool is_about_events(uint8_t opcode)
{
	switch (opcode) {
	case IORING_OP_NOP:
	case IORING_OP_POLL_ADD:
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT:
	case IORING_OP_TIMEOUT_REMOVE:
	case IORING_OP_ASYNC_CANCEL:
	case IORING_OP_LINK_TIMEOUT:
	case IORING_OP_EPOLL_CTL:
		return true;
	default:
		return false;
	}
}

bool leat_uring_moves(const void *requests, size_t size)
{
	const struct io_uring_sqe *r = requests;

	for (size_t i = 0; i < size / sizeof(*r); i++)
		if (!is_about_events(r[i].opcode))
			return true;
	return false;
}

bool leat_uring_hides(uint32_t flags)
{
	return flags & (IORING_SETUP_SQPOLL | IORING_SETUP_NO_MMAP);
}
