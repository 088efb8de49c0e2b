#!/usr/bin/env bats
# leat in another root directory (chroot without pivot_root): the kernel names the store's files as seen from the real
# root, which no path in there leads to.
bats_require_minimum_version 1.5.0
load helper

setup() {
	[ "$(id -u)" = 0 ] || skip "only root can chroot"
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir root work
	unshare -m sh -c 'mount --rbind / root && chroot root true' || skip "no chroot here"
}

teardown() {
	nothing_left
}

# in_root COMMAND...: run it there, in this directory.
in_root() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --rbind / root && at=$PWD && exec chroot root sh -c "cd \"\$0\" && exec \"\$@\"" "$at" "$@"' sh "$@"
}

@test "inherited descriptors, working directories, appends" {
	cat >flow.yaml <<-'END'
		name: rooted
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'mkdir d; (cd d; for i in 1 2 3 4 5; do seq 10000; sleep 0.1; done >data; pwd >where); (echo one; cat <<<two) >>d/log'
		    outports: [{filename: d/data, mode: no_update, committed: on_close}, {filename: d/log}, {filename: d/where}]
		  - func: use
		    exec: bash -c 'wc -l <d/data >out; cat d/log >>out; (cd d; wc -c <data >>../out; cat where; pwd) >>out'
		    inports: [{filename: d/data}, {filename: d/log}, {filename: d/where}]
		    outports: [{filename: out}]
	END
	run -0 in_root timeout 60 leat run flow.yaml
	echo "$output"
	cat work/out
	[ "$(head -4 work/out | xargs)" = "50000 one two 244470" ]
	# What the shell's children write and read went through leat.
	[[ $output =~ make\ +[0-9.]+\ s\ +[0-9.]+\ s\ +0\ B\ +245\ kB\ +ok ]]
	[[ $output =~ use\ +[0-9.]+\ s\ +[0-9.]+\ s\ +245\ kB\ +[0-9]+\ B\ +ok ]]
	[ "$(tail -2 work/out | sed "s|.*/work/|work/|" | xargs)" = "work/d work/d" ]
}

@test "the store in /dev/shm, and a program behind a mount" {
	built_with fuse
	need busybox
	cat >flow.yaml <<-'END'
		name: rooted
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'seq 10000 >data; busybox sh -c "seq 5 >more"'
		    outports: [{filename: data, mode: no_update}, {filename: more}]
		  - func: use
		    exec: bash -c 'wc -l <data >out; busybox sh -c "wc -l <more" >>out'
		    inports: [{filename: data}, {filename: more}]
		    outports: [{filename: out}]
	END
	for store in "" shm; do
		rm -f work/out
		LEAT_STORE=$store run -0 in_root timeout 60 leat run flow.yaml
		echo "$output"
		[ "$(xargs <work/out)" = "10000 5" ]
	done
}
