/* Points of faults, -Dfaults=true only: the real calls, not the hooks. */
#include "base/fault_call.h"
#include "preload/core/call.h"

long leat_fault_call(long nr, long a, long b, long c, long d)
{
	return leat_raw(nr, a, b, c, d, 0, 0);
}
