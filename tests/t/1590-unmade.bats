#!/usr/bin/env bats
# Outputs that a step spells out and, having ended well, has not made; what failed steps have printed.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	end_server
	nothing_left
}

# `temporary` and `kept` are spelt out and not made; what only a pattern names need not be.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c '${1:-echo one >x}'
		    outports: [{filename: x}, {filename: temporary}, {filename: "part*"}]
		  - func: use
		    exec: sh -c '${2:-cat x >y}'
		    inports: [{filename: x}, {filename: temporary}]
		    outports: [{filename: y}, {filename: kept}, {dirname: results}]
	END
}

# flows STATUS [OPTION...]: run it, streamed and as a batch; both end with that status and make the same.
flows() {
	local status=$1
	shift
	for plain in "" --plain; do
		rm -rf work/x work/y
		run "-$status" timeout 60 leat run $plain --report report "$@" flow.yaml
		[ "$(cat work/y)" = one ]
	done
}

unmade='step make ended with status 0 but did not make its output temporary; take it out of the step'

@test "an output that was not made is a warning, a permanent one an error" {
	flow
	flows 125
	[[ $output == *"leat: warning: $unmade"* ]]
	[[ $output == *"leat: step use ended with status 0 but did not make its output kept; "* ]]
	[[ $output == *"leat: step use ended with status 0 but did not make its output results; "* ]]
	grep -q '^not made: temporary (step make ended with status 0 without making it)$' <<<"$output"
	grep -q '^not made: kept, results (step use ended with status 0 without making it)$' <<<"$output"
	report '[(f["name"], f["step"]) for f in r["not_made"] if f["error"]] == [("kept", "use"), ("results", "use")]'
	report '[(f["name"], f["step"]) for f in r["not_made"] if not f["error"]] == [("temporary", "make")]'
	report 'len(r["problems"]) == 3 and r["exit_status"] == 125 and "kept" in r["why"]'
}

@test "temporary ones alone let the run end well, but not with --strict" {
	flow '' 'cat x >y; echo two >kept; mkdir results; touch results/x'
	flows 0
	[[ $output == *"leat: warning: $unmade"* ]]
	rm -r work/*
	flows 125 --strict
	[[ $output == *"leat: $unmade"* ]]
	[[ $output != *warning* ]]
	report 'r["not_made"] == [{"name": "temporary", "step": "make", "error": True}]'
}

@test "--on-violation warn makes warnings of them all, --strict errors" {
	flow
	flows 0 --on-violation warn
	[ "$(grep -c '^leat: warning: step .* ended with status 0 but did not make' <<<"$output")" = 3 ]
	flows 125 --on-violation warn --strict
	[ "$(grep -c '^leat: step .* ended with status 0 but did not make' <<<"$output")" = 3 ]
}

@test "what is there from before the run, or was made and is used up, is no loss" {
	mkdir -p work/results
	echo old >work/kept
	flow 'echo one >x; echo t >temporary' 'cat x temporary >/dev/null; cat x >y; rm temporary'
	flows 0 --strict
	[[ $output != *"not made"* ]]
	[ "$(cat work/kept)" = old ]
	report 'r["not_made"] == []'
}

@test "what a step removes again itself, or only another producer makes" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c 'echo one >x; echo two >y; rm x'
		    outports: [{filename: x}, {filename: y}]
		  - func: also
		    exec: sh -c 'echo three >z'
		    outports: [{filename: y}, {filename: z}]
	END
	for plain in "" --plain; do
		rm -f work/*
		run -125 timeout 60 leat run $plain flow.yaml
		grep -q '^not made: x (step make' <<<"$output"
		[ "$(grep -c '^not made' <<<"$output")" = 1 ]
	done
}

@test "what another step has removed or renamed is not told to be never made" {
	local change
	for change in 'rm x' 'mv x y'; do
		cat >flow.yaml <<-END
			name: flow
			dir: work
			permanent: [x, z, go]
			tasks:
			  - func: make
			    exec: bash -c 'echo one >x; echo go >go; sleep 0.3'
			    outports: [{filename: x}, {filename: go, committed: on_close}]
			  - func: tidy
			    exec: bash -c 'cat go >z; $change'
			    inports: [{filename: go}]
			    outports: [{filename: z}, {filename: x}]
		END
		rm -f work/*
		run -125 timeout 60 leat run --report report flow.yaml
		echo "$output"
		[[ $output == *"leat: step tidy has removed x, an output of step make; leave it there, or take it out of that step's outputs"* ]]
		grep -q '^removed: x (by step tidy; step make had made it)$' <<<"$output"
		[[ $output != *"not made"* && $output != *"did not make"* ]]
		report 'r["not_made"] == [{"name": "x", "step": "make", "removed_by": "tidy", "error": True}]'
		report 'r["why"] == "step tidy has removed x, an output of step make"'
		run -125 timeout 60 leat run --resume --report report flow.yaml
		report '"its output x was removed by step tidy" in str(r)'
		[[ $output == *"leat: step make is run: it was not complete in the last run: its output x was removed by step tidy"* ]]
	done
}

@test "of a step that fails, or is not run, nothing is missed" {
	flow 'exit 3'
	for plain in "" --plain; do
		run -3 timeout 60 leat run $plain flow.yaml
		[[ $output != *"not made"* ]]
	done
}

@test "versions, launches for them, and instances" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    taskCount: 2
		    exec: bash -c 'for i in 1 2 3; do echo $i >x; done'
		    outports: [{filename: x, mode: update}]
		  - func: use
		    taskCount: 2
		    exec: bash -c 'cat x >> all'
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: all}, {filename: more}]
	END
	run -125 timeout 60 leat run flow.yaml
	grep -q '^not made: use.0/more (step use.0 ended with status 0 without making it)$' <<<"$output"
	grep -q '^not made: use.1/more (step use.1 ended with status 0 without making it)$' <<<"$output"
	[ "$(grep -c '^not made' <<<"$output")" = 2 ]
	[ "$(cat work/use.1/all)" = "$(seq 3)" ]
}

@test "a step that did not make all is not complete for --resume" {
	flow '' 'cat x >y; [ ! -e ../now ] || { echo two >kept; mkdir results; touch results/x; }'
	for plain in "" --plain; do
		rm -rf work/* now
		run -125 timeout 60 leat run $plain flow.yaml
		touch now
		run -0 timeout 60 leat run $plain --resume flow.yaml
		grep -q '^leat: step use is run: it was not complete in the last run: its output kept was not made' <<<"$output"
		[ "$(cat work/kept)" = two ]
	done
}

@test "leat serve tells them, too" {
	flow
	serve flow.yaml
	leat exec --app make --dir work -- sh -c 'cd work; echo one >x'
	leat exec --app use --dir work -- sh -c 'cd work; cat x >y'
	kill -INT "$server"
	ended 125 "$server" served served.err
	grep -q '^not made: kept, results (step use' served
	grep -q "^leat: warning: $unmade" served.err
}

@test "what a failed step has printed stays on disk, that of others does not" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: bad
		    exec: sh -c 'echo first; echo second >&2; exit 3'
		    outports: [{filename: "b*"}]
		  - func: good
		    exec: echo fine
		    outports: [{filename: "g*"}]
	END
	for plain in "" --plain; do
		run -3 timeout 60 leat run --quiet $plain --report report flow.yaml
		grep -qx "leat: step bad failed: exit 3; what it printed is in $(state_of work)/flow-bad.log" <<<"$output"
		[ "$(sort "$(state_of work)/flow-bad.log")" = $'first\nsecond' ]
		[ "$(find work "$(state_of work)" -name '*.log' | wc -l)" = 1 ]
		report 'steps["bad"]["log"] == "'"$(state_of work)"'/flow-bad.log" and "log" not in steps["good"]'
	done
	sed -i 's/exit 3/exit 0/' flow.yaml
	run -0 timeout 60 leat run flow.yaml
	[ -z "$(find work "$(state_of work)" -name '*.log')" ]
}

@test "of much output the beginning and the end are kept, of all processes" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: a/b
		    exec: bash -c 'seq 100000; (sleep 0.5; echo late) & exit 1'
		    outports: [{filename: "b*"}]
	END
	run -1 timeout 60 leat run --quiet flow.yaml
	local log
	log=$(state_of work)/flow-a_b.log
	[ "$(head -n 1 "$log")" = 1 ]
	[ "$(tail -n 1 "$log")" = late ]
	[ "$(tail -n 2 "$log" | head -n 1)" = 100000 ]
	grep -Eq '^\[leat: [0-9]+ bytes are left out here\]$' "$log"
	[ "$(stat -c %s "$log")" -lt 170000 ]
}

@test "a link that stands where the log is to be is not followed" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: bad
		    exec: sh -c 'echo words; ln -s HERE/precious "$0/flow-bad.log"; exit 3' PLACE
		    outports: [{filename: "b*"}]
	END
	echo keep >precious
	run -3 timeout 60 leat run flow.yaml
	sed -i "s|HERE|$PWD|; s|PLACE|$(state_of work)|" flow.yaml
	rm "$(state_of work)/flow-bad.log"
	run -3 timeout 60 leat run flow.yaml
	[ "$(cat precious)" = keep ]
	[ "$(cat "$(state_of work)/flow-bad.log")" = words ]
}

@test "made in memory, while the file from before the run stays on disk: told" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: one, exec: "bash -c 'echo new >x'", outports: [{filename: x}]}
		  - {func: two, exec: cp x y, inports: [{filename: x}], outports: [{filename: y}]}
	END
	echo old >work/x
	run -0 --separate-stderr leat run flow.yaml
	[[ $stderr == *"warning: step one made x, which is not permanent: the file of that name on disk is the one from before the run; remove it, or declare the output permanent"* ]]
	[ "$(cat work/x work/y)" = $'old\nnew' ]
	# Not if it is permanent, and not if it was not there.
	sed -i 's/^dir:.*/&\npermanent: [x]/' flow.yaml
	run -0 --separate-stderr leat run flow.yaml
	[ -z "$stderr" ]
	[ "$(cat work/x)" = new ]
	sed -i '/permanent/d' flow.yaml
	rm work/x
	run -0 --separate-stderr leat run flow.yaml
	[ -z "$stderr" ]
}
