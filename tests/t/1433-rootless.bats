#!/usr/bin/env bats
# podman of an ordinary user (rootless), streamed.
bats_require_minimum_version 1.5.0
load helper
load image
load rootless

setup_file() {
	image "$BATS_FILE_TMPDIR/root" bash cat chown cut env id ls mkdir seq sleep sort wc
	chown -R "$ROOTLESS_ID:$ROOTLESS_ID" "$BATS_FILE_TMPDIR/root" || true
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	rootless_user
	export ROOT=$BATS_FILE_TMPDIR/root LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	mkdir -m 777 work
	BOX="podman run --rm -i --network=none -v $PWD/work:/w -w /w"
	# shellcheck disable=SC2086 # a list of words
	as_rootless $BOX --rootfs "$ROOT:O" bash -c true >usable.log 2>&1 3>&- || {
		end_pause
		cat usable.log
		skip "podman starts nothing here for an ordinary user"
	}
	# It is nobody's of the run; most tests go without it.
	end_pause
}

teardown() {
	rootless_end
	[ ! -d "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
	nothing_left rootless_left
	run ! grep -F "$BATS_TEST_TMPDIR" /proc/mounts
}

# steps OPTIONS SCRIPT [PRODUCER]: `data` streams from a step outside to SCRIPT in a container.
steps() {
	printf '%s\n' "$2" >work/use.sh
	printf '%s\n' "${3:-seq 20000 >data; mkdir -p d; echo 1 >d/s.1; echo 2 >d/s.2; until [ -e begun ]; do sleep 0.05; done; seq 10 >>data}" >make.sh
	cat >flow.yaml <<-END
		name: boxed
		dir: work
		tasks:
		  - func: make
		    exec: bash $PWD/make.sh
		    outports: [{filename: data, mode: no_update}, {filename: 'd/s.*'}]
		  - func: use
		    exec: $BOX $1 --rootfs $ROOT:O bash use.sh
		    inports: [{filename: data}, {filename: 'd/s.*'}]
		    outports: [{filename: out}, {filename: 'made/*'}]
		exclude: [begun, use.sh]
	END
}

# The consumer inside reads what the producer, who waits for it, has not ended.
READ_AND_WRITE='set -e
	exec 3<data
	read -r first <&3
	echo "$first" >begun
	rest=$(wc -l <&3)
	echo "$first $rest" d/s.* >out
	mkdir -p made
	id -u >made/user
	env | cut -d= -f1 | sort >made/variables'

# streams USER OPTIONS
streams() {
	steps "$2" "$READ_AND_WRITE"
	run -0 as_rootless timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "1 20009 d/s.1 d/s.2" ]
	[ "$(cat work/made/user)" = "$1" ]
	[ "$(stat -c %u:%g work/out work/made/user | sort -u)" = "$ROOTLESS_ID:$ROOTLESS_ID" ]
	[[ $output != *"[use]"* ]]
	run ! grep 'LEAT_\|LD_PRELOAD\|_CONTAINERS_' work/made/variables
	nothing_left rootless_left
	rm -rf work/{out,made,begun}
}

@test "rootless podman streams: as root, with --userns=keep-id, and with podman waiting outside" {
	streams 0 ""
	streams "$ROOTLESS_ID" --userns=keep-id
	# Its namespaces have another view: they are not entered, and it goes on.
	as_rootless podman unshare true 2>&1 3>&-
	local pause
	# shellcheck disable=SC2154 # of rootless_user
	pause=$(cat "$rootless_run/libpod/tmp/pause.pid")
	steps "" "$READ_AND_WRITE"
	run -0 as_rootless timeout 60 leat run flow.yaml
	[ "$(cat work/out)" = "1 20009 d/s.1 d/s.2" ]
	kill -0 "$pause"
}

@test "rootless podman of a user without subordinate ids" {
	: >rootless/subuid
	: >rootless/subgid
	streams 0 ""
}

@test "scripts that start containers: a producer inside, several one after another and at the same time" {
	cat >make.sh <<-END
		$BOX --userns=keep-id --rootfs $ROOT:O bash -c 'seq 1000 >data; mkdir d; echo 1 >d/s.1; for i in 1 2 3; do sleep 0.1; echo \$i >>data; done'
		$BOX --rootfs $ROOT:O bash -c 'seq 2 >d/s.2'
	END
	steps "" "unused" "$(cat make.sh)"
	cat >use.sh <<-END
		$BOX --rootfs $ROOT:O wc -l <data >one &
		$BOX -v $PWD/work/data:/data:ro --rootfs $ROOT:O bash -c 'wc -l </data' >two &
		$BOX --rootfs $ROOT:O bash -c 'cat d/s.*' >three
		wait
		cat one two three >out
		mkdir made
		echo yes >made/it
	END
	sed -i "s#exec: podman.*#exec: bash $PWD/use.sh#; s#^exclude: .*#exclude: [one, two, three, use.sh]#" flow.yaml
	run -0 as_rootless timeout 100 leat run flow.yaml
	echo "$output"
	[ "$(xargs <work/out)" = "1003 1003 1 1 2" ]
}

@test "another user of the container reads what it may, and does not write" {
	local producer="seq 20000 >data; mkdir d; seq 2 >d/s.1"
	# shellcheck disable=SC2016
	steps "--user 33:33" '[ "$(id -u)" = 33 ] && wc -l <data && cat d/s.* || exit 1
		! cat secret && ! test -w data && ! echo no >out && echo refused' "$producer"
	sed -i '/filename: out/d; s/^exclude: .*/exclude: [use.sh, secret]/' flow.yaml
	echo x >work/secret
	chmod 600 work/secret
	chmod 755 work
	chown -R "$ROOTLESS_ID:$ROOTLESS_ID" work
	run -0 as_rootless timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *20000*1*2*refused* ]]
	# On a disk it might: by name, whatever is made of it.
	rm -rf work/{data,d}
	chmod 777 work
	echo 'echo no >out || true' >work/use.sh
	run as_rootless timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: bash: a file would be made, changed or given away by a user that the workflow's own cannot act as"*"--userns=keep-id"* ]]
}

@test "a file is not given to another user of the container: by name" {
	steps "" 'echo x >out; chown 0:0 out || exit; chown 33 out || true; mkdir made; echo x >made/x' 'seq 2 >data; mkdir d; seq 2 >d/s.1'
	run as_rootless timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: chown: a file would be made, changed or given away by a user"* ]]
}

# only PROGRAM...: a directory for PATH in which there are just these.
only() {
	local program
	rm -rf only && mkdir only
	for program in "$@"; do
		ln -s "$(type -P "$program")" only/
	done
}

@test "no newuidmap, or no right to use it: refused by name before anything starts, and a script's podman when it starts" {
	steps "" "$READ_AND_WRITE"
	only bash env leat podman runc seq sleep
	run -126 as_rootless env PATH="$PWD/only" "$LEAT_BUILD/src/cli/leat" run flow.yaml
	echo "$output"
	[[ $output == *"step use: "*"podman is a program that starts others in another root directory or namespace and cannot be intercepted, and newuidmap and newgidmap, which map the users of its containers, are not installed"*"staged: true"* ]]
	[ ! -e work/data ]
	cp "$(type -P newuidmap)" only/
	only_copies=$PWD/only
	run -126 as_rootless env PATH="$only_copies:$PATH" "$LEAT_BUILD/src/cli/leat" run flow.yaml
	[[ $output == *"newuidmap: write to uid_map failed"*"newuidmap or newgidmap refuses to map the users of its containers: /etc/subuid and /etc/subgid"* ]]
	local own
	own=$(cat rootless/subuid)
	seq -f 'leat-test:%.0f:1' 2000001 2000340 >rootless/subuid
	run -126 as_rootless leat run flow.yaml
	echo "$output"
	[[ $output == *"/etc/subuid or /etc/subgid cannot be read, or has more ranges for this user than the kernel maps (339)"* ]]
	echo "$own" >rootless/subuid
	echo "PATH=$only_copies:\$PATH; $BOX --rootfs $ROOT:O cat data >out || echo none >out; mkdir made; echo x >made/x" >use.sh
	sed -i "s#exec: podman.*#exec: bash $PWD/use.sh#; s/until .*done;/true;/" flow.yaml make.sh
	run as_rootless timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: "*"/podman cannot be intercepted, and no mount could be made for it"*"staged: true"* ]]
}

@test "container: by podman, named and by auto" {
	cat >flow.yaml <<-END
		name: boxed
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'exec >data; seq 20000; until [ -e begun ]; do sleep 0.05; done; echo end'
		    outports: [{filename: data, mode: no_update}]
		  - func: use
		    container: $ROOT
		    engine: podman
		    exec: bash -c 'read -r first <data; echo x >begun; wc -l <data >out; id -u >>out; pwd >>out'
		    inports: [{filename: data}]
		    outports: [{filename: out}]
		exclude: [begun]
	END
	run -0 as_rootless timeout 60 leat run -q flow.yaml
	echo "$output"
	[ "$(xargs <work/out)" = "20001 $ROOTLESS_ID $PWD/work" ]
	rm -f work/*
	sed -i 's/engine: podman/engine: auto/' flow.yaml
	only bash leat podman runc newuidmap newgidmap
	run -0 as_rootless env PATH="$PWD/only" "$LEAT_BUILD/src/cli/leat" run --dry-run flow.yaml
	echo "$output"
	[[ $output == *"(an image directory, by podman)"* ]]
	rm only/newuidmap
	run -127 as_rootless env PATH="$PWD/only" "$LEAT_BUILD/src/cli/leat" run --dry-run flow.yaml
	echo "$output"
	[[ $output == *"podman (podman) cannot be given the run's files: newuidmap and newgidmap, which map"*"not installed"* ]]
}

@test "a run that is ended leaves no container behind" {
	steps "" "wc -l <data; sleep 1000.$$" 'seq 2 >data; mkdir d; seq 2 >d/s.1'
	as_rootless leat run -q flow.yaml >log 2>&1 3>&- &
	soon pgrep -xf "sleep 1000.$$"
	kill -TERM "$(pgrep -o -u "$ROOTLESS_ID" -xf "leat run -q flow.yaml")"
	ended 143 $! log
	soon not_there
}

not_there() {
	! pgrep -xf "sleep 1000.$$"
}
