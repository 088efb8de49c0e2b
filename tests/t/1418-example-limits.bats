#!/usr/bin/env bats
# An example, small, under each limit (tests/limits/run; make limits does all).
load helper

@test "lammps in 400 MB, with a small /dev/shm, with one CPU, with little address space: identical" {
	need lmp zstd taskset
	[ "$(id -u)" = 0 ] || skip "only root can make control groups"
	export LEAT_LIMITS_TIMES=0 TMPDIR=$BATS_TEST_TMPDIR
	run "$LEAT_SOURCE_DIR/tests/limits/run" --small lammps
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c identical <<<"$output")" -ge 3 ]
}
