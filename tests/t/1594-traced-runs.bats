#!/usr/bin/env bats
# Runs under `leat trace`, and runs that write a trace themselves: no step is left out, whether the library
# is in its programs or they are behind a mount.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	flow "sh -c '(seq 500; sleep 0.3; seq 501 1000) >x'"
}

teardown() {
	nothing_left
}

# flow COMMAND: `make`, which runs it, makes x; `use` and `last`, which is staged, copy that.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: $1
		    outports: [{filename: x}]
		  - func: use
		    exec: sh -c 'cat x >y'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
		  - func: last
		    staged: true
		    exec: sh -c 'cat y >z'
		    inports: [{filename: y}]
		    outports: [{filename: z}]
	END
}

# moved TRACE NAME TYPE: bytes that calls of this type have moved, of the file with this name.
moved() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import csv, sys
		rows = csv.reader(line for line in open(sys.argv[1]) if not line.startswith("#"))
		head = next(rows)
		path, total = {}, 0
		for row in rows:
		    r = dict(zip(head, row))
		    if r["path"]:
		        path[r["handle"]] = r["path"]
		    if r["type"] == sys.argv[3] and path.get(r["handle"], "").endswith("/" + sys.argv[2]):
		        total += max(0, int(r["result"]))
		print(total)
	END
}

@test "leat trace --tracer preload of a run on plain files, and of a streamed one" {
	local name
	for plain in --plain ""; do
		rm -f work/*
		# Whatever the caller has set for CAPIO's programs.
		CAPIO_DIR=$PWD/work run -0 timeout 100 leat trace --tracer preload -o trace.csv -- leat run $plain flow.yaml
		cmp work/z <(seq 1000)
		for name in x y z; do
			[ "$(moved trace.csv $name W)" = 3893 ]
		done
		[ "$(moved trace.csv x R)" = 3893 ]
		# The daemon reads it, too, to bring it to disk.
		[ "$(moved trace.csv y R)" -ge 3893 ]
	done
}

# programs NAME: what is executed in the trace NAME.csv, each with its step and process.
programs() {
	/usr/bin/python3 -B - "$1" <<-'END'
		import csv, sys
		rows = csv.reader(line for line in open(sys.argv[1] + ".pids.csv") if not line.startswith("#"))
		head = next(rows)
		for row in rows:
		    r = dict(zip(head, row))
		    if r["event"] == "exec":
		        labels = dict(word.split("=", 1) for word in r["labels"].split())
		        print(r["program"].rsplit("/", 1)[-1], labels.get("LEAT_APP_NAME", "-"), r["pid"])
	END
}

# calls TRACE NAME: the types of all calls on the file with this name, in their order, but those that close it
# at the end: a program does not wait until the kernel has told the mount that it has closed a file.
calls() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import csv, sys
		rows = csv.reader(line for line in open(sys.argv[1]) if not line.startswith("#"))
		head = next(rows)
		path, types = {}, ""
		for row in rows:
		    r = dict(zip(head, row))
		    if r["path"]:
		        path[r["handle"]] = r["path"]
		    if (r["path"] or path.get(r["handle"], "")).endswith("/work/" + sys.argv[2]):
		        types += r["type"]
		print(types.replace("X", "") + "," + "X" * types.count("X"))
	END
}

mounts() {
	built_with fuse
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	# Files of direct I/O are mapped since then: else some calls are the kernel's own.
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "Linux before 6.6 reads some files by itself"
}

@test "leat run --trace records what a static program does behind its mount: calls, bytes, processes" {
	mounts
	static_linking
	gcc -static -pthread -o program -x c - <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/wait.h>
		#include <unistd.h>

		static void *look(void *fd)
		{
			char bytes[1000];

			return pread(*(int *)fd, bytes, 1000, 100) == 1000 ? fd : NULL;
		}

		int main(void)
		{
			char bytes[4096];
			int fd = open("x", O_RDONLY), sum = 0, n, status;
			pthread_t thread;
			void *good;
			char *map;

			while ((n = read(fd, bytes, 512)) > 0)
				sum += n;
			pthread_create(&thread, NULL, look, &fd);
			pthread_join(thread, &good);
			map = mmap(NULL, 3893, PROT_READ, MAP_SHARED, fd, 0);
			if (sum != 3893 || !good || map == MAP_FAILED || map[0] != '1')
				return 1;
			close(fd);
			munmap(map, 3893);
			fd = open("y", O_CREAT | O_WRONLY | O_TRUNC, 0644);
			for (n = 0; n < 10; n++)
				write(fd, bytes, 300);
			pwrite(fd, bytes, 100, 5000);
			ftruncate(fd, 4000);
			close(fd);
			fd = open("y", O_WRONLY | O_APPEND);
			write(fd, bytes, 93);
			close(fd);
			truncate("y", 4090);
			close(open("t", O_CREAT | O_WRONLY, 0644));
			rename("t", "u");
			unlink("u");
			if (fork() == 0) {
				fd = open("w", O_CREAT | O_RDWR, 0644);
				ftruncate(fd, 8192);
				map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
				if (map == MAP_FAILED)
					_exit(1);
				memset(map, 'w', 8192);
				munmap(map, 8192);
				close(fd);
				_exit(7);
			}
			wait(&status);
			return WEXITSTATUS(status) != 7;
		}
	END
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c 'seq 1000 >x'
		    outports: [{filename: x}]
		  - func: use
		    exec: $PWD/program
		    inports: [{filename: x}]
		    outports: [{filename: y}, {filename: w}]
	END
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output == *"; none lost"* && $output != *unseen* && $output != *lacks* ]]
	[ "$(stat -c %s work/y) $(stat -c %s work/w)" = "4090 8192" ]
	[ "$(moved t.csv x R)" = 4893 ]
	[ "$(moved t.csv y W)" = 3193 ]
	[ "$(calls t.csv x)" = CWORRRRRRRRRRM,XX ]
	[ "$(calls t.csv y)" = CWWWWWWWWWWWTOW,XX ]
	[ "$(calls t.csv t)" = CN,X ]
	[ "$(calls t.csv u)" = U, ]
	[ "$(calls t.csv w | tr -s M)" = CTM,X ]
	# It and its child, who are of the step, and no server.
	run -0 programs t
	[ "$(awk '$1 == "program" && $2 == "use"' <<<"$output" | sort -u | wc -l)" = 2 ]
	[[ $output != *leat* ]]
	[ "$(grep -c ',exit,1792,' t.pids.csv)" = 1 ]
	[ "$(grep -c ',exit,' t.pids.csv)" = "$(grep -c ',fork,' t.pids.csv)" ]
	run -0 leat report t.csv
	[[ $output == *"use "*"->"*"work/y"* ]]
	run -0 leat map t.csv
	[[ $output == *use* ]]
}

@test "leat run --trace records programs that a step has behind a mount, whoever starts them" {
	mounts
	[ -x /usr/bin/busybox ] || [ -x /bin/busybox ] || skip "there is no busybox"
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c 'seq 1000 >x'
		    outports: [{filename: x}]
		  - func: use
		    exec: sh -c 'busybox cp x y; busybox sh -c "busybox cat x | busybox tee z >/dev/null"'
		    inports: [{filename: x}]
		    outports: [{filename: y}, {filename: z}]
		  - func: all
		    exec: env LEAT_INTERCEPT=mount sh -c 'cat y z | tee v >/dev/null'
		    inports: [{filename: y}, {filename: z}]
		    outports: [{filename: v}]
	END
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output == *"; none lost"* && $output != *unseen* && $output != *lacks* ]]
	[ "$(moved t.csv x W) $(moved t.csv x R)" = "3893 7786" ]
	[ "$(moved t.csv y W) $(moved t.csv y R)" = "3893 3893" ]
	[ "$(moved t.csv z W) $(moved t.csv z R)" = "3893 3893" ]
	[ "$(moved t.csv v W)" = 7786 ]
	cmp work/v <(seq 1000 && seq 1000)
	# Each is once in the trace: by the library until its mount is there, by that from then on.
	run -0 programs t
	[ "$(grep -c '^busybox use ' <<<"$output")" = 4 ]
	[ "$(grep -c '^tee all ' <<<"$output")" = 1 ]
	[ "$(grep -c ',exit,' t.pids.csv)" = "$(grep -c ',fork,' t.pids.csv)" ]
	[ "$(grep -c ',exit,[1-9]' t.pids.csv)" = 0 ]
}

@test "leat run --trace says which programs begin with files open that go past their mount" {
	mounts
	[ -x /usr/bin/busybox ] || [ -x /bin/busybox ] || skip "there is no busybox"
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c 'seq 1000 >x'
		    outports: [{filename: x}]
		  - func: use
		    exec: sh -c 'busybox cat x >y'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output == *"/busybox ran 1 time unseen in part: it began behind a mount with a file of the workflow open (a redirection); its calls on that are not in the trace, "* ]]
	[[ $output == *"; lost: 1 (unseen)"* ]]
	[ "$(moved t.csv x R)" = 3893 ]
	cmp work/y <(seq 1000)
}

@test "leat run --trace records staged steps, and names those that it cannot record" {
	built_with fuse
	static_linking
	gcc -static -o shell -x c - <<-'END'
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			return argc < 2 || system(argv[1]) ? 1 : 0;
		}
	END
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output == *"; none lost"* && $output != *lacks* ]]
	[ "$(moved t.csv y W) $(moved t.csv y R) $(moved t.csv z W)" = "3893 3893 3893" ]
	cmp work/z <(seq 1000)
	# A static program of a staged step, and of all steps on plain files.
	sed -i "s|exec: sh -c 'cat y >z'|exec: $PWD/shell \"cat y >z\"|" flow.yaml
	for plain in "" --plain; do
		rm work/*
		run -0 timeout 100 leat run --quiet $plain --trace t.csv flow.yaml
		[[ $output == *"leat: warning: the trace t.csv lacks what steps on plain files did that cannot load the library (statically linked and the like): last; "* ]]
		[ "$(moved t.csv y W)" = 3893 ]
	done
}

@test "leat run --trace of a step on plain files that is a leat run: it needs no mount" {
	mkdir inner
	cat >inner/flow.yaml <<-END
		name: inner
		tasks:
		  - func: make
		    exec: sh -c 'seq 1000 >k'
		    outports: [{filename: k}]
		  - func: use
		    exec: sh -c 'cat k >l'
		    inports: [{filename: k}]
		    outports: [{filename: l}]
	END
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: run
		    staged: true
		    exec: sh -c 'cd ../inner && leat run --quiet flow.yaml && cp l ../work/z'
		    outports: [{filename: z}]
	END
	for plain in "" --plain; do
		rm -f work/* inner/[kl]
		# A leat that is built so comes after the library.
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0:detect_leaks=0 run -0 \
			timeout 100 leat run --quiet $plain --trace t.csv flow.yaml
		[[ $output == *"; none lost"* ]]
		cmp work/z <(seq 1000)
		[ "$(moved t.csv z W)" = 3893 ]
		[ "$(moved t.csv l W)" -ge 3893 ]
	done
}

@test "leat run --trace of a program built with AddressSanitizer" {
	need gcc
	gcc -fsanitize=address -o checked -xc - <<-'END' || skip "no libasan"
		#include <stdio.h>
		int main(void) { return printf("checked\n") == 8 ? 0 : 1; }
	END
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c '../checked >x; ../checked >>x'
		    outports: [{filename: x}]
	END
	for plain in "" --plain; do
		rm -f work/*
		run -0 timeout 100 leat run --quiet $plain --trace t.csv flow.yaml
		[[ $output == *"; none lost"* ]]
		[ "$(moved t.csv x W)" = 16 ]
	done
}
