#!/usr/bin/env bats
# An example, small, under each limit (tests/limits/run; make limits does all).
load helper
load cgroup

@test "lammps in 400 MB, with a small /dev/shm, with one CPU, with little address space: identical" {
	need lmp zstd taskset
	group memory
	group_free
	export LEAT_LIMITS_TIMES=0 TMPDIR=$BATS_TEST_TMPDIR
	run "$LEAT_SOURCE_DIR/tests/limits/run" --small lammps
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c identical <<<"$output")" = 4 ]
}
