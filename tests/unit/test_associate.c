/* Whose a process is. */
#include "associate_play.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define DAY "Sep-22 "
#define SUBMIT "[Task submitter] INFO  nextflow.Session - "
#define DONE                                                                                       \
	"[Task monitor] DEBUG n.processor.TaskPollingMonitor - Task completed > TaskHandler[id: "  \
	"1; "

#define A "/w/aa/000000000000000000000000000001"
#define B "/w/bb/000000000000000000000000000002"

/* Two tasks: A runs from 0 to 60 s, B from 30 to 90 s. */
#define NEXTFLOW                                                                                   \
	DAY "15:14:00.000 " SUBMIT "[aa/000000] Submitted process > a (1)\n" DAY                   \
	    "15:14:30.000 " SUBMIT "[bb/000000] Submitted process > b (1)\n" DAY                   \
	    "15:15:00.000 " DONE "name: a (1); status: COMPLETED; exit: 0; error: -; workDir: " A  \
	    "]\n" DAY "15:15:30.000 " DONE                                                         \
	    "name: b (1); status: COMPLETED; exit: 0; error: -; workDir: " B "]\n"

static const struct {
	const char *name, *log, *script, *answers;
} cases[] = {
	/* ---- work directories ---- */
	{"who reads the script is the task, with all it makes; the manager writes it", NEXTFLOW,
	 "fork 1 10\ncreate 10 " A "/.command.sh\ncreate 10 " A "/.command.run\n"
	 "fork 10 20\nexec 20\nread 20 " A
	 "/.command.run\nfork 20 21\nexec 21\ncall 21\nfork 21 22\n"
	 "call 22\nread 10 " A "/.exitcode\n? 10\n? 20\n? 21\n? 22\n? 1",
	 "10: - (the workflow manager itself)\n20: a (1) [aa/000000] (work directory)\n"
	 "21: a (1) [aa/000000] (process tree)\n22: a (1) [aa/000000] (process tree)\n"
	 "1: - (began before the trace, nothing shows whose it is)\n"},
	{"a shell around the task, of the manager's making, is the task's", NEXTFLOW,
	 "fork 1 10\nwrite 10 " A
	 "/.command.run\nfork 10 19\nexec 19\ncall 19\nfork 19 20\nexec 20\n"
	 "read 20 " A "/.command.run\nfork 10 30\nexec 30\n? 19\n? 30",
	 "19: a (1) [aa/000000] (process tree)\n30: - (the workflow manager itself)\n"},
	{"without a manager in sight nothing above is a task's", NEXTFLOW,
	 "fork 1 19\nexec 19\nfork 19 20\nread 20 " A "/.command.sh\n? 19\n? 20",
	 "19: - (started tasks, belongs to none)\n20: a (1) [aa/000000] (work directory)\n"},
	{"by where it starts, and by what it leaves", NEXTFLOW,
	 "fork 1 20\nexec 20 dir=" A "\nfork 1 21\ncreate 21 " A
	 "/.exitcode\nfork 1 22\nexec 22 dir=" A "/sub\n? 20\n? 21\n? 22",
	 "20: a (1) [aa/000000] (work directory)\n21: a (1) [aa/000000] (work directory)\n"
	 "22: - (not related to a task)\n"},
	{"the same directory by another name, in a container", NEXTFLOW,
	 "fork 1 20\nread 20 /data/aa/000000000000000000000000000001/.command.sh\n? 20",
	 "20: a (1) [aa/000000] (work directory)\n"},
	{"names that only begin alike", NEXTFLOW,
	 "fork 1 20\nread 20 " A "0/.command.sh\nread 20 " A "/x.command.sh\nread 20 " A
	 "/.command.shx\nread 20 /w/aa/.command.sh\nread 20 " A "/d/.command.sh\nfails 20 " A
	 "/.command.sh\n? 20",
	 "20: - (not related to a task)\n"},
	{"files of two tasks at once: neither", NEXTFLOW,
	 "at 40\nfork 1 20\nread 20 " A "/.command.sh\nread 20 " B "/.command.sh\n? 20",
	 "20: - (touched the own files of several tasks)\n"},
	{"the script of a task that is over shows nothing", NEXTFLOW,
	 "at 20\nfork 1 19\nread 19 " A "/.command.sh\nexit 19\nat 80\nfork 1 20\nread 20 " A
	 "/.command.sh\nfork 1 21\nread 21 " A "/.command.sh\nread 21 " B
	 "/.command.sh\n? 20\n? 21",
	 "20: - (outside of its task's time)\n21: b (1) [bb/000000] (work directory)\n"},
	{"a task that looks into another's directory stays its own", NEXTFLOW,
	 "at 40\nfork 1 20\nread 20 " B "/.command.sh\nfork 20 21\nexec 21\nread 21 " A
	 "/.command.sh\nread 21 " B "/.command.sh\n? 21",
	 "21: b (1) [bb/000000] (process tree)\n"},
	{"a task in a task: the inner one", NEXTFLOW,
	 "at 40\nfork 1 20\nread 20 " A "/.command.sh\nfork 20 21\nexec 21\nread 21 " B
	 "/.command.sh\nfork 21 22\n? 20\n? 21\n? 22",
	 "20: a (1) [aa/000000] (work directory)\n21: b (1) [bb/000000] (work directory)\n"
	 "22: b (1) [bb/000000] (process tree)\n"},
	{"what is open before the exec is of what is executed", NEXTFLOW,
	 "fork 1 9\nfork 9 20\ncreate 20 /out\nexec 20 dir=" A "\n? 20 0.0015\n? 9",
	 "20: a (1) [aa/000000] (process tree)\n9: - (started tasks, belongs to none)\n"},
	{"a task that was submitted only, by its hash",
	 DAY "15:14:00.000 " SUBMIT "[aa/000000] Submitted process > a (1)\n",
	 "fork 1 20\nread 20 " A "/.command.run\n? 20", "20: a (1) [aa/000000] (work directory)\n"},

	/* ---- pids come again ---- */
	{"the same pid twice: by time", NEXTFLOW,
	 "fork 1 20\nread 20 " A "/.command.sh\nexit 20\nat 35\nfork 1 20\nread 20 " B
	 "/.command.sh\nat 50\nexit 20\nfork 1 20\n? 20 0.001\n? 20 40\n? 20 51",
	 "20: a (1) [aa/000000] (work directory)\n20: b (1) [bb/000000] (work directory)\n"
	 "20: - (not related to a task)\n"},
	{"the end was not seen, the next beginning was", NEXTFLOW,
	 "fork 1 20\nread 20 " A "/.command.sh\nat 35\nfork 1 20\ncall 20\n? 20 1\n? 20 36",
	 "20: a (1) [aa/000000] (work directory)\n20: - (not related to a task)\n"},
	{"a child's calls come before the word of its fork", NEXTFLOW,
	 "fork 1 20\nread 20 " A "/.command.sh\ncall 21\nfork 20 21\nexec 21\n? 21 0.002\n? 21 1",
	 "21: a (1) [aa/000000] (process tree)\n21: a (1) [aa/000000] (process tree)\n"},
	{"a leftover is the task's; what it starts after the end is not", NEXTFLOW,
	 "fork 1 20\nread 20 " A
	 "/.command.sh\nfork 20 21\nexit 20\nat 80\nfork 21 22\nexec 22\n? 21\n? 22",
	 "21: a (1) [aa/000000] (process tree)\n22: - (outside of its task's time)\n"},
	{"the same pid on another node", NEXTFLOW,
	 "fork 1 20\nread 20 " A "/.command.sh\nnode 1\nfork 1 20\ncall 20\n? 20\nnode 0\n? 20",
	 "20: - (not related to a task)\n20: a (1) [aa/000000] (work directory)\n"},
	{"nothing is known of it", NEXTFLOW, "call 20\n? 20\n? 21",
	 "20: - (began before the trace, nothing shows whose it is)\n"
	 "21: - (began before the trace, nothing shows whose it is)\n"},
	{"no tasks at all", NULL, "fork 1 20\ncall 20\n? 20",
	 "20: - (no log and no label names a task)\n"},

	/* ---- cgroups ---- */
	{"a container: all in its cgroup", NEXTFLOW,
	 "fork 1 5 70\nfork 5 20 70\nexec 20 cgroup=80\nread 20 " A
	 "/.command.sh\nfork 5 30 70\nexec 30 cgroup=80\ncall 30\nfork 5 40 70\ncall 40\n? 30\n? "
	 "40\n? 5",
	 "30: a (1) [aa/000000] (cgroup)\n40: - (not related to a task)\n"
	 "5: - (started tasks, belongs to none)\n"},
	{"two tasks in one cgroup: it shows nothing", NEXTFLOW,
	 "at 40\nfork 1 20 70\nread 20 " A "/.command.sh\nfork 1 30 70\nread 30 " B
	 "/.command.sh\nfork 1 40 70\ncall 40\n? 20\n? 30\n? 40",
	 "20: a (1) [aa/000000] (work directory)\n30: b (1) [bb/000000] (work directory)\n"
	 "40: - (not related to a task)\n"},
	{"the manager's cgroup is not its only task's", NEXTFLOW,
	 "fork 1 10 70\ncreate 10 " A "/.command.run\nfork 10 20\nread 20 " A
	 "/.command.run\nfork 1 40 70\ncall 40\n? 10\n? 40",
	 "10: - (the workflow manager itself)\n40: - (not related to a task)\n"},
	{"a session is nobody's, whatever runs in it", NEXTFLOW,
	 "cgroup 70 /user.slice/user-0.slice/session-3.scope\nfork 1 20 70\nread 20 " A
	 "/.command.sh\nfork 1 40 70\ncall 40\n? 40",
	 "40: - (not related to a task)\n"},
	{"cgroups in the container's are its, too", NEXTFLOW,
	 "cgroup 80 /docker/0123\ncgroup 81 /docker/0123/inner\ncgroup 82 /docker/01234\nfork 5 20 "
	 "70\n"
	 "exec 20 cgroup=80\nread 20 " A
	 "/.command.sh\nfork 5 30 81\ncall 30\nfork 5 31 82\n? 30\n? 31",
	 "30: a (1) [aa/000000] (cgroup)\n31: - (not related to a task)\n"},
	{"a pod's uid and a container's id in its path",
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"uid\": "
	 "\"12345678-1234-1234-1234-123456789abc\", \"labels\": {\"taskName\": \"t\"}}, "
	 "\"status\": "
	 "{\"containerStatuses\": [{\"containerID\": "
	 "\"containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}]}}\n",
	 "cgroup 5 /kubepods.slice/kubepods-burstable.slice/"
	 "kubepods-burstable-pod12345678_1234_1234_1234_123456789abc.slice/"
	 "cri-containerd-f0.scope\n"
	 "cgroup 6 /kubepods/burstable/pod12345678-1234-1234-1234-123456789abc\n"
	 "cgroup 7 /system.slice/containerd.service/"
	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
	 "cgroup 8 /kubepods/pod12345678-1234-1234-1234-123456789abd\n"
	 "fork 1 20 5\nfork 1 21 6\nfork 1 22 7\nfork 1 23 8\n? 20\n? 21\n? 22\n? 23",
	 "20: p (cgroup)\n21: p (cgroup)\n22: p (cgroup)\n23: - (not related to a task)\n"},
	{"a pod by its host name",
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p-1\", \"labels\": {\"taskName\": "
	 "\"t\"}}}\n",
	 "fork 1 20\nexec 20 HOSTNAME=p-1\nfork 1 21\nexec 21 HOSTNAME=p-12\n? 20\n? 21",
	 "20: p-1 (label)\n21: - (not related to a task)\n"},
	{"Airflow's pod by its annotations",
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"uid\": "
	 "\"12345678-1234-1234-1234-123456789abc\", \"annotations\": {\"dag_id\": \"d\", "
	 "\"task_id\": "
	 "\"t\", \"run_id\": \"r\"}}}\n",
	 "cgroup 6 /kubepods/pod12345678-1234-1234-1234-123456789abc/0\nfork 1 20 6\n? 20",
	 "20: t (cgroup)\n"},
	{"a task in a pod: the inner one",
	 "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"uid\": "
	 "\"12345678-1234-1234-1234-123456789abc\", \"labels\": {\"taskName\": \"t\"}}}\n",
	 "cgroup 6 /kubepods/pod12345678-1234-1234-1234-123456789abc/0\nfork 1 20 6\nexec 20\nfork "
	 "20 21\n"
	 "exec 21 LEAT_STEP=s\nfork 21 22\nexec 22 LEAT_STEP=s\n? 20\n? 21\n? 22",
	 "20: p (cgroup)\n21: s (label)\n22: s (process tree)\n"},

	/* ---- Slurm ---- */
	{"Slurm's job of a task of Nextflow, both kinds of paths",
	 DAY "15:14:00.000 [Task submitter] DEBUG nextflow.executor.GridTaskHandler - [SLURM] "
	     "submitted "
	     "process a (1) > jobId: 15; workDir: " A "\n",
	 "cgroup 5 /slurm/uid_1000/job_15/step_batch\ncgroup 6 "
	 "/system.slice/slurmstepd.scope/job_15/step_0/user/task_0\ncgroup 7 "
	 "/slurm/uid_1000/job_155\n"
	 "fork 1 20 5\nfork 1 21 6\nfork 1 22 7\nfork 1 23\nexec 23 SLURM_JOB_ID=15\n? 20\n? 21\n? "
	 "22\n? 23",
	 "20: a (1) [aa/000000] (cgroup)\n21: a (1) [aa/000000] (cgroup)\n22: 155 (cgroup)\n"
	 "23: a (1) [aa/000000] (label)\n"},
	{"Slurm's steps where nothing else is known", NULL,
	 "cgroup 5 /slurm/uid_1000/job_15/step_0\nfork 1 20 5\nfork 1 21\nexec 21 SLURM_JOB_ID=15 "
	 "SLURM_STEP_ID=1 SLURM_JOB_NAME=big\nfork 20 22 5\nexec 22 LEAT_STEP=s\nfork 1 23\n? "
	 "20\n? 21\n? 22\n? 23",
	 "20: 15.0 (cgroup)\n21: 15.1 (label)\n22: s (label)\n23: - (not related to a task)\n"},

	/* ---- labels ---- */
	{"leat's steps; a label that is inherited gives way to what is nearer", NEXTFLOW,
	 "fork 1 20\nexec 20 LEAT_APP_NAME=make.0 LEAT_TASK=make LEAT_WORKFLOW_NAME=f%20low\nfork "
	 "20 21\n"
	 "exec 21 LEAT_APP_NAME=make.0 LEAT_WORKFLOW_NAME=f%20low\nread 21 " A
	 "/.command.sh\nfork 21 22\nexec 22 LEAT_APP_NAME=make.0 LEAT_WORKFLOW_NAME=f%20low\n? "
	 "20\n? 21\n? 22",
	 "20: make.0 (label)\n21: a (1) [aa/000000] (work directory)\n"
	 "22: a (1) [aa/000000] (process tree)\n"},
	{"Nextflow's and Airflow's variables", NEXTFLOW,
	 "fork 1 20\nexec 20 NXF_TASK_WORKDIR=" A
	 "\nfork 1 21\nexec 21 AIRFLOW_CTX_DAG_ID=d AIRFLOW_CTX_TASK_ID=t AIRFLOW_CTX_DAG_RUN_ID=r "
	 "AIRFLOW_CTX_TRY_NUMBER=2\nfork 1 22\nexec 22 NXF_TASK_WORKDIR=/x LEAT_STEP= bad "
	 "LEAT_STEP=%zz\n? "
	 "20\n? 21\n? 22",
	 "20: a (1) [aa/000000] (label)\n21: t (try 2) (label)\n22: - (not related to a task)\n"},
	{"one program after the other in one process", NULL,
	 "fork 1 20\nexec 20 LEAT_STEP=a\ncall 20\nexec 20 LEAT_STEP=b\n? 20 0.0015\n? 20",
	 "20: a (label)\n20: b (label)\n"},

	/* ---- Airflow without containers ---- */
	{"pid and time",
	 AIRFLOW_TASK("t", "14:10", "14:20", "20") AIRFLOW_TASK("u", "14:30", "14:40", "20"),
	 "at 9\nfork 1 20\nexec 20\nfork 20 21\ncall 21\nat 20\nexit 20\nat 29\nfork 1 20\nat "
	 "41\nexit 20\n"
	 "at 60\nfork 1 20\n? 20 15\n? 21\n? 20 35\n? 20 61",
	 "20: t (pid and time)\n21: t (process tree)\n20: u (pid and time)\n"
	 "20: - (not related to a task)\n"},
	{"a pid of a container's numbering: a service had it long before",
	 AIRFLOW_TASK("t", "34:10", "34:20", "20"), "fork 1 20\nat 1300\ncall 20\n? 20",
	 "20: - (not related to a task)\n"},
	{"the host is known",
	 "{scheduler_job.py:1} INFO - Sending TaskInstanceKey(dag_id='d', task_id='t', run_id='r', "
	 "try_number=1, map_index=-1) to executor\nINFO - Running <TaskInstance: d.t r [queued]> "
	 "on host "
	 "node1.cluster\n" AIRFLOW_TASK("t", "14:10", "14:20", "20"),
	 "at 9\nfork 1 20\ncall 20\nnode 1\nfork 1 20\ncall 20\n? 20 15\nnode 0\n? 20 15",
	 "20: t (pid and time)\n20: - (not related to a task)\n"},
	{"the host is not known, and two have that pid", AIRFLOW_TASK("t", "14:10", "14:20", "20"),
	 "at 9\nfork 1 20\nnode 1\nfork 1 20\n? 20 15\nnode 0\n? 20 15",
	 "20: - (not related to a task)\n20: - (not related to a task)\n"},

	/* ---- outputs ---- */
	{"who writes a job's output is the job's, up to the manager",
	 "Building DAG of jobs...\n[Thu Sep 22 15:14:00 2022]\nrule r:\n    output: /d/a, /d/dir\n "
	 "   jobid: "
	 "1\n\n[Thu Sep 22 15:14:00 2022]\nrule r:\n    output: /d/b\n    jobid: 2\n\n",
	 "fork 1 10\nexec 10\nwrite 10 log\nwrite 10 /d/log\nfork 10 20\nexec 20\nfork 20 21\nexec "
	 "21\nfork 20 22\n"
	 "create 22 /d/a\nfork 10 30\nexec 30\ncreate 30 /d/b\nfork 10 40\nwrite 40 "
	 "/d/dir/x/y\nfork 10 50\n"
	 "read 50 /d/a\nwrite 50 /d/dirx\nfork 10 60\nrename 60 /tmp/b /d/b\n? 20\n? 21\n? 22\n? "
	 "30\n? 40\n? "
	 "50\n? 60\n? 10",
	 "20: r 1 (process tree)\n21: r 1 (process tree)\n22: r 1 (work directory)\n30: r 2 (work "
	 "directory)\n"
	 "40: r 1 (work directory)\n50: - (the workflow manager itself)\n60: r 2 (work directory)\n"
	 "10: - (the workflow manager itself)\n"},
	{"outputs in a container's mount",
	 "Building DAG of jobs...\n[Thu Sep 22 15:14:00 2022]\nrule r:\n    output: /data/run/a\n  "
	 "  jobid: 1\n\n",
	 "mount 9 / /overlay\nmount 9 /mnt /data/run\nmount 9 /mntx /nowhere\nmount 8 /mnt "
	 "/other\nfork 1 20\nexec "
	 "20 mounts=9\ncreate 20 /mnt/a\nfork 1 21\nexec 21 mounts=8\ncreate 21 /mnt/a\nfork 1 "
	 "22\nexec 22 "
	 "mounts=9\ncreate 22 /mntx/a\nfork 20 23\n? 20\n? 21\n? 22\n? 23",
	 "20: r 1 (work directory)\n21: - (not related to a task)\n22: - (not related to a task)\n"
	 "23: r 1 (process tree)\n"},

	/* ---- leat ---- */
	{"the event log: first processes",
	 "# leat event log "
	 "1\n0\t1000\tstep-start\tstep=0\tpid=20\toffset=1663859640000000000\tname=a\tto=f\n"
	 "1\t5000001000\tstep-end\tstep=0\n",
	 "fork 1 20\nexec 20\nfork 20 21\ncall 21\nat 20\nexit 20\nfork 1 20\n? 20 1\n? 21\n? 20 "
	 "21",
	 "20: a (pid and time)\n21: a (process tree)\n20: - (not related to a task)\n"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_associate_options options = {.zone_s = 0, .slurm = true};
		struct play p = {.m = leat_associate_new(&options)};
		char *text = NULL;
		size_t size;

		assert_non_null(p.m);
		if (cases[i].log)
			read_text(p.m, cases[i].log, strlen(cases[i].log), NULL, "log");
		assert_int_equal(0, leat_associate_host(p.m, 0, "node0"));
		assert_int_equal(0, leat_associate_host(p.m, 1, "node1"));
		p.out = open_memstream(&text, &size);
		assert_non_null(p.out);
		play(&p, cases[i].script, false);
		assert_int_equal(0, leat_associate_resolve(p.m));
		play(&p, cases[i].script, true);
		fclose(p.out);
		if (strcmp(text, cases[i].answers) != 0)
			fail_msg("%s:\n%s", cases[i].name, text);
		free(text);
		leat_associate_free(p.m);
	}
}

/* ---- clocks ---- */

/* `n` tasks of a log, ten seconds each, that the trace sees `ahead_ns` earlier than the log. */
static struct leat_associate_map *clocks(size_t n, int64_t ahead_ns, int zone_s, struct said *said)
{
	struct leat_associate_options options = {
		.zone_s = zone_s, .report = said_take, .ctx = said};
	struct play p = {.m = leat_associate_new(&options)};
	char *log = NULL;
	size_t size;
	FILE *out = open_memstream(&log, &size);

	assert_non_null(p.m);
	assert_non_null(out);
	for (size_t i = 0; i < n; i++) {
		time_t began = (time_t)(BEGIN_NS / MAP_SECOND + 20 * (int64_t)i);
		char from[32], to[32];

		strftime(from, sizeof(from), "%b-%d %H:%M:%S", gmtime(&began));
		began += 10;
		strftime(to, sizeof(to), "%b-%d %H:%M:%S", gmtime(&began));
		fprintf(out, "%s.000 " SUBMIT "[%02zx/000000] Submitted process > t%zu\n", from, i,
			i);
		fprintf(out,
			"%s.000 " DONE "name: t%zu; status: COMPLETED; exit: 0; error: -; workDir: "
			"/w/%02zx/000000000000000000000000000000]\n",
			to, i, i);
	}
	fclose(out);
	assert_int_equal(0, read_text(p.m, log, size, NULL, "log"));
	free(log);
	for (size_t i = 0; i < n; i++) {
		char path[80];

		p.now_ns = BEGIN_NS + 20 * (int64_t)i * MAP_SECOND - ahead_ns + MAP_SECOND / 2;
		snprintf(path, sizeof(path),
			 "%zu /w/%02zx/000000000000000000000000000000/.command.sh", 100 + i, i);
		play_process(&p, LEAT_TRACE_FORK, 1, (int32_t)(100 + i), 0);
		play_take(&p);
		play_call(&p, "read", path);
		p.now_ns += 9 * MAP_SECOND;
		play_process(&p, LEAT_TRACE_EXIT, 0, (int32_t)(100 + i), 0);
		play_take(&p);
	}
	assert_int_equal(0, leat_associate_resolve(p.m));
	return p.m;
}

static void test_clocks(void **state)
{
	static const struct {
		int64_t ahead_ns; /* of the log, by its own zone */
		int zone_s;
		int64_t began_ns; /* of the first task, as is answered */
		const char *said;
	} table[] = {
		{0, INT_MIN, BEGIN_NS, ""},
		{0, 0, BEGIN_NS, ""},
		/* Zones are found out, with halves and quarters of hours, and said. */
		{7200 * MAP_SECOND, INT_MIN, BEGIN_NS - 7200 * MAP_SECOND, "zone UTC+02:00"},
		{-18000 * MAP_SECOND, INT_MIN, BEGIN_NS + 18000 * MAP_SECOND, "zone UTC-05:00"},
		{20700 * MAP_SECOND, INT_MIN, BEGIN_NS - 20700 * MAP_SECOND, "zone UTC+05:45"},
		{7200 * MAP_SECOND, 7200, BEGIN_NS - 7200 * MAP_SECOND, ""},
		/* Clocks that are off are said. */
		{40 * MAP_SECOND, INT_MIN, BEGIN_NS, "ahead of"},
		{-100 * MAP_SECOND, 0, BEGIN_NS, "behind"},
		{3640 * MAP_SECOND, INT_MIN, BEGIN_NS - 3600 * MAP_SECOND, "ahead of"},
		{2 * MAP_SECOND, INT_MIN, BEGIN_NS, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct said said = {.text = ""};
		struct leat_associate_map *m =
			clocks(20, table[i].ahead_ns, table[i].zone_s, &said);

		if (leat_associate_task(m, 0)->began_ns != table[i].began_ns ||
		    (*table[i].said ? !strstr(said.text, table[i].said) : *said.text))
			fail_msg("%zu: %" PRId64 " %s", i,
				 (leat_associate_task(m, 0)->began_ns - BEGIN_NS) / MAP_SECOND,
				 said.text);
		for (size_t k = 0; k < leat_associate_images(m); k++) {
			struct leat_associate_answer a;

			leat_associate_answer(m, k, &a);
			if (k) /* the first is the parent's */
				assert_non_null(a.task);
		}
		leat_associate_free(m);
	}
}

/* ---- any records at all ---- */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void random_record(struct play *p, uint32_t *seed)
{
	static const char *const paths[] = {A "/.command.sh",
					    B "/.command.sh",
					    A "/.command.run",
					    B "/.exitcode",
					    "/x",
					    "relative",
					    "/.command.sh",
					    A};
	char words[128];

	p->now_ns += next(seed) % 3 * MAP_SECOND - MAP_SECOND;
	p->record.node = next(seed) % 2;
	switch (next(seed) % 5) {
	case 0:
		play_process(p, LEAT_TRACE_FORK, (int32_t)(next(seed) % 8),
			     (int32_t)(next(seed) % 8), next(seed) % 4);
		play_take(p);
		break;
	case 1:
		snprintf(words, sizeof(words), "%u cgroup=%u%s", next(seed) % 8, next(seed) % 4,
			 next(seed) % 2 ? " LEAT_STEP=s" : " dir=" A);
		play_exec(p, words);
		break;
	case 2:
		play_process(p, LEAT_TRACE_EXIT, 0, (int32_t)(next(seed) % 8), next(seed) % 4);
		play_take(p);
		break;
	default:
		snprintf(words, sizeof(words), "%u %s", next(seed) % 8,
			 paths[next(seed) % (sizeof(paths) / sizeof(*paths))]);
		play_call(p, next(seed) % 2 ? "read" : "create", words);
	}
}

/* Each image has a task or a reason, never both; a task's answer has evidence. */
static void test_random(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		uint32_t seed = run;
		struct leat_associate_options options = {.zone_s = 0};
		struct play p = {.m = leat_associate_new(&options), .now_ns = BEGIN_NS};

		assert_non_null(p.m);
		read_text(p.m, NEXTFLOW, strlen(NEXTFLOW), NULL, "log");
		for (int i = 0; i < 200; i++)
			random_record(&p, &seed);
		assert_int_equal(0, leat_associate_resolve(p.m));
		for (size_t k = 0; k < leat_associate_images(p.m); k++) {
			struct leat_associate_answer a;

			leat_associate_answer(p.m, k, &a);
			assert_int_equal(!a.task, a.evidence == LEAT_ASSOCIATE_BY_NOTHING);
			assert_int_equal(!a.task, a.reason != LEAT_ASSOCIATE_FOUND);
		}
		leat_associate_free(p.m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_random),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
