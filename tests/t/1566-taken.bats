#!/usr/bin/env bats
# Steps that take their inputs away, and steps that replace what they read: as in the batch, or named.
# shellcheck disable=SC2154 # stderr: run sets it
bats_require_minimum_version 1.5.0
load helper
load steps

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# A later step goes by the input x of `take` before that takes it away.
used_before() {
	local take look
	for take in 'rm x; echo >y' 'mv x x.done; echo >y' 'gzip -nc x >x.gz; unlink x; echo >y'; do
		for look in '{filename: y}|[ -e x ] && echo stale >z || echo clean >z; cat y >>z' \
			'{filename: y}, {filename: x}|cat x y >z 2>/dev/null; :' \
			'{filename: y}|cp x z 2>/dev/null || echo none >z; cat y >>z'; do
			one_in 2 || continue
			begin
			step make '' '{filename: x}' <<<'seq 5 >x'
			step take '{filename: x}' '{filename: y}' <<<"sleep 0.5; $take"
			step look "${look%%|*}" '{filename: z}' <<<"${look#*|}"
			run -125 --separate-stderr timeout 60 leat run -q flow.yaml
			echo "$take, $look: $stderr"
			grep -q '^leat: violation: x was read by step look and then re[a-z]* by step take, which in a batch ends before step look begins; leave it there, or have a step remove it that comes after both$' <<<"$stderr"
		done
	done
}

@test "a step takes its input away after a later one has gone by it: a conflict" {
	each_way used_before
}

other_mode() {
	step make '' '{filename: x}' <<<'seq 5 >x'
	step change '{filename: x}' '{filename: y}' <<<'sleep 0.5; chmod 755 x; echo >y'
	step look '{filename: x}, {filename: y}' '{filename: z}' <<<'[ -x x ] && echo can >z || echo cannot >z; cat y >>z'
	timeout 60 leat run -q flow.yaml 2>log
	cat log
	grep -qx 'leat: warning: step change gives x, which is complete, mode 755: others have seen it with mode 644; let the step that makes the file set it' log
}

@test "a step gives its input another mode after a later one has looked: a warning" {
	each_way other_mode
}

used_after() {
	step make '' '{filename: x}' <<<'seq 5 >x'
	step take '{filename: x}' '{filename: y}' <<<'sleep 0.3; cat x >y; rm x'
	step look '{filename: y}' '{filename: z}' <<<'cat y >z; [ -e x ] || echo clean >>z'
	run_both
	grep clean work/z
}

@test "a later step that goes by it afterwards finds nothing" {
	each_way used_after
}

other_consumer() {
	step make '' '{filename: x}' <<<'seq 5 >x'
	step early '{filename: x}' '{filename: o}' <<<'cat x >o'
	step take '{filename: x}, {filename: o}' '{filename: y}' <<<'cat x o >y; rm x'
	run_both
}

@test "a step before it that has read it is no conflict" {
	each_way other_consumer
}

# Each first use of a step that reads x and writes it, or says so, replaces it.
replaced() {
	local replace
	for replace in 'seq 4 >x' 'seq 4 | tee x >/dev/null' 'seq 3 >n; mv n x' 'seq 3 >n; ln -f n x' 'mv x t; cat t t >x' \
		'sort -r -o x x' 'sed -i s/3/three/ x' 'echo k >>x' 'rm x; seq 2 >x'; do
		one_in 2 || continue
		begin
		step make '' '{filename: x}' <<<'sleep 0.3; seq 6 >x'
		step change '{filename: x}' '{filename: x}' <<<"$replace"
		step use '{filename: x}' '{filename: o}' <<<'cat x >o'
		echo "$replace"
		run_both
	done
}

@test "a step that has the file as input and output, and replaces it first, waits for it" {
	each_way replaced
}

exchanged() {
	step make '' '{filename: p}, {filename: q}' <<<'seq 3 >p; seq 5 >q; sleep 0.2; mv p t; mv q p; mv t q'
	step change '{filename: p}, {filename: q}' '{filename: p}, {filename: q}' <<<'mv p t2; mv q p; mv t2 q'
	run_both
}

@test "two files that both steps exchange" {
	each_way exchanged
}
