/* Parts of the driver that need no daemon: order of steps, programs, processes,
 * environment, and how results are printed. */
#include "driver/console.h"
#include "driver/environment.h"
#include "driver/internal.h"
#include "driver/plan.h"
#include "driver/process.h"
#include "base/format.h"
#include "timeline/result.h"
#include "lang/syntax/words.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A workflow of steps "a", "b"...; each of `edges`, such as "ab", makes a file
 * that the first step writes and the second reads. */
static struct leat_workflow *make_workflow(size_t n, const char *const *edges)
{
	struct leat_workflow *wf = leat_workflow_new();

	wf->steps = calloc(n, sizeof(*wf->steps));
	wf->n_steps = n;
	for (size_t i = 0; i < n; i++)
		wf->steps[i].name = strdup((const char[]){(char)('a' + i), 0});
	for (; edges && *edges; edges++) {
		struct leat_pos pos = {0};

		leat_names_add(&wf->steps[(*edges)[0] - 'a'].outputs, *edges, pos);
		leat_names_add(&wf->steps[(*edges)[1] - 'a'].inputs, *edges, pos);
	}
	return wf;
}

static void test_order(void **state)
{
	static const struct {
		const char *edges[6];
		const char *order;
		bool cyclic;
	} cases[] = {
		{{NULL}, "abcd", false},
		{{"dc", "cb", "ba"}, "dcba", false},
		{{"ca", "cb", "ad", "bd"}, "cabd", false},
		{{"bd", "da"}, "bcda", false},
		{{"ab", "bc", "cb", "cd"}, "abcd", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = make_workflow(4, cases[i].edges);
		struct leat_plan plan;
		char order[5] = "";

		assert_int_equal(0, leat_plan_init(&plan, wf));
		for (size_t k = 0; k < 4; k++)
			order[k] = wf->steps[plan.order[k]].name[0];
		/* What comes after what is said by the edges; the rest as in the file. */
		for (const char *const *e = cases[i].edges; *e && !cases[i].cyclic; e++)
			assert_true(strchr(order, (*e)[0]) < strchr(order, (*e)[1]));
		assert_int_equal(4, strlen(order));
		assert_int_equal(cases[i].order[0], order[0]);
		assert_int_equal(cases[i].cyclic, leat_plan_is_cyclic(&plan));
		leat_plan_release(&plan);
		leat_workflow_free(wf);
	}
}

static void test_programs(void **state)
{
	static const struct {
		const char *name;
		int result;
	} cases[] = {
		{"sh", 0},
		{"/bin/sh", 0},
		{"no-such-program-at-all", LEAT_PLAN_NOT_FOUND},
		{"", LEAT_PLAN_NOT_FOUND},
		{"./script", 0},
		{"./text", LEAT_PLAN_CANNOT_EXECUTE},
		{"./missing", LEAT_PLAN_NOT_FOUND},
		{"/", LEAT_PLAN_CANNOT_EXECUTE},
	};
	const struct leat_plan_reach reach = {.intercepted = true};
	char dir[] = "/tmp/leat-test-driver.XXXXXX";
	const char *mounted;
	char *path;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(0, chdir(dir));
	f = fopen("script", "w");
	fputs("#! /bin/sh -e\n", f);
	fclose(f);
	chmod("script", 0755);
	f = fopen("text", "w");
	fclose(f);
	assert_int_equal(0, chdir("/"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *argv[] = {(char *)(uintptr_t)cases[i].name, NULL};

		path = NULL;
		assert_int_equal(cases[i].result,
				 leat_plan_program("step", argv, dir, &reach, &path, &mounted));
		assert_int_equal(cases[i].result == 0, path != NULL);
		free(path);
	}
	assert_int_equal(0, chdir(dir));
	unlink("script");
	unlink("text");
	assert_int_equal(0, chdir("/"));
	rmdir(dir);
}

static int run(const char *program, char *const *argv, int *exec_error)
{
	struct leat_process_spec spec = {
		.program = program, .argv = argv, .envp = environ, .dir = "/", .own_group = true};
	struct leat_driver_process p;
	int status;

	assert_int_equal(0, leat_process_fork(&spec, &p));
	assert_int_equal(p.pid, getpgid(p.pid));
	*exec_error = leat_process_release(&p);
	assert_int_equal(p.pid, waitpid(p.pid, &status, 0));
	leat_process_close(&p);
	return status;
}

static void test_process(void **state)
{
	char sh[] = "sh", option[] = "-c";
	char *argv[] = {sh, option, (char[]){"exit 3"}, NULL};
	char *killed[] = {sh, option, (char[]){"kill -9 $$"}, NULL};
	struct leat_process_spec spec = {
		.program = "/bin/true", .argv = argv, .envp = environ, .own_group = true};
	struct leat_driver_process p;
	int error, status;

	(void)state;
	assert_int_equal(3, leat_process_exit_status(run("/bin/sh", argv, &error)));
	assert_int_equal(0, error);
	assert_int_equal(128 + 9, leat_process_exit_status(run("/bin/sh", killed, &error)));
	assert_int_equal(127, leat_process_exit_status(run("/no/such", argv, &error)));
	assert_int_equal(-ENOENT, error);
	assert_int_equal(126, leat_process_exit_status(run("/etc/passwd", argv, &error)));
	assert_int_equal(-EACCES, error);
	/* Given up before it was let go. */
	assert_int_equal(0, leat_process_fork(&spec, &p));
	leat_process_abandon(&p);
	assert_int_equal(p.pid, waitpid(p.pid, &status, 0));
	assert_int_not_equal(0, status);
	leat_process_close(&p);
}

static const char *value_in(char **envp, const char *name)
{
	const char *found = NULL;

	for (; *envp; envp++)
		if (strncmp(*envp, name, strlen(name)) == 0 && (*envp)[strlen(name)] == '=') {
			assert_null(found);
			found = *envp + strlen(name) + 1;
		}
	return found;
}

static void test_cpus_text(void **state)
{
	static const struct {
		unsigned cpus[6];
		size_t n;
		const char *text;
	} cases[] = {
		{{0}, 1, "0"},       {{0, 1}, 2, "0-1"},
		{{0, 2}, 2, "0,2"},  {{1, 2, 3, 7, 9, 10}, 6, "1-3,7,9-10"},
		{{4095}, 1, "4095"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = leat_cpus_text(cases[i].cpus, cases[i].n);

		assert_string_equal(cases[i].text, text);
		free(text);
	}
}

static void test_filename(void **state)
{
	static const struct {
		const char *word, *file, *result;
	} cases[] = {
		{"x", "f", "x"},
		{"{filename}", "f", "f"},
		{"-i{filename}:{filename}", "f", "-if:f"},
		{"{file}{filename", "f", "{file}{filename"},
		{"a{filename}b", "", "ab"},
		/* What the file is called is not looked at again. */
		{"{filename}{filename}", "x{filename}", "x{filename}x{filename}"},
		{"{filename}", NULL, "in"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *words[] = {strdup(cases[i].word), NULL};
		struct leat_step step = {.argv = words};
		char **argv;

		leat_names_add(&step.inputs, "in", (struct leat_pos){0});
		argv = leat_launch_argv(&step, cases[i].file);
		assert_string_equal(cases[i].result, argv[0]);
		assert_null(argv[1]);
		leat_words_free(argv);
		leat_names_release(&step.inputs);
		free(words[0]);
	}
}

static void test_environment(void **state)
{
	struct leat_environment_spec spec = {
		.dir = "/d", .step = "s", .workflow = "w", .library = "/l.so"};
	char **envp;

	(void)state;
	setenv("LEAT_APP_NAME", "old", 1);
	setenv("PWD", "/elsewhere", 1);
	setenv("LD_PRELOAD", "/other.so", 1);
	envp = leat_environment_new(&spec);
	assert_string_equal("/d", value_in(envp, "LEAT_DIR"));
	assert_string_equal("/elsewhere", value_in(envp, "PWD"));
	assert_string_equal("s", value_in(envp, "LEAT_APP_NAME"));
	assert_string_equal("w", value_in(envp, "LEAT_WORKFLOW_NAME"));
	assert_null(value_in(envp, "LEAT_RUNTIME_DIR"));
	/* libleat gives it its name back */
	assert_string_equal("/l.so", value_in(envp, "LD_PRELOAD"));
	assert_string_equal("/l.so /other.so", value_in(envp, "LEAT_PUT_BY_LD_PRELOAD"));
	assert_string_equal("1", value_in(envp, "LEAT_BEGUN"));
	assert_string_equal(getenv("PATH"), value_in(envp, "PATH"));
	leat_environment_free(envp);
	setenv("LD_PRELOAD", "/l.so", 1);
	spec.within = "s.1";
	envp = leat_environment_new(&spec);
	assert_string_equal("/d/s.1", value_in(envp, "PWD"));
	assert_string_equal("/l.so", value_in(envp, "LD_PRELOAD"));
	assert_null(value_in(envp, "LEAT_PUT_BY_LD_PRELOAD"));
	leat_environment_free(envp);
	spec.library = NULL; /* behind a mount: leat itself, which makes it, is to load nothing */
	spec.runtime_dir = "/r";
	setenv("LD_AUDIT", "/a.so", 1);
	envp = leat_environment_new(&spec);
	assert_null(value_in(envp, "LD_PRELOAD"));
	assert_string_equal("/l.so", value_in(envp, "LEAT_PUT_BY_LD_PRELOAD"));
	assert_null(value_in(envp, "LD_AUDIT"));
	assert_string_equal("/a.so", value_in(envp, "LEAT_PUT_BY_LD_AUDIT"));
	assert_null(value_in(envp, "LEAT_BEGUN"));
	assert_string_equal("/r", value_in(envp, "LEAT_RUNTIME_DIR"));
	leat_environment_free(envp);
	spec.plain = true; /* on plain files all is as it is */
	envp = leat_environment_new(&spec);
	assert_string_equal("/l.so", value_in(envp, "LD_PRELOAD"));
	assert_string_equal("/a.so", value_in(envp, "LD_AUDIT"));
	leat_environment_free(envp);
	unsetenv("LD_AUDIT");
	unsetenv("LD_PRELOAD");
	unsetenv("LEAT_APP_NAME");
}

/* Programs of Open MPI that start at the same moment fail in making one directory: each step has
 * its own, the same in every run. */
static void test_session_directories(void **state)
{
	static const char name[] = "OMPI_MCA_orte_top_session_dir";
	static const struct leat_environment_spec specs[] = {
		{.dir = "/d", .step = "s"},
		{.dir = "/d", .step = "t"},
		{.dir = "/ds", .step = ""},
		{.dir = "/d", .step = "s"},
	};
	char *at[4];

	(void)state;
	setenv("TMPDIR", "/some/where", 1);
	for (size_t i = 0; i < 4; i++) {
		struct leat_environment_spec spec = specs[i];
		char **envp;

		spec.workflow = "w";
		envp = leat_environment_new(&spec);
		at[i] = strdup(value_in(envp, name));
		leat_environment_free(envp);
		assert_memory_equal("/some/where/ompi.leat.", at[i], 22);
	}
	assert_string_not_equal(at[0], at[1]);
	assert_string_not_equal(at[0], at[2]);
	assert_string_equal(at[0], at[3]);
	/* This leat may itself be part of a step. */
	setenv(name, at[1], 1);
	{
		struct leat_environment_spec spec = {.dir = "/d", .step = "s", .workflow = "w"};
		char **envp = leat_environment_new(&spec);

		assert_string_equal(at[0], value_in(envp, name));
		leat_environment_free(envp);
	}
	unsetenv(name);
	/* What the user has set stays. */
	for (unsigned i = 0; i < 2; i++) {
		static const char *const theirs[] = {"OMPI_MCA_orte_top_session_dir",
						     "OMPI_MCA_orte_tmpdir_base"};
		struct leat_environment_spec spec = {.dir = "/d", .step = "s", .workflow = "w"};
		char **envp;

		setenv(theirs[i], "/theirs", 1);
		envp = leat_environment_new(&spec);
		assert_string_equal("/theirs", value_in(envp, theirs[i]));
		assert_true(i == 0 || !value_in(envp, name));
		leat_environment_free(envp);
		unsetenv(theirs[i]);
	}
	for (size_t i = 0; i < 4; i++)
		free(at[i]);
	unsetenv("TMPDIR");
}

static void test_formats(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} bytes[] = {{0, "0 B"},
		     {999, "999 B"},
		     {1000, "1.0 kB"},
		     {99949, "99.9 kB"},
		     {123456, "123 kB"},
		     {999600, "1.0 MB"},
		     {191000000, "191 MB"},
		     {1500000000, "1.5 GB"}};
	static const struct {
		uint64_t ms;
		const char *text;
	} times[] = {{0, "0.00 s"}, {1234, "1.23 s"}, {12345, "12.3 s"}, {1234567, "20 min 34 s"}};
	struct leat_step_result s = {0};
	char buf[48];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		assert_string_equal(bytes[i].text, leat_format_bytes(bytes[i].bytes, buf));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		assert_string_equal(times[i].text, leat_format_seconds(times[i].ms * 1000000, buf));
	assert_string_equal("not started", leat_format_status(&s, buf));
	s.start_ns = 1;
	assert_string_equal("running", leat_format_status(&s, buf));
	s.end_ns = 2;
	assert_string_equal("ok", leat_format_status(&s, buf));
	s.status = 3 << 8;
	assert_string_equal("exit 3", leat_format_status(&s, buf));
	s.status = SIGKILL;
	assert_string_equal("killed by SIGKILL", leat_format_status(&s, buf));
}

#define S 1000000000u

/* Two steps in 10 s: a from 0 to 6, b from 2 to 10, of which it waits until 4. */
static void fill(struct leat_result *r, const struct leat_workflow *wf)
{
	assert_int_equal(0, leat_result_init(r, wf));
	r->streamed = true;
	r->start_ns = 100 * (uint64_t)S;
	r->end_ns = 110 * (uint64_t)S;
	r->sample_ns = S / 4;
	r->steps[0].start_ns = r->start_ns;
	r->steps[0].end_ns = 106 * (uint64_t)S;
	r->steps[0].counters.bytes_out = 5000000;
	r->steps[1].start_ns = 102 * (uint64_t)S;
	r->steps[1].end_ns = 110 * (uint64_t)S;
	r->steps[1].counters.bytes_in = 5000000;
	r->steps[1].counters.wait_ns = 2 * (uint64_t)S;
	for (int i = 0; i < 40; i++) {
		r->steps[1].counters.waiting = i >= 8 && i < 16;
		leat_result_sample(r);
	}
}

static void test_summary(void **state)
{
	struct leat_workflow *wf = make_workflow(2, NULL);
	struct leat_result r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fill(&r, wf);
	leat_summary_print(&r, out);
	fclose(out);
	assert_string_equal("step        wall     waiting   bytes in  bytes out  status\n"
			    "a         6.00 s      0.00 s        0 B     5.0 MB  ok\n"
			    "b         8.00 s      2.00 s     5.0 MB        0 B  ok\n"
			    "10.0 s; estimated sequential time 12.0 s (speed-up 1.20x)\n",
			    text);
	free(text);
	leat_result_release(&r);
	leat_workflow_free(wf);
}

static char *summary_of(const struct leat_result *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	leat_summary_print(r, out);
	fclose(out);
	return text;
}

/* Who else has used the CPUs, of which the run had ten for 10 s, and is there an estimate? */
static void test_estimate_needs_the_cpus(void **state)
{
	static const struct {
		unsigned used_s, own_s;
		bool estimate;
	} rows[] = {{0, 0, true},   {100, 100, true}, {100, 95, true}, {100, 85, false},
		    {40, 10, true}, {80, 5, false},   {80, 90, true}};
	struct leat_workflow *wf = make_workflow(2, NULL);
	struct leat_result r;

	(void)state;
	fill(&r, wf);
	r.cpu_ns = 100 * (uint64_t)S;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text;

		r.cpu_used_ns = rows[i].used_s * (uint64_t)S;
		r.cpu_own_ns = rows[i].own_s * (uint64_t)S;
		text = summary_of(&r);
		assert_int_equal(rows[i].estimate,
				 strstr(text, "estimated sequential time 12.0 s") != NULL);
		assert_int_equal(!rows[i].estimate,
				 strstr(text, "10.0 s; no estimate of the") != NULL);
		free(text);
	}
	leat_result_release(&r);
	leat_workflow_free(wf);
}

/* A step that was stopped and ended with status 0 is not told to be ok. */
static void test_stopped_step(void **state)
{
	struct leat_workflow *wf = make_workflow(2, NULL);
	struct leat_result r;
	char *text;

	(void)state;
	fill(&r, wf);
	leat_result_blame(&r.steps[1], "stopped, because %s", "step a failed");
	r.steps[0].status = 3 << 8;
	text = summary_of(&r);
	assert_non_null(strstr(text, "  exit 3\n"));
	assert_non_null(strstr(text, "  exit 0: stopped, because step a failed\n"));
	free(text);
	leat_result_release(&r);
	leat_workflow_free(wf);
}

/* However long a run is, its samples take so much memory, and stand for the same times. */
static void test_samples_are_bounded(void **state)
{
	const unsigned looks = 5 * LEAT_MAX_SAMPLES + 77;
	struct leat_workflow *wf = make_workflow(2, NULL);
	struct leat_result r;

	(void)state;
	assert_int_equal(0, leat_result_init(&r, wf));
	r.sample_ns = S / 20;
	r.cpus = 1;
	r.steps[0].start_ns = r.steps[1].start_ns = S;
	for (unsigned i = 0; i < looks; i++) {
		/* One waits in the second third of the time. */
		r.steps[1].counters.waiting = i >= looks / 3 && i < 2 * (looks / 3);
		leat_result_sample(&r);
	}
	assert_in_range(r.n_samples, LEAT_MAX_SAMPLES / 2, LEAT_MAX_SAMPLES);
	assert_true(r.samples_space <= LEAT_MAX_SAMPLES);
	assert_in_range(r.n_samples * r.sample_ns, (uint64_t)looks * (S / 20),
			(uint64_t)looks * (S / 20) + r.sample_ns);
	for (size_t i = 0; i < r.n_samples; i++) {
		uint64_t look = i * r.sample_ns / (S / 20);

		assert_int_equal(r.samples[2 * i], 0);
		assert_int_equal(r.samples[2 * i + 1], look >= looks / 3 && look < 2 * (looks / 3));
	}
	/* Both were busy on one CPU in the other two thirds. */
	assert_in_range(r.steps[0].shared_ns / (S / 20), looks / 3 - 2, looks / 3 + 2);
	leat_result_release(&r);
	leat_workflow_free(wf);
}

/* Three busy steps on two CPUs run at two thirds of their speed. */
static void test_shared_cpus(void **state)
{
	struct leat_workflow *wf = make_workflow(3, NULL);
	struct leat_result r;

	(void)state;
	assert_int_equal(0, leat_result_init(&r, wf));
	r.cpus = 2;
	r.sample_ns = S / 10;
	for (size_t i = 0; i < 3; i++)
		r.steps[i].start_ns = S;
	for (int i = 0; i < 30; i++)
		leat_result_sample(&r);
	r.steps[0].counters.waiting = 1;
	for (int i = 0; i < 30; i++)
		leat_result_sample(&r);
	r.steps[0].counters.wait_ns = 3 * (uint64_t)S;
	for (size_t i = 0; i < 3; i++)
		r.steps[i].end_ns = 7 * (uint64_t)S;
	assert_in_range(leat_step_own_ns(&r.steps[0]), 2 * (uint64_t)S - 100,
			2 * (uint64_t)S + 100);
	assert_in_range(leat_step_own_ns(&r.steps[1]), 5 * (uint64_t)S - 100,
			5 * (uint64_t)S + 100);
	/* One busy step of ours beside three threads of others: no worse than alone. */
	r.steps[2].end_ns = 0;
	r.steps[2].shared_ns = 0;
	r.runnable = 4;
	leat_result_sample(&r);
	assert_int_equal(0, r.steps[2].shared_ns);
	leat_result_release(&r);
	leat_workflow_free(wf);
}

static void test_chart(void **state)
{
	struct leat_workflow *wf = make_workflow(2, NULL);
	struct leat_result r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fill(&r, wf);
	leat_chart_print(&r, out, 26, false);
	fclose(out);
	assert_string_equal("      0 s           10.0 s\n"
			    "a     ############\n"
			    "b         ....############\n"
			    "      # running   . waiting for its input\n",
			    text);
	free(text);
	leat_result_release(&r);
	leat_workflow_free(wf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_session_directories),
		cmocka_unit_test(test_cpus_text),
		cmocka_unit_test(test_filename),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_estimate_needs_the_cpus),
		cmocka_unit_test(test_stopped_step),
		cmocka_unit_test(test_chart),
		cmocka_unit_test(test_shared_cpus),
		cmocka_unit_test(test_samples_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
