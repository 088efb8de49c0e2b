#include "base/beneath.h"
#include "base/str.h"
#include "base/timespec.h"
#include "shm/state.h"
#include "store/list.h"
#include "store/remove.h"
#include "store/times.h"
#include "store/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	char base[64];
	char disk[80];
	char store[80];
	struct leat_tree *t;
	int store_fd, disk_fd;
};

static void put(int dirfd, const char *path, const char *text)
{
	int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->base, "/tmp/leat-test-tree-XXXXXX");
	assert_non_null(mkdtemp(w->base));
	snprintf(w->disk, sizeof(w->disk), "%s/disk", w->base);
	snprintf(w->store, sizeof(w->store), "%s/store", w->base);
	assert_int_equal(mkdir(w->disk, 0755), 0);
	assert_int_equal(mkdir(w->store, 0700), 0);
	w->disk_fd = open(w->disk, O_RDONLY | O_DIRECTORY);
	w->store_fd = open(w->store, O_RDONLY | O_DIRECTORY);
	w->t = leat_tree_new(w->store_fd, w->store, w->disk_fd, w->disk);
	assert_non_null(w->t);
	mkdirat(w->disk_fd, "both", 0750);
	mkdirat(w->store_fd, "both", 0750);
	mkdirat(w->disk_fd, "d", 0755);
	mkdirat(w->store_fd, "s", 0711);
	put(w->disk_fd, "d/f", "disk");
	put(w->store_fd, "s/g", "store");
	put(w->disk_fd, "both/x", "old");
	put(w->store_fd, "both/x", "new");
	assert_int_equal(symlinkat("../s/g", w->disk_fd, "d/to_g"), 0);
	assert_int_equal(symlinkat("d", w->disk_fd, "ld"), 0);
	assert_int_equal(symlinkat("loop", w->disk_fd, "loop"), 0);
	assert_int_equal(symlinkat("nowhere", w->disk_fd, "dangling"), 0);
	assert_int_equal(symlinkat("/usr", w->disk_fd, "usr"), 0);
	assert_int_equal(symlinkat("../..", w->disk_fd, "d/up"), 0);
	assert_int_equal(symlinkat("/proc/self/fd/1", w->disk_fd, "out"), 0);
	assert_int_equal(symlinkat(w->disk, w->disk_fd, "self"), 0);
	assert_int_equal(symlinkat(w->store, w->disk_fd, "mount"), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	leat_tree_free(w->t);
	close(w->disk_fd);
	close(w->store_fd);
	assert_int_equal(leat_remove_tree(AT_FDCWD, w->base), 0);
	free(w);
	return 0;
}

#define FOLLOW LEAT_FIND_FOLLOW
#define LEAVE LEAT_FIND_NOFOLLOW
#define NAME LEAT_FIND_NAME

static const struct {
	const char *path;
	enum leat_find how;
	int rc;
	enum leat_root root;
	const char *found; /* @ is the disk's path, % its parent; these are outside */
	bool parent_missing;
} finds[] = {
	{"", FOLLOW, 0, LEAT_ROOT_DISK, "", false},
	{".", FOLLOW, 0, LEAT_ROOT_DISK, "", false},
	{"d/f", FOLLOW, 0, LEAT_ROOT_DISK, "d/f", false},
	{"./d//./f", FOLLOW, 0, LEAT_ROOT_DISK, "d/f", false},
	{"s/g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"both/x", FOLLOW, 0, LEAT_ROOT_STORE, "both/x", false},
	{"both", FOLLOW, 0, LEAT_ROOT_DISK, "both", false},
	{"both/", FOLLOW, 0, LEAT_ROOT_DISK, "both", false},
	{"s", FOLLOW, 0, LEAT_ROOT_STORE, "s", false},
	{"s/../d/f", FOLLOW, 0, LEAT_ROOT_DISK, "d/f", false},
	{"d/../s/./g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"d/to_g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"d/to_g", LEAVE, 0, LEAT_ROOT_DISK, "d/to_g", false},
	{"ld/f", FOLLOW, 0, LEAT_ROOT_DISK, "d/f", false},
	{"ld", LEAVE, 0, LEAT_ROOT_DISK, "ld", false},
	{"ld/", LEAVE, 0, LEAT_ROOT_DISK, "d", false},
	{"ld/..", FOLLOW, 0, LEAT_ROOT_DISK, "", false},
	{"ld/to_g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"ld/", NAME, 0, LEAT_ROOT_DISK, "ld", false},
	{"d/f/", NAME, 0, LEAT_ROOT_DISK, "d/f", false},
	{"loop/", NAME, 0, LEAT_ROOT_DISK, "loop", false},
	{"ld/to_g", NAME, 0, LEAT_ROOT_DISK, "d/to_g", false},
	{"no/such/", NAME, 0, LEAT_ROOT_NONE, "no/such", true},
	{"d/f/x", NAME, -ENOTDIR, 0, NULL, false},
	{"loop", FOLLOW, -ELOOP, 0, NULL, false},
	{"loop", LEAVE, 0, LEAT_ROOT_DISK, "loop", false},
	{"loop/x", LEAVE, -ELOOP, 0, NULL, false},
	{"dangling", FOLLOW, 0, LEAT_ROOT_NONE, "nowhere", false},
	{"new", FOLLOW, 0, LEAT_ROOT_NONE, "new", false},
	{"new/", FOLLOW, 0, LEAT_ROOT_NONE, "new", false},
	{"s/new", FOLLOW, 0, LEAT_ROOT_NONE, "s/new", false},
	{"no/such/file", FOLLOW, 0, LEAT_ROOT_NONE, "no/such/file", true},
	{"no/../d/f", FOLLOW, 0, LEAT_ROOT_NONE, "no", true},
	{"no/../d/f", FOLLOW | LEAT_FIND_SPELT, 0, LEAT_ROOT_DISK, "d/f", false},
	{"no/such/../x", FOLLOW | LEAT_FIND_SPELT, 0, LEAT_ROOT_NONE, "no/x", true},
	{"no/such/../x", FOLLOW, 0, LEAT_ROOT_NONE, "no", true},
	{"d/no/..", LEAVE, 0, LEAT_ROOT_NONE, "d/no", true},
	{"ld/no/such/.././../x", NAME, 0, LEAT_ROOT_NONE, "d/no", true},
	{"dangling/../d/f", FOLLOW, 0, LEAT_ROOT_NONE, "nowhere", true},
	{"/no/such/../x", FOLLOW, 0, LEAT_ROOT_NONE, "/no/such/../x", false},
	{"d/f/", FOLLOW, -ENOTDIR, 0, NULL, false},
	{"d/f/x", FOLLOW, -ENOTDIR, 0, NULL, false},
	{"s/g/..", FOLLOW, -ENOTDIR, 0, NULL, false},
	{"..", FOLLOW, 0, LEAT_ROOT_NONE, "%", false},
	{"../x", FOLLOW, 0, LEAT_ROOT_NONE, "%/x", false},
	{"../disk/d/f", FOLLOW, 0, LEAT_ROOT_DISK, "d/f", false},
	{"d/up/disk/s/g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"usr", LEAVE, 0, LEAT_ROOT_DISK, "usr", false},
	{"usr", FOLLOW, 0, LEAT_ROOT_NONE, "/usr", false},
	{"usr/bin/../include", FOLLOW, 0, LEAT_ROOT_NONE, "/usr/include", false},
	{"usr/..", FOLLOW, 0, LEAT_ROOT_NONE, "/", false},
	{"out", FOLLOW, 0, LEAT_ROOT_NONE, "/proc/self/fd/1", false},
	{"self/s/g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"self", FOLLOW, 0, LEAT_ROOT_DISK, "", false},
	{"mount/s/g", FOLLOW, 0, LEAT_ROOT_STORE, "s/g", false},
	{"/usr/lib", FOLLOW, 0, LEAT_ROOT_NONE, "/usr/lib", false},
	{"/usr/bin/env/x", FOLLOW, -ENOTDIR, 0, NULL, false},
};

static void test_find(void **state)
{
	struct world *w = *state;
	struct leat_found f;
	char expected[PATH_MAX];

	/* twice: the second pass meets the remembered directories */
	for (size_t i = 0; i < 2 * sizeof(finds) / sizeof(*finds); i++) {
		const __typeof__(finds[0]) *c = &finds[i % (sizeof(finds) / sizeof(*finds))];
		int rc = leat_tree_find(w->t, c->path, c->how, &f);

		if (rc != c->rc)
			fail_msg("'%s': %d, expected %d", c->path, rc, c->rc);
		if (rc)
			continue;
		snprintf(expected, sizeof(expected), "%s%s", *c->found == '%' ? w->base : "",
			 c->found + (*c->found == '%'));
		if (strcmp(f.path, expected) != 0 || f.root != c->root ||
		    f.parent_missing != c->parent_missing)
			fail_msg("'%s': '%s' root %d missing %d, expected '%s' root %d", c->path,
				 f.path, f.root, f.parent_missing, expected, c->root);
		assert_int_equal(f.outside, *expected == '/');
	}
}

/* Of each symlink its name and what was asked for by it; each ends in a comma. */
static const struct {
	const char *path, *links;
} by_links[] = {
	{"d/f", ""},
	{"ld/f", "ld,ld/f,"},
	{"ld//./f/", "ld,ld/f,"},
	{"ld/to_g", "ld,ld/to_g,d/to_g,d/to_g,"},
	{"ld/../s", "ld,ld,"},
	{"ld/no/such", "ld,ld/no/such,"},
	{"self/ld/f", "self,self/ld/f,ld,ld/f,"},
	{"usr/bin/env", "usr,usr/bin/env,"},
	{"dangling", "dangling,dangling,"},
};

static void test_links(void **state)
{
	struct world *w = *state;
	struct leat_found f;

	for (size_t i = 0; i < sizeof(by_links) / sizeof(*by_links); i++) {
		leat_tree_find(w->t, by_links[i].path, FOLLOW, &f);
		for (size_t k = 0; k < f.links_size; k++)
			if (!f.links[k])
				f.links[k] = ',';
		f.links[f.links_size] = 0;
		assert_string_equal(f.links, by_links[i].links);
	}
}

static void test_find_limits(void **state)
{
	struct world *w = *state;
	struct leat_found f;
	char path[PATH_MAX + 10];

	memset(path, 'a', sizeof(path));
	path[300] = 0;
	assert_int_equal(leat_tree_find(w->t, path, LEAT_FIND_FOLLOW, &f), -ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 100 == 99 ? '/' : 'a';
	path[sizeof(path) - 1] = 0;
	assert_int_equal(leat_tree_find(w->t, path, LEAT_FIND_FOLLOW, &f), -ENAMETOOLONG);
	path[PATH_MAX - 1] = 0;
	assert_int_equal(leat_tree_find(w->t, path, LEAT_FIND_FOLLOW, &f), 0);
	assert_true(f.parent_missing);
}

static void test_external_removal(void **state)
{
	struct world *w = *state;
	struct leat_found f;

	assert_int_equal(leat_tree_find(w->t, "d/f", LEAT_FIND_FOLLOW, &f), 0);
	assert_int_equal(leat_remove_tree(w->disk_fd, "d"), 0);
	assert_int_equal(leat_tree_find(w->t, "d/.", LEAT_FIND_FOLLOW, &f), 0);
	assert_int_equal(f.root, LEAT_ROOT_NONE);
	assert_int_equal(leat_tree_find(w->t, "d/f", LEAT_FIND_FOLLOW, &f), 0);
	assert_true(f.parent_missing);
}

/* Directories of the store are remembered until leat says that one has moved, or others may. */
static void test_directories_move(void **state)
{
	struct world *w = *state;
	enum leat_root root;
	struct stat before, st;

	assert_int_equal(mkdirat(w->store_fd, "s/m", 0700), 0);
	assert_int_equal(mkdirat(w->store_fd, "s/m/b", 0700), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "s/m/b", &before));
	assert_int_equal(renameat(w->store_fd, "s/m", w->store_fd, "s/old"), 0);
	assert_int_equal(mkdirat(w->store_fd, "s/m", 0700), 0);
	leat_tree_forget(w->t);
	assert_false(leat_tree_has(w->t, LEAT_ROOT_STORE, "s/m/b", &st));
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "s/old/b", &st));
	assert_int_equal(st.st_ino, before.st_ino);
	leat_tree_distrust(w->t);
	assert_int_equal(renameat(w->store_fd, "s/old", w->store_fd, "s/other"), 0);
	assert_int_equal(symlinkat("other", w->store_fd, "s/old"), 0);
	assert_false(leat_tree_has(w->t, LEAT_ROOT_STORE, "s/old/b", &st));
	assert_int_equal(leat_tree_look(w->t, "s/other/b", &root, &st), 0);
	assert_int_equal(root, LEAT_ROOT_STORE);
	assert_int_equal(st.st_ino, before.st_ino);
}

/* More of them than are remembered. */
static void test_many_directories(void **state)
{
	struct world *w = *state;
	char path[32];
	int fd;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20; i++) {
			snprintf(path, sizeof(path), "many%d", i);
			assert_true(mkdirat(w->store_fd, path, 0700) == 0 || round);
			snprintf(path, sizeof(path), "many%d/%d", i, i);
			fd = openat(w->store_fd, path, O_CREAT | O_WRONLY, 0600);
			assert_true(fd >= 0);
			close(fd);
			assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, path, NULL));
			snprintf(path, sizeof(path), "many%d/%d", i, i + 1);
			assert_false(leat_tree_has(w->t, LEAT_ROOT_STORE, path, NULL));
		}
}

static void test_parents(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_DISK, "s/a/b/file"), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_DISK, "s/a/b", &st));
	assert_true(leat_tree_has(w->t, LEAT_ROOT_DISK, "s", &st));
	assert_int_equal(st.st_mode & 07777, 0711);
	assert_false(leat_tree_has(w->t, LEAT_ROOT_DISK, "s/a/b/file", NULL));
	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_STORE, "d/f/x"), 0);
	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_DISK, "d/f/x"), -ENOTDIR);
	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_DISK, "top"), 0);
}

/* The other half of a directory is as old as the first. */
static void test_parents_have_their_times(void **state)
{
	static const char *const dirs[] = {"s/a/b", "s/a", "s"};
	const struct timespec times[] = {{1000, 1}, {2000, 2}};
	struct world *w = *state;
	struct stat st;

	mkdirat(w->store_fd, "s/a", 0755);
	mkdirat(w->store_fd, "s/a/b", 0755);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(utimensat(w->store_fd, dirs[i], times, 0), 0);
	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_DISK, "s/a/b/file"), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_true(leat_tree_has(w->t, LEAT_ROOT_DISK, dirs[i], &st));
		assert_int_equal(st.st_mtim.tv_sec, 2000);
		assert_int_equal(st.st_mtim.tv_nsec, 2);
	}
}

static struct timespec shown(const struct leat_shm *shm, int dirfd, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(dirfd, path, &st, 0), 0);
	return leat_shown_ctime(shm, &st);
}

/* Nor is it seen in times of change that leat has made it, which nobody can set. */
static void test_halves_show_no_change(void **state)
{
	const struct timespec ticks = {.tv_nsec = 20000000};
	struct world *w = *state;
	struct timespec top, half;
	struct leat_shm *shm;
	struct stat st;
	int fd;

	assert_int_equal(leat_shm_create(&fd, &shm), 0);
	leat_tree_set_shm(w->t, shm);
	top = shown(shm, w->store_fd, ".");
	half = shown(shm, w->disk_fd, "d");
	nanosleep(&ticks, NULL);
	assert_int_equal(leat_tree_make_parents(w->t, LEAT_ROOT_STORE, "d/file"), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "d", &st));
	assert_false(leat_timespec_is_same(st.st_ctim, half));
	assert_true(leat_timespec_is_same(shown(shm, w->store_fd, "d"), half));
	assert_true(leat_timespec_is_same(shown(shm, w->store_fd, "."), top));
	/* What somebody else does is seen. */
	nanosleep(&ticks, NULL);
	assert_int_equal(mkdirat(w->store_fd, "d/x", 0755), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "d", &st));
	assert_true(leat_timespec_is_same(shown(shm, w->store_fd, "d"), st.st_ctim));
	leat_tree_set_shm(w->t, NULL);
	leat_shm_unmap(shm);
	close(fd);
}

static int copy(struct world *w, enum leat_root from, const char *path, enum leat_root to,
		bool empty)
{
	int fd = leat_beneath_open(leat_tree_fd(w->t, from), path, O_PATH, 0);
	int rc = fd < 0 ? fd : leat_tree_copy(w->t, fd, to, path, empty);

	if (fd >= 0)
		close(fd);
	return rc;
}

static void test_copy(void **state)
{
	struct world *w = *state;
	struct stat a, b;

	assert_int_equal(copy(w, LEAT_ROOT_DISK, "d/f", LEAT_ROOT_STORE, false), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_DISK, "d/f", &a));
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "d/f", &b));
	assert_int_equal(b.st_size, 4);
	assert_int_equal(a.st_mode, b.st_mode);
	assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
	assert_int_equal(copy(w, LEAT_ROOT_DISK, "d/f", LEAT_ROOT_STORE, false), -EEXIST);
	assert_int_equal(copy(w, LEAT_ROOT_STORE, "s/g", LEAT_ROOT_DISK, true), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_DISK, "s/g", &b));
	assert_int_equal(b.st_size, 0);
	assert_int_equal(copy(w, LEAT_ROOT_DISK, "ld", LEAT_ROOT_STORE, false), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "ld", &b));
	assert_true(S_ISLNK(b.st_mode));
	assert_int_equal(copy(w, LEAT_ROOT_DISK, "none", LEAT_ROOT_STORE, false), -ENOENT);
	assert_int_equal(copy(w, LEAT_ROOT_DISK, "d", LEAT_ROOT_STORE, false), -EINVAL);
}

static void test_copy_sparse(void **state)
{
	struct world *w = *state;
	struct stat st;
	char c = 0;
	int fd = openat(w->disk_fd, "sparse", O_RDWR | O_CREAT, 0600);

	assert_int_equal(pwrite(fd, "x", 1, 5 << 20), 1);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	close(fd);
	assert_int_equal(copy(w, LEAT_ROOT_DISK, "sparse", LEAT_ROOT_STORE, false), 0);
	assert_true(leat_tree_has(w->t, LEAT_ROOT_STORE, "sparse", &st));
	assert_int_equal(st.st_size, 64 << 20);
	assert_true(st.st_blocks * 512 < 8 << 20);
	fd = openat(w->store_fd, "sparse", O_RDONLY);
	assert_int_equal(pread(fd, &c, 1, 5 << 20), 1);
	assert_int_equal(c, 'x');
	close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct leat_store_entry *)a)->name,
		      ((const struct leat_store_entry *)b)->name);
}

static void test_list(void **state)
{
	struct world *w = *state;
	struct leat_listing l = {0};
	const char *names[] = {".", "..", "a", "b", "x"};

	put(w->store_fd, "both/a", "");
	put(w->disk_fd, "both/b", "");
	put(w->disk_fd, "both/.leat-b.123456", "");
	assert_int_equal(leat_tree_list(w->t, "both", &l), 0);
	assert_int_equal(l.n, 5);
	qsort(l.v, l.n, sizeof(*l.v), by_name);
	for (size_t i = 0; i < l.n; i++)
		assert_string_equal(l.v[i].name, names[i]);
	leat_listing_release(&l);
	assert_int_equal(leat_tree_list(w->t, "s", &l), 0);
	assert_int_equal(l.n, 3);
	leat_listing_release(&l);
	assert_int_equal(leat_tree_list(w->t, "none", &l), -ENOENT);
	assert_int_equal(leat_tree_list(w->t, "d/f", &l), -ENOTDIR);
	leat_listing_release(&l);
}

static void test_inside(void **state)
{
	struct world *w = *state;
	char path[256];

	snprintf(path, sizeof(path), "%s/s/g", w->store);
	assert_string_equal(leat_tree_inside(w->t, path), "s/g");
	assert_string_equal(leat_tree_inside(w->t, w->disk), "");
	snprintf(path, sizeof(path), "%sx", w->disk);
	assert_null(leat_tree_inside(w->t, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_external_removal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories_move, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_directories, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parents, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parents_have_their_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_halves_show_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy_sparse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inside, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
