#!/usr/bin/env bats
# What makes a version: an open for writing that changes something, and nothing else.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	# change HOW FILE TEXT: open it for reading and writing, change it so, close it.
	cat >change.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/sendfile.h>
		#include <sys/uio.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			const char *how = argc > 3 ? argv[1] : "";
			size_t n = argc > 3 ? strlen(argv[3]) : 0;
			int fd = open(argc > 3 ? argv[2] : "", O_RDWR);
			struct iovec v = {argv[3], n};
			char *map;
			if (fd < 0) { perror("open"); return 1; }
			if (!strcmp(how, "write")) return write(fd, argv[3], n) != (ssize_t)n;
			if (!strcmp(how, "pwrite")) return pwrite(fd, argv[3], n, 0) != (ssize_t)n;
			if (!strcmp(how, "writev")) return writev(fd, &v, 1) != (ssize_t)n;
			if (!strcmp(how, "pwritev")) return pwritev(fd, &v, 1, 0) != (ssize_t)n;
			if (!strcmp(how, "cut")) return ftruncate(fd, n);
			if (!strcmp(how, "longer")) return posix_fallocate(fd, 0, 100);
			if (!strcmp(how, "map")) {
				map = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
				if (map == MAP_FAILED) return 1;
				memcpy(map, argv[3], n);
				return 0;
			}
			if (!strcmp(how, "copy")) {
				int in = open(argv[3], O_RDONLY);
				return sendfile(fd, in, 0, 100) < 1;
			}
			if (!strcmp(how, "fork")) {
				if (!fork()) return write(fd, argv[3], n) != (ssize_t)n;
				close(fd);
				usleep(100000);
				return 0;
			}
			return 2;
		}
	END
	"${CC:-cc}" -O -o change change.c || return 1
	"${CC:-cc}" -O -static -o change-static change.c || return 1
	# text TEXT FILE: writes to a descriptor that it is given.
	printf '#include <string.h>\n#include <unistd.h>\nint main(int c, char **v) { return c < 2 || write(1, v[1], strlen(v[1])) < 1; }' |
		"${CC:-cc}" -O -static -o text-static -x c - || return 1
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
}

teardown() {
	nothing_left
}

# made PRODUCER EXPECTED [KEYS [IO_FREQ]]: the versions of `x` that a consumer sees, of what the shell script makes.
made() {
	rm -rf work
	mkdir work
	[ ! -e before ] || cp before work/x
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -eu ../make
		    outports: [{filename: x${3:-}}]
		  - func: use
		    exec: bash ../use
		    inports: [{filename: x, io_freq: ${4:-1}}]
		    outports: [{filename: out}]
	END
	printf '%s\n' "$1" >./make
	# shellcheck disable=SC2016
	echo 'while cat x; do echo; done >out 2>err; grep -q "No such file" err' >use
	timeout 60 leat run --log log flow.yaml || return 1
	tr '\0\n' '. ' <work/out
	[ "$(tr '\0\n' '. ' <work/out)" = "$2${2:+ }" ] || return 1
	leat replay flow.yaml log
}

# Opens that change nothing, before and after each version.
NOTHING=': <>x; : >>x; exec 3<>x; read -rN 1 <&3 || :; exec 3<&-; touch x; chmod 600 x'

@test "an open for writing that changes nothing is no version" {
	made "for i in 1 2 3; do printf %s \$i >x; $NOTHING; done" "1 2 3"
	made "for i in 1 2 3; do printf %s \$i >x; $NOTHING; done" "1 2 3" ", mode: no_update"
	made "for i in 1 2 3 4; do printf %s \$i >x; $NOTHING; done" "2 4" "" 2
	made "for i in 1 2 3; do printf %s \$i >t; mv t x; $NOTHING; done" "1 2 3"
	# nor is what was there before the run, and the program opens to see whether it is
	printf 0 >before
	made "for i in 1 2 3; do $NOTHING; printf %s \$i >x; done" "1 2 3"
	made ": <>x" "0"
}

@test "whatever changes the one before is" {
	built_with fuse
	local program how mode
	for program in change change-static; do
		[ $program = change ] || [ -c /dev/fuse ] || continue
		for mode in update no_update; do
			for how in write pwrite writev pwritev map fork; do
				one_in 5 || continue
				echo "# $program $how $mode"
				made "printf abc >x; $NOTHING; for i in 1 2; do $program $how x \$i; $NOTHING; done" \
					"abc 1bc 2bc" ", mode: $mode"
			done
		done
		made "printf abc >x; $program cut x ab; $NOTHING; $program longer x a" \
			"abc ab $(printf 'ab'; printf '.%.0s' {1..98})"
	done
	made "printf abc >x; echo 1 >t; change copy x t; $NOTHING" "abc 1 c"
	made "printf abc >x; printf d >>x; $NOTHING; printf e >>x" "abc abcd abcde"
	made "printf abc >x; python3 -c 'import os; os.truncate(\"x\", 2)'; printf d >>x" "abc abd"
}

@test "descriptors that are handed on" {
	built_with fuse
	made "printf abc >x; exec 3<>x; printf 1 >&3; exec 3<&-; $NOTHING; printf d >x" "abc 1bc d"
	made "printf abc >x; /bin/echo -n 12 1<>x; $NOTHING" "abc 12c"
	made "printf abc >x; { :; /bin/echo -n 1; (printf 2); } 1<>x; $NOTHING" "abc 12c"
	made "printf abc >x; { : ; } 1<>x; (exec 3>>x; exec /bin/true); printf d >>x" "abc abcd"
	[ -c /dev/fuse ] || return 0
	made "printf abc >x; text-static 1 1<>x; $NOTHING" "abc 1bc"
}

@test "removed and renamed, when it was only opened" {
	made "printf a >x; exec 3<>x; rm x; exec 3<&-; [ ! -e x ]; printf b >x" "a b"
	made "printf a >x; exec 3<>x; mv x y; exec 3<&-; [ ! -e x ]; [ \$(cat y) = a ]; printf b >x" "a b"
	made "printf a >x; exec 3<>x; printf b >t; mv t x; printf c >&3; exec 3<&-; printf d >x" "a b d"
	made "printf a >x; exec 3<>x; printf b >x; exec 3<&-; printf d >x" "a b d"
}

@test "removed right after the close, by a program behind a mount" {
	built_with fuse
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	need python3
	made "LEAT_INTERCEPT=mount exec python3 -c 'import os
for i in range(500):
    with open(\"x\", \"w\") as f: f.write(str(i))
    os.unlink(\"x\")'" "$(seq -s ' ' 0 499)"
}

@test "left empty by a child, behind a mount, too" {
	built_with fuse
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	local before
	for before in "" "env LEAT_INTERCEPT=mount"; do
		made "$before bash -c 'printf 1 >x; (: >x); printf 2 >x; (: >x); (: >x); printf 3 >x'" "1  2   3"
		# What the same process writes on with is no version.
		made "$before bash -c 'printf 1 >x; : >x; printf 2 >x; (: >x; printf 3 >x)'" "1 2 3"
	done
	need python3
	# It has closed what it does not know.
	made "LEAT_INTERCEPT=mount python3 -c 'import subprocess
for text in \"printf 1\", \":\", \"printf 2\": subprocess.run([\"bash\", \"-c\", text + \" >x\"], check=True)'" "1  2"
}

@test "nor does such an open complete a file without versions" {
	rm -rf work
	mkdir work
	echo old >work/data
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -eu ../make
		    outports: [{filename: data, committed: on_close}]
		  - func: use
		    exec: cp data out
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
	echo ': <>data; exec 3<>data; exec 3<&-; touch data; echo one >data' >./make
	timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = one ]
}

# one_each PROGRAM: a flow of versions "one", $2 and "three" of $file (v), which PROGRAM reads, one in each launch or
# all in one; it appends what it was given to ../seen.
one_each() {
	rm -rf work seen
	mkdir -p work/sub
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c 'for text in one "$2" three; do printf "%s" "\$text" | (cat >${file:-v}); done'
		    outports: [{filename: ${file:-v}}]
		  - func: consume
		    exec: $BATS_FILE_TMPDIR/$1
		    inports: [{filename: ${file:-v}, io_freq: 1}]
	END
	timeout 60 leat run flow.yaml
}

# by_size NAME OPTION...: a program that asks for as many bytes as fstat has said, and ends, or goes on.
by_size() {
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	need "${CC:-cc}"
	"${CC:-cc}" -O "-DNAME=\"${file:-v}\"" "${@:2}" -o "$BATS_FILE_TMPDIR/$1" -xc - <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int main(void)
		{
			FILE *seen = fopen("../seen", "a");
			char b[100];
			struct stat st;
			int fd, left = LAUNCHES;
			while (left-- && (fd = open(NAME, O_RDONLY)) >= 0) {
				if (fstat(fd, &st) || read(fd, b, st.st_size) != st.st_size) return 1;
				fprintf(seen, "<%.*s>", (int)st.st_size, b);
				if (left) close(fd);
			}
			return fclose(seen);
		}
	END
}

@test "a program that ends without a close is launched for each version, behind a mount, too" {
	by_size once -DLAUNCHES=1
	by_size once-static -DLAUNCHES=1 -static
	local program
	for program in once once-static; do
		one_each $program two
		[ "$(cat seen)" = '<one><two><three>' ]
		one_each $program ''
		[ "$(cat seen)" = '<one><><three>' ]
	done
}

@test "an empty version that is read by its size, in one launch: behind a mount that is an error" {
	by_size all -DLAUNCHES=-1
	by_size all-static -DLAUNCHES=-1 -static
	one_each all ''
	[ "$(cat seen)" = '<one><><three>' ]
	one_each all-static two
	[ "$(cat seen)" = '<one><two><three>' ]
	run -125 one_each all-static ''
	[[ $output == *"step consume failed: all-static: a version of v is empty, and was opened again after a close without a read: whether it was taken cannot be told behind a mount"* ]]
	# It may end before it is given the same one for ever.
	file=sub/v
	by_size few-static -DLAUNCHES=3 -static
	run -125 one_each few-static ''
	[[ $output == *"step consume failed: few-static: a version of sub/v is empty"* ]]
}

@test "a process that left a version empty has ended before another one begins the next, whatever is heard first" {
	need "${CC:-cc}"
	"${CC:-cc}" -O -o "$BATS_FILE_TMPDIR/late" -xc - <<-'END'
		#include <fcntl.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int anew(const char *name) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644); }
		static void put(const char *text)
		{
			int fd = anew("v");
			if (fd < 0 || write(fd, text, 3) != 3 || close(fd)) _exit(1);
		}
		int main(int argc, char **argv)
		{
			pid_t daemon = argc > 1 ? atoi(argv[1]) : 0, child;
			int other, said[2], go[2];
			char c;
			if (daemon < 2) return 1;
			put("one");
			other = anew("w"); /* the parent's connection has something to say first */
			if (other < 0 || pipe(said) || pipe(go)) return 1;
			child = fork();
			if (!child) {
				close(other);
				if (close(anew("v")) || write(said[1], "x", 1) != 1) _exit(1);
				_exit(read(go[0], &c, 1) != 1);
			}
			if (read(said[0], &c, 1) != 1 || write(other, "w", 1) != 1) return 1;
			if (!fork()) { /* the daemon goes on when all have said what they have to say */
				usleep(300000);
				_exit(kill(daemon, SIGCONT));
			}
			kill(daemon, SIGSTOP);
			close(other);
			if (write(go[1], "x", 1) != 1) return 1;
			waitpid(child, NULL, 0);
			put("two");
			return 0;
		}
	END
	mkdir work
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c '$BATS_FILE_TMPDIR/late \$(pgrep -P \$PPID -x leat-daemon)'
		    outports: [{filename: v}, {filename: w}]
		  - func: consume
		    exec: bash -c 'for i in 1 2 3; do printf "<%s>" "\$(cat v)"; done >../seen'
		    inports: [{filename: v, io_freq: 1}]
	END
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat seen)" = '<one><><two>' ]
}
