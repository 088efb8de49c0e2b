#!/usr/bin/env bats
# Limits that change, that others use up, and that programs are seldom given: the same bytes, or an error by name.
# shellcheck disable=SC2154 # group, group_version: of cgroup.bash
bats_require_minimum_version 1.5.0
load helper
load cgroup
load pair

setup() {
	in_work
}

teardown() {
	[ -z "${other:-}" ] || ! kill -INT "$other" 2>/dev/null || wait "$other" || true
	rm -f other/.leat*
	end_server
	group_free
	nothing_left find . -name '.leat-*'
}

# stream MB: a stream of so many, one at a time.
stream() {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-END
		for i in \$(seq $1); do head -c 1M /dev/zero; done > data
		---
		md5sum < data > out
	END
	head -c "$1M" /dev/zero | md5sum >expected
}

# identical [COMMAND...]: the run, by that command, makes what is expected, and nothing is killed.
identical() {
	# shellcheck disable=SC2086 # several words
	run "$@" timeout 120 leat run ${options:-} flow.yaml
	echo "$output"
	[ "$status" = 0 ] && [[ $output != *killed* ]] && cmp expected work/out
}

@test "the limit is lowered while a stream is half way" {
	group memory
	group_memory 256M
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		exec 3> data
		head -c 100M /dev/zero >&3
		: > ../half
		until [ -e ../lowered ]; do sleep 0.1; done
		head -c 60M /dev/zero >&3
		---
		md5sum < data > out
	END
	head -c 160M /dev/zero | md5sum >expected
	within timeout 120 leat run flow.yaml >run.log 2>&1 3>&- &
	runs=$!
	soon test -e half
	# Version 1 refuses a limit below what is in use, and memory is freed only when it is asked to be.
	soon group_memory 128M
	: >lowered
	ended 0 "$runs" run.log
	cmp expected work/out
}

@test "a limit in the middle of three levels" {
	group memory
	top=$group
	group memory "$top"
	middle=$group
	group memory "$middle"
	group=$middle group_memory 96M
	stream 192
	identical within
}

@test "a group that the files of others fill, clean and dirty ones" {
	group memory
	group_memory 96M
	head -c 120M /dev/urandom >others
	within cat others >/dev/null
	stream 160
	within bash -c 'while :; do head -c 40M /dev/zero >dirty; done' 3>&- &
	others=$!
	identical within
	kill "$others"
	wait "$others" || true
}

@test "a budget that is asked for, above the limit" {
	group memory
	group_memory 96M
	stream 192
	options='--memory 1G' identical within
}

@test "a /dev/shm that others have filled: on disk, or an error before anything starts" {
	[ "$(id -u)" = 0 ] || skip "only root mounts"
	stream 48
	cat >in_little <<-'END'
		set -e
		mount -t tmpfs -o "size=$1" none /dev/shm
		shift
		size=$(stat -f -c '%b * %S / 1048576' /dev/shm)
		head -c "$((size - 4))M" /dev/zero >/dev/shm/others
		LEAT_STORE=shm exec "$@"
	END
	identical unshare -m bash in_little 64M
	cat >none <<-'END'
		set -e
		mount -t tmpfs -o size=1M none /dev/shm
		head -c 2M /dev/zero >/dev/shm/others 2>/dev/null || true
		LEAT_STORE=shm exec "$@"
	END
	rm -rf work/out
	run unshare -m bash none timeout 60 leat run flow.yaml
	echo "$output"
	if [ "$status" = 0 ]; then
		cmp expected work/out
	else
		[ "$status" != 124 ]
		[[ $output == *"leat: "* ]]
	fi
}

# limited LIMIT...: each program of a flow under that limit makes what the batch makes. Lines are counted by sed: wc of
# coreutils 9.6 has its buffer of 256 KB on the stack, and fails with less by itself.
limited() {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-END
		ulimit $*
		python3 -I -c 'for i in range(100000): print(i)' > data
		---
		ulimit $*
		{ cat data | sort -rn | md5sum; head -n 3 data; sed -n '\$=' < data; grep -c 7 data; } > out
		python3 -I -c 'print(sum(int(l) for l in open("data")))' >> out
	END
	rm -rf batch work
	mkdir work
	same
}

@test "few descriptors, little locked memory, small stacks" {
	need python3
	limited -n 16
	limited -n 64
	limited -l 0
	limited -s 128
}

@test "little address space: the same from 260 MB on" {
	need python3
	limited -v 260000
	limited -v 1000000
	limited -v 4000000
}

@test "files that may not become as large: the producer fails as in the batch" {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		ulimit -f 1000
		seq 400000 > data
		---
		md5sum < data > out
	END
	run timeout 60 leat run --plain flow.yaml
	batch=$status
	rm -rf work
	mkdir work
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" = "$batch" ]
	[ "$status" = 153 ]
	[[ $output == *"step produce failed: exit 153"*"not complete: out "* ]]
}

@test "a stream moves while another run's mount does not answer" {
	[ "$(id -u)" = 0 ] || skip "only root may open /dev/fuse everywhere"
	need busybox
	mkdir other
	cat >other.yaml <<-'END'
		name: other
		dir: other
		tasks:
		  - func: wait
		    exec: busybox sh -c 'echo 1 >file; exec 3<file; while :; do sleep 1; done'
		    outports: [{filename: ready}]
	END
	leat run -q other.yaml 3>&- 4>&- &
	other=$!
	soon test -e other/file || skip "no mount is possible here"
	for process in $(ours leat-mount); do
		mounts="${mounts:-} $process"
	done
	[ -n "$mounts" ]
	stream 64
	# shellcheck disable=SC2086 # several
	kill -STOP $mounts
	options='--memory 8M' run identical env
	echo "$output"
	# shellcheck disable=SC2086
	kill -CONT $mounts
	[ "$status" = 0 ]
}
