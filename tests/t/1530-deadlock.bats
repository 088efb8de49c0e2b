#!/usr/bin/env bats
# Steps that wait for each other: found while they run, with the cycle; and never where one of them
# may still act.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	end_server
	nothing_left
}

# ring COMMITTED COMMAND COMMAND [LINE...]: ping makes x and reads y, pong the other way round; the
# commands are theirs. Each may write before it reads, so that `leat check` passes it.
ring() {
	{
		echo "name: ring"
		echo "dir: work"
		echo "tasks:"
		echo "  - func: ping"
		echo "    exec: bash -c '$2'"
		echo "    inports: [{filename: y}]"
		echo "    outports: [{filename: x, committed: $1}]"
		echo "  - func: pong"
		echo "    exec: bash -c '$3'"
		echo "    inports: [{filename: x}]"
		echo "    outports: [{filename: y, committed: $1}]"
		printf '%s\n' "${@:4}"
	} >ring.yaml
}

# found: the run fails soon, and names the cycle.
found() {
	run -125 timeout 20 leat run ring.yaml
	echo "$output"
	[[ $output == *"deadlock: these steps can never go on: "* ]]
	[[ $output == *"cycle: step "*" waits for "*", which needs"* ]]
}

# passes: the run ends well.
passes() {
	run -0 timeout 60 leat run ring.yaml
	echo "$output"
	[[ $output != *deadlock* ]]
}

@test "two steps that read before they write" {
	ring on_close 'cat y > /dev/null; echo 1 > x' 'cat x > /dev/null; echo 1 > y'
	run -0 leat check -d work ring.yaml
	found
	[[ $output == *"can never go on: ping, pong"* ]]
	[[ $output == *"step ping waits for y (not created yet; on_close), which needs"* ]]
	[[ $output == *"step pong waits for x (not created yet; on_close), which needs"* ]]
}

@test "the same steps in an order that is safe" {
	ring on_close 'echo 1 > x; cat y' 'cat x; echo 1 > y'
	passes
}

@test "a third step is at work: the two are found all the same" {
	ring on_close 'cat y > /dev/null; echo 1 > x' 'cat x > /dev/null; echo 1 > y' \
		"  - func: other" "    exec: bash -c 'for i in {1..200}; do echo \$i; sleep 0.1; done > z'" \
		"    outports: [{filename: z, mode: no_update, committed: on_close}]" \
		"  - {func: reader, exec: cat z x, inports: [{filename: z}, {filename: x}]}"
	began=$SECONDS
	found
	[ $((SECONDS - began)) -lt 15 ]
	[[ $output == *"can never go on: ping, pong"$'\n'* ]]
}

@test "pipelines in the steps" {
	ring on_close 'cat y | tr a b | sort > x' 'sort < x | cat | tee y > /dev/null'
	found
}

@test "growing files that are read to the end" {
	ring on_termination 'echo 1 > x; cat y' 'echo 1 > y; cat x'
	sed -i 's/on_termination/on_termination, mode: no_update/' ring.yaml
	run -0 leat check -d work ring.yaml
	[[ $output == *L-CHECK-WAIT-CYCLE* ]]
	found
	[[ $output == *"not complete; on_termination"* ]]
}

@test "through a dependency" {
	ring on_close 'echo 1 > x; cat y' 'cat x > /dev/null; echo 1 > y' \
		"  - {func: third, exec: cp y z, inports: [{filename: y}], outports: [{filename: z}]}"
	sed -i 's/{filename: x, committed: on_close}/{filename: x, committed: on_file, file_deps: [z]}/' ring.yaml
	if leat check -d work ring.yaml; then
		found
		[[ $output == *"on_file z"* ]]
	fi
}

@test "a directory of a number of files" {
	ring on_close 'cat y > /dev/null; touch x/1' 'ls x > y'
	sed -i 's/{filename: x, committed: on_close}/{dirname: x, n_files: 2}/; s/{filename: x}/{dirname: x}/' ring.yaml
	sed -i "s|cat y > /dev/null; touch x/1|mkdir -p x; echo 1 > x/1; cat y; echo 1 > x/2|" ring.yaml
	run leat check -d work ring.yaml
	echo "$output"
	[ "$status" = 0 ]
	found
	[[ $output == *"waits for x (not complete; n_files:2)"* ]]
}

# ---- never where somebody may still act ----

@test "one process waits, another sleeps and then writes" {
	ring on_close 'cat y & sleep 3; echo 1 > x; wait' 'cat x; echo 1 > y'
	passes
}

@test "one process waits, another computes and then writes" {
	ring on_close 'cat y & for ((i = 0; i < 400000; i++)); do :; done; echo 1 > x; wait' \
		'cat x; echo 1 > y'
	passes
}

@test "a wait that is given up after a while" {
	ring on_close 'timeout 3 cat y || echo 1 > x; [ -s x ]' 'cat x; echo 1 > y'
	passes
}

@test "a wait that an alarm ends" {
	need perl
	# shellcheck disable=SC2016
	ring on_close 'perl -e "\$SIG{ALRM} = sub { die }; alarm 3; system(qw(cat y))"; echo 1 > x' \
		'cat x; echo 1 > y'
	passes
}

@test "a thread waits, another waits for a time only" {
	need python3
	cat >threads.py <<-'END'
		import threading
		def read():
		    open("y").read()
		t = threading.Thread(target=read)
		t.start()
		threading.Event().wait(3)
		with open("x", "w") as x:
		    x.write("1\n")
		t.join()
	END
	ring on_close "python3 $PWD/threads.py" 'cat x; echo 1 > y'
	passes
}

@test "a thread waits, another for the first: nobody is left to act" {
	need python3
	cat >threads.py <<-'END'
		import threading
		def read():
		    open("y").read()
		t = threading.Thread(target=read)
		t.start()
		t.join()
	END
	ring on_close "python3 $PWD/threads.py; echo 1 > x" 'cat x; echo 1 > y'
	found
}

@test "a process waits for one outside, through a named pipe" {
	mkfifo fifo
	ring on_close 'cat y & cat ../fifo > x; wait' 'cat x; echo 1 > y'
	(sleep 3; echo 1 >fifo) &
	passes
	wait $!
}

@test "serve: input that comes through a pipe from outside" {
	ring on_close true true
	serve ring.yaml
	export LEAT_DIR=$PWD/work
	leat exec --app pong -- bash -c 'cat work/x > /dev/null; echo 1 > work/y' &
	pong=$!
	(sleep 3; echo 1) | leat exec --app ping -- bash -c 'cat work/y & cat > work/x; wait'
	wait "$pong"
	run -1 grep deadlock served.err
	kill "$server"
	wait "$server"
	server=
}

@test "serve: two that wait for each other, while a third has not come" {
	ring on_close true true "  - {func: third, exec: touch z, outports: [{filename: z}]}"
	serve ring.yaml
	export LEAT_DIR=$PWD/work
	timeout 20 leat exec --app pong -- bash -c 'cat work/x && echo 1 > work/y' &
	pong=$!
	sleep 2
	run -1 grep deadlock served.err
	run -1 timeout 20 leat exec --app ping -- bash -c 'cat work/y && echo 1 > work/x'
	ended 1 "$pong" served.err
	grep -q "deadlock: these steps can never go on: ping, pong" served.err
}

# reader: a static program in ./reader that copies one file to another.
reader() {
	gcc -static -O1 -o reader -x c - <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			FILE *in = fopen(argv[1], "r"), *out;
			int c;
			if (!in)
				return 1;
			while ((c = getc(in)) != EOF)
				;
			if (ferror(in) || !(out = fopen(argv[2], "w")))
				return 1;
			fputs("1\n", out);
			return argc != 3 || fclose(out);
		}
	END
}

@test "static programs behind mounts" {
	built_with fuse
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	reader
	ring on_close "exec ../reader y x" "exec ../reader x y"
	found
}

@test "a static program behind a mount, and a process beside it that sleeps and then writes" {
	built_with fuse
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	reader
	ring on_close '../reader y z & sleep 3; echo 1 > x; wait' 'cat x; echo 1 > y'
	passes
}
