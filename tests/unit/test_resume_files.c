/* How files look to a run that resumes: stamps, what is found of a step, what one lends another. */
#include "resume/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(strlen(text), write(fd, text, strlen(text)));
	close(fd);
}

static void set_time(int dir, const char *name, long seconds)
{
	const struct timespec times[] = {{seconds, 5}, {seconds, 7}};

	assert_int_equal(0, utimensat(dir, name, times, 0));
}

static int scratch(char path[])
{
	assert_non_null(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void clean(const char *path, int dir)
{
	char command[100];

	close(dir);
	snprintf(command, sizeof(command), "rm -rf %s", path);
	assert_int_equal(0, system(command));
}

static bool is_same(int dir, const char *name, const struct leat_stamp *then)
{
	struct leat_stamp now;

	return leat_stamp_take(dir, name, &now) == 0 && leat_stamp_same(dir, name, then, &now);
}

static void test_stamp(void **state)
{
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);
	struct leat_stamp s, plain;

	(void)state;
	put(dir, "f", "text");
	set_time(dir, "f", 1000);
	assert_int_equal(0, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(4, plain.size_bytes);
	assert_int_equal(1000 * 1000000000L + 7, plain.mtime_ns);
	s = plain;
	leat_stamp_hash(dir, "f", &s);
	assert_true(s.hashed);
	assert_true(is_same(dir, "f", &s) && is_same(dir, "f", &plain));
	/* Only touched: found by its contents. */
	set_time(dir, "f", 2000);
	assert_true(is_same(dir, "f", &s));
	assert_false(is_same(dir, "f", &plain));
	/* Copied: another inode. */
	put(dir, "copy", "text");
	assert_int_equal(0, renameat(dir, "copy", dir, "f"));
	assert_true(is_same(dir, "f", &s));
	assert_false(is_same(dir, "f", &plain));
	/* Other bytes, as many. */
	put(dir, "f", "TEXT");
	assert_false(is_same(dir, "f", &s));
	put(dir, "f", "text and more");
	assert_false(is_same(dir, "f", &s));
	assert_int_equal(0, unlinkat(dir, "f", 0));
	assert_false(is_same(dir, "f", &s));
	assert_int_equal(-ENOENT, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(-EISDIR, leat_stamp_take(dir, ".", &plain));
	/* A stamp that is out of date is not hashed: the bytes would be others. */
	put(dir, "f", "text");
	assert_int_equal(0, leat_stamp_take(dir, "f", &s));
	set_time(dir, "f", 3000);
	leat_stamp_hash(dir, "f", &s);
	assert_false(s.hashed);
	/* Links are what they lead to, as long as they lead to a file. */
	assert_int_equal(0, symlinkat("f", dir, "link"));
	assert_int_equal(0, symlinkat("nowhere", dir, "dangling"));
	assert_int_equal(0, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(0, leat_stamp_take(dir, "link", &s));
	assert_int_equal(plain.inode, s.inode);
	assert_int_equal(0, leat_stamp_take(dir, "dangling", &s));
	clean(path, dir);
}

static void test_stamp_large(void **state)
{
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);
	struct leat_stamp s;
	int fd;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		fd = openat(dir, "f", O_WRONLY | O_CREAT, 0666);
		assert_int_equal(0, ftruncate(fd, (off_t)(LEAT_STAMP_HASH_BYTES + more)));
		close(fd);
		assert_int_equal(0, leat_stamp_take(dir, "f", &s));
		leat_stamp_hash(dir, "f", &s);
		assert_int_equal(!more, s.hashed);
	}
	clean(path, dir);
}

static void test_look(void **state)
{
	static const struct {
		const char *input, *output, *permanent; /* of the step `one` */
		/* Inputs, outputs, inputs given, made; NULL: all are given, none is made. */
		const char *found[4];
	} cases[] = {
		{"a", "b", "b", {"a", "b"}},
		{"missing", "b", "", {"", ""}}, /* `b` is not kept */
		{"d", "none", "", {"d/e/y d/x", ""}},
		{"d/*", "none", "", {"d/e/y d/x", ""}},
		{"d/?", "none", "", {"d/e/y d/x", ""}}, /* d/e is a directory */
		{"d/[x-z]", "none", "", {"d/x", ""}},
		{"*x", "none", "", {"d/x far/x to-dir/x", ""}},
		{"d/e/*", "d/*", "d/*", {"d/e/y", "d/e/y d/x", "", "d/e/y"}},
		{"to-dir", "none", "", {"to-dir/x to-dir/y", ""}},
		/* Links to directories are not followed in a search, but noticed. */
		{"*", "none", "", {"a b d/e/y d/x far/x far/y to-dir/x to-dir/y", ""}},
	};
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);

	(void)state;
	put(dir, "a", "1");
	put(dir, "b", "2");
	put(dir, ".leat-record-x", "no file of any step's");
	assert_int_equal(0, mkdirat(dir, "d", 0777));
	assert_int_equal(0, mkdirat(dir, "d/e", 0777));
	assert_int_equal(0, mkdirat(dir, "far", 0777));
	put(dir, "d/x", "3");
	put(dir, "d/e/y", "4");
	put(dir, "far/x", "5");
	put(dir, "far/y", "6");
	assert_int_equal(0, symlinkat("far", dir, "to-dir"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = leat_workflow_new();
		struct leat_step *step = leat_workflow_add_step(wf, "one", (struct leat_pos){0});
		struct leat_matcher *m;

		leat_names_add(&step->inputs, cases[i].input, (struct leat_pos){0});
		leat_names_add(&step->outputs, cases[i].output, (struct leat_pos){0});
		if (*cases[i].permanent)
			leat_names_add(&wf->permanent, cases[i].permanent, (struct leat_pos){0});
		m = leat_matcher_new(wf);
		for (unsigned side = 0; side < 4; side++) {
			const char *expected = cases[i].found[side];
			struct leat_stamped_list list = {0};
			char found[200] = "";

			if (!expected)
				expected = side == LEAT_SIDE_GIVEN ? cases[i].found[0] : "";
			assert_int_equal(0, leat_look(dir, wf, m, 0, side, &list));
			for (size_t k = 0; k < list.n; k++)
				snprintf(found + strlen(found), sizeof(found) - strlen(found),
					 "%s%s", k ? " " : "", list.v[k].name);
			assert_string_equal(expected, found);
			leat_stamped_release(&list);
		}
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
	clean(path, dir);
}

static void test_lends(void **state)
{
	static const struct {
		const char *output, *input, *permanent;
		const char *lent; /* NULL: nothing */
	} cases[] = {
		{"a", "a", "", "a"},
		{"a", "a", "a", NULL},
		{"a", "a", "*", NULL},
		{"a", "b", "", NULL},
		{"a", "?", "", "a"},
		{"a", "?", "a", NULL},
		{"p/*", "p/1", "", "p/1"},
		{"p/*", "p/1", "p/1", NULL},
		{"p/*", "p/1", "p/2", "p/1"},
		{"p/*", "p/*", "", "p/*"},
		{"p/*", "p/*", "p/*", NULL},
		{"p/*", "p/*", "*", NULL},
		{"p/*", "p/*", "p/?", "p/*"}, /* "p/12" is not kept */
		{"p/*", "p/*", "p/?*", NULL}, /* every name has a character */
		{"p/*", "p/*", "p/*.bam", "p/*"},
		{"p/*.bam", "p/*", "p/*", NULL},
		{"p/?.bam", "p/*", "p/?.bam", NULL},
		{"p/?.bam", "p/*", "p/*.bam", NULL},
		{"p/[ab]", "p/*", "p/[ab]", NULL},
		{"p/[ab]", "p/*", "p/a", "p/[ab]"},
		{"p/[ab]", "p/*", "p/?", "p/[ab]"}, /* it is, but that is not looked into */
		{"d", "d/x", "", "d/x"},            /* a directory */
		{"d", "d/x", "d/x", NULL},
		{"d", "d/x", "d", NULL},
		{"d/x", "d", "", "d/x"},
		{"d/x", "d", "d/x", NULL},
		{"d", "d", "d/*", NULL},
		{"d", "d", "d/*.bam", "d"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = leat_workflow_new();
		const struct leat_pos pos = {0};
		struct leat_matcher *m;
		const char *lent;

		leat_names_add(&leat_workflow_add_step(wf, "up", pos)->outputs, cases[i].output,
			       pos);
		leat_names_add(&leat_workflow_add_step(wf, "down", pos)->inputs, cases[i].input,
			       pos);
		if (*cases[i].permanent)
			leat_names_add(&wf->permanent, cases[i].permanent, pos);
		m = leat_matcher_new(wf);
		lent = leat_lends(wf, m, 0, 1);
		if ((lent != NULL) != (cases[i].lent != NULL))
			print_error("case %zu: %s\n", i, cases[i].output);
		assert_int_equal(cases[i].lent != NULL, lent != NULL);
		if (lent)
			assert_string_equal(cases[i].lent, lent);
		assert_null(leat_lends(wf, m, 1, 0));
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
}

static void test_updates(void **state)
{
	static const struct {
		const char *output, *input, *also; /* what the other step makes */
		const char *updated;               /* NULL: nothing */
	} cases[] = {
		{"a", "a", "a", "a"},
		{"a", "a", "b", NULL},
		{"a", "b", "a", NULL}, /* it does not ask for it */
		{"a", "?", "a", "a"},
		{"p/*", "p/1", "p/1", "p/1"},
		{"p/*", "p/*", "p/?", "p/*"},
		{"p/*.bam", "p/*.bam", "p/*.bai", NULL},
		{"d", "d", "d", "d"},
		{"d", "d", "d/x", NULL}, /* the more specific one's alone */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = leat_workflow_new();
		const struct leat_pos pos = {0};
		struct leat_step *down;
		const char *updated;

		leat_names_add(&leat_workflow_add_step(wf, "up", pos)->outputs, cases[i].output,
			       pos);
		down = leat_workflow_add_step(wf, "down", pos);
		leat_names_add(&down->inputs, cases[i].input, pos);
		leat_names_add(&down->outputs, cases[i].also, pos);
		updated = leat_updates(wf, 0, 1);
		if (!updated != !cases[i].updated)
			print_error("case %zu: %s\n", i, cases[i].output);
		assert_int_equal(!cases[i].updated, !updated);
		if (updated)
			assert_string_equal(cases[i].updated, updated);
		assert_null(leat_updates(wf, 1, 0));
		leat_workflow_free(wf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamp),   cmocka_unit_test(test_stamp_large),
		cmocka_unit_test(test_look),    cmocka_unit_test(test_lends),
		cmocka_unit_test(test_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
