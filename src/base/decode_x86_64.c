#include "base/decode_x86_64.h"

#include <string.h>

/* What follows an opcode. */
enum {
	N,  /* nothing */
	M,  /* a modrm byte, and what that brings */
	B,  /* one byte */
	Z,  /* four bytes, two with the prefix 0x66 */
	W,  /* two bytes */
	E,  /* three: enter */
	V,  /* eight with REX.W, else as Z: mov to a register */
	O,  /* an address of eight bytes */
	J,  /* a distance of one byte */
	L,  /* a distance of four */
	MB, /* M and B */
	MZ, /* M and Z */
	MT, /* M, and B or Z if it is a test: 0xf6, 0xf7 */
	P,  /* a prefix */
	X,  /* no instruction */
};

static const uint8_t one_byte[256] = {
	M,  M,  M, M,  B, Z, X,  X,  M, M,  M, M,  B, Z, X, X, /* 00: add, or */
	M,  M,  M, M,  B, Z, X,  X,  M, M,  M, M,  B, Z, X, X, /* 10 */
	M,  M,  M, M,  B, Z, P,  X,  M, M,  M, M,  B, Z, P, X, /* 20 */
	M,  M,  M, M,  B, Z, P,  X,  M, M,  M, M,  B, Z, P, X, /* 30 */
	P,  P,  P, P,  P, P, P,  P,  P, P,  P, P,  P, P, P, P, /* 40: REX */
	N,  N,  N, N,  N, N, N,  N,  N, N,  N, N,  N, N, N, N, /* 50: push, pop */
	X,  X,  X, M,  P, P, P,  P,  Z, MZ, B, MB, N, N, N, N, /* 60 */
	J,  J,  J, J,  J, J, J,  J,  J, J,  J, J,  J, J, J, J, /* 70 */
	MB, MZ, X, MB, M, M, M,  M,  M, M,  M, M,  M, M, M, M, /* 80 */
	N,  N,  N, N,  N, N, N,  N,  N, N,  X, N,  N, N, N, N, /* 90 */
	O,  O,  O, O,  N, N, N,  N,  B, Z,  N, N,  N, N, N, N, /* a0 */
	B,  B,  B, B,  B, B, B,  B,  V, V,  V, V,  V, V, V, V, /* b0 */
	MB, MB, W, N,  X, X, MB, MZ, E, N,  W, N,  N, B, X, N, /* c0 */
	M,  M,  M, M,  X, X, X,  N,  M, M,  M, M,  M, M, M, M, /* d0 */
	J,  J,  J, J,  B, B, B,  B,  L, L,  X, J,  N, N, N, N, /* e0 */
	P,  N,  P, P,  N, N, MT, MT, N, N,  N, N,  N, N, M, M, /* f0 */
};

/* Sixteen opcodes that are alike. */
#define ROW(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x

/* after 0x0f */
static const uint8_t two_bytes[256] = {
	M,      M,  M,  M,  X,  N,  N,  N,
	N,      N,  X,  N,  X,  M,  N,  MB, /* 00 */
	ROW(M),                             /* 10 */
	M,      M,  M,  M,  X,  X,  X,  X,
	M,      M,  M,  M,  M,  M,  M,  M, /* 20 */
	N,      N,  N,  N,  N,  N,  X,  N,
	X,      X,  X,  X,  X,  X,  X,  X, /* 30: 38 and 3a have opcodes of 3 bytes */
	ROW(M),                            /* 40 */
	ROW(M),                            /* 50 */
	ROW(M),                            /* 60 */
	MB,     MB, MB, MB, M,  M,  M,  N,
	M,      M,  X,  X,  M,  M,  M,  M, /* 70 */
	ROW(L),                            /* 80 */
	ROW(M),                            /* 90 */
	N,      N,  N,  M,  MB, M,  X,  X,
	N,      N,  N,  M,  MB, M,  M,  M, /* a0 */
	M,      M,  M,  M,  M,  M,  M,  M,
	M,      M,  MB, M,  M,  M,  M,  M, /* b0 */
	M,      M,  MB, M,  MB, MB, MB, M,
	N,      N,  N,  N,  N,  N,  N,  N, /* c0 */
	ROW(M),                            /* d0 */
	ROW(M),                            /* e0 */
	ROW(M),                            /* f0 */
};

enum { MAX_LENGTH = 15, LONGER = 0x200 };

struct reader {
	const uint8_t *at, *end;
	bool is_short; /* the prefix 0x66 */
};

static uint8_t peek(const struct reader *r, size_t n)
{
	return r->at + n < r->end ? r->at[n] : 0;
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

static void read_prefixes(struct reader *r, struct leat_insn *insn)
{
	bool has_rex = is_rex(peek(r, 0)); /* most have one or none */

	insn->rex = has_rex ? *r->at : 0;
	r->at += has_rex;
	while (r->at < r->end && one_byte[*r->at] == P) {
		if (*r->at == 0x66)
			r->is_short = true;
		insn->rex = is_rex(*r->at) ? *r->at : 0; /* counts only right before the opcode */
		r->at++;
	}
}

/* VEX and EVEX: 0xc5, 0xc4, 0x62 with one, two or three bytes before the opcode. */
static uint8_t read_vector(struct reader *r, struct leat_insn *insn)
{
	uint8_t first = *r->at, map = first == 0xc5 ? 1 : peek(r, 1) & (first == 0xc4 ? 0x1f : 7);
	uint8_t opcode;

	r->at += first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
	opcode = peek(r, 0);
	r->at++;
	insn->opcode = LONGER;
	if (map == 0 || (map > 3 && map != 5 && map != 6))
		return X;
	if (map == 1 && two_bytes[opcode] != N)
		return two_bytes[opcode] == MB ? MB : M;
	if (map == 1)
		return N;
	return map == 3 ? MB : M;
}

/* What follows the opcode, which is skipped. */
static uint8_t read_opcode(struct reader *r, struct leat_insn *insn)
{
	uint8_t first = peek(r, 0), second = peek(r, 1);

	if (first == 0xc4 || first == 0xc5 || first == 0x62)
		return read_vector(r, insn);
	r->at++;
	insn->opcode = first;
	if (first != 0x0f)
		return one_byte[first];
	r->at++;
	insn->opcode = 0x100 | second;
	if (second != 0x38 && second != 0x3a)
		return two_bytes[second];
	r->at++;
	insn->opcode = LONGER;
	return second == 0x3a ? MB : M;
}

static void read_modrm(struct reader *r, struct leat_insn *insn)
{
	/* By mod and rm: the byte for rm 4, and the distance. */
	static const uint8_t behind[32] = {0, 0, 0, 0, 1, 4, 0, 0, 1, 1, 1, 1, 2, 1, 1, 1,
					   4, 4, 4, 4, 5, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0};
	uint8_t modrm = peek(r, 0), form = modrm & 0xc7;

	insn->modrm = modrm;
	insn->has_modrm = true;
	insn->is_relative = form == 5;
	r->at++;
	if (form == 4 && (peek(r, 0) & 7) == 5)
		r->at += 4;
	r->at += behind[((modrm >> 3) & 0x18) | (modrm & 7)];
}

/* A table where it is certain: jumps to one of many places cost more than all else here. */
static size_t size_of(uint8_t what, const struct reader *r, const struct leat_insn *insn)
{
	static const uint8_t sizes[] = {[B] = 1, [Z] = 4, [W] = 2,  [E] = 3,  [V] = 4, [O] = 8,
					[J] = 1, [L] = 4, [MB] = 1, [MZ] = 4, [X] = 0};
	bool is_long = insn->rex & 8;

	if (what == MT) { /* only its first two forms test */
		if (insn->modrm & 0x30)
			return 0;
		if (insn->opcode == 0xf6)
			return 1;
		what = MZ;
	}
	if (is_long && what == V)
		return 8;
	if (r->is_short && !is_long && (what == Z || what == MZ || what == V))
		return 2;
	return sizes[what];
}

static bool is_flow(const struct leat_insn *insn)
{
	uint16_t op = insn->opcode;
	uint8_t form = (insn->modrm >> 3) & 7;

	switch (op) {
	case 0xc2: /* returns */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcc: /* interrupts */
	case 0xcd:
	case 0xcf:
	case 0xf1:
	case 0xf4:
	case 0x105: /* system calls */
	case 0x107:
	case 0x10b:
	case 0x134:
	case 0x135:
		return true;
	case 0xff: /* calls and jumps by a pointer */
		return form >= 2 && form <= 5;
	case 0xc7: /* xbegin */
		return insn->modrm == 0xf8;
	default:
		return insn->target;
	}
}

static void read_immediate(struct leat_insn *insn, const uint8_t *at, size_t size, uint8_t what,
			   const uint8_t *end)
{
	uint32_t bytes = 0;

	if (end - at >= 4)
		memcpy(&bytes, at, 4);
	else
		for (size_t i = 0; i < size; i++)
			bytes |= (uint32_t)at[i] << 8 * i;
	insn->immediate = size < 4 ? bytes & ((1u << 8 * size) - 1) : bytes;
	if (what == J)
		insn->target = at + 1 + (int8_t)insn->immediate;
	else if (what == L)
		insn->target = at + 4 + (int32_t)insn->immediate;
}

bool leat_decode(struct leat_insn *insn, const uint8_t *at, const uint8_t *end)
{
	struct reader r = {at, end, false};
	uint8_t what;
	size_t size;

	*insn = (struct leat_insn){.at = at};
	read_prefixes(&r, insn);
	what = read_opcode(&r, insn);
	if (what == X || what == P)
		return false;
	if (what == M || what >= MB)
		read_modrm(&r, insn);
	size = size_of(what, &r, insn);
	if (r.at > end || size > (size_t)(end - r.at) || r.at + size > at + MAX_LENGTH)
		return false;
	read_immediate(insn, r.at, size, what, end);
	insn->length = (uint8_t)(r.at + size - at);
	insn->is_flow = is_flow(insn);
	insn->is_relative |= insn->target != NULL;
	return true;
}

/* ---- what becomes of registers ---- */

static unsigned reg_of(const struct leat_insn *insn)
{
	return ((insn->modrm >> 3) & 7) | (insn->rex & 4 ? 8 : 0);
}

/* The register that the other operand is; -1: it is memory. */
static int rm_of(const struct leat_insn *insn)
{
	if (insn->modrm >> 6 != 3)
		return -1;
	return (insn->modrm & 7) | (insn->rex & 1 ? 8 : 0);
}

static unsigned low_of(const struct leat_insn *insn)
{
	return (insn->opcode & 7) | (insn->rex & 1 ? 8u : 0);
}

/* Masks of registers. */
enum {
	NONE = 0,
	ANY = 0xffff,
	RAX = 1 << 0,
	RCX = 1 << 1,
	RDX = 1 << 2,
	RBX = 1 << 3,
	RSI = 1 << 6,
	RDI = 1 << 7
};

/* A byte may be the second of another register: ah to bh are named like rsp to rdi. */
static unsigned mask_of(int operand, bool is_byte)
{
	if (operand < 0)
		return NONE;
	return 1u << operand | (is_byte && operand >= 4 && operand < 8 ? 1u << (operand - 4) : 0);
}

struct operands {
	unsigned reg, rm, low;
};

/* add, or, adc, sbb, and, sub, xor, cmp: by their lower bits */
static unsigned arithmetic_writes(uint8_t op, const struct operands *o)
{
	if ((op & 0x38) == 0x38)
		return NONE; /* cmp */
	if ((op & 7) >= 4)
		return RAX;
	return (op & 7) >= 2 ? o->reg : o->rm;
}

static unsigned two_bytes_write(uint8_t op, const struct operands *o)
{
	if ((op >= 0x40 && op <= 0x4f) || (op >= 0xb6 && op <= 0xb8) ||
	    (op >= 0xbc && op <= 0xbf) || op == 0xaf || op == 0x50 || op == 0xd7 || op == 0xc5 ||
	    op == 0x2c || op == 0x2d)
		return o->reg; /* cmov, movzx, movsx, popcnt, bsf, imul, from vectors */
	if ((op >= 0x90 && op <= 0x9f) || op == 0x7e || op == 0xa4 || op == 0xa5 || op == 0xab ||
	    op == 0xac || op == 0xad || op == 0xb3 || op == 0xba || op == 0xbb)
		return o->rm; /* set, from vectors, shifts of two, changes of a bit */
	if (op >= 0xc8 && op <= 0xcf)
		return o->low; /* bswap */
	switch (op) {
	case 0x31: /* rdtsc */
		return RAX | RDX;
	case 0xa2: /* cpuid */
		return RAX | RBX | RCX | RDX;
	case 0xa3: /* bt */
	case 0x18: /* prefetch, endbr, nop */
	case 0x1e:
	case 0x1f:
		return NONE;
	case 0xb0: /* cmpxchg */
	case 0xb1:
		return o->rm | RAX;
	case 0xc0: /* xadd */
	case 0xc1:
		return o->rm | o->reg;
	default: /* vectors */
		return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) ||
				       (op >= 0x51 && op <= 0x7f) || op == 0xc2 || op == 0xc6 ||
				       op >= 0xd0
			       ? NONE
			       : ANY;
	}
}

static unsigned group_writes(uint8_t op, uint8_t form, const struct operands *o)
{
	if (op == 0xff || op == 0xfe) /* inc, dec, push */
		return form == 6 ? NONE : o->rm;
	if (form < 2) /* test */
		return NONE;
	return form < 4 ? o->rm : RAX | RDX; /* not, neg; mul, div */
}

static unsigned one_byte_writes(const struct leat_insn *insn, const struct operands *o)
{
	uint8_t op = (uint8_t)insn->opcode, form = (insn->modrm >> 3) & 7;

	if (op >= 0x50 && op <= 0x57)
		return NONE; /* push */
	if ((op >= 0x58 && op <= 0x5f) || (op >= 0xb0 && op <= 0xbf))
		return o->low; /* pop, mov */
	switch (op) {
	case 0x8a: /* mov and lea to a register, movslq, imul */
	case 0x8b:
	case 0x8d:
	case 0x63:
	case 0x69:
	case 0x6b:
		return o->reg;
	case 0x80: /* cmp with a constant writes nothing */
	case 0x81:
	case 0x83:
		return form == 7 ? NONE : o->rm;
	case 0x88: /* mov, pop, shifts */
	case 0x89:
	case 0x8f:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return o->rm;
	case 0x86: /* xchg */
	case 0x87:
		return o->rm | o->reg;
	case 0x68: /* push, test, pause and nop */
	case 0x6a:
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
		return NONE;
	case 0x90:
		return insn->rex & 1 ? ANY : NONE;
	case 0x98: /* cltq, cqto */
		return RAX;
	case 0x99:
		return RDX;
	case 0xa4: /* movs, stos */
	case 0xa5:
	case 0xaa:
	case 0xab:
		return RSI | RDI | RCX;
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return group_writes(op, form, o);
	default:
		return ANY;
	}
}

static unsigned writes_of(const struct leat_insn *insn)
{
	/* of the opcodes that are known, those with an even number are about bytes */
	bool is_byte = !(insn->opcode & 1) && !insn->rex;
	bool is_set = insn->opcode >= 0x190 && insn->opcode <= 0x19f && !insn->rex;
	struct operands o = {
		.reg = mask_of((int)reg_of(insn), is_byte && insn->opcode < 0x100),
		.rm = mask_of(rm_of(insn), is_byte || is_set),
		.low = mask_of((int)low_of(insn), insn->opcode >= 0xb0 && insn->opcode <= 0xb7),
	};

	if (insn->is_flow || insn->opcode >= LONGER)
		return ANY;
	if (insn->opcode >= 0x100)
		return two_bytes_write((uint8_t)insn->opcode, &o);
	if (insn->opcode < 0x40)
		return arithmetic_writes((uint8_t)insn->opcode, &o);
	return one_byte_writes(insn, &o);
}

bool leat_decode_keeps(const struct leat_insn *insn, unsigned reg)
{
	return !(writes_of(insn) & 1u << reg);
}

bool leat_decode_sets_number(const struct leat_insn *insn, unsigned reg, uint32_t *number)
{
	bool is_xor = (insn->opcode == 0x31 || insn->opcode == 0x33) && reg_of(insn) == reg &&
		      rm_of(insn) == (int)reg;
	bool is_mov = insn->opcode >= 0xb8 && insn->opcode <= 0xbf && low_of(insn) == reg;
	bool is_long = insn->opcode == 0xc7 && rm_of(insn) == (int)reg && insn->modrm != 0xf8;

	*number = is_xor ? 0 : insn->immediate;
	return is_xor || is_mov || is_long;
}

int leat_decode_copies(const struct leat_insn *insn, unsigned reg)
{
	if (insn->opcode == 0x89 && rm_of(insn) == (int)reg)
		return (int)reg_of(insn);
	if (insn->opcode == 0x8b && reg_of(insn) == reg)
		return rm_of(insn);
	return -1;
}
