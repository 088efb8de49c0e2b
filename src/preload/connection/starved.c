/* A program is refused memory that it would have without this library. It may end well
 * all the same: a failed command in the middle of a pipeline. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/connection/starved.h"

#include "preload/connection/lost.h"
#include "preload/core/call.h"
#include "wire/wire.h"

/* The fields of /proc/self/statm. */
enum { TOTAL = 0, DATA = 5, FIELDS = 7 };

/* Pages; false: they cannot be read. */
static bool read_sizes(uint64_t sizes[FIELDS])
{
	char text[256];
	const char *at = text;
	long fd, n;

	fd = raw(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = raw(SYS_read, fd, text, sizeof(text) - 1);
	raw(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	for (int i = 0; i < FIELDS; i++) {
		if (*at < '0' || *at > '9')
			return false;
		for (sizes[i] = 0; *at >= '0' && *at <= '9'; at++)
			sizes[i] = sizes[i] * 10 + (uint64_t)(*at - '0');
		at += *at == ' ';
	}
	return true;
}

/* Are so many bytes more beyond the limit only with what this library takes of it? */
static bool is_ours(const struct rlimit *l, uint64_t pages, uint64_t length, uint64_t ours)
{
	uint64_t taken = pages * 4096, others = taken > ours ? taken - ours : 0;

	return others + length > others && others + length <= l->rlim_cur &&
	       taken + length > l->rlim_cur;
}

void leat_note_refused(int resource, uint64_t length)
{
	bool is_data = resource == RLIMIT_DATA;
	uint64_t sizes[FIELDS];
	struct rlimit l;

	if (raw(SYS_prlimit64, 0, resource, NULL, &l) || l.rlim_cur == RLIM_INFINITY ||
	    leat_lost_any() || !read_sizes(sizes))
		return;
	if (is_ours(&l, sizes[is_data ? DATA : TOTAL], length,
		    is_data ? LEAT_OWN_DATA : LEAT_OWN_SPACE))
		leat_lost(LEAT_LOST_SPACE);
}
