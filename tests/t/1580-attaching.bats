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

@test "no space for data" {
	streamed '( ulimit -d 10000; exec sort data -o out )'
	named "ulimit -d (data segment, KiB) is 10000"
}

# python: the interpreter itself. A script in its place might have a connection, which it hands on.
python() {
	need python3
	python3 -c 'import sys; print(sys.executable)'
}

@test "a program that takes all its descriptors before it meets a file of the workflow" {
	streamed "$(python)"' -I -c "
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
	[[ $output == *"python3"*" cannot reach the leat daemon"* ]]
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

# called PERL...: the consumer is a program that makes these calls; `unshare` has a namespace of its own.
called() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need perl
	mkdir -p other
	cat >calls.pl <<-'END'
		our $none = "none";
		sub call { my ($number, @words) = @_; return syscall($number, @words) == 0 }
		sub own { my $root = "/"; call(272, 0x20000) && call(165, $none, $root, $none, 0x44000, 0) or die "unshare: $!" }
		sub mount { my ($from, $to, $flags) = @_; return call(165, $from, $to, $none, $flags, 0) }
		sub show { my ($name) = @_; open(my $in, "<", $name) or return 0; print while <$in>; return 1 }
	END
	printf '%s\n' "$1" '; exit 0;' >>calls.pl
	echo old >place/flow/data
	streamed "perl $PWD/calls.pl >out"
}

@test "the workflow's directory by another name: a mount, bound or moved" {
	called "own(); mount('.', '$PWD/other', 0x1000); show('$PWD/other/data')"
	named "perl: mount: "
	[[ $output == *"LEAT_INTERCEPT=mount"*"staged: true"* ]]
	called "own(); mount('$PWD', '$PWD/other', 0x5000); show('$PWD/other/place/flow/data')"
	named "perl: mount: "
	called "own(); my (\$dot, \$there) = ('.', '$PWD/other'); my \$tree = syscall(428, -100, \$dot, 1); chdir('/proc/self/fd/'.\$tree); show('data')"
	named "perl: open_tree: "
	# Bits that mean nothing beside these: what spreads (MS_PRIVATE), and an old sign of mount's callers.
	called "own(); mount('.', '$PWD/other', 0x41000); show('$PWD/other/data')"
	named "perl: mount: "
	called "own(); mount('.', '$PWD/other', 0xc0ed1000); show('$PWD/other/data')"
	named "perl: mount: "
	# Not this one, but what it is in.
	called "own(); my (\$from, \$to) = ('$PWD', '$PWD/other'); syscall(429, -100, \$from, -100, \$to, 0); show('$PWD/other/place/flow/data')"
	named "perl: move_mount: "
}

@test "the same by open_tree_attr" {
	[ "$(printf '%s\n' 6.15 "$(uname -r)" | sort -V | head -n 1)" = 6.15 ] || skip "needs Linux 6.15"
	called "own(); my (\$dot, \$none) = ('.', ''); my \$tree = syscall(467, -100, \$dot, 1, 0, 0); chdir('/proc/self/fd/'.\$tree); show('data')"
	named "perl: open_tree_attr: "
}

@test "the workflow's directory as a layer of an overlay" {
	grep -qw overlay /proc/filesystems || modprobe overlay || skip "this kernel has no overlays"
	called "own(); my (\$type, \$layers) = ('overlay', 'ro,lowerdir=/proc/sys:$PWD/place'); call(165, \$none, '$PWD/other', \$type, 0, \$layers); show('$PWD/other/flow/data')"
	named "perl: mount: "
	called "own(); my (\$type, \$key, \$layers) = ('overlay', 'lowerdir', '/proc/sys:$PWD/place/flow'); my \$fs = syscall(430, \$type, 0);
		syscall(431, \$fs, 1, \$key, \$layers, 0); syscall(431, \$fs, 6, 0, 0, 0); my \$tree = syscall(432, \$fs, 0, 0);
		chdir('/proc/self/fd/'.\$tree); show('data')"
	named "perl: fsconfig: "
}

@test "the workflow's directory covered, or uncovered" {
	called "own(); call(165, \$none, '$PWD/place', 'tmpfs', 0, 0); show('$PWD/place/flow/data')"
	named "perl: mount: "
	# It is no mount: the call fails by itself.
	called "own(); call(166, '$PWD/place/flow', 2) and die; show('data')"
	[ "$status" -eq 0 ]
	seq 20000 | cmp - place/flow/out
	called "own(); call(166, '$PWD/place', 2); show('data')"
	# shellcheck disable=SC2016
	run unshare --mount sh -c 'mount --bind place place && exec timeout 60 leat run flow.yaml'
	echo "$output"
	named "perl: umount2: "
}

@test "another root directory in which the workflow's directory has another name" {
	called "chroot('$PWD/place'); show('/flow/data')"
	named "perl: chroot: "
	called "own(); mount('$PWD/other', '$PWD/other', 0x1000); call(155, '$PWD/other', '$PWD/other')"
	named "perl: pivot_root: "
}

@test "another root directory with another directory of the workflow's name" {
	mkdir -p "other$PWD/place/flow"
	echo wrong >"other$PWD/place/flow/data"
	called "chroot('$PWD/other'); show('$PWD/place/flow/data')"
	named "perl: chroot: "
}

@test "another process's mount namespace" {
	called "my \$other = open(my \$there, '-|') // die; if (!\$other) { own(); \$| = 1; print qq(there\n); sleep 60 }
		<\$there>; open(my \$ns, '<', qq(/proc/\$other/ns/mnt)) or die; syscall(308, fileno(\$ns), 0); kill(9, \$other); show('data')"
	named "perl: setns: "
}

@test "mounts and roots that leave the workflow's directory alone" {
	mkdir tmp root
	called "own(); call(165, \$none, '$PWD/tmp', 'tmpfs', 0, 0) or die; mount('$PWD/tmp', '$PWD/other', 0x1000) or die;
		open(my \$ns, '<', '/proc/self/ns/mnt'); syscall(308, fileno(\$ns), 0) == 0 or die; show('$PWD/place/flow/data'); \$| = 1; chroot('$PWD/root') or die;"
	[ "$status" -eq 0 ]
	seq 20000 | cmp - place/flow/out
	# The same names in another root.
	called "own(); my \$root = '/'; mount('/', '$PWD/root', 0x5000) or die;"
	named "perl: mount: "
}

@test "a mount that would fail does so, and no more" {
	need perl
	printf 'my ($a, $b, $c) = (".", "/mnt", "none"); syscall(165, $a, $b, $c, 0x1000, 0); open(my $in, "<", "data"); print while <$in>;\n' >calls.pl
	chmod 777 place/flow .
	streamed "setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin perl $PWD/calls.pl >out"
	[ "$status" -eq 0 ]
	seq 20000 | cmp - place/flow/out
}

@test "a program that is refused memory because libleat has a part of it, in a pipeline that ends well" {
	need python3
	streamed '( ulimit -v 300000; echo | python3 -I -c "
f = open(\"data\")
x = bytearray(100 << 20)
print(f.read())" 2>/dev/null | cat >out )'
	named "python3 was refused memory: ulimit -v (address space) or -d (data) leaves it less than it would have without libleat"
}

@test "a thread that has no space for its stack because of it" {
	need python3
	streamed '( ulimit -d 30000; python3 -I -c "
import threading
threading.stack_size(20 << 20)
t = threading.Thread(target=print)
try: t.start()
except RuntimeError: pass
print(len(open(\"data\").read()))" >out )'
	named "python3 was refused memory: "
}

@test "what a program would not have without libleat, either, is its own matter" {
	need python3
	streamed '( ulimit -v 600000; python3 -I -c "
try: x = bytearray(1 << 30)
except MemoryError: print(len(open(\"data\").read()))" >out )'
	[ "$status" -eq 0 ]
	[ "$(cat place/flow/out)" = 108894 ]
}

@test "a program that locks its memory, and may lock little" {
	need python3
	local limited=python3
	[ "$(id -u)" != 0 ] || limited="setpriv --bounding-set=-ipc_lock python3"
	streamed "$limited"' -I -c "
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 16, 1 << 16))
assert libc.mlockall(2) == 0, ctypes.get_errno()  # what is mapped from now on
try: os.open(\"data\", 0)
except OSError: pass
"'
	named "it locks its memory, and may not lock what it shares with the daemon: raise ulimit -l"
}

@test "no descriptor, and no way to leave word: the program ends with 126" {
	need python3
	cat >without-symlinks.py <<-'END'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		# symlink and symlinkat: EPERM
		code = [(0x20, 0, 0, 0), (0x15, 1, 0, 88), (0x15, 0, 1, 266), (6, 0, 0, 0x00050001), (6, 0, 0, 0x7fff0000)]
		words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
		program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(words))
		assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()
		os.execvp(sys.argv[1], sys.argv[1:])
	END
	cat >no-descriptor.py <<-'END'
		import os, resource
		resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
		try:
		    while True: os.open("/dev/null", 0)
		except OSError: pass
		try: os.open("data", 0)
		except OSError: pass
		print("went on")
	END
	streamed "$(python) -I $BATS_TEST_TMPDIR/no-descriptor.py; echo \"ended with \$?\""
	named "no descriptor is free to reach the daemon"
	rm -f place/flow/*
	# A filter that libleat does not know of: leat itself runs under it.
	run timeout 100 python3 -I without-symlinks.py leat run flow.yaml
	echo "$output"
	[[ $output == *"python3"*" cannot reach the leat daemon"*"no descriptor is free to reach the daemon"* ]]
	[[ $output == *"nor can it tell anybody that what it makes cannot be trusted: it ends here"* ]]
	[[ $output == *"ended with 126"* ]]
	[[ $output != *"went on"* ]]
}

@test "a daemon of another version" {
	need python3
	# In the place of the daemon's socket somebody answers who speaks otherwise.
	cat >other.py <<-'END'
		import glob, os, socket, subprocess, sys
		path = glob.glob(os.environ["LEAT_RUNTIME_DIR"] + "/*/socket")[0]
		os.rename(path, path + ".real")
		server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		server.bind(path)
		server.listen()
		child = subprocess.Popen(sys.argv[2:])
		server.settimeout(20)
		other, _ = server.accept()
		header = bytearray(other.recv(65536)[:16])
		header[0] ^= 0xff
		header[4:8] = len(header).to_bytes(4, "little")
		if sys.argv[1] == "answers":
		    other.send(header)
		else:
		    other.close()
		child.wait()
		os.rename(path + ".real", path)
	END
	streamed "cat data >/dev/null; python3 -I $BATS_TEST_TMPDIR/other.py answers cat data"
	named "libleat and the daemon are of different versions"
	# One that does not understand the greeting.
	streamed "cat data >/dev/null; python3 -I $BATS_TEST_TMPDIR/other.py hangs-up cat data"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: "*"the connection to the daemon broke"* ]]
}

@test "descriptors that are not the process's: refused by name" {
	need gcc
	local way
	gcc -pthread -o apart -x c - <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <pthread.h>
		#include <sched.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int out;
		static char stack[65536];
		static int other(void *none)
		{
			(void)none;
			close(out);
			return write(open("y", O_WRONLY | O_CREAT | O_TRUNC, 0644), "other", 5) != 5;
		}
		static void *in_thread(void *how)
		{
			if (!strcmp(how, "unshare") && unshare(CLONE_FILES))
				return "";
			if (!strcmp(how, "close_range") && syscall(SYS_close_range, 1000, ~0u, 2))
				return "";
			other(NULL);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			if (!strcmp(argv[1], "alone"))
				return unshare(CLONE_FILES) || syscall(SYS_close_range, 1000, ~0u, 2);
			out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
			if (!strcmp(argv[1], "clone"))
				waitpid(clone(other, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), NULL, 0);
			else
				pthread_create(&thread, NULL, in_thread, argv[1]), pthread_join(thread, NULL);
			return write(out, "main", 4) != 4;
		}
	END
	for way in unshare close_range clone; do
		streamed "cat data >/dev/null; $PWD/apart $way || true"
		[ "$status" = 125 ]
		[[ $output == *"step use failed: apart: "*"$way"*": descriptors would mean other files in one thread than in another"* ]]
	done
	# a thread that is alone has no others to be apart from
	streamed "cat data >/dev/null; $PWD/apart alone && echo >out"
	[ "$status" = 0 ]
}
