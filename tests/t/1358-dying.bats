#!/usr/bin/env bats
# A step ends while the kernel still takes down another of its processes: what that one wrote is of the step, as in a batch.
bats_require_minimum_version 1.5.0
load helper

# writer NAME [OPTION...]: a program NAME. `NAME map FILE` fills a mapping of 32 MB, page by page, `NAME write FILE` a file;
# then it stays. It has 200 MB of memory, which the kernel takes back before its files.
writer() {
	gcc -O1 "${@:2}" -o "$1" -x c - <<-'END'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		enum { PAGE = 4096, PAGES = 8192 };
		int main(int argc, char **argv)
		{
			char *memory = malloc(200 << 20), page[PAGE], *to = page;
			int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0666), map = argv[1][0] == 'm';
			if (argc != 3 || fd < 0 || !memory)
				return 1;
			if (map) {
				if (ftruncate(fd, (long)PAGE * PAGES))
					return 1;
				to = mmap(0, (long)PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
				close(fd);
			}
			for (int i = 0; i < PAGES; i++) {
				memset(map ? to + (long)PAGE * i : page, 1 + i % 251, PAGE);
				if (!map && write(fd, page, PAGE) != PAGE)
					return 1;
				memset(memory + 25600L * i, 1, 25600);
			}
			for (;;)
				pause();
		}
	END
}

setup() {
	in_work
	need gcc
	cat >w.yaml <<-'END'
		name: w
		dir: work
		permanent: [out, size]
		tasks:
		  - {func: one, exec: bash ../one.sh, outports: [{filename: out}]}
		  - {func: two, exec: bash -c 'wc -c <out >size', inports: [{filename: out}], outports: [{filename: size}]}
	END
}

teardown() {
	end_server
}

# is_prefix: work/out is what the writer wrote in its order, and of a mapping zeros behind that; `two` has seen all of it.
is_prefix() {
	[ "$(cat work/size)" = "$(stat -c %s work/out)" ]
	/usr/bin/python3 - work/out <<-'END'
		import sys
		data = open(sys.argv[1], "rb").read()
		n = 0
		while data[4096 * n:4096 * n + 1] == bytes([1 + n % 251]): n += 1
		assert n and not data[4096 * n:].strip(b"\0"), (n, len(data))
	END
}

# has_begun: the writer has written its first page.
has_begun() {
	[ -e work/out ] && [ "$(head -c 1 work/out | od -An -tu1)" -eq 1 ] 2>/dev/null
}

# killed_after SECONDS HOW: a run whose writer is killed with `timeout` after these, or, where it has not begun by then
# for all that goes on beside it, after longer.
killed_after() {
	local seconds
	for seconds in "$1" 1 4 16; do
		rm -rf work
		mkdir work
		echo "timeout -s KILL $seconds ../writer $2 out; true" >one.sh
		run leat run w.yaml
		echo "$seconds s: $status: $output"
		! has_begun || return 0
	done
	return 1
}

# rounds HOW: it is killed ten times, at four points.
rounds() {
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		one_in 3 || continue
		killed_after "0.$((i % 4 + 1))" "$1"
		[ "$status" = 0 ]
		[[ $output != *"left behind"* ]]
		is_prefix
	done
}

@test "killed with the program that waits for it: behind a mount, by a mapping" {
	static_linking
	writer writer -static
	rounds map
}

@test "killed with the program that waits for it: behind a mount, by writes" {
	static_linking
	writer writer -static
	rounds write
}

@test "killed with the program that waits for it: followed by the library" {
	writer writer
	rounds map
	rounds write
}

@test "killed with the program that waits for it: by leat exec" {
	local i
	static_linking
	writer writer -static
	# It is killed some time after it has begun.
	cat >one.sh <<-'END'
		timeout -s KILL 16 bash -c '../writer map out & until [ -s out ]; do sleep 0.05; done; sleep 0.2; kill -KILL 0'
		true
	END
	for i in 1 2 3 4 5; do
		rm -rf work
		mkdir work
		serve w.yaml
		(cd work && leat exec --app one bash ../one.sh && leat exec --app two bash -c 'wc -c <out >size') >said 2>&1 ||
			{ cat said served.err; false; }
		kill "$server"
		ended 0 "$server" served served.err
		server=
		is_prefix
	done
}
