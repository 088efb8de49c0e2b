#!/usr/bin/env bats
# What dies or runs out in a run is named, and nothing that is not whole is taken for complete. What
# needs points of faults is tests/faults/campaign.py's.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	actor=$LEAT_BUILD/tests/faults/actor
	export ACTOR_LOG=$PWD/log
	# Where a daemon is killed, the next run clears away.
	killed=
}

teardown() {
	end_server
	if [ -n "$killed" ]; then
		printf 'name: next\ndir: work\ntasks: [{func: N, exec: "true"}]\n' >next.yaml
		timeout 30 leat run -q next.yaml
	fi
	nothing_left find work -name '.leat-*'
}

# Ends the daemon of this test with SIGKILL, and waits until it is gone.
kill_daemon() {
	{
		declare -f ours
		cat <<-'END'
			for pid in $(ours leat-daemon); do
				kill -9 "$pid"
				while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status"; do sleep 0.01; done
			done
		END
	} >kill_daemon
}

@test "the daemon dies as the last thing that happens: the run has failed" {
	killed=1
	kill_daemon
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks: [{func: A, exec: bash -c 'seq 1000 > out; . ../kill_daemon', outports: [{filename: out}]}]
	END
	run -125 timeout 30 leat run flow.yaml
	echo "$output"
	[[ $output == *"daemon of this run has ended unexpectedly"* ]]
	[ ! -e work/out ]
}

@test "the daemon of leat serve dies, and leat serve is told to end: it has failed" {
	killed=1
	kill_daemon
	echo '{"name": "flow", "IO_Graph": [{"name": "A", "output_stream": ["out"]}], "permanent": ["out"]}' >flow.json
	LEAT_DIR=$PWD/work serve flow.json
	bash ./kill_daemon
	kill "$server" 2>/dev/null || true
	ended 125 "$server" served.err
	grep -q 'daemon has ended unexpectedly' served.err
}

@test "leat serve is killed: its daemon ends, and who waits is told" {
	echo '{"name": "flow", "IO_Graph": [{"name": "A", "output_stream": ["x"]}, {"name": "B", "input_stream": ["x"]}]}' >flow.json
	export LEAT_DIR=$PWD/work
	serve flow.json
	timeout 30 leat exec --app B -- cat work/x 2>reader.err &
	reader=$!
	soon eval "leat status | grep -q 'waiting for x'"
	kill -9 "$server"
	ended 1 $reader reader.err
	grep -q 'daemon for .* is gone' reader.err
	soon eval '[ -z "$(left_behind)" ]'
}

@test "the daemon dies while a directory is listed: no end of it is made up" {
	killed=1
	kill_daemon
	cat >list.py <<-'END'
		import os, subprocess
		names = os.scandir("parts")
		subprocess.run(["bash", "../kill_daemon"], check=True)
		try:
		    found = [e.name for e in names]
		    print("took for complete:", found)
		except OSError as e:
		    print("error:", e.strerror)
	END
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: A, exec: bash -c 'mkdir parts; touch parts/1 parts/2', outports: [{dirname: parts}]}
		  - {func: B, exec: python3 ../list.py, inports: [{dirname: parts}]}
	END
	run ! timeout 30 leat run flow.yaml
	echo "$output"
	[[ $output == *"error: Input/output error"* ]]
	[[ $output != *"took for complete"* ]]
}

@test "what a killed daemon did not get to rename is removed by the next run" {
	echo half >work/.leat-out.abcdef
	printf 'name: flow\ndir: work\ntasks: [{func: A, exec: bash -c "echo all > out", outports: [{filename: out}]}]\n' >flow.yaml
	run -0 timeout 30 leat run flow.yaml
	[ "$(cat work/out)" = all ]
}

@test "an ordinary build has no points of faults" {
	if grep -q 'LEAT_FAULTS' "$LEAT_BUILD/build.ninja"; then skip "this one is built with them"; fi
	for file in src/cli/leat src/preload/libleat.so src/preload/libleat-wrap.so; do
		run -1 grep -c -e LEAT_FAULT -e persist.synced "$LEAT_BUILD/$file"
	done
}

# one FILE BYTES: a workflow whose one step makes FILE of so many bytes.
one() {
	cat >flow.yaml <<-END
		name: flow
		dir: $1
		tasks: [{func: A, exec: $actor make $2 $3 4096, outports: [{filename: $2}]}]
	END
}

@test "no space for a permanent file: named, and absent" {
	[ "$(id -u)" = 0 ] || skip "only root can mount a small file system"
	one work out 8000000
	run -125 timeout 60 unshare -m bash -c 'mount -t tmpfs -o size=4m none work && cd . &&
		leat run --spill-dir /var/tmp flow.yaml; status=$?; find work -type f; exit $status'
	echo "$output"
	[[ $output == *"work/out: No space left on device"* ]]
	[[ $output != *$'\nwork/'* ]]
}

@test "a directory that cannot be written: named, and nothing is there" {
	place=$(mktemp -d)
	mkdir -p "$place/work/shut"
	chmod 0555 "$place/work/shut"
	one "$place/work" shut/out 5000
	mv flow.yaml "$place"
	[ "$(id -u)" != 0 ] || chown -R 65534 "$place"
	run nobody env LEAT_RUNTIME_DIR="$place/runtime" ACTOR_LOG="$place/log" timeout 60 leat run "$place/flow.yaml"
	echo "$output"
	left=$(find "$place/work/shut" "$place/runtime" -mindepth 1)
	rm -rf "$place"
	[ "$status" != 0 ] && [ "$status" != 124 ]
	[[ $output == *"shut/out: Permission denied"* ]]
	[ -z "$left" ]
}

# crowd N: a workflow in which so many processes at once make a file of 1000 bytes each.
crowd() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: A, exec: $actor crowd $1 d, outports: [{dirname: d}]}
		  - {func: B, exec: bash -c 'cat d/* | wc -c > out', inports: [{dirname: d}], outports: [{filename: out}]}
	END
}

@test "few descriptors for the daemon: an error or the result, in bounded time" {
	crowd 60
	for limit in 30 40 60 100; do
		rm -rf work log
		mkdir -p work/d
		status=0
		prlimit --nofile="$limit:$limit" timeout 60 leat run flow.yaml >said 2>&1 || status=$?
		echo "$limit descriptors: status $status"
		cat said
		[ "$status" != 124 ]
		if [ "$status" = 0 ]; then
			[ "$(cat work/out)" = 60000 ]
		else
			grep -qi 'too many open files\|no descriptors' said
			[ ! -e work/out ] || [ "$(cat work/out)" = 60000 ]
		fi
		run ! grep -v '^complete' log
	done
}

@test "500 clients at once" {
	crowd 500
	mkdir work/d
	run -0 timeout 120 leat run flow.yaml
	[ "$(cat work/out)" = 500000 ]
	[ "$(grep -c '^complete' log)" = 500 ]
}
