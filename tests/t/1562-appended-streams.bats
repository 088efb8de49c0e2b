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

@test "the directory of the run lies in the workflow's: what programs inherit is found all the same" {
	local way
	cat >w.yaml <<-'END'
		name: w
		dir: work
		tasks:
		  - func: a
		    exec: bash -c 'mkdir d; cd d; seq 3 >x; sleep 0.2; seq 5 >>x; (cd ..; exec bash -c "echo z >d/y")'
		    outports: [{filename: d/x, committed: 'on_close:2', mode: no_update}, {filename: d/y}]
		  - func: b
		    exec: bash -c 'cd d; wc -l <x; bash -c "cat y"; ls'
		    inports: [{filename: d/x}, {filename: d/y}]
	END
	for way in patch wrap mount; do
		[ -c /dev/fuse ] || [ $way != mount ] || continue
		echo "# $way"
		rm -rf work
		mkdir -p work/run
		chmod 700 work/run
		LEAT_INTERCEPT=$way LEAT_RUNTIME_DIR=$PWD/work/run timeout 60 leat run w.yaml 2>&1 | tee output
		[ "$(sed -n 's/^\[b\] //p' output)" = $'8\nz\nx\ny' ]
	done
}
