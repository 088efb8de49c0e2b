#!/usr/bin/env bats
# leat trace of the example workflows, small: the bytes of each file are those that strace sees, by
# one tracer of each, by every one that is usable here in make combinations.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# prepared EXAMPLE PROGRAM...: its inputs are in `inputs`.
prepared() {
	local name=$1
	shift
	need strace "$@"
	"$LEAT_SOURCE_DIR/examples/$name/prepare.sh" inputs --small || skip "the data cannot be had here"
}

# agrees EXAMPLE [TRACER...]: by these (default: all); by all with LEAT_ALL=1, as one_in (helper.bash).
agrees() {
	local example=$1
	shift
	[ -z "${LEAT_ALL:-}" ] || set --
	run "$LEAT_SOURCE_DIR/tests/trace/agree" "$LEAT_SOURCE_DIR/examples/$example" --inputs inputs --dir . "$@"
	echo "$output"
	[ "$status" != 77 ] || skip "${lines[-1]}"
	[ "$status" = 0 ]
	grep 'not tried' <<<"$output" | sed 's/^/# /' >&3 || true
}

@test "lammps: bytes of each file as strace counts them" {
	prepared lammps lmp zstd
	agrees lammps ebpf
}

@test "hmmer: bytes of each file as strace counts them" {
	prepared hmmer phmmer seqkit
	awk '/^>/ {k++} k > 5 {exit} {print}' inputs/query.fa >few
	mv few inputs/query.fa
	agrees hmmer preload
}

@test "variants: bytes of each file as strace counts them" {
	prepared variants fastp bwa samtools bcftools dwgsim
	agrees variants ptrace
}

@test "small-files: bytes of each file as strace counts them" {
	prepared small-files seqkit
	agrees small-files fuse
}

@test "what differs is named, and is a failure" {
	need strace
	mkdir example
	cat >example/prepare.sh <<-'END'
		#!/bin/sh
		mkdir "$1" && echo some >"$1/in"
	END
	cat >example/batch.sh <<-'END'
		#!/bin/sh
		cd "$1" && cat in >out
	END
	cat >other <<-'END'
		#!/bin/sh
		leat "$@"; status=$?
		while [ "$1" != -o ]; do shift; done
		sed -i '/,[RW],5,/d' "$2"
		exit $status
	END
	chmod +x example/*.sh other
	run "$LEAT_SOURCE_DIR/tests/trace/agree" example --dir "$PWD" --leat "$PWD/other" ptrace
	echo "$output"
	[ "$status" != 77 ] || skip "${lines[-1]}"
	[ "$status" = 1 ]
	[[ $output == *"out: read and written [0, 0] by leat, [0, 5] by strace"* ]]
	run "$LEAT_SOURCE_DIR/tests/trace/agree" example --dir "$PWD" ptrace
	[ "$status" = 0 ]
	[[ $output == *"5 bytes read, 5 written: agree"* ]]
}
