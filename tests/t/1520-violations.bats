#!/usr/bin/env bats
# Each broken promise is noticed on both ways in, interception and mount: named with step, file,
# rule, place, and what to do; fatal, or a warning with --on-violation warn.
bats_require_minimum_version 1.5.0
load helper

setup_file() {
	command -v gcc >/dev/null || return 0
	cat >"$BATS_FILE_TMPDIR/calls.c" <<-'END'
		/* Makes the calls its arguments say; goes on after errors, and ends with 0. */
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <sys/xattr.h>
		#include <unistd.h>

		static int fds[16], n;
		static char a[100], b[100];
		static off_t seen;

		static int flags_of(const char *letters)
		{
			int flags = O_RDONLY;

			for (; *letters; letters++)
				flags |= *letters == 'w'   ? O_WRONLY
					 : *letters == 'b' ? O_RDWR
					 : *letters == 'c' ? O_CREAT
					 : *letters == 't' ? O_TRUNC
					 : *letters == 'a' ? O_APPEND
							   : 0;
			return flags;
		}

		static long read_some(int fd, long size)
		{
			char data[1000];
			long sum = 0, got = 1;

			while (sum < size && (got = read(fd, data, size - sum < 1000 ? size - sum : 1000)) > 0)
				sum += got;
			return got < 0 ? -1 : sum;
		}

		static long fd_size(int fd)
		{
			struct stat st;
			int rc = fstat(fd, &st);

			seen = st.st_size;
			return rc;
		}

		static long map_write(int fd, off_t at, const char *text)
		{
			char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

			if (map == MAP_FAILED)
				return -1;
			memcpy(map + at, text, strlen(text));
			return msync(map, 4096, MS_SYNC) < 0 ? -1 : munmap(map, 4096);
		}

		/* All of what the size says, by a mapping. */
		static long map_seen(int fd)
		{
			const char *map = mmap(NULL, seen, PROT_READ, MAP_PRIVATE, fd, 0);
			long sum = 0;

			if (map == MAP_FAILED)
				return -1;
			for (off_t i = 0; i < seen; i++)
				sum += map[i] & 127;
			return munmap((void *)map, seen) < 0 ? -1 : sum;
		}

		/* The bytes of `b`, copied into it by the kernel. */
		static long copy_in(int fd, off_t at, const char *from)
		{
			int in = open(from, O_RDONLY);
			ssize_t got = copy_file_range(in, NULL, fd, &at, 100, 0);

			close(in);
			return got;
		}

		/* An access control list in which another user may read, beside the three of `mode`. */
		static long list(const char *path, unsigned mode)
		{
			struct {
				unsigned version;
				struct {
					unsigned short tag, rights;
					unsigned id;
				} e[5];
			} acl = {2, {{1, mode >> 6 & 7, -1}, {2, 4, 65534}, {4, mode >> 3 & 7, -1}, {16, mode >> 3 & 7, -1}, {32, mode & 7, -1}}};

			return setxattr(path, "system.posix_acl_access", &acl, sizeof(acl), 0);
		}

		static long call(const char *op)
		{
			int fd = n ? fds[n - 1] : -1, other;

			a[0] = b[0] = 0;
			sscanf(op, "%*[^:]:%99[^:]:%99s", a, b);
			switch (op[0]) {
			case 'o':
				fd = open(a, flags_of(b), 0666);
				fds[n++] = fd;
				return fd;
			case 'w': return write(fd, a, strlen(a));
			case 'p': return pwrite(fd, b, strlen(b), atol(a));
			case 's': return lseek(fd, atol(a), SEEK_SET);
			case 'r': return read_some(fd, atol(a));
			case 'R': return read_some(fd, 1000000);
			case 'f': return fd_size(fd);
			case 'e': return read_some(fd, seen);
			case 'E': return map_seen(fd);
			case 'c': return close(fds[--n]);
			case 'C': return close(fds[0]);
			case 'k': return ftruncate(fd, atol(a));
			case 'T': return truncate(a, atol(b));
			case 'M': return map_write(fd, atol(a), b);
			case 'x': return copy_in(fd, atol(a), b);
			case 'h': return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, atol(a), atol(b));
			case 'u': return unlink(a);
			case 'm': return rename(a, b);
			case 'l': return link(a, b);
			case 'g': return chmod(a, strtol(b, NULL, 8));
			case 'G': return fchmod(fd, strtol(b, NULL, 8));
			case 'A': return list(a, strtol(b, NULL, 8));
			case 'O': return chown(a, atol(b), -1);
			case 'U': return utimensat(AT_FDCWD, a, NULL, 0);
			case 'S': return stat(a, &(struct stat){0});
			case 'X': return access(a, X_OK) < 0 && errno != EACCES ? -1 : 0;
			case '!':
				other = open(a, O_CREAT | O_WRONLY, 0666);
				return other < 0 ? other : close(other);
			case '?':
				for (int i = 0; access(a, F_OK) < 0 && i < 3000; i++)
					usleep(10000);
				return access(a, F_OK);
			}
			errno = EINVAL;
			return -1;
		}

		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++)
				if (call(argv[i]) < 0)
					fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			return 0;
		}
	END
	gcc -O1 -o "$BATS_FILE_TMPDIR/dynamic" "$BATS_FILE_TMPDIR/calls.c"
	gcc -O1 -static -o "$BATS_FILE_TMPDIR/static" "$BATS_FILE_TMPDIR/calls.c"
	# One that looks at sizes like a run time, which may not go by the first, and holds what that is known by.
	cp "$BATS_FILE_TMPDIR/calls.c" "$BATS_FILE_TMPDIR/perl5.c"
	cat >>"$BATS_FILE_TMPDIR/perl5.c" <<-'END'
		const char says[] = "Can't open perl script \"%s\": %s";
	END
	gcc -O1 -o "$BATS_FILE_TMPDIR/perl5" "$BATS_FILE_TMPDIR/perl5.c"
}

setup() {
	need gcc
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# run_it WAY ACTION: the calls of $produce and $consume under the rule $rule, as that program.
run_it() {
	rm -rf work one two
	mkdir work
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: $BATS_FILE_TMPDIR/$1 $produce
		    outports: [{filename: data$rule}, {filename: "tmp*"}]
		  - func: consume
		    exec: $BATS_FILE_TMPDIR/$1 $consume
		    inports: [{filename: data}]
		    outports: [{filename: "out*"}]
	END
	timeout 60 leat run --on-violation "$2" flow.yaml >output 2>&1
}

# broken MESSAGE [WAY...]: on each way in the promise is broken as the message says, once.
broken() {
	local message="$1" way status
	shift
	[ $# -gt 0 ] || set -- dynamic static
	for way in "$@"; do
		status=0
		run_it "$way" fatal || status=$?
		echo "# $way, fatal"
		cat output
		[ "$status" = 125 ] || return 1
		[ "$(grep -c violation: output)" = 1 ] || return 1
		grep -qxF "leat: violation: $message" output || return 1
		grep -q 'Input/output error' output || return 1
		echo "# $way, warned"
		run_it "$way" warn || { cat output && return 1; }
		cat output
		# What is let pass may be followed by more: an open by writes.
		[ "$(grep -cxF "leat: warning: violation: $message" output)" = 1 ] || return 1
		! grep -q 'Input/output error' output || return 1
	done
}

# kept: nothing is broken, on no way in.
kept() {
	local way
	[ $# -gt 0 ] || set -- dynamic static
	for way in "$@"; do
		run_it "$way" fatal || { cat output && return 1; }
		! grep violation output || return 1
	done
}

STREAM=', mode: no_update'
READ='o:data:r r:4 !:../one R'
OTHER='; declare it there, or have the step write another file'
LATER='; let it commit later, by the true number of closes or files or on_termination'
FIXED='(committed: on_termination, mode: no_update); give it mode: update, or write each byte once'

@test "overwritten where a consumer has read: pwrite" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one p:2:xyz' consume=$READ
	broken "data was changed by step produce at bytes 2 to 4 where a consumer had read it $FIXED"
}

@test "overwritten where a consumer has read: seek and write" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one s:1 w:xy' consume=$READ
	broken "data was changed by step produce at bytes 1 to 2 where a consumer had read it $FIXED"
}

@test "overwritten where a consumer has read: opened again, and written from the start" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh c ?:../one o:data:w w:xy' consume=$READ
	broken "data was changed by step produce at bytes 0 to 1 where a consumer had read it $FIXED"
}

@test "overwritten with what is there, or where nobody has read: no violation" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one p:0:abcd s:8 w:more' consume=$READ
	kept
	rule=$STREAM produce='o:data:wc w:abcdefgh p:2:xyz w:more' consume='o:data:r R'
	kept
}

@test "parts that lie apart are read as they are written, and must not be changed either" {
	built_with fuse
	rule=$STREAM produce='o:data:wc p:100:abcdefgh ?:../one p:0:xyz p:108:ij' consume='o:data:r s:102 r:4 !:../one s:0 R'
	kept
	produce='o:data:wc p:100:abcdefgh p:200:ijkl ?:../one p:104:ef p:108:mn'
	kept
	produce='o:data:wc p:100:abcdefgh ?:../one p:98:xyxyxy'
	broken "data was changed by step produce at bytes 100 to 103 where a consumer had read it $FIXED"
}

@test "overwritten where a consumer has read: by the kernel, by a hole" {
	built_with fuse
	rule=$STREAM produce='o:tmp:wc w:xyz c o:data:bc w:abcdefgh ?:../one x:3:tmp' consume=$READ
	broken "data was changed by step produce at bytes 3 to 7 where a consumer had read it $FIXED" dynamic # a mount has it copied by read and write
	produce='o:data:bc w:abcdefgh ?:../one h:2:3'
	broken "data was changed by step produce at bytes 2 to 4 where a consumer had read it $FIXED"
}

@test "mapped and written by a step that does not produce it" {
	built_with fuse
	rule='' produce='o:data:wc w:abcdefgh c' consume='o:data:b M:2:xy'
	run ! run_it dynamic fatal # found when it closes the file
	cat output
	grep -qxF "leat: violation: data was written by step consume, which does not declare it as an output$OTHER" output
	# A mount writes whole pages back. (Its size may not be known to the kernel before a fstat.)
	consume='o:data:b f M:2:xy'
	run ! run_it static fatal
	cat output
	grep -qxF "leat: violation: data was written by step consume at bytes 0 to 7, which does not declare it as an output$OTHER" output
}

@test "cut below what a consumer has read: ftruncate, truncate, O_TRUNC" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one k:2' consume=$READ
	broken "data was changed by step produce from byte 2 on where a consumer had read it $FIXED"
	produce='o:data:wc w:abcdefgh ?:../one T:data:3'
	broken "data was changed by step produce from byte 3 on where a consumer had read it $FIXED"
	produce='o:data:wc w:abcdefgh c ?:../one o:data:wt w:abcdefgh'
	broken "data was changed by step produce from byte 0 on where a consumer had read it $FIXED"
}

@test "removed or replaced while a consumer reads it" {
	built_with fuse
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one u:data' consume='o:data:r r:4 !:../one'
	broken "data was removed by step produce where a consumer had read it $FIXED"
	produce='o:tmp:wc w:new c o:data:wc w:abcdefgh ?:../one m:tmp:data'
	broken "data was replaced by step produce where a consumer had read it $FIXED"
	produce='o:data:wc w:abcdefgh ?:../one m:data:other'
	broken "data was renamed by step produce where a consumer had read it $FIXED"
}

@test "opened again after the last counted close" {
	built_with fuse
	rule=', committed: "on_close:1"' produce='o:data:wc w:abcd c ?:../one o:data:wa w:efgh' consume='o:data:r R !:../one'
	broken "data was opened for writing by step produce after its commit (committed: on_close:1, mode: update)$LATER"
	produce='o:data:wc w:abcd c ?:../one o:data:wt'
	broken "data was opened for writing by step produce after its commit (committed: on_close:1, mode: update)$LATER"
	rule=', committed: on_close'
	broken "data was opened for writing by step produce after its commit (committed: on_close, mode: update)$LATER"
	rule=', committed: "on_close:2"' produce='o:data:wc w:abcd c o:data:wa w:ef c ?:../one o:data:b'
	broken "data was opened for writing by step produce after its commit (committed: on_close:2, mode: update)$LATER"
}

@test "truncated, replaced, made anew after the commit" {
	built_with fuse
	rule=', committed: "on_close:1"' produce='o:data:wc w:abcd c ?:../one T:data:1' consume='o:data:r R !:../one'
	broken "data was truncated by step produce after its commit (committed: on_close:1, mode: update)$LATER"
	produce='o:data:wc w:abcd c ?:../one o:tmp:wc c m:tmp:data'
	broken "data was replaced by step produce after its commit (committed: on_close:1, mode: update)$LATER"
}

@test "removed or renamed after the commit, when a consumer has used it" {
	built_with fuse
	local after='after its commit (committed: on_close, mode: update)'
	rule=', committed: on_close' produce='o:data:wc w:abcd c ?:../one u:data' consume='o:data:r R c !:../one'
	broken "data was removed by step produce $after$LATER"
	produce='o:data:wc w:abcd c ?:../one m:data:other'
	broken "data was renamed to other by step produce $after$LATER"
	produce='o:data:wc w:abcd c ?:../one m:data:../other'
	broken "data was removed by step produce $after$LATER" dynamic # a mount is another file system
	produce='o:data:wc w:abcd c l:data:other ?:../one T:other:1'
	broken "data was changed by step produce $after$LATER"
	# A look is a use.
	produce='o:data:wc w:abcd c ?:../one u:data' consume='?:data !:../one'
	broken "data was removed by step produce $after$LATER"
}

@test "removed or renamed after the commit, before a consumer has used it: it never was" {
	built_with fuse
	for gone in u:data m:data:other; do
		for way in dynamic static; do
			rule=', committed: on_close' produce="o:data:wc w:abcd c $gone !:../one" consume='?:../one o:data:r'
			kept "$way"
			grep -q 'o:data:r: No such file or directory' output
		done
	done
	produce='o:data:wc w:abcd c m:data:../other !:../one'
	kept dynamic
	grep -q 'o:data:r: No such file or directory' output
}

@test "given other permissions after the commit, when a consumer has gone by them" {
	built_with fuse
	local after='after its commit (committed: on_close, mode: update)'
	rule=', committed: on_close' produce='o:data:wc w:abcd c ?:../one g:data:700'
	for consume in 'X:data !:../one' 'S:data !:../one'; do
		broken "data was given other permissions by step produce $after$LATER"
	done
	produce='o:data:wc w:abcd c ?:../one g:data:200' consume='o:data:r R c !:../one'
	broken "data was given other permissions by step produce $after$LATER"
}

@test "given other permissions by a descriptor or a list, when a consumer has gone by them" {
	built_with fuse
	local after='after its commit (committed: on_close, mode: update)'
	rule=', committed: on_close' consume='X:data !:../one'
	for change in 'o:data:r G:-:700 c' 'A:data:740'; do
		produce="o:data:wc w:abcd c ?:../one $change"
		broken "data was given other permissions by step produce $after$LATER"
	done
	# What a list, or the group, says of others concerns nobody where all steps run as one user.
	produce='o:data:wc w:abcd c ?:../one o:data:r G:-:640 c A:data:640' consume='S:data o:data:r R !:../one'
	kept
}

@test "given other permissions, or times, that concern no consumer: no violation" {
	built_with fuse
	rule=', committed: on_close' produce='o:data:wc w:abcd c g:data:700 U:data !:../one' consume='?:../one X:data o:data:r R'
	kept
	# Neither who writes to it nor when.
	produce='o:data:wc w:abcd c ?:../one g:data:444 U:data g:data:640' consume='X:data S:data o:data:r R !:../one'
	kept
	# Who has read it has what it would have. (Behind a mount who opens has looked.)
	produce='o:data:wc w:abcd c ?:../one g:data:755' consume='o:data:r R !:../one'
	kept dynamic
	# Nor after the end of all who make it.
	rule='' produce='o:data:wc w:abcd c g:data:755' consume='X:data o:data:r R'
	kept
}

@test "run before its producer has said that it may be: it is told why" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash ../make.sh
		    outports: [{filename: program, committed: on_close}]
		  - func: use
		    exec: bash ../use.sh
		    inports: [{filename: program}]
		    outports: [{filename: out}]
	END
	cat >make.sh <<-'END'
		echo 'echo done' > program
		until [ -e ../tried ]; do sleep 0.01; done
		chmod +x program
	END
	cat >use.sh <<-'END'
		./program > out
		touch ../tried
	END
	mkdir work
	run -125 timeout 30 leat run --log log flow.yaml
	echo "$output"
	grep -q '^leat: violation: program was given other permissions by step make after its commit' <<<"$output"
	leat replay flow.yaml log
	# Said in time, or committed at the end, all is well.
	rm -r work
	mkdir work
	sed -i '/tried/d; s/committed: on_close/committed: on_termination/' make.sh use.sh flow.yaml
	run -0 timeout 30 leat run flow.yaml
	[ "$(cat work/out)" = 'done' ]
}

@test "closed once too often" {
	built_with fuse
	rule=', committed: "on_close:1"' produce='o:data:wc w:abc o:data:wa w:d c C' consume='o:data:r R'
	run_it dynamic warn
	cat output
	grep -qxF "leat: warning: violation: data was closed by step produce once more than its rule says (committed: on_close:1, mode: update); give it the true number of closes, or on_termination" output
	run ! run_it dynamic fatal
	grep -q '^leat: violation: data was closed by step produce once more ' output
	run_it static warn
	grep -q '^leat: warning: violation: data was closed by step produce once more ' output
	run ! run_it static fatal
	grep -q '^leat: violation: data was closed by step produce once more ' output
}

@test "written by a step that does not produce it: written, appended, positioned" {
	built_with fuse
	rule='' produce='o:data:wc w:abcdefgh c' consume='o:data:w w:xyz'
	broken "data was written by step consume at bytes 0 to 2, which does not declare it as an output$OTHER"
	consume='o:data:wa w:xyz'
	broken "data was written by step consume at bytes 8 to 10, which does not declare it as an output$OTHER"
	consume='o:data:b p:5:x'
	broken "data was written by step consume at byte 5, which does not declare it as an output$OTHER"
	consume='o:data:b s:3 w:xy'
	broken "data was written by step consume at bytes 3 to 4, which does not declare it as an output$OTHER"
}

@test "cut, removed or replaced by a step that does not produce it" {
	built_with fuse
	rule='' produce='o:data:wc w:abcdefgh c' consume='o:data:wt'
	broken "data was written by step consume from byte 0 on, which does not declare it as an output$OTHER"
	consume='T:data:2'
	broken "data was truncated by step consume, which does not declare it as an output$OTHER"
	consume='o:out:wc w:x c m:out:data'
	broken "data was replaced by step consume, which does not declare it as an output$OTHER"
}

@test "opened for writing by a consumer, but not written: no violation" {
	built_with fuse
	rule='' produce='o:data:wc w:abcdefgh c' consume='o:data:b R c'
	kept
}

@test "one file more than the number that completes a directory" {
	built_with fuse
	rule='' produce='o:tmp:wc w:x c' consume='o:out:wc'
	for way in dynamic static; do
		for action in fatal warn; do
			rm -rf work
			mkdir -p work/d
			cat >flow.yaml <<-END
				name: flow
				dir: work
				tasks:
				  - func: produce
				    exec: $BATS_FILE_TMPDIR/$way o:d/1:wc w:x c o:d/2:wc w:x c ?:../one o:d/3:wc w:x c
				    outports: [{dirname: d, committed: on_close, n_files: 2}]
				  - func: consume
				    exec: bash -c 'cat d/* > out; touch ../one'
				    inports: [{filename: d/*}]
				    outports: [{filename: "out*"}]
			END
			rm -f one
			status=0
			timeout 60 leat run --on-violation "$action" flow.yaml >output 2>&1 || status=$?
			cat output
			[ "$(grep -c 'violation: d was given d/[^ ]*, one file more than the number that completes it, by step [a-z]* ' output)" = 1 ]
			[ "$status" = "$([ "$action" = warn ] && echo 0 || echo 125)" ]
		done
	done
}

# taken_for_complete: the consumer, whose first look at the size has the name of a run time's, relies on 8 bytes.
taken_for_complete() {
	run_it perl5 warn
	cat output
	grep -qxF 'leat: warning: violation: data was taken for complete by step consume after 8 bytes at a size seen before its commit (committed: on_termination, mode: no_update); give it mode: update, or read it to its end' output
	run ! run_it perl5 fatal
	grep -q '^leat: violation: data was taken for complete by step consume' output
}

@test "a size seen before the commit, taken for the last word: mapped" {
	# The page that is mapped is read when it is whole: at the commit.
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one w:more' consume='o:data:r f !:../one E c'
	taken_for_complete
	consume='o:data:r f !:../one E R c'
	kept perl5
}

@test "a size seen before the commit, taken for the last word" {
	rule=$STREAM produce='o:data:wc w:abcdefgh ?:../one w:more' consume='o:data:r f e c !:../one'
	taken_for_complete
	consume='o:data:r f e !:../one R c'
	kept perl5
}

@test "made anew after a staged step was started with it" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash ../make.sh
		    outports: [{filename: x, committed: on_close}]
		  - func: use
		    staged: concurrent
		    exec: bash ../use.sh
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
	cat >make.sh <<-'END'
		echo one > x
		until [ -e ../started ]; do sleep 0.01; done
		rm x
		echo two > x
	END
	cat >use.sh <<-'END'
		cat x > y
		touch ../started
	END
	mkdir work
	run -125 timeout 30 leat run --log log flow.yaml
	echo "$output"
	grep -q '^leat: violation: x was .* by step make' <<<"$output"
	leat replay flow.yaml log
}

# amended HOW WHAT ONE TWO: x is made by the script ONE, and changed in place by TWO, in the way HOW.
amended() {
	printf '%s\n' "$3" >one.sh
	printf '%s\n' "$4" >two.sh
	cat >flow.yaml <<-END
		name: flow
		tasks:
		  - func: one
		    exec: bash one.sh
		    outports: [{filename: x, committed: on_close}]
		  - func: two
		    exec: bash two.sh
		    inports: [{filename: x}]
		    outports: [{filename: x, committed: on_close}]
	END
	[ -z "$1" ] || sed -i "/func: two/a\\    $1" flow.yaml
	rm -f x
	run -125 --separate-stderr leat run flow.yaml
	# shellcheck disable=SC2154
	grep -Fq "violation: x was $2 by step one after step two, which reads and writes it, had been let at it (committed: on_close, mode: update); let it commit later, by the true number of closes or files or on_termination" <<<"$stderr" || {
		echo "$stderr"
		return 1
	}
}

@test "changed after a step that reads and writes it has gone on from it" {
	mkdir amended && cd amended
	amended '' 'opened for writing' 'seq 3 >x; sleep 1; echo 4 >>x' 'sed -i "s/$/!/" x'
	amended '' 'opened for writing' 'seq 3 >x; sleep 1; echo 4 >>x' 'cat x >t; sleep 2; cat t t >x'
	amended '' 'removed' 'seq 3 >x; sleep 1; rm x' 'cat x >t; sleep 2; cat t t >x'
	amended '' 'replaced' 'seq 3 >x; sleep 1; seq 4 >u; mv u x' 'cat x >t; sleep 2; cat t t >x'
	amended 'staged: concurrent' 'opened for writing' 'seq 3 >x; sleep 1; echo 4 >>x' 'sleep 2; sed -i "s/$/!/" x'
	sed -i 's/on_close/on_termination/; /staged/d' flow.yaml
	rm -f x
	leat run flow.yaml
	[ "$(tr -d '\n' <x)" = '1!2!3!4!' ]
}

# taken WHAT ONE TWO: the directory d is made by the script ONE, and files of it removed by TWO; of those, WHAT is named.
taken() {
	printf '%s\n' "$2" >one.sh
	printf '%s\n' "$3" >two.sh
	cat >flow.yaml <<-END
		name: flow
		tasks:
		  - func: one
		    exec: bash one.sh
		    outports: [{dirname: d, committed: "n_files:3"}, {filename: seen}]
		  - func: two
		    exec: bash two.sh
		    inports: [{dirname: d}]
		    outports: [{filename: out}]
		  - func: three
		    exec: bash -c 'cat d/1 >out3'
		    inports: [{dirname: d}]
		    outports: [{filename: out3}]
	END
	rm -rf d
	run -"${4:-125}" --separate-stderr leat run flow.yaml
	[ -z "$1" ] || grep -Fq "violation: d/$1 was removed by step two and then looked for by step one, which in a batch ends before step two begins; leave it there, or have a step remove it that comes after both" <<<"$stderr" || {
		echo "$stderr"
		return 1
	}
}

@test "removed by a consumer, and then looked for by its producer" {
	mkdir taken && cd taken
	local make='mkdir d; for i in 1 2 3; do echo $i >d/$i; done; ' rm='cat d/* >out; rm d/*'
	taken 1 "$make sleep 1; ls d >seen" "$rm"
	taken 2 "$make sleep 1; cat d/2 >seen" "$rm"
	taken 3 "$make sleep 1; [ -e d/3 ] && echo 3 >seen" 'cat d/* >out; mkdir u; mv d/3 u'
	taken '' "$make sleep 1; echo all >seen" "$rm" 0
	[ "$(cat out seen out3 | tr -d '\n')" = 123all1 ]
}

@test "changed after the end of its step by a process that this left behind: what to do" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash -c 'echo a >x; (setsid bash -c "until [ -e ../on ]; do sleep 0.05; done; echo b >>x" &) ; true'
		    outports: [{filename: x}]
		  - func: two
		    exec: bash -c 'cat x >y; touch ../on; sleep 1'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
	END
	run -125 --separate-stderr leat run w.yaml
	grep -Fq "violation: x was opened for writing by step one after its commit (committed: on_termination, mode: update); let the step wait for the processes that it starts, before it ends" <<<"$stderr"
}
