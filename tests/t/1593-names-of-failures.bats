#!/usr/bin/env bats
# Messages name what failed, also where a directory was only listed.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	nothing_left
}

@test "a step that lists the directory of failed inputs: the input is named, not the directory" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: map
		    exec: sh -c 'echo 1 >part.1; exit 3'
		    outports: [{filename: "part.*"}]
		  - func: reduce
		    exec: sh -c 'ls >/dev/null; echo done >out'
		    inports: [{filename: "part.*"}]
		    outports: [{filename: out}]
	END
	run -3 timeout 60 leat run --report report flow.yaml
	grep -qE '^leat: step reduce failed: its input part\.\* failed(;|$)' <<<"$output"
	grep -qxF 'leat: step reduce cannot list .: what its input part.* stands for will never be complete' <<<"$output"
	[[ $output != *"input  failed"* ]]
	report 'steps["reduce"]["cause"] == "its input part.* failed"'
}

@test "the same in a directory below, of inputs that are not written as the outputs are" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: map
		    taskCount: 2
		    exec: sh -c 'mkdir -p d; echo 1 >d/part; exit {instance}'
		    outports: [{filename: d/part}]
		  - func: reduce
		    exec: sh -c 'ls d >/dev/null; echo done >out'
		    inports: [{filename: "d/p*"}]
		    outports: [{filename: out}]
	END
	run timeout 60 leat run flow.yaml
	[ "$status" != 0 ]
	run ! grep -E 'input +failed|^leat: +failed' <<<"$output"
}
