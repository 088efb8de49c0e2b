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
	nothing_left find . -name '.leat-*' ! -name '.leat-record-*' ! -name '.leat-*.log'
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

@test "a file that is larger than the memory: the step is told, by name, what to do" {
	scripts "{filename: data}" "{filename: data}" <<-'END'
		seq 1000000 > ../plain
		$copy ../plain data
		---
		md5sum data > out
	END
	run -2 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step produce: no room for data: the memory for files (4 MB) is full, and it cannot go to disk while it is open in a program behind a mount"*"--memory"* ]]
	[[ $output == *"write: No space left on device"* ]]
}

@test "a step that leat refused a write has failed, whatever it says" {
	for before in "" "env LEAT_INTERCEPT=mount"; do
		rm -rf work/*
		scripts "{filename: data}" "{filename: data}" <<-END
			$before bash -c 'head -c 20000000 /dev/zero | tr "\\0" a > data; true'
			---
			wc -c data > out
		END
		run timeout 60 leat run --memory 4M flow.yaml
		echo "$output"
		if [ "$status" = 0 ]; then
			[ "$(cat work/out)" = "20000000 data" ]
		else
			[[ $output == *"step produce failed: leat had no room for what it wrote to data"* ]]
		fi
	done
	[ "$status" != 0 ]
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
