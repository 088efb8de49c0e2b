#include "preload/core/process.h"

#include "shm/word.h"

uint8_t leat_active;
uint8_t leat_tracing;
bool leat_has_sanitizer;

_Thread_local int leat_vfork_depth __attribute__((tls_model("initial-exec")));

_Thread_local const uint32_t *leat_cancel_word __attribute__((tls_model("initial-exec")));

struct leat_word leat_forks;

bool leat_in_vfork(void)
{
	return leat_vfork_depth > 0;
}
