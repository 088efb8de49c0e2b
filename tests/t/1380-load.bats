#!/usr/bin/env bats
# Programs that load a file system and check what they read, in a step: fio, stress-ng.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# step PORTS: stdin is the script of the one step; it runs in the directory `d`.
step() {
	rm -rf work
	mkdir work
	{
		echo 'mkdir -p d; cd d'
		cat
	} >script
	cat >flow.yaml <<-END
		name: load
		dir: work
		tasks:
		  - func: load
		    exec: bash -eu ../script
		    outports: [$1]
	END
	timeout 100 leat run flow.yaml
}

# everywhere: the same in the store, with both modes, and on disk.
everywhere() {
	local script
	script=$(cat)
	step "{filename: d/}" <<<"$script" || return 1
	step "{filename: d/, mode: no_update}" <<<"$script" || return 1
	step "{filename: 'declared*'}" <<<"$script"
}

@test "fio writes and verifies: sync, psync, vsync, pvsync2, mmap" {
	need fio
	everywhere <<-'END'
		job="--size=4m --bsrange=512-64k --verify=crc32c --verify_fatal=1 --numjobs=2 --group_reporting --minimal"
		for engine in sync psync vsync pvsync2; do
			fio --name=$engine --ioengine=$engine --rw=write $job >/dev/null
			fio --name=r$engine --ioengine=$engine --rw=randwrite --norandommap=0 $job >/dev/null
		done
		fio --name=mmap --ioengine=mmap --rw=randwrite --bs=4k --size=4m --verify=crc32c --verify_fatal=1 --numjobs=2 --minimal >/dev/null
		fio --name=mixed --ioengine=psync --rw=randrw --size=2m --bsrange=100-3000 --bs_unaligned=1 --numjobs=2 --minimal >/dev/null
		fio --name=fallocate --ioengine=psync --rw=write --fallocate=none --fsync=16 $job >/dev/null
		fio --name=ftruncate --ioengine=ftruncate --rw=write --size=1m --bs=4k --minimal >/dev/null
		fio --name=falloc --ioengine=falloc --rw=randwrite --size=1m --bs=4k --minimal >/dev/null
		rm -f ./*
	END
}

@test "fio's threads on one file" {
	need fio
	step "{filename: d/}" <<-'END'
		fio --thread --numjobs=4 --filename=one --offset_increment=2m --size=2m --name=x --ioengine=psync --rw=randwrite \
			--bsrange=512-16k --verify=md5 --verify_fatal=1 --group_reporting --minimal >/dev/null
		[ "$(stat -c %s one)" = $((8 << 20)) ]
	END
}

@test "fio reads what another step writes" {
	need fio
	for mode in update no_update; do
		rm -rf work
		mkdir work
		cat >flow.yaml <<-END
			name: load
			dir: work
			tasks:
			  - func: write
			    exec: fio --name=x --filename=data --ioengine=sync --rw=write --bs=1k --size=8m --verify=crc32c --do_verify=0 --minimal
			    outports: [{filename: data, mode: $mode}]
			  - func: read
			    exec: fio --name=x --filename=data --ioengine=sync --rw=read --bs=1k --size=8m --verify=crc32c --verify_fatal=1 --verify_only --readonly --minimal
			    inports: [{filename: data}]
			    outports: [{filename: 'out*'}]
		END
		timeout 60 leat run flow.yaml
	done
}

@test "stress-ng's stressors of file systems, together" {
	need stress-ng
	mkfifo job
	everywhere <<-'END'
		stressors="access chdir chmod copy-file dentry dir dirmany fallocate fcntl file-ioctl filename flock fpunch fstat getdent
			hdd iomix link locka lockf lockofd msync open readahead rename revio seek sendfile splice symlink sync-file touch utime xattr"
		# Some versions load libraries that only a mount can intercept. There the kernel copies nothing between files,
		# by errors from which other programs go on with read and write, and which these stressors take for failures.
		stress-ng --job ../../job >/dev/null 2>&1 &
		exec 3>../../job
		if grep -q ' - fuse.leat ' /proc/$!/mountinfo; then
			echo "behind a mount: without the stressors copy-file and sendfile"
			stressors=${stressors/ copy-file/}
			stressors=${stressors/ sendfile/}
		fi
		exec 3>&-
		wait $! || true
		arguments=
		for s in $stressors; do
			arguments+=" --$s 1"
		done
		stress-ng --temp-path . $arguments --verify --timeout 3 --hdd-bytes 4m --iomix-bytes 4m --fallocate-bytes 4m \
			--readahead-bytes 4m --revio-bytes 4m --seek-size 1m --sendfile-size 1m 2>&1
		[ -z "$(ls -A)" ]
	END
}

# calls_of N: how many system calls a run makes whose consumer lists a directory while N files come into it.
calls_of() {
	rm -rf d y
	cat >flow.yaml <<-END
		name: load
		tasks:
		  - func: make
		    exec: bash -c 'mkdir d; for ((i = 0; i < $1; i++)); do echo \$i >d/\$i; done'
		    outports: [{dirname: d, mode: no_update}]
		  - func: list
		    exec: bash -c 'ls -U d | wc -l >y'
		    inports: [{dirname: d}]
		    outports: [{filename: y}]
	END
	# no leaks can be looked for below strace
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -c -U calls,name -o calls leat run flow.yaml >&2 || return 1
	[ "$(cat y)" = "$1" ] || return 1
	awk '/total$/ { print $1 }' calls
}

@test "a growing directory is listed by what is new: work in proportion to its files" {
	need strace
	local few many
	few=$(calls_of 300)
	many=$(calls_of 1200)
	echo "300 files: $few calls, 1200: $many"
	# all that there is with each file that comes would be 60 times the calls, not 4
	[ "$many" -lt $((8 * few)) ]
}
