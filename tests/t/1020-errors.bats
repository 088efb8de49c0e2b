#!/usr/bin/env bats
# Bad input: one line that names the thing and what to do, and nothing left behind.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	chmod 755 . work
	cat >good.yaml <<-'END'
		name: good
		tasks:
		  - {func: one, exec: cp /etc/passwd x, outports: [{filename: x}]}
		  - {func: two, exec: cp x y, inports: [{filename: x}], outports: [{filename: y}]}
	END
}

teardown() {
	nothing_left
}

# refused STATUS TEXT COMMAND...: it fails so, with one line that holds the text.
refused() {
	local wanted=$1 text=$2
	shift 2
	run "-$wanted" "$@"
	echo "status $status, output: $output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "leat: "*"$text"* ]]
	[ ! -e work/x ]
	[ ! -e x ]
}

@test "a file that is not there" {
	refused 125 "cannot read nowhere.yaml: No such file" leat run nowhere.yaml
	refused 1 "cannot read nowhere.yaml: No such file" leat check nowhere.yaml
}

@test "a syntax error is told like a compiler does" {
	printf '{"name": "x",\n "IO_Graph": [ }\n' >bad.json
	run leat run bad.json
	echo "$output"
	[ "$status" = 125 ]
	[[ ${lines[0]} == "bad.json:2:"*": error: "* ]]
}

@test "what can be checked but not run yet is refused" {
	local line="step two cannot be run by this version of leat: \"staged\" of a step with actions is only checked"

	echo 'def f(vol, rank): pass' >act.py
	sed -i 's/{func: two,/{func: two, staged: true, actions: [act.py, f],/' good.yaml
	leat check -d work good.yaml
	refused 125 "$line" leat run -d work good.yaml
	refused 125 "$line" leat serve -d work good.yaml
}

@test "a program that is not there" {
	sed -i 's/cp x y/no-such-program x y/' good.yaml
	refused 127 "step two: program no-such-program was not found" leat run -d work good.yaml
}

@test "a program that is not executable" {
	echo 'echo' >work/script
	sed -i 's|cp x y|./script x y|' good.yaml
	refused 126 "step two: ./script is not an executable file" leat run -d work good.yaml
}

@test "a static program is refused by name" {
	need gcc
	echo 'int main(void) { return 0; }' | gcc -static -x c -o work/static -
	sed -i 's|cp x y|./static x y|' good.yaml
	refused 126 "step two: ./static is statically linked" no_mount leat run -d work good.yaml
	[[ $output == *"staged: true"* ]]
}

@test "a Go program is refused by name" {
	need seqkit
	sed -i 's|cp x y|seqkit stats x|' good.yaml
	refused 126 "step two: $(command -v seqkit) is a Go program" no_mount leat run -d work good.yaml
}

@test "a directory that does not exist" {
	refused 125 "nowhere does not exist" leat run -d nowhere good.yaml
}

@test "a directory that is a file" {
	refused 125 "good.yaml is not a directory; name another with --dir" leat run -d good.yaml good.yaml
}

@test "a directory that is not writable" {
	[ "$(id -u)" != 0 ] || command -v setpriv || skip "root can write everywhere"
	open=$(mktemp -d /tmp/leat-test.XXXXXX)
	chmod 555 "$open"
	cp good.yaml "$open"
	cd "$open"
	LEAT_RUNTIME_DIR=/tmp/leat-test-$$ refused 125 "is not writable" nobody leat run good.yaml
	[ ! -e /tmp/leat-test-$$ ]
	rm -rf "$open"
}

@test "a step without a command" {
	cat >capio.json <<-'END'
		{"name": "w", "IO_Graph": [{"name": "a", "output_stream": ["x"]}]}
	END
	run leat run -d work capio.json
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"step a has no command"*"leat exec --app a"* ]]
}

@test "a daemon that is not there" {
	refused 125 "no run is going on in" leat exec -d work --app one -- true
	refused 1 "no run is going on in" leat 'done' -d work one
	refused 1 "no run is going on in" leat status -d work
}

@test "leat exec without the name of a step" {
	refused 125 "exec: missing step: name it with --app or LEAT_APP_NAME" leat exec -d work -- true
}

@test "a library that is not there" {
	LEAT_LIBRARY=/nowhere/libleat.so refused 125 "LEAT_LIBRARY" leat run -d work good.yaml
}

@test "a workflow from standard input" {
	for command in check 'run -d work' 'run --plain -d work' 'serve -d work' 'run --dry-run -d work'; do
		# shellcheck disable=SC2086 # words
		refused "$([ "$command" = check ] && echo 1 || echo 125)" "a workflow is not read from standard input: write it to a file" leat $command - <good.yaml
	done
}
