#include "trace/ebpf/decode.h"

#include "base/str.h"
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
	d->dirs = leat_ebpf_dirs_new();
	leat_ebpf_order_init(&d->order, sink);
	if (stat("/proc/self/ns/mnt", &st) == 0)
		d->own_mounts = st.st_ino;
	leat_ebpf_decoder_clock(d);
	return d->who && d->ids && d->cgroups && d->dirs ? 0 : -ENOMEM;
}

void leat_ebpf_decoder_release(struct leat_ebpf_decoder *d)
{
	leat_ebpf_order_release(&d->order);
	leat_ebpf_dirs_free(d->dirs);
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

static void count_lost(struct leat_ebpf_decoder *d, enum leat_trace_loss why)
{
	leat_trace_sink_lost(d->sink, why, 1);
}

/* Up to four texts, in one piece; `out` is where each is then, NULL where there is none. NULL: out
 * of memory. */
static char *join_texts(const char *const texts[4], const char *out[4])
{
	size_t sizes[4], sum = 0;
	char *all, *at;

	for (size_t i = 0; i < 4; i++)
		sum += sizes[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
	at = all = malloc(sum + 1);
	for (size_t i = 0; i < 4; i++) {
		out[i] = all && texts[i] ? memcpy(at, texts[i], sizes[i]) : NULL;
		at += all ? sizes[i] : 0;
	}
	return all;
}

/* Where the file of an open is outside; NULL: as inside. */
static char *find_opened_outside(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
				 const char *text, const char *inside)
{
	const char *place = text + n->walk[0], *type = place + n->place;
	const char *subtype = type + strlen(type) + 1, *source = subtype + strlen(subtype) + 1;
	char *path, *whole, *name = NULL;

	if (!n->space)
		return NULL;
	path = leat_ebpf_path_of_walk(place, n->place);
	whole = leat_strf("%s%s%s", type, *subtype ? "." : "", subtype);
	if (path && whole)
		name = leat_mounts_name_of(leat_trace_who_views(d->who),
					   &(struct leat_fs_path){n->device >> 20,
								  n->device & 0xfffff, whole,
								  source, path});
	free(path);
	free(whole);
	if (name)
		leat_ebpf_dirs_learn(d->dirs, n->space, n->event, inside, name);
	return leat_mounts_other_name(name, inside);
}

static void name_open(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
		      const char *text, struct leat_ebpf_held *held)
{
	char *path = leat_ebpf_path_of_walk(text, n->walk[0]);
	char *outside = path ? find_opened_outside(d, n, text, path) : NULL;
	const char *both[4];

	held->strings = path ? join_texts((const char *[4]){path, outside}, both) : NULL;
	if (held->strings) {
		held->record.call.path = both[0];
		held->record.call.outside = both[1];
		leat_ebpf_ids_name(d->ids, leat_trace_name(path, outside), held->record.call.inode);
	}
	free(path);
	free(outside);
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
		count_lost(d, LEAT_TRACE_LOST_MEMORY);
	if (n->cut)
		count_lost(d, LEAT_TRACE_LOST_PATH);
	else
		name_open(d, n, text, &held);
	leat_ebpf_order_put(&d->order, &held);
}

/* ---- calls on names ---- */

/* Where a name is outside, of a process whose root is `root` in its namespace; NULL: as inside. */
static char *find_named_outside(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
				const char *root, const char *inside)
{
	struct leat_mounts *mounts = leat_trace_who_views(d->who);
	char *name, *seen;

	if (!inside)
		return NULL;
	name = leat_ebpf_dirs_name(d->dirs, n->space, n->event, inside);
	if (!name && leat_mounts_are_of(mounts, n->space, n->call.pid, n->event)) {
		seen = leat_strf("%s%s", strcmp(root, "/") ? root : "", inside);
		if (seen)
			name = leat_mounts_name_outside(mounts, n->space, n->call.pid, seen, 0);
		free(seen);
	} else if (!name) {
		name = strdup("");
	}
	return leat_mounts_other_name(name, inside);
}

static void name_names(struct leat_ebpf_decoder *d, const struct leat_ebpf_named *n,
		       const char *text, struct leat_ebpf_held *held)
{
	const char *second = text + n->walk[0] + n->name[0], *at[4];
	const char *behind = second + n->walk[1] + n->name[1];
	struct leat_trace_call *call = &held->record.call;
	bool renames = call->type == LEAT_TRACE_RENAME;
	char *v[4] = {leat_ebpf_path_below(text, n->walk[0], text + n->walk[0], n->name[0])};
	char *root = n->space ? leat_ebpf_path_of_walk(behind, n->place) : NULL;

	if (renames)
		v[1] = leat_ebpf_path_below(second, n->walk[1], second + n->walk[1], n->name[1]);
	if (root) {
		v[2] = find_named_outside(d, n, root, v[0]);
		v[3] = find_named_outside(d, n, root, v[1]);
	}
	if (v[0] && (v[1] || !renames))
		held->strings = join_texts((const char *const *)v, at);
	if (held->strings) {
		call->path = at[0];
		call->to = at[1];
		call->outside = at[2];
		call->to_outside = at[3];
	}
	for (size_t i = 0; i < 4; i++)
		free(v[i]);
	free(root);
}

static void follow_names(struct leat_ebpf_decoder *d, struct leat_trace_call *call)
{
	const char *path;

	if (call->result < 0 || !call->path)
		return;
	path = leat_trace_name(call->path, call->outside);
	if (call->type == LEAT_TRACE_UNLINK || call->type == LEAT_TRACE_RENAME)
		call->inode = leat_ebpf_ids_unname(d->ids, path);
	if (call->type == LEAT_TRACE_TRUNCATE)
		call->inode = leat_ebpf_ids_named(d->ids, path);
	if (call->type == LEAT_TRACE_RENAME && call->inode && call->to)
		leat_ebpf_ids_name(d->ids, leat_trace_name(call->to, call->to_outside),
				   call->inode);
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
		name_names(d, n, text, &held);
	if (!held.strings) {
		count_lost(d, n->cut ? LEAT_TRACE_LOST_PATH : LEAT_TRACE_LOST_MEMORY);
		return;
	}
	follow_names(d, call);
	if (!leat_trace_sink_wants_file(d->sink, leat_trace_name(call->path, call->outside),
					NULL) ||
	    d->sink->request->filter.n_filesystems) {
		free(held.strings);
		return;
	}
	if (call->type == LEAT_TRACE_TRUNCATE)
		call->path = call->outside = NULL;
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

	leat_ebpf_cgroups_write(d->cgroups, l->cgroup);
	p->time_ns = held.time_ns = wall(d, l->time_ns);
	p->ppid = l->ppid;
	p->pid = l->pid;
	p->cgroup = l->cgroup;
	p->status = l->status;
	p->change = l->kind == LEAT_EBPF_FORK   ? LEAT_TRACE_FORK
		    : l->kind == LEAT_EBPF_EXEC ? LEAT_TRACE_EXEC
						: LEAT_TRACE_EXIT;
	if (l->kind == LEAT_EBPF_EXEC) {
		if (l->mounts != d->own_mounts) {
			leat_trace_who_mounts(d->who, l->pid);
			leat_mounts_are_of(leat_trace_who_views(d->who), l->mounts, l->pid,
					   l->event);
		}
		p->mounts = l->mounts == d->own_mounts ? 0 : l->mounts;
		if (l->cut)
			count_lost(d, LEAT_TRACE_LOST_PATH);
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
