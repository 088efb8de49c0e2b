#!/usr/bin/env bats
# Programs that the interception library cannot reach, behind a mount of their own.
load helper
load pair
bats_require_minimum_version 1.5.0

# static NAME: build a static program from standard input into $BATS_FILE_TMPDIR.
static() {
	gcc -static -O1 -pthread -o "$BATS_FILE_TMPDIR/$1" -x c -
}

setup_file() {
	command -v gcc >/dev/null || return 0
	# copy IN OUT [BLOCK [SLEEP_MS]]: short counts and errors are told by the exit status.
	static copy <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			size_t block = argc > 3 ? atoi(argv[3]) : 65536;
			char *b = malloc(block);
			int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
			long n;
			if (in < 0 || out < 0) { perror("open"); return 1; }
			while ((n = read(in, b, block)) > 0) {
				if (write(out, b, n) != n) { perror("write"); return 2; }
				if (argc > 4) usleep(1000 * atoi(argv[4]));
			}
			if (n < 0) { perror("read"); return 3; }
			return close(out) ? 4 : 0;
		}
	END
	# starts OUT: writes, and leaves the close to the start of another program.
	static starts <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
			if (fd < 0 || write(fd, "text\n", 5) != 5) { perror(argv[1]); return 1; }
			execl(argv[2], argv[2], "sh", "-c", "exit 0", (char *)0);
			perror(argv[2]);
			return argc < 1;
		}
	END
	# ask FILE: sizes by fstat, stat and the end, as a program sees them one after the other.
	static ask <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct stat st;
			char b[16];
			int fd = open(argv[1], O_RDONLY);
			if (fd < 0 || fstat(fd, &st)) { perror(argv[1]); return 1; }
			fprintf(stderr, "fstat %s\n", st.st_size < 588895 ? "early" : "whole");
			if (read(fd, b, 5) != 5) return 1;
			if (lseek(fd, -6, SEEK_END) < 0 || read(fd, b, 16) != 6) return 2;
			write(1, b, 6);
			if (stat(argv[1], &st)) return 3;
			printf("stat %ld\n", (long)st.st_size);
			return argc < 1;
		}
	END
	# maps FILE OUT: reads by a shared mapping, writes by one.
	static maps <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct stat st;
			int in, out = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0644);
			if (stat(argv[1], &st) || (in = open(argv[1], O_RDONLY)) < 0 || out < 0) return 1;
			char *a = mmap(0, st.st_size, PROT_READ, MAP_SHARED, in, 0);
			if (ftruncate(out, st.st_size)) return 2;
			char *b = mmap(0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
			if (a == MAP_FAILED || b == MAP_FAILED) { perror("mmap"); return 3; }
			close(in); close(out);
			memcpy(b, a, st.st_size);
			return argc < 1;
		}
	END
	# blind FILE SIZE MODE: maps what it knows the size of, and prints the last bytes.
	static blind <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			size_t size = argc > 3 ? strtoul(argv[2], 0, 10) : 0;
			int fd = open(argv[1], *argv[3] == 'w' ? O_RDWR : O_RDONLY);
			if (fd < 0) { perror("open"); return 1; }
			char *a = mmap(0, size, PROT_READ, MAP_SHARED, fd, 0);
			if (a == MAP_FAILED) { perror("mmap"); return 2; }
			return write(1, a + size - 6, 6) != 6;
		}
	END
}

setup() {
	built_with fuse
	need gcc
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir -p work
	possible || skip "no mount is possible here: no /dev/fuse, or no namespaces"
}

# possible: can this user mount?
possible() {
	cat >possible.yaml <<-END
		name: possible
		dir: work
		tasks: [{func: one, exec: $BATS_FILE_TMPDIR/copy /dev/null out, outports: [{filename: out}]}]
	END
	leat run -q possible.yaml && rm -r work && mkdir work
}

# steps ENTRY...: write flow.yaml.
steps() {
	printf 'name: flow\ndir: work\ntasks:\n' >flow.yaml
	printf '  - {%s}\n' "$@" >>flow.yaml
}

A='func: a, outports: [{filename: data, mode: no_update}], exec: "bash -c '"'for i in 1 2 3 4 5; do seq 20000; sleep 0.05; done > data'"'"'
SUM=$( (seq 20000; seq 20000; seq 20000; seq 20000; seq 20000) | md5sum)

@test "a static program between two others, streaming in and out" {
	steps "$A" \
		"func: b, inports: [{filename: data}], outports: [{filename: mid, mode: no_update}], exec: $BATS_FILE_TMPDIR/copy data mid 1000" \
		"func: c, inports: [{filename: mid}], outports: [{filename: out}], exec: \"bash -c 'md5sum <mid >out'\""
	run -0 timeout 60 leat run --log log flow.yaml
	[ "$(cat work/out)" = "$SUM" ]
	[ ! -e work/mid ]
	leat replay flow.yaml log
	# It read while the producer wrote.
	grep -E '^b .* 0\.[0-9]+ s' <<<"$output"
	nothing_left
}

@test "block sizes from one byte to megabytes" {
	local block n
	n=$(up_to 1000 3000)
	for block in 1 4096 65537 3000000; do
		rm -rf work
		mkdir work
		steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq $n >data; sleep 0.05; seq $n >>data'\"" \
			"func: b, inports: [{filename: data}], outports: [{filename: out, mode: no_update}], exec: $BATS_FILE_TMPDIR/copy data out $block"
		timeout 60 leat run -q flow.yaml
		cmp work/out <(seq "$n"; seq "$n")
	done
}

@test "as an ordinary user" {
	chmod 777 . work
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	run -0 as_user timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(md5sum <work/out)" = "$SUM" ]
	[ ! -e "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
	nothing_left
}

@test "inside a script: by name, redirected, in a loop, with an empty environment" {
	cp "$BATS_FILE_TMPDIR/copy" work/
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: 'o*', mode: no_update}, {filename: 'd/*'}], exec: bash -eu ../script" \
		"func: c, inports: [{filename: 'o*'}, {filename: 'd/*'}], outports: [{filename: sums}], exec: \"bash -c 'md5sum o? d/x d/y >sums'\""
	cat >script <<-END
		./copy data o1
		./copy data /dev/stdout >o2
		./copy /dev/stdin o3 <data
		env -i ./copy data o4
		mkdir d
		cd d
		../copy ../o4 x
		\$PWD/../copy x y
		cd ..
		for i in 5 6 7; do ./copy o4 o\$i; done
		cat o1 | ./copy /dev/stdin /dev/stdout | cat >o8
		perl -e 'system("./copy", "o1", "o9") and exit 1'
	END
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(wc -l <work/sums)" = 11 ]
	[ "$(cut -d' ' -f1 work/sums | uniq)" = "${SUM%% *}" ]
	nothing_left
}

@test "the offset of an inherited descriptor goes on" {
	need busybox
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c '(read -r one; busybox head -c 5 >/dev/null; busybox head -c 4) <data >out'\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = "$( (read -r _; head -c 5 >/dev/null; head -c 4) < <(seq 20000))" ]
}

@test "what is asked of a growing file: fstat, the end and stat are those of the whole" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 50000 >data; sleep 0.5; seq 50001 100000 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c '$BATS_FILE_TMPDIR/ask data >out'\""
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"fstat whole"* ]]
	[ "$(cat work/out)" = $'00000\nstat 588895' ]
}

@test "the end of a growing file is the true one, also if others look at the descriptor meanwhile" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 50000 >data; until [ -e ../seen ]; do sleep 0.02; done; seq 50001 100000 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c '$BATS_FILE_TMPDIR/ask data >out'\""
	timeout 60 leat run --on-violation warn flow.yaml 3>&- &
	run=$!
	soon pgrep -fx "$BATS_FILE_TMPDIR/ask data"
	sleep 0.3 # it waits for the end
	find "/proc/$(pgrep -fx "$BATS_FILE_TMPDIR/ask data")/fd" -exec stat -L {} + # as lsof does
	touch seen
	ended 0 "$run"
	[ "$(cat work/out)" = $'00000\nstat 588895' ]
}

@test "mappings: shared, for reading and for writing" {
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out, mode: update}], exec: $BATS_FILE_TMPDIR/maps data out" \
		"func: c, inports: [{filename: out}], outports: [{filename: sum}], exec: \"bash -c 'md5sum <out >sum'\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/sum)" = "$SUM" ]
}

@test "a stream that is written by a mapping, half a page at a time: what was not written yet is not there" {
	static halves <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char b[4096];
			int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
			if (fd < 0 || write(fd, memset(b, 'a', 4096), 4096) != 4096 || ftruncate(fd, 12288)) return 1;
			char *m = mmap(0, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (m == MAP_FAILED) return 2;
			memset(m + 4096, 'b', 2048);
			if (msync(m, 12288, MS_SYNC)) return 3;
			if (argc > 2 && pwrite(fd, memset(b, 'd', 4096), 4096, 8192) != 4096) return 4;
			usleep(500000);
			memset(m + 6144, 'c', 2048);
			return msync(m, 12288, MS_SYNC) ? 5 : 0;
		}
	END
	local more parts
	for more in "" write; do
		parts=aabc00
		[ -z "$more" ] || parts=aabcdd
		steps "func: a, outports: [{filename: data, mode: no_update}], exec: $BATS_FILE_TMPDIR/halves data $more" \
			"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out'\""
		run -0 timeout 60 leat run flow.yaml
		[ "$(tr '\0' 0 <work/out | fold -w 2048 | cut -c 1 | tr -d '\n')" = "$parts" ]
		rm -r work && mkdir work
	done
}

@test "a descriptor that begins, or ceases, to append" {
	static appends <<-'END'
		#include <fcntl.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644), other = open(argv[1], O_WRONLY | O_APPEND);
			if (fd < 0 || other < 0 || write(fd, "12345", 5) != 5) return 1;
			if (fcntl(fd, F_SETFL, O_APPEND) || lseek(fd, 0, SEEK_SET) || write(fd, "67", 2) != 2) return 2;
			if (pwrite(fd, "8", 1, 0) != 1) return 3;
			if (fcntl(other, F_SETFL, 0) || pwrite(other, "x", 1, 1) != 1) return 4;
			if (fcntl(fd, F_SETFL, 0) || pwrite(fd, "y", 1, 2) != 1) return 5;
			return fcntl(fd, F_SETFL, O_APPEND) || write(fd, "9", 1) != 1 ? 6 : close(fd);
		}
	END
	local mode
	for mode in update no_update; do
		steps "func: a, outports: [{filename: data, mode: $mode}], exec: $BATS_FILE_TMPDIR/appends data"
		run -0 timeout 60 leat run flow.yaml
		[ "$(cat work/data)" = 1xy456789 ]
		rm -r work && mkdir work
	done
}

# grown MODE COMMAND...: `blind` comes to a file that has two bytes, and maps it when it has more.
grown() {
	local mode=$1
	shift
	rm -rf work started
	mkdir -m 777 work
	steps "func: a, outports: [{filename: data, mode: update}], exec: \"bash -c 'exec 3>data; echo >&3; : >../started; sleep 0.5; seq 100000 >&3'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'until [ -e ../started ]; do sleep 0.01; done; $BATS_FILE_TMPDIR/blind data 588896 $mode >out'\""
	"$@" timeout 60 leat run flow.yaml && [ "$(cat work/out)" = 00000 ]
}

@test "a file that grew between lookup and open is mapped whole, nobody having asked for its size" {
	grown r
	grown w
	chmod 777 .
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	grown r as_user
	grown w as_user
	rmdir "$LEAT_RUNTIME_DIR"
}

@test "the failure of a producer is an I/O error, no end of file" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 0.3; exit 3'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	run -3 timeout 60 leat run flow.yaml
	[[ $output == *"Input/output error"* ]]
	[ ! -e work/out ]
	nothing_left
}

@test "a program killed while it waits, and one killed while it writes" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; until [ -e ../dead ]; do sleep 0.02; done; seq 10 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c '$BATS_FILE_TMPDIR/copy data x & until [ -s x ]; do sleep 0.1; done; kill \$!; wait \$!; echo \$? >out; >../dead'\""
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	cat work/out
	[ "$(cat work/out)" = 143 ]
	# Half a file that is complete when it is closed must not count. It is killed behind its first block.
	rm work/out
	steps "func: a, outports: [{filename: data, committed: on_close, mode: no_update}], exec: \"bash -c 'seq 20000 >in; $BATS_FILE_TMPDIR/copy in data 1000 60000 & until [ -s data ]; do sleep 0.1; done; kill -9 \$!; wait \$!; exit 5'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	run timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"Input/output error"* ]]
	[[ $output == *"exit 5"* ]]
	[ ! -e work/out ]
	nothing_left
}

@test "a file that is closed empty by a program that is killed then is not complete" {
	static closes <<-'END'
		#include <fcntl.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int fd = open(argv[1], O_WRONLY | O_CREAT, 0644);
			if (fd < 0 || (argc < 3 && write(fd, "text\n", 5) != 5) || close(fd)) return 1;
			return argc < 3 ? 0 : raise(atoi(argv[2]));
		}
	END
	local signal
	for signal in 9 15; do
		rm -rf work && mkdir work
		steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c '$BATS_FILE_TMPDIR/closes data $signal || { sleep 0.3; $BATS_FILE_TMPDIR/closes data; }'\"" \
			"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out'\""
		run -0 timeout 60 leat run flow.yaml
		echo "$output"
		[ "$(cat work/out)" = text ]
	done
	# So it is if one of its threads did, which is gone.
	static closes_in_thread <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void *closes(void *name)
		{
			int fd = open(name, O_WRONLY | O_CREAT, 0644);
			return fd < 0 || close(fd) ? name : NULL;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			void *failed;
			if (pthread_create(&thread, 0, closes, argv[1]) || pthread_join(thread, &failed) || failed) return 1;
			return argc < 3 ? 0 : raise(atoi(argv[2]));
		}
	END
	rm -rf work && mkdir work
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c '$BATS_FILE_TMPDIR/closes_in_thread data 9 || { sleep 0.3; $BATS_FILE_TMPDIR/closes data; }'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out'\""
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = text ]
	# Its good end is heard of while others go on behind the same mount.
	need busybox
	rm -rf work && mkdir work
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: busybox sh ../goes_on" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out; touch ../seen'\""
	printf '%s\n' "$BATS_FILE_TMPDIR/closes_in_thread data" 'until [ -e ../seen ]; do sleep 0.02; done' >goes_on
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	rm seen
	# Who ends well has closed it for good, also if another one behind the same mount is killed.
	need busybox
	rm -rf work && mkdir work
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c 'busybox sh ../both; until [ -e ../seen ]; do sleep 0.02; done'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out; touch ../seen'\""
	printf '%s\n' ": >data" "$BATS_FILE_TMPDIR/copy /dev/zero /dev/null 1000 10 & sleep 0.2; kill \$!; wait" "exit 0" >both
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	nothing_left
}

@test "a program killed while it fills a mapping whose file it has closed: half a file" {
	static fills <<-'END'
		#include <fcntl.h>
		#include <signal.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
			if (fd < 0 || ftruncate(fd, 100000)) return 1;
			char *m = mmap(0, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (m == MAP_FAILED || close(fd)) return 2;
			memset(m, 'x', argc > 2 ? 50000 : 100000);
			return argc > 2 ? raise(SIGKILL) : 0;
		}
	END
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c '$BATS_FILE_TMPDIR/fills data half || sleep 0.5; exit 5'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out'\""
	run timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"Input/output error"* ]]
	[[ $output == *"exit 5"* ]]
	[ ! -s work/out ]
	nothing_left
	# Who writes it anew completes it.
	rm -rf work && mkdir work
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c '$BATS_FILE_TMPDIR/fills data half || $BATS_FILE_TMPDIR/fills data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data >out'\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(tr -d x <work/out | wc -c)" = 0 ]
}

@test "a static program looks at a file that another one of its step writes little by little: what was written, and its end" {
	need python3
	# follows FILE [old]: until it has 3,000,000 bytes, by a descriptor (old: from before they are
	# written), by the name, by a mapping, by the end.
	static follows <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <unistd.h>
		static char b[1 << 20];
		/* The kernel shows a write page by page. */
		static int cut(long n) { return n % 1000 && n % 4096; }
		static int zeros(const char *from, long n) { return n > 0 && memchr(from, 0, n); }
		int main(int argc, char **argv)
		{
			struct stat st;
			long n = 0, end = 0, got;
			int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
			close(open("../ready", O_CREAT | O_WRONLY, 0644));
			while (n < 3000000) {
				int in = fd < 0 ? open(argv[1], O_RDONLY) : fd;
				if (in < 0 || stat(argv[1], &st) || cut(st.st_size)) return 1;
				if (fstat(in, &st) || cut(st.st_size)) return 2;
				if (st.st_size) {
					char *m = mmap(0, st.st_size, PROT_READ, MAP_SHARED, in, 0);
					if (m == MAP_FAILED || zeros(m, st.st_size)) return 3;
					munmap(m, st.st_size);
				}
				end = lseek(in, 0, SEEK_END);
				if (cut(end)) return 4;
				for (n = 0; (got = pread(in, b, sizeof(b), n)) > 0; n += got)
					if (zeros(b, got)) return 5;
				if (got < 0 || cut(n)) return 6;
				if (fd < 0) close(in);
			}
			return n != 3000000;
		}
	END
	cat >write.py <<-'END'
		import os, time
		while not os.path.exists("../ready"): time.sleep(0.01)
		w = os.open("data", os.O_WRONLY)
		for i in range(3000):
		    os.write(w, b"x" * 1000)
		    if i % 100 == 0: time.sleep(0.01)
	END
	local mode old
	for mode in update no_update; do
		for old in '' old; do
			rm -rf work ready && mkdir work
			steps "func: a, outports: [{filename: data, mode: $mode}], exec: \"bash -c ': >data; $BATS_FILE_TMPDIR/follows data $old & python3 ../write.py; wait \$!'\"" \
				"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'cat data | wc -c >out'\""
			echo "# $mode $old"
			run -0 timeout 60 leat run flow.yaml
			echo "$output"
			[ "$(cat work/out)" = 3000000 ]
		done
	done
}

@test "a close by a program that ends counts, whoever opened the file" {
	steps "func: a, outports: [{filename: data, committed: on_close}], exec: \"bash -c 'seq 20000 >in; $BATS_FILE_TMPDIR/copy in /dev/stdout >data; for i in 1 2 3 4 5 6 7 8 9 10; do [ -e ../seen ] && exit; sleep 0.3; done; exit 7'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'md5sum <data >out; touch ../seen'\""
	run -0 timeout 60 leat run flow.yaml
}

@test "a file that is closed by the start of another program" {
	need busybox
	steps "func: a, outports: [{filename: data}], exec: $BATS_FILE_TMPDIR/starts data $(command -v busybox)" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: cp data out"
	run -0 timeout -k 5 20 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = text ]
	nothing_left
}

@test "sendfile of a file that grows: no false end" {
	need busybox
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'for i in 1 2 3 4 5; do seq 200000; sleep 0.1; done >data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c 'for i in 1 2; do busybox cat data | md5sum; done | uniq >out'\""
	run -0 timeout -k 5 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(for _ in 1 2 3 4 5; do seq 200000; done | md5sum)" ]
	nothing_left
}

@test "directories that are not there yet, and files in them" {
	need busybox
	steps "func: a, outports: [{filename: 'd/e/*'}, {filename: plain}], exec: \"bash -c 'sleep 0.3; mkdir -p d/e; echo 1 >d/e/f; echo 2 >plain; ln -s f d/e/l'\"" \
		"func: b, inports: [{filename: 'd/e/*'}, {filename: plain}], outports: [{filename: out}], exec: \"busybox sh -c 'busybox sh ../look >out'\""
	cat >look <<-'END'
		cat d/e/f plain
		(cd d/e; cat f l; ls)
		readlink -f plain
		test -f plain; echo $?
		test -e d/e/never; echo $?
		cat d/e/f/x || ls
	END
	cat >expected <<-END
		1
		2
		1
		1
		f
		l
		$PWD/work/plain
		0
		1
		d
		out
		plain
	END
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"d/e/f/x': Not a directory"* ]]
	diff expected work/out
}

@test "what is not there yet is no symlink to who asks for the name itself" {
	need busybox gzip tar python3
	cat >look.py <<-'END'
		import os, stat, sys
		def shown(call, *arguments, **options):
		    try: return call(*arguments, **options)
		    except OSError as e: return e.strerror
		name = sys.argv[1]
		how = {"lstat": lambda: oct(os.lstat(name).st_mode),
		       "readlink": lambda: os.readlink(name),
		       "open": lambda: os.read(os.open(name, os.O_RDONLY | os.O_NOFOLLOW), 9),
		       "path": lambda: oct(os.fstat(os.open(name, os.O_PATH | os.O_NOFOLLOW)).st_mode),
		       "dir": lambda: sorted(os.listdir(os.open(name, os.O_NOFOLLOW | os.O_DIRECTORY))),
		       "below": lambda: os.read(os.open(name + "/y", os.O_RDONLY | os.O_NOFOLLOW), 9),
		       "xattr": lambda: os.getxattr(name, "user.leat", follow_symlinks=False)}
		sys.stdout.write(str(shown(how[sys.argv[2]])) + "\n") # in one write, which another process cannot come between
	END
	local make look mode looks=(
		'python3 ../look.py x lstat' 'python3 ../look.py x readlink' 'python3 ../look.py x open'
		'python3 ../look.py x dir' 'python3 ../look.py x below' 'gzip -nkf x; ls' 'gzip -nk x; ls'
		'tar --mtime=@0 -cf - x | tar -tvf -' 'busybox readlink x' 'busybox stat -c %F x' 'busybox ls -l x | cut -c1-10'
		'ls -l x | cut -c1-10' 'test -L x; echo $?' 'find x -maxdepth 0 -type f' 'find x -maxdepth 0 -type l'
		'busybox cp -a x z; cp -a x w; ls -l z w | cut -c1-10' 'python3 ../look.py x open & cat x & wait')
	for make in 'echo text >x' 'ln -s f x' 'mkdir t; echo y >t/y; mv t x'; do
		for look in "${looks[@]}"; do
			one_in 5 || continue
			echo "shown=\$( ($look) 2>&1 | sort); echo \"\$shown\" >out" >script
			for mode in update no_update; do
				[[ $mode == update || $make == echo* ]] || continue
				echo "# $make, $mode: $look"
				steps "func: a, outports: [{filename: x, mode: $mode}], exec: \"bash -c 'sleep 0.1; umask 022; $make'\"" \
					"func: b, inports: [{filename: x}], outports: [{filename: out}], exec: env LEAT_INTERCEPT=mount bash ../script"
				if [[ $mode == update ]]; then
					rm -rf work && mkdir work && echo f >work/f
					run -0 timeout 60 leat run --plain flow.yaml
					mv work/out plain
				fi
				rm -rf work && mkdir work && echo f >work/f
				run -0 timeout 60 leat run flow.yaml
				sed -i -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]+//' plain work/out
				diff plain work/out
			done
		done
	done
	nothing_left
}

@test "a sealed gzip reads what is still to come" {
	need gzip
	steps "func: a, outports: [{filename: x}], exec: \"bash -c 'sleep 0.3; echo text >x'\"" \
		"func: b, inports: [{filename: x}], outports: [{filename: x.gz}], exec: gzip -nk x"
	run timeout 60 leat run --sealed flow.yaml
	echo "$output"
	[[ $output != *"cannot be sealed"* ]] || skip "steps cannot be sealed here"
	[ "$status" = 0 ]
	[ "$(gzip -dc work/x.gz)" = text ]
	# An ordinary user's server, too, may look at what its program asks for.
	rm -rf work && mkdir -m 777 work && sed -i 's/exec: gzip/exec: env LEAT_INTERCEPT=mount gzip/' flow.yaml
	LEAT_RUNTIME_DIR=$(mktemp -d "$BATS_TEST_TMPDIR/user-XXXXXX")
	export LEAT_RUNTIME_DIR
	[ "$(id -u)" != 0 ] || chown 65534:65534 "$LEAT_RUNTIME_DIR" work
	run -0 as_user timeout 60 leat run flow.yaml
	[ "$(gzip -dc work/x.gz)" = text ]
}

@test "a listing waits for what is declared" {
	need busybox
	steps "func: a, outports: [{filename: 'parts/*'}], exec: \"bash -c 'mkdir parts; for i in 1 2 3 4 5; do sleep 0.1; echo \$i >parts/\$i; done'\"" \
		"func: b, inports: [{filename: 'parts/*'}], outports: [{filename: out}], exec: \"busybox sh -c 'ls parts >out; cat parts/* >>out'\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = "1 2 3 4 5 1 2 3 4 5 " ]
}

@test "what an open directory is said to be, before its names are read, is what it is then" {
	need python3
	cat >look.py <<-'END'
		import os
		fd = os.open("parts", os.O_RDONLY)
		before = os.fstat(fd)
		names = sorted(os.listdir(fd))
		after = os.fstat(fd)
		with open("out", "w") as out:
		    print(*names, before.st_ctime_ns == after.st_ctime_ns, before.st_mtime_ns == after.st_mtime_ns, file=out)
	END
	steps "func: a, outports: [{filename: 'parts/*'}], exec: \"bash -c 'mkdir parts; for i in 1 2 3 4 5; do sleep 0.1; echo \$i >parts/\$i; done'\"" \
		"func: b, inports: [{filename: 'parts/*'}], outports: [{filename: out}], exec: \"env LEAT_INTERCEPT=mount python3 ../look.py\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = "1 2 3 4 5 True True" ]
	# Who opens it for a file in it does not wait for names.
	cat >look.py <<-'END'
		import os
		fd = os.open("parts", os.O_RDONLY)
		with open(os.open("1", os.O_RDONLY, dir_fd=fd)) as first, open("out", "w") as out:
		    out.write(first.read())
		open("begun", "w").close()
	END
	rm -rf work/*
	steps "func: a, outports: [{filename: 'parts/*', committed: on_close}], exec: \"bash -c 'mkdir parts; echo 1 >parts/1; until [ -e begun ]; do sleep 0.05; done; echo 5 >parts/5'\"" \
		"func: b, inports: [{filename: 'parts/*'}], outports: [{filename: out}], exec: \"env LEAT_INTERCEPT=mount python3 ../look.py\""
	echo 'exclude: [begun]' >>flow.yaml
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = 1 ]
}

@test "names: made, moved, linked, removed, as on disk" {
	need busybox
	cat >names <<-'END'
		set -e
		mkdir -p t/u; echo one >t/a; mv t/a t/u/b; ln t/u/b t/c; ln -s u/b t/d; cat t/c t/d
		echo two >t/e; mv t/e t/c; cat t/c t/d; ls -R t | sort; rmdir t/u 2>/dev/null || echo full
		chmod 640 t/c; stat -c %a t/c; touch -d '2020-01-02 03:04:05' t/c; stat -c %Y t/c
		truncate -s 2 t/c; cat t/c; echo; exec 3<t/c; rm t/c; cat <&3; echo
		(cd t/u; pwd | sed 's|.*/t/u|t/u|'; cat b; mv ../d .; ls); mkfifo t/p; ls t/p
		dd if=/dev/zero of=t/z bs=1 count=1 seek=99 2>/dev/null; wc -c <t/z
		echo x >>t/z; tail -c 3 t/z | hexdump -C; cp -r t v; rm -r t; ls v v/u; rm -r v; ls
	END
	steps "func: b, outports: [{filename: out}, {filename: 't/*'}], exec: \"busybox sh -c 'busybox sh ../names >out'\""
	run -0 timeout 60 leat run --plain flow.yaml
	echo "$output"
	mv work/out plain
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	diff -u plain work/out
	nothing_left
}

@test "status and signals are the program's own" {
	need busybox
	steps "func: a, outports: [{filename: x}], exec: \"busybox sh -c 'exit 42'\""
	run -42 timeout 60 leat run flow.yaml
	steps "func: a, outports: [{filename: x}], exec: \"busybox sh -c 'kill -TERM \$\$'\""
	run timeout 60 leat run flow.yaml
	[[ $output == *"killed by SIGTERM"* ]]
}

@test "libraries of the program's own stay in LD_PRELOAD, whatever they are called" {
	need gcc
	echo 'const char *zone(void) { return "kept"; }' | gcc -shared -fPIC -o libleather.so -xc -
	gcc -O -o tells -xc - <<-'END'
		#include <stdio.h>
		const char *zone(void) __attribute__((weak));
		int main(void) { return puts(zone ? zone() : "gone") < 0; }
	END
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, exec: env LD_PRELOAD=$PWD/libleather.so LEAT_INTERCEPT=mount $PWD/tells}
		  - {func: b, exec: $PWD/tells}
	END
	run -0 timeout 60 leat run flow.yaml
	[[ $output == *"[a] kept"* && $output == *"[b] gone"* ]]
}

@test "Go: seqkit reads and writes streams" {
	need seqkit gzip
	steps "func: a, outports: [{filename: in.fa, mode: no_update}], exec: \"bash -c 'for i in \$(seq 2000); do echo \\\\>s\$i; echo ACGTACGTNN; done >in.fa'\"" \
		"func: b, inports: [{filename: in.fa}], outports: [{filename: rc.fa.gz, mode: no_update}], exec: seqkit seq -r -p -j 2 in.fa -o rc.fa.gz" \
		"func: c, inports: [{filename: rc.fa.gz}], outports: [{filename: out}], exec: \"bash -c 'gzip -dc rc.fa.gz | grep -c NNACGTACGT >out'\""
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = 2000 ]
	nothing_left
}

@test "musl" {
	need musl-gcc
	printf '#include <stdio.h>\nint main(void) { char l[99]; FILE *i = fopen("data", "r"), *o = fopen("out", "w");\nwhile (fgets(l, 99, i)) fputs(l, o); return fclose(o); }\n' >p.c
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out}], exec: ./p"
	for how in -static ''; do
		rm -rf work && mkdir work
		# shellcheck disable=SC2086 # or none
		musl-gcc $how -o work/p p.c
		echo old >work/data
		run -0 timeout 60 leat run flow.yaml
		[ "$(md5sum <work/out)" = "$SUM" ]
	done
	run -126 no_mount leat run flow.yaml
	[[ $output == *"is linked with another C library than glibc and cannot be intercepted"* ]]
}

@test "where text may not be written" {
	need python3
	local refuse=$BATS_TEST_DIRNAME/../preload/refuse.py
	python3 "$refuse" true || skip "the kernel cannot refuse executable memory"
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"python3 $refuse gawk '{print > \\\"out\\\"}' data\""
	echo old >work/data
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(md5sum <work/out)" = "$SUM" ]
}

@test "a machine without a mount: refused by name, with the reason" {
	steps "func: b, outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy /dev/null out"
	run -126 no_mount leat run flow.yaml
	[[ $output == *"is statically linked and cannot be intercepted, and this machine lets nobody mount here"* ]]
	[[ $output == *"staged: true"* ]]
}

# reads: the reader has begun, and has come to the end of what is there.
reads() {
	soon eval '[ -n "$(ours copy)" ]'
	sleep 0.4
}

@test "the server of a mount is killed: errors, and the run says so" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 3; seq 10 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	(reads; kill -9 "$(ours leat-mount)") 3>&- &
	run -3 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step b: the server of its mount (leat-mount, process "*") has ended unexpectedly"* ]]
	[ ! -e work/out ]
	nothing_left
	# Who takes the error for the end has not succeeded.
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 3; seq 10 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: \"bash -c '$BATS_FILE_TMPDIR/copy data /dev/stdout >out; exit 0'\""
	(reads; kill -9 "$(ours leat-mount)") 3>&- &
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[ ! -e work/out ]
	nothing_left
}

@test "the daemon is killed while a program waits behind a mount" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 3'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	(reads; kill -9 "$(ours leat-daemon)") 3>&- &
	run -125 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"read: Input/output error"* ]]
	[ ! -e work/out ]
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(ours leat-mount)" ] || break
		sleep 0.1
	done
	[ -z "$(ours leat-mount)" ]
}

@test "a reader that is stopped while it waits goes on where it was" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 1; seq 10 >>data'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	(sleep 0.4; kill -STOP "$(ours copy)"; sleep 0.2; kill -CONT "$(ours copy)"
		sleep 0.2; kill -STOP "$(ours copy)"; sleep 0.7; kill -CONT "$(ours copy)") 3>&- &
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	cmp work/out <(seq 20000; seq 10)
	nothing_left
}

@test "a reader killed while it waits is gone at once, and its mount with it" {
	steps "func: a, outports: [{filename: data, mode: no_update}], exec: \"bash -c 'seq 20000 >data; sleep 3'\"" \
		"func: b, inports: [{filename: data}], outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy data out"
	(
		reads
		reader=$(ours copy)
		kill -9 "$reader"
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			[ -e "/proc/$reader" ] || [ -n "$(ours leat-mount)" ] || break
			sleep 0.05
		done
		[ -e "/proc/$reader" ] || [ -n "$(ours leat-mount)" ] || touch gone
	) 3>&- &
	run -137 timeout 60 leat run flow.yaml
	echo "$output"
	[ -e gone ]
	nothing_left
}

@test "io_uring and AIO are refused: their reads would end where the file ended a moment ago" {
	static ring <<-'END'
		#include <errno.h>
		#include <linux/io_uring.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void)
		{
			struct io_uring_params p = {0};
			unsigned long aio = 0;
			long ring = syscall(SYS_io_uring_setup, 4, &p);
			printf("%s\n", ring < 0 && errno == ENOSYS ? "refused" : "there");
			ring = syscall(SYS_io_setup, 4, &aio);
			printf("%s\n", ring < 0 && errno == ENOSYS ? "refused" : "there");
			return 0;
		}
	END
	steps "func: a, outports: [{filename: out}], exec: \"bash -c '$BATS_FILE_TMPDIR/ring >out'\""
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = $'refused\nrefused' ]
}

@test "setuid: behind a mount with the rights it has" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp "$(command -v cp)" copier
	chown 65534:65534 copier
	chmod u+s copier
	chmod 777 work
	chmod a+x "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR"
	steps "$A" "func: b, inports: [{filename: data}], outports: [{filename: out}], exec: ../copier data out" \
		"func: c, inports: [{filename: out}], outports: [{filename: sum}], exec: \"bash -c 'md5sum <out >sum; stat -c %u out >>sum'\""
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/sum)" = "$SUM"$'\n65534' ]
	nothing_left
	# What runs for an ordinary user would lose them.
	chown 0:0 copier
	chmod 4755 copier
	chmod 777 .
	rm -rf work/*
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	run -126 as_user timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"setuid or setgid and cannot be intercepted, and a mount of an ordinary user takes its rights away"* ]]
}

# no_namespaces COMMAND...: as an ordinary user of a machine without user namespaces.
no_namespaces() {
	local pid
	chmod a+x "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR" "${BATS_FILE_TMPDIR%/*}" "$BATS_FILE_TMPDIR"
	mkfifo ready go
	# It must be the shell already: what exec makes of the rights depends on whether root is mapped.
	unshare -U --keep-caps sh -c 'echo >ready; read -r _ <go; echo 0 >/proc/sys/user/max_user_namespaces &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' sh "$@" &
	pid=$!
	read -r _ <ready
	echo '0 0 65536' >/proc/$pid/uid_map
	echo '0 0 65536' >/proc/$pid/gid_map
	echo >go
	wait $pid
}

@test "an engine that is installed set-id, on a machine without user namespaces" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need bwrap
	cp "$(type -P bwrap)" apptainer
	chmod 4755 apptainer
	chmod 777 . work
	steps "func: b, outports: [{filename: out}], exec: ../apptainer exec image.sif true"
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	run -126 no_namespaces timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"../apptainer is "*"cannot be intercepted, and this machine allows no user namespaces"* ]]
	[[ $output == *"staged: true"* ]]
}

@test "a machine without user namespaces: refused by name, with the reason" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	chmod 777 . work
	steps "func: b, outports: [{filename: out}], exec: $BATS_FILE_TMPDIR/copy /dev/null out"
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	run -126 no_namespaces timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"is statically linked and cannot be intercepted, and this machine allows no user namespaces (user.max_user_namespaces is 0)"* ]]
	[[ $output == *"staged: true"* ]]
}
