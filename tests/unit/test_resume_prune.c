/* What is kept of directories of workflows, and what goes. */
#include "resume/prune.h"
#include "store/remove.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DAY INT64_C(86400)

static void test_decide(void **state)
{
	const int64_t now = 1000 * DAY;
	struct leat_prune all[LEAT_PRUNE_MOST + 3] = {0};
	const size_t n = sizeof(all) / sizeof(*all);

	(void)state;
	/* too many: those that were used least lately */
	for (size_t i = 0; i < n; i++)
		all[i].used_s = now - (int64_t)(i % 100) * DAY;
	all[7].used_s = now - 181 * DAY;
	all[8].used_s = now - 179 * DAY;
	leat_prune_decide(all, n, now);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || all[i].used_s <= all[i - 1].used_s);
		assert_int_equal(all[i].goes, i >= LEAT_PRUNE_MOST);
	}
	/* as many, of which none was used before yesterday */
	for (size_t i = 0; i < n; i++)
		all[i] = (struct leat_prune){.used_s = now - DAY};
	leat_prune_decide(all, n, now);
	for (size_t i = 0; i < n; i++)
		assert_false(all[i].goes);
	/* few: only age counts; a clock that was ahead does no harm */
	all[0].used_s = now + DAY;
	all[1].used_s = now - 180 * DAY;
	all[2].used_s = now - 180 * DAY - 1;
	leat_prune_decide(all, 3, now);
	assert_false(all[0].goes || all[1].goes);
	assert_true(all[2].goes);
}

static void put(int base, const char *name, const char *file, int days)
{
	const struct timespec then[2] = {{.tv_sec = time(NULL) - days * DAY},
					 {.tv_sec = time(NULL) - days * DAY}};
	int dir, fd;

	assert_true(mkdirat(base, name, 0700) == 0 || file);
	dir = openat(base, name, O_RDONLY | O_DIRECTORY);
	assert_true(dir >= 0);
	fd = file ? openat(dir, file, O_WRONLY | O_CREAT, 0600) : -1;
	assert_true(fd >= 0 || !file);
	if (fd >= 0)
		close(fd);
	assert_int_equal(futimens(dir, then), 0);
	close(dir);
}

static bool has(int base, const char *path)
{
	return faccessat(base, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_prune(void **state)
{
	char top[] = "/tmp/leat-test-prune-XXXXXX", old[64], kept[64], strange[64], file[96];
	const struct timespec ahead[2] = {{.tv_sec = time(NULL) + DAY},
					  {.tv_sec = time(NULL) + DAY}};
	int base;

	(void)state;
	assert_non_null(mkdtemp(top));
	base = open(top, O_PATH | O_DIRECTORY);
	snprintf(old, sizeof(old), "%u-1-a", (unsigned)geteuid());
	snprintf(kept, sizeof(kept), "%u-2-b", (unsigned)geteuid());
	snprintf(strange, sizeof(strange), "%u-3-c", (unsigned)geteuid());
	put(base, old, NULL, 200);
	put(base, old, "directory", 200);
	put(base, old, "w.record", 200);
	put(base, old, "w.record.new", 200);
	put(base, old, "w-step.log", 200);
	put(base, kept, NULL, 100);
	put(base, kept, "w.record", 100);
	/* what is somebody's own there, and what is none of these, is left */
	put(base, strange, NULL, 200);
	put(base, strange, "notes", 200);
	put(base, strange, "w.log", 200);
	put(base, "other", NULL, 200);
	assert_int_equal(symlinkat(kept, base, "1-1-1"), 0);
	leat_prune(base, "0-0-0");
	snprintf(file, sizeof(file), "%s/w.record", kept);
	assert_true(has(base, file));
	assert_false(has(base, old));
	snprintf(file, sizeof(file), "%s/notes", strange);
	assert_true(has(base, file));
	snprintf(file, sizeof(file), "%s/w.log", strange);
	assert_false(has(base, file));
	assert_true(has(base, "other"));
	/* once an hour is enough; a clock that was ahead does no harm */
	put(base, old, NULL, 200);
	leat_prune(base, "0-0-0");
	assert_true(has(base, old));
	snprintf(file, sizeof(file), ".pruned-%u", (unsigned)geteuid());
	assert_int_equal(utimensat(base, file, ahead, 0), 0);
	leat_prune(base, "0-0-0");
	assert_false(has(base, old));
	/* the one that is being made stays in any case */
	put(base, old, NULL, 200);
	assert_int_equal(unlinkat(base, file, 0), 0);
	leat_prune(base, old);
	assert_true(has(base, old));
	close(base);
	leat_remove_tree(AT_FDCWD, top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_decide),
					   cmocka_unit_test(test_prune)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
