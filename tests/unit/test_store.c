#include "store/compare.h"
#include "store/copy.h"
#include "store/list.h"
#include "store/persist.h"
#include "store/remove.h"
#include "store/store.h"

#include "short.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

static char base[64];
static int base_fd = -1;

static int setup(void **state)
{
	(void)state;
	strcpy(base, "/tmp/leat-test-store-XXXXXX");
	if (!mkdtemp(base) || chmod(base, 0777) < 0)
		return -1;
	base_fd = open(base, O_RDONLY | O_DIRECTORY);
	return base_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	close(base_fd);
	return leat_remove_tree(AT_FDCWD, base);
}

static int make_file(const char *name, size_t size)
{
	int fd = openat(base_fd, name, O_RDWR | O_CREAT | O_TRUNC, 0640);
	char block[4096];

	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (size_t done = 0; done < size; done += sizeof(block))
		assert_int_equal(write(fd, block, sizeof(block)), (int)sizeof(block));
	return fd;
}

static size_t names_in(int dirfd)
{
	DIR *dir = fdopendir(openat(dirfd, ".", O_RDONLY | O_DIRECTORY));
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

/* How large the store is, in kB. */
static uint64_t size_of(const struct leat_store *s)
{
	uint64_t size, used;

	assert_int_equal(leat_store_usage(s, &size, &used), 0);
	return size >> 10;
}

/* Makes it larger and smaller, but not too small for what is in it. An exit code. */
static int resize_store(struct leat_store *s, int fd)
{
	static char block[512 << 10];
	struct stat before, after;

	if (leat_store_is_private(s))
		return leat_store_resize(s, 1 << 20) == -ENOTSUP ? 0 : 20;
#ifdef __SANITIZE_THREAD__
	return 0; /* a process that has its thread cannot enter another mount namespace */
#endif
	if (leat_store_resize(s, 2 << 20) || size_of(s) != 2048)
		return 21;
	if (pwrite(fd, block, sizeof(block), 0) != (ssize_t)sizeof(block))
		return 22;
	if (leat_store_resize(s, 256 << 10) != -EINVAL || size_of(s) != 2048)
		return 23;
	if (leat_store_resize(s, 640 << 10) || size_of(s) != 640)
		return 24;
	if (pwrite(fd, block, sizeof(block), sizeof(block)) == (ssize_t)sizeof(block))
		return 25;
	/* Nothing else of the mount changes. */
	if (fstat(fd, &before) < 0 || pread(fd, block, 1, 0) != 1 || fstat(fd, &after) < 0 ||
	    before.st_atim.tv_nsec != after.st_atim.tv_nsec)
		return 26;
	return 0;
}

/* Makes a store, uses it, lets it go. An exit code, as it also runs in a child. */
static int use_store(void)
{
	struct leat_store *s = NULL;
	char mount_point[128], expected[160], link[32], seen[256] = "";
	struct stat st;
	int fd, rc;

	snprintf(mount_point, sizeof(mount_point), "%s/mount-%u", base, geteuid());
	if (mkdir(mount_point, 0700) < 0 || leat_store_create(mount_point, 1 << 20, &s))
		return 1;
	fd = openat(leat_store_fd(s), "file", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid())
		return 2;
	if (st.st_dev != leat_store_dev(s))
		return 3;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	snprintf(expected, sizeof(expected), "%s/file", leat_store_path(s));
	if (readlink(link, seen, sizeof(seen) - 1) < 0 || strcmp(seen, expected) != 0)
		return 4;
	rc = stat(expected, &st) == 0;
	if (rc != leat_store_is_private(s))
		return 5; /* a mount is to be seen by nobody else */
	rc = resize_store(s, fd);
	if (rc)
		return rc;
	close(fd);
	leat_store_destroy(s);
	return rmdir(mount_point) < 0 ? 6 : 0;
}

static void test_create(void **state)
{
	(void)state;
	assert_int_equal(use_store(), 0);
}

static void test_create_as_nobody(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
		    setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(99);
		/* a change of ids closes /proc/self to the process */
		prctl(PR_SET_DUMPABLE, 1);
		_exit(use_store());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_private(void **state)
{
	struct leat_store *s;
	char path[128];
	struct stat st;

	(void)state;
	assert_int_equal(setenv("LEAT_STORE", "shm", 1), 0);
	assert_int_equal(leat_store_create(base, 0, &s), 0);
	unsetenv("LEAT_STORE");
	assert_true(leat_store_is_private(s));
	snprintf(path, sizeof(path), "%s", leat_store_path(s));
	assert_int_equal(mkdirat(leat_store_fd(s), "sub", 0700), 0);
	leat_store_clean_stale();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	leat_store_destroy(s);
	assert_int_equal(stat(path, &st), -1);
}

static void test_private_stale(void **state)
{
	struct leat_store *s;
	char path[128] = "";
	int pipe_fd[2];
	struct stat st;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipe_fd), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (leat_store_create_private(&s))
			_exit(1);
		if (mkdirat(leat_store_fd(s), "sub", 0700) < 0)
			_exit(2);
		if (write(pipe_fd[1], leat_store_path(s), strlen(leat_store_path(s))) < 0)
			_exit(3);
		while (true)
			pause(); /* until it is killed, without cleaning up */
	}
	close(pipe_fd[1]);
	assert_true(read(pipe_fd[0], path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* Unless another leat that starts at this moment has done so already. */
	leat_store_clean_stale();
	assert_int_equal(stat(path, &st), -1);
	close(pipe_fd[0]);
}

/* What a copy is of a file of that size which begins with a hole of so many bytes. */
static void check_copy(off_t hole, size_t size, enum leat_copy how)
{
	int in = openat(base_fd, "from", O_RDWR | O_CREAT | O_TRUNC, 0600), flags;
	int out = openat(base_fd, "to", O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t whole = (size_t)hole + size;
	char *text = malloc(whole + 1), *copy = malloc(whole + 1);
	struct stat st;

	assert_true(in >= 0 && out >= 0 && text && copy);
	for (size_t i = 0; i < whole; i++)
		text[i] = (char)((off_t)i < hole ? 0 : i % 251 + 1);
	assert_int_equal(pwrite(in, text + hole, size, hole), (ssize_t)size);
	flags = fcntl(out, F_GETFL);
	assert_int_equal(leat_copy_data(in, out, whole, how), 0);
	assert_int_equal(fcntl(out, F_GETFL), flags);
	assert_int_equal(fstat(out, &st), 0);
	assert_int_equal(st.st_size, whole);
	assert_int_equal(pread(out, copy, whole, 0), (ssize_t)whole);
	assert_memory_equal(copy, text, whole);
	free(text);
	free(copy);
	close(in);
	close(out);
	assert_int_equal(unlinkat(base_fd, "from", 0) | unlinkat(base_fd, "to", 0), 0);
}

static void test_copy(void **state)
{
	const size_t sizes[] = {1, 4095, 4096, 3 * 4096 + 5, (short_or_full(2, 9) << 20) + 123};

	(void)state;
	for (enum leat_copy how = LEAT_COPY_FAST; how <= LEAT_COPY_DIRECT; how++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			check_copy(0, sizes[i], how);
			check_copy(1 << 20, sizes[i], how);
		}
}

static int make_with(int fd, const char *path, size_t size, size_t other)
{
	char *bytes = calloc(1, size + 1);
	int out = openat(fd, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_non_null(bytes);
	assert_true(out >= 0);
	bytes[other] = 1;
	assert_int_equal(pwrite(out, bytes, size, 0), (ssize_t)size);
	free(bytes);
	return out;
}

static void test_compare(void **state)
{
	static const size_t sizes[] = {1, 4095, 1 << 20, (1 << 20) + 1, (3 << 20) - 1};
	const int fd = base_fd;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];
		int a = make_with(fd, "a", n, n), b = make_with(fd, "b", n, n);
		int last = make_with(fd, "c", n, n - 1), longer = make_with(fd, "d", n + 1, n + 1);

		assert_int_equal(leat_compare_bytes(a, b), 1);
		assert_int_equal(leat_compare_bytes(a, last), 0);
		assert_int_equal(leat_compare_bytes(a, longer), 0);
		assert_int_equal(leat_compare_bytes(longer, a), 0);
		assert_int_equal(leat_compare_bytes(a, -1), -EBADF);
		close(a);
		close(b);
		close(last);
		close(longer);
	}
	for (const char *path = "abcd"; *path; path++)
		assert_int_equal(unlinkat(fd, (char[]){*path, 0}, 0), 0);
}

static int persist_symlink(int fd, const char *path, const char *target)
{
	struct leat_beneath at;
	struct leat_persist p;
	int rc = leat_beneath_find(fd, path, &at);

	if (!rc)
		rc = leat_persist_make_symlink(&p, &at, target, getuid(), getgid());
	return rc ? rc : leat_persist_take(&p);
}

static void test_persist(void **state)
{
	const struct timespec old[2] = {{1000000000, 5}, {1000000000, 7}};
	int fd = make_file("in", 100 << 10);
	struct stat st;

	(void)state;
	assert_int_equal(fchmod(fd, 0604), 0);
	assert_int_equal(futimens(fd, old), 0);
	mkdirat(base_fd, "dir", 0755);
	assert_int_equal(leat_persist_file(base_fd, "dir/out", fd), 0);
	assert_int_equal(fstatat(base_fd, "dir/out", &st, 0), 0);
	assert_int_equal(st.st_size, 100 << 10);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_int_equal(st.st_mtim.tv_sec, 1000000000);
	assert_int_equal(st.st_mtim.tv_nsec, 7);
	/* over an older one */
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_int_equal(leat_persist_file(base_fd, "dir/out", fd), 0);
	assert_int_equal(fstatat(base_fd, "dir/out", &st, 0), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(leat_persist_sync_parent(base_fd, "dir/out"), 0);
	assert_int_equal(persist_symlink(base_fd, "dir/link", "out"), 0);
	assert_int_equal(persist_symlink(base_fd, "dir/link", "other"), 0);
	assert_int_equal(leat_persist_file(base_fd, "none/out", fd), -ENOENT);
	assert_int_equal(leat_persist_file(base_fd, "dir", fd), -EISDIR);
	close(fd);
	fd = openat(base_fd, "dir", O_RDONLY);
	assert_int_equal(names_in(fd), 2);
	close(fd);
}

/* A file that is not whole has no name, and one that takes the place of another has none beside it.
 */
static void test_persist_unseen(void **state)
{
	int fd = make_file("in", 10), dir, aside;
	struct leat_beneath at;
	struct leat_persist p;

	(void)state;
	assert_int_equal(mkdirat(base_fd, "unseen", 0755), 0);
	assert_int_equal(mkdirat(base_fd, "aside", 0755), 0);
	dir = openat(base_fd, "unseen", O_RDONLY | O_DIRECTORY);
	aside = openat(base_fd, "aside", O_RDONLY | O_DIRECTORY);
	for (size_t there = 0; there < 2; there++) {
		assert_int_equal(leat_beneath_find(dir, "out", &at), 0);
		assert_int_equal(leat_persist_make_file(&p, &at, fd, LEAT_LIST_GOES,
							LEAT_PERSIST_NAMELESS, "out"),
				 0);
		if (*p.temporary)
			skip(); /* no such files here */
		assert_int_equal(names_in(dir), there);
		p.aside = aside;
		assert_int_equal(leat_persist_take(&p), 0);
		assert_string_equal(p.temporary, "");
		assert_int_equal(names_in(dir), 1);
		assert_int_equal(names_in(aside), 0);
	}
	/* one that is not wanted leaves nothing, nor does one that cannot take the place */
	assert_int_equal(leat_beneath_find(dir, "none", &at), 0);
	assert_int_equal(
		leat_persist_make_file(&p, &at, fd, LEAT_LIST_GOES, LEAT_PERSIST_NAMELESS, "none"),
		0);
	leat_persist_drop(&p);
	assert_int_equal(mkdirat(dir, "sub", 0755), 0);
	assert_int_equal(leat_beneath_find(dir, "sub", &at), 0);
	assert_int_equal(
		leat_persist_make_file(&p, &at, fd, LEAT_LIST_GOES, LEAT_PERSIST_NAMELESS, "sub"),
		0);
	p.aside = aside;
	assert_int_equal(leat_persist_take(&p), -EISDIR);
	assert_int_equal(names_in(dir), 2);
	assert_int_equal(names_in(aside), 0);
	close(aside);
	close(dir);
	close(fd);
}

/* u::rw-, u:nobody:rw-, g::r--, m::rw-, o::r-- */
static const struct {
	uint32_t version;
	struct {
		uint16_t tag, rights;
		uint32_t id;
	} e[5];
} list = {2,
	  {{1, 6, UINT32_MAX},
	   {2, 6, NOBODY},
	   {4, 4, UINT32_MAX},
	   {16, 6, UINT32_MAX},
	   {32, 4, UINT32_MAX}}};

/* A list that the directory has given to the copy, and the file has not. */
static void test_persist_list(void **state)
{
	const char acl[] = "system.posix_acl_access", by_default[] = "system.posix_acl_default";
	int fd = make_file("in", 10), dir;
	struct leat_beneath at;
	struct leat_persist p;
	char value[100];

	(void)state;
	assert_int_equal(mkdirat(base_fd, "lists", 0755), 0);
	dir = openat(base_fd, "lists", O_RDONLY | O_DIRECTORY);
	assert_int_equal(leat_list_in(dir), LEAT_LIST_STAYS);
	if (fsetxattr(dir, by_default, &list, sizeof(list), 0) < 0)
		skip();
	assert_int_equal(leat_list_in(dir), LEAT_LIST_GOES);
	for (int goes = 0; goes < 2; goes++) {
		assert_int_equal(leat_beneath_find(dir, "out", &at), 0);
		assert_int_equal(leat_persist_make_file(&p, &at, fd,
							goes ? LEAT_LIST_GOES : LEAT_LIST_STAYS,
							LEAT_PERSIST_NAMELESS, "out"),
				 0);
		assert_int_equal(fgetxattr(p.fd, acl, value, sizeof(value)) > 0, !goes);
		leat_persist_drop(&p);
	}
	assert_int_equal(mkdirat(base_fd, "other", 0755), 0);
	close(fd);
	fd = openat(base_fd, "other", O_RDONLY | O_DIRECTORY);
	assert_int_equal(leat_copy_default_list(dir, fd), 0);
	assert_int_equal(leat_list_in(fd), LEAT_LIST_GOES);
	close(dir);
	close(fd);
}

/* What a killed daemon left goes; what a living one is at, and what others called so, stays. */
static void test_persist_stale(void **state)
{
	int dead, living, other, dir;

	(void)state;
	assert_int_equal(mkdirat(base_fd, "stale", 0755), 0);
	dead = make_file("stale/.leat-out.abcdef", 4096);
	close(dead);
	living = make_file("stale/.leat-out.abcde0", 4096);
	assert_int_equal(flock(living, LOCK_EX), 0);
	other = make_file("stale/.leat-out.sorted", 0);
	close(other);
	close(make_file("stale/.leat-Out.ABCDEF", 0));
	close(make_file("stale/out", 0));
	assert_int_equal(symlinkat("out", base_fd, "stale/.leat-link.abcdef"), 0);
	dir = openat(base_fd, "stale", O_RDONLY | O_DIRECTORY);
	leat_persist_clean_stale(dir);
	assert_int_equal(faccessat(dir, ".leat-out.abcdef", F_OK, 0), -1);
	assert_int_equal(faccessat(dir, ".leat-out.abcde0", F_OK, 0), 0);
	assert_int_equal(names_in(dir), 4); /* the living, ABCDEF, out, the young symlink */
	close(dir);
	close(living);
	leat_persist_clean_stale(-1);
}

static int refusals, refusal; /* so many locks are refused, and why */

int __wrap_flock(int fd, int operation);
int __real_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	if (!refusals)
		return __real_flock(fd, operation);
	refusals--;
	errno = refusal;
	return -1;
}

/* Somebody may take a temporary for stale before it is locked, however often. */
static void test_persist_taken(void **state)
{
	int fd = make_file("in", 10), dir;

	(void)state;
	assert_int_equal(mkdirat(base_fd, "taken", 0755), 0);
	dir = openat(base_fd, "taken", O_RDONLY | O_DIRECTORY);
	refusals = 100;
	refusal = EWOULDBLOCK;
	assert_int_equal(leat_persist_file(dir, "out", fd), 0);
	assert_int_equal(refusals, 0);
	assert_int_equal(faccessat(dir, "out", F_OK, 0), 0);
	leat_persist_clean_stale(dir);
	assert_int_equal(names_in(dir), 1);
	/* Where nothing can be locked, that is said, and nothing stays. */
	refusals = 1;
	refusal = ENOLCK;
	assert_int_equal(leat_persist_file(dir, "other", fd), -ENOLCK);
	assert_int_equal(names_in(dir), 1);
	close(dir);
	close(fd);
}

enum { CLEANERS = 3, LOOKS = 2000 };

/* Clears away in `dir`, again and again, and counts. */
static pid_t start_cleaner(int dir, _Atomic unsigned *looks)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		leat_persist_clean_stale(dir);
		++*looks;
	}
}

static bool all_looked(const _Atomic unsigned *looks)
{
	for (int i = 0; i < CLEANERS; i++)
		if (looks[i] < LOOKS)
			return false;
	return true;
}

/* Others who clear away at the same time take nothing that is somebody's. In memory: on a disk a
 * file takes as long as the disk has other work. */
static void test_persist_beside_cleaners(void **state)
{
	char there[] = "/dev/shm/leat-test-cleaned-XXXXXX";
	_Atomic unsigned *looks = mmap(NULL, sizeof(*looks) * CLEANERS, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t cleaners[CLEANERS];
	int fd = make_file("in", 10), rc = 0, dir;

	(void)state;
	assert_true(looks != MAP_FAILED);
	assert_non_null(mkdtemp(there));
	dir = open(there, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < CLEANERS; i++)
		cleaners[i] = start_cleaner(dir, &looks[i]);
	while (!rc && !all_looked(looks))
		rc = leat_persist_file(dir, "out", fd);
	for (int i = 0; i < CLEANERS; i++) {
		kill(cleaners[i], SIGKILL);
		waitpid(cleaners[i], NULL, 0);
	}
	assert_int_equal(leat_remove_tree(AT_FDCWD, there), 0);
	assert_int_equal(rc, 0);
	munmap(looks, sizeof(*looks) * CLEANERS);
	close(dir);
	close(fd);
}

/* A process that makes links in that directory, one after the other, once `first` is removed. */
static pid_t start_maker(const char *there)
{
	int dir = open(there, O_RDONLY | O_DIRECTORY);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		char name[16];

		while (faccessat(dir, "first", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			;
		for (int i = 0; i < 50; i++) {
			snprintf(name, sizeof(name), "%d", i);
			if (symlinkat("target", dir, name) < 0)
				break;
		}
		_exit(0);
	}
	close(dir);
	return pid;
}

/* A process that loses its daemon leaves word of it in a directory that the daemon removes. */
static void test_remove_beside_makers(void **state)
{
	const int races = (int)short_or_full(100, 300);
	char there[80];
	int rc = 0, status;

	(void)state;
	snprintf(there, sizeof(there), "%s/removed", base);
	for (int i = 0; i < races && !rc; i++) {
		pid_t maker;

		assert_int_equal(mkdir(there, 0700), 0);
		assert_int_equal(mkdirat(base_fd, "removed/first", 0700), 0);
		maker = start_maker(there);
		rc = leat_remove_tree(AT_FDCWD, there);
		assert_int_equal(waitpid(maker, &status, 0), maker);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(access(there, F_OK), -1);
}

static void test_persist_long_name(void **state)
{
	char name[NAME_MAX + 1];
	int fd = make_file("in", 10);

	(void)state;
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = 0;
	assert_int_equal(leat_persist_file(base_fd, name, fd), 0);
	assert_int_equal(unlinkat(base_fd, name, 0), 0);
	close(fd);
}

static void test_persist_meta(void **state)
{
	int fd = make_file("meta", 10);
	struct leat_inode other;
	struct stat st, now;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	st.st_mode = (st.st_mode & S_IFMT) | 0711;
	st.st_mtim.tv_sec = 1234567890;
	assert_int_equal(leat_persist_meta(base_fd, "meta", &st, NULL, fd, LEAT_LIST_STAYS, ""), 0);
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_mode & 07777, 0711);
	assert_int_equal(now.st_mtim.tv_sec, 1234567890);
	assert_int_equal(leat_persist_meta(base_fd, "none", &st, NULL, -1, LEAT_LIST_STAYS, ""),
			 -ENOENT);
	/* another file of that name, and a symlink, are left alone */
	other = (struct leat_inode){now.st_dev, now.st_ino + 1};
	st.st_mode = (st.st_mode & S_IFMT) | 0777;
	assert_int_equal(leat_persist_meta(base_fd, "meta", &st, &other, fd, LEAT_LIST_STAYS, ""),
			 -ESTALE);
	assert_int_equal(symlinkat("meta", base_fd, "to_meta"), 0);
	assert_int_equal(leat_persist_meta(base_fd, "to_meta", &st, NULL, fd, LEAT_LIST_STAYS, ""),
			 0);
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_mode & 07777, 0711);
	close(fd);
}

/* A store of 1 MB serves as the full disk. */
static void test_persist_full(void **state)
{
	struct leat_store *s;
	int fd = make_file("big", 4 << 20);
	char mount_point[128];
	int disk;
	struct stat st;

	(void)state;
	mkdirat(base_fd, "mount", 0700);
	snprintf(mount_point, sizeof(mount_point), "%s/mount", base);
	assert_int_equal(leat_store_create(mount_point, 1 << 20, &s), 0);
	if (leat_store_is_private(s)) {
		leat_store_destroy(s);
		skip();
	}
	disk = leat_store_fd(s);
	close(openat(disk, "out", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(leat_persist_file(disk, "out", fd), -ENOSPC);
	assert_int_equal(fstatat(disk, "out", &st, 0), 0);
	assert_int_equal(st.st_size, 0); /* as it was */
	assert_int_equal(names_in(disk), 1);
	leat_store_destroy(s);
	close(fd);
}

static void test_persist_denied(void **state)
{
	int fd = make_file("in", 10);
	int dir, status;
	pid_t child;

	(void)state;
	mkdirat(base_fd, "locked", 0555);
	dir = openat(base_fd, "locked", O_RDONLY);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(99);
		_exit(leat_persist_file(dir, "out", fd) != -EACCES);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(names_in(dir), 0);
	close(dir);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_create_as_nobody),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_private_stale),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_persist),
		cmocka_unit_test(test_persist_unseen),
		cmocka_unit_test(test_persist_list),
		cmocka_unit_test(test_persist_stale),
		cmocka_unit_test(test_persist_taken),
		cmocka_unit_test(test_persist_beside_cleaners),
		cmocka_unit_test(test_remove_beside_makers),
		cmocka_unit_test(test_persist_long_name),
		cmocka_unit_test(test_persist_meta),
		cmocka_unit_test(test_persist_full),
		cmocka_unit_test(test_persist_denied),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
