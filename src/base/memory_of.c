#include "base/memory_of.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t copy_part(pid_t tid, uint64_t address, void *out, size_t size)
{
	struct iovec here = {out, size}, there = {(void *)(uintptr_t)address, size};

	return process_vm_readv(tid, &here, 1, &there, 1, 0);
}

int leat_memory_of(pid_t tid, uint64_t address, void *out, size_t size)
{
	ssize_t n = copy_part(tid, address, out, size);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

int leat_memory_string_of(pid_t tid, uint64_t address, char out[PATH_MAX])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), used = 0;

	/* Not beyond a page at once: behind the string there may be nothing. */
	while (used < PATH_MAX) {
		size_t part = page - (address + used) % page;
		ssize_t n;

		if (used == 0 && part > 256)
			part = 256;
		if (part > PATH_MAX - used)
			part = PATH_MAX - used;
		n = copy_part(tid, address + used, out + used, part);
		if (n <= 0)
			return n < 0 ? -errno : -EFAULT;
		if (memchr(out + used, 0, (size_t)n))
			return 0;
		used += (size_t)n;
	}
	return -ENAMETOOLONG;
}
