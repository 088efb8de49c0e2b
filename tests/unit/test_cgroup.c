/* Limits of control groups, over machines made of files in a directory. */
#include "base/cgroup.h"
#include "base/str.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define MB (UINT64_C(1) << 20)
#define NONE LEAT_NO_LIMIT
#define V2_MOUNT "30 20 0:29 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNTS                                                                                  \
	"25 20 0:5 / / rw - ext4 /dev/vda rw\n"                                                    \
	"31 30 0:30 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"                         \
	"32 30 0:31 / /cg/memory rw - cgroup cgroup rw,memory\n"                                   \
	"33 30 0:32 / /cg/pids rw - cgroup cgroup rw,pids\n"                                       \
	"34 30 0:33 / /cg/unified rw - cgroup2 cgroup2 rw\n"
#define V1_GROUPS "9:name=systemd:/\n4:memory:/job/step\n3:pids:/job\n1:cpu,cpuacct:/job\n0::/u\n"

struct file {
	const char *path, *text; /* text NULL: a directory, which cannot be read as a file */
};

struct machine {
	const char *name, *groups, *mounts;
	struct file files[20];
	uint64_t limit, spare;
	const char *limit_file; /* NULL: not looked at */
	uint64_t pids_limit, pids_left, kills, stalled_us, refused;
	double cpus;
};

#define UNLIMITED .limit = NONE, .spare = NONE, .pids_limit = NONE, .pids_left = NONE

static const struct machine machines[] = {
	{"no control groups", "0::/\n", "25 20 0:5 / / rw - ext4 /dev/vda rw\n", {{0}}, UNLIMITED},
	{"version 2, no limit",
	 "0::/a/b\n",
	 V2_MOUNT,
	 {{"cg/a/b/memory.max", "max\n"},
	  {"cg/a/memory.max", "max\n"},
	  {"cg/a/pids.max", "max\n"},
	  {"cg/a/b/cpu.max", "max 100000\n"},
	  {"cg/a/b/memory.events", "low 0\noom_kill 0\n"}},
	 UNLIMITED},
	{"version 2: the level above is tighter, and has less left",
	 "0::/a/b\n",
	 V2_MOUNT,
	 {{"cg/a/b/memory.max", "838860800\n"},
	  {"cg/a/b/memory.current", "104857600\n"},
	  {"cg/a/b/memory.stat", "anon 1\nfile 9\ninactive_file 52428800\nactive_file 0\n"},
	  {"cg/a/memory.max", "419430400\n"},
	  {"cg/a/memory.current", "314572800\n"},
	  {"cg/a/memory.stat", "inactive_file 83886080\nactive_file 10485760\n"
			       "slab_reclaimable 10485760\n"},
	  {"cg/a/b/memory.events", "low 0\nhigh 3\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n"},
	  {"cg/a/memory.events", "oom_kill 7\n"},
	  {"cg/a/b/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
				     "full avg10=0.00 avg60=0.00 avg300=0.00 total=99\n"},
	  {"cg/a/b/pids.max", "100\n"},
	  {"cg/a/b/pids.current", "90\n"},
	  {"cg/a/pids.max", "200\n"},
	  {"cg/a/pids.current", "195\n"},
	  {"cg/a/pids.events", "max 5\n"},
	  {"cg/a/b/cpu.max", "max 100000\n"},
	  {"cg/a/cpu.max", "150000 100000\n"}},
	 .limit = 400 * MB,
	 .spare = 200 * MB,
	 .limit_file = "cg/a/memory.max",
	 .pids_limit = 100,
	 .pids_left = 5,
	 .kills = 2,
	 .stalled_us = 1234,
	 .refused = 5,
	 .cpus = 1.5},
	{"version 2: memory.high is tighter than memory.max",
	 "0::/a\n",
	 V2_MOUNT,
	 {{"cg/a/memory.max", "419430400\n"},
	  {"cg/a/memory.high", "314572800\n"},
	  {"cg/a/memory.current", "524288000\n"},
	  {"proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.15 total=77\n"}},
	 .limit = 300 * MB,
	 .spare = 0,
	 .limit_file = "cg/a/memory.high",
	 .pids_limit = NONE,
	 .pids_left = NONE,
	 .stalled_us = 77},
	{"version 2: the controller is not there at the lower level",
	 "0::/user.slice/shell.scope\n",
	 V2_MOUNT,
	 {{"cg/user.slice/shell.scope/cgroup.procs", "1\n"},
	  {"cg/user.slice/memory.max", "1048576\n"},
	  {"cg/user.slice/memory.events", "oom_kill 4\n"}},
	 .limit = MB,
	 .spare = MB,
	 .pids_limit = NONE,
	 .pids_left = NONE,
	 .kills = 4},
	{"version 2, in a container with a namespace of control groups: the top has the limits",
	 "0::/\n",
	 V2_MOUNT,
	 {{"cg/memory.max", "2097152\n"},
	  {"cg/memory.current", "1048576\n"},
	  {"cg/cpu.max", "50000 100000\n"},
	  {"cg/pids.max", "10\n"},
	  {"cg/pids.current", "12\n"}},
	 .limit = 2 * MB,
	 .spare = MB,
	 .limit_file = "cg/memory.max",
	 .pids_limit = 10,
	 .pids_left = 0,
	 .cpus = 0.5},
	{"a file that cannot be read: the other levels hold",
	 "0::/a/b\n",
	 V2_MOUNT,
	 {{"cg/a/b/memory.max", NULL},
	  {"cg/a/b/pids.max", NULL},
	  {"cg/a/b/cpu.max", NULL},
	  {"cg/a/memory.max", "4194304\n"},
	  {"cg/a/memory.current", NULL}},
	 .limit = 4 * MB,
	 .spare = 4 * MB,
	 .pids_limit = NONE,
	 .pids_left = NONE},
	{"nonsense sets no limit",
	 "0::/a\n",
	 V2_MOUNT,
	 {{"cg/a/memory.max", "many\n"}, {"cg/a/pids.max", "\n"}, {"cg/a/cpu.max", "1"}},
	 UNLIMITED},
	{"version 1",
	 V1_GROUPS,
	 V1_MOUNTS,
	 {{"cg/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n"},
	  {"cg/memory/job/step/memory.oom_control",
	   "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"},
	  {"cg/memory/job/step/memory.stat", "hierarchical_memory_limit 419430400\n"},
	  {"cg/memory/job/memory.limit_in_bytes", "419430400\n"},
	  {"cg/memory/job/memory.usage_in_bytes", "209715200\n"},
	  {"cg/memory/job/memory.stat", "cache 5\ninactive_file 1\ntotal_inactive_file 104857600\n"
					"total_active_file 52428800\n"},
	  {"cg/pids/job/pids.max", "50\n"},
	  {"cg/pids/job/pids.current", "8\n"},
	  {"cg/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n"},
	  {"cg/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"},
	  {"cg/unified/u/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"}},
	 .limit = 400 * MB,
	 .spare = 350 * MB,
	 .limit_file = "cg/memory/job/memory.limit_in_bytes",
	 .pids_limit = 50,
	 .pids_left = 42,
	 .kills = 3,
	 .stalled_us = 5,
	 .cpus = 2},
	{"version 1, no limit",
	 V1_GROUPS,
	 V1_MOUNTS,
	 {{"cg/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n"},
	  {"cg/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n"},
	  {"cg/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"},
	  {"cg/pids/job/pids.max", "max\n"}},
	 UNLIMITED},
	{"version 1, in a container: its own group is mounted, the limit is above it",
	 "4:memory:/docker/ab\n0::/\n",
	 "32 30 0:31 /docker/ab /cg/memory rw - cgroup cgroup rw,memory\n",
	 {{"cg/memory/memory.limit_in_bytes", "9223372036854771712\n"},
	  {"cg/memory/memory.usage_in_bytes", "1048576\n"},
	  {"cg/memory/memory.stat", "hierarchical_memory_limit 3145728\n"}},
	 .limit = 3 * MB,
	 .spare = 2 * MB,
	 .limit_file = "cg/memory/memory.stat",
	 .pids_limit = NONE,
	 .pids_left = NONE},
	{"hybrid: memory is with version 2, processes with version 1",
	 "3:pids:/p\n0::/m\n",
	 "33 30 0:32 / /cg/pids rw - cgroup cgroup rw,pids\n" V2_MOUNT,
	 {{"cg/pids/p/pids.max", "9\n"}, {"cg/m/memory.max", "1048576\n"}},
	 .limit = MB,
	 .spare = MB,
	 .pids_limit = 9,
	 .pids_left = 9},
	{"a mount point with a space; another mount does not show the group",
	 "0::/a\n",
	 "30 20 0:29 /other /no rw - cgroup2 cgroup2 rw\n"
	 "31 20 0:29 / /my\\040cg rw - cgroup2 cgroup2 rw\n",
	 {{"my cg/a/memory.max", "1048576\n"}},
	 .limit = MB,
	 .spare = MB,
	 .pids_limit = NONE,
	 .pids_left = NONE},
	{"a group outside of the namespace has no name here",
	 "0::/../b\n",
	 V2_MOUNT,
	 {{"cg/memory.max", "1\n"}, {"b/memory.max", "1\n"}},
	 UNLIMITED},
};

/* DIR/path, with the directories above it. */
static void put(const char *dir, const struct file *f)
{
	char *path = leat_path_join(dir, f->path);
	FILE *out;

	for (char *end = strchr(path + strlen(dir) + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = 0;
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*end = '/';
	}
	if (f->text) {
		out = fopen(path, "w");
		assert_non_null(out);
		fputs(f->text, out);
		assert_int_equal(fclose(out), 0);
	} else {
		assert_return_code(mkdir(path, 0700), errno);
	}
	free(path);
}

static void build(const struct machine *m, char *dir)
{
	assert_non_null(mkdtemp(dir));
	put(dir, &(struct file){"proc/self/cgroup", m->groups});
	put(dir, &(struct file){"proc/self/mountinfo", m->mounts});
	for (size_t i = 0; m->files[i].path; i++)
		put(dir, &m->files[i]);
}

static void removed(const char *dir)
{
	char *command = leat_strf("rm -rf '%s'", dir);

	assert_int_equal(system(command), 0);
	free(command);
}

static bool is_file(const char *dir, const char *found, const char *expected)
{
	return !expected ||
	       (leat_str_begins(found, dir) && strcmp(found + strlen(dir) + 1, expected) == 0);
}

static bool holds(const struct machine *m, const char *dir, const struct leat_cgroup *g)
{
	struct leat_cgroup_memory memory;
	struct leat_cgroup_pids pids;
	char file[PATH_MAX];
	double cpus = leat_cgroup_cpus(g);

	leat_cgroup_memory(g, &memory);
	leat_cgroup_pids(g, &pids);
	return memory.limit_bytes == m->limit && memory.spare_bytes == m->spare &&
	       is_file(dir, memory.file, m->limit_file) &&
	       leat_cgroup_memory_limit(g, file) == m->limit && strcmp(file, memory.file) == 0 &&
	       pids.limit == m->pids_limit && pids.left == m->pids_left &&
	       leat_cgroup_kills(g) == m->kills && leat_cgroup_stalled_us(g) == m->stalled_us &&
	       leat_cgroup_refused(g) == m->refused && cpus > m->cpus - 0.001 &&
	       cpus < m->cpus + 0.001;
}

static void finds_the_tightest_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		char dir[] = "/tmp/leat-test-cgroup-XXXXXX";
		struct leat_cgroup *g = NULL;

		build(&machines[i], dir);
		assert_int_equal(leat_cgroup_open(dir, 0, &g), 0);
		if (!holds(&machines[i], dir, g))
			fail_msg("%s (%s)", machines[i].name, dir);
		assert_true(leat_cgroup_equal(g, g));
		leat_cgroup_close(g);
		removed(dir);
	}
}

static void knows_a_process_of_the_same_groups(void **state)
{
	char dir[] = "/tmp/leat-test-cgroup-XXXXXX";
	struct leat_cgroup *own, *same, *other;

	(void)state;
	build(&(struct machine){.groups = "0::/a\n",
				.mounts = V2_MOUNT,
				.files = {{"proc/7/cgroup", "0::/a\n"},
					  {"proc/8/cgroup", "0::/b\n"},
					  {"cg/a/memory.max", "max\n"},
					  {"cg/b/memory.max", "1048576\n"}}},
	      dir);
	assert_int_equal(leat_cgroup_open(dir, 0, &own), 0);
	assert_int_equal(leat_cgroup_open_like(own, 7, &same), 0);
	assert_int_equal(leat_cgroup_open_like(own, 8, &other), 0);
	assert_int_equal(leat_cgroup_open_like(own, 9, &(struct leat_cgroup *){NULL}), -ENOENT);
	assert_ptr_equal(same, own);
	assert_false(leat_cgroup_equal(own, other));
	leat_cgroup_close(own);
	assert_true(leat_cgroup_equal(same, same));
	leat_cgroup_close(same);
	leat_cgroup_close(other);
	removed(dir);
}

/* In a namespace of mounts of its own, where the machine allows one. */
static void looks_again_when_mounts_change(void **state)
{
	struct leat_cgroup *own, *again;

	(void)state;
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		skip();
	assert_int_equal(leat_cgroup_open("", 0, &own), 0);
	assert_int_equal(leat_cgroup_open_like(own, 0, &again), 0);
	assert_ptr_equal(again, own);
	leat_cgroup_close(again);
	if (mount("leat", "/tmp", "tmpfs", 0, NULL) < 0)
		skip();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(leat_cgroup_open_like(own, 0, &again), 0);
		assert_ptr_not_equal(again, own);
		assert_true(leat_cgroup_equal(again, own));
		leat_cgroup_close(again);
	}
	leat_cgroup_close(own);
}

static void follows_changes_and_other_processes(void **state)
{
	char dir[] = "/tmp/leat-test-cgroup-XXXXXX", file[PATH_MAX];
	struct leat_cgroup *own, *other;

	(void)state;
	build(&(struct machine){.groups = "0::/a\n",
				.mounts = V2_MOUNT,
				.files = {{"proc/7/cgroup", "0::/b\n"},
					  {"cg/a/memory.max", "max\n"},
					  {"cg/b/memory.max", "1048576\n"}}},
	      dir);
	assert_int_equal(leat_cgroup_open(dir, 0, &own), 0);
	assert_int_equal(leat_cgroup_open(dir, 7, &other), 0);
	assert_int_equal(leat_cgroup_open(dir, 8, &(struct leat_cgroup *){NULL}), -ENOENT);
	assert_false(leat_cgroup_equal(own, other));
	assert_true(leat_cgroup_memory_limit(own, file) == NONE);
	assert_true(leat_cgroup_memory_limit(other, file) == MB);
	put(dir, &(struct file){"cg/a/memory.max", "2097152\n"});
	assert_true(leat_cgroup_memory_limit(own, file) == 2 * MB);
	leat_cgroup_close(own);
	leat_cgroup_close(other);
	removed(dir);
}

static void reads_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t number;
	} rows[] = {
		{"0\n", true, 0},
		{"419430400\n", true, 400 * MB},
		{"max\n", true, NONE},
		{"-1\n", true, NONE},
		{"9223372036854771712\n", true, NONE},
		{"9223372036854710272\n", true, NONE}, /* pages of 64 kB */
		{"18446744073709551615\n", true, NONE},
		{"", false, 0},
		{"\n", false, 0},
		{"none\n", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t number = 0;

		if (leat_cgroup_number(rows[i].text, &number) != rows[i].good ||
		    (rows[i].good && number != rows[i].number))
			fail_msg("\"%s\"", rows[i].text);
	}
}

static void reads_lines(void **state)
{
	struct leat_cgroup_mount m;
	char path[PATH_MAX];

	(void)state;
	assert_true(leat_cgroup_path("4:cpu,memory:/a:b\n0::/c\n", "memory", path));
	assert_string_equal(path, "/a:b");
	assert_true(leat_cgroup_path("4:cpu,memory:/a\n0::/c", "", path));
	assert_string_equal(path, "/c");
	assert_false(leat_cgroup_path("4:memory2:/a\n", "memory", path));
	assert_false(leat_cgroup_path("3:name=systemd:/a\n5::/b\n", "", path));
	assert_false(leat_cgroup_path("0:\n:\n0::\n\n", "", path));
	for (const char *line = V2_MOUNT; *line; line++)
		leat_cgroup_mount(line, &m); /* whatever it is cut to */
	assert_false(leat_cgroup_mount("31 30 0:30 / /cg rw - tmpfs tmpfs rw,memory", &m));
	assert_true(leat_cgroup_has_word("rw,cpu,cpuacct", "cpu"));
	assert_false(leat_cgroup_has_word("rw,cpuset", "cpu"));
	assert_true(leat_cgroup_stat("a 1\nab 2\n", "ab") == 2);
	assert_true(leat_cgroup_stat("a 1\nab 2", "b") == 0);
	assert_true(leat_cgroup_total_us("some avg10=0.00\n") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_tightest_limit),
		cmocka_unit_test(follows_changes_and_other_processes),
		cmocka_unit_test(knows_a_process_of_the_same_groups),
		cmocka_unit_test(reads_numbers),
		cmocka_unit_test(reads_lines),
		cmocka_unit_test(
			looks_again_when_mounts_change), /* last: others would see its mount */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
