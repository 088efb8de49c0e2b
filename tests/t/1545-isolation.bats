#!/usr/bin/env bats
# Who can reach what of a run: a step of other steps, users of the machine of each other.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup() {
	PATH=$LEAT_BUILD/tests/hooks:$PATH
	# bats' own directory is shut for others.
	open=$(mktemp -d "${TMPDIR:-/tmp}/leat-isolation.XXXXXX")
	chmod 1777 "$open"
	cd "$open" || return 1
	mkdir -m 777 work
	export LEAT_RUNTIME_DIR=$open/runtime
}

teardown() {
	end_server
	nothing_left_and_removed "$open"
}

# trivial: a workflow t.yaml of one step that does nothing.
trivial() {
	printf 'name: t\ndir: work\ntasks:\n  - {func: t, exec: "true"}\n' >t.yaml
}

# sealable: skip where a kernel, or this user, cannot.
sealable() {
	trivial
	run leat run --sealed t.yaml
	[ "$status" = 0 ] || skip "$(tail -n1 <<<"$output")"
}

# as UID COMMAND...: run it as that user, with nothing of this one.
as() {
	setpriv --reuid="$1" --regid="$1" --clear-groups --inh-caps=-all "${@:2}"
}

# with_fuse COMMAND...: run it as an ordinary user who may open /dev/fuse.
with_fuse() {
	unshare -m bash -c 'mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse && rm fuse &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"' bash "$@"
}

# heist: a workflow whose step `thief` tries to read what is the step `owner`'s, in memory, and a file nobody declares, on disk.
heist() {
	rm -rf go work/*
	echo secret >work/ondisk
	cat >flow.yaml <<-END
		name: heist
		dir: work
		tasks:
		  - func: owner
		    exec: bash -c 'echo mine >inmemory; touch ../there; until [ -e ../go ]; do sleep 0.05; done'
		    outports: [{filename: inmemory, committed: on_close}]
		  - func: thief
		    exec: env BREAKOUT_RUNTIME=$LEAT_RUNTIME_DIR bash -c 'until [ -e ../there ]; do sleep 0.05; done; for f in ondisk inmemory; do breakout \$PWD \$f; done; touch ../go'
		    outports: [{filename: "unused*"}]
	END
}

# secretive: a workflow whose step has a secret in memory, until there is a file `go`.
secretive() {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: a
		    exec: bash -c 'echo secret >inmemory; touch ../there; until [ -e ../go ]; do sleep 0.05; done'
		    outports: [{filename: inmemory, committed: on_close}]
	END
}

# alone COMMAND...: with no other processes on the machine than its own, if this user can have that. By others, who may
# have other mounts, leat would see the thief enter these (t/1580-attaching.bats).
alone() {
	local how=(unshare --pid --fork --kill-child --mount-proc)
	"${how[@]}" true 2>/dev/null || how=()
	"${how[@]}" "$@"
}

# ways WHICH: of the ways that thief tried, those that ended so.
ways() {
	sed -n "s/^\[thief\] \([a-z_]*\) $1\$/\1/p" <<<"$output" | sort -u | tr '\n' ' '
}

@test "without --enforce a step can reach the other's files, in many ways" {
	heist
	run -0 alone timeout 60 leat run flow.yaml
	[[ $(ways got) == *"as_another_step"*"by_path"*"by_their_descriptors"* ]]
}

@test "--enforce: not by its calls, not as another, not by other processes" {
	heist
	run timeout 60 leat run --enforce flow.yaml
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"of step thief calls itself step owner, and was refused (--enforce)"* ]]
	[[ $output == *"calls itself step owner, but was not started as such, and was refused (--enforce)"* ]]
	[[ $output == *"step thief may not read ondisk: "*"step thief may not read inmemory: "* ]]
	if [[ $output == *"the kernel did not keep the steps out"* ]]; then
		[[ $(ways got) != *by_path* && $(ways got) != *as_* ]]
		skip "Landlock of this kernel has no scopes: other processes are not shut off"
	fi
	[ -z "$(ways got)" ]
	[ "$(ways refused | wc -w)" = 14 ]
}

@test "--sealed: by no way at all" {
	sealable
	heist
	run timeout 60 leat run --sealed flow.yaml
	echo "$output"
	[ "$status" = 125 ]
	[ -z "$(ways got)" ]
	[ "$(ways refused | wc -w)" = 14 ]
	[[ $output == *"of step thief asked for more than its mount, and was refused (--sealed)"* ]]
	[[ $output == *"enforced by the kernel, for every call"* ]]
}

@test "--sealed and --enforce: the same for an ordinary user's run" {
	[ "$(id -u)" = 0 ] || skip "this is one"
	chmod 777 .
	LEAT_RUNTIME_DIR=$open/runtime-nobody
	for how in --enforce --sealed; do
		heist
		chmod -R a+rwX work
		run with_fuse timeout 60 leat run $how flow.yaml
		echo "$output"
		[[ $output != *"--sealed puts each step behind a mount, and"* ]] || skip "${lines[0]}"
		[[ $output != *"--sealed needs a kernel"* ]] || skip "${lines[0]}"
		[ "$status" = 125 ]
		rm -rf work/* there
		[[ $output == *"the kernel did not keep"* ]] || [ -z "$(ways got)" ]
	done
}

@test "--sealed under leat serve: a step's process is nobody's when its parents are gone" {
	sealable
	echo secret >work/ondisk
	cat >flow.json <<-'END'
		{"name": "flow", "IO_Graph": [
		 {"name": "owner", "input_stream": [], "output_stream": ["inmemory"]},
		 {"name": "thief", "input_stream": [], "output_stream": ["unused"]}]}
	END
	serve --sealed --dir work flow.json
	run -0 leat exec --dir work --app owner -- bash -c 'echo mine >work/inmemory'
	for file in ondisk inmemory; do
		# One of the ways is to take the mount away.
		run -125 leat exec --dir work --app thief -- env "BREAKOUT_RUNTIME=$LEAT_RUNTIME_DIR" breakout "$open/work" $file
		echo "$output"
		[[ $output == *"step thief failed, though its command ended with status 0: breakout: leat's mount over the workflow's directory would be taken away"* ]]
		[ "$(grep -c refused <<<"$output")" = 14 ]
		run ! grep got <<<"$output"
	done
	run -0 leat status --dir work
	kill -INT "$server"
	wait "$server" || true
	cat served served.err
	grep -q 'enforced by the kernel' served served.err
}

@test "--sealed: streams and results are those of --plain" {
	sealable
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: make, exec: bash -c 'seq 200000 -1 1 > numbers', outports: [{filename: numbers, mode: no_update}]}
		  - {func: sort, exec: sort -n -o sorted numbers, inports: [{filename: numbers}], outports: [{filename: "sort*"}, {filename: sorted}]}
		  - {func: count, exec: bash -c 'wc -l < sorted > lines; md5sum < sorted > sum', inports: [{filename: sorted}], outports: [{filename: lines}, {filename: sum}]}
	END
	run -0 leat run --plain flow.yaml
	mv work plain
	mkdir work
	run -0 timeout 60 leat run --sealed flow.yaml
	echo "$output"
	diff <(cat plain/lines plain/sum) <(cat work/lines work/sum)
	[[ $output != *"may not"* ]]
}

@test "--sealed is refused where there are no mounts, and named" {
	[ "$(id -u)" = 0 ] || skip "only root can take the device away"
	trivial
	run -126 no_mount leat run --sealed t.yaml
	[[ $output == *"step t: --sealed puts each step behind a mount, and "* ]]
}

@test "another mount of the directory, by which it can be reached past leat, is named" {
	[ "$(id -u)" = 0 ] || skip "only root can mount"
	trivial
	mkdir "other place" part work/sub hidden work/inner
	run -0 leat run --enforce t.yaml
	[[ $output != *"second time"* ]]
	# shellcheck disable=SC2016
	run -0 unshare -m --propagation private sh -c 'mount --bind . "other place" && mount --bind work/sub part &&
		mount --bind work/sub work/inner && mount --bind work hidden &&
		mount -t tmpfs none hidden && exec leat run --enforce t.yaml'
	echo "$output"
	[[ $output == *"$open/work is mounted a second time, at $open/other place/work: what goes there by that name is not held to what it declares"* ]]
	[[ $output == *"$open/work is mounted a second time, at $open/part: "* ]]
	[ "$(grep -c 'second time' <<<"$output")" = 2 ]
	run -0 leat run t.yaml
	[[ $output != *"second time"* ]]
	run -0 unshare -m --propagation private sh -c 'mount --bind . "other place" && exec leat run t.yaml'
	echo "$output"
	[[ $output == *"$open/work is mounted a second time, at $open/other place/work: what goes there by that name is not seen, and does not find what is in memory; use the first name"* ]]
}

# ---- other users ----

@test "another user cannot reach the session, the memory, or the descriptors of a run" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	chmod 777 .
	mkdir -m 777 shared
	secretive
	chown 65534 work
	chmod 700 work # what is permanent has modes of its own
	LEAT_RUNTIME_DIR=$open/shared as 65534 timeout 60 leat run flow.yaml >log 2>&1 3>&- &
	soon [ -e there ]
	session=$(find shared -mindepth 1 -maxdepth 1)
	[ "$(stat -c %a:%u "$session")" = 700:65534 ]
	[ "$(stat -c %a "$session/socket")" = 600 ]
	daemon=$(pgrep -u 65534 -x leat-daemon | while read -r pid; do
		! grep -qsF "$open/shared" "/proc/$pid/environ" || echo "$pid"
	done)
	[ -n "$daemon" ]
	run -2 as 65533 ls "$session"
	run -2 as 65533 ls "/proc/$daemon/fd" "/proc/$daemon/root/"
	run ! as 65533 cat "/proc/$daemon/environ" "/proc/$daemon/maps"
	# Not by a name, and not by those of whoever can look it up.
	run as 65533 env LEAT_RUNTIME_DIR="$open/shared" leat status --dir work
	[ "$status" != 0 ]
	run as 65533 env BREAKOUT_RUNTIME="$open/shared" breakout "$open/work" inmemory
	echo "$output"
	[[ $output == *"breakout: no daemon"* ]]
	run ! grep got <<<"$output"
	touch go
	wait $!
	[ "$(cat work/inmemory)" = secret ]
	rmdir shared
}

@test "a private store in /dev/shm is shut for others" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	chmod 777 .
	secretive
	# In a namespace of its own, where none for mounts may be made.
	alone='echo 0 >/proc/sys/user/max_mnt_namespaces && exec "$@"'
	as 65534 unshare -r sh -c "$alone" sh true 2>/dev/null || skip "no user namespaces here"
	as 65534 unshare -r sh -c "$alone" sh timeout 60 leat run flow.yaml >log 2>&1 3>&- &
	soon [ -e there ]
	cat log
	store=$(find /dev/shm -maxdepth 1 -name 'leat-*' -user 65534 -newer flow.yaml)
	[ -n "$store" ]
	modes=$(stat -c %a "$store")
	run -2 as 65533 ls "$store"
	touch go
	wait $!
	[ "$modes" = 700 ]
}

@test "a daemon of another user in one's place is not believed" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	need perl
	chmod 777 .
	mkdir -m 777 shared
	# What would be there if others had renamed the session's directory.
	name=$(as 65534 env LEAT_RUNTIME_DIR="$open/shared" bash -c '
		leat serve --dir work /dev/stdin <<<"{\"name\": \"t\", \"IO_Graph\": [{\"name\": \"a\", \"input_stream\": [], \"output_stream\": [\"x\"]}]}" >/dev/null 2>&1 3>&- &
		for _ in {1..100}; do ls shared | grep . && break; sleep 0.05; done; sleep 0.2; kill -INT $!; wait $!')
	[ -n "$name" ]
	# Not by `as`: what is killed is to be perl itself.
	setpriv --reuid=65533 --regid=65533 --clear-groups perl -e '
		use Socket;
		my ($dir) = @ARGV;
		mkdir $dir or die;
		my $s;
		socket($s, PF_UNIX, SOCK_SEQPACKET, 0) && bind($s, pack_sockaddr_un("$dir/socket")) && listen($s, 8) or die;
		chmod 0777, $dir, "$dir/socket";
		open(my $there, ">", "listening");
		while (accept(my $c, $s)) {
			recv($c, my $said, 65536, 0);
			open(my $heard, ">>", "heard");
			print $heard $said;
		}' "shared/$name" 3>&- &
	thief=$!
	soon [ -e listening ]
	run as 65534 env LEAT_RUNTIME_DIR="$open/shared" leat status --dir work
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"is answered by a process of another user, and not to be trusted"* ]]
	run as 65534 env LEAT_RUNTIME_DIR="$open/shared" LEAT_DIR="$open/work" LEAT_APP_NAME=a LD_PRELOAD="$LEAT_BUILD/src/preload/libleat.so" cat work/x
	echo "$output"
	[[ $output == *"belongs to another user"* ]]
	kill $thief
	wait $thief || true
	[ ! -s heard ]
	rm -rf shared
}

@test "session directories that are not one's own, or open to others, are refused" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	trivial

	base=/tmp/leat-64321
	[ ! -e $base ] || skip "$base is in use"
	mkdir -m 755 target
	touch target/lock

	mkdir -m 700 $base # root's
	run -125 as 64321 env -u LEAT_RUNTIME_DIR leat run t.yaml
	rmdir $base 2>/dev/null || true # it removes an empty one of its user
	[[ $output == *"$base must be a directory of yours with mode 0700"* ]]

	as 64321 mkdir -m 755 $base
	run -125 as 64321 env -u LEAT_RUNTIME_DIR leat run t.yaml
	rmdir $base 2>/dev/null || true # it removes an empty one of its user
	[[ $output == *"$base must be a directory of yours with mode 0700"* ]]

	as 64321 mkdir -m 700 own
	ln -s "$open/own" $base
	run -125 as 64321 env -u LEAT_RUNTIME_DIR leat run t.yaml
	rm $base
	[[ $output == *"$base must be a directory of yours with mode 0700"* ]]
	[ -z "$(ls own)" ]

	run -0 as 64321 env -u LEAT_RUNTIME_DIR leat run t.yaml
	[ ! -e $base ]
	LEAT_RUNTIME_DIR=$open/runtime
}

@test "in a shared runtime directory others' sessions stay, and symlinks are not followed" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	trivial
	mkdir -m 1777 shared
	export LEAT_RUNTIME_DIR=$open/shared
	# A stale one of another user, one of the right name, and one that is a link to a directory of ours.
	as 65533 mkdir -m 700 shared/0123456789abcdef
	as 65533 touch shared/0123456789abcdef/lock
	as 65534 mkdir -m 700 mine
	as 65534 touch mine/lock
	as 65533 ln -s "$open/mine" shared/fedcba9876543210
	# A stale one of ours goes.
	as 65534 mkdir -m 700 shared/00000000deadbeef
	as 65534 touch shared/00000000deadbeef/lock
	run -0 as 65534 leat run t.yaml
	[ -e shared/0123456789abcdef/lock ]
	[ -e mine/lock ]
	[ -L shared/fedcba9876543210 ]
	[ ! -e shared/00000000deadbeef ]

	# The name of the session itself, taken by another.
	setpriv --reuid=65534 --regid=65534 --clear-groups leat serve --dir work t.yaml >/dev/null 2>&1 3>&- &
	for _ in {1..100}; do name=$(find shared -name socket) && [ -n "$name" ] && break || sleep 0.05; done
	kill -INT $!
	wait $! || true
	as 65533 mkdir -m 777 "${name%/socket}"
	run -125 as 65534 leat run t.yaml
	[[ $output == *"must be a directory of yours with mode 0700"* ]]
	rm -rf shared mine
	LEAT_RUNTIME_DIR=$open/runtime
}

@test "where others may rename what is in the runtime directory, nothing stale is removed" {
	trivial
	mkdir -m 777 loose
	mkdir -m 700 loose/00000000deadbeef
	touch loose/00000000deadbeef/lock
	chmod 777 loose
	LEAT_RUNTIME_DIR=$open/loose run -0 leat run t.yaml
	[ -e loose/00000000deadbeef/lock ]
	chmod 755 loose
	LEAT_RUNTIME_DIR=$open/loose run -0 leat run t.yaml
	[ ! -e loose/00000000deadbeef ]
	rmdir loose
}

# ---- whose files they are ----

@test "files have the caller's umask, owner, group and mode, with and without --enforce" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: a
		    exec: bash -c 'for u in 000 022 027 077; do (umask $u; echo >file$u; mkdir -p d$u; echo >d$u/x; touch d$u/y; chmod 6751 d$u/y); done; [ $(id -u) != 0 ] || chown 65534:65533 file022; mkdir g; chmod 2770 g; [ $(id -u) != 0 ] || chgrp 65533 g; echo >g/x; find file* d* g -printf "%p %M %U:%G\\n" | sort >list; cp -p d077/y copy'
		    outports: [{filename: "file*"}, {filename: "d*/*"}, {filename: "g/*"}, {filename: copy}, {filename: list}]
	END
	tree() { (cd work && find . -mindepth 1 ! -name list -printf '%p %y %m %U:%G\n' | sort && cat list); }
	run -0 leat run --plain flow.yaml
	tree >plain
	for how in '' --enforce --sealed; do
		rm -rf work/*
		run leat run $how flow.yaml
		echo "$output"
		[[ $output != *"--sealed puts each step behind a mount"* && $output != *"--sealed needs"* ]] || continue
		[ "$status" = 0 ]
		[[ $output != *"may not"* ]]
		diff plain <(tree)
	done
}
