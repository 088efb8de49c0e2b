/* What tracers share: filter, labels, the table; and the tables of the ptrace tracer. */
#include "trace/ptrace/files.h"
#include "trace/sink.h"
#include "trace/who.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- labels ---- */

#define ENTRY(text) text "\0"

static void labels(void **state)
{
	static const struct {
		const char *environment;
		size_t size;
		const char *labels;
	} cases[] = {
#define CASE(text, want) {text, sizeof(text) - 1, want}
		CASE("", NULL),
		CASE(ENTRY("PATH=/bin") ENTRY("HOME=/root"), NULL),
		CASE(ENTRY("SLURM_JOB_ID=7") ENTRY("X=1") ENTRY("SLURM_PROCID=3"),
		     "SLURM_JOB_ID=7 SLURM_PROCID=3"),
		CASE(ENTRY("LEAT_APP_NAME=a b%"), "LEAT_APP_NAME=a%20b%25"),
		CASE(ENTRY("NXF_TASK_WORKDIR=/w") ENTRY("AIRFLOW_CTX_DAG_ID=d\n"),
		     "NXF_TASK_WORKDIR=/w AIRFLOW_CTX_DAG_ID=d%0A"),
		/* what must not be passed on */
		CASE(ENTRY("NXF_SECRET_X=1") ENTRY("AIRFLOW_CTX_TOKEN=1") ENTRY("LEAT_KEY=1"),
		     NULL),
		/* names that only begin like one, or have no value */
		CASE(ENTRY("SLURM_JOB_IDX=7") ENTRY("SLURM_JOB_ID") ENTRY("=SLURM_JOB_ID=7"), NULL),
		/* cut off: not the whole value */
		CASE(ENTRY("SLURM_JOB_ID=7") "SLURM_PROCID=12", "SLURM_JOB_ID=7"),
		CASE("\0\0" ENTRY("LEAT_TASK=") "\0", "LEAT_TASK="),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = leat_trace_labels(cases[i].environment, cases[i].size);

		if (cases[i].labels)
			assert_string_equal(got ? got : "nothing", cases[i].labels);
		else
			assert_null(got);
		free(got);
	}
}

/* ---- filter ---- */

static void filter_of_files(void **state)
{
	static const char *const dirs[] = {"/data/in", "/scratch"};
	static const char *const types[] = {"ext4", "nfs4"}, *const root[] = {"/"};
	struct leat_trace_request request = {.filter = {.dirs = dirs, .n_dirs = 2}};
	struct leat_trace_sink sink;

	(void)state;
	leat_trace_sink_init(&sink, &request);
	assert_true(leat_trace_sink_wants_file(&sink, "/data/in/x", "tmpfs"));
	assert_true(leat_trace_sink_wants_file(&sink, "/scratch/a/b", NULL));
	assert_false(leat_trace_sink_wants_file(&sink, "/data/input", NULL));
	assert_false(leat_trace_sink_wants_file(&sink, "/data", NULL));
	request.filter.filesystems = types;
	request.filter.n_filesystems = 2;
	assert_true(leat_trace_sink_wants_file(&sink, "/scratch/a", "nfs4"));
	assert_false(leat_trace_sink_wants_file(&sink, "/scratch/a", "tmpfs"));
	assert_false(leat_trace_sink_wants_file(&sink, "/a", "ext4"));
	request.filter.n_dirs = 0;
	assert_true(leat_trace_sink_wants_file(&sink, "/a", "ext4"));
	request.filter.n_dirs = 1;
	request.filter.dirs = root;
	assert_true(leat_trace_sink_wants_file(&sink, "/a", "ext4"));
}

static void filter_of_users(void **state)
{
	struct leat_trace_request request = {.filter = {.by_uid = true, .uid = 5}};
	struct leat_trace_sink sink;

	(void)state;
	leat_trace_sink_init(&sink, &request);
	assert_true(leat_trace_sink_wants_user(&sink, 5, 1));
	assert_false(leat_trace_sink_wants_user(&sink, 0, 1));
	request.filter.by_gid = true;
	assert_false(leat_trace_sink_wants_user(&sink, 5, 1));
	request.filter.gid = 1;
	assert_true(leat_trace_sink_wants_user(&sink, 5, 1));
}

/* ---- the table ---- */

static void table(void **state)
{
	struct leat_trace_request overlay = {.overlay = "/nowhere"};
	char why[1024] = "";

	(void)state;
	for (const struct leat_tracer_row *row = leat_tracers; row->name; row++) {
		assert_ptr_equal(leat_tracer_find(row->name), row);
		assert_true(!row->tracer != !row->missing);
		if (row->tracer)
			assert_string_equal(row->tracer->name, row->name);
	}
	assert_null(leat_tracer_find("auto"));
	/* Neither a command nor a process: none but one of the whole system can do it. */
	if (!leat_tracer_choose(&overlay, why, sizeof(why)))
		assert_non_null(strstr(why, "ptrace: "));
	/* A reason that is cut short does no harm. */
	leat_tracer_choose(&overlay, why, 4);
	assert_true(strlen(why) < 4);
}

/* ---- files ---- */

static struct statx file(uint64_t ino, int64_t birth)
{
	return (struct statx){.stx_mask = birth ? STATX_BTIME : 0,
			      .stx_ino = ino,
			      .stx_dev_major = 8,
			      .stx_btime = {.tv_sec = birth}};
}

static uint64_t id_of(struct inodes *all, const struct statx *st)
{
	bool known;
	struct inode *inode = leat_inode_get(all, st, &known);

	assert_non_null(inode);
	return inode->id;
}

static void ids_of_files(void **state)
{
	struct statx a = file(1, 100), later = file(1, 200), no_birth = file(1, 0),
		     b = file(2, 100);
	struct inodes all = {0};
	struct inode *inode;
	struct handle *h;
	uint64_t id;

	(void)state;
	assert_null(leat_inode_find(&all, &a));
	id = id_of(&all, &a);
	assert_int_equal(id_of(&all, &a), id);
	/* the same number, born at another time */
	assert_int_not_equal(id_of(&all, &later), id);
	assert_int_not_equal(id_of(&all, &no_birth), id);
	assert_int_not_equal(id_of(&all, &b), id);
	/* gone while it is open: whoever has the number next is another file */
	inode = leat_inode_find(&all, &a);
	h = leat_handle_new(inode, 1, 0);
	leat_inode_gone(&all, inode);
	leat_inode_gone(&all, inode);
	assert_null(leat_inode_find(&all, &a));
	assert_int_not_equal(id_of(&all, &a), id);
	assert_int_equal(h->inode->id, id);
	assert_true(leat_handle_unref(h));
	leat_handle_free(h);
	leat_inodes_release(&all);
}

static void descriptors(void **state)
{
	struct statx a = file(1, 100);
	struct inodes all = {0};
	struct fdtab *fds = leat_fdtab_new(), *copy;
	struct handle *h;
	bool known;

	(void)state;
	h = leat_handle_new(leat_inode_get(&all, &a, &known), 7, 0);
	assert_null(leat_fdtab_slot(fds, 0));
	assert_null(leat_fdtab_make(fds, UINT32_MAX));
	leat_fdtab_make(fds, 3)->handle = h;
	leat_handle_ref(h);
	*leat_fdtab_make(fds, 1000) = (struct slot){.handle = h, .cloexec = true};
	assert_ptr_equal(leat_fdtab_slot(fds, 3)->handle, h);
	assert_null(leat_fdtab_slot(fds, 999)->handle);
	copy = leat_fdtab_copy(fds);
	assert_int_equal(h->refs, 4);
	assert_true(leat_fdtab_slot(copy, 1000)->cloexec);
	assert_ptr_equal(leat_fdtab_take(fds, 3), h);
	assert_null(leat_fdtab_take(fds, 3));
	assert_null(leat_fdtab_take(fds, UINT64_MAX));
	assert_false(leat_handle_unref(h));
	assert_ptr_equal(leat_fdtab_take(fds, 1000), h);
	assert_ptr_equal(leat_fdtab_take(copy, 3), h);
	assert_ptr_equal(leat_fdtab_take(copy, 1000), h);
	assert_false(leat_handle_unref(h));
	assert_false(leat_handle_unref(h));
	assert_true(leat_handle_unref(h));
	leat_handle_free(h);
	leat_fdtab_free(fds);
	leat_fdtab_free(copy);
	leat_inodes_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels),          cmocka_unit_test(filter_of_files),
		cmocka_unit_test(filter_of_users), cmocka_unit_test(table),
		cmocka_unit_test(ids_of_files),    cmocka_unit_test(descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
