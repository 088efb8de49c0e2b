/* Any bytes as a trace: it is read, or what is wrong with it is said; what was read, written in the
 * other form and read again is the same. The first byte says what the rest is: the calls of a CSV
 * trace, its processes, a compressed trace, or a block of one behind its checksums.
 *
 *   .ci/fuzz 60 trace */
#include "iotrace/trace.h"
#include "iotrace/pack.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a directory of its own. */
enum { CALLS, PROCESSES, BLOCKS, COPY, COPY_PROCESSES, COPY_BLOCKS, PATHS };
static const char *const names[PATHS] = {"a.csv", "a.pids.csv", "a.trace",
					 "b.csv", "b.pids.csv", "b.trace"};
static char dir[] = "/dev/shm/leat-fuzz-XXXXXX", paths[PATHS][64];

static void clean_up(void)
{
	for (size_t i = 0; i < PATHS; i++)
		unlink(paths[i]);
	rmdir(dir);
}

static void begin(void)
{
	if (paths[0][0])
		return;
	if (!mkdtemp(dir))
		abort();
	for (size_t i = 0; i < PATHS; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, names[i]);
	atexit(clean_up);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
}

static uint64_t add(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	return text ? add(hash, text, strlen(text) + 1) : hash * 31 + 7;
}

static uint64_t add_call(uint64_t hash, const struct leat_trace_call *c)
{
	const int64_t numbers[] = {c->start_ns,
				   c->end_ns,
				   c->pid,
				   c->type,
				   c->utime_start_ns,
				   c->utime_end_ns,
				   c->stime_start_ns,
				   c->stime_end_ns,
				   (int64_t)c->inode,
				   (int64_t)c->handle,
				   c->result,
				   (int64_t)c->offset,
				   (int64_t)c->size,
				   c->flags};

	hash = add(hash, numbers, sizeof(numbers));
	hash = add_text(add_text(hash, c->path), c->to);
	return add_text(add_text(hash, c->outside), c->to_outside);
}

static uint64_t add_process(uint64_t hash, const struct leat_trace_process *p)
{
	const int64_t numbers[] = {p->time_ns, p->change,          p->ppid,           p->pid,
				   p->status,  (int64_t)p->cgroup, (int64_t)p->mounts};

	hash = add(hash, numbers, sizeof(numbers));
	return add_text(add_text(add_text(hash, p->program), p->dir), p->labels);
}

static uint64_t add_record(uint64_t hash, const struct leat_trace_record *r)
{
	switch (r->kind) {
	case LEAT_TRACE_CALL:
		return add_call(hash, &r->call);
	case LEAT_TRACE_PROCESS:
		return add_process(hash, &r->process);
	case LEAT_TRACE_CGROUP:
		return add_text(add(hash, &r->cgroup.id, sizeof(r->cgroup.id)), r->cgroup.path);
	case LEAT_TRACE_MOUNT:
		hash = add(hash, &r->mount.namespace_id, sizeof(r->mount.namespace_id));
		return add_text(add_text(add_text(hash, r->mount.at), r->mount.from),
				r->mount.type);
	case LEAT_TRACE_UNSEEN:
		hash = add(hash, &r->unseen.times, sizeof(r->unseen.times));
		return add_text(add_text(hash, r->unseen.program), r->unseen.why);
	}
	abort();
}

/* Reads all, into a trace at `copy` too, unless NULL. How many records, and a digest of them. */
static size_t read_all(const char *path, const char *copy, uint64_t *hash, size_t *bad)
{
	const struct leat_trace_head none = {0};
	struct leat_trace_record record;
	char why[256] = "";
	struct leat_trace_reader *r = leat_trace_reader_new(path, why, sizeof(why));
	struct leat_trace_writer *w = NULL;
	size_t n = 0;
	int rc;

	*hash = *bad = 0;
	if (!r) {
		if (errno != EBADMSG || !*why || copy == NULL)
			abort();
		return 0;
	}
	if (copy) {
		w = leat_trace_writer_new(copy, &none);
		if (!w)
			abort();
	}
	while ((rc = leat_trace_read(r, &record)) != 0) {
		if (rc == -EBADMSG && *leat_trace_reader_why(r)) {
			++*bad;
			continue;
		}
		if (rc != 1 || (w && leat_trace_write(w, &record)))
			abort();
		*hash = add_record(*hash, &record);
		n++;
	}
	if (*bad && leat_trace_reader_tail(r, 0)->complete)
		abort();
	leat_trace_reader_free(r);
	if (w && leat_trace_writer_end(w, NULL))
		abort();
	return n;
}

static void check(const char *path, const char *copy)
{
	uint64_t hash, again;
	size_t bad, n;

	unlink(copy);
	n = read_all(path, copy, &hash, &bad);
	if (access(copy, F_OK) < 0)
		return;
	if (read_all(copy, NULL, &again, &bad) != n || again != hash || bad)
		abort();
}

static void unpack(const uint8_t *data, size_t size)
{
	uint8_t *bytes = calloc(1, size + LEAT_TRACE_PACKED_BYTES);
	struct leat_trace_unpacker u = {0};
	struct leat_trace_record record;
	uint64_t hash = 0;
	int rc;

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	leat_trace_unpacker_reset(&u, bytes, size);
	while ((rc = leat_trace_unpack(&u, &record)) == 1)
		hash = add_record(hash, &record);
	if (rc != 0 && rc != -EBADMSG)
		abort();
	free(u.texts);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char no_calls[] =
		"# leat trace 1\ntime_start,time_end,pid,utime_start,utime_end,stime_start,"
		"stime_end,inode,type,result,handle,offset,size,flags,path,to\n";

	if (!size)
		return 0;
	begin();
	unlink(paths[PROCESSES]);
	switch (data[0]) {
	case 'c':
		put_file(paths[CALLS], data + 1, size - 1);
		check(paths[CALLS], paths[COPY_BLOCKS]);
		break;
	case 'p':
		put_file(paths[CALLS], no_calls, strlen(no_calls));
		put_file(paths[PROCESSES], data + 1, size - 1);
		check(paths[CALLS], paths[COPY_BLOCKS]);
		break;
	case 't':
		put_file(paths[BLOCKS], data + 1, size - 1);
		check(paths[BLOCKS], paths[COPY]);
		break;
	case 'b':
		unpack(data + 1, size - 1);
		break;
	default:
		return -1;
	}
	return 0;
}
