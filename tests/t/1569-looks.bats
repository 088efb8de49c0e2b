#!/usr/bin/env bats
# Steps without an order that declare one output: what the one looks at is what it finds in a batch.
bats_require_minimum_version 1.5.0
load helper
load producers

# same NAME: it is, or is not, there, with what and which mode the batch left in ./batch.
same() {
	[ "$(stat -c '%F %a' "$1" 2>&1)" = "$(cd batch && stat -c '%F %a' "$1" 2>&1)" ] && { [ ! -f "$1" ] || cmp "$1" "batch/$1"; }
}

# mounted: the steps of w.yaml run behind a mount, if one can be made here.
mounted() {
	[ -c /dev/fuse ] && sed -i 's/exec: bash/exec: env LEAT_INTERCEPT=mount bash/' w.yaml
}

@test "what is read of another one's file: that is waited for, as long as the batch runs that before" {
	local made='until [ -e ../made ]; do sleep 0.02; done;' first look
	for first in 'echo 2 >>x' 'rm x' 'mv x xx' 'echo 3 >xx; mv xx x' 'chmod 600 x'; do
		for look in 'cat x >y' '[ -e x ] && echo 1 >y' 'stat -c "%s %a" x >y' 'cp -l x y' 'mkdir x' 'set -C; echo 4 >x' \
			'mkfifo x' 'ln -s t x' 'exec 3<>x; cat <&3 >y'; do
			one_in 4 || continue
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

@test "looked for in vain by one that goes on, and then made by another that the batch runs before: named" {
	local look="[ -e x ] && echo 1 >y; touch ../looked; sleep 0.5" make='until [ -e ../looked ]; do sleep 0.02; done; echo 1 >x'
	two "$make" "$look" '"[xy]*"'
	conflict 'looked for by step two and then created by step one'
	two "$make" "$look" '"[xy]*"'
	mounted || return 0
	conflict 'looked for by step two and then created by step one'
}

@test "looked at by who has a part in it, and then written by another that the batch runs before: named" {
	two 'until [ -e ../looked ]; do sleep 0.02; done; python3 put.py vector aaa 9' 'python3 put.py vector bbb 0; cat x >y; touch ../looked' '"[xy]*"'
	conflict 'read by step two and then opened for writing by step one'
}

# linked_first: x is there, and a step before those two gives it the name xx.
linked_first() {
	sed -i 's/^tasks:/&\n  - func: link\n    exec: sh -c "ln x xx; touch ..\/linked"\n    outports: [{filename: "[xy]*"}]/' w.yaml
	rm -f ../linked
	echo before >x
}

@test "from before the run, looked at by one and changed by the other: named, whoever comes first" {
	local looked='until [ -e ../looked ]; do sleep 0.02; done' made='until [ -e ../made ]; do sleep 0.02; done' change look
	for change in 'echo 7 >x' 'echo 7 >>x' 'printf 7 | dd of=x conv=notrunc status=none' 'echo 1 >xx; mv xx x' 'rm x' 'mv x xx' \
		'chmod 755 x' 'chmod 600 x' 'touch -h -d 2001-01-01 x' 'ln -sf none x' 'truncate -s 2 x'; do
		one_in 2 || continue
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
	# shellcheck disable=SC2154
	grep -q 'violation: x was read by step two and then appended to by step one, which in a batch ends before step two begins; ' <<<"$stderr"
}

@test "from before the run, looked at by its name and changed by one that a third has given it: named, whoever comes first" {
	local looked='until [ -e ../looked ]; do sleep 0.02; done' made='until [ -e ../made ]; do sleep 0.02; done' change
	for change in 'chmod 755 xx' 'touch -h -d 2001-01-01 xx' 'truncate -s 2 xx'; do
		echo "$change"
		two "until [ -e ../linked ]; do sleep 0.02; done; $looked; $change" "until [ -e ../linked ]; do sleep 0.02; done; stat -c '%s %a' x >y; touch ../looked" '"[xy]*"'
		linked_first
		conflict "read by step two and then .* by step one"
		two "$made; cat x >y; exit 0" "until [ -e ../linked ]; do sleep 0.02; done; $change; touch ../made" '"[xy]*"'
		linked_first
		conflict ".* by step two and then read by step one"
	done
}

@test "moved away, removed or appended to by one of them, and then made or cut by another that the batch runs before: named" {
	local made='until [ -e ../made ]; do sleep 0.02; done' change away
	for away in 'mv x y' 'rm x' 'rm -f x'; do
		for change in 'echo 7 >>x' 'printf 7 | dd of=x conv=notrunc status=none' 'exec 7<>x; echo 8 >&7' 'truncate -s 2 x' 'ln -sf none x'; do
			one_in 2 || continue
			echo "$away, $change"
			two "$made; $change; exit 0" "$away; touch ../made" '"[xy]*"'
			echo before >x
			conflict '.* by step two and then .* by step one'
		done
	done
	for change in 'truncate -s 99 x' 'truncate -s 2 x' ': >x'; do
		echo "$change"
		two "$made; $change" 'echo 7 >>x; touch ../made' '"[xy]*"'
		conflict '(appended to|opened for writing) by step two and then truncated by step one'
	done
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
