#include "preload/core/process.h"

#include "preload/core/first.h"
#include "shm/word.h"

#include <link.h>
#include <sys/auxv.h>

uint8_t leat_active LEAT_FIRST;
uint8_t leat_tracing LEAT_FIRST;
bool leat_has_sanitizer LEAT_FIRST;

_Thread_local int leat_vfork_depth __attribute__((tls_model("initial-exec")));

_Thread_local const uint32_t *leat_cancel_word __attribute__((tls_model("initial-exec")));

struct leat_word leat_forks LEAT_FIRST;

static const ElfW(auxv_t) * auxiliary LEAT_FIRST;

void leat_process_begin(char **envp)
{
	while (*envp)
		envp++;
	auxiliary = (const ElfW(auxv_t) *)(const void *)(envp + 1);
}

unsigned long leat_auxval(unsigned long type)
{
	const ElfW(auxv_t) *a = auxiliary;

	if (!a)
		return getauxval(type);
	while (a->a_type != type && a->a_type != AT_NULL)
		a++;
	return a->a_type == type ? a->a_un.a_val : 0;
}

bool leat_in_vfork(void)
{
	return leat_vfork_depth > 0;
}
