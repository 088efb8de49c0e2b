#include "shm/roll.h"

#include <string.h>
#include <sys/wait.h>

/* An entry lies within so many of the place that its number gives: one page, mostly. */
enum { NEAR = 8 };

uint32_t leat_roll_step(const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash;
}

static struct leat_roll_entry *at(struct leat_roll *roll, uint64_t process, unsigned i)
{
	return &roll->entry[((uint32_t)process + i) % LEAT_ROLL_ENTRIES];
}

void leat_roll_touch(struct leat_roll *roll, uint64_t process)
{
	leat_word_add(&at(roll, process, 0)->process, 0);
}

static bool is_verdict(const struct leat_roll_entry *e)
{
	return leat_word_get(&e->state) >= LEAT_ROLL_NEVER;
}

struct leat_roll_entry *leat_roll_find(struct leat_roll *roll, uint64_t process)
{
	for (unsigned i = 0; i < NEAR; i++) {
		struct leat_roll_entry *e = at(roll, process, i);

		if (leat_word_get(&e->process) == process && !is_verdict(e))
			return e;
	}
	return NULL;
}

static uint32_t block_of(const struct leat_roll *roll, const struct leat_roll_entry *e)
{
	return UINT32_C(1) << (e - roll->entry) / LEAT_ROLL_BLOCK;
}

struct leat_roll_entry *leat_roll_next(struct leat_roll *roll, const struct leat_roll_entry *e)
{
	size_t i = e ? (size_t)(e - roll->entry) + 1 : 0;

	while (i < LEAT_ROLL_ENTRIES &&
	       !leat_bits_get(&roll->used, block_of(roll, &roll->entry[i])))
		i += LEAT_ROLL_BLOCK; /* i is a block's first: the one before ended in it */
	return i < LEAT_ROLL_ENTRIES ? &roll->entry[i] : NULL;
}

/* Where there is no space one goes that proves nothing; if there is none, nothing is entered. */
static struct leat_roll_entry *claim(struct leat_roll *roll, uint64_t process)
{
	for (unsigned i = 0; i < NEAR; i++) {
		struct leat_roll_entry *e = at(roll, process, i);

		if (leat_word_get(&e->process))
			continue;
		leat_bits_set(&roll->used, block_of(roll, e)); /* before anybody may look for it */
		if (leat_word_claim(&e->process, 0, process))
			return e;
	}
	for (unsigned i = 0; i < NEAR; i++) {
		struct leat_roll_entry *e = at(roll, process, i);
		uint64_t whose = leat_word_get(&e->process), state = leat_word_get(&e->state);

		if ((state == LEAT_ROLL_FOLLOWED || state == LEAT_ROLL_LOOSE) &&
		    leat_word_claim(&e->process, whose, process))
			return e;
	}
	return NULL;
}

/* The last component, or as much of it as there is space for. */
static void name(struct leat_roll_entry *e, const char *program)
{
	const char *slash = strrchr(program, '/');
	size_t n;

	program = slash && slash[1] ? slash + 1 : program;
	n = strlen(program);
	n = n < sizeof(e->program) ? n : sizeof(e->program) - 1;
	memcpy(e->program, program, n);
	e->program[n] = 0;
}

void leat_roll_start(struct leat_roll *roll, uint64_t process, uint32_t step, const char *program,
		     uint64_t now_ns, struct leat_roll_entry *before)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	if (before && e)
		memcpy(before, e, sizeof(*e));
	else if (before)
		memset(before, 0, sizeof(*before));
	if (!e)
		e = claim(roll, process);
	if (!e)
		return;
	e->since_ns = now_ns;
	e->step = step;
	e->status = 0;
	name(e, program);
	leat_word_set(&e->state, LEAT_ROLL_STARTING);
}

void leat_roll_put(struct leat_roll *roll, uint64_t process, const struct leat_roll_entry *before)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	if (!e)
		return;
	if (!leat_word_get(&before->process)) {
		leat_roll_leave(roll, process);
		return;
	}
	memcpy(e->program, before->program, sizeof(e->program));
	e->step = before->step;
	leat_word_set(&e->state, leat_word_get(&before->state));
}

uint32_t leat_roll_follow(struct leat_roll *roll, uint64_t process, uint32_t step,
			  const char *program, bool loose)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	if (e && leat_word_get(&e->state) == LEAT_ROLL_STARTING)
		step = e->step;
	else if (!e)
		e = claim(roll, process);
	if (!e)
		return step;
	e->step = step;
	name(e, program);
	leat_word_set(&e->state, loose ? LEAT_ROLL_LOOSE : LEAT_ROLL_FOLLOWED);
	return step;
}

void leat_roll_fork(struct leat_roll *roll, uint64_t process, uint32_t step, const char *program,
		    bool loose)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	/* Of an earlier process of that number, which nobody has judged. */
	if (e && leat_word_get(&e->state) == LEAT_ROLL_STARTING)
		leat_word_set(&e->state, LEAT_ROLL_NEVER);
	leat_roll_follow(roll, process, step, program, loose);
}

void leat_roll_stray(struct leat_roll *roll, uint64_t process)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	if (!e)
		return;
	e->status = LEAT_ROLL_UNKNOWN;
	leat_word_set(&e->state, LEAT_ROLL_NEVER);
}

void leat_roll_leave(struct leat_roll *roll, uint64_t process)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);

	if (!e)
		return;
	leat_word_set(&e->state, 0);
	leat_word_claim(&e->process, process, 0);
}

/* What `state` is to be for that end; 0: it is explained. */
static enum leat_roll_state judge(const struct leat_roll_entry *e, int status, uint64_t now_ns)
{
	switch (leat_word_get(&e->state)) {
	case LEAT_ROLL_STARTING:
		return WIFSIGNALED(status) && now_ns - e->since_ns < LEAT_ROLL_LOADING_NS
			       ? 0
			       : LEAT_ROLL_NEVER;
	case LEAT_ROLL_FOLLOWED:
		return WIFEXITED(status) ? LEAT_ROLL_PAST : 0;
	default:
		return 0;
	}
}

void leat_roll_ended(struct leat_roll *roll, uint64_t process, int status, uint64_t now_ns)
{
	struct leat_roll_entry *e = leat_roll_find(roll, process);
	enum leat_roll_state verdict = e ? judge(e, status, now_ns) : 0;

	if (!e)
		return;
	if (!verdict) {
		leat_roll_leave(roll, process);
		return;
	}
	e->status = status;
	leat_word_set(&e->state, verdict);
}
