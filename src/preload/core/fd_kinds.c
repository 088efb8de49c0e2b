#include "preload/core/fd_kinds.h"

#include "preload/core/call.h"
#include "preload/core/first.h"
#include "shm/word.h"

#include <sys/resource.h>

/* Hidden descriptors go here, or as high as the limit allows. */
#define HIDE_FROM 1000

uint8_t leat_fd_kinds[LEAT_MAX_FD] LEAT_FIRST_BEGINS;
/* all that have a kind lie below it; it never falls */
static struct leat_word end LEAT_FIRST;

int leat_fd_end(void)
{
	return (int)leat_word_get(&end);
}

void leat_fd_set_kind(int fd, uint8_t kind)
{
	uint64_t old = leat_word_get(&end);

	while (old <= (uint64_t)fd && !leat_word_claim(&end, old, (uint64_t)fd + 1))
		old = leat_word_get(&end);
	leat_byte_set(&leat_fd_kinds[fd], kind);
}

static int highest_base(void)
{
	struct rlimit limit;

	if (raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0)
		return HIDE_FROM;
	if (limit.rlim_cur > HIDE_FROM + 16)
		return HIDE_FROM;
	return (int)(limit.rlim_cur / 2);
}

int leat_fd_hide(int fd)
{
	long high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, highest_base());

	if (high < 0)
		high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 10);
	if (high >= 0 && leat_fd_in_range((int)high)) {
		raw(SYS_close, fd);
		fd = (int)high;
	} else if (high >= 0) {
		raw(SYS_close, high);
	}
	leat_fd_set_kind(fd, LEAT_FD_KIND_HIDDEN);
	return fd;
}

int leat_fd_hide_here(int fd)
{
	long rc;

	if (!leat_fd_in_range(fd))
		return -EMFILE;
	rc = raw(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	if (rc)
		return (int)rc;
	leat_fd_set_kind(fd, LEAT_FD_KIND_HIDDEN);
	return 0;
}

void leat_fd_reveal(int fd)
{
	leat_byte_set(&leat_fd_kinds[fd], 0);
}

void leat_fd_unhide(int fd)
{
	leat_fd_reveal(fd);
	raw(SYS_close, fd);
}
