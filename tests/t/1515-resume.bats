#!/usr/bin/env bats
# leat run --resume: what is complete and unchanged is not run again, and everything else is.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	# Every step says that it ran. `tmp` and `grow` are not kept, all else is.
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [kept]
		tasks:
		  - func: trim
		    exec: bash -c 'echo trim >> ../ran; cut -c 1-3 reads > tmp'
		    inports: [{filename: reads}]
		    outports: [{filename: tmp}]
		  - func: map
		    exec: bash -c 'echo map >> ../ran; sort tmp > kept; sort -r tmp > grow'
		    inports: [{filename: tmp}]
		    outports: [{filename: kept}, {filename: grow, mode: no_update}]
		  - func: count
		    exec: bash -c 'echo count >> ../ran; uniq -c kept > counts'
		    inports: [{filename: kept}]
		    outports: [{filename: counts}]
		  - func: last
		    exec: bash -c 'echo last >> ../ran; uniq grow | cat - extra/* > all'
		    inports: [{filename: grow}, {filename: extra/*}]
		    outports: [{filename: all}]
		  - func: alone
		    exec: bash -c 'echo alone >> ../ran; wc -l < other > lines'
		    inports: [{filename: other}]
		    outports: [{filename: lines}]
	END
	mkdir work/extra
	seq 1000 >work/reads
	seq 10 >work/other
	seq 3 >work/extra/one
	seq 4 >work/extra/two
}

teardown() {
	nothing_left
}

# resumed STEPS [OPTION...]: resume; those steps run, no other, and what comes out is what a batch
# makes of the inputs there are now.
resumed() {
	local steps=$1 name
	shift
	rm -f ran
	touch ran
	timeout 60 leat run --resume --report report "$@" flow.yaml >out 2>&1 || return 1
	cat out
	[ "$(sort ran | xargs)" = "$(xargs -n 1 <<<"$steps" | sort | xargs)" ] || return 1
	same_as_batch
}

same_as_batch() {
	rm -rf batch
	mkdir batch
	cp -r work/reads work/other work/extra batch
	cp ran ran.saved
	timeout 60 leat run --plain -q -d batch flow.yaml || return 1
	mv ran.saved ran
	for name in kept counts all lines; do
		cmp "work/$name" "batch/$name" || return 1
	done
}

first() {
	timeout 60 leat run flow.yaml
}

@test "nothing has changed: nothing is run, and the reason is told" {
	first
	before=$(cd work && stat -c '%n %i %y' ./*)
	resumed ""
	[ "$before" = "$(cd work && stat -c '%n %i %y' ./*)" ]
	grep -q '^leat: step count is skipped: complete; its command, 1 input and 1 output are unchanged$' out
	grep -Eq '^map .* skipped: complete; its command, 0 inputs and 1 output are unchanged$' out
	grep -q '; 5 of 5 steps were skipped$' out
	report 'all(s["state"] == "skipped" for s in r["steps"]) and r["exit_status"] == 0'
	report 'steps["last"]["resume"].startswith("complete; its command, 2 inputs")'
	# The record of a run in which nothing ran is as good.
	resumed ""
}

@test "without a record all steps run" {
	resumed "trim map count last alone"
	grep -q '^leat: step map is run: no run that is recorded had it$' out
	resumed ""
}

@test "a changed input, and everything downstream of it" {
	first
	seq 20 >work/other
	resumed alone
	grep -q '^leat: step alone is run: input other changed$' out
	grep -Eq '^alone .* ok \(run because input other changed\)$' out
	report 'steps["alone"]["resume"] == "input other changed"'
	seq 2000 >work/reads
	resumed "trim map count last"
	grep -q '^leat: step trim is run: input reads changed$' out
	grep -q '^leat: step count is run: step trim, upstream of it, runs again$' out
	resumed ""
}

@test "an input is added, changed or removed where a pattern matches" {
	first
	seq 5 >work/extra/three
	resumed "last map trim count"
	grep -q '^leat: step last is run: input extra/three is new$' out
	# What it needs was not kept.
	grep -q '^leat: step map is run: step last needs grow, which was not kept$' out
	grep -q '^leat: step trim is run: step map needs tmp, which was not kept$' out
	rm work/extra/one
	resumed "last map trim count"
	grep -q '^leat: step last is run: input extra/one is missing$' out
	seq 7 >work/extra/two
	resumed "last map trim count"
	grep -q '^leat: step last is run: input extra/two changed$' out
}

@test "a missing output, a changed one" {
	first
	rm work/counts
	resumed count
	grep -q '^leat: step count is run: output counts is missing$' out
	echo more >>work/counts
	resumed count
	grep -q '^leat: step count is run: output counts changed$' out
	rm work/kept
	resumed "trim map count last"
	grep -q '^leat: step map is run: output kept is missing$' out
}

@test "touched and copied files are the same if their contents are; large ones are not looked into" {
	first
	touch work/*
	cp work/reads work/again
	mv work/again work/reads
	resumed ""
	head -c 2M /dev/zero >work/other
	resumed alone
	resumed ""
	touch work/other
	resumed alone
}

@test "a changed command, a changed rule, a new step" {
	first
	sed -i 's/uniq -c kept/uniq  -c kept/' flow.yaml
	resumed count
	grep -q '^leat: step count is run: its command changed$' out
	sed -i 's/filename: lines/filename: lines, mode: no_update/' flow.yaml
	resumed alone
	grep -q '^leat: step alone is run: its inputs, outputs or rules changed in the workflow file$' out
	cat >>flow.yaml <<-'END'
		  - func: new
		    exec: bash -c 'echo new >> ../ran; cat counts > copy'
		    inports: [{filename: counts}]
		    outports: [{filename: copy}]
	END
	sed -i 's/permanent: .kept./permanent: [kept, counts]/' flow.yaml
	resumed new
	grep -q '^leat: step new is run: no run that is recorded had it$' out
	# Comments, places and other steps of the file say nothing.
	sed -i '1i # a comment' flow.yaml
	resumed ""
}

@test "a step fails; when it is mended the run goes on with it" {
	touch work/broken
	sed -i 's|echo count >> ../ran; |echo count >> ../ran; [ ! -e broken ] \&\& |' flow.yaml
	run -1 timeout 60 leat run flow.yaml
	echo "$output"
	rm -f ran
	run -1 timeout 60 leat run --resume flow.yaml
	echo "$output"
	[ "$(sort ran | xargs)" = count ]
	grep -q '^leat: step count is run: it was not complete in the last run: exit 1$' <<<"$output"
	grep -Eq '^map .* skipped: complete' <<<"$output"
	rm work/broken
	resumed count
	resumed ""
}

@test "a step whose producer failed is not complete, however well it ended itself" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [data]
		tasks:
		  - func: produce
		    exec: bash -c 'echo produce >> ../ran; seq 10000 > data; until [ -e ../early ]; do sleep 0.05; done; [ ! -e broken ]'
		    outports: [{filename: data, mode: no_update, committed: 'on_close:1'}]
		  - func: head
		    exec: bash -c 'echo head >> ../ran; head -n 1 data > early; touch ../early'
		    inports: [{filename: data}]
		    outports: [{filename: early, committed: on_close}]
	END
	touch work/broken
	run -1 timeout 60 leat run flow.yaml
	echo "$output"
	grep -Eq '^head .* ok$' <<<"$output"
	rm ran work/broken
	run -0 timeout 60 leat run --resume flow.yaml
	echo "$output"
	[ "$(sort ran | xargs)" = "head produce" ]
	grep -q '^leat: step produce is run: it was not complete in the last run: exit 1$' <<<"$output"
}

# all_ended: no process of this test's runs is left.
all_ended() {
	[ "$(left_behind | grep -c '^/proc')" = 0 ]
}

# interrupt SIGNAL WHOM...: start the workflow, in which `last` waits for ../go, send the signal
# when all others have ended, and wait for the end of it all.
interrupt() {
	local signal=$1 run whom=() i
	# Without the trap bash goes on if the signal comes between two of its `sleep`s.
	sed -i 's|echo last >> ../ran; |echo last >> ../ran; trap "trap - INT; kill -INT $$" INT; until [ -e ../go ]; do sleep 0.05; done; |' flow.yaml
	leat run flow.yaml >out 2>&1 3>&- &
	run=$!
	for i in $(seq 600); do
		[ "$(grep -c '	complete$' "$(state_of work)/flow.record" 2>/dev/null)" = 4 ] && break
		sleep 0.05
	done
	[ "$i" -lt 600 ] || return 1
	case $2 in
	leat) whom=("$run") ;;
	daemon) whom=("$(ours leat-daemon)") ;;
	both) whom=("$run" "$(ours leat-daemon)") ;;
	esac
	kill "-$signal" "${whom[@]}"
	wait "$run" || true
	cat out
	# What leat could not end itself ends now.
	touch go
	soon all_ended
}

@test "interrupted by Ctrl-C" {
	interrupt INT leat
	grep -Eq '^last .*stopped, because the run was interrupted by SIGINT' out
	resumed "last map trim count"
	grep -q 'step last is run: it was not complete in the last run: killed by SIGINT: stopped, because the run was interrupted by SIGINT$' out
	grep -q 'step alone is skipped' out
	resumed ""
}

@test "leat is killed" {
	interrupt KILL leat
	resumed "last map trim count"
	grep -q 'step last is run: it was not complete when the last run was cut off$' out
	grep -q 'step alone is skipped' out
}

@test "leat and its daemon are killed at once" {
	interrupt KILL both
	resumed "last map trim count"
	grep -q 'step alone is skipped' out
}

@test "the daemon is killed" {
	interrupt KILL daemon
	resumed "last map trim count"
	grep -q 'step alone is skipped' out
}

@test "a resumed run is interrupted: what it skipped is still known" {
	first
	seq 20 >work/other
	sed -i 's|echo alone >> ../ran; |echo alone >> ../ran; until [ -e ../go ]; do sleep 0.05; done; |' flow.yaml
	rm ran
	leat run --resume flow.yaml >out 2>&1 3>&- &
	until [ -s ran ]; do sleep 0.05; done
	kill -9 $!
	wait $! || true
	touch go
	soon all_ended
	resumed alone
}

@test "an input that is changed while the run reads it" {
	sed -i 's|wc -l < other > lines|wc -l < other > lines; [ -e ../late ] \|\| seq 20 > ../late; cp ../late other|' flow.yaml
	first
	resumed alone
	grep -q '^leat: step alone is run: input other changed$' out
}

@test "a broken record: nothing is started, nothing is changed" {
	first
	rm ran
	record=$(state_of work)/flow.record
	for damage in 's/^step\talone/step/' '1s/1/9/' '$d;$d' 's/^workflow\tflow/workflow\tother/'; do
		cp "$record" good
		sed -i "$damage" "$record"
		[ "$damage" != '$d;$d' ] || printf 'garbage\n' >>"$record"
		cp "$record" bad
		run -125 leat run --resume flow.yaml
		echo "$output"
		[ "${#lines[@]}" = 1 ]
		[[ $output == "leat: $record:"*": the record of the last run is broken: "*"run without --resume to begin anew" ]]
		cmp bad "$record"
		[ ! -e ran ]
		cp good "$record"
	done
	resumed ""
	rm "$record"
	mkdir "$record"
	run -125 leat run --resume flow.yaml
	echo "$output"
	[[ $output == "leat: cannot read the record of the last run, $record: Is a directory" ]]
}

@test "a record that cannot be written costs a warning, not the run" {
	first
	record=$(state_of work)/flow.record
	rm "$record"
	mkdir "$record"
	touch "$record/file"
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(grep -c 'warning: cannot keep the record of this run' <<<"$output")" = 1 ]
	[ -e work/counts ]
}

@test "a record that was cut off at any line still tells what was complete by then" {
	first
	record=$(state_of work)/flow.record
	cp "$record" whole
	n=$(wc -l <whole)
	for keep in $(seq 3 5 "$n"); do
		head -n "$keep" whole | head -c -1 >"$record"
		rm -f ran
		run -0 timeout 60 leat run --resume flow.yaml
		same_as_batch
	done
}

@test "steps do not see the record and logs, and workflows of one directory have their own" {
	cat >bad.yaml <<-'END'
		name: bad
		dir: work
		tasks:
		  - func: shout
		    exec: bash -c 'echo words; exit 3'
	END
	sed 's/name: flow/name: second/; s/filename: lines/filename: lines2/; s/> lines/> lines2/; s/func: alone/func: single/' flow.yaml >second.yaml
	sed -i 's|uniq -c kept > counts|find . > ../listing; uniq -c kept > counts|' flow.yaml
	for plain in "" --plain; do
		run -3 timeout 60 leat run -q $plain bad.yaml
		timeout 60 leat run -q $plain flow.yaml
		run ! grep leat listing
		timeout 60 leat run -q $plain second.yaml
		rm ran
		timeout 60 leat run $plain --resume second.yaml
		[ ! -e ran ]
		[ -e "$(state_of work)/flow.record" ] && [ -e "$(state_of work)/second.record" ]
		[ "$(cat "$(state_of work)/bad-shout.log")" = words ]
		[ -z "$(find work -name '.leat*')" ]
	done
}

@test "what an earlier version has left in the workflow's directory is read once, and goes" {
	first
	mv "$(state_of work)/flow.record" work/.leat-record-flow
	echo words >work/.leat-flow-alone.log
	touch work/.leat-mine
	sed -i 's|uniq -c kept > counts|find . > ../listing; uniq -c kept > counts|' flow.yaml
	rm ran
	timeout 60 leat run --plain --resume flow.yaml
	[ "$(cat ran)" = count ]
	[ "$(grep leat listing)" = ./.leat-mine ]
	[ "$(find work -name '.leat*')" = work/.leat-mine ]
	rm ran
	timeout 60 leat run --plain --resume flow.yaml
	[ ! -e ran ]
}

@test "a directory that is renamed keeps its record, another one by its name has none" {
	first
	mv work renamed
	sed -i 's/dir: work/dir: renamed/' flow.yaml
	rm ran
	timeout 60 leat run --plain --resume flow.yaml
	[ ! -e ran ]
	cp -a renamed work
	rm -r renamed
	mv work renamed
	timeout 60 leat run --resume flow.yaml 2>out
	grep -q 'step alone is run: no run that is recorded had it' out
}

# placed PLACE: the workflow's record is there, and only there, and is resumed from.
placed() {
	rm -f ran
	timeout 60 leat run -q --plain flow.yaml
	[ "$(find "$PWD" -name flow.record -newer ran 2>/dev/null)" = "$(echo "$1"/*/flow.record)" ]
	rm ran
	timeout 60 leat run --plain --resume flow.yaml
	[ ! -e ran ]
}

@test "where the record is" {
	unset LEAT_STATE_DIR XDG_STATE_HOME
	LEAT_STATE_DIR=$PWD/own placed "$PWD/own"
	mkdir home
	HOME=$PWD/home XDG_STATE_HOME=$PWD/state placed "$PWD/state/leat"
	rm -r state
	HOME=$PWD/home placed "$PWD/home/.local/state/leat"
	rm -r home
	[ ! -e work/.local ]
}

@test "a home that is not to be used for it, and no home at all: the record is in /var/tmp" {
	unset LEAT_STATE_DIR XDG_STATE_HOME
	unshare -rm true 2>/dev/null || skip "no user namespace can be made here"
	mkdir temporary
	# A /var/tmp of its own: whoever has no home may have records there.
	for home in "$PWD/work" "$PWD/none" /dev/null; do
		HOME=$home unshare -rm bash -ec "$(declare -f placed)"'
			mount --bind temporary /var/tmp
			placed "$PWD/temporary/leat-0"'
		rm -r temporary/leat-0
	done
	[ ! -e work/.local ] && [ ! -e none ]
}

@test "a place for the record that cannot be had costs a warning" {
	LEAT_STATE_DIR=$PWD/work/state run -0 timeout 60 leat run flow.yaml
	[[ $output == *"warning: cannot keep the record of this run, $PWD/work/state/"*": it would be in the workflow's directory; the run goes on, but cannot be resumed"* ]]
	[ ! -e work/state ]
	touch file
	LEAT_STATE_DIR=$PWD/file run -0 timeout 60 leat run flow.yaml
	[[ $output == *"warning: cannot keep the record of this run, $PWD/file/"*": Not a directory; "* ]]
}

@test "staged steps, directories, patterns and static programs find what skipped steps made" {
	built_with fuse
	need gcc
	gcc -static -x c -o work/static - <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			FILE *in = fopen(argv[1], "r"), *out = argc > 2 ? fopen(argv[2], "w") : NULL;
			int c;
			while (in && out && (c = getc(in)) != EOF)
				putc(c, out);
			return !in || !out;
		}
	END
	cat >parts.yaml <<-'END'
		name: parts
		dir: work
		permanent: [parts/*, one, uno, two, listed]
		tasks:
		  - func: split
		    exec: bash -c 'echo split >> ../ran; mkdir -p parts; for i in 1 2 3; do seq $i > parts/$i; done; echo x > one'
		    outports: [{filename: one, mode: no_update, committed: 'on_close:1'}, {dirname: parts, committed: 'on_close', n_files: 3}]
		  - func: list
		    exec: bash -c 'echo list >> ../ran; cat parts/* > listed'
		    inports: [{filename: parts/*}]
		    outports: [{filename: listed}]
		  - func: staged
		    staged: true
		    exec: bash -c 'echo staged >> ../ran; cat parts/2 > two'
		    inports: [{filename: parts/2}]
		    outports: [{filename: two}]
		  - func: static
		    exec: ./static one uno
		    inports: [{filename: one}]
		    outports: [{filename: uno}]
		  - func: after
		    exec: bash -c 'echo after >> ../ran; cat uno two listed > end'
		    inports: [{filename: uno}, {filename: two}, {filename: listed}]
		    outports: [{filename: end}]
	END
	run -0 timeout 60 leat run parts.yaml
	echo "$output"
	cp work/end end
	rm ran work/end work/uno work/two work/listed
	run -0 timeout 60 leat run --resume parts.yaml
	echo "$output"
	[ "$(sort ran | xargs)" = "after list staged" ]
	grep -q '^leat: step static is run: output uno is missing$' <<<"$output"
	grep -Eq '^split .* skipped' <<<"$output"
	cmp work/end end
	rm ran work/parts/2
	run -0 timeout 60 leat run --resume parts.yaml
	[ "$(sort ran | xargs)" = "after list split staged" ]
	cmp work/end end
}

@test "--enforce: what skipped steps made is declared like anything else" {
	first
	seq 20 >work/other
	rm work/counts
	# Nothing undeclared.
	sed -i 's|echo [a-z]* >> ../ran; ||' flow.yaml
	run -0 timeout 60 leat run --resume --enforce flow.yaml
	run -0 timeout 60 leat run --resume --enforce flow.yaml
	echo "$output"
	[[ $output == *"; 5 of 5 steps were skipped"* ]]
	rm work/counts
	run -0 timeout 60 leat run --resume --enforce flow.yaml
	echo "$output"
	[[ $output == *"; 4 of 5 steps were skipped"* ]]
	same_as_batch
}

@test "--plain keeps the record, too, and goes on with it" {
	timeout 60 leat run --plain flow.yaml
	resumed "" --plain
	seq 20 >work/other
	resumed alone --plain
	rm work/tmp work/grow
	resumed ""
}

@test "a step that broke a promise is not complete" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [data]
		tasks:
		  - func: make
		    exec: bash -c 'echo make >> ../ran; seq 10 > data'
		    outports: [{filename: data}]
		  - func: rude
		    exec: bash -c 'echo rude >> ../ran; cat data > copy; [ -e kind ] || echo more >> data; true'
		    inports: [{filename: data}]
		    outports: [{filename: copy}]
	END
	run -125 timeout 60 leat run flow.yaml
	echo "$output"
	rm ran
	touch work/kind
	run -0 timeout 60 leat run --resume flow.yaml
	echo "$output"
	grep -q rude ran
	grep -q 'step rude is run: it was not complete in the last run: ' <<<"$output"
	seq 10 | cmp - work/copy
	seq 10 | cmp - work/data
}

@test "a step that updates a file gets it as the steps before it make it, not as it left it" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [list, sum]
		tasks:
		  - func: make
		    exec: bash -c 'echo make >> ../ran; seq 3 > list'
		    outports: [{filename: list}]
		  - func: add
		    exec: bash -c 'echo add >> ../ran; echo one >> list'
		    inports: [{filename: list}]
		    outports: [{filename: list}]
		  - func: count
		    exec: bash -c 'echo count >> ../ran; wc -l < list > sum'
		    inports: [{filename: list}]
		    outports: [{filename: sum}]
	END
	timeout 60 leat run flow.yaml
	rm ran
	run -0 timeout 60 leat run --resume flow.yaml
	[ ! -e ran ]
	sed -i 's/echo one/echo two/' flow.yaml
	run -0 timeout 60 leat run --resume flow.yaml
	echo "$output"
	grep -q '^leat: step make is run: step add needs list as it was before it changed it$' <<<"$output"
	[ "$(sort ran | xargs)" = "add count make" ]
	[ "$(xargs <work/list)" = "1 2 3 two" ]
	rm ran
	sed -i 's/wc -l/wc -c/' flow.yaml
	timeout 60 leat run --resume flow.yaml
	[ "$(cat ran)" = count ]
}

@test "--plain: a file that another step has changed is not what its maker left" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: [list]
		tasks:
		  - func: make
		    exec: bash -c 'echo make >> ../ran; echo aa > list'
		    outports: [{filename: list}]
		  - func: turn
		    exec: bash -c 'echo turn >> ../ran; cat list > copy; sleep 0.1; echo bb 1<> list >&1'
		    inports: [{filename: list}]
		    outports: [{filename: copy}]
	END
	timeout 60 leat run --plain flow.yaml
	[ "$(cat work/list)" = bb ]
	rm ran
	run -0 timeout 60 leat run --plain --resume flow.yaml
	echo "$output"
	grep -q '^leat: step make is run: output list changed$' <<<"$output"
	[ "$(xargs <ran)" = "make turn" ]
	[ "$(cat work/copy)" = aa ]
}

@test "the record of a directory that nobody has used for long goes when another one comes" {
	export LEAT_STATE_DIR=$PWD/state
	mkdir -p state/old state/new
	first
	mv "$(state_of work)" state/kept
	mv state/kept "state/$(id -u)-1a-2b"
	cp -r "state/$(id -u)-1a-2b" "state/$(id -u)-3c-4d"
	touch -d '100 days ago' "state/$(id -u)-1a-2b"
	touch -d '200 days ago' "state/$(id -u)-3c-4d" state/old
	rm "state/.pruned-$(id -u)" # which says that they were looked for just now
	first
	[ -e "state/$(id -u)-1a-2b/flow.record" ]
	[ ! -e "state/$(id -u)-3c-4d" ]
	[ -e state/old ]
	[ -e "$(state_of work)/flow.record" ]
}
