#!/usr/bin/env bats
# Steps without an order that declare one output: each may write a part of it, and no more.
bats_require_minimum_version 1.5.0
load helper

setup() {
	mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return 1 # beside the session's directory
	cat >put.py <<-'END'
		import mmap, os, sys
		how, text, at = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
		fd = os.open("x", (os.O_RDWR if how == "map" else os.O_WRONLY) | os.O_CREAT)
		if how == "copy":
		    with open("mine." + sys.argv[2][0], "wb") as f:
		        f.write(text)
		    f = os.open("mine." + sys.argv[2][0], os.O_RDONLY)
		    os.lseek(fd, at, 0)
		    os.sendfile(fd, f, 0, len(text))
		elif how == "map":
		    os.ftruncate(fd, 3 * 4096)
		    m = mmap.mmap(fd, 4096, offset=at // 4096 * 4096)
		    m[at % 4096:at % 4096 + len(text)] = text
		elif how == "vector":
		    os.pwritev(fd, [text[:2], text[2:]], at)
		elif how == "fork":
		    os.lseek(fd, at, 0)
		    if not os.fork():
		        os.write(fd, text)
		        os._exit(0)
		    os.wait()
		elif how == "punch":
		    os.posix_fallocate(fd, 0, 12288)
		    os.pwrite(fd, text, at)
		elif how == "cut":
		    os.ftruncate(fd, at)
	END
}

# two SCRIPT SCRIPT [OUTPUT]: a workflow of two steps without an order, which both make x.
two() {
	rm -f x xx y o/* ../made ../looked ../gone
	printf '%s\n' "$1" >one.sh
	printf '%s\n' "$2" >two.sh
	cat >w.yaml <<-END
		name: w
		tasks:
		  - func: one
		    exec: bash one.sh
		    outports: [{filename: ${3:-x}}]
		  - func: two
		    exec: bash two.sh
		    outports: [{filename: ${3:-x}}]
	END
}

# conflict WHAT: the run fails, and says once what was done.
conflict() {
	run -125 --separate-stderr leat run w.yaml
	# shellcheck disable=SC2154
	grep -Eq "violation: x was $1, which has no order with it: in a batch they run one after the other; give each " <<<"$stderr" || {
		echo "$1: $stderr"
		return 1
	}
	[ "$(grep -c violation: <<<"$stderr")" = 1 ]
}

# silent [WAITS]: the run says nothing (but that the second step waits), and x is that of the batch.
silent() {
	rm -f x xx ../made ../looked
	leat run --plain w.yaml 2>/dev/null
	mv x batch
	rm -f xx ../made ../looked
	run -0 --separate-stderr leat run w.yaml
	! grep -v "${1:-^\$}" <<<"$stderr" | grep -E "violation|leat: warning" || return 1
	cmp x batch
}

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

@test "what is read of another one's file: that is waited for, as long as the batch runs that before" {
	local made='until [ -e ../made ]; do sleep 0.02; done;' first look
	for first in 'echo 2 >>x' 'rm x' 'mv x xx' 'echo 3 >xx; mv xx x' 'chmod 600 x'; do
		for look in 'cat x >y' '[ -e x ] && echo 1 >y' 'stat -c "%s %a" x >y' 'cp -l x y' 'mkdir x' 'set -C; echo 4 >x' \
			'mkfifo x' 'ln -s t x' 'exec 3<>x; cat <&3 >y'; do
			two "echo 1 >x; touch ../made; sleep 0.2; $first" "$made $look; exit 0" '"[xy]*"'
			leat run -q --plain w.yaml 2>/dev/null || true
			mkdir batch && find . -maxdepth 1 -name '[xy]*' -exec mv -t batch {} +
			rm ../made
			echo "$first, $look"
			if leat run -q w.yaml 2>stderr; then
				same x && same y && same xx
			else
				grep -Eq "violation: x was .* by step one and then made.* by step two" stderr
			fi
			rm -rf batch
		done
	done
}

@test "looked at by who has a part in it, and then written by another that the batch runs before: named" {
	two 'until [ -e ../looked ]; do sleep 0.02; done; python3 put.py vector aaa 9' 'python3 put.py vector bbb 0; cat x >y; touch ../looked' '"[xy]*"'
	conflict 'read by step two and then opened for writing by step one'
}

# mounted: the steps of w.yaml run behind a mount, if one can be made here.
mounted() {
	[ -c /dev/fuse ] && sed -i 's/exec: bash/exec: env LEAT_INTERCEPT=mount bash/' w.yaml
}

@test "from before the run, looked at by one and changed by the other: named, whoever comes first" {
	local looked='until [ -e ../looked ]; do sleep 0.02; done' made='until [ -e ../made ]; do sleep 0.02; done' change look
	for change in 'echo 7 >x' 'echo 7 >>x' 'printf 7 | dd of=x conv=notrunc status=none' 'echo 1 >xx; mv xx x' 'rm x' 'mv x xx' \
		'chmod 755 x' 'ln -sf none x' 'truncate -s 2 x'; do
		for look in 'cat x >y' 'stat -c "%s %a" x >y'; do
			echo "$change, $look"
			two "$looked; $change" "$look; touch ../looked" '"[xy]*"'
			echo before >x
			conflict "read by step two and then .* by step one"
			two "$made; $look; exit 0" "$change; touch ../made" '"[xy]*"'
			echo before >x
			conflict ".* by step two and then (read|looked for) by step one"
		done
		rm -f ../made ../looked
		two "$looked; $change" "[ -e x ] && echo 1 >y; touch ../looked; sleep 0.1" '"[xy]*"'
		mounted || continue
		echo before >x
		conflict "read by step two and then .* by step one"
	done
	# With an order, too, by another file.
	two "echo 1 >token; until [ -e ../looked ]; do sleep 0.02; done; echo 7 >>x" 'cat token x >y; touch ../looked' '"[xy]*"'
	sed -i -e '/one.sh/{n;s/]$/, {filename: token, committed: on_close}]/}' -e '/two.sh/a\    inports: [{filename: token}]' w.yaml
	echo before >x
	run -125 --separate-stderr leat run w.yaml
	grep -q 'violation: x was read by step two and then appended to by step one, which in a batch ends before step two begins; ' <<<"$stderr"
}

@test "cut to the length that it has, and then written by another that the batch runs before: named" {
	for make in 'exec 6>x; touch ../made; until [ -e ../cut ]; do sleep 0.02; done; echo a >&6' 'until [ -e ../cut ]; do sleep 0.02; done; echo a >>x'; do
		rm -f ../cut ../made
		two "$make" '[ -n "$ALONE" ] || until [ -e ../made ]; do sleep 0.02; done; truncate -s 0 x; touch ../cut' '"[xy]*"'
		[[ $make == exec* ]] || sed -i 's/exec: bash two/exec: env ALONE=1 bash two/' w.yaml
		conflict 'truncated by step two and then (written|appended to) by step one at bytes 0 to 1'
	done
}

@test "directories: what is looked for, or found, before its turn is named; who makes it, too, is prepared" {
	local looked='until [ -e ../looked ]; do sleep 0.02; done' made='until [ -e ../made ]; do sleep 0.02; done' look make way
	for way in intercepted mounted; do
		for look in '[ -d x ] && echo yes >y || echo no >y' 'rm -rf x' 'cp -r x y' 'echo 1 >x/f' 'mv x y' 'rmdir x'; do
			echo "$look, $way"
			two "$looked; mkdir x" "$look; touch ../looked" '"[xy]*"'
			[ "$way" = intercepted ] || mounted || continue
			run -125 --separate-stderr leat run w.yaml
			grep -Eq "violation: x(/f)? was looked for by step two and then made by step one, which has no order with it" <<<"$stderr"
			rm -rf ../looked x y
		done
		for look in '[ -d x ]; echo $? >y' 'stat x; echo $? >y' 'ls x; echo $? >y'; do
			echo "$look, $way"
			two "$made; $look" "mkdir x; touch ../made" '"[xy]*"'
			[ "$way" = intercepted ] || mounted || continue
			run -125 --separate-stderr leat run w.yaml
			grep -Eq "violation: x was made by step two and then read by step one, which has no order with it" <<<"$stderr"
			rm -rf ../made x y
		done
		for make in 'mkdir -p x' '[ -d x ] || mkdir x' 'python3 -c "import os; os.makedirs(\"x/s\", exist_ok=True)"'; do
			echo "$make, $way"
			two "$made; $make; echo 1 >x/a" "$make; touch ../made; echo 2 >x/b" '"[xy]*"'
			[ "$way" = intercepted ] || mounted || continue
			run -0 --separate-stderr leat run w.yaml
			[[ $stderr != *violation* ]]
			[ "$(cat x/a x/b | xargs)" = '1 2' ]
			rm -rf ../made x
		done
	done
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

# same NAME: it is, or is not, there, with what and which mode the batch left in ./batch.
same() {
	[ "$(stat -c '%F %a' "$1" 2>&1)" = "$(cd batch && stat -c '%F %a' "$1" 2>&1)" ] && { [ ! -f "$1" ] || cmp "$1" "batch/$1"; }
}

# gone FIRST WORDS: step two has made x, and has taken it away, when step one begins in its turn.
gone() {
	local take made='until [ -e ../made ]; do sleep 0.02; done'
	for take in 'rm x' 'mv x xx'; do
		two "$made; $1" "echo 1 >x; $take; touch ../made" '"[x]*"'
		echo "$1, $take"
		conflict "$2"
		rm ../made
		sed -i 's/exec: bash/exec: env LEAT_INTERCEPT=mount bash/' w.yaml
		[ ! -c /dev/fuse ] || conflict "$2"
	done
}

@test "made and taken away by one of them, and then made as something else by the other: named" {
	gone 'ln -s y x' 'opened for writing by step two and then made as a link by step one'
	gone 'mkfifo x' 'opened for writing by step two and then made .* by step one'
	gone 'mkdir x' 'removed by step two and then made by step one'
	# each has names of its own
	two 'ln -s a xa; mkdir xb; rm -r xb; mkdir xb; echo 1 >x' 'ln -s b x1; rm x1; ln -s c x1; mkdir x2' '"x*"'
	run -0 --separate-stderr leat run -q w.yaml
	[[ $stderr != *violation* ]]
}

# ordered: the first of the two makes a token, too, and the second waits for it.
ordered() {
	sed -i -e '/one.sh/{n;s/]$/, {filename: token}]/}' -e '/two.sh/a\    inports: [{filename: token}]' w.yaml
}

@test "looked for in vain by one of them, and then made by another that the batch runs before: named" {
	local made='until [ -e ../looked ]; do sleep 0.02; done;' make
	for make in 'created:echo 1 >x' 'made by a rename:echo 1 >xx; mv xx x' 'made as a link:echo 1 >xx; ln xx x'; do
		two "$made ${make#*:}" '[ -e x ] && echo 2 >y; touch ../looked; exit 0' '"[xy]*"'
		conflict "looked for by step two and then ${make%%:*} by step one"
	done
	two "$made mkdir -p o; echo 1 >o/x; echo >token" '[ -e o/x ] && n=2 || n=1; mkdir -p o; echo $n >o/y; touch ../looked; cat token' o
	ordered
	run -125 --separate-stderr leat run w.yaml
	grep -q 'violation: o/x was looked for by step two and then created by step one, which in a batch ends before step two begins; ' <<<"$stderr"
	[ "$(grep -c violation: <<<"$stderr")" = 1 ]
}

@test "looked for in vain by one of them, as in the batch" {
	# The batch runs it first.
	two '[ -e xx ] && echo no >x || echo yes >x; touch ../looked' 'until [ -e ../looked ]; do sleep 0.02; done; echo 2 >xx' 'x*'
	silent
	# It makes the file itself.
	two 'echo 1 >x' '[ -e xx ] || echo 2 >xx; cat xx; touch ../looked' 'x*'
	silent
}

@test "found by one of them, though made by another that the batch runs later: named" {
	two 'until [ -e ../made ]; do sleep 0.02; done; [ -e x ] && echo 2 >y; exit 0' 'echo 1 >x; touch ../made' '"[xy]*"'
	conflict "created by step two and then read by step one"
	two 'until [ -e ../made ]; do sleep 0.02; done; cat x >y; echo >token' 'echo 1 >x; touch ../made; cat token' '"[xy]*"'
	ordered
	run -125 --separate-stderr leat run w.yaml
	grep -q 'violation: x was created by step two and then read by step one, which in a batch ends before step two begins; ' <<<"$stderr"
	# And the other way round it is as in the batch.
	two 'echo 1 >xx; touch ../made' 'until [ -e ../made ]; do sleep 0.02; done; [ -e xx ] && echo yes >x; exit 0' 'x*'
	silent 'step two waits before it reads xx'
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
