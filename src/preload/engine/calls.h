/* Which system calls the hooks want to see. */
#ifndef LEAT_PRELOAD_ENGINE_CALLS_H
#define LEAT_PRELOAD_ENGINE_CALLS_H

#include <stdint.h>

/* How a call of libc is routed. Bits 0-3: the argument that is a descriptor;
 * only calls on descriptors with a kind reach the hook. */
enum leat_call_class {
	LEAT_CALL_FD1 = 1 << 0,
	LEAT_CALL_FD2 = 1 << 1,
	LEAT_CALL_FD3 = 1 << 2,
	LEAT_CALL_FD5 = 1 << 3,
	LEAT_CALL_PATH = 1 << 4,  /* reaches the hook whenever leat_active is set */
	LEAT_CALL_CLONE = 1 << 5, /* makes a process or a thread: seen by the engine */
	LEAT_CALL_EXIT = 1 << 6,  /* as PATH; libc keeps its number in another register */
	LEAT_CALL_CODE = 1 << 7,  /* mmap: also reaches the hook if it maps a file as code */
};

#define LEAT_CALLS 512

/* Class of each system call number of this architecture, 0 = none of ours. */
extern const uint8_t leat_call_class[LEAT_CALLS];

#endif
