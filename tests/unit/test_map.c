/* Whose a process is: small traces, as scripts, against logs.
 *
 * A script has a line for each record, a millisecond after the one before:
 *	at SECONDS			of what follows, since the beginning
 *	node N				of what follows
 *	cgroup ID PATH | mount SPACE AT FROM
 *	fork PARENT PID [CGROUP] | exit PID
 *	exec PID [dir=D] [cgroup=C] [mounts=S] [LABEL=VALUE...]
 *	read PID PATH | write PID PATH | create PID PATH | fails PID PATH | rename PID FROM TO
 *	call PID			on no name
 *	? PID [SECONDS]			whose is it? to be asked at the end
 */
#include "map_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

/* 2022-09-22 15:14:00 */
#define BEGIN_NS (INT64_C(1663859640) * MAP_SECOND)
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

#define AIRFLOW_TASK(TASK, FROM, TO, PID)                                                          \
	"{scheduler_job.py:1} INFO - TaskInstance Finished: dag_id=d, task_id=" TASK               \
	", run_id=r, map_index=-1, run_start_date=2022-09-22 15:" FROM                             \
	"+00:00, run_end_date=2022-09-22 15:" TO "+00:00, state=success, try_number=1, pid=" PID   \
	"\n"

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

struct play {
	struct leat_map *m;
	struct leat_trace_record record;
	int64_t now_ns;
	FILE *out;
};

static void take(struct play *p)
{
	assert_int_equal(0, leat_map_take(p->m, &p->record, NULL));
	p->now_ns += 1000000;
}

static void play_process(struct play *p, enum leat_trace_change change, int32_t ppid, int32_t pid,
			 uint64_t cgroup)
{
	p->record.kind = LEAT_TRACE_PROCESS;
	p->record.process = (struct leat_trace_process){
		.time_ns = p->now_ns, .change = change, .ppid = ppid, .pid = pid, .cgroup = cgroup};
}

static void play_exec(struct play *p, char *words)
{
	char labels[512] = "", *word = strsep(&words, " ");
	size_t n = 0;

	play_process(p, LEAT_TRACE_EXEC, 0, atoi(word), 0);
	while ((word = strsep(&words, " "))) {
		if (!strncmp(word, "dir=", 4))
			p->record.process.dir = word + 4;
		else if (!strncmp(word, "cgroup=", 7))
			p->record.process.cgroup = strtoull(word + 7, NULL, 10);
		else if (!strncmp(word, "mounts=", 7))
			p->record.process.mounts = strtoull(word + 7, NULL, 10);
		else
			n += (size_t)snprintf(labels + n, sizeof(labels) - n, "%s%s", n ? " " : "",
					      word);
	}
	p->record.process.labels = n ? labels : NULL;
	p->record.process.program = "/bin/p";
	take(p);
}

static void play_call(struct play *p, const char *verb, char *words)
{
	char *pid = strsep(&words, " "), *path = strsep(&words, " ");
	bool renames = !strcmp(verb, "rename"), creates = !strcmp(verb, "create");

	p->record.kind = LEAT_TRACE_CALL;
	p->record.call =
		(struct leat_trace_call){.start_ns = p->now_ns,
					 .end_ns = p->now_ns + 1000,
					 .pid = atoi(pid),
					 .type = !path     ? LEAT_TRACE_READ
						 : renames ? LEAT_TRACE_RENAME
						 : creates ? LEAT_TRACE_CREATE
							   : LEAT_TRACE_OPEN,
					 .result = strcmp(verb, "fails") ? 0 : -2,
					 .flags = strcmp(verb, "write") ? O_RDONLY : O_WRONLY,
					 .path = path,
					 .to = words};
	take(p);
}

static void play_line(struct play *p, char *line)
{
	char *verb = strsep(&line, " "), *a, *b;

	if (!strcmp(verb, "at")) {
		p->now_ns = BEGIN_NS + (int64_t)(atof(line) * 1e9);
	} else if (!strcmp(verb, "node")) {
		p->record.node = (unsigned)atoi(line);
	} else if (!strcmp(verb, "cgroup")) {
		a = strsep(&line, " ");
		p->record.kind = LEAT_TRACE_CGROUP;
		p->record.cgroup = (struct leat_trace_cgroup){strtoull(a, NULL, 10), line};
		take(p);
	} else if (!strcmp(verb, "mount")) {
		a = strsep(&line, " ");
		b = strsep(&line, " ");
		p->record.kind = LEAT_TRACE_MOUNT;
		p->record.mount = (struct leat_trace_mount){strtoull(a, NULL, 10), b, line, "ext4"};
		take(p);
	} else if (!strcmp(verb, "fork")) {
		a = strsep(&line, " ");
		b = strsep(&line, " ");
		play_process(p, LEAT_TRACE_FORK, atoi(a), atoi(b),
			     line ? strtoull(line, NULL, 10) : 0);
		take(p);
	} else if (!strcmp(verb, "exit")) {
		play_process(p, LEAT_TRACE_EXIT, 0, atoi(line), 0);
		take(p);
	} else if (!strcmp(verb, "exec")) {
		play_exec(p, line);
	} else {
		play_call(p, verb, line);
	}
}

static void ask(struct play *p, char *line)
{
	char *pid = strsep(&line, " ");
	int64_t at_ns = line ? BEGIN_NS + (int64_t)(atof(line) * 1e9) : p->now_ns;
	struct leat_map_answer a;

	leat_map_find(p->m, p->record.node, atoi(pid), at_ns, &a);
	fprintf(p->out, "%s: %s (%s)\n", pid, a.task ? a.task->physical : "-",
		a.task ? leat_map_evidence_name(a.evidence) : leat_map_reason_name(a.reason));
}

/* The questions come when all records have been taken. */
static void play(struct play *p, const char *script, bool questions)
{
	char *copy = strdup(script), *rest = copy, *line;

	assert_non_null(copy);
	p->record.node = 0;
	p->now_ns = questions ? p->now_ns : BEGIN_NS;
	while ((line = strsep(&rest, "\n"))) {
		if (*line == '?' && questions)
			ask(p, line + 2);
		else if (!strncmp(line, "node ", 5))
			p->record.node = (unsigned)atoi(line + 5);
		else if (*line != '?' && !questions)
			play_line(p, line);
	}
	free(copy);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_map_options options = {.zone_s = 0, .slurm = true};
		struct play p = {.m = leat_map_new(&options)};
		char *text = NULL;
		size_t size;

		assert_non_null(p.m);
		if (cases[i].log)
			read_text(p.m, cases[i].log, strlen(cases[i].log), LEAT_MAP_ANY, "log");
		assert_int_equal(0, leat_map_host(p.m, 0, "node0"));
		assert_int_equal(0, leat_map_host(p.m, 1, "node1"));
		p.out = open_memstream(&text, &size);
		assert_non_null(p.out);
		play(&p, cases[i].script, false);
		assert_int_equal(0, leat_map_settle(p.m));
		play(&p, cases[i].script, true);
		fclose(p.out);
		if (strcmp(text, cases[i].answers) != 0)
			fail_msg("%s:\n%s", cases[i].name, text);
		free(text);
		leat_map_free(p.m);
	}
}

/* ---- clocks ---- */

/* `n` tasks of a log, ten seconds each, that the trace sees `ahead_ns` earlier than the log. */
static struct leat_map *clocks(size_t n, int64_t ahead_ns, int zone_s, struct said *said)
{
	struct leat_map_options options = {.zone_s = zone_s, .say = said_take, .ctx = said};
	struct play p = {.m = leat_map_new(&options)};
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
	assert_int_equal(0, read_text(p.m, log, size, LEAT_MAP_ANY, "log"));
	free(log);
	for (size_t i = 0; i < n; i++) {
		char path[80];

		p.now_ns = BEGIN_NS + 20 * (int64_t)i * MAP_SECOND - ahead_ns + MAP_SECOND / 2;
		snprintf(path, sizeof(path),
			 "%zu /w/%02zx/000000000000000000000000000000/.command.sh", 100 + i, i);
		play_process(&p, LEAT_TRACE_FORK, 1, (int32_t)(100 + i), 0);
		take(&p);
		play_call(&p, "read", path);
		p.now_ns += 9 * MAP_SECOND;
		play_process(&p, LEAT_TRACE_EXIT, 0, (int32_t)(100 + i), 0);
		take(&p);
	}
	assert_int_equal(0, leat_map_settle(p.m));
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
		/* Zones are found out, with halves and quarters of hours. */
		{7200 * MAP_SECOND, INT_MIN, BEGIN_NS - 7200 * MAP_SECOND, ""},
		{-18000 * MAP_SECOND, INT_MIN, BEGIN_NS + 18000 * MAP_SECOND, ""},
		{20700 * MAP_SECOND, INT_MIN, BEGIN_NS - 20700 * MAP_SECOND, ""},
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
		struct leat_map *m = clocks(20, table[i].ahead_ns, table[i].zone_s, &said);

		if (leat_map_task(m, 0)->began_ns != table[i].began_ns ||
		    (*table[i].said ? !strstr(said.text, table[i].said) : *said.text))
			fail_msg("%zu: %" PRId64 " %s", i,
				 (leat_map_task(m, 0)->began_ns - BEGIN_NS) / MAP_SECOND,
				 said.text);
		for (size_t k = 0; k < leat_map_lives(m); k++) {
			struct leat_map_answer a;

			leat_map_answer(m, k, &a);
			if (k) /* the first is the parent's */
				assert_non_null(a.task);
		}
		leat_map_free(m);
	}
}

/* ---- which log is the trace's ---- */

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

static void read_run(struct leat_map *m, const struct run *r, const char *name)
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
	assert_int_equal(0, read_text(m, log, size, LEAT_MAP_ANY, name));
	free(log);
}

static void play_run(struct play *p, const struct run *r)
{
	for (int k = 0; k < JOBS; k++) {
		char words[32];
		int32_t pid = (int32_t)(100 + leat_map_lives(p->m));

		p->now_ns = BEGIN_NS + job_begin_s(r, k) * MAP_SECOND + MAP_SECOND / 2;
		play_process(p, LEAT_TRACE_FORK, 1, pid, 0);
		take(p);
		snprintf(words, sizeof(words), "%d /d/%d", pid, k);
		play_call(p, "create", words);
		p->now_ns += 9 * MAP_SECOND;
		play_process(p, LEAT_TRACE_EXIT, 0, pid, 0);
		take(p);
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
	{"a zone is within 14 h", INT_MIN, 1, {{0, 13 * HOUR, 0, false}}, {{0}}, "a", ""},
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
static char *whose(const struct leat_map *m, char *out, size_t runs)
{
	for (size_t i = 0; i < runs; i++) {
		struct leat_map_answer a;

		/* The first life is the parent's. */
		for (size_t k = 0; k < JOBS; k++) {
			char c;

			leat_map_answer(m, 1 + i * JOBS + k, &a);
			c = a.task ? a.task->workflow[0] : '-';
			out[i] = !k || out[i] == c ? c : '?';
		}
	}
	out[runs] = '\0';
	return out;
}

static bool says(const char *said, const char *wanted)
{
	char *copy = strdup(wanted), *rest = copy, *part;
	bool all = !*wanted == !*said;

	while ((part = strsep(&rest, "|"))) {
		said = said ? strstr(said, part) : NULL;
		all &= said != NULL;
	}
	free(copy);
	return all;
}

static void test_rivals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rivals) / sizeof(*rivals); i++) {
		struct said said = {.text = ""};
		struct leat_map_options options = {
			.zone_s = rivals[i].zone_s, .say = said_take, .ctx = &said};
		struct play p = {.m = leat_map_new(&options)};
		char found[4], name[] = "a";
		size_t runs = strlen(rivals[i].whose);

		for (size_t k = 0; k < rivals[i].n_logs; k++, name[0]++)
			read_run(p.m, &rivals[i].logs[k], name);
		assert_int_equal(0, leat_map_host(p.m, 0, "node0"));
		for (size_t k = 0; k < runs; k++)
			play_run(&p, &rivals[i].trace[k]);
		/* What is said of reading is not asked for here. */
		memset(&said, 0, sizeof(said));
		assert_int_equal(0, leat_map_settle(p.m));
		whose(p.m, found, runs);
		if (strcmp(found, rivals[i].whose) || !says(said.text, rivals[i].said))
			fail_msg("%s: %s\n%s", rivals[i].name, found, said.text);
		assert_int_equal(leat_map_is_believed(p.m),
				 strcspn(found, "abc") < runs || strstr(said.text, "nothing"));
		leat_map_free(p.m);
	}
}

/* Jobs before and after the clocks were put back, on 2022-10-30: the log has local times. */
static void test_summer_time(void **state)
{
	const struct run run = {.at_s = 37 * DAY_S + 26160, .uneven_s = HOUR};
	struct said said = {.text = ""};
	struct leat_map_options options = {.zone_s = INT_MIN, .say = said_take, .ctx = &said};
	char found[2];

	(void)state;
	for (int with = 0; with < 2; with++) {
		struct play p = {.m = leat_map_new(&options)};

		setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
		tzset();
		read_run(p.m, &run, "a");
		/* Seen from elsewhere half of them can be explained. */
		if (!with)
			setenv("TZ", "UTC", 1);
		tzset();
		memset(&said, 0, sizeof(said));
		play_run(&p, &run);
		assert_int_equal(0, leat_map_settle(p.m));
		assert_string_equal(whose(p.m, found, 1), with ? "a" : "?");
		assert_string_equal(said.text, "");
		leat_map_free(p.m);
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
		struct leat_map_options options = {.say = said_take, .ctx = &said};
		struct play p = {.m = leat_map_new(&options)};
		char name[] = "a";

		for (size_t k = 0; k < 3 && table[i].logs[k]; k++, name[0]++)
			read_text(p.m, table[i].logs[k], strlen(table[i].logs[k]), LEAT_MAP_ANY,
				  name);
		play(&p,
		     "fork 1 20\nexec 20 LEAT_APP_NAME=s LEAT_WORKFLOW_NAME=f\nat 4\nexit 20\nat "
		     "100\nfork 1 30\nexec 30 LEAT_APP_NAME=s LEAT_WORKFLOW_NAME=f\nat 104\nexit "
		     "30",
		     false);
		assert_int_equal(0, leat_map_settle(p.m));
		for (int k = 0; k < 2; k++) {
			struct leat_map_answer a;

			leat_map_find(p.m, 0, k ? 30 : 20, BEGIN_NS + (k ? 102 : 2) * MAP_SECOND,
				      &a);
			assert_non_null(a.task);
			assert_string_equal(a.task->physical, "s");
			assert_string_equal(a.task->status, table[i].status[k]);
		}
		assert_true(says(said.text, table[i].said));
		leat_map_free(p.m);
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
		struct leat_map_options options = {
			.zone_s = INT_MIN, .say = said_take, .ctx = &said};
		struct play p = {.m = leat_map_new(&options)};
		struct leat_map_answer a;
		char text[80];

		read_text(p.m, table[i].log, strlen(table[i].log), LEAT_MAP_ANY, "a");
		assert_int_equal(0, leat_map_host(p.m, 0, "node0"));
		play(&p, table[i].script, false);
		assert_int_equal(0, leat_map_settle(p.m));
		leat_map_find(p.m, 0, 20, p.now_ns, &a);
		snprintf(text, sizeof(text), "%s %s", a.task ? a.task->physical : "-",
			 a.task ? leat_map_evidence_name(a.evidence)
				: leat_map_reason_name(a.reason));
		if (strcmp(text, table[i].answer) || !says(said.text, table[i].said))
			fail_msg("%zu: %s\n%s", i, text, said.text);
		leat_map_free(p.m);
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
		take(p);
		break;
	case 1:
		snprintf(words, sizeof(words), "%u cgroup=%u%s", next(seed) % 8, next(seed) % 4,
			 next(seed) % 2 ? " LEAT_STEP=s" : " dir=" A);
		play_exec(p, words);
		break;
	case 2:
		play_process(p, LEAT_TRACE_EXIT, 0, (int32_t)(next(seed) % 8), next(seed) % 4);
		take(p);
		break;
	default:
		snprintf(words, sizeof(words), "%u %s", next(seed) % 8,
			 paths[next(seed) % (sizeof(paths) / sizeof(*paths))]);
		play_call(p, next(seed) % 2 ? "read" : "create", words);
	}
}

/* Each life has a task or a reason, never both; a task's answer has evidence. */
static void test_random(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		uint32_t seed = run;
		struct leat_map_options options = {.zone_s = 0};
		struct play p = {.m = leat_map_new(&options), .now_ns = BEGIN_NS};

		assert_non_null(p.m);
		read_text(p.m, NEXTFLOW, strlen(NEXTFLOW), LEAT_MAP_ANY, "log");
		for (int i = 0; i < 200; i++)
			random_record(&p, &seed);
		assert_int_equal(0, leat_map_settle(p.m));
		for (size_t k = 0; k < leat_map_lives(p.m); k++) {
			struct leat_map_answer a;

			leat_map_answer(p.m, k, &a);
			assert_int_equal(!a.task, a.evidence == LEAT_MAP_BY_NOTHING);
			assert_int_equal(!a.task, a.reason != LEAT_MAP_FOUND);
		}
		leat_map_free(p.m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),        cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_rivals),       cmocka_unit_test(test_summer_time),
		cmocka_unit_test(test_runs_of_leat), cmocka_unit_test(test_other_managers),
		cmocka_unit_test(test_random),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
