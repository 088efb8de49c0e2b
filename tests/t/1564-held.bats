#!/usr/bin/env bats
# Outputs of a later step that an earlier one has open: what it does with them is done before, as in a batch.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

# chain SCRIPT SCRIPT: a workflow of two steps; `one` makes a.txt and go, `two` reads them when they are closed, and makes x and b.txt.
chain() {
	printf '%s\n' ': >>a.txt' "$1" >one.sh
	printf '%s\n' "$2" >two.sh
	cat >w.yaml <<-END
		name: w
		dir: work
		permanent: [a.txt, x, b.txt, go]
		tasks:
		  - func: one
		    exec: ${MOUNT:+env LEAT_INTERCEPT=mount }bash ../one.sh
		    outports: [{filename: a.txt}, {filename: go, committed: on_close}]
		  - func: two
		    exec: ${MOUNT:+env LEAT_INTERCEPT=mount }bash ../two.sh
		    inports: [{filename: a.txt}, {filename: go}]
		    outports: [{filename: x}, {filename: b.txt}]
	END
}

# same [SETUP]: streamed it leaves what the batch leaves, and no conflict is told.
same() {
	rm -rf work batch
	mkdir work
	(cd work && eval "${1-}")
	run -0 --separate-stderr leat run --plain w.yaml
	mv work batch
	mkdir work
	(cd work && eval "${1-}")
	run --separate-stderr leat run w.yaml
	# shellcheck disable=SC2154 # of bats
	echo "$status: $stderr"
	[ "$status" = 0 ]
	[[ $stderr != *violation* ]]
	diff -r batch work
}

@test "held for writing since before the producer has made it" {
	local late
	for late in 'exec 9>>x' 'exec 9>x' 'exec 9<>x'; do
		chain "echo first >x; $late; echo >go; sleep 0.5; echo 2 >&9; exec 9>&-; echo end >>a.txt" \
			'cat go; echo two >>x; cat x >b.txt'
		same
		[[ $stderr == *"step two waits before it changes x: step one, which in a batch ends before, has it open"* ]]
		same 'echo old >x'
	done
}

@test "held for writing until the step ends, by a child, and by a mapping" {
	chain 'exec 9>>x; echo >go; sleep 0.5; echo 2 >&9' 'cat go; echo two >>x; cat x >b.txt'
	same
	chain '(echo 1; sleep 0.5; echo 2) >x & echo >go; wait' 'cat go; echo two >x; cat x >b.txt'
	same
	need python3
	cat >map.py <<-'END'
		import mmap, time
		with open("x", "w+b") as f:
		    f.truncate(3)
		    m = mmap.mmap(f.fileno(), 3)
		print(file=open("go", "w"))
		time.sleep(0.5)
		m[:] = b"one"
		m.close()
	END
	chain 'python3 -P ../map.py' 'cat go; echo two >>x; cat x >b.txt'
	same
}

@test "changed by the producer by each call" {
	local change
	for change in ': >x' 'rm x; echo new >x' 'echo n >n; mv n x' 'truncate -s 1 x' 'mv x y; cp y x' 'ln -f go x' 'sed -i s/a/b/ x'; do
		chain 'echo aaaa >x; exec 9>>x; echo >go; sleep 0.3; echo aaa >&9' "cat go; $change; cat x >b.txt"
		same
	done
}

@test "held for reading" {
	chain 'exec 8<x; echo >go; sleep 0.5; cat <&8 >>a.txt' 'cat go; echo two >>x; cat x >b.txt'
	same 'echo old >x'
	chain 'echo one >x; exec 8<x; echo >go; sleep 0.5; cat <&8 >>a.txt' 'cat go; echo two >>x; cat x >b.txt'
	same
}

@test "read by its producer while an earlier step writes it" {
	chain 'exec 9>x; echo 1 >&9; echo >go; sleep 0.5; echo 2 >&9' 'cat go; cat x >b.txt; echo two >x'
	same
	[[ $stderr == *"step two waits before it reads x: step one, which in a batch ends before, has it open"* ]]
}

@test "behind a mount" {
	local MOUNT=1
	chain 'exec 9>>x; echo >go; sleep 0.5; echo 2 >&9' 'cat go; echo two >>x; cat x >b.txt'
	same
	chain 'exec 8<x; echo >go; sleep 0.5; cat <&8 >>a.txt' 'cat go; echo two >>x; cat x >b.txt'
	same 'echo old >x'
}

@test "looked at by its producer before an earlier step changes it: named" {
	chain 'echo >go; until [ -e ../on ]; do sleep 0.02; done; echo one >x' \
		'cat go; [ -e x ] || echo none >b.txt; touch ../on; echo two >>b.txt'
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was looked for by step two and then created by step one, which in a batch ends before step two begins" <<<"$stderr"
}

@test "a step between uses what an earlier one has made: it waits" {
	cat >w.yaml <<-'END'
		name: w
		dir: work
		permanent: [b.txt]
		tasks:
		  - func: one
		    exec: bash -c 'echo >go; echo one >x; touch ../made; until [ -e ../near ]; do sleep 0.02; done; sleep 1; echo 1 >>x'
		    outports: [{filename: go, committed: on_close}]
		  - func: two
		    exec: bash -c 'cat go; until [ -e ../made ]; do sleep 0.02; done; touch ../near; cat x >b.txt'
		    inports: [{filename: go}]
		    outports: [{filename: b.txt}]
		  - func: three
		    exec: bash -c 't=$(cat b.txt); echo "$t" >x'
		    inports: [{filename: b.txt}]
		    outports: [{filename: x}]
	END
	run --separate-stderr leat run w.yaml
	echo "$status: $stderr"
	[ "$status" = 0 ]
	[ "$(cat work/b.txt)" = $'one\n1' ]
	[[ $stderr == *"step two uses x, which step one uses without declaring it: it waits for that step's end"* ]]
}
