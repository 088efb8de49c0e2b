/* A function is read from its beginning to its end, which is exact; code without unwind tables is
 * read from several places before the call, which nearly always meet soon. */
#include "preload/engine/judge_x86_64.h"

#include "base/decode_x86_64.h"
#include "preload/engine/calls.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/flow_x86_64.h"
#include "preload/engine/scan_x86_64.h"

#include <sys/syscall.h>

enum {
	MAX_PATH = 16,  /* instructions before the call that are looked at */
	MAX_MOVED = 48, /* bytes that a stub takes along */
	STARTS = 16,    /* so many places to read from, without unwind tables */
	AHEAD = 64,     /* so many bytes before */
	ENOUGH = 10,    /* of them have to lead to the call: tables of constants got 8 once */
	NEAR = 256,     /* bytes around a call that is in no function */
};

/* The way to the call: the last instructions before it. */
struct path {
	const struct leat_code *code;
	const uint8_t *start, *end; /* of the function, or of what is nearby */
	bool is_function;
	const struct leat_code_flow *flow; /* NULL: the function could not be read */
	size_t count;
	struct leat_insn insn[MAX_PATH];
};

/* Does code read from `at` come to the call? */
static bool follow(struct path *path, const uint8_t *at, const uint8_t *call)
{
	const uint8_t *last[MAX_PATH];
	struct leat_insn insn;
	size_t n = 0, first;

	for (; at < call && leat_decode(&insn, at, path->end); at += insn.length)
		last[n++ % MAX_PATH] = at;
	if (at != call)
		return false;
	first = n > MAX_PATH ? n - MAX_PATH : 0;
	path->count = n - first;
	for (size_t i = 0; i < path->count; i++)
		leat_decode(&path->insn[i], last[(first + i) % MAX_PATH], path->end);
	return true;
}

/* The same with what is known of the function. */
static bool follow_flow(struct path *path, const uint8_t *call)
{
	size_t n = leat_flow_find(path->flow, call), first = n > MAX_PATH ? n - MAX_PATH : 0;

	if (n == path->flow->count)
		return false;
	path->count = n - first;
	for (size_t i = 0; i < path->count; i++)
		leat_decode(&path->insn[i], path->start + path->flow->at[first + i], path->end);
	return true;
}

static bool follow_from_many(struct path *path, const uint8_t *call)
{
	unsigned arrived = 0;

	for (size_t i = 0; i < STARTS; i++) {
		size_t before = AHEAD - i;

		if ((size_t)(call - path->code->text) >= before &&
		    follow(path, call - before, call))
			arrived++;
	}
	return arrived >= ENOUGH && path->count > 0;
}

static bool find_path(struct path *path, const uint8_t *call)
{
	const struct leat_code *code = path->code;
	const uint8_t *last = code->text + code->size;

	path->start = leat_code_function(code, call, &path->end);
	path->is_function = path->start != NULL;
	if (path->is_function) {
		if (!leat_flow_read(code->space, path->start, path->end))
			return follow(path, path->start, call);
		path->flow = code->space;
		return follow_flow(path, call);
	}
	path->start = call - code->text > NEAR ? call - NEAR : code->text;
	path->end = last - call > NEAR ? call + NEAR : last;
	return follow_from_many(path, call);
}

/* Does a jump lead into (`from`, `to`]? */
static bool is_entered(const struct path *path, const uint8_t *from, const uint8_t *to)
{
	if (path->flow)
		return leat_flow_is_entered(path->flow, from, to);
	return leat_code_is_entered(path->start, path->end, from, to);
}

static bool is_condition(const struct leat_insn *insn)
{
	return (insn->opcode >= 0x70 && insn->opcode <= 0x7f) ||
	       (insn->opcode >= 0x180 && insn->opcode <= 0x18f);
}

/* The instruction that sets rax to a constant on the straight way to the call. NULL: none. */
static const struct leat_insn *find_constant(const struct path *path, uint32_t *number)
{
	for (size_t i = path->count; i-- > 0;) {
		const struct leat_insn *insn = &path->insn[i];

		if (leat_decode_sets_number(insn, 0, number))
			return insn;
		if (!leat_decode_keeps(insn, 0) && !is_condition(insn))
			return NULL;
	}
	return NULL;
}

static bool is_harmless(uint32_t number)
{
	/* _exit is found by its name */
	return number >= LEAT_CALLS || !leat_call_class[number] ||
	       leat_call_class[number] & LEAT_CALL_EXIT;
}

static bool can_move(const struct leat_insn *insn)
{
	return !insn->is_flow && !insn->is_relative;
}

static struct leat_patch_site site_at(const struct leat_insn *insn, uint8_t *call, uint32_t number,
				      enum leat_patch_kind kind)
{
	return (struct leat_patch_site){call - (call - insn->at), call, (uint16_t)number,
					(uint16_t)kind, true};
}

/* "mov $number,%eax" is as long as a jump. */
static bool is_patchable(const struct path *path, const struct leat_insn *mov, const uint8_t *call)
{
	if (mov->opcode != 0xb8 || mov->length != LEAT_JUMP_SIZE || call - mov->at > MAX_MOVED)
		return false;
	for (const struct leat_insn *i = mov + 1; i < path->insn + path->count; i++)
		if (!can_move(i))
			return false;
	return !is_entered(path, mov->at, call);
}

/* The instructions before the call that make space for a jump. NULL: they do not. */
static const struct leat_insn *find_space(const struct path *path, const uint8_t *call)
{
	for (size_t i = path->count; i-- > 0 && can_move(&path->insn[i]);) {
		const struct leat_insn *insn = &path->insn[i];

		if (call - insn->at > MAX_MOVED)
			return NULL;
		if (call - insn->at >= LEAT_JUMP_SIZE)
			return is_entered(path, insn->at, call) ? NULL : insn;
	}
	return NULL;
}

enum leat_verdict leat_judge(const struct leat_code *code, uint8_t *call,
			     struct leat_patch_site *site)
{
	const struct leat_insn *mov, *start;
	struct path path = {.code = code};
	uint32_t number = 0;

	if (!find_path(&path, call))
		return LEAT_NO_CALL;
	mov = find_constant(&path, &number);
	if (mov && is_harmless(number) && !is_entered(&path, mov->at, call))
		return LEAT_NOT_OURS;
	if (path.flow && leat_flow_is_harmless(code->space, call, is_harmless))
		return LEAT_NOT_OURS;
	if (!path.is_function)
		return LEAT_UNCERTAIN;
	if (mov && is_patchable(&path, mov, call)) {
		*site = site_at(mov, call, number, LEAT_PATCH_NUMBER);
		return LEAT_SITE;
	}
	start = find_space(&path, call);
	if (!start)
		return LEAT_UNREADABLE;
	*site = site_at(start, call, 0, LEAT_PATCH_ANY);
	return LEAT_SITE;
}
