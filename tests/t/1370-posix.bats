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

@test "random calls, in the store, update" { "$compare" update 1 20 200; }
@test "random calls, in the store, no_update" { "$compare" no_update 41 60 200; }
@test "random calls, on disk" { "$compare" disk 81 100 200; }

@test "random calls of an ordinary user" {
	export TMPDIR=/tmp
	nobody "$compare" update 121 130 200
	nobody "$compare" disk 141 150 200
}
