/* Of several logs and runs: which log is the trace's. */
#include "associate_play.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

enum { JOBS = 4 };

/* A run of Snakemake: jobs that write /d/0 to /d/3, one each 20 s, for 10 s. */
struct run {
	int64_t at_s;   /* since BEGIN */
	int64_t hand_s; /* added to the clock on the wall */
	int uneven_s;   /* the k-th job begins k * k times that later */
	bool cut;       /* before any job ends */
};

static int64_t job_begin_s(const struct run *r, int k)
{
	return r->at_s + 20 * k + (int64_t)r->uneven_s * k * k;
}

static void put_ctime(FILE *out, int64_t since_s)
{
	time_t at = (time_t)(BEGIN_NS / MAP_SECOND + since_s);
	char text[64];

	strftime(text, sizeof(text), "[%a %b %d %H:%M:%S %Y]\n", localtime(&at));
	fputs(text, out);
}

static void read_run(struct leat_associate_map *m, const struct run *r, const char *name)
{
	char *log = NULL;
	size_t size;
	FILE *out = open_memstream(&log, &size);

	assert_non_null(out);
	fputs("Building DAG of jobs...\n", out);
	for (int k = 0; k < JOBS; k++) {
		put_ctime(out, job_begin_s(r, k) + r->hand_s);
		fprintf(out, "rule r:\n    output: /d/%d\n    jobid: %d\n\n", k, k);
		if (r->cut)
			continue;
		put_ctime(out, job_begin_s(r, k) + r->hand_s + 10);
		fprintf(out, "Finished job %d.\n", k);
	}
	fclose(out);
	assert_int_equal(0, read_text(m, log, size, NULL, name));
	free(log);
}

static void play_run(struct play *p, const struct run *r)
{
	for (int k = 0; k < JOBS; k++) {
		char words[32];
		int32_t pid = (int32_t)(100 + leat_associate_images(p->m));

		p->now_ns = BEGIN_NS + job_begin_s(r, k) * MAP_SECOND + MAP_SECOND / 2;
		play_process(p, LEAT_TRACE_FORK, 1, pid, 0);
		play_take(p);
		snprintf(words, sizeof(words), "%d /d/%d", pid, k);
		play_call(p, "create", words);
		p->now_ns += 9 * MAP_SECOND;
		play_process(p, LEAT_TRACE_EXIT, 0, pid, 0);
		play_take(p);
	}
}

enum { HOUR = 3600, DAY_S = 24 * HOUR, YEAR = 365 * DAY_S };

static const struct {
	const char *name;
	int zone_s;
	size_t n_logs;
	struct run logs[3], trace[3];
	const char *whose; /* log of each run of the trace, '-' nobody's */
	const char *said;  /* words of it, in order, "|" between; "": nothing */
} rivals[] = {
	{"one log, one run", INT_MIN, 1, {{0}}, {{0}}, "a", ""},
	{"another day",
	 INT_MIN,
	 1,
	 {{-3 * DAY_S, 0, 0, false}},
	 {{0}},
	 "-",
	 "a: refused, it is the log of another day or run: its clock would have to be 3 days "
	 "behind "
	 "that of node0, by local time; expected is at most 120.000 s and a zone within 14 h"},
	{"another year", INT_MIN, 1, {{YEAR, 0, 0, false}}, {{0}}, "-", "365 days ahead of"},
	{"a zone is within 14 h, and named",
	 INT_MIN,
	 1,
	 {{0, 13 * HOUR, 0, false}},
	 {{0}},
	 "a",
	 "a: its times agree with the trace only in the zone UTC+13:00, which is not this "
	 "machine's: if "
	 "it is the log of another run, some hours away"},
	{"another run, some hours before: only a zone explains it",
	 INT_MIN,
	 1,
	 {{-4 * HOUR, 0, 0, false}},
	 {{0}},
	 "a",
	 "only in the zone UTC-04:00"},
	{"the zone that it needs is given",
	 13 * HOUR,
	 1,
	 {{0, 13 * HOUR, 0, false}},
	 {{0}},
	 "a",
	 ""},
	{"and no more", INT_MIN, 1, {{0, 15 * HOUR, 0, false}}, {{0}}, "-", "15 h 0 min ahead of"},
	{"no zone is so far from a quarter of an hour",
	 INT_MIN,
	 1,
	 {{0, HOUR + 420, 0, false}},
	 {{0}},
	 "-",
	 "1 h 7 min ahead of"},
	{"the zone is given",
	 0,
	 1,
	 {{0, 2 * HOUR, 0, false}},
	 {{0}},
	 "-",
	 "2 h 0 min ahead of that of node0, by the zone that is given; expected is at most 120.000 "
	 "s "
	 "(--slack"},
	{"two days' runs, the wrong one last",
	 INT_MIN,
	 2,
	 {{0}, {-DAY_S, 0, 0, false}},
	 {{0}},
	 "a",
	 "b: refused"},
	{"the wrong one first",
	 INT_MIN,
	 2,
	 {{-DAY_S, 0, 0, false}, {0, 0, 0, false}},
	 {{0}},
	 "b",
	 "a: refused"},
	{"two runs of a day: the hour",
	 0,
	 2,
	 {{-4 * HOUR, 0, 0, false}, {0, 0, 0, false}},
	 {{0}},
	 "b",
	 "a: refused"},
	{"or, without a zone, the one that needs none",
	 INT_MIN,
	 2,
	 {{0}, {-4 * HOUR, 0, 0, false}},
	 {{0}},
	 "a",
	 "a is taken rather than b, which tells of the same tasks|4 h 0 min"},
	{"the one whose times fit, whatever its zone",
	 INT_MIN,
	 2,
	 {{0, -2 * HOUR, 1, false}, {0, 0, 0, false}},
	 {{0, 0, 1, false}},
	 "a",
	 "a is taken rather than b"},
	{"nothing shows it",
	 INT_MIN,
	 2,
	 {{0, -2 * HOUR, 0, false}, {0, 2 * HOUR, 0, false}},
	 {{0}},
	 "-",
	 "and nothing shows which of them is the trace's"},
	{"one run after the other, both logs",
	 INT_MIN,
	 2,
	 {{0}, {200, 0, 0, false}},
	 {{0}, {200, 0, 0, false}},
	 "ab",
	 ""},
	{"close behind each other",
	 INT_MIN,
	 2,
	 {{0}, {72, 0, 0, false}},
	 {{0}, {72, 0, 0, false}},
	 "ab",
	 ""},
	{"one log of several runs",
	 INT_MIN,
	 1,
	 {{200, 0, 0, false}},
	 {{0}, {200, 0, 0, false}, {400, 0, 0, false}},
	 "-a-",
	 ""},
	{"the same log twice",
	 INT_MIN,
	 3,
	 {{0}, {0, 0, 0, true}, {0, 0, 0, false}},
	 {{0}},
	 "a",
	 ""},
	{"a run that has not ended", INT_MIN, 1, {{0, 0, 0, true}}, {{0}}, "a", ""},
	{"nor did that of the other day",
	 INT_MIN,
	 1,
	 {{-2 * DAY_S, 0, 0, true}},
	 {{0}},
	 "-",
	 "a: refused"},
};

/* The letters of the logs that the runs of the trace were found to be of; "?" not all alike. */
static char *whose(const struct leat_associate_map *m, char *out, size_t runs)
{
	for (size_t i = 0; i < runs; i++) {
		struct leat_associate_answer a;

		/* The first image is the parent's. */
		for (size_t k = 0; k < JOBS; k++) {
			char c;

			leat_associate_answer(m, 1 + i * JOBS + k, &a);
			c = a.task ? a.task->workflow[0] : '-';
			out[i] = !k || out[i] == c ? c : '?';
		}
	}
	out[runs] = '\0';
	return out;
}

static void test_rivals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rivals) / sizeof(*rivals); i++) {
		struct said said = {.text = ""};
		struct leat_associate_options options = {
			.zone_s = rivals[i].zone_s, .report = said_take, .ctx = &said};
		struct play p = {.m = leat_associate_new(&options)};
		char found[4], name[] = "a";
		size_t runs = strlen(rivals[i].whose);

		for (size_t k = 0; k < rivals[i].n_logs; k++, name[0]++)
			read_run(p.m, &rivals[i].logs[k], name);
		assert_int_equal(0, leat_associate_host(p.m, 0, "node0"));
		for (size_t k = 0; k < runs; k++)
			play_run(&p, &rivals[i].trace[k]);
		/* What is said of reading is not asked for here. */
		memset(&said, 0, sizeof(said));
		assert_int_equal(0, leat_associate_resolve(p.m));
		whose(p.m, found, runs);
		if (strcmp(found, rivals[i].whose) || !says(said.text, rivals[i].said))
			fail_msg("%s: %s\n%s", rivals[i].name, found, said.text);
		assert_int_equal(leat_associate_is_believed(p.m),
				 strcspn(found, "abc") < runs || strstr(said.text, "nothing"));
		leat_associate_free(p.m);
	}
}

/* Jobs before and after the clocks were put back, on 2022-10-30: the log has local times. */
static void test_summer_time(void **state)
{
	const struct run run = {.at_s = 37 * DAY_S + 26160, .uneven_s = HOUR};
	struct said said = {.text = ""};
	struct leat_associate_options options = {
		.zone_s = INT_MIN, .report = said_take, .ctx = &said};
	char found[2];

	(void)state;
	for (int with = 0; with < 2; with++) {
		struct play p = {.m = leat_associate_new(&options)};

		setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
		tzset();
		read_run(p.m, &run, "a");
		/* Seen from elsewhere half of them can be explained. */
		if (!with)
			setenv("TZ", "UTC", 1);
		tzset();
		memset(&said, 0, sizeof(said));
		play_run(&p, &run);
		assert_int_equal(0, leat_associate_resolve(p.m));
		assert_string_equal(whose(p.m, found, 1), with ? "a" : "?");
		if (with)
			assert_string_equal(said.text, "");
		else
			assert_non_null(strstr(said.text, "only in the zone UTC+01:00"));
		leat_associate_free(p.m);
	}
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Two runs of one workflow of leat, whose steps have the same names. */
static void test_runs_of_leat(void **state)
{
	static const char first[] =
		"# leat event log "
		"1\n0\t1000\tstep-start\tstep=0\tpid=20\toffset=1663859640000000000\t"
		"name=s\tto=f\n1\t5000001000\tstep-end\tstep=0\n";
	static const char second[] =
		"# leat event log "
		"1\n0\t1000\tstep-start\tstep=0\tpid=30\toffset=1663859740000000000\t"
		"name=s\tto=f\n1\t5000001000\tstep-end\tstep=0\tstatus=1\n";
	static const char other_day[] =
		"# leat event log "
		"1\n0\t1000\tstep-start\tstep=0\tpid=20\toffset=1663600000000000000\t"
		"name=s\tto=f\n1\t5000001000\tstep-end\tstep=0\n";
	static const struct {
		const char *logs[3];
		const char *status[2]; /* of the steps that the two processes are of */
		const char *said;
	} table[] = {
		{{first, second}, {"ok", "failed"}, ""},
		{{second, first}, {"ok", "failed"}, ""},
		{{other_day, second, first}, {"ok", "failed"}, "a: refused"},
		{{other_day}, {"ok", "ok"}, "a: refused"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct said said = {.text = ""};
		struct leat_associate_options options = {.report = said_take, .ctx = &said};
		struct play p = {.m = leat_associate_new(&options)};
		char name[] = "a";

		for (size_t k = 0; k < 3 && table[i].logs[k]; k++, name[0]++)
			read_text(p.m, table[i].logs[k], strlen(table[i].logs[k]), NULL, name);
		play(&p,
		     "fork 1 20\nexec 20 LEAT_APP_NAME=s LEAT_WORKFLOW_NAME=f\nat 4\nexit 20\nat "
		     "100\nfork 1 30\nexec 30 LEAT_APP_NAME=s LEAT_WORKFLOW_NAME=f\nat 104\nexit "
		     "30",
		     false);
		assert_int_equal(0, leat_associate_resolve(p.m));
		for (int k = 0; k < 2; k++) {
			struct leat_associate_answer a;

			leat_associate_find(p.m, 0, k ? 30 : 20,
					    BEGIN_NS + (k ? 102 : 2) * MAP_SECOND, &a);
			assert_non_null(a.task);
			assert_string_equal(a.task->physical, "s");
			assert_string_equal(a.task->status, table[i].status[k]);
		}
		assert_true(says(said.text, table[i].said));
		leat_associate_free(p.m);
	}
}

/* Of managers whose tasks have names of their own: those stay, whatever the log says of time. */
static void test_other_managers(void **state)
{
	static const struct {
		const char *log, *script, *answer, *said;
	} table[] = {
		{AIRFLOW_TASK("t", "14:10", "14:20", "20"),
		 "at 11\nfork 1 20\nexec 20 AIRFLOW_CTX_DAG_ID=d AIRFLOW_CTX_TASK_ID=t "
		 "AIRFLOW_CTX_DAG_RUN_ID=r AIRFLOW_CTX_TRY_NUMBER=1\nat 12\ncall 20",
		 "t label", ""},
		/* Two hours later by a log that has the zone. */
		{AIRFLOW_TASK("t", "14:10", "14:20", "20"),
		 "at 7211\nfork 1 20\nexec 20 AIRFLOW_CTX_DAG_ID=d AIRFLOW_CTX_TASK_ID=t "
		 "AIRFLOW_CTX_DAG_RUN_ID=r AIRFLOW_CTX_TRY_NUMBER=1\ncall 20",
		 "t label",
		 "a: refused, it is the log of another day or run: its clock would have to be 2 h "
		 "0 "
		 "min behind that of node0; expected is at most 120.000 s (--slack"},
		{AIRFLOW_TASK("t", "14:10", "14:20", "20"), "at 86411\nfork 1 20\ncall 20",
		 "- not related to a task",
		 "a: not used, it is of another time: its tasks ran from 2022-09-22 15:14:10 UTC "
		 "to "
		 "2022-09-22 15:14:20 UTC, the trace is of 2022-09-23 15:14:11 UTC to "},
		{"{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p-1\", \"labels\": {\"taskName\": "
		 "\"t\"}}, \"status\": {\"startTime\": \"2022-09-20T15:14:00Z\", "
		 "\"containerStatuses\": [{\"state\": {\"terminated\": {\"exitCode\": 0, "
		 "\"startedAt\": \"2022-09-20T15:14:00Z\", \"finishedAt\": "
		 "\"2022-09-20T15:15:00Z\"}}}]}}\n",
		 "fork 1 20\nexec 20 HOSTNAME=p-1\ncall 20", "p-1 label", "a: refused"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct said said = {.text = ""};
		struct leat_associate_options options = {
			.zone_s = INT_MIN, .report = said_take, .ctx = &said};
		struct play p = {.m = leat_associate_new(&options)};
		struct leat_associate_answer a;
		char text[80];

		read_text(p.m, table[i].log, strlen(table[i].log), NULL, "a");
		assert_int_equal(0, leat_associate_host(p.m, 0, "node0"));
		play(&p, table[i].script, false);
		assert_int_equal(0, leat_associate_resolve(p.m));
		leat_associate_find(p.m, 0, 20, p.now_ns, &a);
		snprintf(text, sizeof(text), "%s %s", a.task ? a.task->physical : "-",
			 a.task ? leat_associate_evidence_name(a.evidence)
				: leat_associate_reason_name(a.reason));
		if (strcmp(text, table[i].answer) || !says(said.text, table[i].said))
			fail_msg("%zu: %s\n%s", i, text, said.text);
		leat_associate_free(p.m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rivals),
		cmocka_unit_test(test_summer_time),
		cmocka_unit_test(test_runs_of_leat),
		cmocka_unit_test(test_other_managers),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
