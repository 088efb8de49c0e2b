#!/usr/bin/env bats
# What the file system in memory would answer otherwise than the one the workflow's directory is on.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

# in_step: the script on stdin as a step with the output d/, in memory, read by a second step.
in_step() {
	cat >script
	cat >flow.yaml <<-END
		name: answers
		dir: work
		tasks:
		  - {func: a, exec: ${launcher:-} bash -e $PWD/script, outports: [{filename: d/, mode: ${mode:-update}}]}
		  - {func: b, exec: sh -c 'cksum d/zeros || true', inports: [{filename: d/}]}
	END
	timeout 60 leat run flow.yaml >log 2>&1 || { cat log; return 1; }
}

static_launcher() {
	static_linking
	[ -c /dev/fuse ] || skip "no FUSE here"
	printf '#include <unistd.h>\nint main(int c, char **v) { return c < 2 || execvp(v[1], v + 1); }\n' |
		gcc -static -o launch -x c -
	launcher=$PWD/launch
}

directories() {
	in_step <<-'END'
		mkdir -p d/new; touch d/zeros
		stat -c '%n %s %b %F' d d/new >sizes
		python3 -c 'import os; s = os.fstat(os.open("d/new", os.O_RDONLY)); print(s.st_size, s.st_blocks)' >>sizes
	END
	cat work/sizes
	diff - work/sizes <<-'END'
		d 4096 8 directory
		d/new 4096 8 directory
		4096 8
	END
}

@test "a directory in memory takes what one on a disk takes" { need python3; directories; }

@test "the same behind a mount" {
	built_with fuse
	need python3
	static_launcher
	directories
}

# zeroing: FALLOC_FL_ZERO_RANGE in the middle, over the end, and with KEEP_SIZE, as on disk.
zeroing() {
	cat >zero.sh <<-'END'
		seq 20000 >$1/zeros
		fallocate -z -o 5000 -l 10001 $1/zeros
		fallocate -z -n -o 100000 -l 100000 $1/zeros
		fallocate -z -o 105000 -l 50000 $1/zeros
		stat -c %s $1/zeros
		cksum <$1/zeros
	END
	mkdir plain
	bash -e zero.sh plain >expected || skip "no ZERO_RANGE on this file system"
	echo "mkdir -p d; bash -e $PWD/zero.sh d >seen" | in_step
	cat log work/seen expected
	cmp work/seen expected
	grep -F "[b] $(cksum <expected >/dev/null; cksum plain/zeros | cut -d' ' -f1,2)" log
}

@test "a range of zeros, FALLOC_FL_ZERO_RANGE" {
	need fallocate
	for mode in update no_update; do
		rm -rf plain work && mkdir work
		zeroing
	done
}

@test "the same behind a mount: zeros" {
	built_with fuse
	need fallocate
	static_launcher
	zeroing
}

@test "files without a name, O_TMPFILE, are refused, and programs make one with a name" {
	need python3
	in_step <<-'END'
		mkdir -p d; touch d/zeros
		python3 - >refused <<-'PYTHON'
			import os, tempfile
			try:
			    os.open("d", os.O_TMPFILE | os.O_RDWR)
			    print("opened")
			except OSError as e:
			    print(e.strerror)
			with tempfile.TemporaryFile(dir="d") as f:
			    f.write(b"text")
			    f.seek(0)
			    print(f.read().decode(), os.listdir("d"))
		PYTHON
	END
	diff - work/refused <<-'END'
		Operation not supported
		text ['zeros']
	END
}
