/* The analysis of traces: figures worked out by hand, and random traces beside an oracle that keeps
 * every byte. */
#include "report/analyse.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define T0 (INT64_C(1700000000) * 1000 * MS)

static struct leat_analysis *a;
static int64_t now_ns;

static int setup(void **state)
{
	(void)state;
	a = leat_analysis_new(NULL);
	now_ns = T0;
	return a ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	leat_analysis_free(a);
	a = NULL;
	return 0;
}

static uint32_t task(const char *name)
{
	uint32_t t = UINT32_MAX;

	assert_int_equal(0, leat_analysis_task(a, name, "flow", LEAT_REPORT_TASK, &t));
	return t;
}

/* One millisecond each. */
static void call(uint32_t t, struct leat_trace_call c)
{
	c.start_ns = now_ns;
	now_ns += MS;
	c.end_ns = now_ns;
	assert_int_equal(0, leat_analysis_call(a, 0, t, &c));
}

static void open_file(uint32_t t, const char *path, uint64_t inode, uint64_t handle)
{
	call(t, (struct leat_trace_call){
			.type = LEAT_TRACE_OPEN, .path = path, .inode = inode, .handle = handle});
}

static void move(uint32_t t, enum leat_trace_type type, uint64_t inode, uint64_t handle,
		 uint64_t offset, uint64_t size, int64_t result)
{
	call(t, (struct leat_trace_call){.type = type,
					 .inode = inode,
					 .handle = handle,
					 .offset = offset,
					 .size = size,
					 .result = result});
}

static void close_file(uint32_t t, uint64_t inode, uint64_t handle)
{
	call(t,
	     (struct leat_trace_call){.type = LEAT_TRACE_CLOSE, .inode = inode, .handle = handle});
}

static const struct leat_report_edge *edge(uint32_t t, const char *path)
{
	for (uint32_t i = a->tasks[t].edges; i != UINT32_MAX; i = a->edges[i].next) {
		const char *p = a->files[a->edges[i].file].path;

		if (p && !strcmp(p, path) && !a->files[a->edges[i].file].replaced)
			return &a->edges[i];
	}
	return NULL;
}

/* ---- by hand ---- */

struct step {
	char type;
	uint64_t offset, size;
	int64_t result;
};

static const struct {
	const char *title;
	struct step steps[8];
	uint64_t bytes, unique, sequential, up, down, failed, asked;
} cases[] = {
	{"in order",
	 {{'R', 0, 4096, 4096},
	  {'R', 4096, 4096, 4096},
	  {'R', 8192, 4096, 100},
	  {'R', 8292, 4096, 0}},
	 8292,
	 8292,
	 4,
	 0,
	 0,
	 0,
	 16384},
	{"twice over", {{'R', 0, 100, 100}, {'R', 0, 100, 100}}, 200, 100, 1, 0, 1, 0, 200},
	{"results count, not requests",
	 {{'R', 0, 1000, 10}, {'R', 10, 1000, 0}},
	 10,
	 10,
	 2,
	 0,
	 0,
	 0,
	 2000},
	{"a hole forwards", {{'R', 0, 10, 10}, {'R', 20, 10, 10}}, 20, 20, 1, 1, 0, 0, 20},
	{"overlaps",
	 {{'R', 0, 10, 10}, {'R', 5, 10, 10}, {'R', 30, 5, 5}, {'R', 14, 20, 20}},
	 45,
	 35,
	 1,
	 1,
	 2,
	 0,
	 45},
	{"failed ones move nothing",
	 {{'R', 0, 10, 10}, {'R', 10, 10, -EIO}, {'R', 10, 10, 10}},
	 20,
	 20,
	 2,
	 0,
	 0,
	 1,
	 30},
	{"begins behind the beginning", {{'R', 512, 8, 8}}, 8, 8, 0, 1, 0, 0, 8},
	{"at the end of all places",
	 {{'R', UINT64_MAX - 4, 100, 100}, {'R', UINT64_MAX, 1, 1}},
	 101,
	 4,
	 1,
	 1,
	 0,
	 0,
	 101},
};

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct leat_transfer *sum;
		const struct leat_report_edge *p;
		char name[16];
		uint32_t t;

		print_message("%s\n", cases[i].title);
		snprintf(name, sizeof(name), "/f%zu", i);
		t = task(name);
		open_file(t, name, i + 1, i + 1);
		for (const struct step *s = cases[i].steps; s->type; s++)
			move(t, (enum leat_trace_type)s->type, i + 1, i + 1, s->offset, s->size,
			     s->result);
		p = edge(t, name);
		sum = &p->ways[LEAT_READ]->sum;
		assert_int_equal(cases[i].bytes, sum->bytes);
		assert_int_equal(cases[i].unique, leat_edge_unique(p, LEAT_READ));
		assert_int_equal(cases[i].sequential, sum->sequential);
		assert_int_equal(cases[i].up, sum->up);
		assert_int_equal(cases[i].down, sum->down);
		assert_int_equal(cases[i].failed, sum->failed);
		assert_int_equal(cases[i].asked, sum->asked);
		assert_null(p->ways[LEAT_WRITTEN]);
	}
}

/* A producer, a consumer that reads all of it twice and in parts, and a log. */
/* What a device has been read is not read again, whatever the kernel's offset says. */
static void test_devices(void **state)
{
	uint32_t t = task("t");
	static const struct {
		const char *path;
		bool device;
	} files[] = {{"/dev/urandom", true}, {"/dev/shm/x", false}, {"/device/x", false}};

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		const struct leat_report_edge *p;

		open_file(t, files[i].path, i + 1, i + 1);
		for (int n = 0; n < 4; n++)
			move(t, LEAT_TRACE_READ, i + 1, i + 1, 0, 100, 100);
		p = edge(t, files[i].path);
		assert_non_null(p);
		assert_int_equal(400, leat_edge_bytes(p, LEAT_READ));
		assert_int_equal(files[i].device ? 400 : 100, leat_edge_unique(p, LEAT_READ));
		assert_int_equal(files[i].device ? 0 : 3, p->ways[LEAT_READ]->sum.down);
		assert_int_equal(files[i].device ? 4 : 1, p->ways[LEAT_READ]->sum.sequential);
	}
}

static void test_two_tasks(void **state)
{
	uint32_t make = task("make"), use = task("use");
	uint64_t written = 0, time_ns = 0;
	const struct leat_report_edge *p;

	(void)state;
	open_file(make, "/data/x", 1, 1);        /* 0-1 ms */
	move(make, 'W', 1, 1, 0, 1000, 1000);    /* 1-2 */
	move(make, 'W', 1, 1, 1000, 1000, 1000); /* 2-3 */
	move(make, 'R', 1, 1, 500, 1000, 1000);  /* 3-4: reads what it wrote */
	close_file(make, 1, 1);                  /* 4-5 */
	open_file(use, "/data/x", 1, 2);         /* 5-6 */
	for (int i = 0; i < 2; i++)              /* 6-10 */
		for (uint64_t at = 0; at < 2000; at += 1000)
			move(use, 'R', 1, 2, at, 1000, 1000);
	close_file(use, 1, 2); /* 10-11 */
	leat_analysis_alive(a, use, T0 + 15 * MS);
	leat_analysis_finish(a);

	p = edge(make, "/data/x");
	assert_int_equal(2000, leat_edge_bytes(p, LEAT_WRITTEN));
	assert_int_equal(1000, leat_edge_bytes(p, LEAT_READ));
	assert_int_equal(1000, p->read_back);
	assert_int_equal(T0 + 1 * MS, p->first_ns);
	assert_int_equal(T0 + 4 * MS, p->last_ns);
	assert_int_equal(T0, p->opened_ns);
	/* 3 of 5 ms. */
	assert_int_equal(60, (int)(leat_edge_bulkiness(a, p) + 0.5));
	p = edge(use, "/data/x");
	assert_int_equal(4000, leat_edge_bytes(p, LEAT_READ));
	assert_int_equal(2000, leat_edge_unique(p, LEAT_READ));
	/* 4 of 10 ms, since it was seen alive at 15 ms. */
	assert_int_equal(40, (int)(leat_edge_bulkiness(a, p) + 0.5));
	assert_int_equal(4, p->ways[LEAT_READ]->sum.sizes[10]);
	assert_int_equal(4 * MS, p->ways[LEAT_READ]->sum.time_ns);
	/* By its manager's word it ran from 5 to 25 ms. */
	a->tasks[use].began_ns = T0 + 5 * MS;
	a->tasks[use].ended_ns = T0 + 25 * MS;
	assert_int_equal(20, (int)(leat_edge_bulkiness(a, p) + 0.5));

	/* One file of five records: 2 writes, 5 reads; each a span. */
	assert_int_equal(7, a->files[p->file].spans.n);
	assert_int_equal(2000, a->ways[LEAT_WRITTEN].bytes);
	assert_int_equal(5000, a->ways[LEAT_READ].bytes);
	assert_int_equal(11, a->n_calls);
	for (int i = 0; i < LEAT_SERIES_PIECES; i++) {
		written += a->series.v[i][LEAT_SERIES_WRITTEN];
		time_ns += a->series.v[i][LEAT_SERIES_TIME];
	}
	assert_int_equal(2000, written);
	assert_int_equal(11 * MS, time_ns);
	assert_int_equal(11 * MS, leat_calls_time_ns(a->calls));
}

static void test_names(void **state)
{
	uint32_t t = task("t");

	(void)state;
	/* Made anew under its name it is the same file for a person. */
	open_file(t, "/x", 1, 1);
	move(t, 'W', 1, 1, 0, 10, 10);
	close_file(t, 1, 1);
	call(t, (struct leat_trace_call){.type = LEAT_TRACE_UNLINK, .path = "/x", .inode = 1});
	call(t, (struct leat_trace_call){
			.type = LEAT_TRACE_CREATE, .path = "/x", .inode = 2, .handle = 2});
	move(t, 'W', 2, 2, 0, 10, 10);
	assert_int_equal(20, leat_edge_bytes(edge(t, "/x"), LEAT_WRITTEN));
	assert_int_equal(10, leat_edge_unique(edge(t, "/x"), LEAT_WRITTEN));
	assert_false(a->files[edge(t, "/x")->file].removed);
	/* Renamed over another. */
	open_file(t, "/y", 3, 3);
	move(t, 'W', 3, 3, 0, 7, 7);
	call(t, (struct leat_trace_call){
			.type = LEAT_TRACE_RENAME, .path = "/y", .to = "/x", .inode = 3});
	assert_null(edge(t, "/y"));
	assert_int_equal(7, leat_edge_bytes(edge(t, "/x"), LEAT_WRITTEN));
	/* Of a file whose open the trace does not have. */
	move(t, 'R', 9, 9, 100, 5, 5);
	assert_int_equal(1, a->gaps.nameless);
	assert_int_equal(5, a->tasks[t].ways[LEAT_READ].bytes);
	/* What fails leaves nothing but a count. */
	call(t,
	     (struct leat_trace_call){.type = LEAT_TRACE_OPEN, .path = "/no", .result = -ENOENT});
	assert_null(edge(t, "/no"));
	assert_int_equal(1, a->tasks[t].calls[leat_analysis_type_index(LEAT_TRACE_OPEN)].failed);
}

static void test_nodes(void **state)
{
	struct leat_trace_mount local = {.at = "/", .from = "/", .type = "ext4"};
	struct leat_trace_mount nfs = {.at = "/home/", .from = "/home/", .type = "nfs4"};
	struct leat_trace_call c = {
		.type = LEAT_TRACE_OPEN, .start_ns = T0, .end_ns = T0 + 1, .inode = 1, .handle = 1};
	uint32_t t = task("t");

	(void)state;
	for (unsigned node = 0; node < 2; node++) {
		assert_int_equal(0, leat_analysis_mount(a, node, &local));
		assert_int_equal(0, leat_analysis_mount(a, node, &nfs));
		c.path = "/tmp/x";
		c.inode = c.handle = 1;
		assert_int_equal(0, leat_analysis_call(a, node, t, &c));
		c.path = "/home/x";
		c.inode = c.handle = 2;
		assert_int_equal(0, leat_analysis_call(a, node, t, &c));
	}
	/* "(others)", two of /tmp, one of /home. */
	assert_int_equal(4, a->n_files);
	/* That of what is unknown, two ext4, one nfs4. */
	assert_int_equal(4, a->n_systems);
	assert_int_equal(2, a->n_nodes);
}

/* A container has a file system of its own where the machine has a directory, or sees the machine's
 * by a mount of leat's. */
static void test_mounts_of_containers(void **state)
{
	struct leat_trace_mount machine = {.at = "/", .from = "/", .type = "ext4"};
	struct leat_trace_mount own = {.namespace_id = 7, .at = "/tmp", .type = "tmpfs"};
	struct leat_trace_mount view = {
		.namespace_id = 8, .at = "/", .from = "/", .type = "fuse.leat"};
	uint32_t t = task("t");

	(void)state;
	assert_int_equal(0, leat_analysis_mount(a, 0, &machine));
	assert_int_equal(0, leat_analysis_mount(a, 0, &own));
	assert_int_equal(0, leat_analysis_mount(a, 0, &view));
	open_file(t, "/tmp/x", 1, 1);
	assert_string_equal("/tmp/x", a->files[1].path);
	assert_string_equal("ext4", a->systems[a->files[1].system].type);
}

static uint64_t sum_of(const struct leat_report_series *s, enum leat_series_of of)
{
	uint64_t sum = 0;

	for (int i = 0; i < LEAT_SERIES_PIECES; i++)
		sum += s->v[i][of];
	return sum;
}

/* Long waits are spread over the pieces of time. */
static void test_series(void **state)
{
	const uint64_t piece = UINT64_C(1) << LEAT_SERIES_SHIFT;
	struct leat_report_series s = {0}, both = {0};

	(void)state;
	leat_series_add(&s, LEAT_SERIES_READ, 0, 10 * piece, 1001);
	assert_int_equal(100, s.v[0][LEAT_SERIES_READ]);
	assert_int_equal(piece, s.v[3][LEAT_SERIES_TIME]);
	assert_int_equal(1001, sum_of(&s, LEAT_SERIES_READ));
	assert_int_equal(10 * piece, sum_of(&s, LEAT_SERIES_TIME));
	leat_series_add(&s, LEAT_SERIES_READ, 256 * piece, 256 * piece, 5);
	assert_int_equal(2 * piece, leat_series_piece_ns(&s));
	assert_int_equal(200, s.v[0][LEAT_SERIES_READ]);
	assert_int_equal(5, s.v[128][LEAT_SERIES_READ]);
	leat_series_add(&both, LEAT_SERIES_WRITTEN, piece / 2, 3 * piece / 2, 3);
	leat_series_add_all(&both, &s);
	assert_int_equal(3, both.v[0][LEAT_SERIES_WRITTEN]);
	assert_int_equal(5, both.v[128][LEAT_SERIES_READ]);
	leat_series_add(&s, LEAT_SERIES_READ, INT64_MAX, INT64_MAX, 7);
	assert_int_equal(1013, sum_of(&s, LEAT_SERIES_READ));
	leat_series_add(&s, LEAT_SERIES_READ, 10, 5, 7);
	assert_int_equal(1020, sum_of(&s, LEAT_SERIES_READ));
}

/* ---- beside an oracle ---- */

enum { SPACE = 4096, FILES = 3, TASKS = 3 };

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static struct {
	unsigned char seen[TASKS][FILES][LEAT_WAYS][SPACE];
	uint64_t bytes[TASKS][FILES][LEAT_WAYS];
	uint64_t orders[TASKS][FILES][LEAT_WAYS][3];
	uint64_t read_back[TASKS][FILES];
	uint64_t at[FILES];
} oracle;

static void play(uint32_t t, uint32_t f)
{
	int way = (int)random_below(2);
	uint64_t size = random_below(64) ? random_below(40) : random_below(1000);
	uint64_t offset = random_below(3) ? oracle.at[f] : random_below(SPACE);
	int64_t result;

	if (offset >= SPACE)
		offset = 0;
	if (offset + size > SPACE)
		size = SPACE - offset;
	result = random_below(10) ? (int64_t)random_below((uint32_t)size + 1) : -EIO;
	move(t + 1, way ? 'W' : 'R', f + 1, f + 1, offset, size, result);
	if (result < 0)
		return;
	for (uint64_t i = offset; i < offset + (uint64_t)result; i++) {
		oracle.seen[t][f][way][i] = 1;
		oracle.read_back[t][f] += !way && oracle.seen[t][f][LEAT_WRITTEN][i];
	}
	oracle.bytes[t][f][way] += (uint64_t)result;
	oracle.orders[t][f][way][offset < oracle.at[f] ? 2 : offset > oracle.at[f] ? 1 : 0]++;
	oracle.at[f] = offset + (uint64_t)result;
}

static void compare(uint32_t t, uint32_t f, const char *path)
{
	const struct leat_report_edge *p = edge(t + 1, path);

	for (int way = 0; way < LEAT_WAYS; way++) {
		const struct leat_transfer *sum = p && p->ways[way] ? &p->ways[way]->sum : NULL;
		uint64_t unique = 0;

		for (size_t i = 0; i < SPACE; i++)
			unique += oracle.seen[t][f][way][i];
		assert_int_equal(oracle.bytes[t][f][way], sum ? sum->bytes : 0);
		if (!sum)
			continue;
		assert_int_equal(unique, leat_edge_unique(p, (enum leat_way)way));
		assert_int_equal(oracle.orders[t][f][way][0], sum->sequential);
		assert_int_equal(oracle.orders[t][f][way][1], sum->up);
		assert_int_equal(oracle.orders[t][f][way][2], sum->down);
	}
	if (p)
		assert_int_equal(oracle.read_back[t][f], p->read_back);
}

static void test_random(void **state)
{
	static const char *const paths[FILES] = {"/a", "/b", "/c"};

	for (uint32_t round = 0; round < 300; round++) {
		char name[] = "t0";

		teardown(state);
		setup(state);
		memset(&oracle, 0, sizeof(oracle));
		seed = round;
		for (uint32_t t = 0; t < TASKS; t++) {
			name[1] = (char)('0' + t);
			assert_int_equal(t + 1, task(name));
		}
		for (uint32_t f = 0; f < FILES; f++)
			open_file(1, paths[f], f + 1, f + 1);
		for (uint32_t i = random_below(800); i > 0; i--)
			play(random_below(TASKS), random_below(FILES));
		for (uint32_t t = 0; t < TASKS; t++)
			for (uint32_t f = 0; f < FILES; f++)
				compare(t, f, paths[f]);
	}
}

/* ---- in little memory ---- */

/* Of scattered calls an estimate is left, which is near. */
static void test_estimate(void **state)
{
	static const struct {
		uint64_t space, size;
		uint32_t calls;
	} scattered[] = {{1 << 20, 1, 200000},
			 {UINT64_C(1) << 40, 4096, 100000},
			 {UINT64_C(1) << 30, 100, 300000},
			 {100 << 20, 4096, 100000}};

	(void)state;
	for (size_t i = 0; i < sizeof(scattered) / sizeof(*scattered); i++) {
		struct leat_coverage_budget capacity = {.bytes = 1 << 20, .most = 1024};
		uint64_t slots = scattered[i].space / scattered[i].size, unique = 0, found;
		unsigned char *seen = calloc(1, slots / 8 + 1);
		struct leat_coverage c = {0};

		assert_non_null(seen);
		seed = (uint32_t)i;
		for (uint32_t k = 0; k < scattered[i].calls; k++) {
			uint64_t slot =
				((uint64_t)random_below(1 << 20) << 20 | random_below(1 << 20)) %
				slots;

			if (!(seen[slot / 8] & 1 << slot % 8))
				unique++;
			seen[slot / 8] |= (unsigned char)(1 << slot % 8);
			assert_int_equal(0, leat_coverage_add(&c, slot * scattered[i].size,
							      (slot + 1) * scattered[i].size,
							      &capacity));
		}
		found = leat_coverage_bytes(&c);
		unique *= scattered[i].size;
		print_message("%llu unique bytes, estimated as %llu, %u ranges, level %u\n",
			      (unsigned long long)unique, (unsigned long long)found, c.n, c.level);
		assert_false(leat_coverage_is_exact(&c));
		assert_in_range(c.n, 1, 1024);
		assert_in_range(found, unique * 80 / 100, unique * 120 / 100);
		assert_in_range(capacity.used_bytes, 1, 1 << 20);
		/* A look at the whole file makes it one range again, or nearly. */
		assert_int_equal(0, leat_coverage_add(&c, 0, scattered[i].space, &capacity));
		assert_in_range(leat_coverage_bytes(&c), scattered[i].space * 80 / 100,
				scattered[i].space * 120 / 100);
		leat_coverage_release(&c, &capacity);
		assert_int_equal(0, capacity.used_bytes);
		free(seen);
	}
}

/* A look far beyond all there was is not looked at block by block. */
static void test_far(void **state)
{
	struct leat_coverage_budget capacity = {.bytes = 1 << 20, .most = 64};
	struct leat_coverage c = {0};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(0, leat_coverage_add(&c, 2 * i, 2 * i + 1, &capacity));
	assert_in_range(leat_coverage_bytes(&c), 500, 1500);
	assert_int_equal(0, leat_coverage_add(&c, 0, UINT64_C(1) << 62, &capacity));
	assert_int_equal(UINT64_C(1) << 62, leat_coverage_bytes(&c));
	assert_int_equal(1000, leat_coverage_overlap(&c, 500, 1500));
	assert_int_equal(0, leat_coverage_add(&c, UINT64_MAX - 9, UINT64_MAX, &capacity));
	assert_false(leat_coverage_is_exact(&c));
	leat_coverage_release(&c, &capacity);
}

static void test_spans(void **state)
{
	struct leat_spans_budget capacity = {.bytes = 1 << 20, .most = 256};
	struct leat_spans s = {0};
	uint64_t bytes = 0, calls = 0;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		struct leat_span span = {.begin_ns = i * UINT64_C(1000),
					 .end_ns = i * UINT64_C(1000) + 500,
					 .from = i * UINT64_C(100),
					 .to = i * UINT64_C(100) + 100,
					 .bytes = 100,
					 .calls = 1,
					 .task = i % 3,
					 .write = i % 3 == 0};

		assert_int_equal(0, leat_spans_add(&s, &span, &capacity));
		assert_in_range(s.n, 1, 256);
	}
	leat_spans_finish(&s, &capacity);
	for (uint32_t i = 0; i < s.n; i++) {
		assert_true(!i || s.v[i].begin_ns >= s.v[i - 1].begin_ns);
		bytes += s.v[i].bytes;
		calls += s.v[i].calls;
		assert_true(s.v[i].from <= s.v[i].to && s.v[i].begin_ns <= s.v[i].end_ns);
		/* Near one another: a 16th of all at most. */
		assert_in_range(s.v[i].to - s.v[i].from, 1, 10000000 / 16);
		assert_true(s.v[i].write == (s.v[i].task == 0));
	}
	assert_int_equal(10000000, bytes);
	assert_int_equal(100000, calls);
	leat_spans_release(&s, &capacity);
	assert_int_equal(0, capacity.used_bytes);
}

/* More of everything than there is space for: nothing is lost from the sums. */
static void test_folding(void **state)
{
	struct leat_analysis_limits limits = {.tasks = 4,
					      .files = 16,
					      .edges = 24,
					      .handles = 8,
					      .coverage = {.bytes = 4096, .most = 64},
					      .spans = {.bytes = 4096, .most = 16}};
	uint64_t bytes = 0, by_edge = 0, by_file = 0, by_task = 0;

	teardown(state);
	a = leat_analysis_new(&limits);
	assert_non_null(a);
	for (uint32_t i = 0; i < 3000; i++) {
		char name[32], path[64];
		uint32_t t;

		snprintf(name, sizeof(name), "t%u", i % 7);
		snprintf(path, sizeof(path), "/d%u/f%u", i % 40, i % 500);
		t = task(name);
		assert_in_range(t, 0, 3);
		open_file(t, path, i % 500 + 1, i + 1);
		move(t, i & 1 ? 'W' : 'R', i % 500 + 1, i + 1, i * 37 % 10000, 100, i % 100);
		bytes += i % 100;
		if (i % 3)
			close_file(t, i % 500 + 1, i + 1);
	}
	leat_analysis_finish(a);
	for (uint32_t i = 0; i < a->n_edges; i++)
		by_edge += leat_edge_bytes(&a->edges[i], LEAT_READ) +
			   leat_edge_bytes(&a->edges[i], LEAT_WRITTEN);
	for (uint32_t i = 0; i < a->n_files; i++)
		by_file += a->files[i].bytes[LEAT_READ] + a->files[i].bytes[LEAT_WRITTEN];
	for (uint32_t i = 0; i < a->n_tasks; i++)
		by_task += a->tasks[i].ways[LEAT_READ].bytes + a->tasks[i].ways[LEAT_WRITTEN].bytes;
	assert_int_equal(bytes, by_edge);
	assert_int_equal(bytes, by_file);
	assert_int_equal(bytes, by_task);
	assert_in_range(a->n_tasks, 4, 4);
	assert_in_range(a->n_files, 17, 18);
	assert_in_range(a->n_edges, 24, 28);
	assert_true(a->gaps.folded_tasks && a->gaps.folded_files && a->gaps.folded_edges &&
		    a->gaps.forgotten);
}

/* Clocks that go back, and times that cannot be. */
static void test_times(void **state)
{
	static const int64_t times[][2] = {{T0, T0 + MS},
					   {T0 - 5 * MS, T0 - 6 * MS},
					   {INT64_MIN, INT64_MAX},
					   {INT64_MAX, INT64_MIN},
					   {0, 0}};
	uint32_t t = task("t");

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct leat_trace_call c = {.type = LEAT_TRACE_READ,
					    .inode = 1,
					    .handle = 1,
					    .start_ns = times[i][0],
					    .end_ns = times[i][1],
					    .result = 8,
					    .size = 8};

		assert_int_equal(0, leat_analysis_call(a, 0, t, &c));
	}
	leat_analysis_finish(a);
	assert_int_equal(40, a->ways[LEAT_READ].bytes);
	(void)leat_edge_bulkiness(a, &a->edges[0]);
	assert_true(leat_task_run_ns(&a->tasks[t]) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_hand, setup, teardown),
		cmocka_unit_test_setup_teardown(test_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nodes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mounts_of_containers, setup, teardown),
		cmocka_unit_test(test_series),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_spans),
		cmocka_unit_test_setup_teardown(test_folding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
