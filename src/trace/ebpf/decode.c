#include "trace/ebpf/decode.h"

#include "trace/ebpf/path.h"
#include "trace/ebpf/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int leat_ebpf_decoder_init(struct leat_ebpf_decoder *d, struct leat_trace_sink *sink)
{
	struct stat st;

	*d = (struct leat_ebpf_decoder){.sink = sink};
	d->who = leat_trace_who_new(sink);
	d->ids = leat_ebpf_ids_new();
	d->cgroups = leat_ebpf_cgroups_new(sink);
	leat_ebpf_order_init(&d->order, sink);
	if (stat("/proc/self/ns/mnt", &st) == 0)
		d->own_mounts = st.st_ino;
	leat_ebpf_decoder_clock(d);
	return d->who && d->ids && d->cgroups ? 0 : -ENOMEM;
}

void leat_ebpf_decoder_release(struct leat_ebpf_decoder *d)
{
	leat_ebpf_order_release(&d->order);
	leat_ebpf_cgroups_free(d->cgroups);
	leat_ebpf_ids_free(d->ids);
	leat_trace_who_free(d->who);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t leat_ebpf_decoder_clock(struct leat_ebpf_decoder *d)
{
	int64_t before = now_ns(CLOCK_MONOTONIC), real = now_ns(CLOCK_REALTIME);
	int64_t after = now_ns(CLOCK_MONOTONIC);

	d->clock_ns = real - (before + (after - before) / 2);
	return real;
}

static int64_t wall(const struct leat_ebpf_decoder *d, uint64_t monotonic_ns)
{
	return (int64_t)monotonic_ns + d->clock_ns;
}

static void fill_call(const struct leat_ebpf_decoder *d, const struct leat_ebpf_call *from,
		      struct leat_ebpf_held *to)
{
	struct leat_trace_call *call = &to->record.call;
	const struct leat_ebpf_cpu *cpu = &from->cpu;

	*to = (struct leat_ebpf_held){.record.kind = LEAT_TRACE_CALL};
	call->start_ns = wall(d, from->start_ns);
	call->end_ns = to->time_ns = wall(d, from->end_ns);
	call->pid = from->pid;
	call->type = (enum leat_trace_type)from->type;
	call->handle = from->handle;
	call->result = from->result;
	call->offset = from->offset;
	call->size = from->size;
	call->flags = from->flags;
	call->utime_start_ns = (int64_t)cpu->user;
	call->stime_start_ns = (int64_t)cpu->system;
	call->utime_end_ns = call->utime_start_ns + ((int64_t)from->user << 10);
	call->stime_end_ns = call->stime_start_ns + ((int64_t)from->system << 10);
}

static void take_call(struct leat_ebpf_decoder *d, const struct leat_ebpf_call *c)
{
	struct leat_ebpf_held held;

	fill_call(d, c, &held);
	held.record.call.inode = leat_ebpf_ids_of(d->ids, c->handle);
	if (c->type == LEAT_TRACE_CLOSE)
		leat_ebpf_ids_close(d->ids, c->handle);
	leat_ebpf_order_put(&d->order, &held);
}

static void lost(struct leat_ebpf_decoder *d, enum leat_trace_loss why)
{
	leat_trace_sink_lost(d->sink, why, 1);
}

static void take_open(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
		      const char *text)
{
	struct leat_ebpf_held held;
	uint64_t inode = leat_ebpf_ids_inode(d->ids, n->device, n->generation, n->inode,
					     n->call.type == LEAT_TRACE_CREATE);

	fill_call(d, &n->call, &held);
	held.record.call.inode = inode;
	if (!inode || !leat_ebpf_ids_open(d->ids, n->call.handle, inode))
		lost(d, LEAT_TRACE_LOST_MEMORY);
	if (n->cut)
		lost(d, LEAT_TRACE_LOST_PATH);
	else
		held.strings = leat_ebpf_path_of_walk(text, n->walk[0]);
	held.record.call.path = held.strings;
	if (held.strings)
		leat_ebpf_ids_name(d->ids, held.strings, inode);
	leat_ebpf_order_put(&d->order, &held);
}

/* ---- calls on names ---- */

/* Both paths behind each other, in one piece; *to is where the second begins, NULL if there is
 * none. */
static char *paths_of(const struct leat_ebpf_named *n, const char *text, const char **to)
{
	const char *second = text + n->walk[0] + n->name[0];
	char *a = leat_ebpf_path_below(text, n->walk[0], text + n->walk[0], n->name[0]), *b, *both;
	size_t size;

	*to = NULL;
	if (!a || n->call.type != LEAT_TRACE_RENAME)
		return a;
	b = leat_ebpf_path_below(second, n->walk[1], second + n->walk[1], n->name[1]);
	size = strlen(a) + 1;
	both = b ? realloc(a, size + strlen(b) + 1) : NULL;
	if (both) {
		memcpy(both + size, b, strlen(b) + 1);
		*to = both + size;
	} else {
		free(a);
	}
	free(b);
	return both;
}

static void follow_names(struct leat_ebpf_decoder *d, struct leat_trace_call *call)
{
	if (call->result < 0 || !call->path)
		return;
	if (call->type == LEAT_TRACE_UNLINK || call->type == LEAT_TRACE_RENAME)
		call->inode = leat_ebpf_ids_unname(d->ids, call->path);
	if (call->type == LEAT_TRACE_TRUNCATE)
		call->inode = leat_ebpf_ids_named(d->ids, call->path);
	if (call->type == LEAT_TRACE_RENAME && call->inode && call->to)
		leat_ebpf_ids_name(d->ids, call->to, call->inode);
}

static void take_name(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
		      const char *text)
{
	struct leat_ebpf_held held;
	struct leat_trace_call *call = &held.record.call;

	fill_call(d, &n->call, &held);
	/* No name at all is a fault of the program. */
	if (n->cut && n->call.result == -EFAULT)
		return;
	if (!n->cut)
		held.strings = paths_of(n, text, &call->to);
	if (!held.strings) {
		lost(d, n->cut ? LEAT_TRACE_LOST_PATH : LEAT_TRACE_LOST_MEMORY);
		return;
	}
	call->path = held.strings;
	follow_names(d, call);
	if (!leat_trace_sink_wants_file(d->sink, call->path, NULL) ||
	    d->sink->request->filter.n_filesystems) {
		free(held.strings);
		return;
	}
	if (call->type == LEAT_TRACE_TRUNCATE)
		call->path = NULL;
	leat_ebpf_order_put(&d->order, &held);
}

/* ---- processes ---- */

/* Program, directory and labels, in one piece. */
static void fill_exec(struct leat_ebpf_held *held, const struct leat_ebpf_life *l, const char *text)
{
	struct leat_trace_process *p = &held->record.process;
	char *program = leat_ebpf_path_of_walk(text, l->walk[0]);
	char *dir = leat_ebpf_path_of_walk(text + l->walk[0], l->walk[1]);
	char *labels = leat_trace_labels(text + l->walk[0] + l->walk[1], l->labels);
	size_t sizes[3] = {program ? strlen(program) + 1 : 0, dir ? strlen(dir) + 1 : 0,
			   labels ? strlen(labels) + 1 : 0};
	char *to = malloc(sizes[0] + sizes[1] + sizes[2] + 1);

	held->strings = to;
	if (to && program)
		p->program = memcpy(to, program, sizes[0]);
	if (to && dir)
		p->dir = memcpy(to + sizes[0], dir, sizes[1]);
	if (to && labels)
		p->labels = memcpy(to + sizes[0] + sizes[1], labels, sizes[2]);
	free(program);
	free(dir);
	free(labels);
}

static void take_life(struct leat_ebpf_decoder *d, const struct leat_ebpf_life *l, const char *text)
{
	struct leat_ebpf_held held = {.record.kind = LEAT_TRACE_PROCESS};
	struct leat_trace_process *p = &held.record.process;

	leat_ebpf_cgroups_say(d->cgroups, l->cgroup);
	p->time_ns = held.time_ns = wall(d, l->time_ns);
	p->ppid = l->ppid;
	p->pid = l->pid;
	p->cgroup = l->cgroup;
	p->status = l->status;
	p->change = l->kind == LEAT_EBPF_FORK   ? LEAT_TRACE_FORK
		    : l->kind == LEAT_EBPF_EXEC ? LEAT_TRACE_EXEC
						: LEAT_TRACE_EXIT;
	if (l->kind == LEAT_EBPF_EXEC) {
		if (l->mounts != d->last_mounts)
			leat_trace_who_mounts(d->who, l->pid);
		d->last_mounts = l->mounts;
		p->mounts = l->mounts == d->own_mounts ? 0 : l->mounts;
		if (l->cut)
			lost(d, LEAT_TRACE_LOST_PATH);
		fill_exec(&held, l, text);
	}
	leat_ebpf_order_put(&d->order, &held);
}

int leat_ebpf_decode(void *decoder, void *data, size_t size)
{
	struct leat_ebpf_decoder *d = decoder;
	const uint16_t *kind = data;

	(void)size; /* as the kernel's side made it */
	switch (*kind) {
	case LEAT_EBPF_CALL:
		take_call(d, data);
		break;
	case LEAT_EBPF_OPEN:
		take_open(d, data, (const char *)data + sizeof(struct leat_ebpf_named));
		break;
	case LEAT_EBPF_NAME:
		take_name(d, data, (const char *)data + sizeof(struct leat_ebpf_named));
		break;
	default:
		take_life(d, data, (const char *)data + sizeof(struct leat_ebpf_life));
		break;
	}
	return 0;
}
