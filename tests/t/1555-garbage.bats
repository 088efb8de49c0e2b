#!/usr/bin/env bats
# Clients that send what no client sends: the daemon hangs up on them, and nobody else notices.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need python3
	mkdir work
	export LEAT_DIR=$PWD/work
	cat >flow.json <<-'END'
		{"name": "flow",
		 "IO_Graph": [{"name": "A", "output_stream": ["x", "d"]},
		              {"name": "B", "input_stream": ["x"], "output_stream": ["out"]}],
		 "permanent": ["out"]}
	END
	# What is freed is not to be taken for what is kept.
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=4
	serve flow.json
	daemon=$(ours leat-daemon)
	socket=$(echo "$LEAT_RUNTIME_DIR"/*/socket)
}

teardown() {
	end_server
	nothing_left
}

descriptors() {
	find "/proc/$daemon/fd" -mindepth 1 | wc -l
}

resident_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$daemon/status"
}

@test "garbage: the daemon goes on, and keeps neither descriptors nor memory" {
	garbage=$LEAT_SOURCE_DIR/tests/faults/garbage.py
	run -0 timeout 120 "$garbage" "$socket" 1 100
	echo "$output"
	before=$(descriptors) kb=$(resident_kb)
	run -0 timeout 200 "$garbage" "$socket" 101 "${LEAT_GARBAGE_SEEDS:-700}"
	echo "$output"
	for _ in $(seq 100); do
		[ "$(descriptors)" -gt "$before" ] || break
		sleep 0.05
	done
	echo "descriptors: $before, then $(descriptors); memory: $kb kB, then $(resident_kb) kB"
	[ "$(descriptors)" -le $((before + 2)) ]
	[ "$(resident_kb)" -lt $((kb + 20000)) ]
	grep -q 'malformed message' served.err
	[ -d "/proc/$daemon" ]
}

@test "a step that is at work does not notice those who send garbage" {
	leat exec --app A -- bash -c 'for i in $(seq 200); do echo $i; sleep 0.005; done > work/x' &
	writer=$!
	run -0 timeout 120 "$LEAT_SOURCE_DIR/tests/faults/garbage.py" "$socket" 1 60
	wait "$writer"
	# who sent garbage said that he was A or B, and died: their files may have failed, but none is cut short
	run timeout 30 leat exec --app B -- bash -c 'cat work/x > work/out'
	echo "$output"
	kill "$server"
	wait "$server" || true
	cat served served.err
	[ ! -e work/out ] || [ ! -s work/out ] || seq 200 | cmp - work/out
}

@test "200 clients that say nothing hold nobody up" {
	python3 - "$socket" <<-'END'
		import socket, sys
		silent = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(200)]
		for s in silent:
		    s.connect(sys.argv[1])
		import subprocess
		subprocess.run(["leat", "status"], check=True, timeout=20)
	END
}
