#!/usr/bin/env bats
# What a staged step does to files on disk that leat had put there for it: the steps after it find
# what they would find in the batch, or it is named.
# shellcheck disable=SC2154 # stderr: run sets it
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

teardown() {
	nothing_left
}

# ports PORT NAMES: those of a step, with commas between them
ports() {
	[ -z "$2" ] || echo "    $1: [{filename: '${2//,/\'\}, \{filename: \'}'}]"
}

# step NAME SCRIPT IN OUT [KEY]: one more of w.yaml
step() {
	write_step "$@" >>w.yaml
}

write_step() {
	printf "  - func: %s\n    exec: 'bash -c ''%s'''\n" "$1" "$2"
	[ -z "${5-}" ] || echo "    $5"
	ports inports "$3"
	ports outports "$4"
}

# begin: a workflow, whose steps are added
begin() {
	printf '%s\n' 'name: w' 'dir: work' "permanent: ['*']" 'tasks:' >w.yaml
}

# look DIRECTORY: what is in it, with modes, times that were set, and bytes
look() {
	(cd "$1" && find . -mindepth 1 -printf '%p %y %m %l\n' | sort && find . -type f -newermt '@0' ! -newermt '@100000' -printf '%p %T@\n' | sort &&
		find . -type f | sort | xargs -r tail -vn +1)
}

# like_batch: what is left is what the batch leaves, without a word of violations
like_batch() {
	rm -rf work batch && mkdir work
	run -0 leat run --plain w.yaml
	mv work batch && mkdir work
	run -0 timeout 60 leat run w.yaml
	[[ $output != *violation* ]]
	diff <(look batch) <(look work)
}

# violated TEXT...: the streamed run fails and says so; with --on-violation warn it leaves what the batch leaves
violated() {
	local text
	rm -rf work batch && mkdir work
	run -0 leat run --plain w.yaml
	mv work batch && mkdir work
	run -125 --separate-stderr timeout 60 leat run w.yaml
	for text in "$@"; do
		grep -qF "$text" <<<"$stderr"
	done
	rm -rf work && mkdir work
	run -0 --separate-stderr timeout 60 leat run --on-violation warn w.yaml
	for text in "$@"; do
		grep -qF "$text" <<<"$stderr"
	done
	diff <(look batch) <(look work)
}

# like_batch_of_outputs: those that are not permanent are not compared
like_batch_of_outputs() {
	local name
	rm -rf work && mkdir work
	run -0 timeout 60 leat run w.yaml
	for name in x3 z; do
		cmp work/$name batch/$name
	done
	[ ! -e work/x ]
}

@test "an input is changed without being declared: a violation, and later steps read what is there" {
	local how
	for how in 'echo k >>x' 'sed -i s/3/4/ x' 'tr 3 4 <x >t; cat t >x; rm t' 'touch -r x t; tr 3 4 <x >s; cat s >x; touch -r t x; rm s t' \
		'mv x t; seq 7 >x; rm t'; do
		begin
		step a 'seq 5 >x' '' x
		step b "$how; echo >y" x y 'staged: true'
		step c 'cat y x >z' x,y z
		violated 'violation: x was written by step b, which does not declare it as an output; declare it there, or have the step write another file'
	done
	# Also where it has not been in memory.
	begin
	step a 'seq 5 >x' '' x 'staged: true'
	step b 'sed -i s/3/4/ x; echo >y' x y 'staged: true'
	step c 'cat y x >z' x,y z
	violated 'violation: x was written by step b'
	# And where the step has not even declared that it reads it.
	begin
	step a 'seq 5 >x; seq 6 >w' '' x,w
	step b 'until [ -e x ]; do sleep 0.1; done; echo k >>x; echo >y' w y 'staged: true'
	step c 'cat y x >z' x,y z
	violated 'violation: x was written by step b'
}

@test "an input that is removed or renamed is not there for the steps after it, nor after the run" {
	local how
	for how in 'mv x x3' 'cp x x3; rm x' 'ln x x3; rm x'; do
		begin
		step a 'seq 5 >x' '' x
		step b "$how" x x3 'staged: true'
		step c 'cat x3 >z; [ -e x ] && echo stale >>z; :' x3 z
		like_batch
		[ ! -e work/x ]
		sed -i "s/'\*'/x3, z/" w.yaml
		like_batch_of_outputs
	done
	# One that is only on disk.
	begin
	step a 'seq 5 >x' '' x 'staged: true'
	step b 'mv x x3' x x3 'staged: true'
	step c 'cat x3 >z; [ -e x ] && echo stale >>z; :' x3 z
	like_batch
}

@test "an input that another step still wants goes when that is done with it, as for streamed steps" {
	local staged
	for staged in '' 'staged: true'; do
		begin
		step a 'seq 5 >x' '' x
		step b 'cat x >y; rm x' x y "$staged"
		step c 'cat y >z; [ -e x ] && echo stale >>z; :' y z
		step d 'sleep 1; cat x >v' x v
		rm -rf work && mkdir work
		run -0 timeout 60 leat run w.yaml
		[ "$(cat work/v)" = "$(seq 5)" ]
		[ "$(cat work/z)" = "$(seq 5)" ]
		[ ! -e work/x ]
	done
}

@test "an output of the step that it removes does not come back" {
	begin
	step a 'seq 5 >x; seq 6 >w' '' 'x,w*'
	step b 'cat x >y; rm w' 'x,w*' 'y,w*' 'staged: true'
	step c 'cat y >z; [ -e w ] && echo stale >>z; :' 'y,w*' z
	like_batch
	[ ! -e work/w ]
	# In a directory.
	begin
	step a 'seq 5 >x; mkdir d; seq 6 >d/f; seq 7 >d/g' '' 'x,d/*'
	step b 'cat x >y; rm d/f' 'x,d/*' 'y,d/*' 'staged: true'
	step c 'cat y >z; ls d >>z' 'y,d/*' z
	like_batch
	# With the directory.
	begin
	step a 'seq 5 >x; mkdir -p d/e; seq 6 >d/f; seq 7 >d/e/g' '' 'x,d/*'
	step b 'cat x >y; rm -r d' 'x,d/*' 'y,d/*' 'staged: true'
	step c 'cat y >z; [ -e d ] && echo stale >>z; :' y z
	like_batch
	[ ! -e work/d ]
	begin
	step a 'seq 5 >x; mkdir d; seq 6 >d/f; seq 7 >d/g' '' 'x,d/*'
	step b 'mv d e; cat x >y' 'x,d/*' 'y,e/*' 'staged: true'
	step c 'cat y e/* >z; [ -e d ] && echo stale >>z; :' 'y,e/*' z
	like_batch
	[ ! -e work/d ]
}

@test "modes and times that the step gives its inputs" {
	begin
	step a 'seq 5 >x' '' x
	step b 'chmod 700 x; touch -d @5 x; cp -p x y' x y 'staged: true'
	step c 'cat y >z; stat -c "%a %Y" x y >>z; ./x; touch -r x z' x,y z
	sed -i 's/seq 5/echo : /' w.yaml
	like_batch
	[ "$(stat -c '%a %Y' work/x)" = '700 5' ]
	# The same bytes in another file.
	begin
	step a 'seq 5 >x' '' x
	step b 'cp x t; chmod 600 t; touch -d @6 t; mv t x; touch y' x y 'staged: true'
	step c 'cat y >z; stat -c "%a %Y" x >>z; cat x >>z' x,y z
	like_batch
	[ "$(stat -c '%a %Y' work/x)" = '600 6' ]
	# Of the directory.
	begin
	step a 'mkdir d; seq 5 >d/x' '' 'd/x'
	step b 'cp d/x y; chmod 750 d; touch -d @7 d' d/x y 'staged: true'
	step c 'cat y >z; stat -c "%a %Y" d >>z' y z
	like_batch
	[ "$(stat -c '%a %Y' work/d)" = '750 7' ]
}

@test "what a staged step leaves alone is as it was" {
	begin
	step a 'seq 5 >x; ln -s x l; mkdir d; seq 6 >d/f' '' 'x,l,d/*'
	step b 'cat x l d/f >y' 'x,l,d/*' y 'staged: true'
	step c 'cat x l d/f y >z; ls -l d l | grep -c . >>z' 'x,l,d/*,y' z
	like_batch
}

@test "a staged and a streamed step that change one file in place, in the order of other files" {
	local staged
	for staged in b c; do
		begin
		step a 'seq 5 >x' '' x
		step b 'sed -i s/3/three/ x; cp x x2; cp x x3' x x,x2,x3 "$([ $staged != b ] || echo 'staged: true')"
		step c 'echo k >>x; cat x2 x3 x >y' x,x2,x3 x,y "$([ $staged != c ] || echo 'staged: true')"
		like_batch
	done
}

@test "an output that a step before it has made is there for it, to be read, added to or removed" {
	local how w
	for how in 'echo 2 >>w' 'cat w >y' 'rm w' ':'; do
		w=w
		[ "$how" != 'rm w' ] || w='w*'
		begin
		step a 'echo 1 >w; echo >x' '' "$w,x"
		step b "echo >y; $how; cp x v" x "v,y,$w" 'staged: true'
		step c 'cat v y >z; if [ -e w ]; then cat w >>z; fi' "v,y,$w" z
		like_batch
	done
}

@test "staged steps that change one file in place, and name it by a pattern" {
	local one other
	for one in '' 'staged: true'; do
		for other in '' 'staged: true'; do
			begin
			step a 'seq 5 >w1; echo >x' '' 'w1,x'
			step b 'ls w* >y; echo k >>w1; echo >w2' 'x,w*' 'y,w*' "$one"
			step c 'cat y >z; ls w* >>z; echo l >>w1; echo >w3' 'y,w*' 'z,w*' "$other"
			like_batch
		done
	done
}

@test "an output by a pattern, which the step changes without reading it" {
	begin
	step a 'mkdir d; seq 7 >d/f; echo >x' '' 'd/*,x'
	step b 'truncate -s 4 d/f; echo >y' 'x' 'd/f*,y' 'staged: true'
	step c 'cat y d/f >z' 'd/*,y' z
	like_batch
}

@test "a later step has used what a staged step removes or changes at its end: named, as for a streamed step" {
	local staged
	for staged in '' 'staged: true'; do
		begin
		step a 'seq 5 >x' '' x
		step b 'cp x x3; until [ -e ../seen ]; do sleep 0.1; done; rm x' x x3 "$staged"
		step c 'cat x >z; touch ../seen; cat x3 >>z' x,x3 z
		rm -rf work seen && mkdir work
		run -125 timeout 60 leat run w.yaml
		[[ $output == *'violation: x was read by step c and then removed by step b, which in a batch ends before step c begins;'* ]]
		begin
		step a 'seq 5 >x' '' x
		step b 'until [ -e ../seen ]; do sleep 0.1; done; chmod 700 x; echo >y' x y "$staged"
		step c 'stat -c %a x >z; touch ../seen; cat y >>z' x,y z
		rm -rf work seen && mkdir work
		run -0 timeout 60 leat run w.yaml
		[[ $output == *'warning: step b gives x, which is complete, mode 700: others have seen it with mode 644; let the step that makes the file set it'* ]]
	done
}

@test "made in its directory, though it is declared by a later step, which looks for it: it waits" {
	local staged
	for staged in 'staged: true' ''; do
		begin
		step a 'sleep 0.3; mkdir d; echo 12 >d/f; echo >token' '' d,token "$staged"
		step b 'x=$(sed s/1/X/ d/f); echo $x >d/f; cat token' token,d/f d/f
		like_batch
	done
	# Who looks for it later finds it.
	begin
	step a 'mkdir d; echo 12 >d/f; echo >token' '' d,token 'staged: true'
	step b 'cat token; x=$(sed s/1/X/ d/f); echo $x >d/f' token,d/f d/f
	like_batch
	# What the later one makes meanwhile is its own.
	begin
	step a 'mkdir d; sleep 0.5; echo 12 >d/g; echo >token' '' d,token 'staged: true'
	step b 'sleep 0.2; [ -e d/f ] || echo mine >d/f; cat token' token d/f
	like_batch
}

@test "a directory that a streamed step has made, and a later one has looked at, is put on disk for it" {
	begin
	step a 'mkdir d; until [ -e ../seen ]; do sleep 0.02; done; echo 12 >d/f' '' 'd/*'
	step b 'cat d/f >y' 'd/*' y 'staged: true'
	step c 'until [ -d d ]; do sleep 0.02; done; touch ../seen; ls d >z; cat y >>z' 'd/*,y' z
	rm -rf work && mkdir work
	run -0 --separate-stderr timeout 60 leat run w.yaml
	[ "$(cat work/z)" = $'f\n12' ]
	[[ $stderr != *violation* ]]
}

@test "names of one file are links on disk, too" {
	begin
	step a 'echo 1 >x; ln x y' '' x,y
	step b 'stat -c %h x >z; echo 2 >>y; cat x >>z' x,y x,y,z 'staged: true'
	step c 'cat x y z >o' x,y,z o
	like_batch
	# What it changes by the other name it has changed by this one.
	begin
	step a 'echo 1 >x; ln x y' '' x,y
	step b 'echo 2 >>y' x,y y 'staged: true'
	rm -rf work && mkdir work
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q 'violation: x was written by step b, which does not declare it as an output' <<<"$stderr"
}

@test "what it replaces has been begun to be read: named" {
	begin
	step a 'seq 5 >x; until [ -e ../seen ]; do sleep 0.02; done' '' x
	step b 'sort -rn -o x x' x x 'staged: true'
	step c 'exec 3<x; touch ../seen; head -n 1 <&3 >o' x o
	sed -i "/outports/s/filename: 'x'}/filename: 'x', mode: no_update}/" w.yaml
	rm -rf work && mkdir work
	run -125 --separate-stderr timeout 60 leat run w.yaml
	grep -q 'violation: x was replaced by step b where a consumer had read it (committed: on_termination, mode: no_update)' <<<"$stderr"
}

@test "a mode that is given after the close is what it finds" {
	begin
	step a 'echo 1 >x; chmod 640 x' '' x
	step b 'cp -p x y; stat -c %a x >z' x y,z 'staged: true'
	sed -i "/outports.*'x'/s/filename: 'x'}/filename: 'x', committed: on_close}/" w.yaml
	like_batch
}
