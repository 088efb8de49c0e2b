#include "base/acting.h"
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534 };

static char base[] = "/tmp/leat-test-beneath-XXXXXX";
static int top = -1;

static void put(const char *path)
{
	int fd = openat(top, path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(chmod(base, 0755), 0);
	top = open(base, O_RDONLY | O_DIRECTORY);
	mkdirat(top, "d", 0755);
	mkdirat(top, "d/e", 0755);
	mkdirat(top, "shut", 0700);
	put("f");
	put("d/e/f");
	put("shut/f");
	assert_int_equal(symlinkat("/", top, "out"), 0);
	assert_int_equal(symlinkat("d", top, "in"), 0);
	assert_int_equal(symlinkat("f", top, "d/e/link"), 0);
	mkfifoat(top, "fifo", 0666);
	return top < 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	close(top);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command);
}

static int opened(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static const struct {
	const char *path;
	int find;    /* its directory */
	int open;    /* to read */
	int regular; /* the same, if it is a file */
} paths[] = {
	{"f", 0, 0, 0},
	{"d/e/f", 0, 0, 0},
	{"", 0, 0, -EISDIR},
	{".", 0, 0, -EISDIR},
	{"d", 0, 0, -EISDIR},
	{"fifo", 0, 0, -EINVAL},
	{"none", 0, -ENOENT, -ENOENT},
	{"d/none/f", -ENOENT, -ENOENT, -ENOENT},
	{"f/f", -ENOTDIR, -ENOTDIR, -ENOTDIR},
	{"d/e/link", 0, -ELOOP, -EINVAL},
	{"in/e/f", -ELOOP, -ELOOP, -ELOOP},
	{"d/e/link/f", -ELOOP, -ELOOP, -ELOOP},
	{"out/etc/passwd", -ELOOP, -ELOOP, -ELOOP},
	{"..", -EXDEV, -EXDEV, -EXDEV},
	{"../f", -EXDEV, -EXDEV, -EXDEV},
	{"d/../../f", -EXDEV, -EXDEV, -EXDEV},
	{"/etc/passwd", -EXDEV, -EXDEV, -EXDEV},
};

/* The number of paths that are not what they should be. */
static int look(void)
{
	struct leat_beneath b;
	int wrong = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const char *path = paths[i].path;
		int find = leat_beneath_find(top, path, &b);
		int open = opened(leat_beneath_open(top, path, O_RDONLY, 0));
		int regular = opened(leat_beneath_open_regular(top, path, O_RDONLY));

		if (!find)
			leat_beneath_release(&b);
		if (find == paths[i].find && open == paths[i].open && regular == paths[i].regular)
			continue;
		fprintf(stderr, "\"%s\": %d %d %d\n", path, find, open, regular);
		wrong++;
	}
	return wrong;
}

static void test_paths(void **state)
{
	(void)state;
	assert_int_equal(look(), 0);
}

/* Without openat2, as before Linux 5.6 and behind some filters, the answers are the same. */
static void refuse_openat2(unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(98);
}

static void test_without_openat2(void **state)
{
	const unsigned errors[] = {ENOSYS, EPERM};
	int status;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			refuse_openat2(errors[i]);
			_exit(look());
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

static void test_calls(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 7}};
	char target[8];
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(leat_beneath_mkdir(top, "d/new", 0700), 0);
	assert_int_equal(leat_beneath_mkdir(top, "in/new2", 0700), -ELOOP);
	assert_int_equal(leat_beneath_symlink("f", top, "d/new/l"), 0);
	assert_int_equal(leat_beneath_readlink(top, "d/new/l", target, sizeof(target)), 1);
	assert_int_equal(leat_beneath_link(top, "d/e/f", top, "d/new/f"), 0);
	assert_int_equal(leat_beneath_link(top, "d/e/f", top, "in/f"), -ELOOP);
	assert_int_equal(leat_beneath_rename(top, "d/new/f", top, "d/new/g", 0), 0);
	assert_int_equal(leat_beneath_rename(top, "in/new/g", top, "d/g", 0), -ELOOP);
	assert_int_equal(leat_beneath_rename(top, "d/new/g", top, "out/tmp/g", 0), -ELOOP);
	assert_int_equal(leat_beneath_times(top, "d/new/g", times), 0);
	assert_int_equal(leat_beneath_stat(top, "d/new/g", &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 7);
	fd = leat_beneath_open(top, "d/new/g", O_PATH, 0);
	assert_int_equal(leat_beneath_chmod(fd, 0711), 0);
	assert_int_equal(leat_beneath_stat(top, "d/new/g", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0711);
	close(fd);
	assert_int_equal(leat_beneath_unlink(top, "in/new/g", 0), -ELOOP);
	assert_int_equal(leat_beneath_unlink(top, "d/new/g", 0), 0);
	assert_int_equal(leat_beneath_unlink(top, "d/new/l", 0), 0);
	assert_int_equal(leat_beneath_unlink(top, "d/new", AT_REMOVEDIR), 0);
	assert_int_equal(leat_beneath_access(top, "d/e/f", R_OK), 0);
}

static void test_acting(void **state)
{
	const struct leat_ids as = {.uid = NOBODY, .gid = NOBODY};
	int dumpable = prctl(PR_GET_DUMPABLE);
	struct leat_acting own;
	struct stat st;

	(void)state;
	if (geteuid()) {
		print_message("not root: nobody else to act as\n");
		skip();
	}
	assert_int_equal(leat_acting_begin(&as, false, &own), 0);
	assert_int_equal(leat_beneath_access(top, "shut/f", R_OK), -EACCES);
	assert_int_equal(opened(leat_beneath_open(top, "shut/f", O_PATH, 0)), -EACCES);
	assert_int_equal(leat_beneath_mkdir(top, "shut/new", 0700), -EACCES);
	leat_acting_end(&own);
	/* in any directory, but as that user's */
	assert_int_equal(leat_acting_begin(&as, true, &own), 0);
	assert_int_equal(leat_beneath_mkdir(top, "shut/new", 0700), 0);
	leat_acting_end(&own);
	assert_int_equal(leat_beneath_stat(top, "shut/new", &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, NOBODY);
	assert_int_equal(leat_beneath_access(top, "shut/f", R_OK), 0);
	assert_int_equal(prctl(PR_GET_DUMPABLE), dumpable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_without_openat2),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_acting),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
