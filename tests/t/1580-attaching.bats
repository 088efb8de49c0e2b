#!/usr/bin/env bats
# A process that cannot attach, or loses the daemon: a true error, and a step that has failed
# whatever its programs make of it.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p place/flow
}

teardown() {
	nothing_left
}

# streamed CONSUMER [PRODUCER]: two scripts; `data` streams from the one to the other, which makes
# `out` and never fails by its status.
streamed() {
	printf '%s\n' "${2:-seq 20000 >data}" >make.sh
	printf '%s\nexit 0\n' "$1" >use.sh
	cat >flow.yaml <<-END
		name: attaching
		dir: place/flow
		tasks:
		  - func: make
		    exec: bash $BATS_TEST_TMPDIR/make.sh
		    outports: [{filename: data, mode: no_update}]
		  - func: use
		    exec: bash $BATS_TEST_TMPDIR/use.sh
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
	run timeout 100 leat run flow.yaml
	echo "$output"
}

# named TEXT: the run has failed by the step `use`, for that reason, and nothing says that the daemon
# is gone.
named() {
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: "*"$1"* ]]
	[[ $output != *"is gone"* ]]
}

@test "no address space for the segment: refused at exec, by name" {
	streamed '( ulimit -v 200000; exec cp data out )'
	named "ulimit -v (address space, KiB) is 200000, and libleat needs"
	[[ $output == *"cp"* ]]
}

@test "no address space for the library itself: nothing runs unseen" {
	echo old >place/flow/data
	streamed '( ulimit -v 20000; exec cat data >out )'
	named "ulimit -v"
}

@test "few descriptors: refused at exec, by name" {
	streamed '( ulimit -n 4; exec cp data out )'
	named "ulimit -n"
}

@test "no room for data" {
	streamed '( ulimit -d 10000; exec sort data -o out )'
	named "ulimit -d (data segment, KiB) is 10000"
}

@test "a program that takes all its descriptors before it meets a file of the workflow" {
	need python3
	streamed 'python3 -I -c "
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
try:
    while True: os.open(\"/dev/null\", 0)
except OSError: pass
os.close(3)
try: os.open(\"data\", 0)
except OSError: pass
"'
	named "no descriptor is free to reach the daemon: raise ulimit -n"
	[[ $output == *"python3 cannot reach the leat daemon"* ]]
}

@test "a program that limits its own memory" {
	need python3
	streamed 'python3 -I -c "
import resource
resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))
try: len(open(\"data\").read())
except (OSError, MemoryError): pass
"'
	named "address space, to map what it shares with the daemon: raise ulimit -v"
}

@test "a thread that gets no descriptor" {
	need python3
	streamed 'python3 -I -c "
import os, resource, threading
fd = os.open(\"data\", 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
held = []
try:
    while True: held.append(os.open(\"/dev/null\", 0))
except OSError: pass
def look():
    try: os.listdir(\".\")
    except OSError: pass
t = threading.Thread(target=look); t.start(); t.join()
"'
	named "no descriptor is free to reach the daemon: raise ulimit -n"
}

@test "an inherited descriptor, and no way to ask what it is" {
	streamed '( ulimit -v 200000; exec cat <data >out )'
	named "ulimit -v"
}

@test "descriptors closed by system calls that nobody sees" {
	[ -x "$LEAT_BUILD/tests/hooks/detach" ] || skip "tests/hooks/detach is not built"
	streamed "$LEAT_BUILD/tests/hooks/detach closed data out"
	named "it has closed the descriptors that lead to the daemon"
}

@test "a filter of the program's own forbids to connect" {
	[ -x "$LEAT_BUILD/tests/hooks/detach" ] || skip "tests/hooks/detach is not built"
	streamed "$LEAT_BUILD/tests/hooks/detach filtered data out"
	named "a filter of system calls (seccomp)"
}

@test "a filter that comes later does no harm" {
	[ -x "$LEAT_BUILD/tests/hooks/detach" ] || skip "tests/hooks/detach is not built"
	streamed "$LEAT_BUILD/tests/hooks/detach filtered-later data out"
	[ "$status" -eq 0 ]
	seq 20000 | cmp - place/flow/out
}

@test "another root directory, in which there is no libleat" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need perl ldd
	mkdir root
	# shellcheck disable=SC2046 # a list of words
	cp -L --parents /bin/cat $(ldd /bin/cat | grep -o '/[^ ]*') root/
	streamed "perl -e 'chroot \"$PWD/root\" and exec \"/bin/cat\", \"/none\"' || true"
	named "/bin/cat"
	[[ $output == *"in its sight"* ]]
}

@test "a mount namespace in which the session is hidden" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need perl
	mkdir runtime
	# unshare(CLONE_NEWNS), and mount: all private, and a tmpfs
	cat >hide.pl <<-END
		my (\$none, \$root, \$hidden, \$type) = ("none", "/", "$PWD/runtime", "tmpfs");
		syscall(272, 0x20000) == 0 && syscall(165, \$none, \$root, \$none, 0x44000, 0) == 0 or die \$!;
		syscall(165, \$none, \$hidden, \$type, 0, 0) == 0 or die \$!;
		exec "cat", "data";
	END
	streamed "perl $PWD/hide.pl >out || true"
	named "in its sight"
}

@test "a step renames the workflow's directory" {
	streamed 'mv ../flow ../moved; mv "$LEAT_DIR" "$LEAT_DIR.moved"; cat data >out'
	[ "$status" -eq 0 ]
	[[ $output == *"Device or resource busy"*"Device or resource busy"* ]]
	seq 20000 | cmp - place/flow/out
}

@test "a step renames a directory on the way to the workflow's" {
	streamed "mv $PWD/place $PWD/moved; cat data >out; mv $PWD/moved $PWD/place"
	named "the workflow's"
	[[ $output == *"mv cannot reach"*"the workflow's directory is not where it was"* ]]
}

@test "another directory in the place of the workflow's" {
	streamed "mv $PWD/place $PWD/moved; mkdir -p $PWD/place/flow; echo old >$PWD/place/flow/data
		cat $PWD/place/flow/data >$PWD/place/flow/out; rm -r $PWD/place; mv $PWD/moved $PWD/place"
	named "the workflow's"
	[[ $output == *"the workflow's directory is not where it was, or another one is in its place"* ]]
}

@test "somebody else renames the workflow's directory" {
	streamed "touch $PWD/there; while [ ! -e $PWD/moved ]; do sleep 0.1; done; cat data >out" >said &
	soon test -e there
	mv place moved
	wait $! || true
	mv moved place
	cat said
	grep -q "step use failed: .*the workflow's directory" said
}

@test "a limit of file sizes that the batch keeps to" {
	streamed '( ulimit -f 1000; cat data >out )' "for i in \$(seq 8000); do printf '%0100d\\n' \$i; done >data"
	[ "$status" -eq 0 ]
	for i in $(seq 8000); do printf '%0100d\n' "$i"; done | cmp - place/flow/out
}

@test "many small writes below the limit of file sizes" {
	need python3
	streamed 'cat data >out' '( ulimit -f 1000; python3 -c "
import os
fd = os.open(\"data\", os.O_WRONLY | os.O_CREAT)
for i in range(9000): os.write(fd, b\"%0100d\\n\" % i)
" )'
	[ "$status" -eq 0 ]
	[ "$(stat -c %s place/flow/out)" -eq 909000 ]
}

@test "a run that is started with a limit of file sizes" {
	streamed 'cat data >out' 'seq 10 >data'
	[ "$status" -eq 0 ]
	run bash -c "ulimit -Sf 100; leat run flow.yaml"
	echo "$output"
	[ "$status" -eq 0 ]
	run bash -c "ulimit -f 100; leat run flow.yaml"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"ulimit -f (file size) is too low"*"raise it"* ]]
}
