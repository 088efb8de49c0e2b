/* Times, and records on their way to the trace buffer. */
#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#define SECOND INT64_C(1000000000)

/* CPU times are asked for no more often than that: it is a system call, the clock is not. */
#define CPU_PERIOD_NS 1000000

/* A program that is held up is better than a trace with holes, while there is somebody to make
 * space. */
#define LONGEST_SLEEP_NS 1000000u

struct leat_tracebuf *leat_trace_buffer LEAT_FIRST;

/* --- the clock --- */

typedef int clock_function(clockid_t clock, struct timespec *t);

/* The kernel's own, without a system call; NULL: there is none. */
static clock_function *vdso_clock;

static const char clock_name[] =
#ifdef __aarch64__
	"__kernel_clock_gettime";
#else
	"__vdso_clock_gettime";
#endif

static const Elf64_Dyn *dynamic_part(const char *base, const Elf64_Ehdr *e, uintptr_t *shift)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)(base + e->e_phoff);
	const Elf64_Dyn *dynamic = NULL;

	*shift = 0;
	for (int i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && !*shift)
			*shift = (uintptr_t)base + ph[i].p_offset - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(const void *)(base + ph[i].p_offset);
	}
	return dynamic;
}

void leat_trace_clock_init(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
	const Elf64_Sym *symbols = NULL;
	const Elf64_Dyn *d;
	uintptr_t shift;

	if (!base)
		return;
	d = dynamic_part(base, (const Elf64_Ehdr *)(const void *)base, &shift);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)(shift + d->d_un.d_ptr);
		if (d->d_tag == DT_STRTAB)
			names = (const char *)(shift + d->d_un.d_ptr);
	}
	/* The names lie right behind the symbols. */
	for (; symbols && (const char *)symbols < names; symbols++)
		if (symbols->st_shndx != SHN_UNDEF &&
		    strcmp(names + symbols->st_name, clock_name) == 0)
			vdso_clock = (clock_function *)(shift + symbols->st_value);
}

int64_t leat_trace_now(void)
{
	struct timespec t;

	if (!vdso_clock || vdso_clock(CLOCK_MONOTONIC, &t))
		raw(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* --- CPU time of the thread --- */

static __thread struct {
	int64_t asked_ns, utime_ns, stime_ns;
} cpu __attribute__((tls_model("initial-exec")));

static void ask_cpu(int64_t now)
{
	struct rusage u;

	if (raw(SYS_getrusage, RUSAGE_THREAD, &u) < 0)
		return;
	cpu.asked_ns = now;
	cpu.utime_ns = u.ru_utime.tv_sec * SECOND + u.ru_utime.tv_usec * 1000;
	cpu.stime_ns = u.ru_stime.tv_sec * SECOND + u.ru_stime.tv_usec * 1000;
}

/* Asks if what is known is old, or another thread's: a vfork child runs on its parent's. */
static bool refresh_cpu(int64_t now)
{
	if (now - cpu.asked_ns < CPU_PERIOD_NS && !leat_in_vfork())
		return false;
	ask_cpu(now);
	return true;
}

void leat_trace_stamp(struct leat_traced *t)
{
	t->start_ns = leat_trace_now();
	if (refresh_cpu(t->start_ns))
		t->start_ns = leat_trace_now();
	t->utime_ns = cpu.utime_ns;
	t->stime_ns = cpu.stime_ns;
}

/* --- records --- */

static __thread uint32_t lane __attribute__((tls_model("initial-exec")));

/* Space may be made soon, while the tracer is there. */
static struct leat_tracebuf_record *wait_for_space(uint32_t process, size_t size)
{
	int64_t since = leat_trace_now(), now = since;
	struct leat_tracebuf_record *r = NULL;
	uint64_t sleep_ns = LEAT_SLEEP_NS;

	while (!r && now - since < LEAT_TRACEBUF_LONGEST_WAIT_NS &&
	       now - (int64_t)leat_tracebuf_last_beat(leat_trace_buffer) <
		       LEAT_TRACEBUF_LONGEST_SILENCE_NS) {
		leat_sleep(sleep_ns);
		sleep_ns = sleep_ns < LONGEST_SLEEP_NS ? 2 * sleep_ns : sleep_ns;
		r = leat_tracebuf_begin(leat_trace_buffer, process, size, &lane);
		now = leat_trace_now();
	}
	if (!r)
		leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_BUFFER, 1);
	return r;
}

struct leat_tracebuf_record *leat_trace_record(const struct leat_trace_self *me, uint8_t type,
					       const struct leat_traced *t, size_t text)
{
	size_t size = (sizeof(struct leat_tracebuf_record) + text + 7) / 8 * 8;
	struct leat_tracebuf_record *r;

	if (me->process == LEAT_TRACEBUF_NONE)
		return NULL;
	r = leat_tracebuf_begin(leat_trace_buffer, me->process, size, &lane);
	if (!r)
		r = wait_for_space(me->process, size);
	if (!r)
		return NULL;
	r->end_ns = leat_trace_now();
	refresh_cpu(r->end_ns);
	/* One by one: clearing all first takes longer than a clock. */
	r->size = sizeof(*r);
	r->type = type;
	r->texts = 0;
	r->by = LEAT_TRACEBUF_BY_ITSELF;
	r->pid = me->pid;
	r->flags = 0;
	r->handle = 0;
	r->result = 0;
	r->offset = 0;
	r->length = 0;
	r->device = 0;
	r->inode = 0;
	r->birth_ns = 0;
	r->utime_end_ns = cpu.utime_ns;
	r->stime_end_ns = cpu.stime_ns;
	r->start_ns = t ? t->start_ns : r->end_ns;
	r->utime_start_ns = t ? t->utime_ns : cpu.utime_ns;
	r->stime_start_ns = t ? t->stime_ns : cpu.stime_ns;
	return r;
}

void leat_trace_done(struct leat_tracebuf_record *r, const char *end)
{
	if (end)
		r->size = (uint32_t)((size_t)(end - (const char *)r) + 7) / 8 * 8;
	leat_tracebuf_end(leat_trace_buffer, r);
}
