#!/usr/bin/env bats
# A run within a step of another run: its daemon and steps see the step's files, or it is refused.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p work/sub
	cat >work/sub/inner.yaml <<-'END'
		name: inner
		tasks:
		  - func: a
		    exec: sh -c 'cat x >m && echo a >>m'
		    inports: [{filename: x}]
		    outports: [{filename: m}]
		  - func: b
		    exec: sh -c 'cat m >y && echo b >>y'
		    inports: [{filename: m}]
		    outports: [{filename: y}]
	END
}

teardown() {
	nothing_left
}

# outer COMMAND [LINE]: `nest` runs the command on sub/x, which comes late, and makes sub/y.
outer() {
	cat >outer.yaml <<-END
		name: outer
		dir: work
		tasks:
		  - func: first
		    exec: sh -c 'sleep 0.3; echo first >sub/x'
		    outports: [{filename: sub/x}]
		  - func: nest
		    exec: $1
		    ${2:-}
		    inports: [{filename: sub/x}]
		    outports: [{filename: sub/y}]
		  - func: last
		    exec: sh -c 'cat sub/y >z'
		    inports: [{filename: sub/y}]
		    outports: [{filename: z}]
	END
}

# good [OPTION...]: the run makes what the batch makes; the record of the inner one is where the user wants records.
good() {
	rm -rf work/z work/sub/[xy] "${LEAT_STATE_DIR:?}"/*
	run -0 timeout 100 leat run "$@" outer.yaml
	[ "$(cat work/z)" = $'first\na\nb' ]
	[ -n "$(state_of work/sub)" ]
}

can_mount() {
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
}

@test "by its path, and from its directory" {
	built_with fuse
	can_mount
	outer 'leat run --dir sub sub/inner.yaml'
	good
	outer "sh -c 'cd sub && leat run inner.yaml'"
	good
	good --plain
}

@test "on plain files" {
	built_with fuse
	can_mount
	outer "sh -c 'cd sub && leat run --plain inner.yaml'"
	good
	good --plain
}

@test "in a staged step" {
	outer "sh -c 'cd sub && leat run inner.yaml'" 'staged: true'
	good
}

@test "behind a mount already" {
	built_with fuse
	can_mount
	static_linking
	gcc -static -o shell -x c - <<-'END'
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			return argc < 2 || system(argv[1]) ? 1 : 0;
		}
	END
	outer "$PWD/shell \"cd sub && leat run inner.yaml\""
	good
}

@test "in the directory of the outer run it is refused" {
	built_with fuse
	can_mount
	cp work/sub/inner.yaml work
	touch work/x
	outer "leat run inner.yaml"
	run timeout 100 leat run outer.yaml
	[ "$status" != 0 ]
	[[ $output == *"[nest]"*"leat: $PWD/work is the directory of the run of which this is a step: "* ]]
}

@test "where no mount can be made it is refused" {
	outer 'leat run --dir sub sub/inner.yaml'
	unshare -rm true 2>/dev/null || skip "no user namespace can be made here"
	run -125 no_mount timeout 100 leat run outer.yaml
	[[ $output == *"[nest]"*"leat run within step nest of another run needs a mount to see its files, and cannot have one here: "* ]]
	[ ! -e work/z ] || [ ! -s work/z ]
}
