# An ordinary user with subordinate ids, for engines that want some. `load rootless` after `load helper`.
# shellcheck shell=bash
# One for each file of tests, which may run at the same time.
ROOTLESS_ID=${BATS_TEST_FILENAME##*/}
ROOTLESS_ID=5${ROOTLESS_ID%%-*}

# rootless_user: make what `as_rootless` needs; the machine's own files stay as they are.
rootless_user() {
	local dir=$BATS_TEST_TMPDIR/rootless
	[ "$(id -u)" = 0 ] || skip "needs root, to make a user with subordinate ids"
	need podman runc newuidmap newgidmap setpriv
	mkdir -p "$dir/home/.config/containers"
	# Sockets lie in it, whose paths must be short.
	rootless_run=$(mktemp -d /tmp/leat-XXXXXX)
	{ cat /etc/passwd && echo "leat-test:x:$ROOTLESS_ID:$ROOTLESS_ID::$dir/home:/bin/sh"; } >"$dir/passwd"
	{ cat /etc/group && echo "leat-test:x:$ROOTLESS_ID:"; } >"$dir/group"
	echo leat-test:1000000:65536 | tee "$dir/subuid" >"$dir/subgid"
	mknod -m 666 "$dir/fuse" c 10 229
	# crun knows no machine with control groups of both versions.
	printf '[engine]\nruntime = "%s"\ncgroup_manager = "cgroupfs"\n[containers]\ndefault_ulimits = []\n' \
		"$(type -P runc)" >"$dir/home/.config/containers/containers.conf"
	chown -R "$ROOTLESS_ID:$ROOTLESS_ID" "$dir/home" "$rootless_run"
	chmod a+x "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR" "${BATS_FILE_TMPDIR%/*}" "$BATS_FILE_TMPDIR"
}

# as_rootless COMMAND...: as that user, in a mount namespace in which the user exists.
as_rootless() {
	# shellcheck disable=SC2016
	env -u CONTAINERS_CONF -u CONTAINERS_STORAGE_CONF DIR="$BATS_TEST_TMPDIR/rootless" XDG_RUNTIME_DIR="$rootless_run" \
		unshare -m --propagation private bash -c '
		for file in passwd group subuid subgid; do mount --bind "$DIR/$file" "/etc/$file" || exit; done
		mount --bind "$DIR/fuse" /dev/fuse || exit
		export HOME=$DIR/home USER=leat-test LOGNAME=leat-test
		unset DIR
		exec setpriv --reuid="$0" --regid="$0" --clear-groups "$@"' "$ROOTLESS_ID" "$@"
}

# end_pause: what podman leaves when it is started outside of a run.
end_pause() {
	local file=$rootless_run/libpod/tmp/pause.pid
	[ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
	rm -f "$file"
}

# rootless_end: for teardown.
rootless_end() {
	[ -n "${rootless_run:-}" ] || return 0
	end_pause
	# podman's locks stay for its next start.
	rm -rf "$rootless_run" "/dev/shm/libpod_rootless_lock_$ROOTLESS_ID"
}

# rootless_left: what is left of the user's: processes.
rootless_left() {
	pgrep -u "$ROOTLESS_ID" -a || true
}
