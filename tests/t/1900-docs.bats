#!/usr/bin/env bats
# Documents say what is so: their commands are executed (tests/docs/run).
bats_require_minimum_version 1.5.0
load helper

# pages PATTERN...: execute the commands of these pages. Some trace by ptrace, where a leat built with
# sanitizers cannot look for leaks.
pages() {
	cd "$LEAT_SOURCE_DIR" || return 1
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	TMPDIR=$BATS_TEST_TMPDIR python3 tests/docs/run "$@"
}

@test "the README" {
	pages README.md
}

@test "tutorials" {
	pages "$LEAT_SOURCE_DIR"/docs/tutorial/*.md
}

@test "howtos" {
	pages "$LEAT_SOURCE_DIR"/docs/howto/*.md
}

@test "a page that lies is found" {
	cd "$BATS_TEST_TMPDIR"
	page() {
		printf '%s\n' "$@" >page.md
		run python3 "$LEAT_SOURCE_DIR/tests/docs/run" page.md
		echo "$output"
	}
	page '```text file=x' 'one' '```' '```console' '$ cat x' 'one' '$ sleep 0.01; echo 0.3 s' '0.12 s' '```'
	[ "$status" = 0 ]
	page '```console' '$ echo one' 'two' '```'
	[ "$status" = 1 ]
	[[ $output == *'page.md:2: `echo one` prints something else'* ]]
	page '```console' '$ false' '```'
	[ "$status" = 1 ]
	[[ $output == *'page.md:2: `false` has ended with status 1'* ]]
	page '```console' '$ (exit 3)' '$ echo $?' '3' '```'
	[ "$status" = 0 ]
	page '<!-- not run: it would fail -->' '```console' '$ false' '```' '<!-- needs: no-such-program -->' '```console' '$ false' '```'
	[ "$status" = 0 ]
	[[ $output == *'page.md:6: the rest is skipped: needs no-such-program'* ]]
	page '```console' '$ seq 5' '1' '...' '5' '```'
	[ "$status" = 0 ]
	page '```console' '$ seq 5' '1' '...' '4' '```'
	[ "$status" = 1 ]
}
