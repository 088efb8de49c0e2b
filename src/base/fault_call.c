#include "base/fault_call.h"

#include <errno.h>
#include <unistd.h>

long leat_fault_call(long nr, long a, long b, long c, long d)
{
	long rc = syscall(nr, a, b, c, d);

	return rc < 0 ? -errno : rc;
}
