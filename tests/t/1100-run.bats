#!/usr/bin/env bats
# leat run, end to end: streams, failures, signals, other users, nothing left behind.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	# The producer ends only when the consumer has read of it: a batch would hang. bash
	# reads 4096 bytes at a time, and gets them when they are all there.
	cat >stream.yaml <<-'END'
		name: stream
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c 'exec > numbers; seq 1 5000; until [ -e ../seen ]; do sleep 0.05; done; seq 5001 10000'
		    outports: [{filename: numbers, mode: no_update}]
		  - func: consume
		    exec: bash -c 'while read -r n; do [ "$n" != 1 ] || touch ../seen; echo "$n"; done < numbers > copy'
		    inports: [{filename: numbers}]
		    outports: [{filename: copy}]
	END
	cat >chain.yaml <<-'END'
		name: chain
		dir: work
		tasks:
		  - {func: make, exec: bash -c 'seq 100000 -1 1 > numbers', outports: [{filename: numbers, mode: no_update}]}
		  - {func: sort, exec: sort -n -o sorted numbers, inports: [{filename: numbers}], outports: [{filename: sorted}]}
		  - {func: count, exec: bash -c 'wc -l < sorted > lines', inports: [{filename: sorted}], outports: [{filename: lines}]}
		  - {func: sum, exec: bash -c 'cat sorted | md5sum > sum', inports: [{filename: sorted}], outports: [{filename: sum}]}
	END
}

teardown() {
	nothing_left
}

# replace FILE STEP COMMAND: give a step another command; no quotes or bars in it.
replace() {
	sed -i "/func: $2/,/exec:/s|exec: .*|exec: $3|" "$1"
}

@test "a consumer reads while its producer is writing" {
	run -0 timeout 20 leat run stream.yaml
	echo "$output"
	seq 10000 | cmp - work/copy
	grep -Eq '^produce .* ok$' <<<"$output"
	grep -Eq '^consume .* ok$' <<<"$output"
	# The machine may be busy with others.
	grep -Eq '^[0-9.]+ s; (estimated sequential time [0-9.]+ s \(speed-up [0-9.]+x\)|no estimate of the sequential time)' <<<"$output"
}

@test "outputs are those of the batch; temporary files are gone, permanent ones there" {
	run -0 leat run --plain chain.yaml
	mkdir plain
	mv work/* plain
	run -0 leat run --log log chain.yaml
	echo "$output"
	[ "$(cd work && echo *)" = "lines sum" ]
	cmp work/lines plain/lines
	cmp work/sum plain/sum
	run -0 leat replay chain.yaml log
	[[ $output == *" 0 differences" ]]
}

@test "the summary counts bytes and time spent waiting" {
	run -0 leat run --chart stream.yaml
	echo "$output"
	grep -Eq '^consume +[0-9.]+ s +[0-9.]+ s +[0-9.]+ [kM]B +48.9 kB  ok$' <<<"$output"
	grep -Eq '^produce +[0-9.]+ s +0.00 s +0 B +48.9 kB  ok$' <<<"$output"
	grep -Eq '^consume +[.]*#+' <<<"$output"
}

@test "no progress and no colours in a pipe" {
	run -0 leat run stream.yaml
	[[ $output != *$'\033'* && $output != *$'\r'* ]]
}

@test "progress on a terminal" {
	need script
	replace stream.yaml produce "bash -c 'sleep 1; seq 3 > numbers'"
	run -0 env TERM=xterm script -qec 'leat run stream.yaml' /dev/null
	[[ $output == *"1 running, 1 waiting, 0 of 2 done"* ]]
	[[ $output == *$'\033[K'* ]]
}

@test "a failing step: its status is leat's, its consumer gets an error, nothing is committed" {
	replace stream.yaml produce "bash -c 'echo 1 > numbers; exit 3'"
	replace stream.yaml consume "cp numbers copy"
	run -3 timeout 30 leat run stream.yaml
	echo "$output"
	[[ $output == *"leat: step produce failed: exit 3"* ]]
	[[ $output == *"Input/output error"* ]]
	[ ! -e work/copy ]
	[ ! -e work/numbers ]
}

@test "a killed step" {
	replace stream.yaml produce "bash -c 'echo 1 > numbers; kill -9 \$\$'"
	run -137 timeout 30 leat run stream.yaml
	echo "$output"
	[[ $output == *"leat: step produce failed: killed by SIGKILL"* ]]
	[ ! -e work/copy ]
}

@test "a step that ignores its failed input is ended" {
	replace stream.yaml produce "bash -c 'exit 3'"
	replace stream.yaml consume "sleep 100"
	run -3 timeout 30 leat run stream.yaml
	echo "$output"
	grep -Eq '^consume .*killed by SIGTERM' <<<"$output"
}

@test "a static program inside a step is refused by name" {
	need gcc
	echo 'int main(void) { return 0; }' | gcc -static -x c -o work/static -
	replace stream.yaml consume "bash -c './static; exit 5'"
	replace stream.yaml produce "true"
	run -5 no_mount timeout 30 leat run stream.yaml
	echo "$output"
	[[ $output == *static* ]]
	[[ $output == *staged* ]]
}

@test "a program that another step has made is refused by the name that it has in the directory" {
	static_linking
	echo 'int main(void) { return 0; }' | gcc -static -x c -o static -
	replace stream.yaml produce "bash -c 'cp ../static numbers'"
	replace stream.yaml consume "bash -c './numbers; exit 5'"
	run -5 no_mount timeout 30 leat run stream.yaml
	echo "$output"
	[[ $output == *"leat: step consume: $PWD/work/numbers: statically linked: cannot be intercepted; give the step \`staged: true\`"* ]]
	[[ $output != */proc/* ]]
}

@test "a staged step runs on plain files between streamed ones" {
	need gcc
	gcc -static -x c -o work/upper - <<-'END'
		#include <ctype.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			FILE *in = fopen(argv[argc - 2], "r"), *out = fopen(argv[argc - 1], "w");
			int c;
			if (!in || !out)
				return 1;
			while ((c = getc(in)) != EOF)
				putc(toupper(c), out);
			return fclose(out);
		}
	END
	cat >staged.yaml <<-'END'
		name: staged
		dir: work
		tasks:
		  - {func: one, exec: bash -c 'echo hello > a', outports: [{filename: a}]}
		  - {func: two, staged: true, exec: ./upper a b, inports: [{filename: a}], outports: [{filename: b}]}
		  - {func: three, exec: bash -c 'cat b > c', inports: [{filename: b}], outports: [{filename: c}]}
	END
	run -0 timeout 30 leat run staged.yaml
	echo "$output"
	[ "$(cat work/c)" = HELLO ]
	[ ! -e work/b ]
}

@test "directories a staged step made for temporaries only go with them" {
	cat >staged.yaml <<-'END'
		name: staged
		dir: work
		tasks:
		  - {func: one, staged: true, exec: bash -c 'mkdir -p new/deep && seq 3 > new/deep/a && seq 4 > old/b && seq 5 > new/kept', outports: [{filename: new/deep/a}, {filename: old/b}]}
		  - {func: two, staged: true, exec: bash -c 'mkdir -p gone && seq 6 > gone/c', outports: [{filename: gone/*}]}
		  - {func: three, exec: bash -c 'cat new/deep/a old/b gone/c > out', inports: [{filename: new/deep/a}, {filename: old/b}, {filename: gone/*}], outports: [{filename: out}]}
	END
	mkdir work/old
	run -0 timeout 30 leat run staged.yaml
	echo "$output"
	[ "$(wc -l < work/out)" = 13 ]
	[ ! -e work/gone ]
	[ ! -e work/new/deep ]
	[ "$(ls work/new)" = kept ] # undeclared: as in a batch
	[ -d work/old ] && [ -z "$(ls work/old)" ]
}

@test "a broken promise: fatal, or a warning" {
	cat >broken.yaml <<-'END'
		name: broken
		dir: work
		tasks:
		  - {func: one, exec: bash -c 'seq 10 > a', outports: [{filename: a}]}
		  - {func: two, exec: bash -c 'cat a > b; echo more >> a; true', inports: [{filename: a}], outports: [{filename: b}]}
	END
	run leat run broken.yaml
	echo "$output"
	[ "$status" = 125 ]
	grep -q '^leat: .*two.*' <<<"$output"
	run -0 leat run --on-violation warn broken.yaml
	echo "$output"
	grep -q '^leat: warning: .*two.*' <<<"$output"
	[ "$(tail -n 1 work/b)" = 10 ]
}

@test "a background process delays the commit of what it writes" {
	replace stream.yaml produce "bash -c 'exec > numbers; (seq 500; sleep 2; seq 501 1000) \&'"
	replace stream.yaml consume "sort -n -o copy numbers"
	run -0 timeout 30 leat run stream.yaml
	echo "$output"
	seq 1000 | cmp - work/copy
}

@test "a process that outlives its step and holds nothing is stopped" {
	replace stream.yaml produce "bash -c 'setsid sleep 300 \& seq 3 > numbers'"
	replace stream.yaml consume "sort -n -o copy numbers"
	run -0 timeout 30 leat run stream.yaml
	echo "$output"
	[[ $output == *"processes they left behind: sleep (pid "* ]]
	[[ $output == *"stopping sleep"* ]]
	seq 3 | cmp - work/copy
}

@test "steps that would wait for each other for ever are found before anything starts" {
	cat >cycle.yaml <<-'END'
		name: cycle
		dir: work
		tasks:
		  - {func: a, exec: cp y x, inports: [{filename: y}], outports: [{filename: x}]}
		  - {func: b, exec: cp x y, inports: [{filename: x}], outports: [{filename: y}]}
	END
	run -125 leat run cycle.yaml
	echo "$output"
	[[ $output == *"[L-CHECK-DEADLOCK]"* ]]
}

@test "a second run in the same directory is refused, and does not disturb the first" {
	replace stream.yaml produce "bash -c 'echo 1 > numbers; until [ -e ../go ]; do sleep 0.05; done'"
	leat run stream.yaml >out 2>&1 &
	until leat status -d work >/dev/null 2>&1; do sleep 0.05; done
	run -125 leat run chain.yaml
	echo "$output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "leat: "*"$PWD/work"* ]]
	touch go
	wait $!
	[ -e work/copy ]
}

@test "interrupted by SIGINT or SIGQUIT: all steps end, exit status 130 or 131" {
	local signal first second
	replace stream.yaml produce "bash -c 'ulimit -c 0; sleep 100 \& echo \$\$ \$! > ../pids; wait'"
	for signal in INT QUIT; do
		rm -f pids
		leat run stream.yaml >out 2>&1 &
		until [ -s pids ]; do sleep 0.05; done
		kill -"$signal" $!
		ended $((128 + $(kill -l "$signal"))) $! out
		read -r first second <pids
		[ ! -e "/proc/$first" ]
		[ ! -e "/proc/$second" ]
	done
}

@test "leat itself killed: steps and daemon end, the next run starts" {
	replace stream.yaml produce "bash -c 'echo \$\$ > ../pid; echo 1 > numbers; cat numbers nowhere; sleep 100'"
	leat run stream.yaml >out 2>&1 &
	until [ -s pid ]; do sleep 0.05; done
	kill -9 $!
	wait $! || true
	for _ in $(seq 100); do
		[ -e work/copy ] || leat status -d work >/dev/null 2>&1 || break
		sleep 0.1
	done
	kill -9 "$(cat pid)" || true
	run -0 timeout 30 leat run chain.yaml
	echo "$output"
}

@test "as an ordinary user" {
	[ "$(id -u)" != 0 ] || need setpriv
	place=$(mktemp -d /tmp/leat-test.XXXXXX)
	mkdir "$place/work"
	cp chain.yaml "$place"
	[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$place"
	cd "$place"
	LEAT_RUNTIME_DIR=$place/runtime run -0 nobody leat run chain.yaml
	echo "$output"
	[ "$(cat work/lines)" = 100000 ]
	LEAT_RUNTIME_DIR=$place/runtime nothing_left
	rm -rf "$place"
}

# as_ordinary COMMAND... in a directory of that user's, `place`.
as_ordinary() {
	[ "$(id -u)" != 0 ] || { need setpriv; chown -R 65534:65534 "$place"; }
	LEAT_RUNTIME_DIR=$place/runtime nobody "$@"
}

@test "as an ordinary user: modes that do not let it read its own files, and what the kernel refuses it" {
	place=$(mktemp -d /tmp/leat-test.XXXXXX)
	cd "$place"
	mkdir work
	cat >modes.yaml <<-'END'
		name: modes
		dir: work
		permanent: ["**"]
		tasks:
		  - func: make
		    exec: sh -c 'for m in 0 100 200 300 400; do echo $m >f$m; chmod $m f$m; done; mkdir d; echo 1 >d/1; chmod 555 d'
		    outports: [{filename: "f*"}, {dirname: d}]
		  - func: use
		    exec: bash -c '(echo >d/new) || (echo >>d/other) || touch d/third || echo none >y'
		    inports: [{dirname: d}]
		    outports: [{filename: y}]
	END
	run as_ordinary leat run modes.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(stat -c '%n %a' work/f* | paste -sd ' ')" = "work/f0 0 work/f100 100 work/f200 200 work/f300 300 work/f400 400" ]
	chmod 600 work/f*
	[ "$(cat work/f* | paste -sd ' ')" = "0 100 200 300 400" ]
	[ "$(ls work/d) $(cat work/y)" = "1 none" ]
	LEAT_RUNTIME_DIR=$place/runtime nothing_left
	chmod 755 work/d
	rm -rf "$place"
}

@test "a full disk" {
	[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
	mkdir small
	mount -t tmpfs -o size=64k leat-test-small small || skip "cannot mount a tmpfs"
	cat >full.yaml <<-'END'
		name: full
		dir: small
		tasks:
		  - {func: big, exec: bash -c 'head -c 1M /dev/zero > big', outports: [{filename: big}]}
	END
	run leat run full.yaml
	ls -la small
	left=$(ls -A small)
	umount small
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"leat: "*big*"No space left on device"* ]]
	[ -z "$left" ]
}

@test "a run of many steps: all that became of them is told" {
	{
		printf 'name: many\ndir: work\ntasks:\n'
		for i in $(seq 500); do
			printf '  - {func: s%s, exec: "sh -c '\''echo %s >out%s; cat out%s'\''", outports: [{filename: out%s}]}\n' "$i" "$i" "$i" "$i" "$i"
		done
		# The longer it takes, the more there is to tell of each.
		echo '  - {func: long, exec: "sleep 6", outports: [{filename: "none*"}]}'
	} >many.yaml
	mkdir -p work
	run -0 timeout 100 leat run many.yaml
	[ "$(grep -c ' ok$' <<<"$output")" = 501 ]
}
