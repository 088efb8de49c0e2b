#!/usr/bin/env bats
# Steps that run in containers: what they bind is the view of the workflow's directory.
bats_require_minimum_version 1.5.0
load helper
load image

setup_file() {
	local root=$BATS_FILE_TMPDIR/root
	image "$root" bash cat cut env ls mkdir seq sleep sort stat wc
	mkdir -p "$root"/{w,x,mnt/sub}
	touch "$root"/etc/{hosts,localtime,resolv.conf} "$root/mnt/one" "$root/x/result"
	cc -D_GNU_SOURCE -O1 -static -o "$BATS_FILE_TMPDIR/uncover" "$BATS_TEST_DIRNAME/../hooks/uncover.c" || return 1
}

setup() {
	built_with fuse
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p work
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	printf 'name: possible\ntasks: [{func: one, exec: unshare true}]\n' >possible.yaml
	leat run -q possible.yaml || skip "no mount is possible here"
	# Podman 5 has a word to say on each start where there is version 1 of control groups.
	export ROOT=$BATS_FILE_TMPDIR/root USER=${USER:-root} PODMAN_IGNORE_CGROUPSV1_WARNING=1
}

teardown() {
	nothing_left
}

# in_container ENGINE: the command line by which the words behind it are run in a container, in /w, where
# the workflow's directory is bound.
in_container() {
	case $1 in
	bwrap) need bwrap && echo "bwrap --bind $ROOT / --bind . /w --dev /dev --proc /proc --unshare-pid --chdir /w" ;;
	ch-run) need ch-run && echo "ch-run --bind $PWD/work:/w -w --cd /w $ROOT --" ;;
	unshare) echo "unshare --mount bash $BATS_TEST_TMPDIR/enter.sh" ;;
	chroot) echo "chroot / env --chdir=$PWD/work" ;;
	podman)
		need podman runc
		echo "podman --runtime runc --cgroup-manager cgroupfs run --cgroups=no-conmon --ulimit nofile=1000:1000" \
			"--ulimit nproc=1000:1000 --env-host --network=none --rm -i -v $PWD/work:/w -w /w --rootfs $ROOT"
		;;
	esac
}

# flow COMMAND: `data` and what is in `d` stream from make.sh to COMMAND, which makes `out` and what is in `made`.
flow() {
	cat >flow.yaml <<-END
		name: boxed
		dir: work
		tasks:
		  - func: make
		    exec: bash $PWD/make.sh
		    outports: [{filename: data, mode: no_update}, {filename: 'd/*'}]
		  - func: use
		    exec: $1
		    inports: [{filename: data}, {filename: 'd/*'}]
		    outports: [{filename: out}, {filename: 'made/*'}]
		exclude: [begun, use.sh]
	END
}

# steps ENGINE SCRIPT [PRODUCER]: `data` streams from a step outside to SCRIPT in a container, which makes `out`.
steps() {
	local launch
	launch=$(in_container "$1")
	# shellcheck disable=SC2016
	printf 'mount --bind . "$ROOT/w" && cd / && exec chroot "$ROOT" bash -c '\''cd /w && exec "$@"'\'' bash "$@"\n' >enter.sh
	printf '%s\n' "$2" >work/use.sh
	printf '%s\n' "${3:-seq 20000 >data; mkdir -p d; echo 1 >d/s.1; echo 2 >d/s.2; until [ -e begun ]; do sleep 0.05; done; seq 10 >>data}" >make.sh
	flow "$launch bash use.sh"
}

# streams ENGINE [AS...]: a consumer inside reads what the producer, who waits for it, has not ended.
streams() {
	local engine=$1
	shift
	# shellcheck disable=SC2016
	steps "$engine" 'set -e
		exec 3<data
		read -r first <&3
		echo "$first" >begun
		rest=$(wc -l <&3)
		echo "$first $rest" d/s.* >out
		mkdir -p made
		echo new >made/file
		env | cut -d= -f1 | sort >made/variables'
	run -0 "$@" timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "1 20009 d/s.1 d/s.2" ]
	[ "$(cat work/made/file)" = new ]
	# Nothing of leat's is said inside; what the user has set is there.
	[[ $output != *"[use]"* ]]
	[ "$(grep 'LEAT_\|LD_PRELOAD' work/made/variables)" = LEAT_STATE_DIR ]
}

@test "bubblewrap streams" {
	streams bwrap
}

@test "charliecloud streams" {
	streams ch-run
}

@test "unshare and chroot stream" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	streams unshare
	streams chroot
}

@test "podman streams" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	in_container podman >/dev/null
	# shellcheck disable=SC2046 # a list of words
	$(in_container podman) bash -c true || skip "podman runs nothing here"
	streams podman
}

@test "an ordinary user's containers" {
	chmod 777 . work
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	streams bwrap as_user
	rm -rf work/{out,made,begun}
	streams ch-run as_user
	[ ! -e "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
}

# script PRODUCER CONSUMER: the same between two scripts that start containers by themselves.
script() {
	printf '%s\n' "$1" >make.sh
	printf '%s\n' "$2" >use.sh
	flow "bash $PWD/use.sh"
}

@test "a producer inside; sub-directories and single files by other names" {
	need bwrap
	# shellcheck disable=SC2016
	script 'mkdir d; bwrap --bind "$ROOT" / --dev /dev --bind . /w --bind d /mnt/sub --chdir /mnt bash -c "
			seq 1000 >/w/data; for i in 1 2 3; do sleep 0.1; echo \$i >sub/part.\$i; done; cd sub; seq 1000 >>/w/data"' \
		'echo >out
		bwrap --bind "$ROOT" / --dev /dev --ro-bind data /mnt/one --bind out /x/result --ro-bind d /mnt/sub --chdir /mnt \
			bash -c "wc -l <one >/x/result; echo sub/* >>/x/result; cat sub/* >>/x/result"'
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(xargs <work/out)" = "2000 sub/part.1 sub/part.2 sub/part.3 1 2 3" ]
}

@test "the container's status is the step's" {
	need bwrap
	# shellcheck disable=SC2016
	script 'seq 10 >data; mkdir d' 'bwrap --bind "$ROOT" / --bind . /w --chdir /w bash -c "cat data >out; exit 7"'
	run -7 timeout 60 leat run flow.yaml
	[[ $output == *"step use failed: exit 7"* ]]
	# shellcheck disable=SC2016
	script 'seq 10 >data; mkdir d' 'bwrap --bind "$ROOT" / --bind . /w --dev /dev --chdir /w bash -c "cat data >out; kill -9 \$\$"'
	run -137 timeout 60 leat run flow.yaml
}

@test "a program is killed by its container's own limit on memory: named, whatever the step makes of it" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	in_container podman >/dev/null
	launch=$(in_container podman)
	launch=${launch/ run / run --memory 50m }
	# shellcheck disable=SC2086 # a list of words
	run $launch bash -c true
	[ "$status" = 0 ] || skip "podman sets no limit on memory here: $(tail -n 1 <<<"$output")"
	# shellcheck disable=SC2016 # for the shell inside
	printf '%s\n' 'x=x; while :; do x=$x$x; done' >work/use.sh
	echo 'seq 10 >data' >make.sh
	flow "$launch bash use.sh"
	run -137 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step use failed: exit 137: a process in a container was killed, out of memory: its limit is 52.4 MB ("*"/memory."* ]]
	[[ $output == *"not complete: out (step use, which produces it, failed: a process in a container was killed, out of memory: "* ]]
	# One that is not the container's first.
	# shellcheck disable=SC2016
	printf '%s\n' '(x=x; while :; do x=$x$x; done) || echo "status $?" >out' >work/use.sh
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step use: a process in a container was killed, out of memory: its limit is 52.4 MB ("* ]]
	[ "$(cat work/out)" = "status 137" ]
	# One that others kill.
	rm work/out
	# shellcheck disable=SC2016
	printf '%s\n' '(kill -9 $BASHPID)' 'exit $?' >work/use.sh
	run -137 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step use failed: exit 137"* ]]
	[[ $output != *memory* ]]
}

@test "an engine with a daemon is refused by name" {
	cp "$(type -P bash)" docker
	printf 'name: boxed\ntasks: [{func: use, exec: ./docker run image}]\n' >flow.yaml
	run -126 timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"step use: ./docker is a program that has a daemon start others"*"give the step \`staged: true\`"* ]]
	# Whatever the step makes of it.
	script 'seq 10 >data; mkdir d' "$PWD/docker run image || true; echo none >out"
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: $PWD/docker: a program that has a daemon start others"*"staged: true"* ]]
	# A script of that name is what it starts.
	printf '#!/bin/bash\nseq 10 >data; mkdir d\n' >docker
	script "$PWD/docker" 'cat data >out'
	run -0 timeout 60 leat run flow.yaml
}

@test "no mount: refused by name before anything starts" {
	need bwrap
	printf 'name: boxed\ntasks: [{func: use, exec: bwrap --bind / / true}]\n' >flow.yaml
	run -126 no_mount timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"bwrap is a program that starts others in another root directory or namespace and cannot be intercepted, and this machine lets nobody mount here"* ]]
	[[ $output == *"staged: true"* ]]
	script 'seq 10 >data; mkdir d' "bwrap --bind / / true || true; echo none >out"
	run no_mount timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: "*"/bwrap: a program that starts others in another root"*"staged: true"* ]]
}

@test "--sealed lets a step mount nothing, nor a container" {
	need bwrap
	printf 'name: boxed\ntasks: [{func: use, exec: bwrap --bind / / true}]\n' >flow.yaml
	run -126 timeout 60 leat run --sealed flow.yaml
	[[ $output == *"cannot be intercepted, and --sealed lets a step mount nothing"* ]]
}

@test "fifty containers leave nothing mounted and nobody running" {
	need bwrap
	# shellcheck disable=SC2016
	script 'seq 100 >data; mkdir d' 'for i in $(seq 50); do bwrap --bind "$ROOT" / --bind . /w --chdir /w wc -l data; done >out'
	run -0 timeout 200 leat run flow.yaml
	[ "$(sort work/out | uniq -c | xargs)" = "50 100 data" ]
	run ! grep -F "fuse.leat" /proc/mounts
	soon no_servers
}

no_servers() {
	[ -z "$(ours leat-mount)" ]
}

@test "a bind of a directory above the workflow's, without the mounts in it" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	mkdir root
	# shellcheck disable=SC2016
	script 'seq 10 >data; mkdir d' "unshare --mount bash -c 'mount --bind .. ../root && cat ../root/work/data >out' || true; echo none >>out"
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: mount: "*"--rbind"* ]]
	script 'seq 10 >data; mkdir d' "unshare --mount bash -c 'mount --rbind .. ../root && cat ../root/work/data >out'
		unshare --mount bash -c 'mount --bind . ../root && cat ../root/data >>out; mount --bind /proc ../root'"
	run -0 timeout 60 leat run flow.yaml
	[ "$(wc -l <work/out)" = 20 ]
}

# uncovers WAY [WHO...]: a program behind a mount would have the plain directory show, and is refused by its name.
uncovers() {
	echo "$*"
	mkdir -p room
	rm -f room/device
	script 'seq 10 >data; mkdir d' "$BATS_FILE_TMPDIR/uncover $1 $PWD/work >out || true; exit 0"
	echo old >work/data
	run "${@:2}" timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: uncover: "*"staged: true"* ]]
	run ! grep . work/out
}

# with_32_bit WAY...: these, and the same by the calls of 32-bit programs.
with_32_bit() {
	echo "$@"
	! has_32_bit_calls || echo "${@/%/-32}"
}

@test "leat's mount is unmounted, moved away, or made the root directory" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	for way in $(with_32_bit umount umount-within umount-descriptor move move_mount pivot_root); do
		uncovers "$way"
	done
	# By the programs of util-linux.
	for command in "umount -l $PWD/work" "mount --move $PWD/work $PWD/room"; do
		script 'seq 10 >data; mkdir d' "unshare --mount sh -c 'cd / && $command; cat $PWD/work/data' >out; exit 0"
		echo old >work/data
		run timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" -ne 0 ]
		[[ $output == *"step use failed: ${command%% *}: "*"staged: true"* ]]
		run ! grep old work/out
	done
}

@test "a copy of all mounts from which leat's is unmounted" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	uncovers umount-copy
}

@test "a directory above the workflow's in other ways: cloned, as a layer of an overlay, its device" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	local ways=(bind overlay fsconfig fsconfig-layer)
	! kernel_has 6.15 || ways+=(open_tree_attr)
	for way in $(with_32_bit "${ways[@]}"); do
		uncovers "$way"
	done
	# Whose file system lies on one.
	[ ! -b "/dev/block/$(mountpoint -d "$(stat -c %m .)")" ] || uncovers device
}

# kernel_has VERSION
kernel_has() {
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

@test "what engines do with mounts is left to them" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	for way in $(with_32_bit harmless); do
		mkdir -p room
		script 'seq 10 >data; mkdir d' "$BATS_FILE_TMPDIR/uncover $way $PWD/work >out"
		run -0 timeout 60 leat run flow.yaml
		echo "$output"
		[ "$(wc -l <work/out)" = 20 ]
	done
	# Of a user's own namespace the kernel lets nobody take it.
	chmod 777 . work
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	script 'seq 10 >data; mkdir d' "unshare --user --map-root-user --mount sh -c 'mount --bind . $PWD/room && cat $PWD/room/data >out; umount $PWD/room'"
	run -0 as_user timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(wc -l <work/out)" = 10 ]
	[ ! -e "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
}

@test "the mount namespace of a process that has another view" {
	need nsenter
	echo old >work/data
	# shellcheck disable=SC2016
	unshare --user --map-root-user --mount sleep 60 3>&- &
	script 'seq 10 >data; mkdir d' "nsenter --user --mount --preserve-credentials --target $! cat $PWD/work/data >out || true"
	run timeout 60 leat run flow.yaml
	kill $!
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"step use failed: nsenter: "*"mount namespace"* ]]
}

@test "an engine by a name that nobody knows: its calls are refused by name, and a mount helps" {
	need bwrap
	chmod 777 . work
	cp "$(type -P bwrap)" sandbox
	# shellcheck disable=SC2016
	script 'seq 10 >data; mkdir d' '../sandbox --bind "$ROOT" / --bind . /w --chdir /w bash -c "wc -l <data >out" || true; : >>out'
	for who in "" as_user; do
		[ -z "$who" ] || export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
		run $who timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" -ne 0 ]
		[[ $output == *"step use failed: sandbox: "*"LEAT_INTERCEPT=mount"* ]]
		sed 's|^../sandbox|env LEAT_INTERCEPT=mount ../sandbox|' use.sh >use.mounted
		cp use.sh use.bare && cp use.mounted use.sh
		run -0 $who timeout 60 leat run flow.yaml
		[ "$(cat work/out)" = 10 ]
		rm work/out
		cp use.bare use.sh
	done
	[ ! -e "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
}

@test "an ordinary user's namespaces" {
	chmod 777 . work
	export LEAT_RUNTIME_DIR=/tmp/leat-test-$$
	# shellcheck disable=SC2016
	script 'seq 10 >data; mkdir d' 'unshare --user --map-root-user --mount bash -c "mkdir -p /tmp/leat-$$; mount --bind . /tmp/leat-$$ && wc -l </tmp/leat-$$/data >out; umount /tmp/leat-$$; rmdir /tmp/leat-$$"'
	run -0 as_user timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = 10 ]
	[ ! -e "$LEAT_RUNTIME_DIR" ] || rmdir "$LEAT_RUNTIME_DIR"
}
