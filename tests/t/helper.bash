# Loaded by every bats file: `load helper`. LEAT_BUILD names the build under test.
# shellcheck shell=bash
LEAT_BUILD=${LEAT_BUILD:-$BATS_TEST_DIRNAME/../../build/dev}
LEAT_SOURCE_DIR=${LEAT_SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}
PATH=$LEAT_BUILD/src/cli:$PATH
export LEAT_BUILD LEAT_SOURCE_DIR PATH LC_ALL=C

# What the caller's shell has set must not reach the tests.
unset LEAT_DIR LEAT_APP_NAME LEAT_WORKFLOW_NAME LEAT_CHART LEAT_TIMELINE LEAT_EVENT_LOG LEAT_QUIET
unset LEAT_TRACE LEAT_TRACE_BUFFER LEAT_TRACE_BUFFER_ONLY LEAT_MOUNT LEAT_SITES LEAT_SPILL_DIR LEAT_MEMORY LEAT_HANDED LEAT_ENFORCE LEAT_SEALED LEAT_SEAL LEAT_KEY LEAT_PIN
unset LEAT_STRICT
# Python, which meson is written in, sets it where there is no locale.
unset LC_CTYPE
unset CAPIO_DIR CAPIO_APP_NAME CAPIO_WORKFLOW_NAME LD_PRELOAD
export LEAT_RUNTIME_DIR=$BATS_TEST_TMPDIR/runtime
# Records and logs. Not in the test's directory, which may be the workflow's; other users write there, too.
export LEAT_STATE_DIR=$BATS_RUN_TMPDIR/state
[ -d "$LEAT_STATE_DIR" ] || { mkdir -p "$LEAT_STATE_DIR" && chmod 1777 "$LEAT_STATE_DIR"; }

# in_work: go to the test's own directory, with an empty `work` in it.
in_work() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir work
}

# need PROGRAM...: skip the test, with the reason, where one is missing.
need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# has_32_bit_calls: the kernel answers those of 32-bit programs. Some are built without, and some machines cannot.
has_32_bit_calls() {
	("$LEAT_BUILD/tests/hooks/unseen" int80 /bin/true) 2>/dev/null
}

# static_linking: skip the test where no program can be linked statically; one that does not compile is another matter.
static_linking() {
	need gcc
	echo 'int main(void) { return 0; }' | gcc -static -pthread -o static-linking -x c - 2>/dev/null ||
		skip "nothing can be linked statically here"
	rm static-linking
}

# one_in N: true at each Nth call of a test, for loops over combinations; at each one with LEAT_ALL=1 (make combinations).
# An N that shares no divisor with the number of values in the inner loops gives each value its turn.
one_in() {
	combination=$((${combination:--1} + 1))
	[ -n "${LEAT_ALL:-}" ] || [ $((combination % $1)) = 0 ]
}

# up_to N ALL: N, the number or size that a test goes to; ALL with LEAT_ALL=1.
up_to() {
	[ -n "${LEAT_ALL:-}" ] && echo "$2" || echo "$1"
}

# state_of DIRECTORY: where leat keeps what it knows of that directory from run to run.
state_of() {
	grep -lxF "$(realpath "$1")" "$LEAT_STATE_DIR"/*/directory 2>/dev/null | xargs -r ls -t | head -n 1 | xargs -r dirname
}

# built_with PART...: skip the test where leat was built without one of them (meson_options.txt).
built_with() {
	local part
	for part in "$@"; do
		leat --version | grep '^with: ' | grep -qw "$part" || skip "leat was built without $part"
	done
}

# dom PAGE [HASH]: what a browser makes of a page that leat wrote, in `page.dom`; all its scripts run
# to their ends.
dom() {
	built_with pages
	need chromium
	# Its own directories: the user's may not be writable, and others use them.
	HOME=$BATS_TEST_TMPDIR/home timeout 120 chromium --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --window-size=1200,800 \
		--user-data-dir="$BATS_TEST_TMPDIR/home/profile" --virtual-time-budget=5000 \
		--dump-dom "file://$PWD/$1${2:-}" >page.dom 2>browser.log 3>&- 4>&-
	grep -q 'data-ready="true"' page.dom || {
		cat browser.log
		return 1
	}
	! grep 'Uncaught' browser.log
}

# nobody COMMAND...: run it as an ordinary user.
nobody() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# as_user COMMAND...: as an ordinary user who may open /dev/fuse, as distributions have it.
as_user() {
	chmod a+x "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR" "${BATS_FILE_TMPDIR%/*}" "$BATS_FILE_TMPDIR"
	[ "$(id -u)" = 0 ] || { "$@"; return; }
	[ -c "$BATS_TEST_TMPDIR/fuse" ] || mknod -m 666 "$BATS_TEST_TMPDIR/fuse" c 10 229
	unshare -m --propagation private sh -c 'mount --bind "$0" /dev/fuse && exec setpriv \
		--reuid=65534 --regid=65534 --clear-groups "$@"' "$BATS_TEST_TMPDIR/fuse" "$@"
}

# no_mount COMMAND...: run it where nobody can mount FUSE.
no_mount() {
	unshare -rm sh -c 'mount --bind /dev/null /dev/fuse && exec "$@"' sh "$@"
}

# all_is_clean: there is nothing of that kind, and no store at all. With one process, as it is asked after each test.
all_is_clean() {
	[[ -z $(shopt -s nullglob dotglob && echo /dev/shm/leat-[0-9]* "$LEAT_RUNTIME_DIR"/*) ]] &&
		! grep -qszF -- "$LEAT_RUNTIME_DIR" /proc/mounts /proc/[0-9]*/{environ,cmdline}
}

# left_behind: print what leat left in shared memory, mounts and processes of this test's runtime
# directory; nothing when all is clean. A store in shared memory that a process has open belongs
# to another session that is at work.
left_behind() {
	local store process
	! all_is_clean || return 0
	find /dev/shm -maxdepth 1 -name 'leat-[0-9]*' -newer "$BATS_TEST_TMPDIR" 2>/dev/null |
		while read -r store; do
			find /proc/[0-9]*/fd -lname "$store" 2>/dev/null | grep -q . || echo "$store"
		done
	grep -F "$LEAT_RUNTIME_DIR" /proc/mounts
	pgrep -u "$(id -u)" -f "$LEAT_RUNTIME_DIR"
	# Steps, by their environment, and daemons. One grep for all, as this is asked after each test.
	for process in $(grep -lzsxF "LEAT_RUNTIME_DIR=$LEAT_RUNTIME_DIR" /proc/[0-9]*/environ | xargs -r dirname); do
		! grep -qz '^LEAT_APP_NAME=.' "$process/environ" &&
			! grep -q '^leat' "$process/comm" || echo "$process $(cat "$process/comm")"
	done 2>/dev/null
	[ ! -d "$LEAT_RUNTIME_DIR" ] || find "$LEAT_RUNTIME_DIR" -mindepth 1
}

# nothing_left [COMMAND...]: neither left_behind nor the command, if there is one, has anything to print. Asked for
# some time: another session's store may just be made, or removed.
# shellcheck disable=SC2120 # the command is optional
nothing_left() {
	local left
	for _ in {1..20}; do
		left=$(left_behind && "$@")
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "left behind: $left"
	return 1
}

# nothing_left_and_removed DIRECTORY: the same; what the test has made outside of bats' own directories goes in any case.
nothing_left_and_removed() {
	local clean=true
	# shellcheck disable=SC2119 # of no command
	nothing_left || clean=false
	cd / && rm -rf "$1"
	$clean
}

# soon COMMAND...: wait until it succeeds.
soon() {
	for _ in $(seq 200); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

# ours NAME: the processes of that name of this test.
ours() {
	local pid
	for pid in $(pgrep -x "$1"); do
		! grep -qzsxF "LEAT_RUNTIME_DIR=$LEAT_RUNTIME_DIR" "/proc/$pid/environ" &&
			! grep -qzs "^$BATS_FILE_TMPDIR" "/proc/$pid/cmdline" || echo "$pid"
	done
}

# serve [OPTION...] FLOW: start leat serve, and wait until it is ready. It is $server, and speaks to `served` and
# `served.err`. However the test's shell ends, it is told to end then.
serve() {
	setpriv --pdeathsig TERM leat serve "$@" >served 2>served.err 3>&- &
	server=$!
	soon grep -q 'steps may start' served.err || {
		cat served.err
		return 1
	}
}

# end_server: what `serve` has started, if it is still there. For teardown.
end_server() {
	[ -z "${server:-}" ] || ! kill "$server" 2>/dev/null || wait "$server" || true
	server=
}

# ended STATUS PROCESS [FILE...]: the process, whose output the files are, ends with that status.
ended() {
	local status=0
	wait "$2" || status=$?
	[ $# = 2 ] || cat "${@:3}"
	[ "$status" = "$1" ] || {
		echo "status $status instead of $1"
		return 1
	}
}

# report EXPRESSION: a Python expression over the report `r` in the file `report`, which must be true; so
# are `steps` and, of what is not complete, `lost`, by their names.
report() {
	/usr/bin/python3 -B - "$1" <<-'END'
		import json, sys
		r = json.load(open("report"))
		steps = {s["name"]: s for s in r["steps"]}
		lost = {f["name"]: f for f in r["not_complete"]}
		assert eval(sys.argv[1]), json.dumps(r, indent=1)
	END
}
