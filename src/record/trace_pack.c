#include "record/trace_pack.h"

#include "base/hash.h"
#include "record/trace_csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first byte of a record: a call by the place of its letter; or one of these. */
static const char letters[] = "OCRWUXMNT";

enum {
	N_TYPES = sizeof(letters) - 1,
	OP_PROCESS = 16, /* and the change */
	OP_CGROUP = 24,
	OP_MOUNT = 25,
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

static unsigned slot_of(uint64_t handle)
{
	return (unsigned)(handle * LEAT_HASH_PRIME >> 56);
}

static bool moves_bytes(char letter)
{
	return letter == LEAT_TRACE_READ || letter == LEAT_TRACE_WRITE;
}

/* A handle that has not been in its slot, or not of late. */
static void renew(const struct leat_trace_model *m, struct leat_trace_slot *s, uint64_t handle)
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
static struct expected expect(const struct leat_trace_slot *s, char letter)
{
	if (moves_bytes(letter))
		return (struct expected){.offset = s->next, .size = s->size};
	return (struct expected){0};
}

/* Both sides have seen the call: what is expected now is the same for both. */
static void learn(struct leat_trace_model *m, struct leat_trace_slot *s,
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

static void learn_process(struct leat_trace_model *m, const struct leat_trace_process *p)
{
	m->time_ns = (uint64_t)p->time_ns;
	m->pid = (uint32_t)p->pid;
	m->cgroup = p->cgroup;
	m->mounts = p->mounts;
}

/* ---- packing ---- */

void leat_trace_packer_reset(struct leat_trace_packer *p)
{
	memset(&p->model, 0, sizeof(p->model));
	if (p->texts)
		memset(p->at, 0, sizeof(p->at));
	p->used = 0;
	p->records = p->counted = p->texts = 0;
}

/* 0: NULL; the number of one that was there before; or the next number, and the text. */
static uint8_t *put_text(struct leat_trace_packer *p, uint8_t *at, const char *text)
{
	size_t n, i;

	if (!text)
		return leat_trace_put_number(at, 0);
	n = strlen(text);
	for (i = leat_hash(text, n, 0) % (2 * LEAT_TRACE_INTERNED); p->at[i];
	     i = (i + 1) % (2 * LEAT_TRACE_INTERNED))
		if (strcmp((const char *)p->bytes + p->at[i] - 1, text) == 0)
			return leat_trace_put_number(at, p->number[i]);
	at = leat_trace_put_number(at, ++p->texts);
	if (p->texts <= LEAT_TRACE_INTERNED) {
		p->at[i] = (uint32_t)(at - p->bytes) + 1;
		p->number[i] = p->texts;
	}
	return mempcpy(at, text, n + 1);
}

static uint8_t *put_difference(uint8_t *at, uint64_t value, uint64_t from)
{
	return leat_trace_put_number(at, leat_trace_fold(value - from));
}

static unsigned odd(const struct leat_trace_slot *s, const struct expected *e,
		    const struct leat_trace_call *c)
{
	uint64_t result = moves_bytes((char)c->type) ? c->size : 0;

	return ((uint32_t)c->pid != s->pid ? ODD_PID : 0u) |
	       (c->inode != s->inode ? ODD_INODE : 0u) |
	       ((uint64_t)c->result != result ? ODD_RESULT : 0u) |
	       (c->offset != e->offset ? ODD_OFFSET : 0u) | (c->size != e->size ? ODD_SIZE : 0u) |
	       (c->flags != s->flags ? ODD_FLAGS : 0u) |
	       (c->start_ns != c->end_ns ? ODD_DURATION : 0u);
}

static bool same_cpu(const struct leat_trace_slot *s, const struct leat_trace_call *c)
{
	return (uint64_t)c->utime_start_ns == s->utime_ns &&
	       (uint64_t)c->utime_end_ns == s->utime_ns &&
	       (uint64_t)c->stime_start_ns == s->stime_ns &&
	       (uint64_t)c->stime_end_ns == s->stime_ns;
}

static uint8_t *put_cpu(uint8_t *at, const struct leat_trace_slot *s,
			const struct leat_trace_call *c)
{
	at = put_difference(at, (uint64_t)c->utime_start_ns, s->utime_ns);
	at = put_difference(at, (uint64_t)c->utime_end_ns, (uint64_t)c->utime_start_ns);
	at = put_difference(at, (uint64_t)c->stime_start_ns, s->stime_ns);
	return put_difference(at, (uint64_t)c->stime_end_ns, (uint64_t)c->stime_start_ns);
}

static uint8_t *put_odd(const struct leat_trace_model *m, uint8_t *at, unsigned mask,
			const struct leat_trace_slot *s, const struct expected *e,
			const struct leat_trace_call *c)
{
	if (mask & ODD_PID)
		at = put_difference(at, (uint32_t)c->pid, m->pid);
	if (mask & ODD_INODE)
		at = put_difference(at, c->inode, s->inode);
	if (mask & ODD_SIZE)
		at = leat_trace_put_number(at, c->size);
	if (mask & ODD_RESULT)
		at = leat_trace_put_number(at, leat_trace_fold((uint64_t)c->result));
	if (mask & ODD_OFFSET)
		at = put_difference(at, c->offset, e->offset);
	if (mask & ODD_FLAGS)
		at = leat_trace_put_number(at, c->flags);
	if (mask & ODD_DURATION)
		at = put_difference(at, (uint64_t)c->end_ns, (uint64_t)c->start_ns);
	return at;
}

static int pack_call(struct leat_trace_packer *p, const struct leat_trace_call *c)
{
	const char *letter = c->type ? strchr(letters, c->type) : NULL;
	struct leat_trace_model *m = &p->model;
	uint8_t *at = p->bytes + p->used;
	unsigned slot = slot_of(c->handle), mask = 0;
	struct leat_trace_slot *s = &m->slots[slot];
	struct expected e;
	bool cpu;

	if (!letter)
		return -EINVAL;
	if (s->handle != c->handle) {
		mask = ODD_HANDLE;
		renew(m, s, c->handle);
	}
	e = expect(s, *letter);
	mask |= odd(s, &e, c);
	cpu = !same_cpu(s, c);
	*at++ = (uint8_t)((unsigned)(letter - letters) | (cpu ? OP_CPU : 0u) |
			  (c->path ? OP_PATH : 0u) | (c->to ? OP_TO : 0u));
	*at++ = (uint8_t)mask;
	if (mask & ODD_HANDLE)
		at = put_difference(at, c->handle, m->handle);
	else
		*at++ = (uint8_t)slot;
	at = put_difference(at, (uint64_t)c->end_ns, m->time_ns);
	at = put_odd(m, at, mask, s, &e, c);
	if (cpu)
		at = put_cpu(at, s, c);
	if (c->path)
		at = put_text(p, at, c->path);
	if (c->to)
		at = put_text(p, at, c->to);
	learn(m, s, c);
	p->used = (size_t)(at - p->bytes);
	return 0;
}

static int pack_process(struct leat_trace_packer *p, const struct leat_trace_process *r)
{
	struct leat_trace_model *m = &p->model;
	uint8_t *at = p->bytes + p->used;

	if ((unsigned)r->change >= LEAT_TRACE_CHANGES)
		return -EINVAL;
	*at++ = (uint8_t)(OP_PROCESS + r->change);
	at = put_difference(at, (uint64_t)r->time_ns, m->time_ns);
	at = put_difference(at, (uint32_t)r->ppid, m->pid);
	at = put_difference(at, (uint32_t)r->pid, m->pid);
	at = put_difference(at, r->cgroup, m->cgroup);
	at = put_difference(at, r->mounts, m->mounts);
	at = leat_trace_put_number(at, leat_trace_fold((uint64_t)(int64_t)r->status));
	at = put_text(p, at, r->program);
	at = put_text(p, at, r->dir);
	at = put_text(p, at, r->labels);
	learn_process(m, r);
	p->used = (size_t)(at - p->bytes);
	return 0;
}

static int pack_cgroup(struct leat_trace_packer *p, const struct leat_trace_cgroup *c)
{
	uint8_t *at = p->bytes + p->used;

	*at++ = OP_CGROUP;
	at = leat_trace_put_number(at, c->id);
	at = put_text(p, at, c->path);
	p->used = (size_t)(at - p->bytes);
	return 0;
}

static int pack_mount(struct leat_trace_packer *p, const struct leat_trace_mount *r)
{
	uint8_t *at = p->bytes + p->used;

	*at++ = OP_MOUNT;
	at = leat_trace_put_number(at, r->namespace_id);
	at = put_text(p, at, r->at);
	at = put_text(p, at, r->from);
	at = put_text(p, at, r->type);
	p->used = (size_t)(at - p->bytes);
	return 0;
}

int leat_trace_pack(struct leat_trace_packer *p, const struct leat_trace_record *record)
{
	int rc = -EINVAL;

	switch (record->kind) {
	case LEAT_TRACE_CALL:
		rc = pack_call(p, &record->call);
		break;
	case LEAT_TRACE_PROCESS:
		rc = pack_process(p, &record->process);
		break;
	case LEAT_TRACE_CGROUP:
		rc = pack_cgroup(p, &record->cgroup);
		break;
	case LEAT_TRACE_MOUNT:
		rc = pack_mount(p, &record->mount);
		break;
	}
	if (rc)
		return rc;
	p->records++;
	p->counted += record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	return 0;
}

/* ---- unpacking ---- */

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
	if (u->n_texts == u->room) {
		bigger = reallocarray(u->texts, 2 * (size_t)u->room + 64, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		u->texts = bigger;
		u->room = 2 * u->room + 64;
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
	e = expect(s, letters[op & OP_MASK]);
	c->type = (enum leat_trace_type)letters[op & OP_MASK];
	c->handle = s->handle;
	c->pid = (int32_t)s->pid;
	c->inode = s->inode;
	c->size = e.size;
	c->offset = e.offset;
	c->flags = s->flags;
	c->utime_start_ns = c->utime_end_ns = (int64_t)s->utime_ns;
	c->stime_start_ns = c->stime_end_ns = (int64_t)s->stime_ns;
	c->path = c->to = NULL;
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

static int unpack(struct leat_trace_unpacker *u, unsigned op, struct leat_trace_record *record)
{
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
