/* Finds "mov $nr,%eax; syscall" and its few variants by their bytes: glibc's compiler puts the
 * number right before most calls, at most with some loads of arguments between. What looks
 * otherwise is judged by the whole of its function, and whatever cannot be read is reported. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/engine/calls.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/judge_x86_64.h"
#include "preload/engine/scan_x86_64.h"

#define MAX_LOADS 24 /* bytes of argument loads between number and call */
#define SYSCALL_SIZE 2

static int add_site(struct leat_patch_sites *sites, uint8_t *patch, uint8_t *call, unsigned nr,
		    enum leat_patch_kind kind)
{
	if (sites->count == LEAT_MAX_SITES)
		return -E2BIG;
	sites->site[sites->count++] =
		(struct leat_patch_site){patch, call, (uint16_t)nr, (uint16_t)kind, false};
	return 0;
}

/* Length of the instruction at `p` if it only loads an argument register from a constant, another
 * register or the stack, so that it means the same in a stub; else 0. */
static size_t load_length(const uint8_t *p)
{
	size_t prefix = (p[0] & 0xf0) == 0x40; /* REX */
	bool extends_reg = prefix && (p[0] & 0x04);
	bool extends_rm = prefix && (p[0] & 0x01);
	uint8_t op = p[prefix], mod = p[prefix + 1] >> 6;
	uint8_t reg = (p[prefix + 1] >> 3) & 7, rm = p[prefix + 1] & 7;

	if (op == 0x89 && mod == 3 && (extends_rm || (rm != 0 && rm != 4))) /* mov %reg,%rm */
		return prefix + 2;
	if (op == 0x31 && mod == 3 && reg == rm && reg != 0) /* xor %reg,%reg */
		return prefix + 2;
	if (op >= 0xb9 && op <= 0xbf && op != 0xbc && !(prefix && (p[0] & 0x08))) /* mov $i,%reg */
		return prefix + 5;
	if (op == 0x8b && mod == 1 && rm == 4 && p[prefix + 2] == 0x24 &&
	    (extends_reg || (reg != 0 && reg != 4))) /* mov d8(%rsp),%reg */
		return prefix + 4;
	return 0;
}

static bool only_loads(const uint8_t *from, const uint8_t *to)
{
	while (from < to) {
		size_t length = load_length(from);

		if (length == 0)
			return false;
		from += length;
	}
	return from == to;
}

/* "mov $nr,%eax" (and not "mov $nr,%r8d" or the like) with nothing but loads up to the call. 1: it
 * is there. */
static int find_number(uint8_t *text, uint8_t *call, struct leat_patch_sites *sites)
{
	for (size_t loads = 0; loads <= MAX_LOADS; loads++) {
		uint8_t *mov = call - loads - LEAT_JUMP_SIZE;
		int error = 0;

		if (mov <= text)
			return 0;
		if (mov[0] != 0xb8 || (mov[-1] & 0xf0) == 0x40)
			continue;
		uint32_t nr = leat_code_load32(mov + 1);

		if (nr >= LEAT_CALLS || !only_loads(mov + 5, call))
			continue;
		if (leat_call_class[nr])
			error = add_site(sites, mov, call, nr, LEAT_PATCH_NUMBER);
		return error ? error : 1;
	}
	return 0;
}

/* Does a jump near the site lead into it, to `target`? Jumps of a function into its own middle are
 * short; the bytes are not decoded, so this may see a jump where there is none. */
static bool is_jumped_to(const uint8_t *text, const uint8_t *end, const uint8_t *target)
{
	const uint8_t *from = target - text > 130 ? target - 130 : text;
	const uint8_t *to = end - target > 134 ? target + 128 : end - 6;

	for (const uint8_t *p = from; p < to; p++) {
		bool is_short = (p[0] & 0xf0) == 0x70 || p[0] == 0xeb || (p[0] & 0xfc) == 0xe0;
		bool is_far = p[0] == 0xe9 || (p[0] == 0x0f && (p[1] & 0xf0) == 0x80);
		size_t opcode = p[0] == 0x0f ? 2 : 1;

		if (is_short && p + 2 + (int8_t)p[1] == target)
			return true;
		if (is_far && p + opcode + 4 + (int32_t)leat_code_load32(p + opcode) == target)
			return true;
	}
	return false;
}

/* read() is number 0, which compilers make with a 2-byte xor. There is no space for a jump before
 * the call, unless the load before the xor can be taken along; else the call itself and the
 * comparison after it give way. */
static int find_read(uint8_t *text, uint8_t *end, uint8_t *call, struct leat_patch_sites *sites)
{
	static const uint8_t compare[] = {0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff};
	uint8_t * xor = call - 2, *load = xor-4, *after = call + SYSCALL_SIZE;

	if (load <= text || after + sizeof compare > end || xor[0] != 0x31 || xor[1] != 0xc0)
		return 0;
	if (load[0] == 0x8b && load[1] == 0x7c && load[2] == 0x24 && (load[-1] & 0xf0) != 0x40 &&
	    !is_jumped_to(text, end, xor))
		return add_site(sites, load, call, SYS_read, LEAT_PATCH_READ_AFTER_LOAD);
	if (memcmp(after, compare, sizeof compare) != 0 || is_jumped_to(text, end, call) ||
	    is_jumped_to(text, end, after))
		return 0;
	return add_site(sites, xor, NULL, SYS_read, LEAT_PATCH_READ);
}

/* By what its function does before it. */
static int judge(const struct leat_code *code, uint8_t *call, struct leat_patch_sites *sites)
{
	struct leat_patch_site site;

	switch (leat_judge(code, call, &site)) {
	case LEAT_SITE:
		if (sites->count == LEAT_MAX_SITES)
			return -E2BIG;
		sites->site[sites->count++] = site;
		return 0;
	case LEAT_UNREADABLE:
		return -ENOEXEC;
	case LEAT_UNCERTAIN:
		if (leat_code_is_text(code, call))
			return -ENOEXEC;
		return 0;
	default:
		return 0;
	}
}

/* The quick way first, which is right for what is made by glibc's compiler. */
static int look_at_libc(const struct leat_code *code, uint8_t *call, struct leat_patch_sites *sites)
{
	size_t before = sites->count;
	int error = find_number(code->text, call, sites);

	if (error)
		return error < 0 ? error : 0;
	error = find_read(code->text, code->text + code->size, call, sites);
	return error || sites->count > before ? error : judge(code, call, sites);
}

int leat_look_at(const struct leat_code *code, uint8_t *call, struct leat_patch_sites *sites)
{
	size_t before = sites->count;
	int error;

	if (code->is_libc)
		return look_at_libc(code, call, sites);
	error = judge(code, call, sites);
	if (error != -ENOEXEC || !leat_code_function(code, call, &(const uint8_t *){NULL}))
		return error;
	error = find_read(code->text, code->text + code->size, call, sites);
	return error || sites->count > before ? error : -ENOEXEC;
}

bool leat_look_for_jump(const struct leat_code *code, const struct leat_patch_sites *sites,
			size_t first, const uint8_t *distance)
{
	const uint8_t *target = distance + 4 + (int32_t)leat_code_load32(distance), *start, *end;
	size_t low = first, high = sites->count;

	while (low < high) { /* the first site whose call is not before the target */
		size_t middle = (low + high) / 2;
		const uint8_t *call = leat_scan_call(&sites->site[middle]);

		if (call < target)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sites->count || !sites->site[low].is_moved || target <= sites->site[low].patch)
		return false;
	start = leat_code_function(code, sites->site[low].patch, &end);
	return !start || distance < start || distance >= end; /* its own are known */
}

bool leat_scan_at(const struct leat_code *code, size_t offset, struct leat_patch_sites *sites)
{
	size_t before = sites->count;
	uint8_t *call = code->text + offset;

	return offset + SYSCALL_SIZE <= code->size && call[0] == 0x0f && call[1] == 0x05 &&
	       leat_look_at(code, call, sites) == 0 && sites->count == before + 1;
}

const uint8_t *leat_scan_call(const struct leat_patch_site *site)
{
	/* the only one that overwrites it: xor %eax,%eax comes before */
	return site->kind == LEAT_PATCH_READ ? site->patch + 2 : site->call;
}

int leat_scan_exit(uint8_t *function, struct leat_patch_sites *sites)
{
	/* the number is loaded at the top, outside the loop around the call */
	for (uint8_t *p = function; p < function + 32; p++)
		if (p[0] >= 0xb9 && p[0] <= 0xbf && p[0] != 0xbc && p[0] != 0xbf &&
		    leat_code_load32(p + 1) == SYS_exit_group &&
		    (p == function || (p[-1] & 0xf0) != 0x40))
			return add_site(sites, p, NULL, SYS_exit_group, LEAT_PATCH_EXIT);
	return -ENOENT;
}
