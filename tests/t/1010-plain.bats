#!/usr/bin/env bats
# leat run --plain: a batch in the order of the files.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# The consumer stands first: the order is that of the files, not of the text.
	cat >chain.yaml <<-'END'
		name: chain
		tasks:
		  - func: last
		    exec: cp two three
		    inports: [{filename: two}]
		    outports: [{filename: three}]
		  - func: middle
		    exec: sort -o two one
		    inports: [{filename: one}]
		    outports: [{filename: two}]
		  - func: first
		    exec: bash -c 'seq 3 -1 1 > one; echo said; echo complained >&2'
		    outports: [{filename: one}]
	END
}

@test "producers before consumers, outputs and summary" {
	run leat run --plain chain.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(cat three)" = $'1\n2\n3' ]
	[[ $output == *"[first]"*said* ]]
	[[ $output == *"[first]"*complained* ]]
	[[ $output == *"one after another on plain files"* ]]
	for step in first middle last; do
		grep -Eq "^$step +[0-9.]+ s .* ok$" <<<"$output"
	done
}

@test "standard output and error of steps go where they belong" {
	leat run --plain chain.yaml >out 2>err
	grep -q said out
	[ "$(grep -c complained out)" = 0 ]
	grep -q complained err
}

@test "--quiet shows nothing" {
	run leat run --plain --quiet chain.yaml
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "--chart draws a bar for each step" {
	run leat run --plain --chart chain.yaml
	[ "$status" = 0 ]
	for step in first middle last; do
		grep -Eq "^$step +#+$" <<<"$output"
	done
	LC_ALL=C.UTF-8 run leat run --plain --chart chain.yaml
	LC_ALL=C.UTF-8 grep -Eq "^middle +█+$" <<<"$output"
}

@test "the first failing step ends the batch; its status is leat's" {
	sed -i "s/exec: sort.*/exec: bash -c 'exit 7'/" chain.yaml
	run leat run --plain chain.yaml
	echo "$output"
	[ "$status" = 7 ]
	[[ $output == *"leat: step middle failed: exit 7"* ]]
	grep -Eq '^last .*not run: step middle failed' <<<"$output"
	[ ! -e three ]
}

@test "a step killed by a signal" {
	sed -i "s/exec: sort.*/exec: bash -c 'kill -SEGV \$\$'/" chain.yaml
	run leat run --plain chain.yaml
	[ "$status" = 139 ]
	[[ $output == *"step middle failed: killed by SIGSEGV"* ]]
}

@test "a cycle has no batch order" {
	cat >cycle.yaml <<-'END'
		name: cycle
		tasks:
		  - {func: a, exec: cp y x, inports: [{filename: y}], outports: [{filename: x, committed: on_close}]}
		  - {func: b, exec: cp x y, inports: [{filename: x}], outports: [{filename: y, committed: on_close}]}
	END
	run leat run --plain cycle.yaml
	echo "$output"
	[ "$status" = 125 ]
	[ ! -e x ]
}

@test "SIGINT and SIGTERM end the steps, and leat tells which it was" {
	sed -i "s/exec: sort.*/exec: bash -c 'echo \$\$ > pid; exec sleep 60'/" chain.yaml
	for signal in INT TERM; do
		rm -f pid
		leat run --plain chain.yaml >/dev/null 2>&1 &
		until [ -s pid ]; do sleep 0.05; done
		kill -"$signal" $!
		status=0
		wait $! || status=$?
		[ "$status" = $((128 + $(kill -l "$signal"))) ]
		[ ! -e "/proc/$(cat pid)" ]
	done
}

@test "a closed pipe behind leat ends nothing but the output" {
	sed -i "s/echo said/yes said | head -n 100000/" chain.yaml
	run bash -c 'leat run --plain chain.yaml 2>err | head -n 1; exit ${PIPESTATUS[0]}'
	[ "$status" = 125 ]
	[ -e three ]
	grep -q "^leat: cannot write the steps' output: Broken pipe$" err
}

@test "background processes of a step are named and waited for" {
	sed -i "s/exec: cp.*/exec: bash -c '(sleep 2; echo late > three) \&'/" chain.yaml
	run leat run --plain chain.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(cat three)" = late ]
	[[ $output == *"processes they left behind: "*sleep* ]]
}
