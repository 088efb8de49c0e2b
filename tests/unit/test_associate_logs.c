/* Logs of workflow managers in all their shapes: which tasks they tell of, and what is said of what
 * cannot be read. */
#include "associate_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NXF                                                                                        \
	"Sep-22 15:14:27.697 [main] INFO  nextflow.cli.CmdRun - N E X T F L O W  ~  version "      \
	"21.10.6\n"
#define NXF_RUN NXF "Sep-22 15:14:27.960 [main] DEBUG nextflow.Session - Run name: sad_pare\n"
#define MONITOR "[Task monitor] DEBUG n.processor.TaskPollingMonitor - Task completed > "
#define HASH "/w/e8/cee4b533e9d15ec5b273ee5390157d"
#define AIRFLOW "[2023-12-12T16:18:11.810+0000] {scheduler_job.py:550} INFO - "
#define KEY                                                                                        \
	"TaskInstanceKey(dag_id='force', task_id='level2', run_id='manual__1', try_number=1, "     \
	"map_index=-1)"

static const struct {
	const char *name;
	const struct leat_associate_format *format;
	const char *text, *tasks, *said;
	int result;
} cases[] = {
	/* ---- Nextflow ---- */
	{"a local task, submitted and completed", NULL,
	 NXF_RUN
	 "Sep-22 15:14:29.993 [Task submitter] INFO  nextflow.Session - [e8/cee4b5] Submitted "
	 "process > quality (2)\n"
	 "Sep-22 15:16:53.960 " MONITOR "TaskHandler[id: 2; name: quality (2); status: COMPLETED; "
	 "exit: 0; error: -; workDir: " HASH "]\n",
	 "nextflow | sad_pare | quality | quality (2) [e8/cee4b5] | " HASH
	 " | exit 0 | 1663859669.993 1663859813.960\n",
	 "", 0},
	{"a grid's task, with epoch and ISO times", NULL,
	 NXF_RUN
	 "Dec-05 09:59:10.778 " MONITOR
	 "TaskHandler[jobId: 14; id: 1; name: blast (1); status: COMPLETED; exit: 140; error: -; "
	 "workDir: " HASH " started: 1607162350774; exited: 2020-12-05T09:59:07.549659Z; ]\n",
	 "nextflow | sad_pare | blast | blast (1) [e8/cee4b5] | " HASH
	 " | exit 140 | 1607162350.774 1670234350.778\n",
	 "", 0},
	{"a grid's task that never started, killed", &leat_associate_nextflow,
	 "Jun-29 12:05:40.160 " MONITOR "TaskHandler[jobId: 57005643; id: 5; name: POST:JOIN "
	 "(join); status: COMPLETED; exit: -; error: "
	 "-; workDir: " HASH " started: -; exited: -; ]\n",
	 "nextflow |  | POST:JOIN | POST:JOIN (join) [e8/cee4b5] | " HASH
	 " | COMPLETED | - 1656504340.160\n",
	 "", 0},
	{"failed, with a text as its error", &leat_associate_nextflow,
	 "Jun-29 12:05:40.160 " MONITOR "TaskHandler[id: 5; name: a; status: COMPLETED; exit: 1; "
	 "error: java.io.IOException: a; b; "
	 "workDir: " HASH "]\n",
	 "nextflow |  | a | a [e8/cee4b5] | " HASH " | exit 1 | - 1656504340.160\n", "", 0},
	{"a dump of those that run is no completion", &leat_associate_nextflow,
	 NXF_RUN "~> TaskHandler[id: 10; name: stats (2); status: RUNNING; exit: -; error: -; "
		 "workDir: " HASH "]\n",
	 "nextflow | sad_pare | stats | stats (2) [e8/cee4b5] | " HASH " | RUNNING | - -\n", "", 0},
	{"names with parentheses, semicolons, brackets and more", &leat_associate_nextflow,
	 "Jun-29 12:05:40.160 " MONITOR "TaskHandler[id: 5; name: A:B (x (1); status: y [z], q); "
	 "status: COMPLETED; exit: 0; error: -; "
	 "workDir: /w [1]; b/e8/cee4b533e9d15ec5b273ee5390157d]\n",
	 "nextflow |  | A:B | A:B (x (1); status: y [z], q) [e8/cee4b5] | /w [1]; "
	 "b/e8/cee4b533e9d15ec5b273ee5390157d | exit 0 | - 1656504340.160\n",
	 "", 0},
	{"a retry is another execution; a stored one has no directory", &leat_associate_nextflow,
	 NXF_RUN
	 "Sep-22 15:14:29.000 [Task submitter] INFO  nextflow.Session - [e8/cee4b5] Submitted "
	 "process > f (1)\n"
	 "Sep-22 15:14:30.000 [Task submitter] INFO  nextflow.Session - [a2/5117de] Re-submitted "
	 "process > f (1)\n"
	 "Sep-22 15:14:31.000 [main] INFO  nextflow.processor.TaskProcessor - [skipping] Stored "
	 "process > g\n",
	 "nextflow | sad_pare | f | f (1) [e8/cee4b5] | - |  | 1663859669.000 -\n"
	 "nextflow | sad_pare | f | f (1) [a2/5117de] | - |  | 1663859670.000 -\n",
	 "", 0},
	{"a cached task has a hash and no times", &leat_associate_nextflow,
	 NXF_RUN "May-24 23:23:46.984 [Actor Thread 34] INFO  nextflow.processor.TaskProcessor - "
		 "[0d/0f9cd1] Cached process > pre:get (list:mm10-2020A)\n",
	 "nextflow | sad_pare | pre:get | pre:get (list:mm10-2020A) [0d/0f9cd1] | - | cached | - "
	 "-\n",
	 "", 0},
	{"cached after it ran in the same log's directory", &leat_associate_nextflow,
	 NXF_RUN "Sep-22 15:16:53.960 " MONITOR
		 "TaskHandler[id: 2; name: q; status: COMPLETED; exit: 0; error: -; workDir: " HASH
		 "]\n"
		 "Sep-23 15:14:29.993 [main] DEBUG nextflow.Session - Run name: other_one\n"
		 "Sep-23 15:14:29.993 [Actor Thread 3] INFO  nextflow.processor.TaskProcessor - "
		 "[e8/cee4b5] "
		 "Cached process > q\n",
	 "nextflow | sad_pare | q | q [e8/cee4b5] | " HASH " | exit 0 | - 1663859813.960\n", "", 0},
	{"German months", &leat_associate_nextflow,
	 "Okt.-05 09:59:06.046 [Task submitter] INFO  nextflow.Session - [b9/51bc58] Submitted "
	 "process "
	 "> a\nM\xc3\xa4rz-05 09:59:06.046 [Task submitter] INFO  nextflow.Session - [b9/51bc59] "
	 "Submitted process > b\n",
	 "nextflow |  | a | a [b9/51bc58] | - |  | 1664963946.046 -\n"
	 "nextflow |  | b | b [b9/51bc59] | - |  | 1678010346.046 -\n",
	 "", 0},
	{"Japanese months", &leat_associate_nextflow,
	 "12\xe6\x9c\x88-05 09:59:06.046 [Task submitter] INFO  nextflow.Session - [b9/51bc58] "
	 "Submitted "
	 "process > a\n",
	 "nextflow |  | a | a [b9/51bc58] | - |  | 1670234346.046 -\n", "", 0},
	{"an unknown month is said, and the task is kept", &leat_associate_nextflow,
	 "Xyz-05 09:59:06.046 [Task submitter] INFO  nextflow.Session - [b9/51bc58] Submitted "
	 "process > "
	 "a\n",
	 "nextflow |  | a | a [b9/51bc58] | - |  | - -\n",
	 "log:1: its time is not understood: Xyz-05 09:59:06.046 [Tas (the tasks' times are left "
	 "out)\n",
	 -EBADMSG},
	{"a job of a batch system, not completed", &leat_associate_nextflow,
	 "Dec-05 09:59:06.046 [Task submitter] DEBUG nextflow.executor.GridTaskHandler - [SLURM] "
	 "submitted process blast (2) > jobId: 15; workDir: " HASH "\n",
	 "nextflow |  | blast | blast (2) [e8/cee4b5] | " HASH " |  | - -\n", "", 0},
	{"a line that is cut off", &leat_associate_nextflow,
	 NXF "Jun-29 12:05:40.160 " MONITOR
	     "TaskHandler[id: 5; name: a; status: COMPLETED; exit: 0; err",
	 "", "log:2: a task that is cut off, or told in a way that is not known: it is left out\n",
	 -EBADMSG},
	{"colours, CRLF and a zero byte's stand-in", &leat_associate_nextflow,
	 "Jun-29 12:05:40.160 " MONITOR
	 "TaskHandler[id: 5; \033[1mname: a\033[0m; status: COMPLETED; exit: 0; error: -; workDir: "
	 "/w/x]\r\n",
	 "nextflow |  | a | a | /w/x | exit 0 | - 1656504340.160\n", "", 0},
	{"its process twice, once without a number", &leat_associate_nextflow,
	 NXF "  Process: x@host1 [1.2.3.4]\n  Process: 7@host2\n  Process: 7\n", "", "", 0},
	{"no log of Nextflow", &leat_associate_nextflow, "hello\n", "",
	 "log: it has no line of a log of Nextflow\n", -EINVAL},
	{"nothing known", NULL, "hello\n", "",
	 "log: it is no log of leat, Nextflow, Airflow, Kubernetes or Snakemake (of Kubernetes: "
	 "kubectl get pods or events, -o json)\n",
	 -EINVAL},
	{"an empty file", NULL, "", "",
	 "log: it is no log of leat, Nextflow, Airflow, Kubernetes or Snakemake (of Kubernetes: "
	 "kubectl get pods or events, -o json)\n",
	 -EINVAL},

	/* ---- Airflow ---- */
	{"sent and finished", NULL,
	 AIRFLOW
	 "Sending " KEY " to executor with priority 3116 and queue default\n" AIRFLOW
	 "TaskInstance Finished: dag_id=force, task_id=level2, run_id=manual__1, map_index=-1, "
	 "run_start_date=2023-12-12 16:18:14.741669+00:00, run_end_date=2023-12-12 "
	 "18:18:15.906317+02:00, run_duration=1.16, state=success, executor_state=success, "
	 "try_number=1, max_tries=6, job_id=83, pool=a, b, queue=default, priority_weight=9, "
	 "operator=_PythonDecoratedOperator, queued_dttm=2023-12-12 16:18:14.568312+00:00, "
	 "queued_by_job_id=58, pid=379\n",
	 "airflow | force manual__1 | level2 | level2 | - | success | 1702397894.741 "
	 "1702397895.906\n",
	 "", 0},
	{"mapped, third try, state of an event", &leat_associate_airflow,
	 AIRFLOW
	 "Received executor event with state failed for task instance TaskInstanceKey(dag_id='f', "
	 "task_id='g.t', run_id=\"it's\", try_number=3, map_index=7)\n",
	 "airflow | f it's | g.t | g.t[7] (try 3) | - | failed | - -\n", "", 0},
	{"1.10: a tuple with a date", &leat_associate_airflow,
	 "[2020-05-18 10:00:00,123] {scheduler_job.py:1148} INFO - Sending ('dag', 'task1', "
	 "datetime.datetime(2020, 5, 18, 0, 0, tzinfo=<TimezoneInfo [UTC, GMT, +00:00:00, STD]>), "
	 "1) to "
	 "executor with priority 3 and queue default\n",
	 "airflow | dag 2020-05-18T00:00:00+00:00 | task1 | task1 | - |  | - -\n", "", 0},
	{"2.0: a key with a date; its report", &leat_associate_airflow,
	 "[2021-07-17 22:14:12,130] {scheduler_job.py:1100} INFO - Sending "
	 "TaskInstanceKey(dag_id='demo.x', task_id='print', "
	 "execution_date=datetime.datetime(2021, 7, 17, 14, 14, 11, 188164, "
	 "tzinfo=Timezone('UTC')), "
	 "try_number=1) to executor with priority 3 and queue default\n"
	 "[2021-07-17 22:14:12,137] {scheduler_job.py:1212} INFO - Executor reports execution of "
	 "demo.x.print execution_date=2021-07-17 14:14:11.188164+00:00 exited with status success "
	 "for "
	 "try_number 1\n",
	 "airflow | demo.x 2021-07-17T14:14:11.188164+00:00 | print | print | - | success | - -\n",
	 "", 0},
	{"coloured, by docker compose", &leat_associate_airflow,
	 "airflow-scheduler-1  | [\033[34m2023-12-12T16:18:11.810+0000\033[0m] "
	 "{\033[34mscheduler_job.py:\033[0m550} INFO\033[0m - Sending " KEY " to executor\033[0m\n",
	 "airflow | force manual__1 | level2 | level2 | - |  | - -\n", "", 0},
	{"not finished yet: None", &leat_associate_airflow,
	 AIRFLOW "TaskInstance Finished: dag_id=f, task_id=t, run_id=r, map_index=-1, "
		 "run_start_date=None, run_end_date=None, run_duration=None, state=queued, "
		 "executor_state=failed, try_number=1, pid=None\n",
	 "airflow | f r | t | t | - | queued | - -\n", "", 0},
	{"cut off", &leat_associate_airflow,
	 AIRFLOW "Sending TaskInstanceKey(dag_id='force', task_id='lev", "",
	 "log:1: a task's key that is cut off or not understood: it is left out\n", -EBADMSG},
	{"without its task", &leat_associate_airflow,
	 AIRFLOW "TaskInstance Finished: dag_id=f, run_id=r, pid=3\n", "",
	 "log:1: a finished task without dag_id, task_id or run_id: it is left out\n", -EBADMSG},
	{"a date that is none", &leat_associate_airflow,
	 AIRFLOW "TaskInstance Finished: dag_id=f, task_id=t, run_id=r, run_start_date=yesterday, "
		 "run_end_date=None, state=success, try_number=1, pid=3\n",
	 "airflow | f r | t | t | - | success | - -\n",
	 "log:1: run_start_date is not understood: yesterday\n", -EBADMSG},
	{"only a scheduler's beginning", NULL, AIRFLOW "Starting the scheduler\n", "", "", 0},

	/* ---- Kubernetes ---- */
	{"events as text", NULL,
	 "LAST SEEN   TYPE      REASON   OBJECT                                     MESSAGE\n"
	 "27m         Normal    Started   pod/nf-e8cee4b533e9d15ec5b273ee5390157d   Started "
	 "container\n"
	 "27m         Normal    Started   pod/other-1   Started container\n"
	 "27m         Normal    Pulled    pod/nf-00cee4b533e9d15ec5b273ee5390157d   Pulled\n",
	 "nextflow |  | nf-e8cee4b533e9d15ec5b273ee5390157d | nf-e8cee4b533e9d15ec5b273ee5390157d "
	 "| - |  "
	 "| - -\n",
	 "", 0},
	{"events as JSON, one behind the other", NULL,
	 "{\"kind\": \"Event\", \"reason\": \"Started\", \"firstTimestamp\": "
	 "\"2024-04-25T17:59:00Z\", "
	 "\"involvedObject\": {\"kind\": \"Pod\", \"name\": "
	 "\"nf-e8cee4b533e9d15ec5b273ee5390157d-ab12c\", "
	 "\"uid\": \"u\"}}\n{\"kind\": \"Event\", \"reason\": \"Killing\", \"involvedObject\": "
	 "{}}\n",
	 "nextflow |  | nf-e8cee4b533e9d15ec5b273ee5390157d-ab12c | "
	 "nf-e8cee4b533e9d15ec5b273ee5390157d-ab12c | - |  | 1714067940.000 -\n",
	 "", 0},
	{"pods with Nextflow's labels, old and new", NULL,
	 "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
	 " {\"kind\": \"Pod\", \"metadata\": {\"name\": \"nf-e8cee4b533e9d15ec5b273ee5390157d\", "
	 "\"labels\": {\"taskName\": \"A_B_C_x\", \"runName\": \"sad_pare\", \"processName\": "
	 "\"A_B_C\"}}},\n"
	 " {\"kind\": \"Pod\", \"metadata\": {\"name\": "
	 "\"nf-a8cee4b533e9d15ec5b273ee5390157d-ab1\", "
	 "\"labels\": {\"nextflow.io/taskName\": \"D_y\", \"nextflow.io/runName\": "
	 "\"sad_pare\"}},\n"
	 "  \"status\": {\"startTime\": \"2024-04-25T17:58:00Z\", \"containerStatuses\": "
	 "[{\"containerID\": \"containerd://00\", \"state\": {\"terminated\": {\"exitCode\": 1, "
	 "\"startedAt\": \"2024-04-25T17:59:00Z\", \"finishedAt\": "
	 "\"2024-04-25T18:00:00Z\"}}}]}}]}",
	 "nextflow | sad_pare | A_B_C | A_B_C_x | - |  | - -\n"
	 "nextflow | sad_pare | D_y | D_y | - | exit 1 | 1714067880.000 1714068000.000\n",
	 "", 0},
	{"pods of Airflow, a job, a taskName, and of the cluster", NULL,
	 "{\"kind\": \"PodList\", \"items\": [{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p1\", "
	 "\"annotations\": {\"dag_id\": \"force\", \"task_id\": \"level2\", \"run_id\": "
	 "\"manual__1\", "
	 "\"try_number\": \"2\", \"map_index\": \"4\"}}},"
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p2\", \"namespace\": \"n\", \"labels\": "
	 "{\"job-name\": \"sum\"}}},"
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p3\", \"namespace\": \"n\", \"labels\": "
	 "{\"taskName\": \"align\"}}},"
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"kube-proxy\", \"namespace\": "
	 "\"kube-system\"}}]}",
	 "airflow | force manual__1 | level2 | level2[4] (try 2) | - |  | - -\n"
	 "kubernetes | n | sum | p2 | - |  | - -\n"
	 "kubernetes | n | align | p3 | - |  | - -\n",
	 "", 0},
	{"an object that is no JSON, and one that is", NULL,
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\" \"p\"}}\n"
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p2\", \"labels\": {\"job-name\": "
	 "\"sum\"}}}\n",
	 "kubernetes |  | sum | p2 | - |  | - -\n", NULL, -EBADMSG},
	{"cut off in an object", NULL, "\n{\"kind\": \"Pod\", \"metadata\": {\n", "",
	 "log:2: the object that begins here is cut off: it is left out\n", -EBADMSG},
	{"a pod without a name", &leat_associate_kubernetes,
	 "{\"kind\": \"Pod\", \"metadata\": [1]}", "",
	 "log:1: a pod without a name: it is left out\n", -EBADMSG},

	/* ---- Snakemake ---- */
	{"jobs with wildcards", NULL,
	 "Building DAG of jobs...\nUsing shell: /usr/bin/bash\n\n[Sun Nov 22 13:26:35 2026]\nrule "
	 "count:\n"
	 "    input: a.txt\n    output: out/a.n, /abs/b\n    jobid: 2\n    wildcards: s=a\n\n"
	 "[Sun Nov 22 13:26:36 2026]\nFinished job 2.\n1 of 2 steps (50%) done\n\n"
	 "[Sun Nov  2 13:26:36 2026]\nlocalrule all:\n    input: out/a.n\n    jobid: 0\n\n",
	 "snakemake | log | count | count 2 (s=a) | - | finished | 1795353995.000 1795353997.000\n"
	 "snakemake | log | all | all 0 | - |  | 1793625996.000 -\n",
	 "log: it is not in DIRECTORY/.snakemake/log, so that outputs with relative names are not "
	 "known\n",
	 0},
	{"a checkpoint at the end, cut off", &leat_associate_snakemake,
	 "[Sun Nov 22 13:26:35 2026]\ncheckpoint c:\n    output: /x\n    jobid: 3",
	 "snakemake | log | c | c 3 | - |  | 1795353995.000 -\n", NULL, 0},

	/* ---- leat ---- */
	{"steps with pids", NULL,
	 "# leat event log 1\n"
	 "0\t1000000000\tstep-start\tstep=0\tpid=7\toffset=1700000001000000000\tname=make.0\tto="
	 "flow\n"
	 "1\t3000000000\tstep-end\tstep=0\tpid=7\n"
	 "2\t3000000000\tstep-start\tstep=1\tpid=8\toffset=1700000003000000000\tname=use\tto="
	 "flow\n",
	 "leat | flow | make.0 | make.0 | - | ok | 1700000001.000 1700000003.000\n"
	 "leat | flow | use | use | - | running | 1700000003.000 -\n",
	 "", 0},
	{"of an older leat", NULL, "# leat event log 1\n0\t1\tstep-start\tstep=0\n", "",
	 "log: it was written by an older leat and does not tell the steps' processes; they are "
	 "known by "
	 "their environment only\n",
	 0},
	{"a line that is malformed", NULL,
	 "# leat event log 1\nx\n1\t1\tstep-start\tstep=9999999\tpid=7\toffset=1\tname=a\n", "",
	 "log:2: malformed, or cut off: it is left out\nlog:3: step 9999999 cannot be: it is left "
	 "out\n",
	 -EBADMSG},
};

/* A little after the year's end: stamps without a year are of 2022. */
static void settle_at(struct leat_associate_map *m)
{
	struct leat_trace_record record = {
		.kind = LEAT_TRACE_CALL,
		.call = {.start_ns = 1664000000 * MAP_SECOND, .pid = 1, .type = LEAT_TRACE_CLOSE}};

	assert_int_equal(0, leat_associate_add(m, &record, NULL));
	assert_int_equal(0, leat_associate_resolve(m));
}

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct said said = {.text = ""};
		struct leat_associate_options options = {
			.zone_s = 0, .report = said_take, .ctx = &said};
		struct leat_associate_map *m = leat_associate_new(&options);
		size_t read;
		int result;
		char *tasks;

		assert_non_null(m);
		result = read_text(m, cases[i].text, strlen(cases[i].text), cases[i].format, "log");
		/* What the clocks show is not of the log alone. */
		said.text[sizeof(said.text) - 1] = '\0';
		read = strlen(said.text);
		settle_at(m);
		said.text[read] = '\0';
		tasks = tasks_text(m);
		if (result != cases[i].result || strcmp(tasks, cases[i].tasks) != 0 ||
		    (cases[i].said && strcmp(said.text, cases[i].said) != 0))
			fail_msg("%s: %d\n%s---\n%s", cases[i].name, result, tasks, said.text);
		assert_int_equal(result == -EBADMSG, leat_associate_is_partial(m));
		free(tasks);
		leat_associate_free(m);
	}
}

/* Whatever a log is cut to, or whatever byte of it is another: it is read to its end. */
static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t size = strlen(cases[i].text);
		char *text = malloc(size + 1);

		assert_non_null(text);
		for (size_t at = 0; at < size; at += 7) {
			struct leat_associate_map *m = leat_associate_new(NULL);

			assert_non_null(m);
			memcpy(text, cases[i].text, size + 1);
			text[at] = (char)("\0\n'\"{)]\377"[at / 7 % 8]);
			read_text(m, text, at % 2 ? size : at, cases[i].format, "log");
			settle_at(m);
			leat_associate_free(m);
		}
		free(text);
	}
}

static void test_many_bad_lines(void **state)
{
	struct said said = {.text = ""};
	struct leat_associate_options options = {.report = said_take, .ctx = &said};
	struct leat_associate_map *m = leat_associate_new(&options);
	char text[4096] = "";

	(void)state;
	assert_non_null(m);
	for (int i = 0; i < 50; i++)
		strcat(text, "Sending TaskInstanceKey(dag_id='\n");
	assert_int_equal(-EBADMSG,
			 read_text(m, text, strlen(text), &leat_associate_airflow, "log"));
	assert_non_null(strstr(said.text, "log:5: "));
	assert_null(strstr(said.text, "log:6: "));
	assert_non_null(strstr(said.text, "log: 45 more lines like these\n"));
	leat_associate_free(m);
}

static void test_missing(void **state)
{
	const struct leat_associate_format *format;
	struct leat_associate_map *m = leat_associate_new(NULL);

	(void)state;
	assert_non_null(m);
	assert_int_equal(-ENOENT, leat_associate_read_log(m, "/nowhere/log", NULL));
	assert_int_equal(-ENOENT,
			 leat_associate_read_log(m, "/nowhere/log", &leat_associate_nextflow));
	assert_int_equal(-ENOENT, leat_associate_detect("/nowhere/log", &format));
	assert_int_equal(-EISDIR, leat_associate_detect("/tmp", &format));
	leat_associate_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_many_bad_lines),
		cmocka_unit_test(test_missing),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
