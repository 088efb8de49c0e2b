#!/usr/bin/env bats
# Libraries made by a step that the programs of another are linked with.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	command -v gcc >/dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return 1
	library 42 made
	library 7 older
	mkdir system
	cp older/libx.so system
	gcc -shared -fPIC -o liby.so -xc - -xnone -Lmade -lx <<<'int x(void); int y(void) { return x() + 100; }'
	program direct -Lmade -lx
	program origin -Lmade -lx -Wl,-rpath,'$ORIGIN'
	program braces -Lmade -lx -Wl,-rpath,'${ORIGIN}/../lib'
	program old_tags -Lmade -lx -Wl,--disable-new-dtags,-rpath,'$ORIGIN'
	program falls_back -Lmade -lx -Wl,-rpath,"\$ORIGIN:$PWD/system"
	(cd made && program ../by_path ./libx.so)
	gcc -o deep -xc - -xnone -L. -ly -Wl,-rpath-link,made <<<'#include <stdio.h>
		int y(void); int main(void) { return printf("%d\n", y()) < 0; }'
}

library() { # VALUE DIRECTORY
	mkdir "$2"
	gcc -shared -fPIC -o "$2/libx.so" -xc - <<<"int x(void) { return $1; }"
}

program() { # NAME OPTION...
	gcc -o "$1" -xc - -xnone "${@:2}" <<<'#include <stdio.h>
		int x(void); int main(void) { return printf("%d\n", x()) < 0; }'
}

setup() {
	built_with fuse
	need gcc
	in_work
	export MADE=$BATS_FILE_TMPDIR
	same ': >h.so' 'LEAT_INTERCEPT=mount true >o' || skip "no mount is possible here: no /dev/fuse, or no namespaces"
}

# same PRODUCER CONSUMER: `o` is what a batch makes. Output of the producer: $outputs.
same() {
	echo "$1" >produce
	echo "$2" >consume
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, outports: [{filename: "${made:-h.so}"}], exec: bash -eu ../produce}
		  - {func: b, inports: [{filename: "${made:-h.so}"}], outports: [{filename: o}], exec: bash -eu ../consume}
	END
	fresh
	timeout 60 leat run --plain -q flow.yaml || return 1
	mv work/o batch
	fresh
	timeout 60 leat run -q flow.yaml 2>errors || { cat errors; return 1; }
	[ ! -s errors ] || { cat errors; return 1; }
	diff batch work/o
}

fresh() {
	rm -rf work
	mkdir work
	[ -z "${before:-}" ] || cp "$before" work/
}

# shellcheck disable=SC2016
@test "LD_LIBRARY_PATH of a directory in which a step has made the library" {
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=. "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=:/nowhere "$MADE/direct" >o'
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=/nowhere: "$MADE/direct" >o'
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=$PWD bash -c "\"\$MADE/direct\"; /usr/bin/env \"\$MADE/direct\"" >o'
	made='d/*' same 'mkdir -p d; cp "$MADE/made/libx.so" d' 'LD_LIBRARY_PATH=/nowhere:d "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
}

# shellcheck disable=SC2016
@test "the library comes before another of its name" {
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=.:$MADE/system "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
	made=libx.so same 'sleep 0.3; cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=.:$MADE/system "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
	made=libx.so before=$MADE/older/libx.so same 'rm libx.so; cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=. "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
}

# shellcheck disable=SC2016
@test "the library comes after another of its name: no mount" {
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=$MADE/system:. "$MADE/direct" >o
		LD_LIBRARY_PATH=. grep -c fuse.leat /proc/self/mounts >>o || true'
	[ "$(cat batch)" = $'7\n0' ]
}

# shellcheck disable=SC2016
@test "a library that a pattern only may match, found nowhere else" {
	made='[b-n]*' same 'sleep 0.3; cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=. "$MADE/direct" >o'
	[ "$(cat batch)" = 42 ]
}

# shellcheck disable=SC2016
@test "what other libraries need" {
	made='d/*' same 'mkdir -p d; cp "$MADE/made/libx.so" "$MADE/liby.so" d' 'LD_LIBRARY_PATH=d "$MADE/deep" >o'
	[ "$(cat batch)" = 142 ]
	# the first of the two is outside
	made='d/*' same 'mkdir -p d; cp "$MADE/made/libx.so" d' 'LD_LIBRARY_PATH=$MADE:d "$MADE/deep" >o'
	[ "$(cat batch)" = 142 ]
}

# shellcheck disable=SC2016
@test "a program that a step has made, with its library beside it" {
	local name
	for name in origin old_tags falls_back; do
		made='[b-n]*' same "cp \"\$MADE/$name\" main; cp \"\$MADE/made/libx.so\" ." './main >o'
		[ "$(cat batch)" = 42 ]
		made='[b-n]*' same "cp \"\$MADE/$name\" main; sleep 0.3; cp \"\$MADE/made/libx.so\" ." '$PWD/main >o'
		[ "$(cat batch)" = 42 ]
	done
	made='[b-n]*' same 'cp "$MADE/direct" main; cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=. ./main >o'
	[ "$(cat batch)" = 42 ]
	made='[b-n]*' same 'cp "$MADE/by_path" main; cp "$MADE/made/libx.so" .' './main >o'
	[ "$(cat batch)" = 42 ]
	made='d/*' same 'mkdir -p d/bin d/lib; cp "$MADE/braces" d/bin/main; cp "$MADE/made/libx.so" d/lib' 'd/bin/main >o; (cd d/bin; ./main) >>o'
	[ "$(cat batch)" = $'42\n42' ]
}

# shellcheck disable=SC2016
@test "a program that a step builds" {
	printf '#include <stdio.h>\nint x(void); int main(void) { return printf("%%d\\n", x()) < 0; }\n' >main.c
	made='[b-n]*' same 'echo "int x(void) { return 42; }" | gcc -shared -fPIC -o libx.so -xc -
		gcc ../main.c -o main -L. -lx -Wl,-rpath,"\$ORIGIN"' './main >o; LD_LIBRARY_PATH=. ./main >>o'
	[ "$(cat batch)" = $'42\n42' ]
}

# shellcheck disable=SC2016
@test "a program on the disk, its library made" {
	before=$MADE/origin made=libx.so same 'cp "$MADE/made/libx.so" .' './origin >o'
	[ "$(cat batch)" = 42 ]
	before=$MADE/by_path made=libx.so same 'cp "$MADE/made/libx.so" .' './by_path >o'
	[ "$(cat batch)" = 42 ]
}

# The first program of a step, which no other program of it has started.
@test "the program is the step's own command" {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - {func: a, outports: [{filename: libx.so}], exec: cp $MADE/made/libx.so libx.so}
		  - {func: b, inports: [{filename: libx.so}], exec: PROGRAM}
	END
	before=$MADE/falls_back fresh
	sed "s|PROGRAM|$PWD/work/falls_back|" flow.yaml >own.yaml
	run -0 --separate-stderr timeout 60 leat run own.yaml
	[[ $output == *"[b] 42"* ]]
	fresh
	sed "s|PROGRAM|$MADE/direct|" flow.yaml >own.yaml
	LD_LIBRARY_PATH=.:$MADE/system run -0 --separate-stderr timeout 60 leat run own.yaml
	[[ $output == *"[b] 42"* ]]
	fresh
	LD_LIBRARY_PATH=.:$MADE/system run -126 --separate-stderr no_mount timeout 60 leat run own.yaml
	# shellcheck disable=SC2154
	[[ $stderr == *"direct: the dynamic loader is to load ./libx.so before libleat"* ]]
}

# shellcheck disable=SC2016
@test "LD_PRELOAD of a name that is found by a search" {
	gcc -shared -fPIC -o one.so -xc - <<<'int getuid(void) { return 4242; } int geteuid(void) { return 4242; }'
	made=h.so same 'cp ../one.so h.so' 'LD_LIBRARY_PATH=. LD_PRELOAD=h.so id -u >o'
	[ "$(cat batch)" = 4242 ]
}

# shellcheck disable=SC2016
@test "a machine without a mount: refused by name" {
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'LD_LIBRARY_PATH=. "$MADE/direct" >o'
	fresh
	run -126 no_mount timeout 60 leat run flow.yaml
	echo "$output"
	[[ $output == *"direct: the dynamic loader is to load ./libx.so before libleat"*"staged: true"* ]]
	# what needs none of it runs on
	made=libx.so same 'cp "$MADE/made/libx.so" .' 'cat libx.so >/dev/null; LD_LIBRARY_PATH=. id -u >o'
	fresh
	no_mount timeout 60 leat run -q flow.yaml
}
