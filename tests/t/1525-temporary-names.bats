#!/usr/bin/env bats
# Names that do not last, in directories whose names a consumer is given before their producer has
# ended: what nobody has been shown yet never was, and all else is a violation, on both ways in.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

COUNTED='{dirname: d, committed: "n_files:3"}'
STREAMED='{dirname: d, committed: on_close, mode: no_update}'
ADVICE='; let d commit on_termination, or exclude the names that do not last'
RULE='(d: committed: n_files:3, mode: update)'

# run_with WAY OUTPORT [OPTION...]: ./make.sh and ./use.sh, behind a mount or not, in ./work.
run_with() {
	local prefix='' rule="$2"
	[ "$1" = intercepted ] || prefix='env LEAT_INTERCEPT=mount '
	shift 2
	rm -rf work listed
	mkdir work
	[ ! -d before ] || cp -a before/. work
	cat >flow.yaml <<-END
		name: flow
		dir: work
		exclude: [${EXCLUDE:-}]
		tasks:
		  - func: make
		    exec: ${prefix}bash ../make.sh
		    outports: [$rule]
		  - func: use
		    exec: ${prefix}bash ../use.sh
		    inports: [{dirname: d}]
		    outports: [{filename: out}]
	END
	timeout 60 leat run --log log "$@" flow.yaml >output 2>&1
}

ways() {
	echo intercepted
	if [ -e /dev/fuse ]; then echo mounted; fi
}

# taken_back MESSAGE OUTPORT: what was shown is taken back, which is told once, and replayed.
taken_back() {
	local way status
	for way in $(ways); do
		status=0
		run_with "$way" "$2" || status=$?
		echo "# $way" && cat output
		[ "$status" = 125 ] || return 1
		[ "$(grep -c violation: output)" = 1 ] || return 1
		grep -qxF "leat: violation: $1" output || return 1
		leat replay flow.yaml log || return 1
	done
}

# as_batch OUTPORT: the consumer finds what it finds in a batch.
as_batch() {
	local way
	for way in $(ways); do
		run_with "$way" "$1" || { cat output && return 1; }
		echo "# $way" && cat output
		! grep violation output || return 1
		cp work/out streamed
		leat replay flow.yaml log || return 1
		run_with "$way" "$1" --plain || { cat output && return 1; }
		diff work/out streamed || return 1
	done
}

# The listing is made when the third file is closed, and before it is renamed.
LIST_AT_ONCE='ls d > out; touch ../listed'
TEMPORARY='mkdir d
	for i in 1 2 3; do
		echo $i > d/f$i.tmp
		[ $i -lt 3 ] || until [ -e ../listed ]; do sleep 0.01; done
		mv d/f$i.tmp d/f$i
	done'
# And this one when all is done. The producer lives on: nothing is complete by its end.
LIST_LATE='until [ -e ../made ]; do sleep 0.01; done; rm ../made; ls d > out; cat d/* >> out; touch ../listed'
LIVE_ON='touch ../made; [ -z "$LEAT_DIR" ] || until [ -e ../listed ]; do sleep 0.01; done'

@test "n_files: a temporary name that a listing has shown" {
	built_with fuse
	echo "$LIST_AT_ONCE" >use.sh
	echo "$TEMPORARY" >make.sh
	taken_back "d/f3.tmp was renamed to d/f3 by step make after a consumer had found it in a listing $RULE$ADVICE" "$COUNTED"
	[ "$(xargs <work/out)" = 'f1 f2 f3.tmp' ]
}

@test "n_files: a file that is removed after a listing has shown it" {
	built_with fuse
	echo "$LIST_AT_ONCE" >use.sh
	cat >make.sh <<-'END'
		mkdir d
		for i in lock f1 f2; do echo $i > d/$i; done
		until [ -e ../listed ]; do sleep 0.01; done
		rm d/lock
	END
	taken_back "d/lock was removed by step make after a consumer had found it in a listing $RULE$ADVICE" "$COUNTED"
}

@test "n_files: a file below, which no listing has shown, when its number was gone by" {
	built_with fuse
	echo "$LIST_AT_ONCE" >use.sh
	cat >make.sh <<-'END'
		mkdir -p d/e
		for i in e/lock f1 f2; do echo $i > d/$i; done
		until [ -e ../listed ]; do sleep 0.01; done
		rm d/e/lock
	END
	taken_back "d was left with 2 of the 3 files that complete it by step make after its commit (committed: n_files:3, mode: update); let it commit later, by the true number of closes or files or on_termination" "$COUNTED"
}

@test "n_files: directories in it are there when it is complete, with files or without" {
	built_with fuse
	echo 'find d | sort >out; touch ../listed' >use.sh
	cat >make.sh <<-'END'
		mkdir -p d/e d/f/g d/h
		for i in e/1 2 3; do echo $i > d/$i; done
		until [ -e ../listed ]; do sleep 0.01; done
	END
	for way in $(ways); do
		rm -f listed
		run_with "$way" "$COUNTED"
		[ "$(xargs <work/out)" = 'd d/2 d/3 d/e d/e/1 d/f d/f/g d/h' ]
	done
}

@test "n_files: what was in the directory before the run is there when it is complete" {
	built_with fuse
	local look
	echo 'for i in 1 2 3; do echo $i > d/$i; done; '"$LIVE_ON" >make.sh
	mkdir -p before/d/e
	echo old | tee before/d/old >before/d/e/old
	touch before/d/.keep
	for look in 'find d | sort >out' 'cat d/* d/e/* >out' 'tar c d | tar t | sort >out' 'ls -A d d/e >out; rm -r d'; do
		echo "$look; touch ../listed" >use.sh
		echo "# $look"
		as_batch "$COUNTED"
	done
}

@test "n_files: a directory that goes or comes, or a file that only moves, after a listing" {
	built_with fuse
	local advice="; let it commit later, by the true number of closes or files or on_termination"
	echo "$LIST_AT_ONCE" >use.sh
	for change in 'rmdir d/h:d/h was removed by step make after a consumer had found it in a listing (d: committed: n_files:2, mode: update)' \
		'mkdir d/n:d was given d/n by step make after its commit (committed: n_files:2, mode: update)' \
		'mv d/e/1 d/1:d was given d/1 by step make after its commit (committed: n_files:2, mode: update)'; do
		cat >make.sh <<-END
			mkdir -p d/e d/h
			for i in e/1 2; do echo \$i > d/\$i; done
			until [ -e ../listed ]; do sleep 0.01; done
			${change%%:*}
		END
		rm -f listed
		taken_back "${change#*:}$([[ $change == rmdir* ]] && echo "$ADVICE" || echo "$advice")" '{dirname: d, committed: "n_files:2"}'
	done
}

@test "n_files: temporary names that nobody was shown do not count" {
	built_with fuse
	echo "$LIST_LATE" >use.sh
	for made in \
		'for i in 1 2 3; do echo $i > d/f$i.tmp; mv d/f$i.tmp d/f$i; done' \
		'for i in 1 2 3; do echo $i > d/.f$i.x8ShWq; mv -n d/.f$i.x8ShWq d/f$i; done' \
		'for i in 1 2 3; do echo $i > ../f$i; mv ../f$i d/f$i; done' \
		'for i in 1 2 3; do echo $i > ../f$i; install -m 640 ../f$i d; done' \
		'for i in 1 2 3; do echo $i > ../f$i; done; tar -C .. -cf - f1 f2 f3 | tar -C d -xf -' \
		'echo > d/.lock; echo 1 > d/f1; echo 2 > d/f2; rm d/.lock; echo 3 > d/f3' \
		'echo > d/.nfs1; echo 1 > d/f1; echo 2 > d/f2; mv d/.nfs1 ..; echo 3 > d/f3' \
		'mkdir t; for i in 1 2 3; do echo $i > t/f$i; done; rmdir d; mv t d'; do
		one_in 3 || continue
		printf 'mkdir d\n%s\n%s\n' "$made" "$LIVE_ON" >make.sh
		rm -f .nfs1
		as_batch "$COUNTED"
		[ "$(xargs <work/out)" = 'f1 f2 f3 1 2 3' ]
	done
}

@test "n_files: Python's temporary files and os.replace" {
	need python3
	built_with fuse
	echo "$LIST_LATE" >use.sh
	cat >make.py <<-'END'
		import os, tempfile
		os.mkdir("d")
		for i in "123":
		    with tempfile.NamedTemporaryFile("w", dir="d", delete=False) as f:
		        f.write(i + "\n")
		    os.replace(f.name, "d/f" + i)
	END
	printf 'python3 -P ../make.py\n%s\n' "$LIVE_ON" >make.sh
	as_batch "$COUNTED"
	[ "$(xargs <work/out)" = 'f1 f2 f3 1 2 3' ]
}

@test "a listing that goes on: a name that it has given is renamed" {
	built_with fuse
	# It has given the first name when there is something in the directory's buffer: read by find.
	cat >use.sh <<-'END'
		find d -type f | while read -r name; do touch ../listed; echo "$name"; done > out
	END
	cat >make.sh <<-'END'
		mkdir d
		echo 1 > d/f1.tmp
		for i in $(seq 300); do [ -e ../listed ] || sleep 0.01; done
		mv d/f1.tmp d/f1
	END
	taken_back 'd/f1.tmp was renamed to d/f1 by step make after a consumer had found it in a listing (d: committed: on_termination, mode: no_update); give d mode: update, or exclude the names that do not last' "$STREAMED"
}

@test "a listing that goes on: a name that it has not given is renamed, or removed" {
	built_with fuse
	echo "$LIST_LATE" >use.sh
	cat >make.sh <<-END
		mkdir d
		for i in 1 2 3; do echo \$i > d/f\$i.tmp; mv d/f\$i.tmp d/f\$i; done
		echo > d/lock
		rm d/lock
		touch ../made
	END
	as_batch "$STREAMED"
	[ "$(xargs <work/out)" = 'f1 f2 f3 1 2 3' ]
}

@test "temporary names that are excluded, or whose directory is complete at the end" {
	built_with fuse
	echo 'ls d > out; cat d/* >> out' >use.sh
	cat >make.sh <<-'END'
		mkdir d
		for i in 1 2 3; do echo $i > d/f$i.tmp; sleep 0.05; mv d/f$i.tmp d/f$i; done
		sleep 0.2
	END
	EXCLUDE='"*.tmp"' as_batch "$COUNTED"
	[ "$(xargs <work/out)" = 'f1 f2 f3 1 2 3' ]
	as_batch '{dirname: d}'
	as_batch '{dirname: d, committed: on_close}'
}

@test "with --on-violation warn the run goes on" {
	echo "$LIST_AT_ONCE" >use.sh
	echo "$TEMPORARY" >make.sh
	run_with intercepted "$COUNTED" --on-violation warn
	cat output
	[ "$(grep -c '^leat: warning: violation: d/f3.tmp was renamed to d/f3 by step make' output)" = 1 ]
}
