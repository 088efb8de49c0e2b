/* Which system calls the hooks want to see. */
#include <sys/syscall.h>

#include "preload/engine/calls.h"

/* as the rows name them */
enum {
	FD1 = LEAT_CALL_FD1,
	FD2 = LEAT_CALL_FD2,
	FD3 = LEAT_CALL_FD3,
	FD5 = LEAT_CALL_FD5,
	PATH = LEAT_CALL_PATH,
	CLONE = LEAT_CALL_CLONE,
	EXIT = LEAT_CALL_EXIT,
	CODE = LEAT_CALL_CODE,
};

const uint8_t leat_call_class[LEAT_CALLS] = {
#define ROW(nr, class, how, hook, recorded, trace) [nr] = (class),
#include "preload/engine/calls.def"
};
