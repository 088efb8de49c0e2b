#!/usr/bin/env bats
# MPI jobs that wait for each other: found, although their launchers and libraries wait for messages
# all the time; and never where a rank may still act.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	local kind
	for kind in openmpi mpich; do
		! command -v mpicc.$kind >/dev/null ||
			mpicc.$kind -pthread -O1 -o "$BATS_FILE_TMPDIR/circle.$kind" "$BATS_TEST_DIRNAME/../mpi/circle.c"
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# For launchers that a test calls by itself.
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
}

teardown() {
	end_server
	nothing_left
}

# with KIND: the program, and the launcher that belongs to it.
with() {
	need "mpicc.$1" "mpirun.$1"
	program=$BATS_FILE_TMPDIR/circle.$1
	launcher=mpirun.$1
	export LEAT_MPI_LAUNCHER=$launcher
	mkdir -p work
}

# circle NAME COMMAND COMMAND: two tasks of `flow.yaml`; the first makes NAME.x and reads NAME.y, the
# other the other way round.
circle() {
	[ -e flow.yaml ] || printf '%s\n' 'name: circle' 'dir: work' 'tasks:' >flow.yaml
	cat >>flow.yaml <<-END_OF_TASKS
		  - func: ping_$1
		    exec: $2
		    inports: [{filename: $1.y}]
		    outports: [{filename: $1.x, committed: on_close}]
		  - func: pong_$1
		    exec: $3
		    inports: [{filename: $1.x}]
		    outports: [{filename: $1.y, committed: on_close}]
	END_OF_TASKS
}

# as_jobs: all tasks that run the program are jobs of two ranks.
as_jobs() {
	sed -i "s|^    exec: $program.*|&\n    nprocs: 2|" flow.yaml
}

# found KIND: two jobs.
found() {
	with "$1"
	circle a "$program a.y a.x all" "$program a.x a.y all"
	as_jobs
	run -125 timeout 90 leat run flow.yaml
	echo "$output"
	[[ $output == *"deadlock: these steps can never go on: ping_a, pong_a"$'\n'* ]]
	[[ $output == *"each rank of the MPI job of step ping_a has waited"* ]]
	[[ $output == *"cycle: step "*" waits for "*", which needs"* ]]
	[ "$(grep -c '^step ping_a waits for a.y' <<<"$output")" = 1 ]
}

@test "two jobs of Open MPI wait for each other" {
	found openmpi
}

@test "two jobs of MPICH wait for each other" {
	found mpich
}

# The file of the patched C library, which is mapped, is removed before the
# job is looked at, as it is when two processes make it at the same time.
@test "two jobs whose patched C library has lost its name" {
	local status=0 pid tries
	with mpich
	circle a "$program a.y a.x all" "$program a.x a.y all"
	as_jobs
	timeout 90 leat run flow.yaml >out 2>&1 3>&- &
	pid=$!
	for ((tries = 0; tries < 100; tries++)); do
		! compgen -G "$LEAT_RUNTIME_DIR/*/sites/*.image" >/dev/null || break
		sleep 0.1
	done
	sleep 1
	rm "$LEAT_RUNTIME_DIR"/*/sites/*.image
	wait $pid || status=$?
	cat out
	[ $status = 125 ]
	grep -q '^leat: deadlock: these steps can never go on: ping_a, pong_a' out
}

# acts KIND: a rank acts after more time than a job must have been at rest.
acts() {
	local way
	with "$1"
	for way in compute sleep poll child; do
		circle $way "$program $way.y $way.x $way 8" "bash -c 'cat $way.x && echo 1 >$way.y'"
	done
	as_jobs
	run -0 timeout 120 leat run flow.yaml
	echo "$output"
	[[ $output != *deadlock* ]]
}

@test "a rank of Open MPI computes, sleeps, polls, or has a child that does" {
	acts openmpi
}

@test "a rank of MPICH computes, sleeps, polls, or has a child that does" {
	acts mpich
}

@test "launchers that give up after a time" {
	with openmpi
	circle a "bash -c '$launcher --timeout 8 -n 2 $program a.y a.x all || echo 1 >a.x'" "bash -c 'cat a.x && echo 1 >a.y'"
	with mpich
	circle b "bash -c 'MPIEXEC_TIMEOUT=8 $launcher -n 2 $program b.y b.x all || echo 1 >b.x'" "bash -c 'cat b.x && echo 1 >b.y'"
	run -0 timeout 90 leat run flow.yaml
	echo "$output"
	[[ $output != *deadlock* ]]
}

# serves KIND: the same beside leat serve. What acts does so long after the others are found.
serves() {
	with "$1"
	circle a true true
	circle b true true
	serve flow.yaml
	export LEAT_DIR=$PWD/work
	(until grep -q deadlock: served.err; do sleep 0.1; done; sleep 3; echo 1) | leat exec --app ping_a -- "$launcher" -n 2 "$program" work/a.y work/a.x input &
	input=$!
	leat exec --app ping_b -- "$launcher" -n 2 "$program" work/b.y work/b.x all &
	leat exec --app pong_a -- bash -c 'cat work/a.x && echo 1 >work/a.y' &
	pong=$!
	run timeout 60 leat exec --app pong_b -- bash -c 'cat work/b.x && echo 1 >work/b.y'
	[ "$status" = 1 ]
	grep -q "deadlock: these steps can never go on: ping_b, pong_b" served.err
	wait "$input"
	wait "$pong"
	[ "$(grep -c deadlock: served.err)" = 1 ]
	kill "$server"
	wait "$server" || true
	server=
}

@test "serve: Open MPI is found, but not where a rank gets input from outside" {
	serves openmpi
}

@test "serve: MPICH is found, but not where a rank gets input from outside" {
	serves mpich
}
