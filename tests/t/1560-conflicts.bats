#!/usr/bin/env bats
# Steps without an order that use the same name: never another result than the batch's in silence.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# two SCRIPT SCRIPT: a workflow of two steps without an order; `one` makes a.txt, `two` b.txt.
two() {
	printf '%s\n' "$1" >one.sh
	printf '%s\n' "$2" >two.sh
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash one.sh
		    outports: [{filename: a.txt}]
		  - func: two
		    exec: bash two.sh
		    outports: [{filename: b.txt}]
	END
}

# conflict NAME: a run fails, says why, and a run that only warns says the same.
conflict() {
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: $1 was .* by step \(one\|two\) and then .* by step \(one\|two\), which has no order with it: in a batch they run one after the other; give each a file of its own .*, or declare it as an output of \(one\|two\) and an input of \(one\|two\)" <<<"$stderr"
	rm -rf a.txt b.txt go "$1"
	run -0 --separate-stderr leat run --on-violation warn w.yaml
	grep -q "warning: violation: $1 was " <<<"$stderr"
}

@test "two steps make a file of the same name: named, not mixed" {
	two 'seq 1 5 >tmp.txt; sleep 0.3; cat tmp.txt >a.txt' 'seq 11 15 >tmp.txt; sleep 0.3; cat tmp.txt >b.txt'
	conflict tmp.txt
}

@test "the one after the other by chance: named all the same" {
	two 'seq 1 5 >tmp.txt; cat tmp.txt >a.txt' \
		'while ! grep -q 5 tmp.txt; do sleep 0.05; done; seq 11 15 >tmp.txt; cat tmp.txt >b.txt'
	conflict tmp.txt
}

@test "each other call that changes a name" {
	local change
	for change in 'mv mine tmp.txt' 'rm tmp.txt' 'ln -s mine tmp.txt' 'ln mine tmp.txt' 'mv tmp.txt other' \
		'truncate -s 1 tmp.txt' 'mkfifo tmp.txt' ': >>tmp.txt' 'echo >tmp.txt' 'exec 3<>tmp.txt'; do
		rm -rf ./*
		# Looked for, or read, by the one; changed by the other, whoever comes first.
		two 'cat tmp.txt; echo >a.txt' "echo >mine; $change; echo >b.txt"
		[[ $change =~ ^(ln|mkfifo) ]] || echo old >tmp.txt
		run -125 --separate-stderr leat run w.yaml
		grep -Eq "violation: (tmp.txt|mine) was " <<<"$stderr" || {
			echo "$change: $stderr"
			return 1
		}
	done
}

@test "given a second name by the one, made by the other" {
	two 'until [ -e ../go ]; do sleep 0.05; done; ln tmp.txt second; echo >a.txt' 'echo 1 >tmp.txt; touch ../go; echo >b.txt'
	mkdir work
	sed -i 's/^name: w/name: w\ndir: work/; s/bash \([a-z]*\).sh/bash ..\/\1.sh/' w.yaml
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: tmp.txt was created by step two and then read by step one, " <<<"$stderr"
}

@test "looked for in vain, and then made by the other" {
	two '[ -e flag ] || echo no >a.txt; touch go' 'while [ ! -e go ]; do sleep 0.05; done; touch flag; echo >b.txt'
	conflict go
}

@test "a symlink that leads nowhere, or a file in place of a directory, on the way: both are looked at" {
	local way
	for way in '' 'env LEAT_INTERCEPT=mount '; do
		[ -z "$way" ] || [ -c /dev/fuse ] || continue
		two 'until [ -e go ]; do sleep 0.05; done; cat tmp.txt >a.txt; true' 'ln -s tmp.txt tmp.txt; touch go; echo >b.txt'
		sed -i "s/exec: bash/exec: ${way}bash/" w.yaml
		echo "exclude: [go]" >>w.yaml
		conflict tmp.txt
		rm -f go tmp.txt
		two 'until [ -e go ]; do sleep 0.05; done; cat tmp.txt/x 2>a.txt; mv tmp.txt/x tmp.txt/y; true' 'echo >tmp.txt; touch go; echo >b.txt'
		sed -i "s/exec: bash/exec: ${way}bash/" w.yaml
		echo "exclude: [go]" >>w.yaml
		conflict tmp.txt
		rm -f go tmp.txt
	done
	# And afterwards.
	two 'echo 1 >tmp.txt; mkdir d; (cat tmp.txt/x; mv d tmp.txt/x) 2>a.txt; touch go' 'until [ -e go ]; do sleep 0.05; done; rm tmp.txt; echo >b.txt'
	echo "exclude: [go]" >>w.yaml
	sed -i 's/echo 1 >tmp.txt; //' one.sh
	run -125 --separate-stderr bash -c 'echo 1 >tmp.txt; leat run w.yaml'
	grep -q "violation: tmp.txt was read by step one and then removed by step two" <<<"$stderr"
}

@test "in a directory that both make, and below one that is moved" {
	two 'mkdir -p tmp; echo 1 >tmp/one; cat tmp/one >a.txt' 'mkdir -p tmp; echo 2 >tmp/two; cat tmp/two >b.txt'
	leat run w.yaml
	two 'mkdir one; echo 1 >one/x; mv one dir; cat dir/x >a.txt' 'mkdir two; echo 2 >two/x; mv -T two dir; cat dir/x >b.txt'
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: dir.* was " <<<"$stderr"
}

@test "a directory that is not removed because of what the other makes there" {
	mkdir e
	two 'echo 1 >e/x; echo >a.txt' 'until [ -e ../go ] || [ -s e/x ]; do sleep 0.05; done; rmdir e; echo >b.txt'
	sed -i 's/-s e.x/"$(ls e)"/' two.sh
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: e/x was created by step one and then read by step two, which has no order with it" <<<"$stderr"
	# What is there of its own, or was before, keeps it in the batch, too.
	rm -rf e
	mkdir -p e f
	touch f/old
	two 'echo 1 >e/x; echo 1 >f/x; sleep 0.3; echo >a.txt' \
		'echo 2 >e/y; until [ -n "$(ls f | grep x)" ]; do sleep 0.05; done; rmdir e f; echo >b.txt'
	run -0 --separate-stderr leat run w.yaml
	[[ $stderr != *violation* ]]
}

@test "what is no conflict: inputs that both read, own names, searches, modules" {
	echo in >in.txt
	printf 'def f():\n    return 1\n' >module.py
	two 'cat in.txt; [ -e nowhere ]; PATH=.:$PATH expr 1 + 1; mktemp tmp.XXXXXX; python3 -c "import module, json"; ls >/dev/null; echo >a.txt' \
		'cat in.txt; [ -e nowhere ]; PATH=.:$PATH expr 1 + 1; mktemp tmp.XXXXXX; python3 -c "import module, json"; ls >/dev/null; echo >b.txt'
	run -0 --separate-stderr leat run w.yaml
	run ! grep -v '^\[\|^$' <<<"$stderr"
}

@test "only appended to: a warning" {
	two 'echo 1 >>log; echo >a.txt' 'echo 2 >>log; echo >b.txt'
	run -0 --separate-stderr leat run w.yaml
	grep -q "warning: log is appended to by steps .*, which run at the same time: its lines may come in another order than in a batch" <<<"$stderr"
	[ "$(sort log)" = $'1\n2' ]
}

@test "steps with an order wait for who used it before them" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash -c 'echo 1 >>tmp.txt; echo >a.txt; while [ ! -e seen ]; do sleep 0.05; done; sleep 0.2; echo 2 >>tmp.txt'
		    outports: [{filename: a.txt, mode: no_update}]
		  - func: two
		    exec: bash -c 'head -c 1 a.txt; touch seen; cat tmp.txt >b.txt; echo 3 >tmp.txt'
		    inports: [{filename: a.txt}]
		    outports: [{filename: b.txt}]
	END
	echo old >tmp.txt
	run --separate-stderr leat run --on-violation warn w.yaml
	[ "$(cat b.txt)" = $'old\n1\n2' ]
	grep -q "step two uses tmp.txt, which step one uses without declaring it: it waits for that step's end" <<<"$stderr"
}

@test "a later step comes first: named" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash -c 'echo >a.txt; while [ ! -e stop ]; do sleep 0.05; done; echo 1 >tmp.txt'
		    outports: [{filename: a.txt, mode: no_update}]
		  - func: two
		    exec: bash -c 'head -c 1 a.txt; echo 2 >tmp.txt; cat tmp.txt >b.txt'
		    inports: [{filename: a.txt}]
		    outports: [{filename: b.txt}]
	END
	leat run w.yaml 2>stderr 3>&- &
	soon [ -e tmp.txt ]
	touch stop
	wait $! || [ $? = 125 ]
	grep -q "violation: tmp.txt was created by step two and then truncated by step one, which in a batch ends before step two begins; give each a file of its own .*, or declare it as an output of one and an input of two" stderr
}

@test "two steps that declare one output, and each make it anew" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash -c 'seq 1 3 >x.txt'
		    outports: [{filename: x.txt}]
		  - func: two
		    exec: bash -c 'seq 4 6 >x.txt'
		    outports: [{filename: x.txt}]
	END
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x.txt was opened for writing by step .* and then truncated by step" <<<"$stderr"
}

@test "an output that another step reads undeclared, and would not find in a batch" {
	two 'cat b.txt >a.txt' 'echo 2 >b.txt'
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: b.txt was .* declare it as an output of two and an input of one" <<<"$stderr"
	two 'echo 1 >a.txt' 'cat a.txt >b.txt'
	leat run w.yaml
	[ "$(cat b.txt)" = 1 ]
}

@test "a name that one step has looked for in vain, and another makes: who makes it is to declare it" {
	two 'until [ -e ../go ]; do sleep 0.02; done; echo 1 >tmp.txt; echo 1 >a.txt' '[ -e tmp.txt ] || touch ../go; echo 2 >b.txt'
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: tmp.txt was looked for by step two and then created by step one, which has no order with it: .* declare it as an output of one and an input of two" <<<"$stderr"
}

# before SCRIPT: a step that comes before another, which makes b.txt, changes old.txt and removes gone.txt at once.
before() {
	rm -rf work
	mkdir work
	echo old | tee work/old.txt work/gone.txt >work/moved.txt
	printf '%s\n' "until [ -e ../go ]; do sleep 0.02; done; $1; echo 1 >x" >one.sh
	echo 'echo b >b.txt; sed -i s/old/new/ old.txt; rm gone.txt; mv moved.txt y; mkdir made; touch ../go; cat x >y' >two.sh
	rm -f go
	cat >w.yaml <<-'END'
		name: w
		dir: work
		tasks:
		  - func: one
		    exec: bash ../one.sh
		    outports: [{filename: x}, {filename: c}]
		  - func: two
		    exec: bash ../two.sh
		    inports: [{filename: x}]
		    outports: [{filename: b.t*}, {filename: old.txt}, {filename: gone.txt}, {filename: moved.txt}, {filename: y}, {filename: made}]
	END
	run -125 --separate-stderr leat run w.yaml
}

@test "an output of a later step, which that has made, changed or removed already" {
	local use
	for use in 'rm -f b.txt' 'rm -f *.txt' 'mv b.txt c' 'echo 1 >b.txt' 'echo 1 >>b.txt' '[ -e b.txt ]' 'cat b.txt >c' \
		'mkdir b.txt || true' 'rmdir b.txt || true' 'ln -s x b.txt || true' 'mkfifo b.txt || true'; do
		before "$use"
		echo "$use: $stderr"
		grep -Eq "violation: (b|old).txt was created by step two and then .* by step one, which in a batch ends before step two begins; give each a file of its own" <<<"$stderr"
	done
	before 'cat old.txt >c'
	grep -q "violation: old.txt was created by step two and then read by step one, which in a batch ends" <<<"$stderr"
	before 'cat gone.txt >c'
	grep -q "violation: gone.txt was removed by step two and then looked for by step one, which in a batch ends" <<<"$stderr"
	for use in 'echo 1 >gone.txt' 'exec 3<>gone.txt' 'ln -s x gone.txt' 'mkdir gone.txt' 'echo 1 >c; mv -n c gone.txt'; do
		before "$use"
		echo "$use: $stderr"
		grep -Eq "violation: gone.txt was removed by step two and then .* by step one, which in a batch ends" <<<"$stderr"
	done
	before '[ ! -d made ] || mv made c'
	grep -q "violation: made was created by step two and then renamed by step one, which in a batch ends" <<<"$stderr"
	before 'cat moved.txt >c'
	grep -q "violation: moved.txt was removed by step two and then looked for by step one, which in a batch ends" <<<"$stderr"
}

@test "programs behind a mount" {
	need gcc
	printf '%s\n' 'int main(int n, char **v) { FILE *f = fopen("tmp.txt", "w"); return !f || fprintf(f, "%s\n", v[1]) < 0 || fclose(f); }' |
		gcc -include stdio.h -static -o put -xc -
	two './put 1 && cat tmp.txt >a.txt' './put 2 && cat tmp.txt >b.txt'
	run --separate-stderr leat run w.yaml
	[[ $stderr != *"statically linked: cannot be intercepted"* ]] || skip "no mount is possible here: no /dev/fuse, or no namespaces"
	rm -rf a.txt b.txt tmp.txt
	conflict tmp.txt
}

@test "batch steps on plain files get no message, a replay takes the same decisions" {
	two 'seq 1 5 >tmp.txt; cat tmp.txt >a.txt' 'seq 11 15 >tmp.txt; cat tmp.txt >b.txt'
	run -0 --separate-stderr leat run --plain w.yaml
	[ -z "$stderr" ]
	run -0 leat run --on-violation warn --log log w.yaml
	leat replay w.yaml log
}

@test "a directory of outputs that is entered before it is there, without a look: waited for" {
	cat >w.yaml <<-'END'
		name: w
		tasks:
		  - func: one
		    exec: bash -c 'sleep 0.5; mkdir r; seq 10 >r/f'
		    outports: [{filename: 'r/*'}]
		  - func: two
		    exec: python3 two.py
		    inports: [{filename: 'r/*'}]
		    outports: [{filename: b.txt}]
	END
	cat >two.py <<-'END'
		import os
		out = open("b.txt", "w")
		os.chdir("r")
		out.write(open("f").read())
	END
	leat run w.yaml
	[ "$(cat b.txt)" = "$(seq 10)" ]
}

# staged STEP [WORD]: it works on real files, which leat does not see while it runs.
staged() {
	sed -i "/func: $1/a\\    staged: ${2:-true}" w.yaml
}

# like_batch: what the steps leave is what they leave one after the other, without a word of conflicts.
like_batch() {
	local name
	find . -mindepth 1 ! -name '*.sh' ! -name w.yaml -delete
	[ ! -e before.sh ] || bash before.sh
	leat run --plain w.yaml
	mkdir ../batch && cp -a . ../batch
	find . -mindepth 1 ! -name '*.sh' ! -name w.yaml -delete
	[ ! -e before.sh ] || bash before.sh
	run -0 --separate-stderr timeout 60 leat run w.yaml
	[[ $stderr != *violation* ]]
	for name in a.txt b.txt "$@"; do
		cmp "$name" "../batch/$name"
	done
	rm -r ../batch
}

@test "two staged steps that use one name run one after the other, as in the batch" {
	mkdir work && cd work
	two 'seq 1 5 >tmp.txt; sleep 0.3; cat tmp.txt >a.txt' '[ -e tmp.txt ] && cat tmp.txt >b.txt; seq 11 15 >tmp.txt; sleep 0.3; cat tmp.txt >>b.txt; rm tmp.txt'
	staged one
	staged two
	like_batch
	[ ! -e tmp.txt ]
	# By the order of the batch, which is not that of the file.
	two 'cat c.txt tmp.txt >a.txt' 'sleep 0.5; echo 2 >tmp.txt; echo >b.txt'
	staged one
	staged two
	sed -i 's/outports: .{filename: a.txt}./inports: [{filename: c.txt}]\n    &/' w.yaml
	printf '  - func: three\n    exec: touch c.txt\n    outports: [{filename: c.txt}]\n' >>w.yaml
	like_batch tmp.txt
}

@test "a listing that waits for files is no change of what a staged step may use" {
	cat >w.yaml <<-'END'
		name: w
		dir: work
		tasks:
		  - {func: make, exec: bash -c "mkdir e; echo >e/1; sleep 0.3; echo >e/2", outports: [{filename: e/**}]}
		  - {func: before, exec: bash -c "sleep 0.6; echo >b.txt", staged: true, outports: [{filename: b.txt}]}
		  - {func: list, exec: bash -c "ls e >c.txt; cat b.txt >>c.txt", inports: [{filename: e/**}, {filename: b.txt}], outports: [{filename: c.txt}]}
	END
	mkdir work
	run -0 --separate-stderr leat run -q w.yaml
	[ -z "$stderr" ]
}

@test "a staged and a streamed step that use one name: as in the batch, whoever is the first there" {
	mkdir work && cd work
	two 'seq 1 5 >tmp.txt; sleep 0.5; cat tmp.txt >a.txt; rm tmp.txt' 'seq 11 15 >tmp.txt; sleep 0.5; cat tmp.txt >b.txt; rm tmp.txt'
	staged one
	like_batch
	grep -q 'step two waits for the end of step one before it changes tmp.txt: leat does not see which names a staged step uses; if one does not use this one, set its key "staged" to "concurrent"' <<<"$stderr"
	sed -i '/staged/d' w.yaml
	staged two
	like_batch
	# Each way to make a name.
	local change
	for change in 'mkdir tmp' 'mv mine tmp' 'ln -s mine tmp' 'mkfifo tmp' 'ln one.sh tmp' ': >>tmp'; do
		rm -rf ./*
		two 'sleep 0.5; [ -e tmp ] && echo there >a.txt || echo not >a.txt; [ -h tmp ] && echo there >>a.txt; true' "cp one.sh mine; $change; echo >b.txt"
		staged one
		like_batch
		[ "$(cat a.txt)" = not ]
	done
	# A later step, which runs from the beginning, too.
	two 'seq 1 5 >tmp.txt; sleep 0.5; cat tmp.txt >a.txt; rm tmp.txt' 'echo 2 >tmp.txt; cat a.txt tmp.txt >b.txt; rm tmp.txt'
	sed -i 's/outports: .{filename: b.txt}./inports: [{filename: a.txt}]\n    &/; s/^tasks/permanent: [a.txt]\n&/' w.yaml
	staged one
	like_batch
}

@test "a staged step changes what a later one has read or looked for meanwhile: named" {
	local what='which has no order with it: in a batch they run one after the other; give each a file of its own .*, or declare it as an output of'
	two 'while [ ! -e b.ok ]; do sleep 0.05; done; echo new >in.txt; echo >a.txt' 'cat in.txt >b.txt; touch ../b.ok'
	sed -i 's/b.ok/..\/b.ok/' one.sh
	mkdir work && mv ./*.sh w.yaml work && cd work
	staged one
	echo old >in.txt
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q "violation: in.txt was read by step two and then opened for writing by step one, $what" <<<"$stderr"
	rm -f ../b.ok b.txt in.txt
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q "violation: in.txt was looked for by step two and then created by step one, $what" <<<"$stderr"
	# What is there for a moment only, and seen.
	two 'echo 1 >tmp.txt; while [ ! -e ../b.ok ]; do sleep 0.05; done; rm tmp.txt; echo >a.txt' 'while [ ! -e tmp.txt ]; do sleep 0.05; done; cat tmp.txt >b.txt; touch ../b.ok'
	staged one
	rm -f ../b.ok ./*.txt
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q "violation: tmp.txt was .* by step two and then .* by step one, which has no order" <<<"$stderr"
	rm -f ../b.ok ./*.txt
	run -0 --separate-stderr timeout 60 leat run --on-violation warn --log log w.yaml
	grep -q "warning: violation: tmp.txt was .* by step two and then .* by step one, which has no order" <<<"$stderr"
	leat replay w.yaml log
}

@test "what a staged step leaves alone is read meanwhile; private files are not waited with" {
	mkdir work && cd work
	two 'while [ ! -e ../b.ok ]; do sleep 0.05; done; echo >a.txt' 'cat in.txt >mine; [ -e nothing ]; cat mine >b.txt; ls >/dev/null; touch ../b.ok'
	staged one
	sed -i '/func: two/a\    private: [mine]' w.yaml
	echo in >in.txt
	run -0 --separate-stderr timeout 60 leat run w.yaml
	[[ $stderr != *"waits with"* ]]
	[ "$(cat b.txt)" = in ]
}

@test "staged: concurrent: at once, whatever the others use" {
	mkdir work && cd work
	two 'touch one.here; while [ ! -e two.here ]; do sleep 0.05; done; echo >a.txt' 'touch two.here; while [ ! -e one.here ]; do sleep 0.05; done; echo >b.txt'
	staged one concurrent
	staged two
	run -0 --separate-stderr timeout 60 leat run w.yaml
	[[ $stderr != *"waits with"* ]]
	rm -f ./*.here
	sed -i 's/staged: true/staged: concurrent/' w.yaml
	timeout 60 leat run w.yaml
	rm -f ./*.here
	sed -i '0,/staged: concurrent/{//d}' w.yaml
	timeout 60 leat run w.yaml
	run -0 leat run --dry-run w.yaml
	[[ $output == *"starts when its inputs are complete and on disk)"* ]]
	sed -i 's/staged: concurrent/staged: true/' w.yaml
	run -0 leat run --dry-run w.yaml
	[[ $output == *"starts when its inputs are complete and on disk, and the steps before it have ended)"* ]]
	sed -i 's/staged: true/staged: perhaps/' w.yaml
	run -1 leat check w.yaml
	[[ $output == *'"staged" must be true, false or concurrent'* ]]
}

@test "files that both a staged and a streamed step may make, on disk" {
	mkdir work && cd work
	two 'echo 1 >x1; sleep 0.5; cat x1 >a.txt' 'echo 2 >x1; cat x1 >b.txt'
	sed -i "s/filename: [ab].txt}/&, {filename: 'x*'}/; s/^tasks/storage: {fs: ['x*']}\n&/" w.yaml
	staged one
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q "violation: x1 was .* by step one and then .* by step two, which has no order with it" <<<"$stderr"
	rm -f x1
	two 'x=$(echo x*); echo 1 >x1; sleep 0.5; echo $x >a.txt' 'x=$(echo x*); echo 2 >x1; sleep 0.5; echo $x >b.txt; cat x1 >>b.txt'
	sed -i "s/filename: [ab].txt}/&, {filename: 'x*'}/" w.yaml
	staged one
	staged two
	like_batch x1
}
