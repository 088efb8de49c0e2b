/* What consumers have read must not change, but the same bytes once more are no change. */
#include "preload/handlers.h"
#include "preload/hooks.h"
#include "preload/text.h"
#include "shm/extents.h"

#include <string.h>
#include <unistd.h>

/* Are the `length` bytes at `data` what `fd` holds at `offset`? */
static bool same_bytes(int fd, const char *data, uint64_t length, uint64_t offset)
{
	char there[1024];

	while (length) {
		uint64_t part = length < sizeof(there) ? length : sizeof(there);
		long n = raw(SYS_pread64, fd, there, part, offset);

		if (n <= 0 || memcmp(there, data, (size_t)n) != 0)
			return false;
		data += n;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return true;
}

/* The same for a descriptor that may be open for writing only. */
static bool writes_same(int fd, const char *data, uint64_t length, uint64_t offset)
{
	char name[LEAT_FD_PATH];
	long reader;
	bool same;

	leat_fd_path(fd, name);
	reader = raw(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	if (reader < 0)
		return false;
	same = same_bytes((int)reader, data, length, offset);
	raw(SYS_close, reader);
	return same;
}

bool leat_changes_consumed(int fd, struct leat_shm_file *f, const char *data,
			   struct leat_range asked, struct leat_range *part)
{
	struct leat_shm *shm = leat_client_known()->shm;

	for (struct leat_range left = asked; leat_shm_consumed_part(shm, f, left, part);
	     left.begin = part->end)
		if (!writes_same(fd, data + (part->begin - asked.begin), part->end - part->begin,
				 part->begin))
			return true;
	return false;
}
