#!/usr/bin/env bats
# Listings of directories in which other steps have outputs: they hold what they would have held in a batch, or are named.
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

listed_outputs() {
	local outputs list
	for outputs in '{filename: "d/*"}' '{filename: d/1}, {filename: d/2}' '{filename: "d/**"}' '{filename: d}'; do
		for list in 'ls d >o' 'tar c d | tar t | sort >o'; do
			one_in 3 || continue
			begin
			step a '' "$outputs, {filename: tok, committed: on_close}" <<<'mkdir d; echo 1 >d/1; echo >tok; sleep 0.3; echo 2 >d/2'
			step b '{filename: tok}' '{filename: o}' <<<"cat tok; $list"
			run_both
		done
	done
}

@test "a listing waits for the outputs of an earlier step, though they are not declared" {
	each_way listed_outputs
}

listed_without_order() {
	local outputs list
	for outputs in '{filename: "d/*"}' '{filename: d/1}, {filename: d/2}' '{filename: "d/*"}, {filename: d}'; do
		# shellcheck disable=SC2016 # the step's
		for list in 'ls d >o' 'find d -type f | sort | xargs -r cat >o' 'cat d/* >o; true' 'cp -r d ../copy; ls ../copy >o; rm -r ../copy'; do
			one_in 5 || continue
			begin
			mkdir -p work/d batch/d
			step a '' "$outputs" <<<'sleep 0.2; echo 1 >d/1; sleep 0.1; echo 2 >d/2'
			step b '' '{filename: o}' <<<"$list"
			echo "$outputs; $list"
			run_both
		done
	done
}

@test "a listing waits for the outputs of a step without an order that the batch runs before" {
	each_way listed_without_order
}

listed_at_once() {
	begin
	rm -f seen
	step a '' '{filename: d/1, committed: on_close}, {filename: d/2, committed: on_close}, {filename: tok, committed: on_close}' <<<"mkdir d; echo 1 >d/1; echo >tok; echo 2 >d/2; $looked"
	step b '{filename: tok}' '{filename: o}' <<<'cat tok; ls d >o; cat o >../seen'
	timeout 60 leat run -q flow.yaml
	[ "$(cat work/o)" = $'1\n2' ]
}

@test "a listing does not wait for the end of a step whose outputs are complete" {
	each_way listed_at_once
}

# What a step has as input and output, and another one makes only names below.
edited_directory() {
	local outputs both edit
	for outputs in '{filename: "d/*"}' '{filename: d/f1}, {filename: d/f2}'; do
		for both in '{dirname: d}' '{filename: d}'; do
			# shellcheck disable=SC2016 # the step's
			for edit in 'find d -type f | sort >o' 'for f in d/f*; do [ -f "$f" ] && gzip -n "$f"; done; ls d >o' \
				'mkdir -p d; ls d >d/x; cp d/x o'; do
				one_in 5 || continue
				begin
				step make '' "$outputs" <<<'sleep 0.3; mkdir d; echo 1 >d/f1; sleep 0.1; echo 2 >d/f2'
				step edit "$both" "$both, {filename: o}" <<<"$edit"
				echo "make: $outputs; edit: $both; $edit"
				run_both
			done
		done
	done
}

@test "a directory is an input and an output of a step, and an earlier one makes what is in it" {
	each_way edited_directory
}

# left_over: the directory of an earlier run.
left_over() {
	mkdir work/d batch/d
	echo old | tee work/d/{f,g} batch/d/{f,g} >/dev/null
}

from_before_the_run() {
	local outputs use make
	for outputs in '{filename: "d/*"}' '{dirname: d}'; do
		for use in 'ls d >o' 'cd d; cat f >../o; ls >>../o' 'find d -type f | sort >o'; do
			for make in 'rm -r d; mkdir d' ':'; do
				one_in 5 || continue
				begin
				left_over
				step make '' "$outputs" <<<"sleep 0.2; $make; echo 1 >d/f; sleep 0.1; echo 2 >d/h"
				step use '{filename: "d/*"}' '{filename: o}' <<<"$use"
				echo "make: $outputs, $make; use: $use"
				run_both
			done
		done
	done
}

@test "a directory from before the run is waited for until a step before has made something in it" {
	each_way from_before_the_run
}

# Of a directory that both declare.
two_producers() {
	local use
	for use in 'find d -type f | sort >o' '[ -d d ] && echo there >o || echo none >o' 'cp -r d e; ls e >o; rm -r e'; do
		begin
		step make '' '{dirname: d}' <<<"sleep 0.2; mkdir d; echo 1 >d/f; sleep 0.1; echo 2 >d/h"
		step use '{filename: "d/*"}' '{dirname: d}, {filename: o}' <<<"$use; echo 3 >d/i"
		echo "$use"
		run_both
	done
}

@test "a directory that an earlier step has still to make is an output of the later one, too" {
	each_way two_producers
}

output_made_anew() {
	local both take
	for both in '' ', {dirname: d}'; do
		for take in 'rm -r d; mkdir d' 'mv d e; mkdir d'; do
			begin
			rm -f seen
			step make '' '{dirname: d}, {filename: x}' <<<"mkdir d; echo 0 >d/g; $looked; $take; echo 1 >d/f; echo >x"
			step use '{filename: "d/*"}, {filename: x}' "{filename: o}$both" <<<'until [ -d d ]; do sleep 0.01; done; exec 9<d; echo >../seen; ls /proc/self/fd/9/ >o'
			run -125 --separate-stderr timeout 60 leat run -q flow.yaml
			echo "$take: $stderr"
			grep -q '^leat: violation: d was read by step use and then re[a-z]* by step make, which in a batch ends before step use begins' <<<"$stderr"
		done
	done
}

@test "a declared directory is made anew after a later step has opened it: named" {
	each_way output_made_anew
}
