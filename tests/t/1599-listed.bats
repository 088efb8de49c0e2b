#!/usr/bin/env bats
# What a staged step finds that lists the workflow's directory: nothing of leat's own, or it is named.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	nothing_left find . -name '.leat-*'
}

# listed LIST SCRIPT [OPTION...]: a staged step with a script, `list`, and beside it one that is streamed, `make`, whose
# consumer makes `o`. `../ready` tells the first that the second has come so far.
listed() {
	printf '%s\n' "$1" >list.sh
	printf '%s\n' "$2" >make.sh
	printf '%s\n' "${use:-cat p* >o}" >use.sh
	shift 2
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: list
		    staged: true
		    exec: bash -eu ../list.sh
		  - func: make
		    exec: bash -eu ../make.sh
		    outports: [{filename: 'p*'}]
		    ${private:+private: [$private]}
		  - func: use
		    exec: bash -eu ../use.sh
		    inports: [{filename: 'p*'}]
		    outports: [{filename: o}]
		permanent: [o${permanent:+, $permanent}]
	END
	timeout 100 leat run -q "$@" flow.yaml 2>log || { cat log; return 1; }
	cat log
}

# shellcheck disable=SC2016
until_ready='until [ -e ../ready ]; do sleep 0.05; done'

@test "what memory has no space for lies beside the directory that a staged step lists" {
	listed "$until_ready; ls -A >../list; find . >../found; tar cf ../tar ." \
		'seq 3000000 >p; touch ../ready; sleep 1; ls -A .. >../beside' --memory 4M
	grep -q '^\.leat-spill-' beside
	cat list found
	run ! grep -F .leat- list found
	tar tf tar >members
	run ! grep -F .leat- members
	run ! grep 'which is staged, finds' log
}

@test "files that are saved meanwhile have no other names in it, and replace those that are there" {
	local i permanent="'p*'" use='cat p* >o; sleep 1; touch ../ready'
	for i in 1 2 3 4 5 6 7 8; do
		echo old >work/p$i
		chmod 644 work/p$i
	done
	: >list
	# shellcheck disable=SC2016
	listed 'until [ -e ../ready ]; do ls -A >>../list; done' \
		'for i in 1 2 3 4 5 6 7 8 9; do head -c 5000000 /dev/zero >p$i; done'
	[ "$(cat work/p? | wc -c)" = 45000000 ]
	grep -qx p1 list
	run ! grep -F .leat- list
	run ! grep 'which is staged, finds' log
}

@test "private files of a step that runs at the same time are named" {
	local private=tmp
	listed "$until_ready; ls -A >../list" 'echo x >tmp; touch ../ready; sleep 1; cat tmp >p'
	grep -q '^\.leat-private-' list
	grep -Eq 'leat: warning: step list, which is staged, finds \.leat-private-[A-Za-z0-9]{6} if it lists the workflow.s directory: .*; leave \.leat-\* out of the listing, or have ' log
}

@test "private files of a step that has ended are gone before a staged one lists" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -euc 'echo x >tmp; cat tmp >p'
		    private: [tmp]
		    outports: [{filename: p}]
		  - func: list
		    staged: true
		    exec: bash -euc 'ls -A >../list'
		    inports: [{filename: p}]
		permanent: [p]
	END
	timeout 60 leat run -q flow.yaml 2>log
	cat log list
	run ! grep -F .leat- list
	run ! grep 'which is staged, finds' log
}

@test "a place for what memory has no space for that lies in the directory is named" {
	mkdir work/disk
	listed "$until_ready; find . >../list" 'seq 3000000 >p; touch ../ready; sleep 1' --memory 4M --spill-dir work/disk
	grep -q '^\./disk/\.leat-spill-' list
	grep -q 'leat: warning: step list, which is staged, finds disk/\.leat-spill-.*; leave \.leat-\* out of the listing, or name another place with --spill-dir$' log
}

@test "what a killed daemon has left beside the directory is removed by the next run with a staged step" {
	mkdir .leat-spill-abcdef
	touch .leat-spill-abcdef/data
	listed 'true' 'echo 1 >p'
	[ ! -e .leat-spill-abcdef ]
}
