#!/usr/bin/env bats
# What a program's reads say of what it has seen of a file: headers, whole files, versions.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	# peek FILE BYTES: through stdio, as most programs read a header.
	cat >peek.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			char *b = malloc(1 << 20);
			FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
			if (!f || !b) { perror("fopen"); return 1; }
			size_t n = fread(b, 1, strtoul(argv[2], 0, 10), f);
			fclose(f);
			return n != strtoul(argv[2], 0, 10);
		}
	END
	# sized FILE: reads as much as fstat says.
	cat >sized.c <<-'END'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct stat st;
			int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
			if (fd < 0 || fstat(fd, &st)) return 1;
			char *b = malloc(st.st_size + 1);
			return read(fd, b, st.st_size) != st.st_size || close(fd);
		}
	END
	local program
	for program in peek sized; do
		"${CC:-cc}" -O -o "$program" "$program.c" || return 1
		"${CC:-cc}" -O -static -o "$program-static" "$program.c" || return 1
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
}

teardown() {
	nothing_left
}

# early FIRST CONSUMER...: the producer has written FIRST bytes when the consumer reads, and goes on
# when that has closed the file.
early() {
	local first=$1
	shift
	rm -rf work read
	mkdir work
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: python3 ../produce.py $first
		    outports: [{filename: data, mode: no_update}]
		  - func: consume
		    exec: bash -eu ../consume
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
	cat >produce.py <<-'END'
		import os, sys, time
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"0" * int(sys.argv[1]))
		while not os.path.exists("../read"): time.sleep(0.01)
		os.write(fd, b"1" * 300000)
	END
	printf '%s\n' "$* && touch ../read && echo done >out || { touch ../read; false; }" >consume
	timeout 60 leat run flow.yaml
}

@test "a look at a header is none at the whole file, wherever the producer is" {
	local first
	for first in 4096 8192 16384 65536 131072; do
		echo "# $first bytes"
		early $first peek data 80
	done
	# Python fills a buffer of st_blksize, and waits for that
	for first in 65536 131072; do
		early $first python3 -c "'open(\"data\", \"rb\").read(2)'"
	done
	# a buffer that begins later than the file waits for more than a buffer
	early 131072 python3 -c "'f = open(\"data\"); f.seek(100); f.read(2)'"
	early 8192 head -c 80 data
	early 8192 peek data 5000
	early 65536 dd if=data bs=64k count=1 of=/dev/null status=none
}

@test "nor behind a mount" {
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	local first
	for first in 4096 8192 65536; do
		early $first peek-static data 80
	done
}

@test "who asks for what the size says is refused" {
	local program
	for program in sized sized-static; do
		[ $program = sized ] || [ -c /dev/fuse ] || continue
		run ! early 10000 $program data
		echo "$output"
		[[ $output == *"data was taken for complete by step consume after 10000 bytes at a size seen before its commit"* ]]
		run ! early 1048576 $program data
		[[ $output == *"taken for complete by step consume after 1048576 bytes"* ]]
	done
}
