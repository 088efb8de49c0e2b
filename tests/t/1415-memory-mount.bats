#!/usr/bin/env bats
# A budget for memory, and programs that work behind a mount.
bats_require_minimum_version 1.5.0
load helper
load pair

setup_file() {
	command -v gcc >/dev/null || return 0
	# copy IN OUT...: in blocks of 64 KB; short counts and errors are told by the exit status.
	gcc -static -O1 -o "$BATS_FILE_TMPDIR/copy" -x c - <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		static char b[65536];
		int main(int argc, char **argv)
		{
			for (int i = 1; i + 1 < argc; i += 2) {
				int in = open(argv[i], O_RDONLY);
				int out = open(argv[i + 1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
				long n;
				if (in < 0 || out < 0) { perror("open"); return 1; }
				while ((n = read(in, b, sizeof(b))) > 0)
					if (write(out, b, n) != n) { perror("write"); return 2; }
				if (n < 0) { perror("read"); return 3; }
				if (close(out) || close(in)) return 4;
			}
			return 0;
		}
	END
}

setup() {
	built_with fuse
	need gcc
	in_work
	copy=$BATS_FILE_TMPDIR/copy
	export copy LEAT_MEMORY=4M
	scripts "{filename: out}" "" <<-'END'
		$copy /dev/null out
		---
	END
	leat run -q flow.yaml || skip "no mount is possible here: no /dev/fuse, or no namespaces"
	rm -r work
	mkdir work
}

teardown() {
	nothing_left find . -name '.leat-*'
}

# four: a program in each place reads and writes four times the budget.
four() {
	scripts "{filename: parts/}, {filename: copies/}" "{filename: parts/}, {filename: copies/}" <<-'END'
		mkdir parts copies
		for i in $(seq 16); do seq $((i * 1000)) $((i * 1000 + 150000)) > parts/$i; done
		for i in $(seq 8); do $copy parts/$i copies/$i parts/$((i + 8)) copies/$((i + 8)); done
		touch copies/done
		---
		until [ -e copies/done ]; do sleep 0.1; done
		for i in $(seq 16); do $copy copies/$i /dev/stdout; done | md5sum > out
		cat parts/* | md5sum >> out
		ls -l copies | wc -l >> out
	END
}

@test "spilled files are found, read, listed and made" {
	four
	same
}

@test "in a directory elsewhere, too" {
	mkdir elsewhere
	four
	same --spill-dir elsewhere
	[ -z "$(ls -A elsewhere)" ]
}

@test "a stream that was on disk from the beginning is read while it grows" {
	scripts "{filename: fill}, {filename: data, mode: no_update}" "{filename: data}" <<-'END'
		head -c 3700000 /dev/zero > fill
		exec 3< fill
		seq 900000 > data
		---
		$copy data /dev/stdout | md5sum > out
	END
	same
}

@test "files that are larger than the memory, written in all ways, and small ones after them" {
	gcc -static -O1 -o "$BATS_FILE_TMPDIR/write" -x c - <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/wait.h>
		#include <unistd.h>
		enum { SIZE = 16 << 20, BLOCK = 1 << 16 };
		static char b[BLOCK];
		static int put(int fd, int n)
		{
			while (n-- > 0)
				if (write(fd, b, BLOCK) != BLOCK) return 3;
			return 0;
		}
		/* Four processes with one offset, or each with its own. */
		static int put_by_four(int fd, const char *file)
		{
			int status, failed = 0;
			for (int i = 0; i < 4; i++)
				if (!fork()) _exit(put(file ? open(file, O_WRONLY | O_APPEND) : fd, SIZE / BLOCK / 4));
			while (wait(&status) > 0) failed |= status;
			return failed != 0;
		}
		static int put_and_read(int fd, const char *file)
		{
			char x[BLOCK];
			for (int i = 0; i < SIZE / BLOCK; i++) {
				int other = open(file, O_RDONLY);
				if (put(fd, 1)) return 3;
				if (pread(fd, x, BLOCK, (off_t)i * BLOCK) != BLOCK || memcmp(x, b, BLOCK)) return 4;
				if (pread(other, x, BLOCK, (off_t)i * BLOCK) != BLOCK || memcmp(x, b, BLOCK)) return 5;
				close(other);
			}
			return ftruncate(fd, SIZE / 3) || pwrite(fd, "end", 3, SIZE / 2) != 3;
		}
		static int map(int fd, int sync)
		{
			char *m = ftruncate(fd, SIZE) ? MAP_FAILED : mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (m == MAP_FAILED) return 1;
			for (int i = 0; i < SIZE; i++) m[i] = 'a' + i % 23;
			return sync && msync(m, SIZE, MS_SYNC);
		}
		int main(int argc, char **argv)
		{
			const char *how = argv[1];
			int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | (strcmp(how, "append") ? 0 : O_APPEND), 0644), rc = 9;
			if (argc < 3 || fd < 0) return 8;
			for (int i = 0; i < BLOCK; i++) b[i] = 'a' + i % 23;
			if (!strcmp(how, "write")) rc = put(fd, SIZE / BLOCK);
			if (!strcmp(how, "read")) rc = put_and_read(fd, argv[2]);
			if (!strcmp(how, "append")) rc = put_by_four(fd, argv[2]);
			if (!strcmp(how, "share")) rc = put_by_four(fd, 0);
			if (!strcmp(how, "map")) rc = map(fd, 0);
			if (!strcmp(how, "sync")) rc = map(fd, 1);
			if (!strcmp(how, "allocate")) rc = posix_fallocate(fd, 0, SIZE) || pwrite(fd, "end", 3, SIZE - 9) != 3;
			return rc ? rc : close(fd);
		}
	END
	export write=$BATS_FILE_TMPDIR/write
	scripts "{filename: 'd*'}, {filename: 'e*', mode: no_update}" "{filename: 'd*'}, {filename: 'e*'}" <<-'END'
		for how in read append share map sync allocate write; do
			$write $how d$how
			echo small > dsmall$how
			$copy dsmall$how dtiny$how
		done
		for i in 1 2 3; do $write write e$i; done
		---
		for i in 1 2 3; do $copy e$i /dev/stdout; done | md5sum > out
		md5sum d* >> out
	END
	same
	run -0 timeout 60 leat run flow.yaml
	[[ $output != *"no space for"* ]]
}

@test "what a program behind a mount was started with open for writing has space on disk" {
	scripts "{filename: 'd*', mode: no_update}" "{filename: 'd*'}" <<-'END'
		seq 1000000 > ../plain
		$copy ../plain /dev/stdout > d1 || true
		{ seq 1000; $copy ../plain /dev/stdout; seq 5; $copy ../plain /dev/stdout; seq 7; } > d2
		$copy ../plain /dev/stdout >> d2 2>&1
		---
		cat d1 d2 | md5sum > out
	END
	same
}

@test "what such a program writes to a file that cannot go to disk, and finds no space, is named" {
	scripts "{filename: 'd*'}" "{filename: 'd*'}" <<-'END'
		head -c 20000000 /dev/zero > ../plain
		echo x > d1
		ln d1 d2
		$copy ../plain /dev/stdout >> d1 || true
		sleep 0.2
		---
		wc -c d1 > out
	END
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"step produce: no space for d1: the memory for files (4 MB) is full, and it cannot go to disk while it is mapped, or has several names or none; give more with --memory"* ]]
	[[ $output == *"step produce failed: leat had no space for what it wrote to d1"* ]]
	# and with space for it nothing is said
	LEAT_MEMORY=64M run -0 timeout 60 leat run flow.yaml
	[[ $output != *"no space"* ]]
}

@test "a step that leat refused a write has failed, whatever it says" {
	unshare -rm true 2>/dev/null || skip "user namespaces are forbidden here"
	mkdir small
	cat >limited <<-'END'
		mount -t tmpfs -o size=8M none small
		mkdir small/spill
		leat run --memory 4M --spill-dir small/spill flow.yaml
	END
	for before in "" "env LEAT_INTERCEPT=mount"; do
		rm -rf work/*
		scripts "{filename: data}" "{filename: data}" <<-END
			$before bash -c 'head -c 20000000 /dev/zero | tr "\\0" a > data; true'
			---
			wc -c data > out
		END
		run timeout 60 unshare -rm bash limited
		echo "$output"
		[ "$status" != 0 ]
		[[ $output == *"step produce: no space for data: the memory for files (4 MB) is full, and so is "*"--memory"*"--spill-dir"* ]]
		[[ $output == *"step produce failed: leat had no space for what it wrote to data"* ]]
	done
}

@test "descriptors of files that went to disk while they were open are followed" {
	gcc -static -O1 -o "$BATS_FILE_TMPDIR/pass" -x c - <<-'END'
		/* Standard input, or TEXT, to standard output. */
		#include <string.h>
		#include <unistd.h>
		static char b[65536];
		int main(int argc, char **argv)
		{
			long n;
			if (argc > 1) return write(1, argv[1], strlen(argv[1])) != (long)strlen(argv[1]);
			while ((n = read(0, b, sizeof(b))) > 0)
				if (write(1, b, n) != n) return 1;
			return n < 0;
		}
	END
	export pass=$BATS_FILE_TMPDIR/pass
	scripts "{filename: data, mode: no_update}, {filename: 'more*'}" "{filename: data}" <<-'END'
		{ seq 10; sleep 0.2; seq 900000; $pass one; seq 5; $pass two; (exec $pass three); seq 100000; $pass four; } > data
		---
		{ read -r one; echo "$one"; sleep 1; $pass | md5sum; } < data > out
	END
	same
}

@test "a program that lies on disk for lack of memory is started by its own name" {
	gcc -static -O1 -o name -x c - <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char b[4096] = "";
			return readlink("/proc/self/exe", b, sizeof(b) - 1) < 0 || puts(b) < 0;
		}
	END
	# not by where it was found: it may be moved before its mount is made
	scripts "{filename: program}, {filename: more}" "{filename: out}" <<-'END'
		cp ../name program
		head -c 200000 /dev/zero >more
		---
		./program >out
		cat more >/dev/null
		./program >>out
	END
	LEAT_MEMORY=64k leat run -q flow.yaml
	[ "$(cat work/out)" = "$(realpath work)/program"$'\n'"$(realpath work)/program" ]
}
