#!/usr/bin/env bats
# Outputs whose names lead through symlinks, out of the workflow's directory or to another one in it.
bats_require_minimum_version 1.5.0
load helper
load steps

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# flow MAKE USE [PORT [OPTIONS]]: the workflow of a producer and a consumer of PORT.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c '$1'
		    outports: [{filename: "${3:-d/*.txt}"${4:-}}]
		  - func: use
		    exec: $2
		    inports: [{filename: "${3:-d/*.txt}"}]
		    outports: [{filename: z}]
	END
}

slowly='for i in 1 2 3 4; do echo n$i >d/f$i.txt; sleep 0.05; done'

# outside, inside: d is a symlink to a directory elsewhere, or to another one of the workflow's.
outside() {
	rm -rf work elsewhere
	mkdir work elsewhere
	ln -s "$PWD/elsewhere" work/d
}

inside() {
	rm -rf work
	mkdir -p work/store
	ln -s store work/d
}

empty() {
	rm -rf work elsewhere
	mkdir work elsewhere
}

file_elsewhere() {
	empty
	echo old >elsewhere/x
	ln -s "$PWD/elsewhere/x" work/x
}

old_link() {
	empty
	echo old >work/old
	ln -s old work/latest
}

link_to_output() {
	empty
	ln -s x work/latest
}

chain() {
	outside
	ln -s d work/e
}

# linked: d and e are the directory store.
linked() {
	inside
	ln -s d work/e
}

circle() {
	empty
	ln -s d work/d
}

dangling() {
	empty
	ln -s "$PWD/elsewhere/later" work/d
}

given() {
	outside
	echo given >elsewhere/in.csv
}

# like_batch PLACE [OPTION...]: streamed it makes in work what --plain makes there; nothing is said.
like_batch() {
	local place=$1
	shift
	"$place"
	timeout 60 leat run --plain --quiet flow.yaml
	cp work/z batch
	"$place"
	run -0 --separate-stderr timeout 60 leat run --quiet "$@" flow.yaml
	[ -z "$stderr" ]
	diff batch work/z
}

# like_batch_in_both: wherever d leads.
like_batch_in_both() {
	local place
	for place in outside inside; do
		like_batch "$place"
	done
}

# uses SCRIPT...: consumers of what is made slowly.
uses() {
	local use
	for use in "$@"; do
		printf '%s\n' "$use" >use.sh
		flow "$slowly" "bash ../use.sh"
		like_batch_in_both
	done
}

@test "a listing of a directory that is a symlink waits, wherever that leads" {
	uses 'cat d/*.txt >z' 'cd d; cat *.txt >"$OLDPWD"/z' 'ls d >z; ls d/ >>z' 'cd d/.; ls >"$OLDPWD"/z' \
		'find -L d -name "*.txt" | sort >z' 'python3 -c "import os; print(sorted(os.listdir(\"d\")))" >z' \
		'cat ./d//f?.txt >z' 'cat "$PWD"/d/*.txt >z'
}

@test "names in a directory that is a symlink are waited for, one by one" {
	uses 'cat d/f1.txt d/f4.txt >z' 'cd d; cat f4.txt >"$OLDPWD"/z' 'wc -c d/f4.txt >z' \
		'[ -e d/f4.txt ] && echo yes >z || echo no >z' 'cp d/f4.txt z' 'mv d/f4.txt z' \
		'python3 -c "print(open(\"d/f4.txt\").read())" >z'
}

@test "the same of an output that is spelt out, and made: nothing is said of its not being made" {
	flow 'sleep 0.2; echo n >d/n' "sh -c 'cat d/n >z'" d/n
	like_batch_in_both
	sed -i 's/^    outports: \[{filename: z}\]/    outports: [{filename: z}, {filename: d\/kept}]/; s/cat d.n >z/cat d\/n >z; echo k >d\/kept/' flow.yaml
	for place in outside inside; do
		like_batch "$place" --strict
		[ -e work/d/kept ]
	done
}

@test "the same under no_update, and on_close" {
	for options in ', mode: no_update' ', committed: on_close'; do
		flow "$slowly" "sh -c 'cat d/*.txt >z'" 'd/*.txt' "$options"
		like_batch_in_both
	done
}

@test "a file that is a symlink to elsewhere" {
	flow 'for i in 1 2 3 4; do echo $i >>x; sleep 0.05; done' "sh -c 'cat x >z'" x
	like_batch file_elsewhere
	flow 'for i in 1 2 3 4; do echo $i; sleep 0.05; done >x' "sh -c 'cat x >z'" x ', mode: no_update'
	like_batch file_elsewhere
}

@test "a symlink that its producer makes anew is not followed where it led before" {
	flow 'sleep 0.2; echo new >new; ln -sfn new latest' "sh -c 'cat latest >z'" latest
	printf 'permanent: [latest]\n' >>flow.yaml
	old_link
	run -0 timeout 60 leat run --quiet flow.yaml
	[ "$(cat work/z work/latest)" = $'new\nnew' ]
	[ "$(readlink work/latest)" = new ]
}

@test "a symlink to a file that is an output waits for that" {
	flow 'for i in 1 2 3 4; do echo $i; sleep 0.05; done >x' "sh -c 'cat latest >z'" x
	like_batch link_to_output
}

@test "symlinks that the step makes itself" {
	flow "ln -s \"\$PWD\"/../elsewhere d; $slowly" "sh -c 'cat d/*.txt >z'"
	like_batch empty
	flow "mkdir real; ln -s real d; $slowly" "sh -c 'cat d/*.txt >z'"
	like_batch empty
	flow "sleep 0.2; ln -s \"\$PWD\"/../elsewhere d; $slowly" "sh -c 'cat d/f4.txt >z'"
	like_batch empty
}

@test "a pattern whose wildcard stands for a directory that is a symlink" {
	flow "$slowly" "sh -c 'cat */f*.txt >z'" '*/f*.txt'
	like_batch_in_both
}

@test "symlinks that lead nowhere, in a circle, and through others" {
	flow "$slowly" "sh -c 'cat e/*.txt >z'" 'e/*.txt'
	like_batch chain
	flow "$slowly" "sh -c 'cat e/*.txt >z'" 'd/*.txt'
	like_batch chain
	flow 'echo n >d/x || echo no >y' "sh -c 'cat d/x >z || echo no >z'" 'd/*'
	circle
	run -0 timeout 60 leat run --quiet flow.yaml
	[ "$(cat work/z)" = no ]
	dangling
	flow "mkdir ../elsewhere/later; sleep 0.1; $slowly" "sh -c 'cat d/*.txt >z'"
	run -0 timeout 60 leat run --quiet flow.yaml
	[ "$(cat work/z)" = $'n1\nn2\nn3\nn4' ]
}

@test "behind a mount" {
	built_with fuse
	flow "$slowly" "env LEAT_INTERCEPT=mount sh -c 'cat d/*.txt >z'"
	like_batch_in_both
	flow "sleep 0.2; $slowly" "env LEAT_INTERCEPT=mount sh -c 'cat d/f4.txt >z'" d/f4.txt
	like_batch_in_both
}

@test "inputs in a directory that is a symlink, which nobody makes" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: one
		    exec: sh -c 'cat d/*.csv >y'
		    inports: [{filename: 'd/*.csv'}]
		    outports: [{filename: y}]
		  - func: two
		    exec: sh -c 'cat y d/in.csv >z'
		    inports: [{filename: y}, {filename: d/in.csv}]
		    outports: [{filename: z}]
	END
	like_batch given
}

# ensemble DIRECTORY: two instances each of a producer and a consumer, which find their input in data.
ensemble() {
	rm -rf work elsewhere
	mkdir -p work/store elsewhere
	echo in | tee elsewhere/in.csv >work/store/in.csv
	ln -s "$1" work/data
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    taskCount: 2
		    exec: sh -c 'cat data/in.csv >x; sleep 0.1; cat data/*.csv >>x'
		    inports: [{filename: data/in.csv}]
		    outports: [{filename: x}]
		  - func: use
		    taskCount: 2
		    exec: sh -c 'ls data >y; cat x data/*.csv >z'
		    inports: [{filename: x}, {filename: 'data/*.csv'}]
		    outports: [{filename: z}, {filename: y}]
	END
}

@test "instances find what lies behind a symlink in the workflow's directory" {
	for place in "$PWD/elsewhere" store; do
		ensemble "$place"
		run -0 --separate-stderr timeout 60 leat run --quiet flow.yaml
		[ -z "$stderr" ]
		for instance in 0 1; do
			[ "$(cat work/use.$instance/y work/use.$instance/z)" = $'in.csv\nin\nin\nin' ]
		done
	done
}

@test "an instance's directory that is a symlink is refused by name" {
	ensemble store
	ln -s "$PWD/elsewhere" work/make.0
	run -125 --separate-stderr timeout 60 leat run --quiet flow.yaml
	[[ $stderr == *'"make.0/x" contains a symbolic link, but "use.0" reads it in versions or under another name'* ]]
	[ ! -e work/use.0 ]
}

@test "an output that one step names by a symlink and the other does not" {
	both() {
		sed "s#'IN#'$1/#; s#'OUT#'$2/#; s#READ#$3/#" flow.in >flow.yaml
		like_batch linked
	}
	cat >flow.in <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c 'for i in 1 2 3 4; do echo n$i >d/f$i.txt; sleep 0.05; done; echo k >d/kept'
		    outports: [{filename: 'OUT*.txt'}, {filename: d/kept}]
		  - func: use
		    exec: sh -c 'cat READ*.txt >z'
		    inports: [{filename: 'IN*.txt'}]
		    outports: [{filename: z}]
	END
	both store d store
	both d store d
	both d d store
	both e store store
	both store store e
	[ "$(cat work/store/kept)" = k ]
	like_batch linked --enforce
}

@test "--resume sees changes of inputs behind a symlink" {
	for input in 'd/*.csv' '*/in.csv' '*.csv' d/in.csv; do
		given
		ln -s . work/circle
		cat >flow.yaml <<-END
			name: flow
			dir: work
			tasks:
			  - func: one
			    exec: sh -c 'cat d/*.csv >y'
			    inports: [{filename: '$input'}]
			    outports: [{filename: y}]
		END
		timeout 60 leat run --quiet flow.yaml
		echo changed >elsewhere/in.csv
		timeout 60 leat run --quiet --resume flow.yaml
		[ "$(cat work/y)" = changed ]
		run -0 --separate-stderr timeout 60 leat run --resume flow.yaml
		[[ $output == *"1 of 1 steps were skipped"* ]]
	done
}

@test "a producer that fails: what it has made elsewhere is not passed off as whole" {
	flow 'echo n >d/f1.txt; sleep 0.1; exit 3' "sh -c 'cat d/f1.txt >z'" d/f1.txt
	for place in outside inside; do
		"$place"
		run timeout 60 leat run --quiet --keep-going flow.yaml
		[ "$status" = 3 ] || [ "$status" = 125 ]
		[ ! -s work/z ]
	done
}

# two_names STATUS COMMAND [OPTION...]: y has a second name, yhard, before the run; a step makes y by COMMAND.
two_names() {
	local status=$1
	empty
	echo old >work/y
	ln work/y work/yhard
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: sh -c '$2'
		    outports: [{filename: y}, {filename: w}]
	END
	shift 2
	run "-$status" --separate-stderr timeout 60 leat run --quiet "$@" flow.yaml
}

linked='leat: violation: y was opened for writing by step make, and has another name, a hard link, that would change, too'

@test "an output that has a second hard link before the run is not written unsaid" {
	built_with fuse
	for command in 'echo new >y; cat yhard >w' 'echo new >>y; cat yhard >w' 'truncate -s 0 y; cat yhard >w' \
		'env LEAT_INTERCEPT=mount sh -c "echo new >y"; cat yhard >w'; do
		two_names 125 "$command"
		[[ $stderr == "$linked"* ]]
		[ "$(cat work/y work/yhard)" = $'old\nold' ]
	done
	two_names 0 'echo new >y; cat yhard >w' --on-violation warn
	[[ $stderr == *'has another name'* ]]
	two_names 125 'echo new >y; cat yhard >w' --on-violation fatal
	two_names 0 'echo new >y; cat yhard >w' --plain
	[ "$(cat work/w)" = new ]
}

@test "one that is made anew leaves its other name as it was, as in a batch" {
	for command in 'rm y; echo new >y; cat yhard >w' 'echo new >t; mv t y; cat yhard >w' 'ln -f y q; rm y; echo new >y; cat q >w'; do
		two_names 0 "$command"
		[ -z "$stderr" ]
		[ "$(cat work/y work/yhard work/w)" = $'new\nold\nold' ]
	done
}

@test "inputs with several hard links, and links that the run makes" {
	empty
	echo given >work/in
	ln work/in work/copy
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [y, y2]
		tasks:
		  - func: make
		    exec: sh -c 'cat in >y; ln y y2; sleep 0.2; cat copy >>y'
		    inports: [{filename: in}]
		    outports: [{filename: y}, {filename: y2}]
		  - func: use
		    exec: sh -c 'cat y2 >z'
		    inports: [{filename: y2}]
		    outports: [{filename: z}]
	END
	run -0 --separate-stderr timeout 60 leat run --quiet flow.yaml
	[ -z "$stderr" ]
	for file in y y2 z; do
		[ "$(cat work/$file)" = $'given\ngiven' ]
	done
}

@test "a file is not written by one name after it was passed on by another" {
	for write in 'echo b >>y' 'truncate -s 0 y'; do
		flow "echo a >y; ln y y2; sleep 0.2; $write" "sh -c 'cat y2 >z'" y2 ', committed: on_close'
		empty
		run -125 --separate-stderr timeout 60 leat run --quiet flow.yaml
		[[ $stderr == 'leat: violation: y2 was changed by step make after its commit'* ]]
	done
	flow 'echo a >y; ln y y2; sleep 0.2; echo b >>y' "sh -c 'cat y2 >z'" y2 ', committed: on_close'
	sed -i 's/outports: .{filename: "y2"/outports: [{filename: y}, {filename: "y2"/' flow.yaml
	empty
	run -125 --separate-stderr timeout 60 leat run --quiet flow.yaml
	[[ $stderr == 'leat: violation: y2 was opened for writing by step make after its commit'* ]]
}

# What is behind a ".." is found from where a symlink leads to, and not at all from what is not there.
goes_up() {
	local look
	for look in 'cat l/../x >o' '[ -e l/../k ] && echo yes >o || echo no >o' 'cp x l/../y; cat d/y >o; rm d/y'; do
		begin
		echo decoy | tee work/x >batch/x
		step make '' '{filename: d/x}, {filename: d/k}, {filename: l}' <<<'sleep 0.2; mkdir -p d/e; echo 1 >d/x; echo >d/k; ln -s d/e l'
		step use '{filename: l}, {filename: d/x}, {filename: d/k}' '{filename: o}' <<<"$look"
		echo "$look"
		run_both
	done
	begin
	step make '' '{filename: x}, {filename: o}, {dirname: d}' <<-'END'
		echo 1 >x; ln -s nowhere s; mkdir -p d/e; rm -r d/e
		(echo >n/../y) || echo none >o
		rm -f n/../x s/../x d/e/../../x; mkdir n/../z; mv x n/../z; mv n/../x z; ln -s x n/../z; ln x s/../z; touch n/../z
		[ -e n/.. ] || echo none >>o
	END
	step use '{filename: x}, {dirname: d}' '{filename: p}' <<<'cat n/../x >p || cat d/e/../../x s/../x >p || cat n/m/../../x || ls n/.. >p || cat x >p'
	run_both
	begin
	step make '' '{filename: x}, {filename: "o*"}' <<-'END'
		echo 1 >x; mkdir -p d/e; cd d/e; rm -r ../../d/e
		cat ../../x ./.././../x >../../o1; [ -e ../e ] || ls e/.. || cp ../../x ..//../o2; cd ../..; echo >o3
	END
	run_both
}

@test "a path goes up from a symlink that is still to come, from what is not there, and from where nothing is any more" {
	each_way goes_up
}
