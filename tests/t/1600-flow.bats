#!/usr/bin/env bats
# Versions of a file under flow control, between real programs.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
}

teardown() {
	nothing_left
}

# flow IO_FREQ CONSUMER [KEYS]: a producer makes `x` ten times; the consumer, a script, reads it;
# KEYS are put into its task.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo \$i >x; sleep \${PACE:-0}; done'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash ../use
		    inports: [{filename: x, io_freq: $1}]
		    outports: [{filename: out}]
		    ${3:-}
	END
	printf '%s\n' "$2" >use
}

# Reads one version after another to the end.
# shellcheck disable=SC2016 # for the consumer's shell
ALL='while cat x; do sleep ${SLOW:-0}; done >out 2>err
grep -q "No such file" err'

@test "which versions are delivered" {
	while read -r freq expected; do
		rm -rf work && mkdir work
		flow "$freq" "$ALL"
		timeout 60 leat run --log log flow.yaml
		echo "io_freq $freq: $(tr '\n' ' ' <work/out)"
		[ "$(tr '\n' ' ' <work/out)" = "$expected${expected:+ }" ]
		leat replay flow.yaml log
		[ ! -e work/x ]
	done <<-END
		0 1 2 3 4 5 6 7 8 9 10
		1 1 2 3 4 5 6 7 8 9 10
		2 2 4 6 8 10
		3 3 6 9
		10 10
		11
	END
}

@test "the newest for a slow consumer, and the last for certain" {
	flow latest "$ALL"
	PACE=0.05 SLOW=0.12 timeout 60 leat run flow.yaml
	cat work/out
	sort -nC work/out
	[ "$(tail -n 1 work/out)" = 10 ]
	[ "$(wc -l <work/out)" -lt 9 ]
	flow -1 "$ALL"
	SLOW=0.02 timeout 60 leat run flow.yaml
	sort -nC work/out
	[ "$(tail -n 1 work/out)" = 10 ]
}

@test "a program for one version is launched for each" {
	# Found out, and told.
	for keys in '' 'relaunch: true'; do
		rm -rf work && mkdir work
		flow 2 'cat x >>out; cat x >>out; echo . >>../launches' "$keys"
		[ -n "$keys" ] || printf '%s\n' 'cat x >>out; echo . >>../launches' >use
		rm -f launches
		timeout 60 leat run flow.yaml
		cat work/out
		[ "$(uniq work/out | tr '\n' ' ')" = '2 4 6 8 10 ' ]
		[ "$(wc -l <launches)" = 5 ]
	done
}

@test "{filename}: each launch is for one version, however often it opens it" {
	flow 2 'cat "$1" "$1" "$1" | uniq >>out; test -e "$1"; echo . >>../launches' 'args: ["{filename}"]'
	rm -f launches
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = '2 4 6 8 10 ' ]
	[ "$(wc -l <launches)" = 5 ]
	leat check --canonical flow.yaml | grep -q '"relaunch": true'
	# unless it is told otherwise
	rm -rf work && mkdir work
	rm launches
	flow 2 'while cat "$1"; do :; done >out 2>/dev/null; echo . >>../launches' 'args: ["{filename}"]'
	echo '    relaunch: false' >>flow.yaml
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = '2 4 6 8 10 ' ]
	[ "$(wc -l <launches)" = 1 ]
}

@test "a launch for each file of a pattern, by its name" {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4 5 6; do echo \$i >plt0000\$i.h5; done'
		    outports: [{filename: 'plt*.h5'}]
		  - func: use
		    exec: bash ../use
		    args: ['{filename}']
		    inports: [{filename: 'plt*.h5', io_freq: 2}]
		    outports: [{filename: 'out*'}]
	END
	echo 'ls plt* >>../seen; cat "$1" >"out.$1"' >use
	timeout 60 leat run flow.yaml
	[ "$(cd work && echo out*)" = 'out.plt00002.h5 out.plt00004.h5 out.plt00006.h5' ]
	[ "$(cat work/out* | tr '\n' ' ')" = '2 4 6 ' ]
	cat seen
	[ "$(tr '\n' ' ' <seen)" = 'plt00002.h5 plt00004.h5 plt00006.h5 ' ]
}

@test "a circle of steps ends" {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: zero
		    exec: bash -e -c 'for i in 1 2 3 4 5; do echo \$i >a; cat c >>out || echo end; done'
		    outports: [{filename: a}, {filename: out}]
		    inports: [{filename: c, io_freq: 1}]
		  - func: one
		    exec: bash -c 'while x=\$(cat a 2>/dev/null); do echo one \$x >b; done'
		    outports: [{filename: b}]
		    inports: [{filename: a, io_freq: 1}]
		  - func: two
		    exec: bash -c 'for i in 1 2 3 4 5; do x=\$(cat b); [ \$i = 5 ] || echo two \$x >c; done'
		    outports: [{filename: c}]
		    inports: [{filename: b, io_freq: 1}]
	END
	timeout 60 leat run flow.yaml
	cat work/out
	[ "$(tail -n 1 work/out)" = 'two one 4' ]
	[ "$(wc -l <work/out)" = 4 ]
}

@test "growing versions, and an update of the one before" {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		permanent: [x]
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4; do echo \$i >>x; done'
		    outports: [{filename: x, mode: no_update}]
		  - func: use
		    exec: bash -c 'while cat x; do echo .; done >out 2>/dev/null; true'
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
	END
	timeout 60 leat run flow.yaml
	cat work/out
	[ "$(tr '\n' ' ' <work/out)" = '1 . 1 2 . 1 2 3 . 1 2 3 4 . ' ]
	# The last one is permanent.
	[ "$(tr '\n' ' ' <work/x)" = '1 2 3 4 ' ]
}

@test "versions made by rename, and removed by who made them" {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -ec 'for i in 1 2 3 4; do echo \$i >t; mv t x; [ \$i != 2 ] || rm x; done'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash -c 'while cat x; do :; done >out 2>/dev/null; true'
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
	END
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = '1 2 3 4 ' ]
}

@test "a program that looks at the beginning first" {
	need python3
	flow 1 "$ALL"
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3; do (echo \$i; head -c 20000 /dev/zero) >x; done'
		    outports: [{filename: x}]
		  - func: use
		    exec: python3 ../use.py
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
	END
	cat >use.py <<-'END'
		import os
		out = open("out", "w")
		while True:
		    try:
		        with open("x", "rb") as f:
		            magic = f.raw.read(8) if hasattr(f, "raw") else f.read(8)
		        size = os.stat("x").st_size
		        with open("x", "rb") as f:
		            data = f.read()
		    except FileNotFoundError:
		        break
		    assert data[:8] == magic and len(data) == size
		    out.write(data[:1].decode())
	END
	timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = 123 ]
}

@test "programs behind a mount" {
	built_with fuse
	need busybox
	for who in make use both; do
		rm -rf work && mkdir work
		flow 3 "$ALL"
		sed -i 's/bash/busybox sh/; s/2>err/2>err; true/; s/while cat/while busybox cat/' use
		[ $who = make ] || sed -i 's|exec: bash ../use|exec: busybox sh ../use|' flow.yaml
		[ $who = use ] || sed -i 's|exec: bash -c|exec: busybox sh -c|' flow.yaml
		timeout 60 leat run flow.yaml
		echo "$who: $(tr '\n' ' ' <work/out)"
		[ "$(tr '\n' ' ' <work/out)" = '3 6 9 ' ]
		grep -q 'No such file' work/err
	done
}

# The kernel tells of a last close when it likes, be it after the next open.
@test "behind a mount no open overtakes the close before it" {
	built_with fuse
	need busybox
	flow 50 "$ALL"
	sed -i 's|exec: bash -c.*|exec: busybox sh ../make.sh|' flow.yaml
	# shellcheck disable=SC2016 # for the producer's shell
	echo 'i=0; while [ $i -lt 500 ]; do i=$((i + 1)); echo $i >x; done' >make.sh
	for _ in 1 2 3 4 5; do
		rm -rf work && mkdir work
		timeout 60 leat run flow.yaml
		[ "$(tr '\n' ' ' <work/out)" = "$(seq -s ' ' 50 50 500) " ]
	done
}

@test "a consumer that ends early, and one that fails" {
	flow 1 'cat x x >out' 'relaunch: false'
	timeout 60 leat run flow.yaml
	[ "$(wc -l <work/out)" = 2 ]
	flow 1 'cat x >out; exit 3' 'relaunch: false'
	run timeout 60 leat run flow.yaml
	[ "$status" = 3 ]
	[[ $output == *'step use failed: exit 3'* ]]
}

@test "a producer that fails: no false end" {
	flow 1 "$ALL"
	sed -i 's/echo \\*$i >x; sleep.*; done/echo $i >x; [ $i != 3 ] || exit 7; done/' flow.yaml
	cat flow.yaml
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" = 7 ]
	[[ $output == *'step make failed: exit 7'* ]]
	run ! grep -q 'No such file' work/err
}

@test "what does not go with versions is refused" {
	flow 2 "$ALL"
	run -125 leat run --plain flow.yaml
	[[ $output == *'step use sees x in versions, which needs interception: leave --plain out'* ]]
	run -1 leat check --verify flow.yaml
	[[ $output == *'--verify does not know files in versions (x of step use)'* ]]
	flow -2 "$ALL"
	run -125 leat run flow.yaml
	echo "$output"
	[[ $output == *flow.yaml:9:*io_freq* ]]
	[ ! -e work/x ]
}
