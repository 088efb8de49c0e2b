#!/usr/bin/env bats
# leat serve, exec, done, status, and the library under LD_PRELOAD alone.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	cat >flow.json <<-'END'
		{"name": "flow",
		 "IO_Graph": [
		  {"name": "writer", "output_stream": ["data"],
		   "streaming": [{"name": ["data"], "committed": "on_close", "mode": "no_update"}]},
		  {"name": "reader", "input_stream": ["data"], "output_stream": ["copy"]}],
		 "permanent": ["copy"]}
	END
	library=$LEAT_BUILD/src/preload/libleat.so
	export LEAT_DIR=$PWD/work
}

teardown() {
	end_server
	nothing_left
}

# start [OPTION...]: the server of flow.json.
start() {
	serve "$@" flow.json
}

# stop: end the server; its status in `status`.
stop() {
	status=0
	kill "$server"
	wait "$server" || status=$?
	server=
	cat served served.err
}

@test "serve and exec: the consumer comes first" {
	start
	leat exec --app reader -- bash -c 'cat work/data > work/copy' &
	reader=$!
	sleep 0.3
	run -0 leat exec --app writer -- bash -c 'seq 1000 > work/data'
	wait "$reader"
	stop
	[ "$status" = 0 ]
	seq 1000 | cmp - work/copy
	[ "$(ls work)" = copy ]
	grep -Eq '^writer .*3.9 kB  ok$' served
	grep -Eq '^reader .*3.9 kB +3.9 kB  ok$' served
}

@test "exec ends with the status of its command" {
	start
	run -7 leat exec --app writer -- bash -c 'exit 7'
	run -127 leat exec --app writer -- no-such-program
	run -126 leat exec --app writer -- /etc/passwd
	run -137 leat exec --app writer -- bash -c 'kill -9 $$'
	run leat exec --app nobody -- true
	echo "$output"
	[ "$status" = 125 ]
	[ "${#lines[@]}" = 1 ]
	stop
	[ "$status" = 1 ]
}

@test "CAPIO's variables and LD_PRELOAD are enough" {
	start
	export CAPIO_DIR=$LEAT_DIR CAPIO_WORKFLOW_NAME=flow
	unset LEAT_DIR
	CAPIO_APP_NAME=reader LD_PRELOAD=$library bash -c 'cp work/data work/copy' &
	reader=$!
	CAPIO_APP_NAME=writer LD_PRELOAD=$library bash -c 'seq 1000 > work/data'
	wait "$reader"
	stop
	[ "$status" = 0 ]
	seq 1000 | cmp - work/copy
}

# attached STEP COMMAND: by its environment alone.
attached() {
	LEAT_APP_NAME=$1 LEAT_WORKFLOW_NAME=flow LD_PRELOAD=$library bash -c "$2"
}

@test "a shell that attached itself, and only starts others, is a part of its step" {
	sed -i 's/on_close/on_termination/' flow.json
	start
	attached reader 'cat work/data >work/copy' &
	reader=$!
	# Meanwhile no process of the step is known to the daemon.
	attached writer '/bin/true >>work/data; sleep 0.5; /bin/echo a >>work/data; sleep 0.5; (/bin/echo b; sleep 0.5; /bin/echo c) >>work/data'
	wait "$reader"
	stop
	[ "$status" = 0 ]
	[ "$(cat work/copy)" = $'a\nb\nc' ]
	grep -Eq '^writer .* ok$' served
}

@test "a shell that attached itself, and was given a file of the workflow, tells how the step ended" {
	echo 1 >work/list
	start
	attached writer '/bin/true >>work/data; sleep 0.5; exit 3' <work/list || [ $? = 3 ]
	stop
	[ "$status" = 1 ]
	grep -Eq '^writer .* exit 3$' served
}

@test "a program of which the daemon knows by its name alone has ended well" {
	need python3
	start
	cp /bin/true work/prog
	# A vfork child asks where the program is; the program needs nothing.
	attached writer 'python3 -I -c "import os; os.waitpid(os.posix_spawn(\"work/prog\", [\"prog\"], os.environ), 0)"; echo 1 >work/data'
	attached reader 'cat work/data >work/copy'
	stop
	[ "$status" = 0 ]
	[ "$(cat work/copy)" = 1 ]
}

@test "a step that fails: its consumer is told, and serve says so" {
	sed -i 's/on_close/on_termination/' flow.json
	start
	leat exec --app reader -- cp work/data work/copy 2>reader.err &
	reader=$!
	run -3 leat exec --app writer -- bash -c 'echo 1 > work/data; exit 3'
	ended 1 "$reader"
	grep -q "Input/output error" reader.err
	stop
	[ "$status" = 1 ]
	[ ! -e work/copy ]
}

@test "leat exec is killed: its step fails, by name, and nobody waits for it" {
	start
	leat exec --app reader -- cp work/data work/copy 2>reader.err &
	reader=$!
	leat exec --app writer -- bash -c 'exec 3> work/data; echo 1 >&3; echo $$ > command; exec sleep 60' &
	writer=$!
	until [ -s command ]; do sleep 0.1; done
	kill -9 "$writer"
	ended 1 "$reader"
	kill "$(cat command)"
	grep -q "Input/output error" reader.err
	stop
	[ "$status" = 1 ]
	cat served.err
	grep -q "step writer, which produces it, failed: leat exec (process $writer), which started its command, was killed" served.err
}

@test "status shows the steps; done closes one that will not come" {
	start
	leat exec --app reader -- cp work/data work/copy 2>reader.err &
	reader=$!
	until leat status | grep -Eq '^reader .*waiting'; do sleep 0.1; done
	run -0 leat status
	echo "$output"
	grep -Eq '^writer .*not started' <<<"$output"
	run -0 leat status --json
	[[ $output == "{"* ]]
	run -1 leat 'done' nobody
	run -0 leat 'done' writer
	ended 1 "$reader"
	grep -q "No such file" reader.err
	stop
}

@test "ended while a step is running: that is no success" {
	start
	leat exec --app reader -- cp work/data work/copy 2>reader.err &
	reader=$!
	until leat status | grep -Eq '^reader .*waiting'; do sleep 0.1; done
	stop
	[ "$status" = 1 ]
	grep -Eq '^reader .*running$' served
	ended 1 "$reader"
	[ ! -e work/copy ]
}

@test "--timeout gives up on a step that does not come" {
	start --timeout 2
	run -1 timeout 20 leat exec --app reader -- cp work/data work/copy
	ended 125 "$server" served.err
	server=
	grep -q "^leat: writer did not come within 2 s" served.err
}

@test "names that lead through a symlink, and cannot, are refused; inputs may still come" {
	mkdir work/store elsewhere
	ln -s store work/d
	ln -s ../elsewhere work/out
	cat >versions.yaml <<-'END'
		tasks:
		  - {func: make, exec: make, inports: [{filename: later}], outports: [{filename: d/x}]}
		  - {func: look, exec: look, private: [out/tmp], inports: [{filename: d/x, io_freq: latest}]}
	END
	run -125 timeout 10 leat serve versions.yaml
	[[ $output == *'"d/x" contains a symbolic link, but "look" reads it in versions'* ]]
	[[ $output == *'"out/tmp" cannot be private to "look": a symbolic link in it leads out of the workflow'* ]]
	[[ $output != *later* ]]
}

@test "two servers in one directory: the second is refused" {
	start
	run -125 leat serve flow.json
	echo "$output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "leat: "*"$PWD/work"* ]]
	stop
	[ "$status" = 0 ]
}
