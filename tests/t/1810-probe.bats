#!/usr/bin/env bats
# leat probe: bandwidth of a device, and its description.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir dir
}

@test "a section resources, with the measurements as comments" {
	leat probe --tasks 3 --seconds 0.01 --max-size 48M --name scratch dir >out
	cat out
	# 1, 2 and 3 at a time
	[ "$(grep -c '^# *[123]  *[0-9.]*  *[0-9.]*' out)" = 3 ]
	grep -q '^resources:$' out
	grep -q 'name: scratch$' out
	grep -Eq 'bandwidth: [1-9][0-9]* # MB/s, by [123] at a time' out
	grep -Fq "paths: [\"$(findmnt -nro TARGET --target dir)\"]" out
	[ -z "$(ls -A dir)" ]
}

@test "as JSON, with both methods" {
	leat probe --tasks 2 --seconds 0.01 --max-size 32M --format json dir >fsync.json
	jq -e '.method == "fsync" and (.measurements | length) == 2 and .bandwidth >= 1 and
		all(.measurements[]; .write_mbps > 0 and .read_mbps > 0 and .bytes > 0)' fsync.json
	run leat probe --method direct --tasks 1 --seconds 0.01 --max-size 16M --format json dir
	# tmpfs has had O_DIRECT since Linux 6.6 only
	[ "$status" = 0 ] || [[ $output == *"has no O_DIRECT; use --method fsync"* ]]
}

@test "no directory, no space" {
	run leat probe nothing
	[ "$status" = 1 ]
	[[ $output == "leat: nothing: No such file or directory" ]]
	touch file
	run leat probe file
	[ "$status" = 1 ]
	[[ $output == "leat: file: Not a directory" ]]
	run leat probe --tasks 16 --max-size 2M dir
	[ "$status" = 1 ]
	[[ $output == *"use --tasks"* ]]
}

@test "nothing is left behind when it is killed" {
	leat probe --tasks 2 --seconds 3600 --max-size 64M dir >/dev/null 3>&- &
	sleep 0.2
	kill -9 $!
	wait $! || true
	[ -z "$(ls -A dir)" ]
}
