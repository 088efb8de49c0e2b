/* The instructions of one function and the jumps between them. */
#ifndef LEAT_PRELOAD_ENGINE_FLOW_X86_64_H
#define LEAT_PRELOAD_ENGINE_FLOW_X86_64_H

#include "base/decode_x86_64.h"

#define LEAT_FLOW_INSNS 8192
#define LEAT_FLOW_JUMPS 2048

struct leat_code_flow {
	const uint8_t *start, *end;
	bool is_whole; /* all of it has been read */
	size_t count, jumps;
	uint32_t at[LEAT_FLOW_INSNS];    /* from the start */
	uint32_t from[LEAT_FLOW_JUMPS];  /* index of a jump within the function */
	uint32_t to[LEAT_FLOW_JUMPS];    /* where it leads, from the start */
	uint16_t seen[LEAT_FLOW_INSNS];  /* a bit for each register */
	uint32_t stack[LEAT_FLOW_INSNS]; /* 16 * index + register */
};

/* Read the function, unless it is the one that was read last: it must not change until all of its
 * calls have been looked at. `flow` starts as 0. False: it is too long, or not all of it is code.
 */
bool leat_flow_read(struct leat_code_flow *flow, const uint8_t *start, const uint8_t *end);

/* The index of the instruction at `at`; the count: there is none. */
size_t leat_flow_find(const struct leat_code_flow *flow, const uint8_t *at);

/* Does a jump lead into (`from`, `to`]? */
bool leat_flow_is_entered(const struct leat_code_flow *flow, const uint8_t *from,
			  const uint8_t *to);

/* Is rax a known number whenever the instruction at `call` is reached, and one that `is_harmless`
 * says yes to? */
bool leat_flow_is_harmless(struct leat_code_flow *flow, const uint8_t *call,
			   bool (*is_harmless)(uint32_t number));

#endif
