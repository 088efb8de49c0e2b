/* Reading machine code: how long an instruction is, and the little else that matters around a
 * system call. */
#ifndef LEAT_BASE_DECODE_X86_64_H
#define LEAT_BASE_DECODE_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_insn {
	const uint8_t *at;
	const uint8_t *target; /* of a jump or call with a fixed one; else NULL */
	uint32_t immediate;    /* its last 4 bytes at most */
	uint16_t opcode;       /* 0x100 and above: after 0x0f; 0x200: anything with a longer one */
	uint8_t length;
	uint8_t rex;
	uint8_t modrm;    /* if it has one */
	bool has_modrm;   /* else it is 0 */
	bool is_flow;     /* it may go on elsewhere than behind itself */
	bool is_relative; /* it names an address by the distance from itself */
};

/* The instruction at `at`, which ends before `end`. False: none that 64-bit code would have. */
bool leat_decode(struct leat_insn *insn, const uint8_t *at, const uint8_t *end);

/* Does it leave the register as it was? False: it changes it, or may. */
bool leat_decode_keeps(const struct leat_insn *insn, unsigned reg);

/* "mov $number,%reg", or a zero made by xor. */
bool leat_decode_sets_number(const struct leat_insn *insn, unsigned reg, uint32_t *number);

/* The register that is copied into `reg`; -1: none is. */
int leat_decode_copies(const struct leat_insn *insn, unsigned reg);

#endif
