# Control groups of a test's own. `load cgroup` after `load helper`; `group_free` in teardown.
# shellcheck shell=bash

groups=()

# group_top CONTROLLER: where groups of it can be made; sets $group_version.
group_top() {
	local point
	point=$(awk -v c="$1" '$0 ~ " - cgroup " && $NF ~ "(^|,)" c "(,|$)" { print $5; exit }' /proc/self/mountinfo)
	group_version=1
	if [ -z "$point" ]; then
		group_version=2
		point=$(awk '$0 ~ " - cgroup2 " { print $5; exit }' /proc/self/mountinfo)
	fi
	group_top=$point
}

# group CONTROLLER [ABOVE]: make a group, $group, below that one or at the top; skip where there can be none.
group() {
	group_top "$1"
	[ -n "$group_top" ] || skip "no control groups are mounted here"
	[ "$(id -u)" = 0 ] || skip "only root can make control groups"
	[ "$group_version" = 1 ] || grep -qw "$1" "$group_top/cgroup.controllers" ||
		skip "the machine has no control groups of $1"
	group_enable "$1" "${2:-$group_top}" || skip "control groups of $1 cannot be used here"
	group=${2:-$group_top}/leat-test-$$-$BATS_TEST_NUMBER-${#groups[@]}
	mkdir "$group" || skip "no control group can be made here"
	groups+=("$group")
}

# A level of version 2 hands a controller on only if it is told to.
group_enable() {
	[ "$group_version" = 1 ] || grep -qw "$1" "$2/cgroup.subtree_control" ||
		echo "+$1" >"$2/cgroup.subtree_control"
}

# group_memory LIMIT: of $group.
group_memory() {
	if [ "$group_version" = 1 ]; then
		echo "$1" >"$group/memory.limit_in_bytes"
	else
		echo "$1" >"$group/memory.max"
	fi
}

# within COMMAND...: run it in $group.
within() {
	(
		echo "$BASHPID" >"$group/cgroup.procs" || exit 125
		exec "$@"
	)
}

# Remove them all; what is left in one (there should be nothing) is ended.
group_free() {
	local g i
	for ((i = ${#groups[@]} - 1; i >= 0; i--)); do
		g=${groups[i]}
		for _ in $(seq 100); do
			! rmdir "$g" 2>/dev/null || break
			xargs -r kill -9 <"$g/cgroup.procs" 2>/dev/null || true
			sleep 0.05
		done
		[ ! -d "$g" ] || echo "cannot remove $g"
	done
	groups=()
}
