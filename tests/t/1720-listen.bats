#!/usr/bin/env bats
# --listen: figures of a trace and of a run, by HTTP.
load helper
bats_require_minimum_version 1.5.0

setup() {
	built_with metrics
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	[ -z "${leat:-}" ] || ! kill "$leat" 2>/dev/null || wait "$leat" || true
	nothing_left
}

# ask METHOD PATH: of whoever says in `err` where the figures are; the status and the text, in `answer`.
ask() {
	soon grep -q 'metrics at' err
	/usr/bin/python3 -B - "$1" "$2" >answer <<-'END'
		import re, sys, urllib.error, urllib.request
		place = re.search(r"metrics at (http://\S+)/metrics", open("err").read())[1]
		try:
		    with urllib.request.urlopen(urllib.request.Request(place + sys.argv[2], method=sys.argv[1]), timeout=20) as r:
		        print(r.status, r.headers["Content-Type"])
		        print(r.read().decode())
		except urllib.error.HTTPError as e:
		    print(e.code, e.read().decode())
	END
	cat answer
}

# sample LINE: it is in the answer, and all lines there have the format.
sample() {
	! sed 1d answer | grep -vE '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"\})? [0-9.e+-]+|)$' || return 1
	grep -qxF "$1" answer
}

@test "leat trace --listen" {
	mkfifo go
	leat trace --tracer ptrace --listen 0 -o t.csv --dir . -- sh -c 'echo hello >f; cat f >/dev/null; : >ready; read -r x <go' \
		>out 2>err 3>&- &
	leat=$!
	soon test -e ready || { kill "$leat"; cat err; skip "ptrace does not trace here"; }
	ask GET /metrics
	sample 'leat_trace_bytes_total{direction="write"} 6'
	sample 'leat_trace_bytes_total{direction="read"} 6'
	sample 'leat_trace_calls_total{type="write"} 1'
	sample 'leat_trace_calls_total{type="create"} 2'
	sample 'leat_trace_processes_total 2'
	sample 'leat_trace_lost_total{cause="buffer"} 0'
	[[ $(head -n1 answer) == "200 text/plain; version=0.0.4"* ]]
	ask GET /
	grep -q '^404 ' answer
	ask POST /metrics
	grep -q '^405 ' answer
	# nobody else's machine
	run ! grep -q '0\.0\.0\.0' err
	grep -q 'http://127.0.0.1:' err
	echo >go
	ended 0 "$leat" err
}

@test "leat run --listen: bytes, files and waiting by step" {
	cat >flow.yaml <<-'END'
		name: flow
		tasks:
		  - func: make
		    exec: sh -c 'dd if=/dev/zero of=x bs=1000 count=1 status=none; touch ready; while [ ! -e go ]; do sleep 0.05; done'
		    outports: [{filename: x, committed: on_termination}]
		  - func: use
		    exec: sh -c 'cat x >copy'
		    inports: [{filename: x}]
		    outports: [{filename: copy}]
	END
	leat run --listen 127.0.0.1:0 -q flow.yaml 2>err 3>&- &
	leat=$!
	soon test -e ready
	soon waits
	sample 'leat_step_written_bytes_total{step="make"} 1000'
	sample 'leat_step_running{step="make"} 1'
	sample 'leat_step_waits{step="use"} 1'
	sample 'leat_file_bytes{state="produced"} 1000'
	touch go
	ended 0 "$leat" err
}

waits() {
	ask GET /metrics && grep -qxF 'leat_step_waits{step="use"} 1' answer &&
		grep -qxF 'leat_step_written_bytes_total{step="make"} 1000' answer
}

@test "a place that cannot be listened at" {
	run leat trace --listen nowhere -- true
	[ "$status" = 2 ]
	[[ $output == *"give a port"* ]]
	run leat trace --listen :9 -- true
	[ "$status" = 2 ]
	run leat trace --listen 65536 -o t.csv -- true
	[ "$status" = 2 ]
	[[ $output == *"--listen 65536: give a port, "* ]]
	run leat trace --listen 192.0.2.1:0 -- true
	[ "$status" = 125 ]
	[[ $output == *"cannot listen there: Cannot assign requested address"* ]]
	run leat trace --listen '[::1]:0' -o t.csv -- true
	[ "$status" = 0 ] || [[ $output == *"cannot listen there"* ]]
}

@test "without the module that has the server" {
	cp "$LEAT_BUILD/src/cli/leat" alone
	LEAT_LIBRARY=$LEAT_BUILD/src/preload/libleat.so run ./alone trace --listen 0 -o t.csv -- true
	[ "$status" = 125 ]
	[[ $output == *"--listen 0: this leat has no libleat-metrics.so"* ]]
	echo 'not one' >libleat-metrics.so
	LEAT_LIBRARY=$LEAT_BUILD/src/preload/libleat.so run ./alone trace --listen 0 -o t.csv -- true
	[ "$status" = 125 ]
	[[ $output == *"--listen 0: cannot load "*/libleat-metrics.so* ]]
}
