#!/usr/bin/env bats
# leat check --verify: what it finds, as a trace for people and as a log that replays.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cat >ring.yaml <<-'END'
		name: ring
		tasks:
		  - func: ping
		    exec: sh -c 'cat pong.dat > ping.dat'
		    inports: [{filename: pong.dat}]
		    outports: [{filename: ping.dat, committed: on_close}]
		  - func: pong
		    exec: sh -c 'cat ping.dat > pong.dat'
		    inports: [{filename: ping.dat}]
		    outports: [{filename: pong.dat, committed: on_close}]
	END
	cat >chain.yaml <<-'END'
		name: chain
		tasks:
		  - {func: make, exec: sh -c 'seq 9 > x', outports: [{filename: x, committed: on_close}]}
		  - {func: use, exec: cp x y, inports: [{filename: x}], outports: [{filename: y}]}
	END
}

@test "a deadlock that depends on the order is found, shown, and replayed" {
	run -0 leat check ring.yaml
	run -1 leat check --verify --trace log ring.yaml
	echo "$output"
	[[ $output == *"deadlock after these 2 actions:"* ]]
	[[ $output == *"ping opens for reading pong.dat: it waits"* ]]
	[[ $output == *"pong opens for reading ping.dat: it waits"* ]]
	[[ $output == *"cycle: step "*" waits for "*"on_close"*"which needs"* ]]
	[[ $output == *"1 found" ]]
	run -0 leat replay ring.yaml log
	echo "$output"
	[[ $output == *" 0 differences" ]]
}

@test "a trace that was changed does not replay" {
	run -1 leat check --verify --trace log ring.yaml
	sed -i '/answer/s/code=2/code=0/' log
	run -1 leat replay ring.yaml log
	echo "$output"
	[[ $output != *" 0 differences" ]]
}

@test "a workflow without a circle passes, with steps that fail, too" {
	run -0 leat check --verify chain.yaml
	echo "$output"
	[[ $output == *"nothing found" ]]
	for how in direct twice temporary; do
		run -0 leat check --verify --failures 1 --writing $how chain.yaml
		[[ $output == *"nothing found" ]]
	done
	run -0 leat check --verify --full chain.yaml
	[[ $output == *"nothing found" ]]
}

@test "a file that is written in more goes than its rule says is a violation" {
	run -1 leat check --verify --closes 2 chain.yaml
	echo "$output"
	[[ $output == *"violation: a producer writes a file that its rule took for complete"* ]]
	[[ $output == *"x was opened for writing by step make after its commit"* ]]
	sed -i 's/on_close/on_close:2/' chain.yaml
	run -0 leat check --verify --closes 2 chain.yaml
}

@test "a deadlock that the file alone shows: the diagnostic, and how it comes about" {
	sed -i 's/, committed: on_close//' ring.yaml
	run -1 leat check --verify ring.yaml
	echo "$output"
	[[ $output == *"[L-CHECK-DEADLOCK]"* ]]
	[[ $output == *"no order ends well" ]]
}

@test "a search that is cut off says so" {
	run -0 leat check --verify --states 10 chain.yaml
	echo "$output"
	[[ $output == *"not all states were seen"* ]]
	[[ $output == *"--states"* ]]
}

@test "too large is said, a trace that cannot be written, too" {
	{
		echo "name: large"
		echo "tasks:"
		for i in $(seq 40); do
			echo "  - {func: step$i, exec: touch file$i, outports: [{filename: file$i}]}"
		done
	} >large.yaml
	run -1 leat check --verify large.yaml
	echo "$output"
	[[ $output == *"too large to be verified"* ]]
	run -1 leat check --verify --trace no/such/log ring.yaml
	[[ $output == *"no/such/log"*"No such file or directory"* ]]
}
