# The texts of libc that the first program of a run has patched: those after it map them, and those
# that start at the same time wait for them a moment.
bats_require_minimum_version 1.5.0
load helper

setup() {
	need strace
	cd "$BATS_TEST_TMPDIR" || return
	mkdir dir sites
}

# program FILE: a program in the directory of a session, its system calls in FILE.
program() {
	strace -f -o "$1" -e trace=renameat2,mmap,openat,exit_group \
		-E LD_PRELOAD="$LEAT_BUILD/src/preload/libleat.so" -E LEAT_SITES="$PWD/sites" -E LEAT_DIR="$PWD/dir" true
}

made() {
	grep -h 'renameat2.*\.image' calls.* | grep -c '= 0$'
}

# Those that have mapped the file which another one has made.
mapped() {
	grep -l 'openat.*\.image", O_RDONLY.*= [0-9]' calls.* | wc -l
}

@test "programs that start at the same time make the file or map it" {
	local i
	for i in 1 2 3 4 5 6; do
		program "calls.$i" &
	done
	wait
	[ "$(made)" -ge 1 ]
	[ $(($(made) + $(mapped))) = 6 ]
	[ "$(grep -l 'exit_group(0)' calls.* | wc -l)" = 6 ]
	[ "$(find sites -name '*.claim')" = "" ]
}

@test "one that was to make it long ago is not waited for" {
	program calls.1
	name=$(ls sites/*.image)
	rm "$name"
	touch -d '1 minute ago' "$name.claim"
	program calls.2
	[ "$(made)" = 2 ]
	[ "$(grep -c 'openat.*\.image", O_RDONLY' calls.2)" = 1 ]
}

@test "where no file can be made programs run, and do not wait" {
	rmdir sites
	program calls.1
	[ "$(made)" = 0 ]
	grep -q 'exit_group(0)' calls.1
	[ "$(grep -c 'openat.*\.image", O_RDONLY' calls.1)" = 1 ]
}
