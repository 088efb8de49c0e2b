#!/usr/bin/env bats
# Names that are private to a step: each has a file of its own.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	# Nothing of theirs is left.
	[ -z "$(find work -name '.leat-*')" ]
}

# two PRIVATE SCRIPT PRIVATE SCRIPT: a workflow of two steps without an order; `one` makes a.txt, `two` b.txt.
two() {
	printf '%s\n' "$2" >one.sh
	printf '%s\n' "$4" >two.sh
	cat >w.yaml <<-END
		name: w
		dir: work
		tasks:
		  - func: one
		    exec: bash ../one.sh
		    private: [$1]
		    outports: [{filename: a.txt}]
		  - func: two
		    exec: bash ../two.sh
		    private: [$3]
		    outports: [{filename: b.txt}]
	END
}

@test "each step has its own file of that name" {
	two tmp.txt 'seq 1 5 >tmp.txt; sleep 0.3; cat tmp.txt >a.txt' tmp.txt 'seq 11 15 >tmp.txt; sleep 0.3; cat tmp.txt >b.txt'
	run -0 --separate-stderr leat run w.yaml
	[ -z "$stderr" ]
	[ "$(cat work/a.txt work/b.txt)" = "$(seq 1 5; seq 11 15)" ]
	[ "$(ls work)" = $'a.txt\nb.txt' ]
}

@test "what was there before the run: read, copied when it is changed, hidden when it is removed" {
	echo old >work/tmp.txt
	two tmp.txt 'cat tmp.txt >a.txt; echo one >>tmp.txt; cat tmp.txt >>a.txt; rm tmp.txt; [ -e tmp.txt ] && exit 1; ls >>a.txt; echo new >tmp.txt; cat tmp.txt >>a.txt' \
		tmp.txt 'sleep 0.3; cat tmp.txt >b.txt; rm tmp.txt; ! rm tmp.txt; [ ! -e tmp.txt ]; mv -n a b; truncate -s 3 tmp.txt; stat -c %s tmp.txt >>b.txt'
	echo x >work/x
	leat run w.yaml
	[ "$(grep -v '\.txt$' work/a.txt)" = $'old\nold\none\nx\nnew' ]
	[ "$(cat work/b.txt)" = $'old\n3' ]
	[ "$(cat work/tmp.txt)" = old ]
}

@test "a hard link of what was there before the run: it and the step's own are one file" {
	mkdir work/d
	echo old | tee work/d/old >work/kept
	two 'd/old, kept' 'ln -f d/old old; echo one >>d/old; cat old >a.txt; echo two >>old; cat d/old >>a.txt; stat -c %h old >>a.txt' \
		'kept' 'ln kept link; echo three >link; cat kept >b.txt'
	leat run w.yaml
	[ "$(cat work/a.txt)" = $'old\none\nold\none\ntwo\n2' ]
	[ "$(cat work/b.txt work/old work/link)" = $'three\nold\none\ntwo\nthree' ]
	[ "$(cat work/d/old work/kept)" = $'old\nold' ] # what others had stays as it was
}

@test "given a declared name, it is published" {
	two '"*.tmp"' 'seq 5 >x.tmp; mv x.tmp a.txt' '"*.tmp"' 'seq 6 >x.tmp; ln x.tmp b.txt; rm x.tmp'
	leat run w.yaml
	[ "$(cat work/a.txt work/b.txt)" = "$(seq 5; seq 6)" ]
}

@test "directories: made, entered, listed, searched, removed" {
	two scratch 'mkdir -p scratch/d/e; cd scratch/d; echo 1 >e/f; pwd >g; cp -r e h; ls >>g; find .. | sort >>g; cd ../..; cat scratch/d/g >a.txt; rm -r scratch; [ ! -e scratch ]' \
		'"scratch/*"' 'mkdir -p scratch; mkdir scratch/two; echo 2 >scratch/two/x; (cd scratch/two; cat x; ls; /bin/pwd) >b.txt; ls scratch >>b.txt; mv scratch/two scratch/three; cat scratch/three/x >>b.txt'
	leat run w.yaml
	[ "$(cat work/a.txt)" = "$(realpath work)/scratch/d"$'\ne\ng\nh\n..\n../d\n../d/e\n../d/e/f\n../d/g\n../d/h\n../d/h/f' ]
	[ "$(cat work/b.txt)" = $'2\nx\n'"$(realpath work)/scratch/two"$'\ntwo\n2' ]
}

@test "a listing shows the step's own, and none of others" {
	two '"t*"' 'mkdir d; echo >t1; echo >d/tx; touch go; until [ -e ../go2 ]; do sleep 0.05; done; ls . >a.txt; echo t*' \
		'"t*"' 'until [ -e go ]; do sleep 0.05; done; echo >t2; touch ../go2; ls >b.txt'
	sed -i 's/touch go;/touch ..\/go;/' one.sh
	sed -i 's/-e go /-e ..\/go /' two.sh
	leat run w.yaml
	grep -qx t1 work/a.txt
	[ "$(grep -cx t2 work/a.txt)" = 0 ]
	grep -qx t2 work/b.txt
	[ "$(grep -cx t1 work/b.txt)" = 0 ]
}

@test "another step that looks for it is told" {
	two tmp.txt 'seq 1 5 >tmp.txt; cat tmp.txt >a.txt' other 'until [ -e ../go ]; do sleep 0.05; done; cat tmp.txt >b.txt || true'
	touch go
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: tmp.txt was \(looked for\|read\) by step two, but is private to step one, which in a batch leaves its file behind by that name, or none: let it be private to two, too, or, if two is to have it, an output of one and an input of two" <<<"$stderr"
}

@test "looked for beside a file of its own, before an earlier step makes it" {
	mkdir work/d
	two 'd/*' 'until [ -e ../go ]; do sleep 0.02; done; echo one >d/x; echo >a.txt' \
		'd/*' 'echo two >d/mine; cat d/x >b.txt; touch ../go; cat a.txt >>b.txt'
	sed -i 's/^    private: .d...$/&/; /func: one/,/outports/{/private/d}' w.yaml
	sed -i 's/^    outports: \[{filename: b.txt}\]/    inports: [{filename: a.txt}]\n&/' w.yaml
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: d/x was looked for by step two and then created by step one, which in a batch ends before step two begins" <<<"$stderr"
}

@test "a declared name is not private whatever matches, a link of a private one is" {
	two '"*"' 'echo 1 >t; ln -s t s; cat s >a.txt; readlink s >>a.txt' '"*"' 'echo 2 >t; ln -s t s; cat s >b.txt; echo 3 >s; cat t >>b.txt'
	leat run w.yaml
	[ "$(cat work/a.txt work/b.txt)" = $'1\nt\n2\n3' ]
}

@test "a program behind a mount" {
	need gcc
	cat >prog.c <<-'END'
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int main(int n, char **v)
		{
			char line[100];
			FILE *f = fopen("tmp.txt", "w");
			if (!f || fprintf(f, "%s\n", v[1]) < 0 || fclose(f)) return 1;
			usleep(300000);
			f = fopen("tmp.txt", "r");
			if (!f || !fgets(line, sizeof(line), f) || fclose(f)) return 2;
			if (mkdir("dir.tmp", 0777) || !(f = fopen("dir.tmp/x", "w")) || fclose(f)) return 3;
			if (unlink("dir.tmp/x") || rmdir("dir.tmp")) return 4;
			f = fopen("last.tmp", "w");
			if (!f || fputs(line, f) < 0 || fclose(f) || rename("last.tmp", v[2])) return 5;
			return 0;
		}
	END
	gcc -static -o prog prog.c
	two 'tmp.txt, "*.tmp"' '../prog 1 a.txt' 'tmp.txt, "*.tmp"' '../prog 2 b.txt'
	run --separate-stderr leat run w.yaml
	[ "$status" = 0 ] || grep -q "cannot be" <<<"$stderr"
	[ "$status" != 0 ] || [ "$(cat work/a.txt work/b.txt)" = $'1\n2' ]
}

@test "instances of an ensemble, and a canonical file" {
	cat >w.yaml <<-'END'
		name: w
		dir: work
		tasks:
		  - func: one
		    taskCount: 2
		    exec: bash -c 'echo {instance} >tmp; cat tmp >out'
		    private: [tmp]
		    outports: [{filename: out}]
	END
	leat check --canonical w.yaml >w.json
	grep -A1 '"private"' w.json
	leat run w.yaml
	[ "$(cat work/one.0/out work/one.1/out)" = $'0\n1' ]
	[ ! -e work/one.0/tmp ]
}

@test "as an ordinary user, of root's run as well" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	# bats' own directory is shut for others.
	local open
	open=$(mktemp -d "${TMPDIR:-/tmp}/leat-private.XXXXXX")
	chmod 777 "$open"
	cd "$open"
	mkdir -m 777 work
	two tmp.txt 'seq 1 5 >tmp.txt; cat tmp.txt >a.txt' tmp.txt 'seq 11 15 >tmp.txt; cat tmp.txt >b.txt'
	LEAT_RUNTIME_DIR=$open/runtime nobody leat run w.yaml
	[ "$(cat work/a.txt work/b.txt)" = "$(seq 1 5; seq 11 15)" ]
	rm -f work/?.txt
	sed -i 's|exec: bash|exec: setpriv --reuid=65534 --regid=65534 --clear-groups bash|' w.yaml
	LEAT_RUNTIME_DIR=$open/runtime-root leat run w.yaml
	[ "$(cat work/a.txt work/b.txt)" = "$(seq 1 5; seq 11 15)" ]
	[ -z "$(find work -name '.leat-private*')" ]
	cd "$BATS_TEST_TMPDIR" || return 1
	rm -rf "$open"
}

@test "killed: the next run removes what is left" {
	two tmp.txt 'echo >tmp.txt; echo >../ready; sleep 60' tmp.txt 'echo >b.txt'
	leat run w.yaml 3>&- &
	soon [ -e ready ]
	pkill -KILL -P $! 2>/dev/null || true
	kill -KILL $!
	wait $! || true
	two tmp.txt 'echo >tmp.txt; echo >a.txt' tmp.txt 'echo >b.txt'
	soon leat run w.yaml
}

@test "what was there before the run is changed, replaced or removed: told, and so is who uses it afterwards" {
	local change
	for change in 'echo new >tmp.txt' 'echo more >>tmp.txt' 'rm tmp.txt' 'echo >other; mv other tmp.txt' 'mv tmp.txt away'; do
		rm -rf work
		mkdir work
		echo old >work/tmp.txt
		two '"tmp.txt", "other"' "$change; echo >a.txt" none 'echo >b.txt'
		run -0 --separate-stderr leat run w.yaml
		[[ $stderr == *"warning: step one changes tmp.txt, which was there before and is private to it: for others, and after the run, it stays as it was"* ]]
		two '"tmp.txt", "other"' "$change; echo >a.txt" none 'cat a.txt tmp.txt >b.txt'
		sed -i 's/^    outports: \[{filename: b.txt}\]/    inports: [{filename: a.txt}]\n&/' w.yaml
		run -125 --separate-stderr leat run w.yaml
		grep -q "violation: tmp.txt was \(read\|looked for\) by step two, but is private to step one" <<<"$stderr"
	done
	two tmp.txt 'cat tmp.txt >a.txt' none 'cat tmp.txt >b.txt'
	run -0 --separate-stderr leat run w.yaml
	[ -z "$stderr" ]
}

@test "another step makes a symlink by that name, which a batch would write through" {
	local change
	for change in 'ln -s t tmp.txt' 'ln -s t x; mv x tmp.txt' 'ln -s t x; ln x tmp.txt'; do
		rm -f work/* made
		echo new >work/t
		two x "until [ -e ../made ]; do sleep 0.01; done; $change; echo >a.txt" tmp.txt 'echo mine >tmp.txt; touch ../made; sleep 0.5; echo >b.txt'
		run -125 --separate-stderr leat run -q w.yaml
		echo "$stderr"
		grep -q '^leat: violation: tmp.txt was made as a symlink by step one, but is private to step two' <<<"$stderr"
	done
}

@test "a directory in which something is private is renamed, or removed" {
	two '"d/x"' 'mkdir d; echo 1 >d/x; rmdir d && exit 1; mv d e && exit 1; cat d/x >a.txt' other 'echo >b.txt'
	run -125 --separate-stderr leat run -q w.yaml
	grep -q '^leat: step one renames d, in which d/x is private to it and cannot go along: have what is private in a directory that keeps its name' <<<"$stderr"
	rm -rf work/*
	mkdir work/d
	echo old >work/d/x
	two '"d/x"' 'rm d/x; mv d e && exit 1; echo >a.txt' other 'echo >b.txt'
	run -125 --separate-stderr leat run -q w.yaml
	grep -q '^leat: step one renames d, in which d/x is private to it' <<<"$stderr"
	rm -rf work/*
	two '"d/x"' 'mkdir -p d/s; echo 1 >d/x; rm -r d; mkdir d; mv d e; ls -A e >a.txt' other 'echo >b.txt'
	leat run -q w.yaml
	[ ! -s work/a.txt ] && [ -d work/e ]
}

@test "an earlier step moves away the directory in which something private was made: a conflict" {
	mkdir work/d
	two other 'until [ -e ../made ]; do sleep 0.01; done; mv d e; echo >a.txt' '"d/x"' 'echo 1 >d/x; touch ../made; cat a.txt d/x >b.txt'
	sed -i 's/outports: \[{filename: b.txt}\]/inports: [{filename: a.txt}]\n    &/' w.yaml
	run -125 --separate-stderr leat run -q w.yaml
	grep -q '^leat: violation: d was relied on by step two and then renamed by step one, which in a batch ends before step two begins' <<<"$stderr"
}

@test "what was there before the run, and has another name, is changed in place" {
	echo old >work/tmp.txt
	ln work/tmp.txt work/kept
	two tmp.txt 'echo new >>tmp.txt; echo >a.txt' other 'echo >b.txt'
	run -125 --separate-stderr leat run -q w.yaml
	grep -qF 'leat: step one changes tmp.txt, which is private to it and has other names (hard links): in a batch they would change with it; let it be a copy, or not private' <<<"$stderr"
	[ "$(cat work/tmp.txt work/kept)" = $'old\nold' ]
	# A new file of that name is no change of the other.
	two tmp.txt 'rm tmp.txt; echo new >tmp.txt; cat tmp.txt >a.txt' other 'echo >b.txt'
	leat run -q w.yaml
	[ "$(cat work/a.txt work/tmp.txt work/kept)" = $'new\nold\nold' ]
}

@test "another name of what is in memory, and what comes from there: not saved, and nothing of it is left" {
	local how permanent
	echo 'echo 1 >x; ln x fit.log; mkdir d; ln x d/other; cat d/other >../seen; echo 2 >z; mv z d/moved; cat d/moved >>../seen; echo 3 >z' >one.sh
	echo 'ln x tmp; cat tmp >y' >two.sh
	for how in '' 'env LEAT_INTERCEPT=mount '; do
		for permanent in 'permanent: ["**"]' ''; do
			rm -rf work
			mkdir work
			cat >w.yaml <<-END
				name: w
				dir: work
				$permanent
				tasks:
				  - func: one
				    exec: ${how}bash ../one.sh
				    private: [fit.log, d]
				    outports: [{filename: x}, {filename: z}]
				  - func: two
				    exec: ${how}bash ../two.sh
				    private: [tmp]
				    inports: [{filename: x}]
				    outports: [{filename: y}]
			END
			run -0 --separate-stderr leat run -q w.yaml
			echo "$how, $permanent: $stderr"
			[ "$(cat seen)" = $'1\n2' ]
			[ -z "$stderr" ]
			[ "$(cat work/y)" = 1 ]
			[ -z "$(find work -name '.leat-*')" ]
			[ -z "$permanent" ] || [ "$(cat work/x work/z; stat -c %h work/x)" = $'1\n3\n1' ]
		done
	done
}

# later PRIVATE SCRIPT SCRIPT: step `b`, to which nothing is private, runs after `a`; both make a file `real`.
later() {
	rm -rf work
	mkdir work
	echo "$2; echo >tok" >a.sh
	echo "cat tok; $3; cat real >b.txt" >b.sh
	cat >w.yaml <<-END
		name: w
		dir: work
		tasks:
		  - func: a
		    exec: bash ../a.sh
		    private: [$1]
		    outports: [{filename: real}, {filename: tok}]
		  - func: b
		    exec: bash ../b.sh
		    inports: [{filename: tok}, {filename: real}]
		    outports: [{filename: b.txt}, {filename: real}]
	END
}

@test "a link by a private name, which a later step makes anew and in a batch would write through" {
	local change
	for change in 'echo one >real; ln -s real tmp.txt' 'echo one >real; ln -s real l; mv l tmp.txt' 'echo one >real; ln real tmp.txt' \
		'echo one >tmp.txt; ln tmp.txt real' 'echo one >tmp.txt; ln tmp.txt l; mv l real' 'echo one >real; echo mine >tmp.txt; ln -sf real tmp.txt' \
		'echo one >l; ln l tmp.txt; mv l real'; do
		later 'tmp.txt, l' "$change" 'echo two >tmp.txt'
		run -125 --separate-stderr leat run -q w.yaml
		echo "$change: $stderr"
		grep -q '^leat: violation: tmp.txt was created by step b, but is private to step a, which in a batch leaves a link by that name, and step b would have used the file that it leads to: let it be private to b, too, or give one of them another name$' <<<"$stderr"
	done
	later 'sub' 'echo one >real; ln -s . sub' 'mkdir -p sub'
	run -125 --separate-stderr leat run -q w.yaml
	grep -q '^leat: violation: sub was .* by step b, but is private to step a' <<<"$stderr"
	# What is no link is no conflict.
	for change in 'echo one >real; echo mine >l; mv l tmp.txt' 'echo one >real; ln -s real tmp.txt; rm tmp.txt' \
		'echo one >real; ln real tmp.txt; mv tmp.txt l' 'echo one >real; ln -s real tmp.txt; rm tmp.txt; echo mine >tmp.txt'; do
		later 'tmp.txt, l' "$change" 'echo two >tmp.txt'
		run -0 --separate-stderr leat run -q w.yaml
		[ "$(cat work/b.txt work/tmp.txt)" = $'one\ntwo' ]
	done
}

@test "a link by a private name, after another step without an order has used it" {
	two tmp.txt 'echo mine >tmp.txt; touch ../ready; until [ -e ../made ]; do sleep 0.01; done; echo >a.txt; ln -f a.txt tmp.txt' \
		other 'until [ -e ../ready ]; do sleep 0.01; done; echo two >tmp.txt; touch ../made; sleep 0.5; echo >b.txt'
	run -125 --separate-stderr leat run -q w.yaml
	grep -q '^leat: violation: tmp.txt was created by step two, but is private to step one, which in a batch leaves a link by that name' <<<"$stderr"
}
