#!/usr/bin/env bats
# Under the limits on processes and CPU time of control groups.
# shellcheck disable=SC2154 # group: of cgroup.bash
bats_require_minimum_version 1.5.0
load helper
load cgroup

setup() {
	in_work
}

teardown() {
	end_server
	group_free
	nothing_left find . -name '.leat-*'
}

# steps N SCRIPT: a workflow of so many steps, which each run the script.
steps() {
	local i
	for i in $(seq "$1"); do
		printf '  - func: step%d\n    exec: bash -eu ../script\n    outports: [{filename: "out%d*"}]\n' "$i" "$i"
	done >steps.yaml
	{
		printf 'name: flow\ndir: work\ntasks:\n'
		cat steps.yaml
	} >flow.yaml
	echo "$2" >script
}

@test "more steps than processes may run: nothing starts" {
	group pids
	steps 20 'touch ../started'
	echo 18 >"$group/pids.max"
	run -125 within leat run flow.yaml
	echo "$output"
	[[ $output == *"this run needs at least 25 processes and threads at a time, and 17 of 18 processes and threads are left ($group/pids.max): raise the limit, or run it as a batch (--plain)"* ]]
	[ ! -e started ]
	run -0 within leat run --plain flow.yaml
	[ -e started ]
}

@test "a process that a step cannot start" {
	group pids
	# shellcheck disable=SC2016 # for the step
	steps 1 'for i in $(seq 40); do sleep 5 & done; wait'
	echo 20 >"$group/pids.max"
	run within leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"step step1 failed: "*"a process or thread could not be started: the limit is 20 ($group/pids.max)"* ]]
}

@test "the daemon's own threads" {
	group pids
	steps 1 'true'
	echo 4 >"$group/pids.max"
	run -125 within leat serve flow.yaml
	echo "$output"
	[[ $output == *"cannot start the daemon's threads: Resource temporarily unavailable: the limit is 4 processes and threads ($group/pids.max)"* ]]
	echo 1 >"$group/pids.max"
	run -125 within leat serve flow.yaml
	echo "$output"
	[[ $output == *"cannot start the daemon: Resource temporarily unavailable: the limit is 1 processes and threads ($group/pids.max)"* ]]
}

@test "a step of leat exec that cannot be started" {
	group pids
	steps 1 'true'
	serve flow.yaml
	echo 1 >"$group/pids.max"
	run -125 within leat exec --dir work --app step1 -- true
	echo "$output"
	[[ $output == *"cannot start true: Resource temporarily unavailable: the limit is 1 processes and threads ($group/pids.max)"* ]]
}

@test "CPUs that a quota leaves" {
	[ "$(nproc)" -gt 1 ] || skip "there is one CPU only"
	group cpu
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: step
		    exec: "true"
		    taskCount: 8
		    outports: [{filename: out}]
	END
	run -0 within leat run --dry-run flow.yaml
	all=$output
	if [ "$group_version" = 1 ]; then
		echo 100000 >"$group/cpu.cfs_period_us"
		echo 90000 >"$group/cpu.cfs_quota_us"
	else
		echo '90000 100000' >"$group/cpu.max"
	fi
	run -0 within leat run --dry-run flow.yaml
	[[ $all == *"$(nproc) instances of ensembles"* ]]
	[[ $output == *" 1 instances of ensembles"* ]]
	# Half a CPU more is one more.
	if [ "$group_version" = 1 ]; then
		echo 150000 >"$group/cpu.cfs_quota_us"
	else
		echo '150000 100000' >"$group/cpu.max"
	fi
	run -0 within leat run --dry-run flow.yaml
	[[ $output == *" 2 instances of ensembles"* ]]
}

@test "CPUs that a set has" {
	[ "$(nproc)" -gt 1 ] || skip "there is one CPU only"
	group cpuset
	printf '%s\n' 'name: flow' 'dir: work' 'tasks: [{func: step, exec: "true", taskCount: 8, outports: [{filename: out}]}]' >flow.yaml
	[ "$group_version" = 2 ] || cat "$group_top/cpuset.mems" >"$group/cpuset.mems"
	taskset -pc $$ | sed 's/.*: //; s/[-,].*//' >"$group/cpuset.cpus"
	run -0 within leat run --dry-run flow.yaml
	echo "$output"
	[[ $output == *" 1 instances of ensembles"* ]]
}
