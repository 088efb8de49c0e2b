#!/usr/bin/env bats
# The example workflows, small: streamed, compared with their batch, their event log replayed.
load helper

setup() {
	work=$BATS_TEST_TMPDIR/work
	mkdir -p "$work"
}

# example NAME PROGRAM...
example() {
	local dir=$LEAT_SOURCE_DIR/examples/$1 run
	shift
	need "$@"
	for run in batch leat; do
		"$dir/prepare.sh" "$work/$run" --small || skip "the data cannot be had here"
	done
	"$dir/batch.sh" "$work/batch"
	run=$(cd "$work/leat" && leat check workflow.yaml 2>&1)
	[ -z "$run" ] || {
		echo "leat check: $run"
		return 1
	}
	(cd "$work/leat" && leat run --log "$work/log" workflow.yaml)
	"$dir/compare.sh" "$work/batch" "$work/leat"
	(cd "$work/leat" && leat replay workflow.yaml "$work/log")
	nothing_left
}

@test "lammps: outputs identical, log replays" {
	example lammps lmp zstd
}

@test "ensemble: outputs identical, log replays" {
	example ensemble lmp gawk
}

@test "hmmer: outputs identical, log replays" {
	example hmmer phmmer seqkit
}

@test "variants: outputs identical, log replays" {
	example variants fastp bwa samtools bcftools dwgsim
}

@test "small-files: outputs identical, log replays" {
	example small-files seqkit
}
