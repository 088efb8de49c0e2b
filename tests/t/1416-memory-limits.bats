#!/usr/bin/env bats
# Under the limits on memory of control groups: the budget follows them, and who is killed is told why.
# shellcheck disable=SC2154 # group, group_version: of cgroup.bash
bats_require_minimum_version 1.5.0
load helper
load cgroup
load pair

setup() {
	in_work
}

teardown() {
	end_server
	group_free
	nothing_left find . -name '.leat-*'
}

# flow MODE: stdin is two scripts with "---" between them; the first makes data*, the second `out`.
flow() {
	scripts "{filename: \"data*\", mode: $1}" '{filename: "data*"}'
}

# same: in $group, the batch and the stream make the same, and nothing is killed.
same() {
	within timeout 120 leat run --plain flow.yaml || return 1
	mv work/out batch
	rm -rf work
	mkdir work
	run within timeout 120 leat run flow.yaml
	echo "$output"
	[ "$status" = 0 ] && [[ $output != *killed* ]] || return 1
	cmp batch work/out
	rm -rf work/data*
}

# budget: prints the budget of the run in `work`, in kB; nothing while there is none.
budget() {
	leat status --json --dir work 2>/dev/null | sed -n 's/.*"memory": {"budget_bytes": \([0-9]*\),.*/\1/p' |
		awk '{ print $1 / 1024 }'
}

# budget_is KB
budget_is() {
	now=$(budget)
	[ "$now" = "$1" ]
}

budget_below() {
	now=$(budget)
	[ "$now" -lt "$1" ]
}

# Serves the workflow in $group, as $server.
serve_within() {
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec setpriv --pdeathsig TERM leat serve "$@" flow.yaml
	) >served 2>served.err 3>&- &
	server=$!
	soon grep -q 'steps may start' served.err
}

@test "many files, twice the limit" {
	group memory
	group_memory 96M
	flow update <<-'END'
		for i in $(seq 12); do head -c 16M /dev/zero > data$i; done
		---
		for i in $(seq 12); do wc -c < data$i; done > out
	END
	same
}

@test "one stream, twice the limit" {
	group memory
	group_memory 96M
	flow no_update <<-'END'
		head -c 192M /dev/zero > data
		---
		md5sum < data > out
	END
	same
}

@test "one stream, twice the limit, whose consumer starts late" {
	group memory
	group_memory 96M
	flow no_update <<-'END'
		head -c 192M /dev/zero > data
		: > ../made
		---
		while ! [ -e ../made ]; do sleep 0.1; done
		md5sum < data > out
	END
	same
}

@test "the same where the store is a directory in /dev/shm" {
	group memory
	group_memory 96M
	flow no_update <<-'END'
		head -c 192M /dev/zero > data
		---
		md5sum < data > out
	END
	export LEAT_STORE=shm
	same
}

@test "files make way for a program that takes more and more, though they are open" {
	need python3
	group memory
	group_memory 256M
	flow no_update <<-'END'
		head -c 100M /dev/zero > data
		python3 -c 'import time
		x = []
		for i in range(190): x.append(bytearray(b"x") * (1 << 20)); time.sleep(.01)'
		---
		md5sum < data > out
	END
	same
}

@test "the budget is half of the tightest limit of all levels, and changes with it" {
	group memory
	above=$group
	group memory "$above"
	flow update <<-'END'
		---
	END
	group_memory 200M
	group=$above group_memory 100M
	serve_within
	soon budget_is 51200
	group=$above group_memory 64M
	soon budget_is 32768
	group=$above group_memory 400M
	# It grows by an eighth each second.
	soon budget_is 102400 || soon budget_is 102400
	kill "$server"
	wait "$server"
}

@test "what was asked for is the budget, as far as it can be had" {
	group memory
	group_memory 200M
	flow update <<-'END'
		---
	END
	serve_within --memory 120M
	soon budget_is 122880
	group_memory 64M
	soon budget_below 65536
	kill "$server"
	wait "$server"
}

@test "a step in another group than the daemon" {
	group memory
	group_memory 64M
	step=$group
	group memory
	flow no_update <<-'END'
		head -c 128M /dev/zero > data
		---
		md5sum < data > out
	END
	serve_within
	group=$step
	(cd work && within leat exec --app produce -- bash -eu ../produce) 3>&- &
	producer=$!
	(cd work && leat exec --app consume -- bash -eu ../consume)
	wait "$producer"
	soon budget_is 32768
	kill "$server"
	wait "$server"
	head -c 128M /dev/zero | md5sum | cmp - work/out
	grep -h . served.err
	run ! grep -q killed served.err
}

@test "a step that is killed because memory is full is told so" {
	need python3
	group memory
	group_memory 64M
	flow update <<-'END'
		echo 1 > data
		exec python3 -c 'x = bytearray(b"x") * (200 << 20)'
		---
		cat data > out
	END
	run -137 within leat run flow.yaml
	echo "$output"
	[[ $output == *"step produce failed: killed by SIGKILL: out of memory: its limit is 67.1 MB ($group/memory."* ]]
	[[ $output == *"not complete: data (step produce, which produces it, failed: out of memory: "* ]]
	run -137 within leat run --plain flow.yaml
	[[ $output == *"step produce failed: killed by SIGKILL: out of memory: its limit is 67.1 MB ($group/memory."* ]]
}

@test "a process of a step that is killed so: the shell tells its status, or none" {
	need python3
	group memory
	group_memory 64M
	flow update <<-'END'
		python3 -c 'x = bytearray(b"x") * (200 << 20)'
		---
	END
	run within leat run flow.yaml
	echo "$output"
	[ "$status" = 137 ]
	[[ $output == *"step produce failed: exit 137: out of memory: its limit is 67.1 MB"* ]]
	flow update <<-'END'
		python3 -c 'x = bytearray(b"x") * (200 << 20)' || echo none > data
		---
		cat data > out
	END
	run -0 within leat run flow.yaml
	[[ $output == *"the kernel killed 1 process while this ran, out of memory: its limit is 67.1 MB"* ]]
}

@test "a step of leat exec that is killed so" {
	need python3
	group memory
	flow update <<-'END'
		---
	END
	serve_within
	group memory
	group_memory 64M
	run -137 within leat exec --dir work --app produce -- python3 -c 'x = bytearray(b"x") * (200 << 20)'
	[[ $output == *"step produce failed: out of memory: its limit is 67.1 MB"* ]]
	leat status --json --dir work | grep 'out of memory: its limit is 67.1 MB'
	end_server
}

@test "a step that is killed by others is not told so" {
	group memory
	group_memory 64M
	flow update <<-'END'
		kill -9 $$
		---
	END
	run -137 within leat run flow.yaml
	[[ $output == *"step produce failed: killed by SIGKILL"* ]]
	[[ $output != *memory* ]]
}

@test "a daemon that is killed because memory is full is told so" {
	need python3
	group memory
	group_memory 64M
	flow update <<-'END'
		for d in $(pgrep -x leat-daemon); do
			! grep -qF "$(cat ../name)" /proc/$d/cgroup || echo 1000 > /proc/$d/oom_score_adj
		done
		# Many that are small: the kernel takes the daemon first.
		for i in $(seq 8); do python3 -c 'x = bytearray(b"x") * (15 << 20); import time; time.sleep(1)' & done
		wait
		---
	END
	basename "$group" >name
	run within leat run flow.yaml
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"the daemon of this run was killed, out of memory: its limit is 67.1 MB ($group/memory."* ]]
	# Who is killed cannot clear up after itself: the next run does.
	rm -f produce
	: >produce
	echo 'touch out' >consume
	within leat run flow.yaml
}
