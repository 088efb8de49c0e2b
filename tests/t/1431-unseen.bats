#!/usr/bin/env bats
# Programs that are made to run unseen, on purpose or not: the step fails by their name, whatever they and their
# shells say of their end; or they are seen after all, and what they read is right. On disk there is an old file by
# the name of the stream: who goes past leat reads that.
bats_require_minimum_version 1.5.0
load helper
load image

setup_file() {
	cc -D_GNU_SOURCE -O1 -static -o "$BATS_FILE_TMPDIR/static" "$BATS_TEST_DIRNAME/../hooks/unseen.c" -pthread || return 1
	cat >"$BATS_FILE_TMPDIR/reader.c" <<-'END'
		#include <fcntl.h>
		#include <unistd.h>
		int main(void)
		{
			char b[64];
			int fd = open("data", O_RDONLY);
			long n = fd < 0 ? 0 : read(fd, b, sizeof b);
			return n <= 0 || write(1, b, (unsigned long)n) != n;
		}
	END
	cc -O1 -static -o "$BATS_FILE_TMPDIR/reader-static" "$BATS_FILE_TMPDIR/reader.c" || return 1
	cc -O1 -o "$BATS_FILE_TMPDIR/reader" "$BATS_FILE_TMPDIR/reader.c" || return 1
	# A program whose loader does something else, and knows nothing of LD_PRELOAD.
	cat >"$BATS_FILE_TMPDIR/loader.c" <<-'END'
		static long call(long nr, long a, long b, long c)
		{
			long result;
			__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
			return result;
		}
		void _start(void)
		{
			static char b[64];
			call(1, 1, (long)b, call(0, call(2, (long)"data", 0, 0), (long)b, sizeof b));
			call(231, 0, 0, 0);
		}
	END
	cc -O1 -static -nostdlib -fno-stack-protector -Wl,-Ttext-segment=0x10000000 -o "$BATS_FILE_TMPDIR/ld-linux-own.so" \
		"$BATS_FILE_TMPDIR/loader.c" || return 1
	cc -O1 -o "$BATS_FILE_TMPDIR/loaded" -Wl,--dynamic-linker="$BATS_FILE_TMPDIR/ld-linux-own.so" \
		"$BATS_FILE_TMPDIR/reader.c" || return 1
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	as=()
	W=$LEAT_BUILD/tests/hooks/unseen
	[ -x "$W" ] || skip "tests/hooks/unseen is not built"
}

teardown() {
	cd /
	[ -z "${open:-}" ] || rm -rf "$open"
	nothing_left
}

# streamed COMMAND: a shell runs it between a producer and the end of a step that never fails by its status.
streamed() {
	rm -rf flow go
	mkdir flow
	echo old >flow/data
	# Its reader is there before it.
	printf 'for i in $(seq 100); do [ -e %s/go ] && break; sleep 0.02; done; seq 3 >data\n' "$PWD" >make.sh
	printf 'touch %s/go\n%s\nexit 0\n' "$PWD" "$1" >use.sh
	cat >flow.yaml <<-END
		name: unseen
		dir: flow
		tasks:
		  - func: make
		    exec: bash $PWD/make.sh
		    outports: [{filename: data, mode: no_update}]
		  - func: use
		    exec: bash $PWD/use.sh
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
	chmod -R a+rwX flow
	run timeout 100 "${as[@]}" leat run flow.yaml
	echo "$output"
}

# named PROGRAM: the step has failed because of it, or the run has, whose step had ended.
named() {
	[ "$status" -ne 0 ]
	grep -Eq "step use( failed)?: .*$1" <<<"$output"
	[ ! -e flow/out ] || ! grep -q old flow/out
}

# right: it was seen.
right() {
	[ "$status" -eq 0 ]
	seq 3 | cmp - flow/out
}

# past WAY: by system calls from code that is made while the program runs.
past() {
	streamed "$W $1 /bin/cat data >out"
	named "unseen \(process [0-9]+\) ended past libleat"
}

@test "a program becomes another one by code that it has made" {
	past become
}

@test "the same by execveat" {
	past become-at
}

@test "the same by int 0x80" {
	has_32_bit_calls || skip "no 32-bit system calls here"
	past int80
}

@test "the same in a thread" {
	past thread
}

@test "the step's first program does so" {
	streamed true
	sed -i "s|exec: bash $PWD/use.sh|exec: $W become /bin/cat data|" flow.yaml
	run timeout 100 leat run flow.yaml
	echo "$output"
	named "unseen \(process [0-9]+\) ended past libleat"
}

@test "a child does so" {
	past child
}

@test "a child that shares its parent's memory does so" {
	past vfork
}

@test "a child of which nobody asks how it has ended" {
	past unasked
	past waitid
}

@test "a process that has outlived its parent" {
	past orphan
}

@test "a process that is left behind when its step ends" {
	streamed "$W left /bin/sleep 1; cat data >out"
	[ "$status" -ne 0 ]
	[[ $output == *"step use"*"unseen (process "*") ended past libleat"* ]]
}

@test "in a program whose system calls are filtered" {
	need setpriv
	streamed "setpriv --no-new-privs $W child /bin/cat data >out"
	named "unseen"
}

@test "an environment that names no run" {
	streamed 'env LEAT_DIR= cat data >out'
	named "cat \(process [0-9]+\) ended with status 0 without having attached"
}

@test "an environment that says to trace only" {
	streamed 'env LEAT_TRACE_BUFFER_ONLY=1 cat data >out'
	named "cat \(process [0-9]+\) ended with status 0 without having attached"
}

@test "an environment that names another directory" {
	streamed 'env LEAT_DIR=/ cat data >out'
	named "cat"
}

@test "an environment that names a session that there is not" {
	streamed 'env LEAT_RUNTIME_DIR=/nowhere cat data >out'
	named "cat"
}

@test "an environment that names a step that there is not" {
	streamed 'env LEAT_APP_NAME=nobody cat data >out'
	named "cat"
}

@test "another library bears the name of libleat" {
	streamed 'env LD_PRELOAD=/nowhere/libleat.so cat data >out'
	right
	streamed 'env LD_PRELOAD=libleat-of-mine.so:/x/libleat.so cat data >out'
	right
}

@test "LD_PRELOAD twice, the last one empty" {
	streamed "$W twice /bin/cat data >out"
	right
}

@test "the loader is run as a program" {
	streamed '/lib64/ld-linux-x86-64.so.2 --preload "" --inhibit-cache /bin/cat data >out'
	right
	streamed 'env -i /lib64/ld-linux-x86-64.so.2 /bin/cat data >out'
	right
}

@test "a loader that does not know of LD_PRELOAD" {
	streamed "$BATS_FILE_TMPDIR/loaded >out"
	named "loaded \(process [0-9]+\) ended with status 0 without having attached"
}

@test "by a descriptor, and from memory, with an empty environment" {
	streamed "$W descriptor /bin/cat data >out"
	right
	streamed "$W memory /bin/cat data >out"
	right
}

@test "a static launcher, by calls of its own: behind a mount" {
	streamed "env -i $BATS_FILE_TMPDIR/static become /bin/cat data >out"
	[ "$status" -ne 0 ] || right
	[ "$status" -eq 0 ] || named static
}

@test "a static launcher that changes its root" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need busybox
	streamed "busybox chroot / /bin/cat \$PWD/data >out"
	[ "$status" -ne 0 ] || right
	[ "$status" -eq 0 ] || named busybox
}

@test "a static program from memory, which no mount can run" {
	built_with fuse
	streamed "$W memory $BATS_FILE_TMPDIR/reader-static >out"
	[ "$status" -ne 0 ] || right
	[ "$status" -eq 0 ] || named "memfd|unseen|reader"
}

@test "a script with a static interpreter" {
	need busybox
	printf '#!%s sh\ncat data >out\n' "$(command -v busybox)" >script
	chmod +x script
	streamed "env -i $PWD/script"
	[ "$status" -ne 0 ] || right
	[ "$status" -eq 0 ] || named script
}

@test "the library is another file where the program runs" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	echo nothing >garbage
	streamed "$W exchanged $PWD/garbage $LEAT_BUILD/src/preload/libleat.so /bin/cat data >out"
	named "cat \(process [0-9]+\) ended with status 0 without having attached"
}

# launched PROGRAM: by calls of its own it binds the working directory into a root file system, and enters that.
launched() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	image "$PWD/root" cat
	mkdir -p root/w
	streamed "env -i $1 enter $PWD/root /bin/cat data >out"
}

@test "a static launcher that binds, changes its root and starts a program, by calls of its own" {
	built_with fuse
	launched "$BATS_FILE_TMPDIR/static"
	right
}

@test "the same where no mount is possible" {
	# shellcheck disable=SC2016 # for the inner shell
	as=(unshare -rm sh -c 'mount --bind /dev/null /dev/fuse && exec "$@"' sh)
	launched "$BATS_FILE_TMPDIR/static"
	named static
}

@test "the same by code that a dynamic program makes" {
	launched "$W"
	named "unseen \(process [0-9]+\) ended past libleat"
}

# ordinary: from here on an ordinary user does all.
ordinary() {
	[ "$(id -u)" -eq 0 ] || skip "this is one"
	open=$(mktemp -d /tmp/leat-unseen.XXXXXX)
	chmod 777 "$open"
	cd "$open" || return 1
	nobody test -x "$W" || skip "an ordinary user cannot reach the build"
	export LEAT_RUNTIME_DIR=$open/runtime
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
}

@test "an ordinary user's program that may be run and not be read" {
	ordinary
	cp "$BATS_FILE_TMPDIR/reader-static" closed
	chmod 711 closed
	streamed "$PWD/closed >out"
	[ "$status" -ne 0 ] || right
	[ "$status" -eq 0 ] || named closed
}

@test "a set-id helper of an ordinary user's, readable or not, that starts with an empty environment" {
	ordinary
	for mode in 4755 4711; do
		cp "$BATS_FILE_TMPDIR/reader" helper
		chmod $mode helper
		streamed "env -i $PWD/helper >out"
		if [ "$status" -eq 0 ]; then
			# Behind a mount it has no rights more, and reads what is right.
			[ ! -s flow/out ] || right
		else
			named helper
		fi
	done
}

@test "a set-id helper in root's run, of root's own or of another user's, that starts with an empty environment" {
	ordinary
	as=()
	for owner in 65534 0; do
		cp "$BATS_FILE_TMPDIR/reader" helper
		chown $owner helper
		chmod 4755 helper
		streamed "$([ $owner != 0 ] || echo setpriv --reuid=65534 --regid=65534 --clear-groups) env -i $PWD/helper >out"
		[ "$status" -ne 0 ] || right
		[ "$status" -eq 0 ] || named helper
	done
}

@test "another user in root's run" {
	ordinary
	as=()
	other="setpriv --reuid=65534 --regid=65534 --clear-groups"
	for lost in LEAT_DIR= LEAT_TRACE_BUFFER_ONLY=1; do
		streamed "$other env $lost cat data >out"
		named "cat \(process [0-9]+\) (ended|ran).* without having attached"
	done
	streamed "$other bash -c 'LEAT_DIR= cat data; true' >out"
	named "cat \(process [0-9]+\) (ended|ran).* without having attached"
	streamed "$other $BATS_FILE_TMPDIR/loaded >out"
	named "loaded \(process [0-9]+\) (ended|ran).* without having attached"
}

@test "another user in root's run: no reason to complain" {
	ordinary
	as=()
	# shellcheck disable=SC2016 # for the step
	printf '%s\n' 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & kill $!; wait $!; done
		ldd /bin/cat >/dev/null; /nowhere/program; (sleep 0.1 &) ; nice -n 1 true
		python3 -c "import subprocess; p = subprocess.Popen([\"sleep\", \"9\"]); p.kill(); p.wait()"
		cat data >out' >inner.sh
	streamed "setpriv --reuid=65534 --regid=65534 --clear-groups bash $PWD/inner.sh"
	right
}

@test "an ordinary user's program becomes another one by code that it has made" {
	ordinary
	streamed "$W child /bin/cat data >out"
	named "unseen \(process [0-9]+\) ended past libleat"
}

@test "no reason to complain: what ends before it has begun, or only says what it would load" {
	# shellcheck disable=SC2016 # for the shell of the step
	streamed 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & kill $!; wait $!; done
		ldd /bin/cat >/dev/null; LD_TRACE_LOADED_OBJECTS=1 /bin/cat >/dev/null
		/lib64/ld-linux-x86-64.so.2 --verify /bin/cat
		(trap "" CHLD; sleep 0.1 & sleep 0.2)
		/nowhere/program; nice -n 1 true; setsid true
		for i in 1 2 3; do
			python3 -c "import subprocess; subprocess.run([\"true\"]); subprocess.run([\"/nowhere/program\"])" 2>/dev/null
			python3 -c "import os; os.waitpid(os.posix_spawn(\"/bin/true\", [\"true\"], os.environ), 0)"
			python3 -c "import os; os.posix_spawn(\"/nowhere/program\", [\"program\"], {})" 2>/dev/null
			printf "all: a b c\n\t@true\na b c:\n\t@sleep 0.01; true; /bin/true\n" | make -j 3 -f - >/dev/null
			perl -e "system(qq(true)); \$x = qx(echo x); exec(qq(true))"
		done
		python3 -c "import subprocess; p = subprocess.Popen([\"sleep\", \"9\"]); p.kill(); p.wait()"
		cat data >out'
	right
}
