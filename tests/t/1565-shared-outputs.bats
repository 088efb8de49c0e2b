#!/usr/bin/env bats
# Steps without an order that declare one output: each may write a part of it, and no more.
bats_require_minimum_version 1.5.0
load helper
load producers

@test "parts that overlap: named, whoever comes first and whatever is called" {
	local by="by step (one|two)"
	two 'printf aaaaaaaaaa | dd of=x conv=notrunc status=none' 'printf bbbbbbbbbb | dd of=x conv=notrunc bs=1 seek=5 status=none'
	conflict "written $by and then written $by at bytes 5 to [59]"
	two 'exec 3<>x; printf aaaaa >&3' 'exec 3<>x; sleep 0.5; printf b >&3; printf b >&3; printf b >&3'
	conflict "written $by and then written $by at bytes 0 to 0"
	two 'exec 3<>x; printf aaaaa >&3' 'exec 3<>x; printf bbb >&3' 'x*'
	conflict "written $by and then written $by at bytes 0 to [24]"
	local how
	for how in copy map vector fork punch; do
		two "python3 put.py $how aaaaa 4096" "python3 put.py $how bbbbb 4099"
		conflict "written $by and then written $by at bytes [0-9]* to [0-9]*"
	done
}

@test "parts that do not overlap: as in the batch" {
	two 'for i in 0 2 4 6 8; do python3 put.py vector a $i; done' 'for i in 1 3 5 7 9; do python3 put.py vector b $i; done'
	silent
	local how
	for how in copy vector fork; do
		two "python3 put.py $how aaaaa 0" "python3 put.py $how bbbbb 8192"
		silent
	done
}

@test "a part of what is opened to be read, too: waits for the end of who has made it" {
	local wait="step two waits before it reads x: step one, which in a batch ends before, has made it"
	two 'python3 put.py map aaaaa 0' 'python3 put.py map bbbbb 8192'
	silent "$wait"
	two 'printf aaaaa >x; touch ../made; sleep 0.3' 'until [ -e ../made ]; do sleep 0.05; done; printf bbbbb | dd of=x conv=notrunc bs=5 seek=1 status=none'
	silent "$wait"
	[[ $stderr == *"$wait"* ]]
}

@test "by patterns of both, one after the other: as in the batch" {
	two 'seq 1000 >x; touch ../made' 'until [ -e ../made ]; do sleep 0.05; done; sleep 0.3; printf b | dd of=x conv=notrunc bs=1 seek=100000 status=none' 'x*'
	silent 'step two waits before it reads x'
	two 'seq 1000 >x; touch ../made' 'until [ -e ../made ]; do sleep 0.05; done; sleep 0.3; printf b | dd of=x conv=notrunc bs=1 seek=100 status=none' 'x*'
	conflict 'written by step one and then written by step two at bytes 100 to 100'
}

@test "what the one has written truncated by the other: named" {
	two 'printf aaaaa | dd of=x conv=notrunc status=none; touch ../made' 'exec 3<>x; until [ -e ../made ]; do sleep 0.05; done; python3 put.py cut b 3'
	conflict 'written by step one and then truncated by step two'
	two 'seq 5 >x' 'seq 3 >x'
	run -125 --separate-stderr leat run w.yaml
	[ "$(grep -c "violation: x was opened for writing by .* and then truncated by" <<<"$stderr")" = 1 ]
}

@test "both append: a warning; the one appends, the other writes: named" {
	two 'seq 5 >>x' 'seq 5 >>x'
	run -0 --separate-stderr leat run w.yaml
	[ "$(grep -c "warning: x is appended to by steps \(one and two\|two and one\), which run at the same time" <<<"$stderr")" = 1 ]
	[ "$(sort x | uniq -c | awk '{print $1}' | sort -u)" = 2 ]
	two 'exec 3<>x; seq 5 >&3' 'seq 5 >>x'
	conflict "(written|appended to) by step (one|two) and then (written|appended to) by step (one|two)"
}

@test "with an order: the later one may write over it, and waits where it declares it as an input" {
	two 'seq 5 >x' 'seq 3 >>x'
	sed -i '/two.sh/a\    inports: [{filename: x}]' w.yaml
	silent
}

@test "with an order by another file: what the earlier one is still at is waited for, whatever is done with it" {
	local launcher use
	for launcher in "" "env LEAT_INTERCEPT=mount "; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		for use in 'cat a.txt >b.txt' 'stat -c %s a.txt >b.txt' 'cp a.txt b.txt' 'mv a.txt b.txt' 'rm a.txt; echo >b.txt' \
			'truncate -s +2 a.txt; stat -c %s a.txt >b.txt' 'exec 4<>a.txt; cat <&4 >b.txt' 'echo 3 >>a.txt' \
			'echo 3 >a.txt' 'printf b | dd of=a.txt conv=notrunc bs=1 seek=1 status=none' 'echo 3 >b.txt; mv b.txt a.txt'; do
			one_in 2 || continue
			rm -rf work
			mkdir work
			cat >w.yaml <<-END
				name: w
				dir: work
				permanent: ['*']
				tasks:
				  - {func: one, exec: ${launcher}bash ../one.sh, outports: [{filename: '*.txt'}, {filename: tok, committed: on_close}]}
				  - {func: two, exec: ${launcher}bash ../two.sh, inports: [{filename: tok}], outports: [{filename: '*.txt'}]}
			END
			echo 'exec 3>a.txt; echo 1 >&3; echo >tok; sleep 0.3; echo 2 >&3' >one.sh
			echo "cat tok; sleep 0.1; $use" >two.sh
			leat run -q --plain w.yaml
			rm -rf batch
			mv work batch
			mkdir work
			run -0 --separate-stderr leat run -q w.yaml
			[ -z "$stderr" ]
			diff -r batch work
		done
	done
	rm -rf batch work
}

@test "programs behind a mount" {
	need gcc
	printf '%s\n' 'int main(int n, char **v) { int fd = open("x", O_RDWR | O_CREAT, 0666); return pwrite(fd, v[1], strlen(v[1]), atoi(v[2])) < 0; }' |
		gcc -include fcntl.h -include unistd.h -include stdlib.h -include string.h -static -o put -xc -
	two './put aaaaa 0' './put bbbbb 5'
	run --separate-stderr leat run w.yaml
	[[ $stderr != *"statically linked: cannot be intercepted"* ]] || skip "no mount is possible here: no /dev/fuse, or no namespaces"
	silent "step two waits before it reads x"
	two './put aaaaa 0' './put bbbbb 4'
	conflict 'written by step .* and then written by step .* at bytes [04] to 4'
	printf '%s\n' 'int main(int n, char **v) { return write(1, v[1], strlen(v[1])) < 0; }' |
		gcc -include unistd.h -include string.h -static -o say -xc -
	two './say aaaaa 1<>x' './say bbb 1<>x'
	conflict 'written by step .* and then written by step .*'
	# What only looks is told from what opens to write when the step ends.
	two 'until [ -e ../looked ]; do sleep 0.02; done; echo 1 >x' '[ -e x ] && echo 2 >y; touch ../looked; exit 0' '"[xy]*"'
	sed -i 's/bash two.sh/env LEAT_INTERCEPT=mount &/' w.yaml
	conflict 'looked for by step two and then created by step one'
	# So is what it found, also if that is gone by then.
	two 'until [ -e ../made ]; do sleep 0.02; done; ln -s y x; touch ../looked; until [ -e ../gone ]; do sleep 0.02; done' \
		'echo 1 >x; touch ../made; until [ -e ../looked ]; do sleep 0.02; done; rm x; touch ../gone' '"[x]*"'
	sed -i 's/exec: bash/exec: env LEAT_INTERCEPT=mount bash/' w.yaml
	conflict 'created by step two and then read by step one'
}

@test "one line of a log for each, a replay takes the same decisions" {
	two 'printf aaaaa | dd of=x conv=notrunc status=none' 'printf bbbbb | dd of=x conv=notrunc bs=1 seek=3 status=none'
	run -0 --separate-stderr leat run --on-violation warn --log log w.yaml
	[ "$(grep -c "warning: violation: x was written" <<<"$stderr")" = 1 ]
	leat replay w.yaml log
}

# staged STEP [WORD]: it works on real files, which leat sees only when it has ended.
staged() {
	sed -i "/func: $1/a\\    staged: ${2:-concurrent}" w.yaml
}

@test "one of them is staged: what both have made is named, whoever ends first" {
	local also='give each a file of its own, or declare it as an input of'
	two 'seq 5 >x' 'sleep 0.5; seq 9 >x'
	staged two
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was written by step one and then written by step two, which has no order with it: .*; $also two, too" <<<"$stderr"
	two 'sleep 1; seq 5 >x' 'seq 9 >x'
	staged two
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was opened for writing by step two and then truncated by step one, .*" <<<"$stderr"
	two 'seq 5 >x.tmp; mv x.tmp x' 'sleep 0.5; seq 9 >x'
	staged two
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was written by step one and then written by step two, " <<<"$stderr"
	two 'sleep 1; exec 3<>x; printf b >&3' 'printf aaaa >x' 'x*'
	staged two
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was written by step two and then written by step one at bytes 0 to 0, .*; $also one, too" <<<"$stderr"
}

@test "one of them is staged: parts that do not overlap, and files that only a pattern of it covers" {
	two 'printf aaaaa >x' 'sleep 1; printf bbbbb | dd of=x conv=notrunc bs=5 seek=1 status=none'
	staged one
	silent
	two 'sleep 1; printf bbbbb | dd of=x conv=notrunc bs=5 seek=1 status=none' 'printf aaaaa >x'
	staged two
	conflict 'truncated by step two and then written by step one from byte 5 on|truncated by step two and then written by step one at bytes 5 to 9'
	two 'seq 5 >x; sleep 1; seq 9 >>x' 'seq 3 >x2' 'x*'
	staged two
	silent
	sed -i 's/^tasks:/storage: {fs: ["x*"]}\n&/' w.yaml
	silent
	echo before >x # and written over; file systems count time in ticks
	sleep 0.1
	run -0 --separate-stderr leat run w.yaml
	cmp x batch
}

@test "one of them is staged, and shares other names, too: it waits for its turn, and has overwritten what was made" {
	two 'sleep 0.5; seq 5 >x' 'seq 9 >x'
	staged two true
	run -125 --separate-stderr leat run w.yaml
	grep -q "violation: x was written by step one and then written by step two, which has no order with it" <<<"$stderr"
}

@test "both are staged: one after the other, as in the batch" {
	two 'sleep 0.3; printf aaaaa >x; sleep 0.3; printf b >>x' 'printf c >>x; sleep 0.5; printf d >>x'
	staged one
	staged two
	silent
	leat check --verify w.yaml
}
