/* One stub per patched site: a test that costs a few cycles, then either the site's own syscall
 * instruction or the hooks. Only rcx and r11 may change on the way, as in a system call. */
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "preload/engine/stub_x86_64.h"

#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/engine/calls.h"
#include "preload/engine/scan_x86_64.h"

#define SYSCALL_SIZE 2
#define COMPARE_SIZE 6 /* cmp $-4096,%rax */
#define MAX_TESTS 2
#define MUCH 131072 /* of memory; what malloc maps by itself */

static void put(struct leat_stub_code *code, const void *bytes, size_t size)
{
	if (code->failed || (size_t)(code->end - code->at) < size) {
		code->failed = true;
		return;
	}
	memcpy(code->at, bytes, size);
	code->at += size;
}

#define PUT(code, ...) put(code, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void put32(struct leat_stub_code *code, uint32_t value)
{
	put(code, &value, sizeof value);
}

/* The 4-byte distance to `target`, in an instruction that ends `tail` bytes further on. */
static void put_distance(struct leat_stub_code *code, const void *target, unsigned tail)
{
	intptr_t distance = (intptr_t)target - ((intptr_t)code->at + 4 + (intptr_t)tail);

	if (distance != (int32_t)distance)
		code->failed = true;
	put32(code, (uint32_t)distance);
}

static void put_jump(struct leat_stub_code *code, const void *target)
{
	PUT(code, 0xe9); /* jmp target */
	put_distance(code, target, 0);
}

/* A forward jump: its 4-byte distance is filled in by land(). */
static uint8_t *put_forward(struct leat_stub_code *code, uint8_t condition)
{
	PUT(code, 0x0f, condition); /* jcc */
	put32(code, 0);
	return code->at;
}

#define JE 0x84
#define JNE 0x85
#define JAE 0x83
#define JS 0x88

static void land(struct leat_stub_code *code, uint8_t *after_jump)
{
	uint32_t distance = (uint32_t)(code->at - after_jump);

	if (!code->failed)
		memcpy(after_jump - 4, &distance, 4);
}

static void put_number(struct leat_stub_code *code, unsigned nr)
{
	PUT(code, 0xb8); /* mov $nr,%eax */
	put32(code, nr);
}

/* rax and the arguments are set: into the hooks by way of `entry` in the table, from there to
 * `resume`. */
static void put_enter(struct leat_stub_code *code, void (*const *entry)(void), const void *resume)
{
	PUT(code, 0x4c, 0x8d, 0x1d); /* lea resume(%rip),%r11 */
	put_distance(code, resume, 0);
	PUT(code, 0xff, 0x25); /* jmp *entry(%rip) */
	put_distance(code, entry, 0);
}

/* mov of a word of the table into r11 */
static void put_load(struct leat_stub_code *code, const void *word)
{
	PUT(code, 0x4c, 0x8b, 0x1d);
	put_distance(code, word, 0);
}

/* if (fd < LEAT_MAX_FD && leat_fd_kinds[fd]) goto hook; returns that jump. */
static uint8_t *put_test_fd(struct leat_stub_code *code, enum leat_call_class argument)
{
	uint8_t *beyond, *hook;

	switch (argument) {
	case LEAT_CALL_FD2:
		PUT(code, 0x89, 0xf1); /* mov %esi,%ecx */
		break;
	case LEAT_CALL_FD3:
		PUT(code, 0x89, 0xd1); /* mov %edx,%ecx */
		break;
	case LEAT_CALL_FD5:
		PUT(code, 0x44, 0x89, 0xc1); /* mov %r8d,%ecx */
		break;
	default:
		PUT(code, 0x89, 0xf9); /* mov %edi,%ecx */
	}
	PUT(code, 0x81, 0xf9); /* cmp $LEAT_MAX_FD,%ecx */
	put32(code, LEAT_MAX_FD);
	beyond = put_forward(code, JAE);
	put_load(code, &code->table->fd_kinds);
	PUT(code, 0x41, 0x80, 0x3c, 0x0b, 0x00); /* cmpb $0,(%r11,%rcx) */
	hook = put_forward(code, JNE);
	land(code, beyond);
	return hook;
}

static void put_compare_active(struct leat_stub_code *code)
{
	put_load(code, &code->table->active);
	PUT(code, 0x41, 0x80, 0x3b, 0x00); /* cmpb $0,(%r11) */
}

/* mmap: a file that may be executed, or so much that it may be refused. When malloc finds no space
 * elsewhere it asks for a megabyte. */
static uint8_t *put_test_code(struct leat_stub_code *code)
{
	uint8_t *much, *no_code, *no_file, *hook;

	PUT(code, 0x48, 0x81, 0xfe); /* cmp $MUCH,%rsi */
	put32(code, MUCH);
	much = put_forward(code, JAE);
	PUT(code, 0xf6, 0xc2, PROT_EXEC); /* test $PROT_EXEC,%dl */
	no_code = put_forward(code, JE);
	PUT(code, 0x45, 0x85, 0xc0); /* test %r8d,%r8d */
	no_file = put_forward(code, JS);
	land(code, much);
	put_compare_active(code);
	hook = put_forward(code, JNE);
	land(code, no_code);
	land(code, no_file);
	return hook;
}

/* The tests of a class; the jumps to the hook are left in `to_hook`. */
static unsigned put_tests(struct leat_stub_code *code, unsigned class, uint8_t *to_hook[MAX_TESTS])
{
	static const enum leat_call_class arguments[] = {LEAT_CALL_FD1, LEAT_CALL_FD2,
							 LEAT_CALL_FD3, LEAT_CALL_FD5};
	unsigned tests = 0;

	for (unsigned i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
		if ((class & arguments[i]) && tests < MAX_TESTS)
			to_hook[tests++] = put_test_fd(code, arguments[i]);
	if (class & LEAT_CALL_CODE)
		to_hook[tests++] = put_test_code(code);
	if (tests == 0) {
		put_compare_active(code);
		to_hook[tests++] = put_forward(code, JNE);
	}
	return tests;
}

/* Calls that are not ours are made by libc's own instruction. */
static void write_number(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	uint8_t *to_hook[MAX_TESTS];
	unsigned tests;

	if (site->kind == LEAT_PATCH_NUMBER) /* loads between the number and the call */
		put(code, site->patch + LEAT_JUMP_SIZE,
		    (size_t)(site->call - site->patch - LEAT_JUMP_SIZE));
	else
		put(code, site->patch, 4); /* the load before the xor */
	tests = put_tests(code, leat_call_class[site->nr], to_hook);
	put_number(code, site->nr);
	put_jump(code, site->call);
	while (tests > 0)
		land(code, to_hook[--tests]);
	put_number(code, site->nr);
	put_enter(code, &code->table->enter, site->call + SYSCALL_SIZE);
}

/* The call and the comparison after it were overwritten: they are made here. */
static void write_read(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	const uint8_t *after = site->patch + 2 * SYSCALL_SIZE;
	uint8_t *to_hook[MAX_TESTS], *compare;
	unsigned tests = put_tests(code, leat_call_class[SYS_read], to_hook);

	PUT(code, 0x31, 0xc0, 0x0f, 0x05); /* xor %eax,%eax; syscall */
	compare = code->at;
	put(code, after, COMPARE_SIZE);
	put_jump(code, after + COMPARE_SIZE);
	while (tests > 0)
		land(code, to_hook[--tests]);
	PUT(code, 0x31, 0xc0); /* xor %eax,%eax */
	put_enter(code, &code->table->enter, compare);
}

static void write_exit(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	uint8_t *to_hook, *back;

	put_compare_active(code);
	to_hook = put_forward(code, JNE);
	PUT(code, 0x66, 0x90); /* where LEAT_PASS goes on: a nop of SYSCALL_SIZE */
	back = code->at;
	put(code, site->patch, LEAT_JUMP_SIZE);
	put_jump(code, site->patch + LEAT_JUMP_SIZE);
	land(code, to_hook);
	put_number(code, SYS_exit_group);
	put_enter(code, &code->table->enter, back);
}

/* "op leat_vfork_depth": the variable of the calling thread. */
static void put_vfork_depth(struct leat_stub_code *code, uint8_t modrm)
{
	put_load(code, &code->table->vfork_depth);
	PUT(code, 0x64, 0x41, 0xff, modrm); /* incl or decl %fs:(%r11) */
}

enum { ENTER_SIZE = 7 + 6 }; /* lea, jmp */

/* Into the hooks and back, which go on with the call by LEAT_PASS. */
static void put_visit(struct leat_stub_code *code)
{
	put_enter(code, &code->table->enter, code->at + ENTER_SIZE + SYSCALL_SIZE);
}

#define INCREMENT 0x03
#define DECREMENT 0x0b

/* The child borrows memory and thread of its parent, which sleeps meanwhile: counted up before and
 * down again when the parent goes on. The child's copy of a depth of its own is the same variable.
 */
static void put_vfork_call(struct leat_stub_code *code, const uint8_t *resume)
{
	uint8_t *child;

	put_visit(code);
	put_vfork_depth(code, INCREMENT);
	PUT(code, 0x0f, 0x05);       /* syscall */
	PUT(code, 0x48, 0x85, 0xc0); /* test %rax,%rax */
	child = put_forward(code, JE);
	put_vfork_depth(code, DECREMENT);
	put_enter(code, &code->table->enter_vforked, resume);
	land(code, child);
	put_jump(code, resume);
}

/* It is told of before, so that neither process ever misses it, and when it failed. rax is set. */
static void put_fork_call(struct leat_stub_code *code, const uint8_t *resume)
{
	uint8_t *child, *failed;

	put_enter(code, &code->table->enter_forking, code->at + ENTER_SIZE);
	PUT(code, 0x0f, 0x05);       /* syscall */
	PUT(code, 0x48, 0x85, 0xc0); /* test %rax,%rax */
	child = put_forward(code, JE);
	failed = put_forward(code, JS);
	put_jump(code, resume);
	land(code, child);
	put_enter(code, &code->table->enter_forked, resume);
	land(code, failed);
	put_enter(code, &code->table->enter_forking, resume);
}

/* mov <flags>,%ecx: the flags are the first argument, or the first member of what it points to. */
static void put_clone_flags(struct leat_stub_code *code, unsigned nr)
{
	if (nr == SYS_clone3)
		PUT(code, 0x8b, 0x0f); /* mov (%rdi),%ecx */
	else
		PUT(code, 0x89, 0xf9); /* mov %edi,%ecx */
}

static void put_and_ecx(struct leat_stub_code *code, uint32_t mask)
{
	PUT(code, 0x81, 0xe1); /* and $mask,%ecx */
	put32(code, mask);
}

/* A clone is a fork (own memory), a vfork (memory shared, parent waits) or a thread; the hooks are
 * told of the latter two before. rax is set. */
static void put_clone(struct leat_stub_code *code, const struct leat_patch_site *site, unsigned nr)
{
	const uint8_t *resume = site->call + SYSCALL_SIZE;
	uint8_t *is_fork, *is_thread;

	if (nr == SYS_vfork) {
		put_vfork_call(code, resume);
		return;
	}
	if (nr == SYS_fork) {
		put_fork_call(code, resume);
		return;
	}
	put_clone_flags(code, nr);
	put_and_ecx(code, CLONE_VM);
	is_fork = put_forward(code, JE);
	put_clone_flags(code, nr);
	put_and_ecx(code, CLONE_VFORK);
	is_thread = put_forward(code, JE);
	put_vfork_call(code, resume);
	land(code, is_fork);
	put_fork_call(code, resume);
	land(code, is_thread);
	put_enter(code, &code->table->enter, site->call + SYSCALL_SIZE);
}

static void write_clone(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	put(code, site->patch + LEAT_JUMP_SIZE,
	    (size_t)(site->call - site->patch - LEAT_JUMP_SIZE));
	put_number(code, site->nr);
	put_clone(code, site, site->nr);
}

static uint8_t *put_if_number(struct leat_stub_code *code, unsigned nr)
{
	PUT(code, 0x48, 0x3d); /* cmp $nr,%rax */
	put32(code, nr);
	return put_forward(code, JE);
}

/* glibc's way for calls that can be cancelled while they wait: mov %r11,8(%rsp) keeps for the
 * handler of the signal where the thread says that it is to end. */
static bool is_cancellable(const struct leat_patch_site *site)
{
	static const uint8_t keep[] = {0x4c, 0x89, 0x5c, 0x24, 0x08};

	return site->call == site->patch + sizeof keep &&
	       memcmp(site->patch, keep, sizeof keep) == 0;
}

/* The number is in rax. (vfork by it cannot work: the child would return from its function first.)
 * In glibc since 2.41 read and write come here: calls on descriptors that are not ours pass
 * quickly. */
static void write_any(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	static const uint16_t clones[] = {SYS_clone, SYS_clone3, SYS_fork};
	uint8_t *to_clone[3], *inactive, *beyond, *none, *other, *to_hook;

	put(code, site->patch, (size_t)(site->call - site->patch));
	PUT(code, 0x48, 0x3d); /* cmp $LEAT_CALLS,%rax */
	put32(code, LEAT_CALLS);
	beyond = put_forward(code, JAE);
	put_load(code, &code->table->call_class);
	PUT(code, 0x41, 0x0f, 0xb6, 0x0c, 0x03); /* movzbl (%r11,%rax),%ecx */
	PUT(code, 0x83, 0xf9, LEAT_CALL_FD1);    /* cmp $LEAT_CALL_FD1,%ecx */
	other = put_forward(code, JNE);
	to_hook = put_test_fd(code, LEAT_CALL_FD1);
	put_jump(code, site->call);
	land(code, other);
	PUT(code, 0x85, 0xc9); /* test %ecx,%ecx */
	none = put_forward(code, JE);
	put_compare_active(code);
	inactive = put_forward(code, JE);
	for (unsigned i = 0; i < 3; i++)
		to_clone[i] = put_if_number(code, clones[i]);
	land(code, to_hook);
	put_enter(code,
		  is_cancellable(site) ? &code->table->enter_cancellable : &code->table->enter,
		  site->call + SYSCALL_SIZE);
	for (unsigned i = 0; i < 3; i++) {
		land(code, to_clone[i]);
		put_clone(code, site, clones[i]);
	}
	land(code, inactive);
	land(code, beyond);
	land(code, none);
	put_jump(code, site->call);
}

/* As it was given at the start. */
static const struct leat_stub_table *entries LEAT_FIRST;

void leat_stub_lead_to(const struct leat_stub_table *table)
{
	entries = table;
}

void leat_stub_fill(struct leat_stub_table *table)
{
	*table = *entries;
}

uint8_t *leat_stub_write(struct leat_stub_code *code, const struct leat_patch_site *site)
{
	uint8_t *start = code->at;

	switch (site->kind) {
	case LEAT_PATCH_READ:
		write_read(code, site);
		break;
	case LEAT_PATCH_ANY:
		write_any(code, site);
		break;
	case LEAT_PATCH_EXIT:
		write_exit(code, site);
		break;
	default:
		if (leat_call_class[site->nr] & LEAT_CALL_CLONE)
			write_clone(code, site);
		else
			write_number(code, site);
	}
	return start;
}

bool leat_stub_jump(uint8_t jump[LEAT_JUMP_SIZE], const uint8_t *from, const uint8_t *to)
{
	struct leat_stub_code code = {jump, jump + LEAT_JUMP_SIZE, false, NULL};
	intptr_t distance = to - (from + LEAT_JUMP_SIZE);

	PUT(&code, 0xe9); /* jmp to */
	put32(&code, (uint32_t)distance);
	return distance == (int32_t)distance;
}
