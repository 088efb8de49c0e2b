#!/usr/bin/env bats
# A consumer that touches its input writes nothing: no violation, and the times are set.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	nothing_left
}

# flow RULE COMMANDS
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c '(echo one; sleep 0.2; echo two) >x'
		    outports: [{filename: x, $1}]
		  - func: use
		    exec: sh -c '$2'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
}

@test "touch of an input, by the time and to a time" {
	for rule in 'mode: update' 'mode: no_update' 'committed: on_close'; do
		flow "$rule" 'touch x; touch -d @1000 x; cat x >y; stat -c %Y x >>y'
		for plain in "" --plain; do
			rm -f work/*
			run -0 timeout 60 leat run $plain flow.yaml
			[[ $output != *violation* ]]
			[ "$(cat work/y)" = $'one\ntwo\n1000' ]
		done
	done
}

@test "written and touched it is a violation" {
	flow 'mode: update' 'cat x >y; (echo three; touch -d @1000 /dev/fd/1; touch x) >>x'
	run -125 timeout 60 leat run flow.yaml
	[[ $output == *"violation: x was written by step use at bytes 8 to 13, "* ]]
}
