/* Unpacking: see trace_pack.c for the other way. */
#include "iotrace/pack_model.h"

#include "iotrace/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void leat_trace_unpacker_reset(struct leat_trace_unpacker *u, const uint8_t *bytes, size_t n)
{
	memset(&u->model, 0, sizeof(u->model));
	u->at = bytes;
	u->end = bytes + n;
	u->n_texts = 0;
}

static int get_text(struct leat_trace_unpacker *u, const char **text)
{
	const char **bigger;
	const uint8_t *end;
	uint64_t number;

	*text = NULL;
	u->at = leat_trace_get_number(u->at, &number);
	if (u->at > u->end)
		return -EBADMSG;
	if (!number)
		return 0;
	if (number <= u->n_texts) {
		*text = u->texts[number - 1];
		return 0;
	}
	end = number == u->n_texts + UINT64_C(1) ? memchr(u->at, 0, (size_t)(u->end - u->at))
						 : NULL;
	if (!end)
		return -EBADMSG;
	if (u->n_texts == u->capacity) {
		bigger = reallocarray(u->texts, 2 * (size_t)u->capacity + 64, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		u->texts = bigger;
		u->capacity = 2 * u->capacity + 64;
	}
	*text = u->texts[u->n_texts++] = (const char *)u->at;
	u->at = end + 1;
	return 0;
}

static inline const uint8_t *get_difference(const uint8_t *at, uint64_t *value, uint64_t from)
{
	uint64_t folded;

	at = leat_trace_get_number(at, &folded);
	*value = from + leat_trace_unfold(folded);
	return at;
}

static const uint8_t *get_time(const uint8_t *at, int64_t *ns, uint64_t from)
{
	uint64_t value;

	at = get_difference(at, &value, from);
	*ns = (int64_t)value;
	return at;
}

static const uint8_t *get_cpu(const uint8_t *at, const struct leat_trace_slot *s,
			      struct leat_trace_call *c)
{
	at = get_time(at, &c->utime_start_ns, s->utime_ns);
	at = get_time(at, &c->utime_end_ns, (uint64_t)c->utime_start_ns);
	at = get_time(at, &c->stime_start_ns, s->stime_ns);
	return get_time(at, &c->stime_end_ns, (uint64_t)c->stime_start_ns);
}

static const uint8_t *get_odd(const struct leat_trace_model *m, const uint8_t *at, unsigned mask,
			      const struct expected *e, struct leat_trace_call *c)
{
	uint64_t value;

	if (mask & ODD_PID) {
		at = get_difference(at, &value, m->pid);
		c->pid = (int32_t)(uint32_t)value;
	}
	if (mask & ODD_INODE)
		at = get_difference(at, &c->inode, c->inode);
	if (mask & ODD_SIZE)
		at = leat_trace_get_number(at, &c->size);
	c->result = moves_bytes((char)c->type) ? (int64_t)c->size : 0;
	if (mask & ODD_RESULT)
		at = get_time(at, &c->result, 0);
	if (mask & ODD_OFFSET)
		at = get_difference(at, &c->offset, e->offset);
	if (mask & ODD_FLAGS) {
		at = leat_trace_get_number(at, &value);
		c->flags = (uint32_t)value;
	}
	if (mask & ODD_DURATION) {
		at = leat_trace_get_number(at, &value);
		c->start_ns = (int64_t)((uint64_t)c->end_ns - leat_trace_unfold(value));
	}
	return at;
}

static int unpack_call(struct leat_trace_unpacker *u, unsigned op, struct leat_trace_call *c)
{
	struct leat_trace_model *m = &u->model;
	const uint8_t *at = u->at;
	unsigned mask = *at++;
	struct leat_trace_slot *s;
	struct expected e;
	uint64_t handle;
	int rc = 0;

	if (mask & ODD_HANDLE) {
		at = get_difference(at, &handle, m->handle);
		s = &m->slots[slot_of(handle)];
		renew(m, s, handle);
	} else {
		s = &m->slots[*at++];
	}
	e = expect(s, leat_trace_letters[op & OP_MASK]);
	c->type = (enum leat_trace_type)leat_trace_letters[op & OP_MASK];
	c->handle = s->handle;
	c->pid = (int32_t)s->pid;
	c->inode = s->inode;
	c->size = e.size;
	c->offset = e.offset;
	c->flags = s->flags;
	c->utime_start_ns = c->utime_end_ns = (int64_t)s->utime_ns;
	c->stime_start_ns = c->stime_end_ns = (int64_t)s->stime_ns;
	c->path = c->to = c->outside = c->to_outside = NULL;
	at = get_time(at, &c->end_ns, m->time_ns);
	c->start_ns = c->end_ns;
	at = get_odd(m, at, mask, &e, c);
	if (op & OP_CPU)
		at = get_cpu(at, s, c);
	u->at = at;
	if (op & OP_PATH)
		rc = get_text(u, &c->path);
	if (op & OP_TO && !rc)
		rc = get_text(u, &c->to);
	learn(m, s, c);
	return rc;
}

static int unpack_process(struct leat_trace_unpacker *u, unsigned op, struct leat_trace_process *p)
{
	struct leat_trace_model *m = &u->model;
	uint64_t ppid, pid;
	int64_t status;
	int rc;

	p->change = (enum leat_trace_change)(op - OP_PROCESS);
	u->at = get_time(u->at, &p->time_ns, m->time_ns);
	u->at = get_difference(u->at, &ppid, m->pid);
	u->at = get_difference(u->at, &pid, m->pid);
	u->at = get_difference(u->at, &p->cgroup, m->cgroup);
	u->at = get_difference(u->at, &p->mounts, m->mounts);
	u->at = get_time(u->at, &status, 0);
	p->ppid = (int32_t)(uint32_t)ppid;
	p->pid = (int32_t)(uint32_t)pid;
	p->status = (int32_t)(uint32_t)status;
	learn_process(m, p);
	rc = get_text(u, &p->program);
	rc = rc ? rc : get_text(u, &p->dir);
	return rc ? rc : get_text(u, &p->labels);
}

static int unpack_mount(struct leat_trace_unpacker *u, struct leat_trace_mount *m)
{
	int rc;

	u->at = leat_trace_get_number(u->at, &m->namespace_id);
	rc = get_text(u, &m->at);
	rc = rc ? rc : get_text(u, &m->from);
	return rc ? rc : get_text(u, &m->type);
}

static int unpack_unseen(struct leat_trace_unpacker *u, struct leat_trace_unseen *s)
{
	int rc;

	u->at = leat_trace_get_number(u->at, &s->times);
	rc = get_text(u, &s->program);
	return rc ? rc : get_text(u, &s->why);
}

/* A call whose names outside come before it. */
static int unpack_outside(struct leat_trace_unpacker *u, struct leat_trace_record *record)
{
	const char *outside, *to_outside;
	unsigned op;
	int rc = get_text(u, &outside);

	rc = rc ? rc : get_text(u, &to_outside);
	if (rc || u->at >= u->end)
		return rc ? rc : -EBADMSG;
	op = *u->at++;
	if ((op & OP_MASK) >= N_TYPES)
		return -EBADMSG;
	record->kind = LEAT_TRACE_CALL;
	rc = unpack_call(u, op, &record->call);
	record->call.outside = outside;
	record->call.to_outside = to_outside;
	return rc;
}

static int unpack(struct leat_trace_unpacker *u, unsigned op, struct leat_trace_record *record)
{
	if (op == OP_OUTSIDE)
		return unpack_outside(u, record);
	if ((op & OP_MASK) < N_TYPES) {
		record->kind = LEAT_TRACE_CALL;
		return unpack_call(u, op, &record->call);
	}
	if (op >= OP_PROCESS && op < OP_PROCESS + LEAT_TRACE_CHANGES) {
		record->kind = LEAT_TRACE_PROCESS;
		return unpack_process(u, op, &record->process);
	}
	if (op == OP_CGROUP) {
		record->kind = LEAT_TRACE_CGROUP;
		u->at = leat_trace_get_number(u->at, &record->cgroup.id);
		return get_text(u, &record->cgroup.path);
	}
	if (op == OP_MOUNT) {
		record->kind = LEAT_TRACE_MOUNT;
		return unpack_mount(u, &record->mount);
	}
	if (op == OP_UNSEEN) {
		record->kind = LEAT_TRACE_UNSEEN;
		return unpack_unseen(u, &record->unseen);
	}
	return -EBADMSG;
}

int leat_trace_unpack(struct leat_trace_unpacker *u, struct leat_trace_record *record)
{
	int rc;

	if (u->at == u->end)
		return 0;
	rc = unpack(u, *u->at++, record);
	if (!rc && u->at > u->end)
		rc = -EBADMSG;
	if (rc)
		u->at = u->end;
	return rc ? rc : 1;
}
