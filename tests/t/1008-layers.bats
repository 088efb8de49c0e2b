#!/usr/bin/env bats
# .ci/layers finds circles by the objects of a build.
load helper

setup() {
	need python3 nm gcc
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir build
	echo '[]' >build/compile_commands.json
}

# unit FILE USED...: a source that defines the function of its own name and calls those of the others, compiled.
unit() {
	local file=$1 name
	name=$(basename "$1" .c)
	shift
	mkdir -p "src/$(dirname "$file")"
	{
		printf 'void leat_%s(void);\n' "$@" "$name"
		printf 'void leat_%s(void)\n{\n' "$name"
		printf '\tleat_%s();\n' "$@"
		echo '}'
	} >"src/$file"
	[ $# != 0 ] || printf 'void leat_%s(void);\nvoid leat_%s(void)\n{\n}\n' "$name" "$name" >"src/$file"
	gcc -c "src/$file" -o "build/$name.o"
	python3 - "$PWD/build" "../src/$file" "$name.o" <<-'END'
		import json, sys
		directory, file, output = sys.argv[1:]
		path = directory + "/compile_commands.json"
		rows = json.load(open(path)) + [{"directory": directory, "file": file, "output": output}]
		json.dump(rows, open(path, "w"))
	END
}

layers() {
	run "$LEAT_SOURCE_DIR/.ci/layers" . --build build
	echo "$output"
}

@test "files that use each other are a circle when there are more than six" {
	unit base/one.c two
	for n in two:three three:four four:five five:six; do
		unit "base/${n%:*}.c" "${n#*:}"
	done
	unit base/six.c one
	layers
	[ "$status" = 0 ]
	unit base/six.c seven
	unit base/seven.c one
	layers
	[ "$status" = 1 ]
	[[ $output == *"src/base:1: circle of 7 files: five.c, four.c, one.c, seven.c, six.c, three.c, two.c"* ]]
}

@test "folders of a layer that use each other are a circle" {
	unit trace/left/one.c
	unit trace/right/two.c one
	unit trace/top.c one two
	layers
	[ "$status" = 0 ]
	unit trace/left/three.c two
	layers
	[ "$status" = 1 ]
	[[ $output == *"src/trace:1: circle of 2 folders: left, right"* ]]
}

@test "a function is not used behind the back of the table of layers" {
	unit base/one.c two
	unit wire/two.c
	layers
	[ "$status" = 1 ]
	[[ $output == *"src/base/one.c:1: base may not use wire (leat_two of src/wire/two.c)"* ]]
}

@test "objects that are older than their sources tell nothing" {
	unit base/one.c
	touch -d '+1 minute' src/base/one.c
	layers
	[ "$status" = 1 ]
	[[ $output == *"src/base/one.c is not compiled"* ]]
	run "$LEAT_SOURCE_DIR/.ci/layers" .
	[ "$status" = 0 ]
	[[ $output == *"circles are not checked"* ]]
}
