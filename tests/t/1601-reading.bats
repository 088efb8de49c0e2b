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
	"${CC:-cc}" -O -o peek peek.c && "${CC:-cc}" -O -static -o peek-static peek.c
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
	# From 3.13 on `python3 -c` lists the working directory, and a listing waits.
	export PYTHONSAFEPATH=1
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
	built_with fuse
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	local first
	for first in 4096 8192 65536; do
		early $first peek-static data 80
	done
}

# versions MODE WRITE READ [KEYS]: Python: WRITE makes version i of `x`, READ gives what it finds
# there. Ten versions, whose contents are found in out.
versions() {
	rm -rf work
	mkdir work
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: python3 -B ../make.py
		    outports: [{filename: x, committed: on_close, mode: $1}]
		  - func: use
		    exec: ${USE:-python3 -B ../use.py}
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
		    ${4:-}
	END
	printf 'import os\nfor i in range(10):\n    %s\n' "$2" >make.py
	cat >use.py <<-END
		import os, mmap
		out = open("out", "a")
		try:
		    for i in range(12):
		        $3
		        print(found, file=out)
		except FileNotFoundError: pass
	END
	timeout 60 leat run --log log flow.yaml || return 1
	leat replay flow.yaml log
}

# all_of: each of the ten was found, once.
all_of() {
	tr '\n' ' ' <work/out
	[ "$(tr '\n' ' ' <work/out)" = "0 1 2 3 4 5 6 7 8 9 " ]
}

WRITE='f = open("x", "w"); f.write("%08d" % i); f.close()'
OPEN='fd = os.open("x", os.O_RDONLY)'

@test "a version that is read to its last byte is taken, however" {
	local mode read
	for mode in update no_update; do
		while read -r read; do
			echo "# $mode: $read"
			versions $mode "$WRITE" "$OPEN; $read; os.close(fd)"
			all_of
		done <<-'END'
			found = int(os.read(fd, 8))
			found = int(b"".join(os.read(fd, 1) for k in range(8)))
			found = int(b"".join(os.pread(fd, 1, 7 - k) for k in range(8))[::-1])
			found = int(os.pread(fd, 3, 5))
			found = int(os.read(fd, os.fstat(fd).st_size) if os.stat("x") else 0)
			b = bytearray(8); os.readv(fd, [b]); found = int(b)
			os.lseek(fd, 4, 0); found = int(os.read(fd, 4))
			found = int(mmap.mmap(fd, 8, prot=mmap.PROT_READ)[:])
		END
	done
}

@test "a look at a version is none, and it is given again" {
	local mode look
	for mode in update no_update; do
		while read -r look; do
			echo "# $mode: $look"
			versions $mode 'f = open("x", "w"); f.write("%08d" % i + "x" * 100000); f.close()' \
				"$look; found = int(open('x').read()[:8])"
			all_of
		done <<-'END'
			open("x", "rb").read(2)
			open("x").readline(1)
			os.system("head -c 4 x >/dev/null")
			os.system("peek x 80")
			os.system("dd if=x bs=64k count=1 of=/dev/null status=none")
			os.stat("x"); os.close(os.open("x", os.O_RDONLY))
		END
	done
}

@test "sizes around what a look is" {
	local size
	for size in 1 2 4095 4096 4097 8192 65536; do
		echo "# $size"
		versions update "f = open('x', 'wb'); f.write(bytes([i]) * $size); f.close()" \
			"$OPEN; found = os.read(fd, $size)[-1]; os.close(fd)"
		all_of
	done
}

@test "empty versions" {
	# by processes that end: in one it would be opened again to be written
	versions update 'os.system(": >x")' \
		"$OPEN; found = len(os.read(fd, 10)) + i; os.close(fd)"
	all_of
	# by processes that end: in one it would be opened again to be written
	versions update 'os.system(": >x")' \
		"$OPEN; found = len(os.read(fd, os.fstat(fd).st_size)) + i; os.close(fd)"
	all_of
}

@test "a launch that only looks is launched again" {
	local use
	for use in 'head -n 1 x' 'head -c 8 x' 'dd if=x bs=8 count=1 status=none'; do
		USE="bash -c '$use >>out; echo >>out'" versions update \
			'f = open("x", "w"); f.write("%d\n" % i + "x" * 100000); f.close()' ''
		[ "$(grep -a '^[0-9]$' work/out | tr '\n' ' ')" = "0 1 2 3 4 5 6 7 8 9 " ]
	done
}
