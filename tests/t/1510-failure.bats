#!/usr/bin/env bats
# Whatever dies, a run ends in bounded time, names the culprit, and every file that is not whole.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	# What the first step does is a matter of the test; `alone` has nothing to do with it.
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: bash ../produce
		    outports: [{filename: stream, mode: no_update}, {filename: whole}, {filename: never}]
		  - func: read
		    exec: bash -c 'cat stream > copy'
		    inports: [{filename: stream}]
		    outports: [{filename: copy}]
		  - func: open
		    exec: cp whole copy2
		    inports: [{filename: whole}]
		    outports: [{filename: copy2}]
		  - func: careless
		    exec: bash -c 'cat whole > copy3; exit 0'
		    inports: [{filename: whole}]
		    outports: [{filename: copy3}]
		  - func: staged
		    staged: true
		    exec: cp never copy4
		    inports: [{filename: never}]
		    outports: [{filename: copy4}]
		  - func: after
		    exec: cp copy4 copy5
		    inports: [{filename: copy4}]
		    outports: [{filename: copy5}]
		  - func: alone
		    exec: bash ../alone
		    outports: [{filename: alone}]
	END
	echo 'echo yes > alone' >alone
}

teardown() {
	end_server
	nothing_left
}

# static_cat: make work/static, a static program that copies its input to its output. A third file is
# made when both are open.
static_cat() {
	need gcc
	gcc -static -x c -o work/static - <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			FILE *in = fopen(argv[1], "r"), *out = argc > 2 ? fopen(argv[2], "w") : NULL;
			int c;
			if (argc > 3)
				fclose(fopen(argv[3], "w"));
			while (in && out && (c = getc(in)) != EOF)
				putc(c, out);
			return 0; /* whatever happened */
		}
	END
}

@test "a step exits with a status: step, cause and every file are named; who waits gets EIO at once" {
	echo 'head -c 100000 /dev/zero > stream; echo half > whole; sleep 1; exit 3' >produce
	run -3 timeout 60 leat run --report report flow.yaml
	echo "$output"
	grep -q '^leat: step produce failed: exit 3$' <<<"$output"
	grep -Eq '^produce .* exit 3$' <<<"$output"
	# They ended by themselves, and not by the signals that come after 5 seconds.
	grep -Eq '^read .* exit 1: its input stream failed$' <<<"$output"
	grep -Eq '^open .* exit 1: its input whole failed$' <<<"$output"
	grep -Eq '^after .* exit 1: its input copy4 failed$' <<<"$output"
	# Not fooled by the exit status.
	grep -Eq '^careless .* failed: its input whole failed$' <<<"$output"
	grep -Eq '^staged  .* not run: ' <<<"$output"
	grep -Eq '^not complete: .*\(step produce, which produces it, failed: exited with status 3\)$' <<<"$output"
	for name in stream whole never copy copy2 copy3 copy4 copy5; do
		grep -Eq "^not complete: .*\\b$name\\b" <<<"$output"
	done
	grep -Eq '^not complete: .*\balone\b' <<<"$output" && false
	report 'r["exit_status"] == 3 and r["why"] == "step produce failed"'
	report 'sorted(lost) == ["copy", "copy2", "copy3", "copy4", "copy5", "never", "stream", "whole"]'
	report '[lost[n]["step"] for n in ("stream", "whole", "never")] == ["produce"] * 3'
	report '(lost["copy"]["step"], lost["copy4"]["step"]) == ("read", "staged")'
	report 'steps["produce"]["exit_status"] == 3 and steps["careless"]["exit_status"] == 0'
	report 'steps["careless"]["state"] == "failed" and steps["alone"]["state"] == "ok"'
	report 'steps["staged"]["state"] == "not run" and "never" in steps["staged"]["cause"] or "produce" in steps["staged"]["cause"]'
	[ "$(ls work)" = alone ]
}

@test "a step is killed by a signal" {
	echo 'head -c 100000 /dev/zero > stream; kill -SEGV $$' >produce
	run -139 timeout 60 leat run --report report flow.yaml
	echo "$output"
	grep -q '^leat: step produce failed: killed by SIGSEGV$' <<<"$output"
	report 'steps["produce"]["signal"] == 11 and "killed by signal 11" in lost["stream"]["why"]'
	[ "$(ls work)" = alone ]
}

@test "a program cannot be executed after all" {
	printf '#!/nowhere/at/all\n' >work/script
	chmod +x work/script
	sed -i 's|bash ../produce|./script|' flow.yaml
	run -127 timeout 60 leat run --report report flow.yaml
	echo "$output"
	grep -q '^leat: step produce: cannot start ./script: ' <<<"$output"
	report 'steps["alone"]["state"] == "not run" and len(lost) == 9' # nothing else was started
	run -127 timeout 60 leat run --keep-going --report report flow.yaml
	echo "$output"
	report 'steps["alone"]["state"] == "ok" and len(lost) == 8'
	report 'lost["stream"]["step"] == "produce" and steps["read"]["cause"] == "its input stream failed"'
}

@test "a compressor dies in the middle: its reader does not take the half for the whole" {
	cat >gzip.yaml <<-'END'
		name: gzip
		dir: work
		tasks:
		  - func: compress
		    exec: bash -c 'seq 1000000 | (head -c 2000000; sleep 1; kill -9 0) | gzip -1 > numbers.gz'
		    outports: [{filename: numbers.gz, mode: no_update}]
		  - func: count
		    exec: bash -c 'zcat numbers.gz | wc -l > lines; exit 0'
		    inports: [{filename: numbers.gz}]
		    outports: [{filename: lines}]
	END
	run -137 timeout 60 leat run --report report gzip.yaml
	echo "$output"
	grep -Eq '^count .* failed: its input numbers.gz failed$' <<<"$output"
	[ -z "$(ls work)" ]
}

@test "the server of a mount dies: its step has failed, whatever it says" {
	built_with fuse
	static_cat
	cat >mount.yaml <<-'END'
		name: mount
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c 'head -c 100000 /dev/zero > data; until [ -e ../killed ]; do sleep 0.05; done; echo more >> data'
		    outports: [{filename: data, mode: no_update}]
		  - func: copy
		    exec: ./static data copy ../copying
		    inports: [{filename: data}]
		    outports: [{filename: copy}]
		  - func: use
		    exec: cp copy copy2
		    inports: [{filename: copy}]
		    outports: [{filename: copy2}]
	END
	timeout 60 leat run --report report mount.yaml >out 2>&1 3>&- &
	run=$!
	soon [ -e copying ]
	kill -9 "$(ours leat-mount)"
	touch killed
	ended 125 "$run" out
	grep -Eq '^copy .* failed: the server of its mount ended unexpectedly$' out
	grep -Eq '^produce .* ok$' out
	report 'steps["copy"]["state"] == "failed" and lost["copy"]["step"] == "copy" and "copy2" in lost'
	[ ! -e work/copy ]
	[ ! -e work/copy2 ]
}

@test "the daemon dies: the run ends, and says what it does not know to be whole" {
	cat >daemon.yaml <<-'END'
		name: daemon
		dir: work
		tasks:
		  - {func: produce, exec: bash ../produce, outports: [{filename: data, mode: no_update}]}
		  - {func: read, exec: cp data copy, inports: [{filename: data}], outports: [{filename: copy}]}
	END
	echo 'echo 1 > data; touch ../go; sleep 30; echo 2 >> data' >produce
	timeout 60 leat run --report report daemon.yaml >out 2>&1 3>&- &
	run=$!
	until [ -e go ]; do sleep 0.05; done
	kill -9 "$(ours leat-daemon)"
	ended 125 "$run" out
	grep -q '^leat: the daemon of this run has ended unexpectedly$' out
	grep -Eq '^read .* exit 1' out
	grep -Eq '^produce .*stopped, because the daemon of this run has ended' out
	report 'sorted(lost) == ["copy", "data"]'
	[ ! -e work/copy ]
	# The next run takes away what the daemon could not.
	echo 'echo 1 > data' >produce
	run -0 timeout 60 leat run --report report daemon.yaml
	report 'r["exit_status"] == 0 and not lost and r["why"] == ""'
}

@test "an independent step has five seconds, then SIGTERM, then SIGKILL" {
	echo 'exit 3' >produce
	echo 'trap "echo told >> ../told" TERM; while :; do sleep 0.2; done' >alone
	run -3 timeout 60 leat run --report report flow.yaml
	echo "$output"
	[ "$(cat told)" = told ]
	grep -Eq '^alone .* killed by SIGKILL: stopped, because step produce failed$' <<<"$output"
	report 'lost["alone"]["step"] == "alone"'
	report '9 < steps["alone"]["seconds"]'
	[ -z "$(ls work)" ]
}

@test "a step that is stopped, and ends with status 0 for it, is not called ok" {
	echo 'exit 3' >produce
	echo 'trap "exit 0" TERM; while :; do sleep 0.2; done' >alone
	run -3 timeout 60 leat run flow.yaml
	echo "$output"
	grep -Eq '^alone .* exit 0: stopped, because step produce failed$' <<<"$output"
}

@test "an independent step that ends within five seconds is good" {
	echo 'exit 3' >produce
	echo 'sleep 3; echo yes > alone' >alone
	run -3 timeout 60 leat run flow.yaml
	echo "$output"
	grep -Eq '^alone .* ok$' <<<"$output"
	[ "$(cat work/alone)" = yes ]
}

@test "--keep-going: independent steps run to their ends; the others fail or are not run" {
	echo 'head -c 100000 /dev/zero > stream; exit 3' >produce
	echo 'sleep 8; echo yes > alone' >alone
	cat >>flow.yaml <<-'END'
		  - func: last
		    staged: true
		    exec: cp alone last
		    inports: [{filename: alone}]
		    outports: [{filename: last}]
	END
	run -3 timeout 60 leat run --keep-going --report report flow.yaml
	echo "$output"
	grep -q "^leat: step staged is not run: its input never failed: step produce, which produces it, failed: exited with status 3$" <<<"$output"
	grep -Eq '^staged .* not run: its input never failed' <<<"$output"
	grep -Eq '^read .* exit 1: its input stream failed$' <<<"$output"
	grep -Eq '^alone .* ok$' <<<"$output"
	grep -Eq '^last .* ok$' <<<"$output"
	report 'sorted(lost) == ["copy", "copy2", "copy3", "copy4", "copy5", "never", "stream", "whole"]'
	[ "$(ls work)" = last ]
}

@test "--keep-going does not go on after a signal, nor after a broken promise" {
	echo 'exit 3' >produce
	echo 'touch ../go; sleep 100' >alone
	timeout 60 leat run --keep-going flow.yaml >out 2>&1 3>&- &
	until [ -e go ]; do sleep 0.05; done
	kill -TERM "$(pgrep -P $!)"
	ended 3 $! out # what failed first
	grep -Eq '^alone .*stopped, because step produce failed' out
	echo 'echo 1 > stream; echo 1 > whole; echo 1 > never; until [ -e ../seen ]; do sleep 0.1; done' >produce
	echo 'touch ../seen; echo again > work/nothing; sleep 100' >alone
	cat >>flow.yaml <<-'END'
		  - func: rude
		    exec: bash -c 'cat whole; echo rude > whole'
		    inports: [{filename: whole}]
	END
	run -125 timeout 60 leat run --keep-going flow.yaml
	echo "$output"
	grep -q '^leat: violation: whole ' <<<"$output"
}

@test "--plain stops at the first failure, with --keep-going at what depends on it" {
	echo 'echo 1 > stream; exit 3' >produce
	run -3 timeout 60 leat run --plain flow.yaml
	echo "$output"
	[ ! -e work/copy ]
	grep -Eq '^read .* not run: step produce failed$' <<<"$output"
	grep -q '^not complete: stream, whole, never (step produce: exit 3)$' <<<"$output"
	rm -f work/*
	run -3 timeout 60 leat run --plain --keep-going --report report flow.yaml
	echo "$output"
	grep -Eq '^read .* not run: step produce, which makes its input, failed$' <<<"$output"
	grep -Eq '^after .* not run: ' <<<"$output"
	grep -Eq '^alone .* ok$' <<<"$output"
	report 'steps["alone"]["state"] == "ok" and len(lost) == 8'
	[ "$(cat work/alone)" = yes ]
}

@test "leat exec: a command that ends well on a failed input has failed" {
	echo 'echo 1 > stream; exit 3' >produce
	serve flow.yaml
	(cd work && exec leat exec --app careless -- bash -c 'cat whole > copy3; exit 0') >said 2>&1 3>&- &
	exec=$!
	status=0
	(cd work && leat exec --app produce -- bash ../produce) || status=$?
	[ "$status" = 3 ]
	ended 125 "$exec" said
	grep -q '^leat: step careless failed, though its command ended with status 0: its input whole failed$' said
	kill "$server"
	ended 1 "$server" served served.err
	grep -Eq '^not complete: .*whole' served served.err
	[ ! -e work/copy3 ]
}

@test "a report that cannot be written is an error before anything starts" {
	echo 'touch started' >produce
	run -125 leat run --report nowhere/report flow.yaml
	echo "$output"
	[[ $output == "leat: cannot write the report nowhere/report: "* ]]
	[ ! -e work/started ]
}

@test "a process left behind is killed while it writes: what it wrote is not complete" {
	need python3
	cat >slow.py <<-'END'
		import time
		for i in range(400): print(i); time.sleep(0.1)
	END
	# The loop is killed, its sleep ends by itself.
	echo 'for i in {1..400}; do echo $i; sleep 0.1; done' >slow
	for writer in "python3 -u ../slow.py" "bash ../slow"; do
		cat >flow.yaml <<-END
			name: left
			dir: work
			tasks:
			  - {func: a, exec: "bash -c '$writer > numbers &'", outports: [{filename: numbers}]}
			  - {func: b, exec: "bash -c 'sleep 1; exit 3'", outports: [{filename: nothing}]}
			permanent: [numbers]
		END
		rm -rf work
		mkdir work
		run timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" != 0 ]
		[[ $output == *"not complete: numbers (a process that step a left behind was killed while it wrote it)"* ]]
		[ ! -e work/numbers ]
	done
}

@test "the program that a description was handed to dies: its close does not count" {
	need python3
	cat >hand.py <<-'END'
		import subprocess, sys
		f = open("data", "w")
		p = subprocess.Popen(["bash", "-c", "seq 1000; kill -9 $$"], stdout=f)
		f.close()
		sys.exit(1 if p.wait() else 0)
	END
	cat >flow.yaml <<-'END'
		name: hand
		dir: work
		tasks:
		  - {func: a, exec: python3 ../hand.py, outports: [{filename: data, committed: on_close}]}
		  - {func: b, exec: cp data copy, inports: [{filename: data}], outports: [{filename: copy}]}
	END
	for _ in 1 2 3; do
		rm -rf work
		mkdir work
		run timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" != 0 ]
		[ ! -e work/copy ]
	done
}
