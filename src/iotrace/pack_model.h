/* What packing and unpacking a trace's records share: how a record begins, and what is expected of
 * it. Private to trace_pack.c and trace_unpack.c. */
#ifndef LEAT_IOTRACE_PACK_MODEL_H
#define LEAT_IOTRACE_PACK_MODEL_H

#include "iotrace/pack.h"

#include "base/hash.h"

/* The first byte of a record: a call by the place of its letter; or one of these. */
static const char leat_trace_letters[] = "OCRWUXMNT";

enum {
	N_TYPES = sizeof(leat_trace_letters) - 1,
	OP_PROCESS = 16, /* and the change */
	OP_CGROUP = 24,
	OP_MOUNT = 25,
	OP_UNSEEN = 26,
	OP_OUTSIDE = 27, /* two texts: of the call that follows */
	OP_MASK = 31,
	OP_CPU = 32, /* with a call: its CPU times are not those of the call before */
	OP_PATH = 64,
	OP_TO = 128,
};

/* The second byte of a call: what is not as expected. */
enum {
	ODD_HANDLE = 1,
	ODD_PID = 2,
	ODD_INODE = 4,
	ODD_RESULT = 8,
	ODD_OFFSET = 16,
	ODD_SIZE = 32,
	ODD_FLAGS = 64,
	ODD_DURATION = 128, /* not 0 */
};

static inline unsigned slot_of(uint64_t handle)
{
	return (unsigned)(handle * LEAT_HASH_PRIME >> 56);
}

static inline bool moves_bytes(char letter)
{
	return letter == LEAT_TRACE_READ || letter == LEAT_TRACE_WRITE;
}

/* A handle that has not been in its slot, or not of late. */
static inline void renew(const struct leat_trace_model *m, struct leat_trace_slot *s,
			 uint64_t handle)
{
	*s = (struct leat_trace_slot){.handle = handle,
				      .inode = m->inode,
				      .pid = m->pid,
				      .utime_ns = m->utime_ns,
				      .stime_ns = m->stime_ns};
}

struct expected {
	uint64_t offset, size, result;
};

/* `size` is known before the result is asked for. */
static inline struct expected expect(const struct leat_trace_slot *s, char letter)
{
	if (moves_bytes(letter))
		return (struct expected){.offset = s->next, .size = s->size};
	return (struct expected){0};
}

/* Both sides have seen the call: what is expected now is the same for both. */
static inline void learn(struct leat_trace_model *m, struct leat_trace_slot *s,
			 const struct leat_trace_call *c)
{
	m->time_ns = (uint64_t)c->end_ns;
	m->handle = c->handle;
	m->inode = c->inode;
	m->pid = s->pid = (uint32_t)c->pid;
	m->utime_ns = s->utime_ns = (uint64_t)c->utime_end_ns;
	m->stime_ns = s->stime_ns = (uint64_t)c->stime_end_ns;
	s->inode = c->inode;
	s->flags = c->flags;
	if (!moves_bytes((char)c->type))
		return;
	s->size = c->size;
	s->next = c->offset + (c->result > 0 ? (uint64_t)c->result : 0);
}

static inline void learn_process(struct leat_trace_model *m, const struct leat_trace_process *p)
{
	m->time_ns = (uint64_t)p->time_ns;
	m->pid = (uint32_t)p->pid;
	m->cgroup = p->cgroup;
	m->mounts = p->mounts;
}

#endif
