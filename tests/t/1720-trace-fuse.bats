#!/usr/bin/env bats
# leat trace --tracer fuse: a directory is overlaid by a mount that records what passes through it.
load helper
bats_require_minimum_version 1.5.0

setup() {
	built_with fuse
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir d
	"$LEAT_BUILD/src/cli/leat" trace --tracer fuse --overlay d -o probe.csv -- true 2>probe.err ||
		skip "$(cat probe.err)"
}

teardown() {
	[ -z "${place:-}" ] || rm -rf "$place"
}

# traced COMMAND...: with d overlaid; the trace is t.csv.
traced() {
	leat trace --tracer fuse --overlay d -o t.csv -- "$@"
}

# types: how many calls of each type, as "R 100 W 100".
types() {
	grep -v '^#' t.csv | tail -n +2 | cut -d, -f9 | sort | uniq -c | awk '{printf "%s%s %d", n++ ? " " : "", $2, $1}'
}

# column N TYPE: the values of a column in calls of that type.
column() {
	grep -v '^#' t.csv | tail -n +2 | awk -F, -v n="$1" -v type="$2" '$9 == type {print $n}'
}

@test "dd makes 100 reads and 100 writes, each recorded once" {
	head -c 409600 /dev/urandom >d/in
	traced dd if=d/in of=d/out bs=4k count=100 status=none
	cmp d/in d/out
	[ "$(types)" = "C 1 O 1 R 100 W 100 X 2" ]
	[ "$(column 12 R)" = "$(seq 0 4096 405504)" ]
	[ "$(column 10 W | sort -u)" = 4096 ]
	[ "$(column 15 O)" = "\"$PWD/d/in\"" ]
	[ "$(column 15 C)" = "\"$PWD/d/out\"" ]
	[ "$(column 8 R | sort -u)" != "$(column 8 W | sort -u)" ]
	[ "$(column 11 R | sort -u)" = "$(column 11 O)" ]
}

@test "short and empty reads have their results" {
	printf 12345 >d/in
	traced dd if=d/in of=/dev/null bs=3 status=none
	[ "$(column 10 R | paste -sd ' ')" = "3 2 0" ]
	[ "$(column 13 R | sort -u)" = 3 ]
}

@test "renames, removals and truncations; an inode number that is used again is another file" {
	traced sh -c 'echo a >d/a; mv d/a d/b; echo c >>d/b; truncate -s 1 d/b; rm d/b; echo d >d/a; rm d/none 2>/dev/null; ln -s x d/l; rm d/l'
	[ "$(types)" = "C 2 N 1 O 2 T 1 U 2 W 3 X 4" ]
	grep -F ",N,0,0,0,0,0x0,\"$PWD/d/a\",\"$PWD/d/b\"" t.csv
	[ "$(column 12 W | paste -sd ' ')" = "0 2 0" ]
	[ "$(column 13 T)" = 1 ]
	[ "$(column 8 C | sort -u | wc -l)" = 2 ]
	# the file by either name
	[ "$(column 8 C | head -n 1)" = "$(column 8 N)" ]
	[ "$(column 8 U | head -n 1)" = "$(column 8 N)" ]
}

@test "a program that maps a file is noted, and sees and writes the right bytes" {
	need python3
	seq 10000 >d/in
	cp d/in expected
	printf X | dd of=expected bs=1 seek=5 conv=notrunc status=none
	run traced python3 -c '
import mmap
f = open("d/in", "r+b")
m = mmap.mmap(f.fileno(), 0)
m[5] = ord("X")
m.close()'
	[[ $output != *"needs Linux 6.6"* ]] || skip "this kernel maps no files that are open for direct I/O"
	[ "$status" = 0 ]
	cmp d/in expected
	[[ $(column 14 M | sort -u | paste -sd ' ') == "0x1 0x2" ]]
}

@test "the processes: who made whom, what they ran, and that they ended" {
	echo 1 >d/in
	traced sh -c 'cat d/in >/dev/null; sort d/in >/dev/null'
	grep -v '^#' t.pids.csv | tail -n +2 >rows
	cat rows t.csv
	[ "$(grep -c ,fork, rows)" = 3 ]
	[ "$(grep -c ,exit, rows)" = 3 ]
	grep -q '/cat"' rows
	grep -q '/sort"' rows
	shell=$(head -n 1 rows | cut -d, -f3)
	[ "$(grep -c ",$shell,[0-9]*,[0-9]*,fork," rows)" = 2 ]
	for pid in $(column 3 R); do
		grep -q ",$shell,$pid,[0-9]*,fork," rows
	done
}

@test "a process that has ended is not met once more by what the kernel tells of it afterwards" {
	need python3
	echo 1 >d/in
	# The description that the child was the last to close lives until the mapping of its own child has gone; its
	# parent does not ask for its status until then.
	cat >late.py <<-'END'
		import ctypes, os, time

		def is_zombie(pid):
		    try:
		        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
		    except OSError:
		        return False

		child = os.fork()
		if not child:
		    f = os.open("d/in", os.O_RDONLY)
		    r, w = os.pipe()
		    parent = os.getpid()
		    if os.fork():
		        os.read(r, 1)
		        os._exit(0)
		    libc = ctypes.CDLL(None) # Python's own mapping would keep a descriptor
		    libc.mmap.restype = ctypes.c_void_p
		    libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_size_t]
		    m = libc.mmap(None, 2, 1, 2, f, 0) # to read, private
		    assert ctypes.string_at(m, 2) == b"1\n"
		    os.close(f)
		    os.write(w, b"x")
		    while not is_zombie(parent): time.sleep(0.01)
		    time.sleep(0.5)
		    os._exit(0)
		while not is_zombie(child): time.sleep(0.01)
		time.sleep(1)
		os.waitpid(child, 0)
	END
	traced /usr/bin/python3 -B late.py
	grep -v '^#' t.pids.csv | tail -n +2 >rows
	cat rows t.csv
	[ "$(column 3 X)" = "$(column 3 O)" ] # told when it was a zombie
	[ "$(grep -c ',fork,' rows)" = 3 ]
	[ "$(grep -c ',exit,' rows)" = 3 ]
}

@test "what goes on in the background is recorded to its end" {
	traced sh -c '(sleep 0.5; echo late >d/late) & echo early >d/early'
	[ "$(cat d/late)" = late ]
	[ "$(types)" = "C 2 W 2 X 2" ]
	run ! grep leat-trace /proc/mounts
}

@test "the status is the command's; errors say what is wrong" {
	run traced sh -c 'exit 7'
	[ "$status" = 7 ]
	run traced sh -c 'kill -9 $$'
	[ "$status" = 137 ]
	run -127 traced no-such-program
	[[ $output == *"cannot execute no-such-program: No such file or directory"* ]]
	run leat trace --tracer fuse --overlay none -o t.csv -- true
	[ "$status" = 125 ]
	[[ $output == *"the directory none cannot be overlaid: No such file or directory"* ]]
	run leat trace --tracer fuse --overlay / -o t.csv -- true
	[[ $output == *"the root directory cannot be overlaid"* ]]
	run leat trace --tracer fuse --pid 1 -o t.csv
	[[ $output == *"not processes that run already"* ]]
}

@test "without --overlay it is the working directory; files of others are not recorded" {
	echo 1 >d/in
	(cd d && leat trace --tracer fuse -o ../t.csv -- cat in ../probe.csv >/dev/null)
	[ "$(types)" = "O 1 R 2 X 1" ]
}

@test "filters: types, directories" {
	mkdir d/one d/two
	echo 1 >d/one/in
	echo 2 >d/two/in
	leat trace --tracer fuse --overlay d --types R --dir "$PWD/d/one" -o t.csv -- cat d/one/in d/two/in
	[ "$(types)" = "R 2" ]
}

@test "an ordinary user" {
	[ "$(id -u)" = 0 ] || skip "tried as root, who can become one"
	place=$(mktemp -d /tmp/leat-fuse.XXXXXX)
	chmod 777 "$place"
	cd "$place"
	mkdir d
	chmod 777 d
	head -c 40960 /dev/urandom >d/in
	cp -a /dev/fuse fuse
	chmod 666 fuse
	# shellcheck disable=SC2016 # for the shell inside
	run unshare -m --propagation private sh -c 'mount --bind fuse /dev/fuse && exec "$@"' sh \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$LEAT_BUILD/src/cli/leat" trace --tracer fuse --overlay d -o t.csv -- \
		dd if=d/in of=d/out bs=4k count=10 status=none
	[[ $output != *"user namespaces"* ]] || skip "$output"
	echo "$output"
	[ "$status" = 0 ]
	cmp d/in d/out
	[ "$(stat -c %u d/out)" = 65534 ]
	[ "$(types)" = "C 1 O 1 R 10 W 10 X 2" ]
}

@test "random calls of all kinds have the same results as without" {
	mkdir d/plain d/over plain
	"$LEAT_BUILD/tests/posix/differ" plain 1 10 100 >expected
	(cd d && leat trace --tracer fuse -o ../t.trace -- "$LEAT_BUILD/tests/posix/differ" over 1 10 100) >seen
	# The kernel has FUSE refuse this one itself.
	diff <(grep -v 'fallocate([0-9]*, [1-9]' expected) <(grep -v 'fallocate([0-9]*, [1-9]' seen)
}
