#!/usr/bin/env bats
# What bench/scheduling is made of: a slow device by FUSE, and an application that writes checkpoints
# to it by tasks. Small; nothing is asserted of time.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	bench=$(realpath "$LEAT_BUILD/bench")
	[ -x "$bench/bench_slowdev" ] || skip "the benchmarks are not built (-Dbench=true)"
	mkdir slow store
}

# on_device COMMAND...: run it, in bash, while the device is mounted.
on_device() {
	local user=()

	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	unshare --mount "${user[@]}" true || skip "no namespace to mount in"
	[ -w /dev/fuse ] || skip "/dev/fuse cannot be opened"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount "${user[@]}" bash -euc '
		coproc device { exec "$0/bench_slowdev" slow store 2000; }
		pid=$device_PID
		read -r said <&"${device[0]}"
		[ "$said" = ready ]
		eval "$1"
		kill "$pid"
		wait "$pid"' "$bench" "$1"
}

@test "files on the device are files" {
	# shellcheck disable=SC2016
	on_device '
		head -c 300000 /dev/urandom >data
		cp data slow/a
		cmp data slow/a
		cmp data store/a
		dd if=data of=slow/a bs=1000 seek=2 count=1 conv=notrunc status=none
		[ "$(stat -c %s slow/a)" = 300000 ]
		truncate -s 10 slow/a
		[ "$(stat -c %s store/a)" = 10 ]
		mkdir slow/dir
		[ "$(ls slow)" = "$(printf "a\ndir")" ]
		[ "$(stat -f -c %t slow)" = 65735546 ] # FUSE: coreutils have had several names for it
		rmdir slow/dir
		rm slow/a
		! cat slow/a 2>message
		grep -q "No such file" message'
	[ -z "$(ls -A slow)$(ls -A store)" ]
}

@test "checkpoints are what they are without tasks, in each mode" {
	cat >resources.yaml <<-END
		resources:
		  nodes:
		    - name: localhost
		      computing_units: 2
		      io_executors: 8
		      storage: [{name: slow, bandwidth: 64, paths: [$PWD/slow]}]
	END
	"$bench/bench_checkpoint" reference expected 80 8K 2
	# shellcheck disable=SC2016
	LEAT_RESOURCES=resources.yaml on_device '
		for mode in plain none 16 auto "auto(8,64,2)"; do
			LEAT_TASK_REPORT=report.json "$0/bench_checkpoint" run expected 80 8K 2 slow "$mode" >>seconds
			cp report.json "report.$mode.json"
		done
		[ -z "$(ls -A slow)" ]'
	[ "$(grep -c '^[0-9]*\.[0-9]*$' seconds)" = 5 ]
	jq -e '.task_types | map(select(.task == "checkpoint"))[0] | .io == false and .done == 80' report.plain.json
	jq -e '.devices[0].peak_tasks <= 4 and .devices[0].peak_allocated_mbps <= 64' report.16.json
	jq -e '.task_types | map(select(.task == "checkpoint"))[0].epochs[0] | .slots == 8 and .tasks == 8' report.auto.json
	# 8, 4, 2 and 1 at a time
	jq -e '.task_types | map(select(.task == "checkpoint"))[0].epochs | map(.slots) == [8, 4, 2, 1]' \
		"report.auto(8,64,2).json"
}

@test "a checkpoint that is not right is found" {
	"$bench/bench_checkpoint" reference expected 80 8K 2
	mkdir files
	run "$bench/bench_checkpoint" run expected 80 8K 4 files none
	[ "$status" = 1 ]
	[[ $output == *"files/checkpoint.0 is not as without tasks"* ]]
}

@test "mistakes in the command line" {
	run "$bench/bench_checkpoint" reference expected 30 8K 2
	[ "$status" = 2 ]
	[[ $output == *"TASKS is to be a multiple of 80"* ]]
	run "$bench/bench_checkpoint" run
	[ "$status" = 2 ]
	[[ $output == usage:* ]]
	run "$bench/bench_slowdev" slow store 0
	[ "$status" = 2 ]
	[[ $output == *"a number above 0 is wanted"* ]]
	run "$bench/bench_slowdev" slow missing 10
	[ "$status" = 1 ]
	[[ $output == *"missing: No such file or directory"* ]]
}
