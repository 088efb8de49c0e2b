#!/usr/bin/env bats
# Root's run, one of whose steps is another user who works against it: nothing that this user cannot
# do alone is done for it by leat, on disk or in the store.
bats_require_minimum_version 1.5.0
load helper

setup() {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	PATH=$LEAT_BUILD/tests/hooks:$PATH
	# bats' own directory is shut for others.
	open=$(mktemp -d "${TMPDIR:-/tmp}/leat-rights.XXXXXX")
	chmod 755 "$open"
	export LEAT_RUNTIME_DIR=$open/runtime LEAT_STATE_DIR=$open/state
	mkdir -m 1777 "$LEAT_STATE_DIR"
	cd "$open" || return 1
	mkdir -p work/u secret
	chown 65534:65534 work/u
	chmod 700 secret
	attacker=
}

teardown() {
	if [ -n "$attacker" ]; then kill "$attacker" 2>/dev/null; wait "$attacker" || true; fi
	nothing_left_and_removed "$open"
}

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# A command past leat, as an outsider would give it: these act on the disk alone.
past() {
	env -u LD_PRELOAD -u LEAT_APP_NAME -u LEAT_DIR "$@"
}

# attack SWAP...: in the background, as the other user.
attack() {
	cd work || return 1
	"${as_nobody[@]}" "$LEAT_BUILD/tests/hooks/swap" "$@" 2>../swap.log 3>&- &
	attacker=$!
	cd ..
}

# It was at it all the time.
attacked() {
	cat swap.log
	kill "$attacker"
}

# until_there FILE COMMAND...: when FILE comes to exist, run it.
until_there() {
	local file=$1
	shift
	for _ in $(seq 600); do
		if [ -e "$file" ]; then "$@"; return; fi
		sleep 0.05
	done
	cat log
	return 1
}

# flow: one step that runs `script` as the other user; all it makes below u/ is permanent.
flow() {
	cat >script
	cat >flow.yaml <<-END
		name: rights
		dir: work
		permanent: [u/]
		tasks:
		  - func: user
		    exec: ${as_nobody[*]} bash "$open/script"
		    outports: [{filename: u/}]
	END
	chmod 644 script
}

@test "directories are made where their names lead, not where a symlink leads that came between" {
	flow <<-'END'
		mkdir -p u/d
		for i in $(seq 200); do mkdir u/d/e$i && echo $i >u/d/e$i/x; done
	END
	"${as_nobody[@]}" sh -c "mkdir work/u/d && ln -s '$open/secret' work/u/link"
	attack u/d u/link
	run timeout 100 leat run flow.yaml
	attacked
	[ -z "$(ls secret)" ]
}

@test "a directory that has become a symlink since it was remembered is not gone through" {
	flow <<-END
		mkdir u/d/e1 u/d/e2; exec 3>u/d/e2/x
		echo 1 >u/d/e1/x
		until [ -e "$open/saved" ]; do sleep 0.05; done
		echo 2 >&3; exec 3>&-
	END
	sed -i 's|{filename: u/}|{filename: "u/d/*/x", committed: on_close}|' flow.yaml
	"${as_nobody[@]}" mkdir work/u/d
	timeout 100 leat run flow.yaml >log 2>&1 3>&- &
	run=$!
	until_there work/u/d/e1/x "${as_nobody[@]}" mv work/u/d work/u/d0
	"${as_nobody[@]}" ln -s "$open/secret" work/u/d
	touch saved
	wait "$run" && status=0 || status=$?
	cat log
	[ "$status" != 0 ]
	grep "cannot write $open/work/u/d/e2/x" log
	[ -z "$(ls secret)" ]
	[ "$(cat work/u/d0/e1/x)" = 1 ]
}

@test "files that only root may read do not come into the store for another user" {
	mkdir work/shut work/u/d && chmod 700 work/shut
	for i in $(seq 1500); do
		echo secret >"work/shut/x$i"
		echo mine >"work/u/d/x$i"
	done
	# readable, were it not for the directory
	chmod 666 work/shut/x*
	chown -R 65534:65534 work/u/d
	ln -s ../shut work/u/link
	echo "reach u/d 1500 secret >$open/seen" | flow
	touch seen && chmod 666 seen
	attack u/d u/link
	run timeout 100 leat run flow.yaml
	attacked
	cat seen
	[ "$(cat seen)" = 0 ]
	run ! grep -r secret work/u
	run ! grep -rv secret work/shut
}

# A consumer's removal takes effect when the last consumer has ended: what has the name then may be
# another file.
@test "what a user removed for later goes by that user's rights" {
	mkdir work/u/d
	chown 65534:65534 work/u/d
	echo precious >secret/x
	echo 'echo x >u/d/x' >./make
	echo "cat u/d/x; rm u/d/x; : >$open/removed" >remove
	echo "until [ -e $open/moved ]; do sleep 0.05; done; cat u/d/x" >./read
	cat >flow.yaml <<-END
		name: rights
		dir: work
		tasks:
		  - {func: make, exec: ${as_nobody[*]} sh $open/make, outports: [{filename: u/d/x}]}
		  - {func: remove, exec: ${as_nobody[*]} sh $open/remove, inports: [{filename: u/d/x}]}
		  - {func: read, exec: ${as_nobody[*]} sh $open/read, inports: [{filename: u/d/x}]}
	END
	chmod 777 .
	timeout 100 leat run flow.yaml >log 2>&1 3>&- &
	run=$!
	until_there removed "${as_nobody[@]}" mv work/u/d work/u/d0
	"${as_nobody[@]}" ln -s "$open/secret" work/u/d
	touch moved
	wait "$run" || true
	cat log
	[ "$(cat secret/x)" = precious ]
}

@test "a directory of root's that was put in the place of the user's is not written into" {
	chmod 777 .
	mkdir work/u/d work/u/roots
	chown 65534:65534 work/u/d
	echo precious >work/u/roots/x
	echo precious >work/u/roots/y
	flow <<-END
		echo x >u/d/x
		echo >"$open/made"
		until [ -e "$open/moved" ]; do sleep 0.05; done
		rm -f u/d/y || true
	END
	timeout 100 leat run flow.yaml >log 2>&1 3>&- &
	run=$!
	sleep 0.5
	"${as_nobody[@]}" sh -c 'cd work/u && mv d d0 && mv roots d'
	touch moved
	wait "$run" && status=0 || status=$?
	cat log
	[ "$status" != 0 ]
	grep 'cannot write .*/work/u/d/x: Permission denied (its directory' log
	[ "$(cat work/u/d/x work/u/d/y | sort -u)" = precious ]
}

@test "the record of a run is written nowhere else, and nobody's is believed" {
	echo precious >precious
	chmod 777 work
	cat >flow.yaml <<-END
		name: rights
		dir: work
		permanent: [x]
		tasks: [{func: make, exec: sh -c 'echo x >x', outports: [{filename: x}]}]
	END
	leat run flow.yaml
	place=$(state_of work)
	[ "$(stat -c '%u %a' "$place")" = "0 700" ]
	# One by the name that earlier versions had in the workflow's directory.
	mv "$place/rights.record" work/.leat-record-rights
	"${as_nobody[@]}" sh -c "cp work/.leat-record-rights work/theirs && mv -f work/theirs work/.leat-record-rights"
	run leat run --resume flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"work/.leat-record-rights belongs to another user"* ]]
	rm work/.leat-record-rights
	mkfifo work/.leat-record-rights
	run timeout 20 leat run --resume flow.yaml
	echo "$output"
	[ "$status" != 0 ] && [ "$status" != 124 ]
	rm work/.leat-record-rights
	# The place itself, made by another user beforehand where all may.
	rm -r "$place"
	"${as_nobody[@]}" mkdir "$place"
	"${as_nobody[@]}" ln -s "$open/precious" "$place/rights.record.new"
	run leat run flow.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"warning: cannot keep the record of this run, $place/rights.record: Operation not permitted; "* ]]
	[ "$(cat precious)" = precious ] && [ ! -e "$place/rights.record" ]
}
