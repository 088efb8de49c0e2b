#!/usr/bin/env bats
# Small reads and writes that the library copies itself, mixed with all else that can be done to an
# open file: the bytes, the offsets and the sizes are the batch's.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	windows=$LEAT_BUILD/tests/hooks/windows
	[ -x "$windows" ] || skip "tests/hooks/windows is not built"
}

teardown() {
	nothing_left
}

# stream SEED MODE
stream() {
	cat >flow.yaml <<-END
		name: windows
		dir: work
		tasks:
		  - {func: append, exec: $windows append $1 data, outports: [{filename: data, mode: $2}]}
		  - {func: read, exec: $windows read $1 data, inports: [{filename: data}]}
		  - {func: read2, exec: $windows read $1 data, inports: [{filename: data}]}
	END
}

# edit SEED MODE
edit() {
	cat >flow.yaml <<-END
		name: windows
		dir: work
		tasks:
		  - {func: edit, exec: $windows edit $1 data copy, outports: [{filename: data}, {filename: copy}]}
		  - {func: compare, exec: cmp data copy, inports: [{filename: data}, {filename: copy}]}
	END
}

# seeds FIRST LAST MODE WORKFLOW
seeds() {
	local seed
	for seed in $(seq "$1" "$2"); do
		echo "# seed $seed"
		"$4" "$seed" "$3"
		rm -rf work
		mkdir work
		timeout 60 leat run --log log flow.yaml || return 1
		leat replay flow.yaml log || return 1
		[ -z "$(ls work)" ] || return 1
	done
}

@test "the programs are right on plain files" {
	mkdir work
	for seed in 1 2 3; do
		"$windows" append $seed work/data
		"$windows" read $seed work/data
		"$windows" edit $seed work/data work/copy
		cmp work/data work/copy
	done
}

@test "appended and read while it grows" { seeds 1 12 no_update stream; }
@test "appended, read when it is complete" { seeds 1 6 update stream; }
@test "changed at random" { seeds 1 12 update edit; }

@test "read by processes that share an offset, while it grows little by little" {
	local shared=$LEAT_BUILD/tests/hooks/shared
	[ -x "$shared" ] || skip "tests/hooks/shared is not built"
	cat >flow.yaml <<-END
		name: shared
		dir: work
		tasks:
		  - {func: write, exec: $shared write data 1 alone, outports: [{filename: data0, mode: no_update}]}
		  - {func: read, exec: $shared read data 1, inports: [{filename: data0}]}
	END
	for _ in 1 2 3; do
		rm -rf work
		mkdir work
		run -0 timeout 60 leat run flow.yaml
		[[ $output == *"data0: 1530 records"* ]]
	done
}
