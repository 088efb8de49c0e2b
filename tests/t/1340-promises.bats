#!/usr/bin/env bats
# Wrong annotations are noticed and named; right ones that look odd are not.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	in_work
}

teardown() {
	nothing_left
}

# flow RULE: stdin is two Python scripts with "---" between them, run as producer and consumer of
# `data`, whose rule is no_update and RULE.
flow() {
	awk '/^---$/ { f = "consume.py"; next } { print > f }' f=produce.py -
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: /usr/bin/python3 -B ../produce.py
		    outports: [{filename: data, mode: no_update$1}]
		  - func: consume
		    exec: /usr/bin/python3 -B ../consume.py
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
	shift
	timeout 30 leat run "$@" flow.yaml
}

@test "bytes that were read are changed: fatal, named; only reported with --on-violation warn" {
	rewrite() {
		flow "" "$@" <<-'END'
			import os, time
			fd = os.open("data", os.O_RDWR | os.O_CREAT)
			os.write(fd, b"0" * 1000)
			while not os.path.exists("../read"): time.sleep(0.01)
			os.pwrite(fd, b"header", 0)
			---
			import os
			fd = os.open("data", os.O_RDONLY)
			os.read(fd, 1000)
			open("../read", "w").close()
			while os.read(fd, 1000): pass
			open("out", "w").write("done\n")
		END
	}
	run ! rewrite
	echo "$output"
	[[ $output == *data* && $output == *produce* ]]
	grep -Eq 'read' <<<"$output"
	rm -rf read work/*
	run -0 rewrite --on-violation warn
	echo "$output"
	[ -e work/out ]
}

@test "the same bytes written again are no change; nor is a header nobody has read yet" {
	run -0 flow "" <<-'END'
		import os, time
		fd = os.open("data", os.O_RDWR | os.O_CREAT)
		os.write(fd, b"0" * 1000)
		while not os.path.exists("../read"): time.sleep(0.01)
		os.pwrite(fd, b"0" * 100, 0)
		os.lseek(fd, 500, os.SEEK_SET)
		os.write(fd, b"0" * 100)
		os.lseek(fd, 0, os.SEEK_END)
		os.write(fd, b"1" * 1000)
		fd = os.open("data", os.O_WRONLY)
		os.write(fd, b"0" * 100)
		---
		import os
		fd = os.open("data", os.O_RDONLY)
		os.read(fd, 1000)
		open("../read", "w").close()
		while os.read(fd, 1000): pass
		open("out", "w").write("done\n")
	END
	echo "$output"
}

@test "a size that is asked for is the last one; a reader of the head asks for none" {
	# The producer goes on when the file `read` is there: made by the consumer before it asks, or when it has closed.
	uses() {
		rm -rf read work/*
		flow "" <<-END
			import os, time
			fd = os.open("data", os.O_RDWR | os.O_CREAT)
			os.write(fd, b"0" * 1000)
			while not os.path.exists("../read"): time.sleep(0.01)
			os.write(fd, b"1" * 1000)
			---
			import os
			fd = os.open("data", os.O_RDONLY)
			$1
			os.close(fd)
			open("../read", "w").close()
			open("out", "w").write("done\n")
		END
	}
	run -0 uses 'open("../read", "w"); assert len(os.read(fd, os.fstat(fd).st_size)) == 2000'
	run -0 uses 'open("../read", "w"); assert os.pread(fd, 10, os.fstat(fd).st_size - 10) == b"1" * 10'
	# mmap asks for the size itself
	run -0 uses 'import mmap; open("../read", "w"); assert len(mmap.mmap(fd, 0, prot=mmap.PROT_READ)) == 2000'
	# a reader of the head, and one that goes back to it
	run -0 uses 'os.read(fd, 10)'
	run -0 uses 'os.read(fd, 100); os.lseek(fd, 10, 0); os.read(fd, 10)'
}

@test "written again after the commit" {
	run ! flow ", committed: 'on_close:1'" <<-'END'
		open("data", "w").write("one\n")
		import time, os
		while not os.path.exists("../read"): time.sleep(0.01)
		open("data", "a").write("two\n")
		---
		text = open("data").read()
		open("../read", "w").close()
		open("out", "w").write(text)
	END
	echo "$output"
	[[ $output == *data* && $output == *produce* ]]
}

@test "written by a step that does not produce it" {
	run ! flow "" <<-'END'
		open("data", "w").write("one\n")
		---
		open("data", "a").write("mine\n")
		open("out", "w").write("done\n")
	END
	echo "$output"
	[[ $output == *data* && $output == *consume* ]]
}
