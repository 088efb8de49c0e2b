#!/usr/bin/env bats
# --enforce: a step may read its inputs and what it writes, and write its outputs.
# shellcheck disable=SC2154 # server: of helper.bash
bats_require_minimum_version 1.5.0
load helper

setup_file() {
	command -v gcc >/dev/null || return 0
	gcc -static -O1 -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/probe_static" "$LEAT_SOURCE_DIR/tests/hooks/probe_access.c"
}

setup() {
	PATH=$LEAT_BUILD/tests/hooks:$PATH
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p work/sub work/own elsewhere
	printf '#!/bin/sh\nexit 0\n' >work/in
	cp work/in work/secret
	chmod 755 work/in work/secret
	ln -s "$PWD/work/in" elsewhere/to-in
	ln -s "$PWD/work/secret" elsewhere/to-secret
	ln -s secret work/link
}

teardown() {
	end_server
	nothing_left
}

# flow COMMAND: a workflow of one step that reads `in` and writes `out` and `mine*`.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: a
		    exec: $1
		    inports: [{filename: in}, {filename: sub/in}]
		    outports: [{filename: out}, {filename: "mine*"}, {filename: "own/out*"}]
	END
	touch work/sub/in
}

# enforced: run flow.yaml, which must succeed.
enforced() {
	run timeout 60 leat run "${how:---enforce}" flow.yaml
	echo "$output"
	[ "$status" = 0 ]
}

# tree: what is in the directory, with all that a step could change.
tree() {
	find work -mindepth 1 ! -name 'mine*' ! -name out -printf '%p %y %m %U:%G %s %T@\n' | grep -v '^work/own ' | sort
	cat work/in work/secret
}

# results WHAT FILE PROGRAM [LINK]: what PROGRAM, a probe_access, finds; `work` must not change.
results() {
	flow "bash -c '$3 $1 $2 ${4:-} >out'"
	tree >before
	enforced
	diff before <(tree)
	cat work/out
}

# nothing_but ERROR: all lines of work/out, and there are some, end so.
nothing_but() {
	[ "$(wc -l <work/out)" -gt 20 ]
	run ! grep -vE " ($1)$" work/out
	[ -z "$output" ]
}

@test "what is not declared cannot be read by any call" {
	results read secret probe_access ../elsewhere/to-secret
	nothing_but EACCES
}

@test "what is not declared cannot be changed by any call" {
	results write secret probe_access ../elsewhere/to-secret
	nothing_but EACCES
}

@test "an input can be read by every call" {
	results read in probe_access ../elsewhere/to-in
	nothing_but ok
}

@test "an input cannot be changed by any call" {
	results write in probe_access ../elsewhere/to-in
	nothing_but EACCES
}

@test "the same of a static program, behind its mount" {
	built_with fuse
	need gcc
	for what in read write; do
		results $what secret "$BATS_FILE_TMPDIR/probe_static" ../elsewhere/to-secret
		nothing_but 'EACCES|EXDEV'
	done
	results write in "$BATS_FILE_TMPDIR/probe_static" ../elsewhere/to-in
	nothing_but 'EACCES|EXDEV'
	# Names do not move or link across a mount's edge.
	run -0 grep -c EXDEV work/out
	[ "$output" -le 3 ]
	results read in "$BATS_FILE_TMPDIR/probe_static" ../elsewhere/to-in
	nothing_but ok
}

@test "the same of any program under --sealed" {
	how=--sealed
	flow "true"
	leat run --sealed --on-violation warn -q flow.yaml || skip "no mount is possible here, or no Landlock"
	for what in read write; do
		results $what secret probe_access ../elsewhere/to-secret
		nothing_but 'EACCES|EXDEV'
	done
	results write in probe_access ../elsewhere/to-in
	nothing_but 'EACCES|EXDEV'
	results read in probe_access ../elsewhere/to-in
	nothing_but ok
	[[ $output != *"may not"* ]]
}

@test "the same where symbols are wrapped, but for what libc does inside itself" {
	export LEAT_INTERCEPT=wrap
	results write in probe_access ../elsewhere/to-in
	nothing_but EACCES
	results write secret probe_access ../elsewhere/to-secret
	nothing_but EACCES
	results read secret probe_access ../elsewhere/to-secret
	# A script is started, and its interpreter refused.
	run -0 grep -vE ' EACCES$|^exec ENOENT$' work/out
	[ "$output" = "$(printf 'fopen ok\nrealpath ok')" ]
}

@test "one line tells who may not do what to which file, and what to declare" {
	flow "bash -c 'for i in 1 2 3; do cat secret; echo >>in; mkdir new; ls nowhere; done; ls sub own >out'"
	enforced
	for line in "step a may not read secret: EACCES (--enforce); declare it as an input of the step, or exclude it" \
		"step a may not write in: EACCES (--enforce); declare it as an output of the step, or exclude it" \
		"step a may not write new/: EACCES (--enforce); declare it as an output of the step, or exclude it"; do
		[ "$(grep -cF "leat: warning: $line" <<<"$output")" = 1 ]
	done
	[ "$(grep -c 'may not' <<<"$output")" = 3 ]
	[[ $output == *"enforced by leat, for every call it sees"* ]]
	run -0 leat run flow.yaml
	[[ $output != *"may not"* && $output != *enforced* ]]
}

@test "a step that is refused thousands of files is not told of each" {
	flow "bash -c 'for i in {1..200}; do echo >no\$i; done; echo >out'"
	enforced
	[ "$(grep -c 'may not write no' <<<"$output")" = 50 ]
	[[ $output == *"step a was refused more files like these"* ]]
}

@test "outputs can be made, written, read, renamed and removed" {
	flow "bash -ec 'echo 1 >mine1; cat mine1; mv mine1 mine2; ln mine2 mine3; chmod 640 mine3; rm mine2; ln -s in mine4; cat mine4 >mine5
	  mkdir -p own; echo 2 >own/out; truncate -s 1 own/out; touch -d @1000 mine5; cat mine3 own/out >out'"
	sed -i ':a;N;$!ba;s/\n\t  mkdir/; mkdir/' flow.yaml
	enforced
	[ "$(cat work/out)" = "$(printf '1\n2')" ]
	[ "$(stat -c %a work/mine3)" = 640 ]
	[ "$(stat -c %Y work/mine5)" = 1000 ]
	[[ $output != *"may not"* ]]
}

@test "directories: those above what is declared, and all their names; no others" {
	mkdir -p work/hidden/deep
	touch work/hidden/x work/sub/other
	flow "bash -c 'ls . sub >out; (cd sub; cat other); ls hidden; cd hidden; ls hidden/deep; rmdir hidden/deep; mv hidden mine; mv own mine6; chmod 700 .; mv sub mine7; true'"
	stat -c %a work >mode
	enforced
	grep -qx secret work/out
	grep -qx hidden work/out
	grep -qx other work/out
	[[ $output == *"cat: other: Permission denied"* ]]
	[[ $output == *"step a may not read sub/other: "* ]]
	[[ $output == *"step a may not write hidden/deep/: "* ]]
	[[ $output == *"step a may not change the workflow's directory itself"* ]]
	[ "$(stat -c %a work)" = "$(cat mode)" ]
	[ -d work/hidden/deep ] && [ -d work/sub ] && [ -d work/mine6 ]
}

@test "a directory is renamed only with files in it that are the step's" {
	mkdir work/d
	touch work/d/theirs
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: a
		    exec: bash -c 'mkdir t; echo 1 >t/x; mv t d2; echo >d/mine; mv d d2/d; cat d2/x >out'
		    outports: [{filename: out}, {filename: "t/*"}, {filename: "d2/*"}, {filename: d/mine}]
	END
	enforced
	[ "$(cat work/out)" = 1 ]
	[ -e work/d/theirs ] && [ -e work/d/mine ] && [ -e work/d2/x ] && [ ! -e work/d2/d ]
	[[ $output == *"step a may not write d/theirs: "* ]]
}

@test "what another step makes is refused before it is there, and after; nobody waits for it" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'until [ -e ../go ]; do sleep 0.02; done; for i in {1..40}; do echo $i >many$i; done; cat many* | wc -l >first; until [ -e ../done ]; do sleep 0.02; done'
		    outports: [{filename: "many*", committed: on_close}, {filename: first, committed: on_close}]
		  - func: other
		    exec: bash -c 'cat many1; touch ../go; wc -l first >out; cat many2 many2; head -c1 many*; stat many4 >/dev/null; [ -e many5 ] || echo no; cat many6 >&2; touch ../done'
		    inports: [{filename: first}]
		    outports: [{filename: out}]
		  - func: uses
		    exec: bash -c 'cat many* | wc -l; cat first; rm -f many1; true'
		    inports: [{filename: "many*"}, {filename: first}]
	END
	enforced
	[ "$(cat work/out)" = "1 first" ]
	[ "$(grep -c 'step other may not read many' <<<"$output")" = 40 ]
	[[ $output == *"[uses]  40"* ]]
	[[ $output == *"[other] no"* ]]
	[[ $output == *"step uses may not write many1: "* ]]
	[[ $output != *"step make may not"* ]]
}

@test "a name that is not there and nobody makes is just not there" {
	flow "bash -c 'cat .config; [ -e pyvenv.cfg ] || echo none; cat sub/none none/none; rm none; mv none mine1; echo done >out'"
	enforced
	[ "$(grep -c 'No such file' <<<"$output")" = 5 ]
	[[ $output != *"may not"* && $output == *"[a] none"* ]]
}

@test "what the workflow excludes is left alone" {
	mkdir work/tmp
	cat >flow.json <<-'END'
		{"name": "flow",
		 "IO_Graph": [{"name": "a", "input_stream": ["in"], "output_stream": ["out"]}],
		 "exclude": ["tmp/*", "*.bak"]}
	END
	serve --enforce --dir work flow.json
	run -0 leat exec --dir work --app a -- bash -c 'cd work; echo x >tmp/y; cat tmp/y; ls tmp; cp in in.bak; mkdir tmp/d; echo >secret.x; cat secret; echo 1 >out'
	echo "$output"
	[[ $output == *"secret: Permission denied"* ]]
	run -0 leat exec --dir work --app a -- cat work/tmp/y work/in.bak
	kill -INT "$server"
	wait "$server" || true
	cat served served.err | tee serve.log
	grep -qF 'step a may not read secret: ' serve.log
	grep -qF 'step a may not write secret.x: ' serve.log
	[ "$(grep -c 'may not' serve.log)" = 2 ]
	grep -q 'enforced by leat' serve.log
}

@test "a step's own command may be in the directory; other programs there are inputs" {
	printf '#!/bin/sh\n./other\necho done >out\ncat tool >>out\n' >work/tool
	printf '#!/bin/sh\necho other\n' >work/other
	chmod 755 work/tool work/other
	flow ./tool
	enforced
	[ "$(head -n1 work/out)" = "done" ]
	[ "$(wc -l <work/out)" = 5 ]
	[[ $output == *"step a may not read other: "* ]]
	[ "$(grep -c 'may not' <<<"$output")" = 1 ]
	sed -i 's/{filename: in}/{filename: other}/' flow.yaml
	enforced
	[[ $output == *"[a] other"* && $output != *"may not"* ]]
}

@test "a program that one step makes is run by another, from memory" {
	need gcc
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'echo "#!/bin/sh" >script; echo "echo script \$0 | grep -o script.*; cat in; ls -l /proc/self/fd >&2" >>script; chmod 755 script; cp /bin/echo program'
		    outports: [{filename: script, committed: on_termination}, {filename: program, committed: on_termination}]
		  - func: run
		    exec: bash -c './script >out; ./program works >>out; sh -c "exec ./program again" >>out'
		    inports: [{filename: script}, {filename: program}, {filename: in}]
		    outports: [{filename: out}]
	END
	enforced
	cat work/out
	[[ $(head -n1 work/out) == "script"* ]]
	[ "$(tail -n2 work/out)" = "$(printf 'works\nagain')" ]
	[[ $output != *"may not"* ]]
}

@test "--enforce holds neither staged steps nor --plain" {
	flow "bash -c 'echo >out'"
	run -2 leat run --enforce --plain flow.yaml
	[[ $output == *"--enforce needs interception, and --plain does without"* ]]
	sed -i 's/func: a/func: a\n    staged: true/' flow.yaml
	run -125 leat run --enforce flow.yaml
	[[ $output == *"--enforce cannot hold step a: it is staged"* ]]
	[ ! -e work/out ]
}

@test "LEAT_ENFORCE asks for it, too" {
	flow "bash -c 'cat secret; echo >out'"
	LEAT_ENFORCE=1 run -0 leat run flow.yaml
	[[ $output == *"step a may not read secret"* ]]
}
