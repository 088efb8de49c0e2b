#!/usr/bin/env bats
# The parts of bench/run that start many processes or make many files, small: do they come to their end,
# with every byte right? Nothing is asserted of time.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	bench=$(realpath "$LEAT_BUILD/bench")
	[ -x "$bench/bench_many" ] || skip "the benchmarks are not built (-Dbench=true)"
}

# part NAME: measure it, small, once; the figures are in figures.json.
part() {
	"$LEAT_SOURCE_DIR/bench/run" --quick --cold --rounds 1 --only "$1" --dir "$PWD" --json figures.json >said || {
		cat said
		return 1
	}
	[ -z "$(ls -d bench-* 2>/dev/null)" ]
}

@test "rounds of short programs" {
	part processes
	jq -e '."rounds of programs" | .rounds == 20 and .leat[0] > 0 and .batch[1] > 0' figures.json
}

@test "many small files: the time of each, and what the daemon keeps" {
	part files
	jq -e '."many files" | .count == 20000 and .late_us[0] > 0 and .kept_bytes[0] > 0' figures.json
}

@test "many names" {
	part names
	jq -e '."growing names".count == 1000 and (["find", "ls", "ls-l", "rm-r"] | length) == 4' figures.json
	jq -e '[."names find", ."names ls", ."names ls-l", ."names rm-r"] | all(.read_s > 0 and .own_s > 0)' figures.json
}

@test "readers that wait" {
	part waits
	jq -e '."waits 3 20" | .programs >= 0 and .daemon > 0' figures.json
}

@test "many programs at once" {
	part fans
	jq -e '[."fans one", ."fans out", ."fans in", ."fans crowd"] | all(.leat[1] > 0 and .tmpfs[1] > 0)' figures.json
}

@test "steps that compute on too few processors" {
	part cores
	jq -e '[."cores 1", ."cores 2"] | all(.batch > 0 and .make > 0 and .leat > 0)' figures.json
}

@test "what is not right is found" {
	mkdir d
	"$bench/bench_names" make d 10
	"$bench/bench_names" list d 10
	mv d/name_000003 d/name_000011
	run "$bench/bench_names" list d 10
	[ "$status" = 3 ]
	[[ $output == *"10 names instead of 10, 1 of them wrong"* ]]
	run "$bench/bench_many" 3 names list d @
	[ "$status" = 3 ]
	[[ $output == *"3 of 3 processes failed"* ]]
	"$bench/bench_filter" -n 2 -c 1 -o a
	"$bench/bench_filter" -i a -c 1 -o b
	[ "$(stat -c %s b)" = 131072 ]
	run cmp -s a b
	[ "$status" = 1 ]
	truncate -s -1 a
	run "$bench/bench_filter" -i a -c 1 -o b
	[ "$status" = 3 ]
	[[ $output == *"a ends within a block"* ]]
}

@test "mistakes in the command line" {
	for program in "names make" "many 0 names" "filter -c 1" "produce -b 1000 . 0 1 1K 4K"; do
		# shellcheck disable=SC2086 # words
		run "$bench"/bench_$program
		[ "$status" = 2 ]
	done
}
