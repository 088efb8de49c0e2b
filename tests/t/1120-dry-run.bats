#!/usr/bin/env bats
# leat run --dry-run: what would be started, and that nothing is.
# shellcheck disable=SC2154 # server: of helper.bash
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: use
		    exec: bash -c 'cat "$1"' sh {filename}
		    inports: [{filename: x, io_freq: 2}]
		    outports: [{filename: out}]
		  - func: make
		    taskCount: 3
		    exec: bash -c 'echo {instance}; echo it'\''s >x'
		    outports: [{filename: x}]
		  - func: last
		    exec: sha256sum out
		    staged: true
		    inports: [{filename: out}]
	END
}

teardown() {
	end_server
	nothing_left
}

# everything: all that is below the working directory, with times and contents.
everything() {
	find . -printf '%p %y %s %T@\n' | sort
}

# of STEP: the lines about it.
of() {
	sed -n "/^step $1\\( \\|\$\\)/,/^\$/p" <<<"$output"
}

@test "commands, directories, environment, ways, links" {
	built_with fuse
	local before
	echo 'def act(vol, rank): pass' >acts.py
	sed -i 's/taskCount: 3/taskCount: 3\n    actions: [acts, act]/' flow.yaml
	before=$(everything)
	run -0 leat run --dry-run flow.yaml
	echo "$output"
	[ "$(everything)" = "$before" ]
	[[ $output == *"workflow flow: nothing is started"* ]]
	[ "$(grep '^step' <<<"$output" | tr '\n' ,)" = 'step make.0 (0 of 3 of make),step use,step last,step make.1 (1 of 3 of make),step make.2 (2 of 3 of make),' ]
	of make.1 >said
	grep -qxF "  dir     $PWD/work/make.1" said
	grep -qxF "  command $(command -v bash) -c 'echo 1; echo it'\\''s >x'" said
	grep -qxF "  via     preload of $(realpath "$LEAT_BUILD/src/preload/libleat.so")" said
	grep -qxF "  actions act of acts.py" said
	grep -qxF "  env     LEAT_TASK=make" said
	grep -qxF "  env     LEAT_INSTANCE=1" said
	grep -qxF "  env     LEAT_INSTANCES=3" said
	grep -qxF "  env     LEAT_DIR=$PWD/work" said
	grep -q "^  env     LD_PRELOAD=.*/libleat.so$" said
	grep -qE "^  writes  make.1/x +to use +\(on_close, update\)$" said
	of use >said
	grep -qF "cat \"\$1\"' sh '{filename}'" said
	grep -qE '^  starts +for each version of its inputs$' said
	grep -qE '^  sees +x +every 2nd, from make.0, make.1, make.2$' said
	of last | grep -qE '^  via +plain files \(staged'
	[[ $(of last) != *LD_PRELOAD* ]]
	run -0 leat run --dry-run --jobs 7 flow.yaml
	[[ $output == *'at once 7 instances of ensembles'* ]]
}

@test "what it says is what is started" {
	local command
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: tell
		    taskCount: 2
		    exec: bash -c 'pwd; env; printf "<%s>\n" "$@"' sh "a  b" "it's" {instance} ""
		    outports: [{filename: "x*"}]
	END
	run -0 leat run --dry-run flow.yaml
	of tell.1 | sed -n 's/^  env     //p' >told
	command=$(of tell.1 | sed -n 's/^  command //p')
	# A shell reads the command line as it is meant.
	sh -c "$command" | grep '^<' >words
	leat run flow.yaml >out
	sed -n 's/^\[tell.1\]  *//p' out >said
	grep -qxF "$PWD/work/tell.1" said
	diff words <(grep '^<' said)
	[ "$(wc -l <told)" -ge 8 ]
	while IFS= read -r line; do
		echo "told: $line"
		grep -qxF -- "$line" said
	done <told
}

@test "the way of each program: mount, sealed, batch" {
	built_with fuse
	need busybox
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: a, exec: busybox true, outports: [{filename: x}]}
		  - {func: b, exec: cat x, inports: [{filename: x}]}
	END
	run -0 leat run --dry-run flow.yaml
	echo "$output"
	of a | grep -qE '^  via +mount \(statically linked\)$'
	of a | grep -q "leat mount-exec $(command -v busybox) busybox true$"
	run leat run --dry-run --sealed flow.yaml
	[ "$status" != 0 ] || of b | grep -qE '^  via +mount \(--sealed\)$'
	run -0 leat run --dry-run --plain flow.yaml
	echo "$output"
	[[ $output == *'2, one after another on plain files'* ]]
	of b | grep -qE '^  via +plain files \(--plain\)$'
	[[ $output != *LD_PRELOAD* ]]
}

@test "MPI: the launcher and its options" {
	printf '%s\n' '#!/bin/sh' 'echo "$@" >>launched' >launcher
	chmod +x launcher
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, nprocs: 3, exec: sort -r -, outports: [{filename: x}]}
	END
	run -0 leat run --dry-run --mpi-launcher "$PWD/launcher --deep 'a b'" flow.yaml
	echo "$output"
	of a | grep -qxF "  command $PWD/launcher --deep 'a b' -n 3 $(command -v sort) -r -"
	of a | grep -q '  env     OMPI_MCA_hwloc_base_binding_policy=none'
	[ -z "$(find . -name launched)" ]
}

@test "what keeps a run from starting keeps this from succeeding" {
	local flow options expected got
	while IFS='|' read -r flow options; do
		printf '%s\n' 'name: flow' 'dir: work' 'tasks:' "  - {func: a, $flow, outports: [{filename: x}]}" >bad.yaml
		expected=0 got=0
		# shellcheck disable=SC2086 # several words
		leat run $options bad.yaml >said 2>&1 || expected=$?
		# shellcheck disable=SC2086
		leat run --dry-run $options bad.yaml >also 2>&1 || got=$?
		echo "$flow $options: $expected $got $(cat also)"
		[ "$got" != 0 ]
		[ "$got" = "$expected" ]
		diff said also
	done <<-'END'
		exec: no-such-program|
		exec: ./no-such-program|--plain
		exec: /|
		nprocs: 2, exec: "true"|--mpi-launcher no-such-launcher
		exec: "true"|--dir nowhere
		exec: "true", taskCount: 0|
		exec: "true"|--report nowhere/r
		exec: "true"|--log nowhere/r
		exec: "true"|--spill-dir nowhere
	END
	[ -z "$(ls -A work)" ]
	[ ! -e r ]
}

@test "a run that is going on" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: a, exec: "true", outports: [{filename: x}]}
	END
	serve flow.yaml
	run -125 leat run --dry-run flow.yaml
	[[ $output == *"another leat run is using $PWD/work: wait for its end, or stop it"* ]]
	kill "$server"
	wait
	run -0 leat run --dry-run flow.yaml
}

@test "--resume: what would be skipped, and why" {
	local before
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [x, y]
		tasks:
		  - func: a
		    exec: bash -c 'echo 1 >x'
		    outports: [{filename: x}]
		  - func: b
		    exec: bash -c 'cat x >y; [ ! -e ../broken ]'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
	touch broken
	run -1 leat run flow.yaml
	before=$(everything)
	run -0 leat run --dry-run --resume flow.yaml
	echo "$output"
	[ "$(everything)" = "$before" ]
	of a | grep -qE '^  resume +skipped: '
	[[ $(of a) != *"  command "* ]]
	of b | grep -qE '^  resume +run: '
	of b | grep -q command
	run -0 leat run --dry-run --resume --plain flow.yaml
	of a | grep -qE '^  resume +skipped: '
}
