/* What is made of the two bytes of a system call instruction found in some code. */
#ifndef LEAT_PRELOAD_ENGINE_JUDGE_X86_64_H
#define LEAT_PRELOAD_ENGINE_JUDGE_X86_64_H

#include "preload/engine/code_x86_64.h"
#include "preload/engine/scan_x86_64.h"

enum leat_verdict {
	LEAT_NO_CALL,    /* part of another instruction */
	LEAT_NOT_OURS,   /* a call that the hooks need not see */
	LEAT_SITE,       /* one that can be patched */
	LEAT_UNREADABLE, /* which call it is cannot be known, or it cannot be patched */
	LEAT_UNCERTAIN,  /* the same, if this is code at all: no function is known here */
};

/* Judge what is at `call`; LEAT_SITE: *site says how to patch it. Reads only. */
enum leat_verdict leat_judge(const struct leat_code *code, uint8_t *call,
			     struct leat_patch_site *site);

#endif
