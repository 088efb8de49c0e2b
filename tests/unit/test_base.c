#include "base/percent.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void formats_and_joins(void **state)
{
	static const struct {
		const char *dir, *name, *expected;
	} rows[] = {
		{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"},
		{NULL, "b", "b"},  {"a", "/b", "/b"},  {"/", "b", "/b"},
	};
	char *text = leat_strf("%s-%d", "x", 5);

	(void)state;
	assert_string_equal(text, "x-5");
	free(text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text = leat_path_join(rows[i].dir, rows[i].name);
		assert_string_equal(text, rows[i].expected);
		free(text);
	}
}

static void tells_what_is_below(void **state)
{
	static const struct {
		const char *path, *dir;
		bool below;
	} rows[] = {
		{"a/b", "a", true},  {"a/b/c", "a", true}, {"a/b/c", "a/b", true},
		{"a", "a", false},   {"ab/c", "a", false}, {"a", "a/b", false},
		{"a/b", "b", false}, {"a", "", true},      {"", "", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(leat_path_is_below(rows[i].path, rows[i].dir), rows[i].below);
}

static void measures_distance(void **state)
{
	(void)state;
	assert_int_equal(leat_str_distance("", ""), 0);
	assert_int_equal(leat_str_distance("abc", ""), 3);
	assert_int_equal(leat_str_distance("kitten", "sitting"), 3);
	assert_int_equal(leat_str_distance("Name", "name"), 0);
	assert_int_equal(leat_str_distance("file_dep", "file_deps"), 1);
	assert_int_equal(leat_str_distance("0123456789012345678901234567890123456789012345678901"
					   "23456789abcd",
					   "x"),
			 UINT_MAX);
	assert_true(leat_str_begins("abc", "ab"));
	assert_false(leat_str_begins("ab", "abc"));
}

static void reads_and_writes_whole_files(void **state)
{
	char path[] = "/tmp/leat-test-base.XXXXXX";
	int fd = mkstemp(path);
	size_t n = 10000, size = 0;
	char *data = malloc(n), *back = NULL;

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < n; i++)
		data[i] = (char)(i * 7);
	assert_int_equal(leat_write_all(fd, data, n), 0);
	leat_close(&fd);
	assert_int_equal(fd, -1);
	leat_close(&fd);
	assert_int_equal(leat_read_file(path, n - 1, &back, &size), -EFBIG);
	assert_null(back);
	assert_int_equal(leat_read_file(path, n, &back, &size), 0);
	assert_int_equal(size, n);
	assert_memory_equal(back, data, n);
	assert_int_equal(back[n], '\0');
	free(back);
	unlink(path);
	assert_int_equal(leat_read_file(path, n, &back, NULL), -ENOENT);
	assert_int_equal(leat_read_file("/", n, &back, NULL), -EISDIR);
	assert_int_equal(leat_write_all(-1, "x", 1), -EBADF);
	free(data);
}

static void logs_one_line(void **state)
{
	char long_text[6000], out[6000];
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	(void)state;
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	errno = EXDEV;
	leat_error("cannot open %s", "x");
	leat_warn("w");
	leat_info("dropped");
	leat_error("%s", long_text);
	assert_int_equal(errno, EXDEV);
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	n = leat_read_all(ends[0], out, sizeof(out) - 1);
	assert_true(n > 0);
	out[n] = '\0';
	assert_true(leat_str_begins(out, "leat: cannot open x\nleat: warning: w\nleat: aaa"));
	assert_string_equal(out + n - 5, "a...\n");
	close(ends[0]);
	close(saved);
}

static void time_goes_forward(void **state)
{
	uint64_t before = leat_clock_ns();

	(void)state;
	assert_true(leat_clock_ns() >= before);
	assert_true(before > 0);
}

/* A name that looks like what follows it. */
static void knows_a_process_by_its_number(void **state)
{
	struct leat_pidstat self, child;
	cpu_set_t may, one;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(may), &may), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_true(leat_pidstat_read(getpid(), &self));
	assert_true(CPU_ISSET((size_t)self.processor, &one));
	assert_int_equal(sched_setaffinity(0, sizeof(may), &may), 0);
	assert_int_equal(self.parent, getppid());
	assert_int_equal(self.group, getpgrp());
	assert_int_equal(self.state, 'R');
	assert_false(self.exiting);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, ") Z 1 (2");
		_exit(3);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(leat_pidstat_read(pid, &child));
	assert_string_equal(child.name, ") Z 1 (2");
	assert_int_equal(child.state, 'Z');
	assert_int_equal(child.parent, getpid());
	assert_true(child.exiting);
	assert_true(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 3);
	assert_true(child.born >= self.born);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(leat_pidstat_read(pid, &child));
}

static void encodes_what_takes_a_line_apart(void **state)
{
	static const struct {
		const char *text, *encoded;
		char also;
	} cases[] = {
		{"", "", 0},
		{"a b=c", "a b=c", 0},
		{"a b", "a%20b", ' '},
		{"a\tb\n%41\x7f\x01", "a%09b%0A%2541%7F%01", 0},
		{"\xc3\xa4\xff", "\xc3\xa4\xff", 0},
	};
	static const char *const wrong[] = {"%", "a%4", "%0", "%00", "%g0", "%0g", "%4a", "% 1"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		leat_percent_put(out, cases[i].text, cases[i].also);
		assert_int_equal(0, fclose(out));
		assert_string_equal(cases[i].encoded, text);
		assert_true(leat_percent_decode(text));
		assert_string_equal(cases[i].text, text);
		free(text);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[8];

		strcpy(text, wrong[i]);
		assert_false(leat_percent_decode(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_and_joins),
		cmocka_unit_test(tells_what_is_below),
		cmocka_unit_test(encodes_what_takes_a_line_apart),
		cmocka_unit_test(measures_distance),
		cmocka_unit_test(reads_and_writes_whole_files),
		cmocka_unit_test(logs_one_line),
		cmocka_unit_test(time_goes_forward),
		cmocka_unit_test(knows_a_process_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
