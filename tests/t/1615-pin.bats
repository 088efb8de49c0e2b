#!/usr/bin/env bats
# leat run --pin: CPUs for each running step, as the steps themselves find them.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
	mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
}

teardown() {
	nothing_left
}

# In each step: the CPUs it may use, to the file cpus in its directory.
tell='grep Cpus_allowed_list /proc/self/status >cpus'

# of STEP...: the CPUs that each found, a line each.
of() {
	local step
	for step in "$@"; do
		cut -f 2 "work/$step/cpus"
	done
}

# together N: a task of N instances, which end when all of them run.
together() {
	cat >flow.yaml <<-END
		name: pin
		dir: work
		tasks:
		  - func: a
		    taskCount: $1
		    exec: bash -c '$tell; touch ../../here.{instance}; until [ \$(ls ../../here.* | wc -l) = $1 ]; do sleep 0.05; done'
		    outports: [{filename: cpus}]
	END
	rm -rf work here.*
	mkdir work
}

@test "steps that run at once have CPUs of their own" {
	[ "${#cpus[@]}" -ge 2 ] || skip "this machine has one CPU"
	together 2
	run -0 --separate-stderr timeout 60 taskset -c "${cpus[0]},${cpus[1]}" leat run --pin flow.yaml
	[ "$(of a.0 a.1)" = "${cpus[0]}"$'\n'"${cpus[1]}" ]
	# shellcheck disable=SC2154 # by run
	[ -z "$stderr" ]
	# Without it none is pinned.
	together 2
	timeout 60 taskset -c "${cpus[0]},${cpus[1]}" leat run flow.yaml
	[ "$(of a.0)" = "$(of a.1)" ]
	[[ $(of a.0) == "${cpus[0]}"[-,]"${cpus[1]}" ]]
	# From the environment.
	together 2
	LEAT_PIN=1 timeout 60 leat run flow.yaml
	[ "$(of a.0)" != "$(of a.1)" ]
}

@test "more instances than CPUs share them evenly, and that is told once" {
	[ "${#cpus[@]}" -ge 2 ] || skip "this machine has one CPU"
	together 6
	run -0 --separate-stderr timeout 60 taskset -c "${cpus[0]},${cpus[1]}" leat run --pin --jobs 6 --report report flow.yaml
	[ "$(of a.{0..5} | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = '3 3 ' ]
	echo "$stderr"
	[ "$(grep -c -e --pin <<<"$stderr")" = 1 ]
	[[ $stderr == *'--pin: step a.2 and those that run need more CPUs than there are'* ]]
	report 'len(r["problems"]) == 1'
}

@test "within the CPUs that leat may use" {
	local last=${cpus[-1]}
	together 3
	run -0 timeout 60 taskset -c "$last" leat run --pin --jobs 3 flow.yaml
	[ "$(of a.{0..2} | sort -u)" = "$last" ]
	run -0 taskset -c "$last" leat run --dry-run --pin flow.yaml
	[ "$(grep -c "^  cpus    $last\$" <<<"$output")" = 4 ]
}

@test "CPUs are free again when a launch has ended" {
	[ "${#cpus[@]}" -ge 2 ] || skip "this machine has one CPU"
	# One at a time: each finds the first CPU free.
	cat >flow.yaml <<-END
		name: pin
		dir: work
		tasks:
		  - func: a
		    taskCount: 5
		    exec: bash -c '$tell'
		    outports: [{filename: cpus}]
	END
	run -0 --separate-stderr timeout 60 leat run --pin --jobs 1 flow.yaml
	[ "$(of a.{0..4} | sort -u)" = "${cpus[0]}" ]
	[ -z "$stderr" ]
	# And each launch for a version.
	cat >flow.yaml <<-END
		name: pin
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4; do echo \$i >x; done'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash -c 'cat x; grep Cpus_allowed_list /proc/self/status >>cpus'
		    relaunch: true
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: cpus}]
	END
	timeout 60 leat run --pin flow.yaml
	[ "$(grep -cE ':	[0-9]+$' work/cpus)" = 4 ]
}

@test "who waits for others' files keeps nobody from a CPU" {
	[ "${#cpus[@]}" -ge 2 ] || skip "this machine has one CPU"
	cat >flow.yaml <<-END
		name: pin
		dir: work
		tasks:
		  - func: make
		    taskCount: 4
		    exec: bash -c '$tell; sleep 0.3; echo >x'
		    outports: [{filename: x}, {filename: cpus}]
		  - func: use
		    taskCount: 4
		    exec: bash -c 'cat x; grep Cpus_allowed_list /proc/self/status >used'
		    inports: [{filename: x}]
		    outports: [{filename: used}]
	END
	timeout 60 taskset -c "${cpus[0]},${cpus[1]}" leat run --pin flow.yaml
	for i in 0 1 2 3; do
		[[ $(of "make.$i") =~ ^[0-9]+$ ]]
		[[ $(cut -f 2 "work/use.$i/used") =~ ^[0-9]+$ ]]
	done
}

@test "steps of a batch, too" {
	cat >flow.yaml <<-END
		name: pin
		dir: work
		tasks:
		  - func: a
		    exec: bash -c '$tell'
		    outports: [{filename: cpus}]
	END
	timeout 60 leat run --plain --pin flow.yaml
	[ "$(of .)" = "${cpus[0]}" ]
}

@test "MPI: a job has a CPU for each of its processes" {
	local kind
	[ "${#cpus[@]}" -ge 2 ] || skip "this machine has one CPU"
	for kind in openmpi mpich; do
		need "mpirun.$kind"
		together 1
		sed -i 's/taskCount: 1/nprocs: 2/; s/>cpus/>cpus.$$/; s/{filename: cpus}/{filename: "cpus.*"}/; s/touch.*done/:/' flow.yaml
		cat flow.yaml
		run -0 --separate-stderr timeout 60 taskset -c "${cpus[0]},${cpus[1]}" leat run --pin --mpi-launcher "mpirun.$kind" flow.yaml
		echo "$stderr"
		[ -z "$stderr" ]
		[ "$(cat work/cpus.* | wc -l)" = 2 ]
		[ "$(cut -f 2 work/cpus.* | sort -u)" = "${cpus[0]}-${cpus[1]}" ] || [ "$(cut -f 2 work/cpus.* | sort -u)" = "${cpus[0]},${cpus[1]}" ]
		# More processes than CPUs: all of them share all.
		sed -i 's/nprocs: 2/nprocs: 3/' flow.yaml
		rm -rf work && mkdir work
		run -0 --separate-stderr timeout 60 taskset -c "${cpus[0]}" leat run --pin --mpi-launcher "mpirun.$kind" flow.yaml
		[[ $stderr == *'--pin: step a and those that run need more CPUs'* ]]
		[ "$(cut -f 2 work/cpus.* | sort | uniq -c | tr -s ' ')" = " 3 ${cpus[0]}" ]
	done
}
