#!/usr/bin/env bats
# leat map: real programs, traced, and the tasks they were of.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export TZ=UTC
}

# traced NAME COMMAND...: by the tracer that needs nothing.
traced() {
	# who is traced so cannot look for leaks, which takes ptrace
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 leat trace --tracer ptrace -o "$1.csv" -- "${@:2}" >"$1.out" 2>"$1.err" || {
		cat "$1.out" "$1.err"
		grep -q 'ptrace' "$1.err" && skip "no ptrace here: $(tail -n 1 "$1.err")"
		return 1
	}
}

# nextflow: a manager that does with directories, scripts and its log what Nextflow does.
nextflow() {
	cat >nextflow.py <<-'END'
		import hashlib, os, subprocess, sys, time
		log = open(".nextflow.log", "w")
		def say(thread, logger, text):
		    now = time.time()
		    stamp = time.strftime("%b-%d %H:%M:%S", time.gmtime(now))
		    log.write(f"{stamp}.{int(now * 1000) % 1000:03} [{thread}] {logger} - {text}\n")
		    log.flush()
		say("main", "INFO  nextflow.cli.CmdRun", "N E X T F L O W  ~  version 23.10.1")
		say("main", "DEBUG nextflow.Session", "Run name: happy_wing")
		number = 0
		def submit(name, script):
		    global number
		    number += 1
		    digest = hashlib.md5(name.encode()).hexdigest()
		    d = os.path.abspath(f"work/{digest[:2]}/{digest[2:]}")
		    os.makedirs(d)
		    with open(d + "/.command.sh", "w") as f:
		        f.write("#!/bin/bash -ue\n" + script)
		    with open(d + "/.command.run", "w") as f:
		        f.write(f"""#!/bin/bash
		cd {d}
		on_exit() {{ s=$?; printf $s >{d}/.exitcode; exit $s; }}
		trap on_exit EXIT
		touch .command.begin
		/bin/bash -ue {d}/.command.sh > >(tee .command.out) 2> >(tee .command.err >&2)
		wait
		""")
		    p = subprocess.Popen(["/bin/bash", "-c", f"/bin/bash -ue {d}/.command.run &>{d}/.command.log"], cwd=d)
		    say("Task submitter", "INFO  nextflow.Session", f"[{digest[:2]}/{digest[2:8]}] Submitted process > {name}")
		    return p, name, number, d
		def wait(tasks):
		    for p, name, number, d in tasks:
		        p.wait()
		        status = open(d + "/.exitcode").read()
		        say("Task monitor", "DEBUG n.processor.TaskPollingMonitor", "Task completed > TaskHandler["
		            f"id: {number}; name: {name}; status: COMPLETED; exit: {status}; error: -; workDir: {d}]")
		made = [submit(f"make ({i})", f"seq {i}0000 >own.{i}\nsort -n own.{i} | tee out.{i} >/dev/null\n") for i in range(1, 5)]
		wait(made)
		used = [submit(f"A:use (x ({i}))",
		               f"cat {made[i - 1][3]}/out.{i} {made[i % 4][3]}/.command.sh >own.u{i}\n(cat own.u{i} | wc -l >own.n{i})\n")
		        for i in range(1, 5)]
		wait(used)
	END
}

@test "tasks of Nextflow, several at once: every call on a file of a task's own is its" {
	need python3
	nextflow
	traced nf python3 nextflow.py
	leat map -o table.csv nf.csv .nextflow.log >summary
	cat summary
	[ "$(grep -c 'work directory, process tree' summary)" = 8 ]
	run ! grep PARTIAL summary
	python3 - <<-'END'
		import csv, re
		owner = {}
		for line in open(".nextflow.log"):
		    m = re.search(r"name: (.*); status: .*workDir: (.*)\]", line)
		    if m:
		        owner[m.group(2)] = m.group(1)
		assert len(owner) == 8, owner
		handles, rows, manager = {}, 0, 0
		for r in csv.DictReader(open("table.csv")):
		    if r["path"]:
		        handles[r["handle"]] = r["path"]
		    path = r["path"] or handles.get(r["handle"], "")
		    d, name = path.rpartition("/")[::2]
		    if name.startswith(("own.", ".exitcode", ".command.out")) and d in owner and r["logical_task"]:
		        assert r["physical_task"].startswith(owner[d] + " ["), r
		        assert r["logical_task"] == owner[d].split(" (")[0], r
		        rows += name.startswith("own.")
		    if name.startswith("own."):
		        assert r["logical_task"], r
		    # Its log, and the scripts that it writes, are the manager's.
		    if name == ".nextflow.log" or (name == ".command.run" and r["type"] == "C"):
		        assert r["reason"] == "the workflow manager itself", r
		        manager += 1
		print(rows, manager)
		assert rows > 100 and manager > 10
	END
	# A task that reads another's script stays itself.
	run ! grep 'several tasks' summary
}

@test "the log's zone and clock are found out" {
	need python3
	nextflow
	traced nf python3 nextflow.py
	leat map nf.csv .nextflow.log >here
	# The same run, seen from three and a half hours further east.
	python3 - >east.log <<-'END'
		from datetime import datetime, timedelta
		for line in open(".nextflow.log"):
		    day, time, rest = line.split(" ", 2)
		    at = datetime.strptime(f"2024-{day} {time}", "%Y-%b-%d %H:%M:%S.%f") + timedelta(hours=3.5)
		    print(at.strftime("%b-%d %H:%M:%S.") + f"{at.microsecond // 1000:03} {rest}", end="")
	END
	leat map nf.csv east.log >there 2>said
	diff here there
	grep -q 'east.log: its times agree with the trace only in the zone UTC+03:30, which is not this machine.s: if it is the log of another run' said
	run -0 leat map --zone +03:30 nf.csv east.log
	diff here - <<<"$output"
	# A wrong zone is said to be one.
	run -1 --separate-stderr leat map --zone UTC nf.csv east.log
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *'east.log: refused, it is the log of another day or run: its clock would have to be 3 h 30 min ahead of that of '*', by the zone that is given; expected is at most 120.000 s (--slack'* ]]
	# shellcheck disable=SC2154
	[[ $stderr == *'leat: none of the logs that were given is of the time and run of the traces' ]]
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "logs of other days, years and runs are refused by name, wherever they stand" {
	need python3
	nextflow
	traced nf python3 nextflow.py
	leat map nf.csv .nextflow.log >right
	# shifted DAYS FILE: the same run, so many days later
	shifted() {
		python3 - "$1" >"$2" <<-'END'
			import sys
			from datetime import datetime, timedelta
			year = datetime.now().year
			for line in open(".nextflow.log"):
			    day, time, rest = line.split(" ", 2)
			    at = datetime.strptime(f"{year}-{day} {time}", "%Y-%b-%d %H:%M:%S.%f") + timedelta(days=int(sys.argv[1]))
			    print(at.strftime("%b-%d %H:%M:%S.") + f"{at.microsecond // 1000:03} {rest}", end="")
		END
	}
	shifted -3 before.log
	shifted 2 after.log
	for logs in 'before.log .nextflow.log after.log' '.nextflow.log after.log before.log'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr leat map nf.csv $logs
		echo "$stderr"
		diff right - <<<"$output"
		[[ $stderr == *'before.log: refused, it is the log of another day or run: its clock would have to be 3 days behind that of '* ]]
		[[ $stderr == *'after.log: refused, '*' 2 days ahead of '* ]]
	done
	run -1 --separate-stderr leat map --json nf.csv before.log
	jq -e '.refused_logs == ["before.log"] and .tasks == []' <<<"$output"
	run -1 --separate-stderr leat map nf.csv before.log
	[[ $output != *'work directory'* ]]
	# Nextflow's log has no year: the file was last written in an earlier one.
	cp .nextflow.log year.log
	touch -d '2 years ago' year.log
	run -1 --separate-stderr leat map nf.csv year.log
	echo "$stderr"
	[[ $stderr == *'year.log: refused, '*' days behind that of '* ]]
	# It tells of nothing that was seen.
	sed 's,/work/,/elsewhere/,; s,\[[0-9a-f][0-9a-f]/[0-9a-f]*\],[00/000000],; s,/[0-9a-f]\{2\}/[0-9a-f]\{30\},/00/000000000000000000000000000000,' before.log >other.log
	run -1 --separate-stderr leat map nf.csv other.log
	echo "$stderr"
	[[ $stderr == *'other.log: not used, it is of another time: its tasks ran from '* ]]
}

@test "rules of Snakemake, by their outputs" {
	need snakemake
	cat >Snakefile <<-'END'
		S = ["a", "b", "c"]
		rule all:
		    input: "merged.txt"
		rule count:
		    input: "{s}.txt"
		    output: "out/{s}.n"
		    log: "logs/{s}.log"
		    shell: "cat {input} | wc -l >{output} 2>{log}"
		rule merge:
		    input: expand("out/{s}.n", s=S)
		    output: "merged.txt"
		    shell: "sort -n {input} >{output}"
	END
	for s in a b c; do seq 1000 >$s.txt; done
	HOME=$PWD traced smk snakemake --cores 2 --nocolor
	leat map -o table.csv smk.csv .snakemake/log >summary
	cat summary
	for task in 'count . (s=a)' 'count . (s=b)' 'count . (s=c)' 'merge .'; do
		grep -q "^$task .*work directory, process tree" summary
	done
	/usr/bin/python3 - <<-'END'
		import csv, os
		owner = {}
		for r in csv.DictReader(open("table.csv")):
		    name = os.path.relpath(r["path"]) if r["path"] else ""
		    if name in ("a.txt", "b.txt", "c.txt") and r["type"] == "O" and r["physical_task"]:
		        assert "s=" + name[0] in r["physical_task"], r
		        owner[name] = r["logical_task"]
		    # Snakemake's own bookkeeping is nobody's.
		    if name.startswith(".snakemake/log"):
		        assert not r["physical_task"], r
		assert set(owner.values()) == {"count"} and len(owner) == 3, owner
	END
}

@test "steps of leat, by their environment and by the event log" {
	cat >flow.yaml <<-'END'
		name: flow
		tasks:
		  - func: make
		    taskCount: 2
		    exec: bash -c 'seq 1000 >x'
		    outports: [{filename: x}]
		  - func: use
		    taskCount: 2
		    exec: bash -c 'sort -n x | tail -n 1 >y'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
	traced flow leat run --log events flow.yaml
	leat map flow.csv >summary
	cat summary
	for step in make.0 make.1 use.0 use.1; do
		grep -q "^$step .* label, process tree$" summary
	done
	# Without environments the log tells the same.
	sed 's/"[^"]*LEAT_[^"]*"$//' flow.pids.csv >bare.pids.csv
	cp flow.csv bare.csv
	run ! grep LEAT_APP_NAME bare.pids.csv
	mkdir logs
	mv events logs/
	leat map --leat logs bare.csv >by.log
	cat by.log
	for step in make.0 make.1 use.0 use.1; do
		grep -q "^$step .* pid and time, process tree$" by.log
		[ "$(awk -v s=$step '$1 == s {print $2}' by.log)" = "$(awk -v s=$step '$1 == s {print $2}' summary)" ]
	done
}

@test "any program with a name; JSON; two nodes" {
	mkdir node1 node2
	traced node1/t env LEAT_STEP=first bash -c 'seq 100 >x; cat x'
	traced node2/t env LEAT_STEP=second bash -c 'sort x'
	leat map --json node1 node2 >map.json
	jq -e '[.tasks[] | .physical] == ["first", "second"] and .partial == false and
		all(.tasks[]; .manager == "label" and .calls > 10 and .evidence.label > 0) and
		.attributed.calls + ([.unattributed[].calls] | add // 0) == .all.calls' map.json
	leat map -o - node1 node2 >table.csv
	[ "$(head -n 1 table.csv)" = time_start,time_end,pid,inode,type,result,handle,offset,size,path,outside,node,manager,workflow,logical_task,physical_task,evidence,reason ]
	[ "$(wc -l <table.csv)" = "$(($(jq .all.calls map.json) + 1))" ]
	# A given offset moves a node's times.
	leat map --skew node2=-100 -o - node1 node2 >moved.csv
	[ "$(grep -c ,second, moved.csv)" = "$(grep -c ,second, table.csv)" ]
	first() { sed -n '2{s/[.].*//;p}' "$1"; }
	[ "$(first moved.csv)" -lt "$(($(first table.csv) - 90))" ]
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "what cannot be is said in one line" {
	traced t true
	# said STATUS TEXT ARGUMENT...
	said() {
		run "-$1" --separate-stderr leat map "${@:3}"
		echo "$stderr"
		[ "$stderr" = "leat: $2" ]
	}
	said 1 'cannot read nowhere: No such file or directory' nowhere
	echo hello >hello
	said 1 '--skew t.csv: give it as TRACE=SECONDS, as in node1=-0.25' --skew t.csv t.csv
	said 1 '--skew u.csv=1: there is no such trace; give it as on the command line' --skew u.csv=1 t.csv
	said 1 '--zone Berlin: give it as +02:00, -05:00 or UTC' --zone Berlin t.csv
	said 1 'warning: hello: it has no line of a log of Nextflow' --nextflow hello t.csv
	mkdir empty
	said 1 'empty: there is no log of leat in that directory' --leat empty t.csv
	said 1 'cannot read nowhere: No such file or directory' --leat nowhere t.csv
	run -1 --separate-stderr leat map -o /nowhere/x t.csv
	[ "$stderr" = 'leat: cannot write /nowhere/x: No such file or directory' ]
	printf 'Sep-22 15:14:27.697 [main] INFO  nextflow.cli.CmdRun - N E X T F L O W\n' >.nextflow.log
	said 1 'there is no trace among what was given: a file NAME.csv or NAME.trace, or a directory that has some' .nextflow.log
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "a log or trace that is damaged: what is left is used, and marked" {
	traced t env LEAT_STEP=a bash -c 'cat /dev/null'
	{
		echo 'Sep-22 15:14:27.697 [main] INFO  nextflow.cli.CmdRun - N E X T F L O W'
		echo 'Sep-22 15:14:28.697 [Task monitor] DEBUG x - Task completed > TaskHandler[id: 1; name'
	} >.nextflow.log
	run -0 --separate-stderr leat map t.csv .nextflow.log
	[ "$stderr" = 'leat: warning: .nextflow.log:2: a task that is cut off, or told in a way that is not known: it is left out' ]
	[[ $output == *'PARTIAL: not all of the logs could be read'* ]]
	[[ $output == *'label'* ]]
	# A trace without its trailer was cut off.
	head -n -1 t.csv >cut.csv
	cp t.pids.csv cut.pids.csv
	run -0 --separate-stderr leat map cut.csv
	echo "$output"
	[[ $output == *'PARTIAL: the trace is cut off'* ]]
	leat map --json cut.csv | jq -e '.partial and .partial_trace and (.partial_logs | not)'
}
