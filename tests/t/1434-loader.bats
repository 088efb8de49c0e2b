#!/usr/bin/env bats
# Libraries made by a step that the dynamic loader opens before libleat is in place.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	command -v gcc >/dev/null || return 0
	gcc -shared -fPIC -o "$BATS_FILE_TMPDIR/one.so" -xc - <<<'int getuid(void) { return 4242; } int geteuid(void) { return 4242; }'
	gcc -shared -fPIC -o "$BATS_FILE_TMPDIR/other.so" -xc - <<<'int getuid(void) { return 99; } int geteuid(void) { return 99; }'
	gcc -shared -fPIC -o "$BATS_FILE_TMPDIR/audit.so" -xc - <<-'END'
		#include <unistd.h>
		unsigned la_version(unsigned v) { return write(1, "audited\n", 8) == 8 ? v : 0; }
	END
}

setup() {
	built_with fuse
	need gcc
	in_work
	export MADE=$BATS_FILE_TMPDIR
	same ': >h.so' 'LEAT_INTERCEPT=mount true >o' || skip "no mount is possible here: no /dev/fuse, or no namespaces"
}

# same PRODUCER CONSUMER: `o` is what a batch makes.
same() {
	echo "$1" >produce
	echo "$2" >consume
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, outports: [{filename: h.so}], exec: bash -eu ../produce}
		  - {func: b, inports: [{filename: h.so}], outports: [{filename: o}], exec: bash -eu ../consume}
	END
	fresh
	timeout 60 leat run --plain -q flow.yaml || return 1
	mv work/o batch
	fresh
	timeout 60 leat run -q flow.yaml 2>errors || return 1
	[ ! -s errors ] || { cat errors; return 1; }
	diff batch work/o
}

fresh() {
	rm -rf work
	mkdir work
	[ -z "${before:-}" ] || cp "$before" work/h.so
}

@test "LD_PRELOAD of a library that an earlier step makes" {
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=$PWD/h.so id -u >o'
	[ "$(cat batch)" = 4242 ]
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=./h.so id -u >o; id -u >>o'
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'mkdir d; cd d; LD_PRELOAD="../h.so:" bash -c "id -u; /usr/bin/env id -u" >../o'
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'export LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD }$PWD/h.so; id -u >o'
}

@test "of one that is still awaited, or that the same step has made" {
	# shellcheck disable=SC2016
	same 'sleep 0.4; cp "$MADE/one.so" h.so' 'LD_PRELOAD=$PWD/h.so id -u >o'
	[ "$(cat batch)" = 4242 ]
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'cp h.so own.so; LD_PRELOAD=$PWD/own.so id -u >o'
	[ "$(cat batch)" = 4242 ]
}

@test "of one that replaces an older one on the disk" {
	before=$MADE/other.so
	# shellcheck disable=SC2016
	same 'rm h.so; cp "$MADE/one.so" h.so' 'LD_PRELOAD=$PWD/h.so id -u >o'
	[ "$(cat batch)" = 4242 ]
}

@test "the environment behind the mount is the program's own" {
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'env -u LD_LIBRARY_PATH LD_PRELOAD="$PWD/h.so" env | grep ^LD_ | sed "s|$PWD||" >o'
	[ "$(cat batch)" = LD_PRELOAD=/h.so ]
}

@test "a program that is started without LD_PRELOAD has none of the libraries" {
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=$MADE/one.so bash -c "id -u; env -u LD_PRELOAD id -u; unset LD_PRELOAD; id -u; LD_PRELOAD= id -u" >o'
	[ "$(cat batch)" = "$(printf '%s\n' 4242 "$(id -u)" "$(id -u)" "$(id -u)")" ]
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=$MADE/one.so env -i /usr/bin/id -u >o'
}

@test "LD_AUDIT of a library that an earlier step makes" {
	# shellcheck disable=SC2016
	same 'cp "$MADE/audit.so" h.so' 'LD_AUDIT=$PWD/h.so /bin/true >o'
	[ "$(cat batch)" = audited ]
}

@test "a library that is on the disk only needs no mount" {
	cp "$MADE/one.so" one.so
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=$MADE/one.so bash -c "id -u; ! grep -q fuse.leat /proc/self/mounts" >o'
	[ "$(cat batch)" = 4242 ]
}

@test "a machine without a mount: refused by name" {
	# shellcheck disable=SC2016
	same 'cp "$MADE/one.so" h.so' 'LD_PRELOAD=./h.so id -u >o'
	fresh
	run -126 no_mount timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"id: the dynamic loader is to load ./h.so before libleat"*"staged: true"* ]]
}

# What leat itself is started with: as `same`, with the variables in $with. What the second step's
# programs say is in `said`.
same_with() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, outports: [{filename: h.so}], exec: bash -eu ../produce}
		  - {func: b, inports: [{filename: h.so}], outports: [{filename: o}], exec: bash -eu ../consume}
	END
	echo "rm -f h.so; cp $1 h.so" >produce
	echo "$2" >consume
	fresh
	env "${with[@]}" timeout 60 leat run --plain flow.yaml 2>&1 | { grep '^\[b\]' || true; } >said.batch
	mv work/o batch
	fresh
	env "${with[@]}" timeout 60 leat run flow.yaml 2>&1 | { grep '^\[b\]' || true; } >said
	diff batch work/o
	diff said.batch said
}

@test "LD_PRELOAD and LD_AUDIT of leat itself" {
	gcc -shared -fPIC -o id.so -xc - <<<'long gethostid(void) { return 0x4242; }'
	gcc -shared -fPIC -o old.so -xc - <<<'long gethostid(void) { return 0x99; }'
	# A leat that is built so comes after the library.
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
	local ask='hostid >o; env -u LD_PRELOAD hostid >>o; cat /proc/$$/comm >>o; env | grep -E "LEAT_(PUT|BEGUN)" >>o || true'
	with=(LD_PRELOAD="$PWD/work/h.so")
	same_with "$PWD/id.so" "$ask"
	grep 4242 batch
	mv old.so h.so
	before=$PWD/h.so same_with "$PWD/id.so" "$ask"
	with=(LD_PRELOAD="$PWD/id.so")
	same_with "$PWD/id.so" "$ask"
	with=(LD_PRELOAD=h.so LD_LIBRARY_PATH=.)
	before='' same_with "$PWD/id.so" "$ask"
	grep 4242 batch
	with=(LD_AUDIT="$PWD/work/h.so")
	before='' same_with "$MADE/audit.so" "$ask"
	grep audited said
}
