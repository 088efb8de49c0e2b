#!/usr/bin/env bats
# The same calls on a directory of leat and on one outside do the same.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	compare=$LEAT_SOURCE_DIR/tests/posix/compare
	[ -x "$LEAT_BUILD/tests/posix/differ" ] || skip "tests/posix/differ is not built"
	export TMPDIR=$BATS_TEST_TMPDIR
}

# calls VARIANT FIRST N [AS...]: half of N sequences, all of them with LEAT_ALL=1, as one_in (helper.bash).
calls() {
	"${@:4}" "$compare" "$1" "$2" $(($2 + $3 / ${LEAT_ALL:-2} - 1)) 200
}

@test "random calls, in the store, update" { calls update 1 40; }
@test "random calls, in the store, no_update" { calls no_update 41 40; }
@test "random calls, on disk" { calls disk 81 40; }

@test "random calls of an ordinary user" {
	export TMPDIR=/tmp
	calls update 121 20 nobody
	calls disk 141 20 nobody
}
