#include "preload/engine/area_x86_64.h"

#include "preload/core/call.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/stub_x86_64.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE ((uintptr_t)LEAT_STUB_PAGE)
#define STEP ((uintptr_t)16 << 20) /* not to be in the way of what is loaded next */
#define REACH ((uintptr_t)1 << 30)

int leat_area_protect(const void *start, size_t size, int protection)
{
	uintptr_t from = (uintptr_t)start & ~(PAGE - 1);
	uintptr_t to = ((uintptr_t)start + size + PAGE - 1) & ~(PAGE - 1);

	return (int)leat_raw(SYS_mprotect, (long)from, (long)(to - from), protection, 0, 0, 0);
}

int leat_area_unseal(const struct leat_code *code)
{
	return leat_area_protect(code->text, code->size, PROT_READ | PROT_WRITE | PROT_EXEC);
}

void leat_area_seal(const struct leat_code *code)
{
	leat_area_protect(code->text, code->size, PROT_READ | PROT_EXEC);
}

static uint8_t *try_at(uintptr_t at)
{
	long got = leat_raw(SYS_mmap, (long)at, LEAT_STUB_AREA, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == (long)at)
		return (uint8_t *)at;
	if (got >= 0 || got < -4095) /* a kernel that takes the address for a hint */
		leat_raw(SYS_munmap, got, LEAT_STUB_AREA, 0, 0, 0, 0);
	return NULL;
}

uint8_t *leat_area_find(const struct leat_code *code)
{
	uintptr_t begin = (uintptr_t)code->text & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)code->text + code->size + PAGE - 1) & ~(PAGE - 1);
	uint8_t *area = NULL;

	for (uintptr_t away = STEP; away < REACH && !area; away += STEP) {
		if (begin > away)
			area = try_at(begin - away);
		if (!area)
			area = try_at(end + away);
	}
	return area;
}

int leat_area_open(uint8_t *area, struct leat_stub_code *stubs)
{
	int error = leat_area_protect(area, LEAT_STUB_AREA, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (error)
		return error;
	stubs->table = (const struct leat_stub_table *)(const void *)area;
	stubs->at = area + LEAT_STUB_PAGE;
	stubs->end = area + LEAT_STUB_AREA;
	leat_stub_fill((struct leat_stub_table *)(void *)area);
	return 0;
}

int leat_area_close(uint8_t *area, const struct leat_stub_code *stubs)
{
	int error = leat_area_protect(area, LEAT_STUB_AREA, PROT_READ | PROT_EXEC);

	return stubs->failed ? -ERANGE : error;
}
