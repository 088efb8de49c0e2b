/* How fast traces are written and read, and how large they are.
 *
 *   bench_tracerate [-k] DIR EVENTS
 *
 * A synthetic trace, the same every time: 24 processes that open files of a work directory each,
 * read or write them by blocks, now and then elsewhere, and close them; times with the noise of
 * real ones. Into DIR/bench.csv and DIR/bench.trace, which are removed at the end (-k: kept). */
#include "bench.h"
#include "iotrace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 24 };

struct process {
	int64_t utime_ns, stime_ns;
	uint64_t handle, inode, offset, left;
	uint32_t size, flags;
};

struct world {
	uint64_t seed, handles;
	int64_t now_ns;
	struct process processes[PROCESSES];
	char path[256];
};

static uint64_t next(struct world *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed;
}

static void begin(struct world *w)
{
	*w = (struct world){.seed = 88172645463325252u, .now_ns = 1714067937000000000};
}

/* The next call of any process. */
static void step(struct world *w, struct leat_trace_call *c)
{
	static const uint32_t sizes[] = {4096, 65536, 131072, 512, 4096, 1 << 20};
	unsigned i = (unsigned)(next(w) % PROCESSES);
	struct process *p = &w->processes[i];
	int64_t took = 300 + (int64_t)(next(w) % 4096), cpu = took / 2;

	w->now_ns += 200 + (int64_t)(next(w) % 2048);
	p->utime_ns += (int64_t)(next(w) % 8192);
	*c = (struct leat_trace_call){.end_ns = w->now_ns,
				      .start_ns = w->now_ns - took,
				      .pid = (int32_t)(100000 + i),
				      .utime_start_ns = p->utime_ns,
				      .utime_end_ns = p->utime_ns,
				      .stime_start_ns = p->stime_ns,
				      .stime_end_ns = p->stime_ns + cpu};
	p->stime_ns += cpu;
	if (!p->handle) {
		p->handle = ++w->handles;
		p->inode = 1 + next(w) % (1 + w->handles);
		p->offset = 0;
		p->left = 1 + next(w) % 200;
		p->size = sizes[next(w) % 6];
		p->flags = next(w) & 1 ? 0x8000 : 0x8241;
		snprintf(w->path, sizeof(w->path),
			 "/data/run/work/%02" PRIx64 "/%028" PRIx64 "/sample_%" PRIu64 ".fastq.gz",
			 p->inode & 0xff, p->inode * UINT64_C(0x9e3779b97f4a7c15), p->inode % 100);
		c->path = w->path;
		c->type = p->flags & 1 ? LEAT_TRACE_CREATE : LEAT_TRACE_OPEN;
	} else if (!p->left) {
		c->type = LEAT_TRACE_CLOSE;
	} else {
		if (next(w) % 16 == 0)
			p->offset = next(w) % (1u << 30);
		c->type = p->flags & 1 ? LEAT_TRACE_WRITE : LEAT_TRACE_READ;
		c->size = p->size;
		c->result = next(w) % 32 ? (int64_t)p->size : (int64_t)(next(w) % p->size);
		c->offset = p->offset;
		p->offset += (uint64_t)c->result;
		p->left--;
	}
	c->inode = p->inode;
	c->handle = p->handle;
	c->flags = p->flags;
	if (c->type == LEAT_TRACE_CLOSE)
		p->handle = 0;
}

/* Of this process, on CPUs: what others do meanwhile, and the disk, is not ours to measure. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What making the records alone takes. */
static double idle(uint64_t events)
{
	struct leat_trace_call c;
	uint64_t sum = 0;
	struct world w;
	double from = now_s();

	begin(&w);
	for (uint64_t i = 0; i < events; i++) {
		step(&w, &c);
		sum += c.offset;
	}
	return sum == 1 ? 0 : now_s() - from;
}

static double write_all(const char *path, uint64_t events)
{
	const struct leat_trace_head head = {.began_ns = 1};
	struct leat_trace_writer *t = leat_trace_writer_new(path, &head);
	struct leat_trace_record record = {.kind = LEAT_TRACE_CALL};
	struct world w;
	double from = now_s();

	if (!t)
		bench_die("write", path);
	begin(&w);
	for (uint64_t i = 0; i < events; i++) {
		step(&w, &record.call);
		if (leat_trace_write(t, &record))
			break; /* the end says why */
	}
	errno = -leat_trace_writer_end(t, NULL);
	if (errno)
		bench_die("write", path);
	return now_s() - from;
}

static double read_all(const char *path, uint64_t events)
{
	struct leat_trace_reader *r = leat_trace_reader_new(path, NULL, 0);
	struct leat_trace_record record;
	uint64_t n = 0, sum = 0;
	double from = now_s();

	if (!r)
		bench_die("read", path);
	while (leat_trace_read(r, &record) == 1) {
		sum += record.call.offset;
		n++;
	}
	if (n != events || !leat_trace_reader_tail(r, 0)->complete || sum == 1) {
		fprintf(stderr, "bench: %s: %s\n", path, leat_trace_reader_why(r));
		exit(1);
	}
	leat_trace_reader_free(r);
	return now_s() - from;
}

static void measure(const char *dir, const char *end, uint64_t events, double making, bool keep)
{
	char path[4096], beside[4096];
	double writing, reading;
	struct stat st;

	snprintf(path, sizeof(path), "%s/bench%s", dir, end);
	writing = write_all(path, events) - making;
	reading = read_all(path, events);
	if (stat(path, &st) < 0)
		bench_die("stat", path);
	printf("%-7s written %6.2f M, read %6.2f M events in a CPU second, %6.1f bytes each\n", end,
	       (double)events / writing / 1e6, (double)events / reading / 1e6,
	       (double)st.st_size / (double)events);
	if (keep)
		return;
	snprintf(beside, sizeof(beside), "%s/bench.pids.csv", dir);
	unlink(path);
	unlink(beside);
}

int main(int argc, char **argv)
{
	bool keep = argc > 1 && strcmp(argv[1], "-k") == 0;
	struct rusage usage;
	uint64_t events;
	double making;

	argv += keep;
	if (argc - keep != 3) {
		fputs("usage: bench_tracerate [-k] DIR EVENTS\n", stderr);
		return 2;
	}
	events = bench_size_parse(argv[2]);
	making = idle(events);
	measure(argv[1], ".csv", events, making, keep);
	measure(argv[1], ".trace", events, making, keep);
	getrusage(RUSAGE_SELF, &usage);
	printf("memory: %ld MB at most\n", usage.ru_maxrss / 1024);
	return 0;
}
