#!/usr/bin/env bats
# A stream that its producer appends to, process by process.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "cat, which has the kernel copy where it can, appends to what has been read" {
	mkdir work
	echo old >work/in
	cat >w.yaml <<-'END'
		name: w
		dir: work
		permanent: [o1, o2]
		tasks:
		  - func: a
		    exec: bash -c 'echo no >>o1; until [ -e ../seen ]; do sleep 0.05; done; cat in >>o1; cat in in >>o1'
		    outports: [{filename: o1, mode: no_update}]
		  - func: b
		    exec: bash -c '(head -c 3; touch ../seen; cat) <o1 >o2'
		    inports: [{filename: o1}]
		    outports: [{filename: o2}]
	END
	timeout 60 leat run w.yaml
	[ "$(cat work/o2)" = $'no\nold\nold\nold' ]
}
