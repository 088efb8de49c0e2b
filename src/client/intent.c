#include "client/intent.h"

#ifdef __x86_64__
#include "base/decode_x86_64.h"

#include <string.h>
#include <sys/stat.h>

enum {
	AND_EAX = 0x25,
	CMP_EAX = 0x3d,
	JUMP = 0xe9,
	JUMP_SHORT = 0xeb,
	CALL = 0xe8,
	IMMEDIATE = 0x81, /* by the middle bits of modrm: add, or, ..., and, ..., cmp */
	LOAD = 0x8b,
	MOVE = 0xb8, /* and seven more */
	POINTER = 0xff,
};

static unsigned form_of(const struct leat_insn *insn)
{
	return insn->modrm >> 3 & 7;
}

/* Does what follows it run only when somebody jumps there? */
static bool ends_path(const struct leat_insn *insn)
{
	if (!insn->is_flow || insn->opcode == CALL)
		return false;
	if (insn->opcode == POINTER)
		return form_of(insn) > 3;
	return !insn->target || insn->opcode == JUMP || insn->opcode == JUMP_SHORT;
}

/* The code behind the call as it runs if no condition leads elsewhere. */
struct path {
	const uint8_t *at, *end;
};

static bool next(struct path *p, struct leat_insn *insn)
{
	if (p->at >= p->end || !leat_decode(insn, p->at, p->end) || ends_path(insn))
		return false;
	p->at += insn->length;
	return true;
}

static bool is_mask(const struct leat_insn *insn)
{
	return insn->immediate == S_IFMT &&
	       (insn->opcode == AND_EAX || (insn->opcode == IMMEDIATE && form_of(insn) == 4) ||
		(insn->opcode >= MOVE && insn->opcode < MOVE + 8));
}

static bool is_compared(const struct leat_insn *insn, uint32_t number)
{
	return insn->immediate == number &&
	       (insn->opcode == CMP_EAX || (insn->opcode == IMMEDIATE && form_of(insn) == 7));
}

/* Where on the stack, or by a pointer, a load finds its value. */
static bool is_load(const struct leat_insn *insn, int32_t *place)
{
	const uint8_t *end = insn->at + insn->length;
	const unsigned mode = insn->modrm >> 6;

	if (insn->opcode != LOAD || mode == 3)
		return false;
	*place = mode == 1 ? (int8_t)end[-1] : 0;
	if (mode == 2)
		memcpy(place, end - sizeof(*place), sizeof(*place));
	return true;
}

enum { NEAR = 2 };

/* Follow the path until the kind of the file has been compared with `kind`. *mode: where it was. */
static bool is_kind_compared(struct path *p, uint32_t kind, int32_t *mode)
{
	struct leat_insn insn;
	unsigned since = NEAR + 1; /* the mask was applied */

	while (next(p, &insn)) {
		is_load(&insn, mode);
		if (since <= NEAR && is_compared(&insn, kind))
			return true;
		since = is_mask(&insn) ? 0 : since + (since <= NEAR);
	}
	return false;
}

bool leat_intent_is_kind(const uint8_t *code, size_t size)
{
	struct path p = {code, code + size};
	int32_t mode = 0;

	return is_kind_compared(&p, S_IFDIR, &mode);
}

/* 0 < st_blksize < BUFSIZ, in one comparison. */
enum { BLOCK_RANGE = 8190 };

bool leat_intent_is_buffer(const uint8_t *code, size_t size)
{
	const int32_t apart = (int32_t)offsetof(struct stat, st_blksize) -
			      (int32_t)offsetof(struct stat, st_mode);
	struct path p = {code, code + size};
	int32_t mode = INT32_MIN, block = INT32_MIN;
	struct leat_insn insn;

	if (!is_kind_compared(&p, S_IFCHR, &mode) || mode == INT32_MIN)
		return false;
	while (next(&p, &insn)) {
		if (is_load(&insn, &block) && block != mode + apart)
			return false;
		if (is_compared(&insn, BLOCK_RANGE))
			return block == mode + apart;
	}
	return false;
}

#else
bool leat_intent_is_kind(const uint8_t *code, size_t size)
{
	(void)code;
	(void)size;
	return false;
}

bool leat_intent_is_buffer(const uint8_t *code, size_t size)
{
	(void)code;
	(void)size;
	return false;
}
#endif
