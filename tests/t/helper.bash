# Loaded by every bats file: `load helper`. LEAT_BUILD names the build under test.
# shellcheck shell=bash
LEAT_BUILD=${LEAT_BUILD:-$BATS_TEST_DIRNAME/../../build/dev}
LEAT_SOURCE_DIR=${LEAT_SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}
PATH=$LEAT_BUILD/src/cli:$PATH
export LEAT_BUILD LEAT_SOURCE_DIR PATH LC_ALL=C

# What the caller's shell has set must not reach the tests.
unset LEAT_DIR LEAT_APP_NAME LEAT_WORKFLOW_NAME LEAT_TIMELINE LEAT_EVENT_LOG LEAT_QUIET
unset LEAT_MOUNT LEAT_SITES LEAT_SPILL_DIR LEAT_MEMORY LEAT_HANDED LEAT_ENFORCE LEAT_SEALED LEAT_SEAL LEAT_KEY
unset CAPIO_DIR CAPIO_APP_NAME CAPIO_WORKFLOW_NAME LD_PRELOAD
export LEAT_RUNTIME_DIR=$BATS_TEST_TMPDIR/runtime

# need PROGRAM...: skip the test, with the reason, where one is missing.
need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# nobody COMMAND...: run it as an ordinary user.
nobody() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# no_mount COMMAND...: run it where nobody can mount FUSE.
no_mount() {
	unshare -rm sh -c 'mount --bind /dev/null /dev/fuse && exec "$@"' sh "$@"
}

# left_behind: print what leat left in shared memory, mounts and processes of this test's runtime
# directory; nothing when all is clean. A store in shared memory that a process has open belongs
# to another session that is at work.
left_behind() {
	local store process
	find /dev/shm -maxdepth 1 -name 'leat-[0-9]*' -newer "$BATS_TEST_TMPDIR" 2>/dev/null |
		while read -r store; do
			find /proc/[0-9]*/fd -lname "$store" 2>/dev/null | grep -q . || echo "$store"
		done
	grep -F "$LEAT_RUNTIME_DIR" /proc/mounts
	pgrep -u "$(id -u)" -f "$LEAT_RUNTIME_DIR"
	# Steps, by their environment, and daemons.
	find /proc -maxdepth 1 -name '[0-9]*' 2>/dev/null | while read -r process; do
		tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qxF "LEAT_RUNTIME_DIR=$LEAT_RUNTIME_DIR" || continue
		! tr '\0' '\n' <"$process/environ" | grep -q '^LEAT_APP_NAME=.' &&
			! grep -q '^leat' "$process/comm" || echo "$process $(cat "$process/comm")"
	done 2>/dev/null
	[ ! -d "$LEAT_RUNTIME_DIR" ] || find "$LEAT_RUNTIME_DIR" -mindepth 1
}

# nothing_left [COMMAND...]: neither left_behind nor the command, if there is one, has anything to print.
nothing_left() {
	local left
	left=$(left_behind && "$@")
	echo "left behind: $left"
	[ -z "$left" ]
}
