#!/usr/bin/env bats
# Files that get several names in the run, hard links: what is changed by one of them is read by another. Never
# another result than the batch's in silence, and no error where nobody can notice.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# begin, T NAME SCRIPT IN OUT [OPTIONS]: a workflow, and a step of it; the names are separated by commas.
begin() {
	printf '%s\n' 'name: w' 'dir: work' "permanent: ['*']" 'tasks:' >w.yaml
}

T() {
	echo "$2" >"$1.sh"
	cat >>w.yaml <<-END
		  - func: $1
		    exec: ${MOUNT:+env LEAT_INTERCEPT=mount }bash ../$1.sh
		    inports: [$(ports "$3" '')]
		    outports: [$(ports "$4" "${5:-}")]
	END
}

ports() {
	local name
	for name in ${1//,/ }; do
		printf '{filename: %s%s},' "$name" "$2"
	done
}

# in_empty COMMAND...: run it in an empty directory; what is there then goes to `tree`.
in_empty() {
	local status=0
	rm -rf work
	mkdir work
	timeout 60 "$@" || status=$?
	(cd work && grep -r . . | sort) >tree
	return $status
}

# same: with the library and behind a mount the run ends as the batch does, without a word.
same() {
	in_empty leat run --plain --quiet w.yaml
	mv tree batch
	run --separate-stderr in_empty leat run --quiet w.yaml
	echo "$stderr"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	diff batch tree
}

# told PATTERN: it says so, once, and fails.
told() {
	run --separate-stderr in_empty leat run --quiet w.yaml
	echo "$stderr"
	[ "$status" = 125 ]
	grep -Eq "^leat: violation: $1, which .*; declare [^ ]* as an output of [a-d], too, or let each be a file of its own \(a copy instead of the hard link\)\$" <<<"$stderr"
	[ "$(grep -c 'violation: ' <<<"$stderr")" = 1 ]
}

# each_way FUNCTION ARGUMENT...: with the library, and behind a mount.
each_way() {
	local MOUNT
	for MOUNT in "" yes; do
		echo "behind a mount: ${MOUNT:-no}"
		"$@"
	done
}

# Who comes after the step that changes it reads it after that.
appended() {
	begin
	T a 'seq 5 >x; ln x x2' '' x,x2
	T b 'sleep 0.3; echo k >>x2; cat x2 >y' x2 x2,y
	T c 'cat x >z; cat y >>z' x,y z
	same
}

@test "appended to by one name, read by another by a later step" {
	each_way appended
}

by_close() {
	begin
	T a 'seq 5 >x; ln x x2' '' x,x2
	T b 'cat x2 >y; sleep 0.3; echo k >>x2' x2 x2,y ', committed: on_close'
	T c 'cat y x >z' x,y z
	same
}

@test "the same, when the later step goes on from a file that is complete before" {
	each_way by_close
}

linked_later() {
	begin
	T a 'seq 5 >x' '' x
	T b 'until [ -e ../read ]; do sleep 0.05; done; ln x x2; echo k >>x2; cat x2 >y' x x2,y
	T c 'cat x >z; touch ../read; cat y >>z' x,y z
	rm -f read
	told 'x was read by step c and then (appended to|written) as x2, another name of the same file, by step b'
	# Who has not read before the link is there waits.
	begin
	T a 'seq 5 >x' '' x
	T b 'ln x x2; touch ../read; sleep 0.3; echo k >>x2; cat x2 >y' x x2,y
	T c 'until [ -e ../read ]; do sleep 0.05; done; cat x >z; cat y >>z' x,y z
	touch read
	in_empty leat run --plain --quiet w.yaml
	mv tree batch
	rm read
	run --separate-stderr in_empty leat run --quiet w.yaml
	echo "$stderr"
	[ "$status" = 0 ]
	diff batch tree
}

@test "the link is made by the step that changes the file" {
	each_way linked_later
}

no_order() {
	local also='( as x2?, another name of the same file,)?'
	begin
	T a 'seq 5 >x; ln x x2' '' x,x2
	T b 'echo k >>x2; cat x2 >y' x2 x2,y
	T c 'cat x >z; echo c >>x' x x,z
	T d 'cat x x2 z y >w' x,x2,y,z w
	told "x2? was (read|written)$also by step [bc] and then (read|written|appended to)$also by step [bc]"
	begin
	T a 'seq 5 >x; cp -al x x2; touch t' '' x,x2,t
	T b 'until [ -e ../read ]; do sleep 0.05; done; sort -r -o x2 x2; echo end >>x2' x2,t x2
	T c 'wc -l <x >z; md5sum <x >>z; touch ../read' x z
	rm -f read
	told "x was (read|written|truncated)$also by step [bc] and then (read|written|truncated)$also by step [bc]"
}

@test "without an order: named, whichever comes first" {
	each_way no_order
}

unseen() {
	begin
	T a 'seq 5 >x; ln x x2' '' x,x2
	T b 'cat x2; : >x2' x2 x2
	T c 'cat x2 >z' x2 z
	same
	begin
	T a 'seq 5 >x' '' x
	T b 'cat x; ln x x2; echo k >>x2' '' x2
	T c 'cat x2 >z' x2 z
	same
	# As the remedy has it.
	begin
	T a 'seq 5 >x; cp -al x x2; touch t' '' x,x2,t
	T b 'sort -r -o x2 x2; echo end >>x2' x2,t x,x2
	T c 'wc -l <x >z; md5sum <x >>z' x z
	same
}

@test "no error where nobody can notice, or all is declared" {
	each_way unseen
}

earlier() {
	begin
	T a 'seq 5 >x; ln x x2' '' x,x2
	T b 'exec 3<x; echo >s; sleep 0.4; cat <&3 >z' x z,s ', committed: on_close'
	T c 'cat s >y; echo k >>x2' x2,s x2,y
	same
}

@test "a step that reads it by the one name ends before it is changed by the other" {
	each_way earlier
}

undeclared() {
	begin
	T a 'seq 5 >t; ln t x' '' x
	T b 'cat x >y; sleep 0.3; echo k >>x' x x,y ', committed: on_close'
	T c 'cat y t >z' y z
	sed -i "s/^permanent: .*/permanent: [x, y, z]/" w.yaml
	run --separate-stderr in_empty leat run --quiet w.yaml
	echo "$stderr"
	[ "$status" = 0 ]
	[ "$(cat work/z)" = "$(seq 5 && seq 5 && echo k)" ]
}

@test "a name that nobody declares" {
	each_way undeclared
}

awaited() {
	begin
	T a 'sleep 0.3; seq 5 >x' '' x
	T b 'ln x y && echo linked >o || echo failed >o' x y,o
	T c 'cat y o >z' y,o z
	same
}

@test "an input is given another name before it is there" {
	each_way awaited
}
