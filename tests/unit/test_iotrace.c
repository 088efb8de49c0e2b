/* Traces: what is written is read back, in either form; what is damaged is named and passed over;
 * what was cut off is a part and says so; several are read as one. */
#include "iotrace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char dir[] = "/tmp/leat-trace-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return chdir("/") || system(command);
}

static void put_file(const char *path, const char *text, size_t size)
{
	FILE *f;

	unlink(path); /* ext4 writes a file that was truncated to the disk when it is closed */
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static char *get_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *text;
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = malloc((size_t)st.st_size + 1);
	*size = fread(text, 1, (size_t)st.st_size, f);
	text[*size] = '\0';
	fclose(f);
	return text;
}

/* ---- records ---- */

static const char *const ends[] = {".csv", ".trace"};

static void assert_same_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void assert_same_call(const struct leat_trace_call *a, const struct leat_trace_call *b)
{
	assert_true(a->start_ns == b->start_ns && a->end_ns == b->end_ns);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->type, b->type);
	assert_true(a->utime_start_ns == b->utime_start_ns && a->utime_end_ns == b->utime_end_ns);
	assert_true(a->stime_start_ns == b->stime_start_ns && a->stime_end_ns == b->stime_end_ns);
	assert_true(a->inode == b->inode && a->handle == b->handle);
	assert_true(a->result == b->result);
	assert_true(a->offset == b->offset && a->size == b->size);
	assert_int_equal(a->flags, b->flags);
	assert_same_text(a->path, b->path);
	assert_same_text(a->to, b->to);
	assert_same_text(a->outside, b->outside);
	assert_same_text(a->to_outside, b->to_outside);
}

static void assert_same(const struct leat_trace_record *a, const struct leat_trace_record *b)
{
	assert_int_equal(a->kind, b->kind);
	switch (a->kind) {
	case LEAT_TRACE_CALL:
		assert_same_call(&a->call, &b->call);
		break;
	case LEAT_TRACE_PROCESS:
		assert_true(a->process.time_ns == b->process.time_ns);
		assert_int_equal(a->process.change, b->process.change);
		assert_int_equal(a->process.ppid, b->process.ppid);
		assert_int_equal(a->process.pid, b->process.pid);
		assert_true(a->process.cgroup == b->process.cgroup);
		assert_int_equal(a->process.status, b->process.status);
		assert_true(a->process.mounts == b->process.mounts);
		assert_same_text(a->process.program, b->process.program);
		assert_same_text(a->process.dir, b->process.dir);
		assert_same_text(a->process.labels, b->process.labels);
		break;
	case LEAT_TRACE_CGROUP:
		assert_true(a->cgroup.id == b->cgroup.id);
		assert_same_text(a->cgroup.path, b->cgroup.path);
		break;
	case LEAT_TRACE_MOUNT:
		assert_true(a->mount.namespace_id == b->mount.namespace_id);
		assert_same_text(a->mount.at, b->mount.at);
		assert_same_text(a->mount.from, b->mount.from);
		assert_same_text(a->mount.type, b->mount.type);
		break;
	case LEAT_TRACE_UNSEEN:
		assert_true(a->unseen.times == b->unseen.times);
		assert_same_text(a->unseen.program, b->unseen.program);
		assert_same_text(a->unseen.why, b->unseen.why);
		break;
	}
}

#define CALL(letter, ...)                                                                          \
	{                                                                                          \
		.kind = LEAT_TRACE_CALL, .call = {.type = LEAT_TRACE_##letter, __VA_ARGS__ }       \
	}
#define PROCESS(what, ...)                                                                         \
	{                                                                                          \
		.kind = LEAT_TRACE_PROCESS, .process = {.change = LEAT_TRACE_##what, __VA_ARGS__ } \
	}

/* In the order in which they are read. */
static const struct leat_trace_record samples[] = {
	{.kind = LEAT_TRACE_CGROUP, .cgroup = {.id = UINT64_MAX, .path = "/a,b/\"c\".scope"}},
	{.kind = LEAT_TRACE_MOUNT,
	 .mount = {.namespace_id = 4026531840, .at = "/work", .from = NULL, .type = "ext4"}},
	{.kind = LEAT_TRACE_MOUNT, .mount = {.at = "/a\nb", .from = "/,", .type = "fuse.x"}},
	{.kind = LEAT_TRACE_UNSEEN, .unseen = {.times = 3, .program = "/bin/\"a\",b"}},
	{.kind = LEAT_TRACE_UNSEEN, .unseen = {.times = 1, .program = "c", .why = "it is static"}},
	PROCESS(FORK, .time_ns = 1, .ppid = 1, .pid = 2, .cgroup = UINT64_MAX),
	CALL(OPEN, .start_ns = -5, .end_ns = 2, .pid = INT32_MAX, .inode = UINT64_MAX,
	     .handle = UINT64_MAX, .flags = 0x8000, .path = "/plain"),
	CALL(CREATE, .end_ns = 3, .result = -2, .flags = UINT32_MAX, .path = ""),
	CALL(OPEN, .end_ns = 4, .path = "/with, comma \"quotes\"\nnewline\r\t'\xff\xfe\xc3"),
	CALL(OPEN, .end_ns = 5, .path = "\"\""),
	CALL(OPEN, .end_ns = 5, .path = "# end: "),
	CALL(OPEN, .end_ns = 5, .path = "\"\n1,2,3,\"\"\n"),
	CALL(UNLINK, .end_ns = 6, .inode = 1, .path = "/u"),
	CALL(UNLINK, .end_ns = 6, .inode = 1),
	CALL(RENAME, .end_ns = 7, .path = "/from", .to = "/to \",\""),
	PROCESS(EXEC, .time_ns = 1714067937745999999, .pid = 9, .mounts = 4026531841,
		.program = "/bin/sh", .dir = "/", .labels = "LEAT_STEP=a%20b SLURM_JOB_ID=7"),
	CALL(READ, .start_ns = 1714067937744000001, .end_ns = 1714067937745999999, .pid = 1,
	     .utime_start_ns = 1, .utime_end_ns = 999999999, .stime_start_ns = 1000000000,
	     .stime_end_ns = 27151123456789, .inode = 5277, .result = 512, .handle = 35625,
	     .offset = 1034, .size = 512, .flags = 0x8000),
	CALL(WRITE, .end_ns = 1714067937745999999, .result = INT64_MIN, .offset = UINT64_MAX,
	     .size = UINT64_MAX),
	PROCESS(EXIT, .time_ns = 1714067937745999999, .pid = -1, .status = INT32_MIN, .dir = ""),
	CALL(CLOSE, .end_ns = 1714067937746000000, .handle = 35625),
	CALL(MAP, .end_ns = 1714067937746000000, .size = 4096, .flags = 3),
	CALL(TRUNCATE, .end_ns = 9000000000000000000, .result = INT64_MAX, .size = 1),
	CALL(OPEN, .end_ns = 9000000000000000000, .path = "/w/x", .outside = "/data/\"x\",\n"),
	CALL(RENAME, .end_ns = 9000000000000000000, .path = "/w/x", .to = "/tmp/x",
	     .outside = "/data/x", .to_outside = "tmpfs[0:55]:/x"),
	CALL(UNLINK, .end_ns = 9000000000000000000, .path = "/w/y", .outside = ""),
};

static char host[] = "node,1", tracer[] = "ptrace", command[] = "sh -c 'a\nb' %41";
static const struct leat_trace_head head = {
	.host = host, .tracer = tracer, .command = command, .began_ns = 1714067937000000001};

static struct leat_trace_writer *writer_of(const char *path)
{
	struct leat_trace_writer *w = leat_trace_writer_new(path, &head);

	assert_non_null(w);
	return w;
}

static void write_samples(const char *path)
{
	struct leat_trace_writer *w = writer_of(path);
	struct leat_trace_tail tail;

	for (size_t i = 0; i < COUNT(samples); i++)
		assert_int_equal(leat_trace_write(w, &samples[i]), 0);
	leat_trace_writer_lost(w, LEAT_TRACE_LOST_BUFFER, 5);
	leat_trace_writer_lost(w, LEAT_TRACE_LOST_PATH, 1);
	assert_int_equal(leat_trace_writer_end(w, &tail), 0);
	assert_int_equal(tail.calls, 17);
	assert_int_equal(tail.processes, 3);
	assert_true(tail.complete);
}

static struct leat_trace_reader *reader_of(const char *path)
{
	char why[512] = "";
	struct leat_trace_reader *r = leat_trace_reader_new(path, why, sizeof(why));

	if (!r)
		fail_msg("%s: %s (%s)", path, why, strerror(errno));
	return r;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (size_t form = 0; form < COUNT(ends); form++) {
		const struct leat_trace_tail *tail;
		struct leat_trace_reader *r;
		struct leat_trace_record record;
		char path[32];

		snprintf(path, sizeof(path), "a%s", ends[form]);
		write_samples(path);
		r = reader_of(path);
		assert_int_equal(leat_trace_reader_nodes(r), 1);
		assert_string_equal(leat_trace_reader_head(r, 0)->host, head.host);
		assert_string_equal(leat_trace_reader_head(r, 0)->tracer, head.tracer);
		assert_string_equal(leat_trace_reader_head(r, 0)->command, head.command);
		assert_true(leat_trace_reader_head(r, 0)->began_ns == head.began_ns);
		assert_false(leat_trace_reader_head(r, 0)->foreign);
		for (size_t i = 0; i < COUNT(samples); i++) {
			assert_int_equal(leat_trace_read(r, &record), 1);
			assert_same(&record, &samples[i]);
			assert_int_equal(record.node, 0);
		}
		assert_int_equal(leat_trace_read(r, &record), 0);
		assert_int_equal(leat_trace_read(r, &record), 0);
		tail = leat_trace_reader_tail(r, 0);
		assert_true(tail->complete);
		assert_int_equal(tail->calls, 17);
		assert_int_equal(tail->processes, 3);
		assert_int_equal(tail->lost[LEAT_TRACE_LOST_BUFFER], 5);
		assert_int_equal(tail->lost[LEAT_TRACE_LOST_PATH], 1);
		assert_int_equal(tail->lost[LEAT_TRACE_LOST_WRITE], 0);
		leat_trace_reader_free(r);
	}
}

/* ---- cut off, and damaged ---- */

/* How many records, of which no other than the samples' first ones. */
static void count(struct leat_trace_reader *r, size_t *good, size_t *bad)
{
	struct leat_trace_record record;
	int rc;

	*good = *bad = 0;
	while ((rc = leat_trace_read(r, &record)) != 0) {
		if (rc == 1) {
			++*good;
			continue;
		}
		assert_int_equal(rc, -EBADMSG);
		assert_true(*leat_trace_reader_why(r));
		++*bad;
	}
}

/* At whatever byte a trace ends, what is read is its beginning, and it is said to be a part. */
static void test_cut_off(void **state)
{
	(void)state;
	for (size_t form = 0; form < COUNT(ends); form++) {
		char path[32], why[512];
		size_t size, good, bad, least = SIZE_MAX;

		snprintf(path, sizeof(path), "a%s", ends[form]);
		write_samples(path);
		free(get_file(path, &size));
		while (size-- > 0) {
			struct leat_trace_reader *r;

			assert_int_equal(truncate(path, (off_t)size), 0);
			r = leat_trace_reader_new(path, why, sizeof(why));
			if (!r) {
				assert_int_equal(errno, EBADMSG);
				assert_true(size < 40 && strstr(why, path));
				continue;
			}
			count(r, &good, &bad);
			assert_int_equal(bad, 0);
			assert_true(good <= least);
			least = good;
			assert_false(leat_trace_reader_tail(r, 0)->complete);
			leat_trace_reader_free(r);
		}
	}
}

/* Wherever a byte of a compressed trace is wrong, the blocks that are not have their records. */
static void test_damaged_block(void **state)
{
	enum { BLOCKS = 5, OF_BLOCK = 10 };
	struct leat_trace_record record = CALL(OPEN, .end_ns = 1, .path = "/a");
	struct leat_trace_writer *w = writer_of("a.trace");
	char *text, why[512];
	size_t size, good, bad;

	(void)state;
	for (int i = 0; i < BLOCKS * OF_BLOCK; i++) {
		record.call.handle = (uint64_t)i + 1;
		assert_int_equal(leat_trace_write(w, &record), 0);
		if (i % OF_BLOCK == OF_BLOCK - 1)
			assert_int_equal(leat_trace_writer_flush(w), 0);
	}
	assert_int_equal(leat_trace_writer_end(w, NULL), 0);
	text = get_file("a.trace", &size);
	for (size_t i = 0; i < size; i++) {
		struct leat_trace_reader *r;

		text[i] ^= 0x55;
		put_file("a.trace", text, size);
		text[i] ^= 0x55;
		r = leat_trace_reader_new("a.trace", why, sizeof(why));
		if (!r) {
			assert_int_equal(errno, EBADMSG);
			assert_true(i < 16 && strstr(why, "a.trace: at byte "));
			continue;
		}
		count(r, &good, &bad);
		assert_true(bad >= 1);
		assert_non_null(strstr(leat_trace_reader_why(r), "a.trace: at byte "));
		assert_in_range(good, (BLOCKS - 1) * OF_BLOCK, BLOCKS * OF_BLOCK);
		assert_false(leat_trace_reader_tail(r, 0)->complete);
		leat_trace_reader_free(r);
	}
	free(text);
}

#define CALLS                                                                                      \
	"# leat trace 1\n"                                                                         \
	"time_start,time_end,pid,utime_start,utime_end,stime_start,stime_end,inode,type,result,"   \
	"handle,offset,size,flags,path,to\n"
#define GOOD "1,2,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n"
#define END(calls) "# end: calls " #calls " processes 0\n"

/* Texts of one bad row, and what is said of it. */
static const struct {
	const char *text, *why;
} bad_calls[] = {
	{"x,2,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n",
	 "a.csv:4:1: time_start: \"x\" is not a time in seconds"},
	{"1,,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n", "a.csv:4:3: time_end: \"\" is not a time in seconds"},
	{"1,2.,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n",
	 "a.csv:4:5: time_end: \"\" is not a time in seconds"},
	{"99999999999,2,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n",
	 "a.csv:4:12: time_start: \"\" is too large"},
	{"1,2,x,0,0,0,0,4,R,5,6,7,8,0x9,,\n", "a.csv:4:5: pid: \"x\" is not a number"},
	{"1,2,2147483648,0,0,0,0,4,R,5,6,7,8,0x9,,\n", "a.csv:4:15: pid: \"\" is too large"},
	{"1,2,3,0,0,0,0,-4,R,5,6,7,8,0x9,,\n", "a.csv:4:15: inode: \"-4\" is not a number"},
	{"1,2,3,0,0,0,0,18446744073709551616,R,5,6,7,8,0x9,,\n",
	 "a.csv:4:34: inode: \"6\" is too large"},
	{"1,2,3,0,0,0,0,4,Q,5,6,7,8,0x9,,\n",
	 "a.csv:4:17: type: \"Q\" is none of O C R W U X M N T"},
	{"1,2,3,0,0,0,0,4,RR,5,6,7,8,0x9,,\n",
	 "a.csv:4:18: type: \"R\" has something behind its value"},
	{"1,2,3,0,0,0,0,4,R,9223372036854775808,6,7,8,0x9,,\n",
	 "a.csv:4:38: result: \"\" is too large"},
	{"1,2,3,0,0,0,0,4,R,5,6,7,8,9,,\n", "a.csv:4:27: flags: \"9\" is not a number like 0x8000"},
	{"1,2,3,0,0,0,0,4,R,5,6,7,8,0x,,\n", "a.csv:4:29: flags: \"\" is not a number like 0x8000"},
	{"1,2,3,0,0,0,0,4,R,5,6,7,8,0x123456789,,\n", "a.csv:4:37: flags: \"9\" is too large"},
	{"1,2,3,0,0,0,0,4,R,5,6,7,8\n",
	 "a.csv:4:26: size: \"\" is the last field: others are missing"},
	{"1,2,3,0,0,0,0,4,O,5,6,7,8,0x9,/a\"b,\n",
	 "a.csv:4:33: path: \"\"b\" has a quote or a zero byte, and no quotes around it"},
	{"1,2,3,0,0,0,0,4,O,5,6,7,8,0x9,\"/a\"b,\n",
	 "a.csv:4:35: path: \"b\" has something behind its value"},
	{"1,2,3,0,0,0,0,4,O,5,6,7,8,0x9,/a,,\n",
	 "a.csv:4:34: to: \"\" has something behind its value"},
	{" 1,2,3,0,0,0,0,4,R,5,6,7,8,0x9,,\n",
	 "a.csv:4:1: time_start: \" 1\" is not a time in seconds"},
	{"\n", "a.csv:4:1: time_start: \"\" is not a time in seconds"},
	/* What follows a quote that is never closed are rows. */
	{"1,2,3,0,0,0,0,4,O,5,6,7,8,0x9,\"/a\n1,2,3,0,0,0,0,4,O,5,6,7,8,0x9,\"/b\",\n",
	 "a.csv:4:66: path: \"/b\"\" has something behind its value"},
};

static void test_bad_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_calls); i++) {
		char text[1024];
		struct leat_trace_reader *r;
		struct leat_trace_record record;
		size_t good = 1, bad;

		snprintf(text, sizeof(text), CALLS GOOD "%s" GOOD END(3), bad_calls[i].text);
		put_file("a.csv", text, strlen(text));
		r = reader_of("a.csv");
		assert_int_equal(leat_trace_read(r, &record), 1);
		assert_int_equal(leat_trace_read(r, &record), -EBADMSG);
		assert_string_equal(leat_trace_reader_why(r), bad_calls[i].why);
		count(r, &good, &bad);
		assert_int_equal(bad, 0);
		assert_in_range(good, 1, 2);
		assert_false(leat_trace_reader_tail(r, 0)->complete);
		leat_trace_reader_free(r);
	}
}

#define PIDS "# leat processes 1\ntime,ppid,pid,cgroupid,event,status,mounts,program,dir,labels\n"

static const struct {
	const char *text, *why;
} bad_processes[] = {
	{"1,2,3,4,spawn,0,0,,,\n", "a.pids.csv:3:9: event: \"spawn\" is none of fork, exec, exit"},
	{"1,2,3,4,fork,,,,,\n", "a.pids.csv:3:14: status: \"\" is not a number"},
	{"1,2,3,4\n", "a.pids.csv:3:8: cgroupid: \"\" is the last field: others are missing"},
	{"1,2,3,4,fork,0,7,,\n",
	 "a.pids.csv:3:19: dir: \"\" is the last field: others are missing"},
	{"# cgroup,x,/a\n", "a.pids.csv:3:10: cgroup: \"x\" is not a number"},
	{"# cgroup,1\n", "a.pids.csv:3:11: cgroup: \"\" is the last field: others are missing"},
	{"# mount,1,/a,/b\n", "a.pids.csv:3:16: from: \"\" is the last field: others are missing"},
};

static void test_bad_processes(void **state)
{
	static const char calls[] = CALLS END(0);

	(void)state;
	put_file("a.csv", calls, strlen(calls));
	for (size_t i = 0; i < COUNT(bad_processes); i++) {
		char text[512];
		struct leat_trace_reader *r;
		struct leat_trace_record record;

		snprintf(text, sizeof(text),
			 PIDS "%s1,2,3,4,exit,256,0,,,\n# end: calls 0 processes 1\n",
			 bad_processes[i].text);
		put_file("a.pids.csv", text, strlen(text));
		r = reader_of("a.csv");
		assert_int_equal(leat_trace_read(r, &record), -EBADMSG);
		assert_string_equal(leat_trace_reader_why(r), bad_processes[i].why);
		assert_int_equal(leat_trace_read(r, &record), 1);
		assert_int_equal(record.process.status, 256);
		assert_int_equal(leat_trace_read(r, &record), 0);
		leat_trace_reader_free(r);
	}
}

/* Traces with something wrong other than a row. */
static const struct {
	const char *text, *why;
	size_t good;
} bad_wholes[] = {
	{CALLS GOOD END(2),
	 "a.csv:5:1: 1 records were read, but 2 were written: a part of the file is "
	 "missing",
	 1},
	{CALLS GOOD "# end: calls x\n",
	 "a.csv:4:1: the line of what was recorded and lost is damaged", 1},
	{CALLS GOOD END(1) GOOD, "a.csv:5:1: the trace goes on behind what should be its last line",
	 2},
};

static void test_bad_wholes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_wholes); i++) {
		struct leat_trace_reader *r;
		struct leat_trace_record record;
		size_t good = 0;
		int rc, bad = 0;

		put_file("a.csv", bad_wholes[i].text, strlen(bad_wholes[i].text));
		r = reader_of("a.csv");
		while ((rc = leat_trace_read(r, &record)) != 0) {
			good += rc == 1;
			if (rc == 1)
				continue;
			bad++;
			assert_string_equal(leat_trace_reader_why(r), bad_wholes[i].why);
		}
		assert_int_equal(bad, 1);
		assert_int_equal(good, bad_wholes[i].good);
		assert_false(leat_trace_reader_tail(r, 0)->complete);
		leat_trace_reader_free(r);
	}
}

static const struct {
	const char *name, *text, *why;
} no_traces[] = {
	{"a.csv", "", "a.csv:1:1: the file is empty: this is no trace"},
	{"a.csv", "hello\n",
	 "a.csv:1:1: this is no trace: the file does not begin with \"# leat trace 2\", and this "
	 "line "
	 "(of 1 fields) is no row of another trace"},
	{"a.csv", "# remark\na,b,c,d\n",
	 "a.csv:2:1: this is no trace: the file does not begin with \"# leat trace 2\", and this "
	 "line "
	 "(of 4 fields) is no row of another trace"},
	{"a.csv", "# leat trace 3\n",
	 "a.csv:1:1: \"# leat trace 3\" is no trace that this version of leat can read"},
	{"a.csv", "# leat trace 1\ntime,pid\n",
	 "a.csv:2:1: this is not the line with the columns, "
	 "time_start,time_end,pid,utime_start,utime_end,stime_start,stime_end,inode,type,result,"
	 "handle,offset,size,flags,path,to"},
	{"missing.csv", NULL, "missing.csv: No such file or directory"},
	{".", NULL,
	 ".: the directory has no trace, which is a file NAME.csv or NAME.trace; if it has a "
	 "directory for each node, give those"},
};

static void test_no_trace(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(no_traces); i++) {
		char why[512] = "";

		unlink("a.csv");
		if (no_traces[i].text)
			put_file(no_traces[i].name, no_traces[i].text, strlen(no_traces[i].text));
		assert_null(leat_trace_reader_new(no_traces[i].name, why, sizeof(why)));
		assert_string_equal(why, no_traces[i].why);
	}
}

/* ---- the paper's layout ---- */

static const char paper[] =
	"# eBPF and FUSE-Overlay-FS IO tracing log with: time_start, time_end, ...\n"
	"# example open log entry:\n"
	"1714067937.744, 1714067937.744, 1169224, 27151.124, 27151.124, 27151.124, 27151.124, "
	"5277, "
	"O, 0, 35625, 0, 0, 0x00008000, /home/a, b/WT \"x\".fq.gz\n"
	"\n"
	"           1714067937.745,          1714067937.745,    1169224,               27151.124,"
	"               27151.125,               27151.124,               27151.124,"
	"                5277,R,        512,               35625,                1034,"
	"                 512,0x00008000,                                     \n"
	"1714067937.746,1714067937.746,1169224,0,0,0,0,5277,C,0,35625,1546,0,0x00008000\r\n"
	"1714067937.747,1714067937.747,1169224,0,0,0,0,18446744073709546339,U,0,0,0,0,0x00000000,"
	"/home/a/b::   \n"
	"1714067937.748,1714067937.748,1169224,0,0,0,0,7,O,-2,0,0,0,0x00000000,/s:/sub:/\n";
static const char paper_pids[] = "# eBPF PID tracing log with:\n"
				 "# time, parent pid, pid, cgroupid\n"
				 "1714067937.409, 1168419, 1169224, 131863\n";

static const struct leat_trace_record of_paper[] = {
	PROCESS(FORK, .time_ns = 1714067937409000000, .ppid = 1168419, .pid = 1169224,
		.cgroup = 131863),
	CALL(OPEN, .start_ns = 1714067937744000000, .end_ns = 1714067937744000000, .pid = 1169224,
	     .utime_start_ns = 27151124000000, .utime_end_ns = 27151124000000,
	     .stime_start_ns = 27151124000000, .stime_end_ns = 27151124000000, .inode = 5277,
	     .handle = 35625, .flags = 0x8000, .path = "/home/a, b/WT \"x\".fq.gz"),
	CALL(READ, .start_ns = 1714067937745000000, .end_ns = 1714067937745000000, .pid = 1169224,
	     .utime_start_ns = 27151124000000, .utime_end_ns = 27151125000000,
	     .stime_start_ns = 27151124000000, .stime_end_ns = 27151124000000, .inode = 5277,
	     .result = 512, .handle = 35625, .offset = 1034, .size = 512, .flags = 0x8000),
	CALL(CLOSE, .start_ns = 1714067937746000000, .end_ns = 1714067937746000000, .pid = 1169224,
	     .inode = 5277, .handle = 35625, .offset = 1546, .flags = 0x8000),
	CALL(UNLINK, .start_ns = 1714067937747000000, .end_ns = 1714067937747000000, .pid = 1169224,
	     .inode = 18446744073709546339u, .path = "/home/a/b"),
	CALL(OPEN, .start_ns = 1714067937748000000, .end_ns = 1714067937748000000, .pid = 1169224,
	     .inode = 7, .result = -2, .path = "/s"),
};

static void assert_is_paper(const char *path)
{
	struct leat_trace_reader *r = reader_of(path);
	struct leat_trace_record record;

	for (size_t i = 0; i < COUNT(of_paper); i++) {
		assert_int_equal(leat_trace_read(r, &record), 1);
		assert_same(&record, &of_paper[i]);
	}
	assert_int_equal(leat_trace_read(r, &record), 0);
	assert_true(leat_trace_reader_head(r, 0)->foreign);
	assert_null(leat_trace_reader_head(r, 0)->host);
	assert_true(leat_trace_reader_tail(r, 0)->complete);
	assert_int_equal(leat_trace_reader_tail(r, 0)->calls, 5);
	assert_int_equal(leat_trace_reader_tail(r, 0)->processes, 1);
	leat_trace_reader_free(r);
}

static void test_paper(void **state)
{
	(void)state;
	assert_int_equal(mkdir("node", 0755), 0);
	put_file("node/file-bpf.csv", paper, strlen(paper));
	put_file("node/cgroups.csv", paper_pids, strlen(paper_pids));
	assert_is_paper("node");
	assert_is_paper("node/file-bpf.csv");
	assert_int_equal(rename("node/file-bpf.csv", "node/a.csv"), 0);
	assert_int_equal(rename("node/cgroups.csv", "node/a.pids.csv"), 0);
	assert_is_paper("node");
	assert_is_paper("node/a.csv");
	/* without comments */
	put_file("node/a.csv", strstr(paper, "1714"), strlen(strstr(paper, "1714")));
	put_file("node/a.pids.csv", strstr(paper_pids, "1714"), strlen(strstr(paper_pids, "1714")));
	assert_is_paper("node");
}

static void test_paper_bad(void **state)
{
	static const char text[] = "time_start,time_end,pid\n"
				   "1.5,1.5,1,0,0,0,0,1,O,0,1,0,0,0x0,/a\n"
				   "1.5,1.5,x,0,0,0,0,1,O,0,1,0,0,0x0,/b\n"
				   "1.6,1.6,1,0,0,0,0,1,R,1,1,0,1,0x0,\n"
				   "1.7,1.7,1,0,0,0,0,1,R,1,1";
	struct leat_trace_reader *r;
	struct leat_trace_record record;

	(void)state;
	put_file("a.csv", text, strlen(text));
	r = reader_of("a.csv");
	assert_int_equal(leat_trace_read(r, &record), 1);
	assert_string_equal(record.call.path, "/a");
	assert_int_equal(leat_trace_read(r, &record), -EBADMSG);
	assert_string_equal(leat_trace_reader_why(r), "a.csv:3:9: pid: \"x\" is not a number");
	assert_int_equal(leat_trace_read(r, &record), 1);
	assert_int_equal(record.call.type, LEAT_TRACE_READ);
	assert_int_equal(leat_trace_read(r, &record), 0);
	assert_false(leat_trace_reader_tail(r, 0)->complete);
	leat_trace_reader_free(r);
}

/* ---- several ---- */

static void write_three(const char *path, int64_t first_ns)
{
	struct leat_trace_writer *w = writer_of(path);
	struct leat_trace_record record = CALL(READ, .inode = 1, .handle = 2);

	for (int i = 0; i < 3; i++) {
		record.call.start_ns = record.call.end_ns = first_ns + 10 * i;
		assert_int_equal(leat_trace_write(w, &record), 0);
	}
	leat_trace_writer_lost(w, LEAT_TRACE_LOST_MEMORY, 1);
	assert_int_equal(leat_trace_writer_end(w, NULL), 0);
}

static void assert_order(struct leat_trace_reader *r, const unsigned *nodes, const int64_t *times,
			 size_t n)
{
	struct leat_trace_record record;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(leat_trace_read(r, &record), 1);
		assert_int_equal(record.node, nodes[i]);
		assert_true(record.call.end_ns == times[i]);
	}
	assert_int_equal(leat_trace_read(r, &record), 0);
}

static void test_several(void **state)
{
	static const char *const paths[] = {"a.csv", "b.trace", "c.csv"};
	static const int64_t skew[] = {0, 2, -100};
	static const unsigned nodes[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
	static const int64_t times[] = {100, 101, 102, 110, 111, 112, 120, 121, 122};
	static const unsigned late_nodes[] = {2, 2, 2, 0, 1, 0, 1, 0, 1};
	static const int64_t late_times[] = {2, 12, 22, 100, 103, 110, 113, 120, 123};
	struct leat_trace_reader *r;

	(void)state;
	for (int i = 0; i < 3; i++)
		write_three(paths[i], 100 + i);
	r = leat_trace_reader_new_all(paths, 3, NULL, NULL, 0);
	assert_non_null(r);
	assert_order(r, nodes, times, COUNT(nodes));
	assert_int_equal(leat_trace_reader_nodes(r), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(leat_trace_reader_tail(r, i)->complete);
		assert_int_equal(leat_trace_reader_tail(r, i)->calls, 3);
		assert_int_equal(leat_trace_reader_tail(r, i)->lost[LEAT_TRACE_LOST_MEMORY], 1);
	}
	leat_trace_reader_free(r);
	r = leat_trace_reader_new_all(paths, 3, skew, NULL, 0);
	assert_order(r, late_nodes, late_times, COUNT(late_nodes));
	assert_true(leat_trace_reader_head(r, 2)->began_ns == head.began_ns - 100);
	leat_trace_reader_free(r);
}

/* All of a directory is one node; ids of different traces stay apart. */
static void test_directory(void **state)
{
	static const char other[] = "name,age\nx,1\n";
	struct leat_trace_reader *r;
	struct leat_trace_record record;
	uint64_t handles[6];
	size_t n = 0;
	int rc, bad = 0;

	(void)state;
	assert_int_equal(mkdir("node", 0755), 0);
	write_three("node/a.csv", 100);
	write_three("node/b.trace", 101);
	put_file("node/c.csv", other, strlen(other));
	r = reader_of("node");
	while ((rc = leat_trace_read(r, &record)) != 0) {
		if (rc == 1) {
			assert_int_equal(record.node, 0);
			handles[n++] = record.call.handle;
			continue;
		}
		bad++;
		assert_non_null(
			strstr(leat_trace_reader_why(r), "node/c.csv:1:1: this is no trace"));
		assert_non_null(strstr(leat_trace_reader_why(r), "the file is passed over"));
	}
	assert_int_equal(n, 6);
	assert_int_equal(bad, 1);
	assert_true(handles[0] != handles[1] && handles[0] == handles[2] &&
		    handles[1] == handles[3]);
	assert_int_equal(leat_trace_reader_nodes(r), 1);
	assert_int_equal(leat_trace_reader_tail(r, 0)->calls, 6);
	assert_int_equal(leat_trace_reader_tail(r, 0)->lost[LEAT_TRACE_LOST_MEMORY], 2);
	assert_true(leat_trace_reader_tail(r, 0)->complete);
	leat_trace_reader_free(r);
}

static void test_pair(void **state)
{
	const char *both[] = {"a.csv", "a.pids.csv"};
	struct leat_trace_reader *r;
	char why[512];
	size_t good, bad;

	(void)state;
	write_samples("a.csv");
	/* as a shell makes it of *.csv */
	assert_null(leat_trace_reader_new_all(both, 2, NULL, why, sizeof(why)));
	assert_string_equal(
		why,
		"a.pids.csv: these are the processes of a.csv, and are read with it: leave it out");
	assert_int_equal(unlink("a.pids.csv"), 0);
	r = reader_of("a.csv");
	count(r, &good, &bad);
	assert_int_equal(good, 17);
	assert_int_equal(bad, 0);
	assert_false(leat_trace_reader_tail(r, 0)->complete);
	leat_trace_reader_free(r);
}

/* ---- no space ---- */

static void test_no_space(void **state)
{
	const struct rlimit tight = {600000, RLIM_INFINITY}, wide = {RLIM_INFINITY, RLIM_INFINITY};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	for (size_t form = 0; form < COUNT(ends); form++) {
		struct leat_trace_record record = CALL(READ, .end_ns = 1);
		struct leat_trace_tail tail;
		struct leat_trace_reader *r;
		struct leat_trace_writer *w;
		size_t good, bad;
		uint64_t seed = 1;
		int rc = 0;
		char path[32];

		snprintf(path, sizeof(path), "a%s", ends[form]);
		w = writer_of(path);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
		for (int i = 0; i < 90000; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			record.call.offset = seed;
			rc = leat_trace_write(w, &record);
		}
		assert_int_equal(rc, -EFBIG);
		assert_int_equal(leat_trace_writer_flush(w), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &wide), 0);
		assert_int_equal(leat_trace_writer_end(w, &tail), -EFBIG);
		assert_int_equal(tail.calls + tail.lost[LEAT_TRACE_LOST_WRITE], 90000);
		assert_true(tail.complete);
		r = reader_of(path);
		count(r, &good, &bad);
		assert_int_equal(bad, 0);
		assert_int_equal(good, tail.calls);
		assert_int_equal(leat_trace_reader_tail(r, 0)->lost[LEAT_TRACE_LOST_WRITE],
				 90000 - good);
		leat_trace_reader_free(r);
	}
	assert_null(leat_trace_writer_new("missing/a.csv", &head));
	assert_int_equal(errno, ENOENT);
}

/* ---- any records ---- */

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Small, large and in between. */
static uint64_t any(uint64_t *seed)
{
	uint64_t n = next(seed);

	return n >> (next(seed) & 63);
}

static int64_t any_time(uint64_t *seed)
{
	return (int64_t)(any(seed) % 9000000000000000000u) * (next(seed) & 1 ? 1 : -1);
}

static const char *any_text(uint64_t *seed, char *capacity, size_t size)
{
	static const char *const common[] = {NULL, "", "/data/in.fa", "/data/out.fa", "a,b"};
	static const char bytes[] = "\"\"\n,,\r #a\xff\x01";
	size_t n = next(seed) % 12;

	if (n < COUNT(common))
		return common[n];
	n = next(seed) % (n == 11 ? size - 1 : 20);
	for (size_t i = 0; i < n; i++)
		capacity[i] = bytes[next(seed) % (sizeof(bytes) - 1)];
	capacity[n] = '\0';
	return capacity;
}

static void any_call(struct leat_trace_call *c, uint64_t *seed, char (*capacity)[20000],
		     int64_t *time)
{
	static const char types[] = "OCRWUXMNT";

	*time += (int64_t)(any(seed) % 1000000000);
	*c = (struct leat_trace_call){.start_ns = *time - (int64_t)(any(seed) % 1000000000),
				      .end_ns = *time,
				      .pid = (int32_t)(uint32_t)any(seed),
				      .type = (enum leat_trace_type)types[next(seed) % 9],
				      .inode = any(seed),
				      .handle = next(seed) & 1 ? next(seed) % 8 : any(seed),
				      .result = (int64_t)any(seed),
				      .offset = any(seed),
				      .size = any(seed),
				      .flags = (uint32_t)any(seed)};
	if (next(seed) & 1)
		c->result = (int64_t)c->size;
	if (next(seed) & 1) {
		c->utime_start_ns = any_time(seed);
		c->utime_end_ns = any_time(seed);
		c->stime_start_ns = any_time(seed);
		c->stime_end_ns = any_time(seed);
	}
	if (next(seed) % 4 == 0) {
		c->path = any_text(seed, capacity[0], sizeof(capacity[0]));
		c->to = any_text(seed, capacity[1], sizeof(capacity[1]));
	}
}

static void any_record(struct leat_trace_record *record, uint64_t *seed, char (*capacity)[20000],
		       int64_t *time)
{
	struct leat_trace_process *p = &record->process;

	record->kind = next(seed) % 8 ? LEAT_TRACE_CALL : LEAT_TRACE_PROCESS;
	if (record->kind == LEAT_TRACE_CALL) {
		any_call(&record->call, seed, capacity, time);
		return;
	}
	*time += (int64_t)(any(seed) % 1000000000) + 1;
	*p = (struct leat_trace_process){
		.time_ns = *time,
		.change = (enum leat_trace_change)(next(seed) % 3),
		.ppid = (int32_t)(uint32_t)any(seed),
		.pid = (int32_t)(uint32_t)any(seed),
		.cgroup = any(seed),
		.status = (int32_t)(uint32_t)any(seed),
		.mounts = any(seed),
		.program = any_text(seed, capacity[0], sizeof(capacity[0])),
		.dir = any_text(seed, capacity[1], sizeof(capacity[1])),
		.labels = any_text(seed, capacity[2], sizeof(capacity[2]))};
	*time += 1;
}

enum { ANY_RECORDS = 30000 };

static void test_any(void **state)
{
	static char capacity[3][20000];

	(void)state;
	for (size_t form = 0; form < COUNT(ends); form++) {
		uint64_t seed = 88172645463325252u + form;
		int64_t time = -1000000000000;
		struct leat_trace_record record, expected;
		struct leat_trace_reader *r;
		struct leat_trace_writer *w;
		char path[32];

		snprintf(path, sizeof(path), "a%s", ends[form]);
		w = writer_of(path);
		for (int i = 0; i < ANY_RECORDS; i++) {
			any_record(&record, &seed, capacity, &time);
			assert_int_equal(leat_trace_write(w, &record), 0);
			if (i % 7000 == 6999)
				assert_int_equal(leat_trace_writer_flush(w), 0);
		}
		assert_int_equal(leat_trace_writer_end(w, NULL), 0);
		r = reader_of(path);
		seed = 88172645463325252u + form;
		time = -1000000000000;
		for (int i = 0; i < ANY_RECORDS; i++) {
			any_record(&expected, &seed, capacity, &time);
			assert_int_equal(leat_trace_read(r, &record), 1);
			assert_same(&record, &expected);
		}
		assert_int_equal(leat_trace_read(r, &record), 0);
		assert_true(leat_trace_reader_tail(r, 0)->complete);
		leat_trace_reader_free(r);
	}
}

/* A text that no file name can be is refused, and counted; the trace goes on. */
static void test_too_long(void **state)
{
	char *text = malloc((1 << 20) + 2);
	struct leat_trace_record record = CALL(OPEN, .end_ns = 1);

	(void)state;
	for (size_t form = 0; form < COUNT(ends); form++) {
		struct leat_trace_reader *r;
		struct leat_trace_writer *w;
		struct leat_trace_tail tail;
		char path[32];

		snprintf(path, sizeof(path), "a%s", ends[form]);
		w = writer_of(path);
		memset(text, '"', (1 << 20) + 1);
		text[(1 << 20) + 1] = '\0';
		record.call.path = text;
		assert_int_equal(leat_trace_write(w, &record), -EMSGSIZE);
		text[1 << 20] = '\0';
		assert_int_equal(leat_trace_write(w, &record), 0);
		assert_int_equal(leat_trace_writer_end(w, &tail), 0);
		assert_int_equal(tail.calls, 1);
		assert_int_equal(tail.lost[LEAT_TRACE_LOST_PATH], 1);
		r = reader_of(path);
		assert_int_equal(leat_trace_read(r, &record), 1);
		assert_string_equal(record.call.path, text);
		assert_int_equal(leat_trace_read(r, &record), 0);
		assert_true(leat_trace_reader_tail(r, 0)->complete);
		leat_trace_reader_free(r);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_processes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_wholes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_trace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_paper, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_paper_bad, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_several, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pair, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_any, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_long, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
