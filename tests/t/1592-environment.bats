#!/usr/bin/env bats
# What steps find around them.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	nothing_left
}

@test "PWD is where a step starts, whoever tells it" {
	cat >flow.yaml <<-'END'
		name: flow
		tasks:
		  - {func: one, exec: printenv PWD, outports: [{filename: "x*"}]}
		  - {func: staged, staged: true, exec: printenv PWD, outports: [{filename: "y*"}]}
		  - {func: many, taskCount: 2, exec: printenv PWD, outports: [{filename: "z*"}]}
	END
	for plain in "" --plain; do
		run -0 timeout 60 leat run $plain --dir work flow.yaml
		[ "$(grep -c "^\[.*\] *$PWD/work$" <<<"$output")" = 2 ]
		[ "$(grep -c "^\[many\.[01]\] *$PWD/work/many\.[01]$" <<<"$output")" = 2 ]
	done
	ln -s work link
	run -0 timeout 60 leat run --dry-run --dir link flow.yaml
	grep -qx "  env     PWD=$PWD/work/many.1" <<<"$output"
}

@test "behind a mount an instance of an ensemble knows which it is" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    taskCount: 2
		    exec: env LEAT_INTERCEPT=mount bash -c 'echo $LEAT_TASK $LEAT_INSTANCE of $LEAT_INSTANCES >out'
		    outports: [{filename: out}]
	END
	run -0 leat run w.yaml
	[ "$(cat one.0/out one.1/out)" = $'one 0 of 2\none 1 of 2' ]
}
