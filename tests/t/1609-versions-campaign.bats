#!/usr/bin/env bats
# Random writers of versions, read in all ways; the long one is `make versions`.
load helper

@test "a few sequences of the campaign" {
	need python3
	"$LEAT_SOURCE_DIR/tests/versions/campaign" 1 50 --build "$LEAT_BUILD" --keep "$BATS_TEST_TMPDIR/keep"
}
