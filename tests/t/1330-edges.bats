#!/usr/bin/env bats
# Threads, signals, stacks and children in the middle of a wait; daemons that are not there.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	edges=$LEAT_BUILD/tests/hooks/edges
	[ -x "$edges" ] || skip "tests/hooks/edges is not built"
}

teardown() {
	end_server
	nothing_left
}

# edge CASE: run it as consumer of a file that comes late and slowly.
edge() {
	both <<-END
		sleep 0.2
		for i in 1 2 3 4 5; do seq 2000; sleep 0.05; done > data
		---
		$edges $1 data > out
	END
}

@test "a thread is cancelled while it waits" { edge cancelled; }
@test "a handler jumps out of a wait" { edge jumped; }
@test "a handler on a small stack works while its thread waits" { edge handled; }
@test "a thread with a small stack" { edge small_stack; }
@test "threads leave no connections open" { edge many_threads; }
@test "a vfork child meets the daemon before its parent" { edge vforked; }
@test "forked children read at the same time" { edge forked; }

@test "descriptors go from program to program, and are not looked for where they are named" {
	both <<-'END'
		exec 5>data
		strace -f -e trace=openat -o looked bash -c 'bash -c "echo a >&5; exec bash -c \"echo b >&5\""'
		# exec in the same process by one that names nothing, and by a child of vfork
		env -i busybox sh -c 'echo c >&5; exec bash -c "echo d >&5"'
		python3 -c 'import subprocess; subprocess.run(["bash", "-c", "echo e >&5"], pass_fds=[5])'
		if [ -n "${LEAT_DIR:-}" ]; then
			if grep "/proc/self/fd\"" looked; then exit 1; fi
		fi
		---
		cat data > out
	END
}

@test "few descriptors are enough" {
	both <<-END
		ulimit -n 24
		for i in 1 2 3; do seq 2000; done > data
		---
		ulimit -n 24
		cat data | md5sum > out
		$edges many_threads data >> out
	END
}

@test "no daemon: EIO, one line that says what to do, nothing passed through" {
	mkdir work
	echo secret >work/file
	run -1 env LEAT_DIR="$PWD/work" LEAT_APP_NAME=x LD_PRELOAD="$LEAT_BUILD/src/preload/libleat.so" \
		cat work/file "$PWD/work/file"
	echo "$output"
	[ "$(grep -c 'leat: no leat daemon for .*/work: start it with leat run or leat serve' <<<"$output")" = 1 ]
	[[ $output == *"Input/output error"* && $output != *secret* ]]
	run -0 env LEAT_DIR="$PWD/work" LEAT_APP_NAME=x LD_PRELOAD="$LEAT_BUILD/src/preload/libleat.so" \
		cat /etc/hostname
}

@test "the daemon dies: EIO and one line, for who waits as well" {
	mkdir work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: make, exec: 'true', outports: [{filename: data, mode: no_update}]}
		  - {func: use, exec: 'true', inports: [{filename: data}]}
	END
	serve flow.yaml
	local step=(env LEAT_DIR="$PWD/work" LD_PRELOAD="$LEAT_BUILD/src/preload/libleat.so")
	"${step[@]}" LEAT_APP_NAME=make bash -c 'exec > work/data; echo 1; sleep 3' 3>&- &
	(sleep 1 && kill -9 "$(ours leat-daemon)") 3>&- &
	run -1 timeout 20 "${step[@]}" LEAT_APP_NAME=use cat work/data
	echo "$output"
	[[ $output == *"leat: the leat daemon for "*"/work is gone"* ]]
	[[ $output == *"Input/output error"* ]]
	sleep 2.5
	# the next one cleans up what the dead one left
	timeout 10 leat serve --timeout 1 flow.yaml >/dev/null 2>&1 3>&- || true
}
