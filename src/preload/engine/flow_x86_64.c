#include "preload/engine/flow_x86_64.h"

#include "base/decode_x86_64.h"

#include <string.h>

enum { REGISTERS = 16 };

static bool add_jump(struct leat_code_flow *flow, const struct leat_insn *insn)
{
	if (insn->target < flow->start || insn->target >= flow->end)
		return true;
	if (flow->jumps == LEAT_FLOW_JUMPS)
		return false;
	flow->from[flow->jumps] = (uint32_t)flow->count;
	flow->to[flow->jumps++] = (uint32_t)(insn->target - flow->start);
	return true;
}

bool leat_flow_read(struct leat_code_flow *flow, const uint8_t *start, const uint8_t *end)
{
	struct leat_insn insn;

	if (flow->is_whole && flow->start == start && flow->end == end)
		return true; /* the next call of the same function */
	flow->is_whole = false;
	flow->start = start;
	flow->end = end;
	flow->count = flow->jumps = 0;
	for (const uint8_t *at = start; at < end; at += insn.length) {
		if (flow->count == LEAT_FLOW_INSNS || !leat_decode(&insn, at, end))
			return false;
		if (insn.target && insn.opcode != 0xe8 && !add_jump(flow, &insn))
			return false;
		flow->at[flow->count++] = (uint32_t)(at - start);
	}
	flow->is_whole = true;
	return true;
}

bool leat_flow_is_entered(const struct leat_code_flow *flow, const uint8_t *from, const uint8_t *to)
{
	for (size_t i = 0; i < flow->jumps; i++)
		if (flow->start + flow->to[i] > from && flow->start + flow->to[i] <= to)
			return true;
	return false;
}

size_t leat_flow_find(const struct leat_code_flow *flow, const uint8_t *at)
{
	size_t low = 0, high = flow->count;
	uint32_t offset = (uint32_t)(at - flow->start);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (flow->at[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->count && flow->at[low] == offset ? low : flow->count;
}

static void load(const struct leat_code_flow *flow, size_t i, struct leat_insn *insn)
{
	leat_decode(insn, flow->start + flow->at[i], flow->end);
}

static bool is_call(const struct leat_insn *insn)
{
	return insn->opcode == 0xe8 || (insn->opcode == 0xff && ((insn->modrm >> 3) & 6) == 2);
}

/* Does what follows it run after it? */
static bool falls_through(const struct leat_insn *insn)
{
	bool is_condition = (insn->opcode >= 0x70 && insn->opcode <= 0x7f) ||
			    (insn->opcode >= 0x180 && insn->opcode <= 0x18f) ||
			    (insn->opcode >= 0xe0 && insn->opcode <= 0xe3);

	return !insn->is_flow || is_condition || is_call(insn) || insn->opcode == 0x105;
}

static bool is_padding(const struct leat_insn *insn)
{
	return insn->opcode == 0x11f || (insn->opcode == 0x90 && !(insn->rex & 1));
}

static bool keeps(const struct leat_insn *insn, unsigned reg)
{
	enum { RAX, RCX, RDX, R11 = 11 };

	/* What a function may change nobody uses afterwards, unless the compiler knows better. */
	if (is_call(insn))
		return reg != RAX && reg != RDX;
	if (insn->opcode == 0x105)
		return reg != RAX && reg != RCX && reg != R11;
	return insn->is_flow || leat_decode_keeps(insn, reg);
}

struct search {
	struct leat_code_flow *flow;
	size_t waiting;
};

static void push(struct search *s, size_t i, unsigned reg)
{
	if (s->flow->seen[i] & (1u << reg))
		return;
	s->flow->seen[i] |= (uint16_t)(1u << reg);
	if (s->waiting < LEAT_FLOW_INSNS)
		s->flow->stack[s->waiting] = (uint32_t)(i * REGISTERS + reg);
	s->waiting++;
}

/* What may run before instruction `i`, `insn`, which asks for `reg`. False: not all of it is
 * known. */
static bool push_before(struct search *s, size_t i, const struct leat_insn *insn, unsigned reg)
{
	struct leat_code_flow *flow = s->flow;
	struct leat_insn before;
	bool found = false;

	if (i == 0)
		return false; /* the caller's */
	for (size_t k = 0; k < flow->jumps; k++) {
		if (flow->to[k] != flow->at[i])
			continue;
		push(s, flow->from[k], reg);
		found = true;
	}
	load(flow, i - 1, &before);
	if (falls_through(&before)) {
		push(s, i - 1, reg);
		found = true;
	}
	return found || is_padding(insn); /* nothing comes to padding behind a jump */
}

/* The value of `reg` after instruction `i`. */
static bool look_back(struct search *s, size_t i, unsigned reg, bool (*is_harmless)(uint32_t))
{
	struct leat_insn insn;
	uint32_t number;
	int from;

	load(s->flow, i, &insn);
	if (leat_decode_sets_number(&insn, reg, &number))
		return is_harmless(number);
	from = leat_decode_copies(&insn, reg);
	if (from >= 0)
		return push_before(s, i, &insn, (unsigned)from);
	return keeps(&insn, reg) && push_before(s, i, &insn, reg);
}

bool leat_flow_is_harmless(struct leat_code_flow *flow, const uint8_t *call,
			   bool (*is_harmless)(uint32_t))
{
	struct search s = {flow, 0};
	struct leat_insn insn;
	size_t i = leat_flow_find(flow, call);

	if (i == flow->count)
		return false;
	memset(flow->seen, 0, flow->count * sizeof *flow->seen);
	load(flow, i, &insn);
	if (!push_before(&s, i, &insn, 0))
		return false;
	while (s.waiting > 0) {
		uint32_t next;

		if (s.waiting > LEAT_FLOW_INSNS)
			return false;
		next = flow->stack[--s.waiting];
		if (!look_back(&s, next / REGISTERS, next % REGISTERS, is_harmless))
			return false;
	}
	return true;
}
