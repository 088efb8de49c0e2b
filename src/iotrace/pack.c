/* Packing: see trace_unpack.c for the other way. */
#include "iotrace/pack_model.h"

#include "iotrace/csv.h"

#include <errno.h>
#include <string.h>

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

static uint8_t *put_outside(struct leat_trace_packer *p, uint8_t *at,
			    const struct leat_trace_call *c)
{
	*at++ = OP_OUTSIDE;
	at = put_text(p, at, c->outside);
	return put_text(p, at, c->to_outside);
}

static int pack_call(struct leat_trace_packer *p, const struct leat_trace_call *c)
{
	const char *letter = c->type ? strchr(leat_trace_letters, c->type) : NULL;
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
	if (c->outside || c->to_outside)
		at = put_outside(p, at, c);
	*at++ = (uint8_t)((unsigned)(letter - leat_trace_letters) | (cpu ? OP_CPU : 0u) |
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

static int pack_unseen(struct leat_trace_packer *p, const struct leat_trace_unseen *u)
{
	uint8_t *at = p->bytes + p->used;

	*at++ = OP_UNSEEN;
	at = leat_trace_put_number(at, u->times);
	at = put_text(p, at, u->program);
	at = put_text(p, at, u->why);
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
	case LEAT_TRACE_UNSEEN:
		rc = pack_unseen(p, &record->unseen);
		break;
	}
	if (rc)
		return rc;
	p->records++;
	p->counted += record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	return 0;
}
