#!/usr/bin/env bats
# Directories that steps share: what a step sees of them is what it would have seen in a batch, or is named.
# shellcheck disable=SC2154 # stderr: run sets it
bats_require_minimum_version 1.5.0
load helper
load steps

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

mode_is_changed() {
	rm -f seen
	step make '' '{filename: "d/**"}, {filename: x}' <<<"mkdir d; $looked; chmod 700 d; echo 1 >d/a; echo >x"
	step use '{filename: "d/**"}, {filename: x}' '{filename: o}' <<-'END'
		until [ -d d ]; do sleep 0.01; done
		stat -c %a d >o; cp o ../seen
		cat d/a x >>o
	END
	timeout 60 leat run -q flow.yaml 2>log
	cat log
	grep -qx 'leat: warning: step use has seen the directory d with mode 755 before step make, which in a batch ends before, gave it mode 700; if it goes by that, have it read a file of step make first' log
	# who reads a file of it first sees the last one
	begin
	step make '' '{filename: "d/**"}, {filename: x}' <<<"mkdir d; echo 1 >d/a; chmod 700 d; echo >x"
	step use '{filename: "d/**"}, {filename: x}' '{filename: o}' <<<'cat x >/dev/null; stat -c %a d >o'
	run_both
	[ ! -s log ]
}

@test "a step looks at a directory before its mode is changed: named" {
	each_way mode_is_changed
}

@test "a look that comes to the same is not" {
	begin
	rm -f seen
	step make '' '{filename: "d/**"}, {filename: x}' <<<"mkdir d; $looked; chmod 755 d; echo 1 >d/a; echo >x"
	step use '{filename: "d/**"}, {filename: x}' '{filename: o}' <<-'END'
		until [ -d d ]; do sleep 0.01; done
		stat -c %a d >o; cp o ../seen
		cat d/a x >>o; chmod 750 d
	END
	timeout 60 leat run -q flow.yaml 2>log
	[ ! -s log ]
}

gone_directory() {
	local change
	for change in 'rmdir d' 'mv d e' 'rmdir d; echo >d'; do
		begin
		rm -f seen
		step make '' '{filename: x}' <<<"mkdir d; $looked; $change; echo >x"
		step use '{filename: x}' '{filename: o}' <<-'END'
			until [ -d d ]; do sleep 0.01; done
			echo there >o; cp o ../seen
			cat x >>o
		END
		run -125 --separate-stderr timeout 60 leat run -q flow.yaml
		echo "$stderr"
		grep -q '^leat: violation: d was read by step use and then re[a-z]* by step make, which in a batch ends before step use begins' <<<"$stderr"
	done
}

@test "a step finds a directory that is removed or moved away before the other ends: a conflict" {
	each_way gone_directory
}

# too_early CALLS VERB: a step tries that before an earlier one makes d, which is a conflict.
too_early() {
	begin
	rm -f tried
	step make '' '{filename: x}' <<<'until [ -e ../tried ]; do sleep 0.01; done; mkdir d; echo >x'
	step try '{filename: x}' '{filename: o}' <<<"{ $1; } 2>/dev/null; touch ../tried; cat x >o"
	run -125 --separate-stderr timeout 60 leat run -q flow.yaml
	echo "$stderr"
	grep -q "^leat: violation: d was $2 by step try and then made by step make, which in a batch ends before step try begins" <<<"$stderr"
}

looked_for_too_early() {
	too_early 'rmdir d' '[a-z]* [a-z]*' # behind a mount it is looked for first
	too_early 'python3 -I -c "import os; os.rmdir(\"./d/\")"' '[a-z]* [a-z]*'
	too_early 'rm -d d' 'looked for'
	too_early '[ -d d ]' 'looked for'
	too_early 'ls d' 'looked for'
}

@test "a step looks for a directory, or removes it, before an earlier one makes it: a conflict" {
	each_way looked_for_too_early
}

made_too_early() {
	rm -f made
	step look '' '{filename: o}' <<<'until [ -e ../made ]; do sleep 0.01; done; [ -d d ] && echo there >o; echo >>o'
	step make '{filename: o}' '{filename: x}' <<<'mkdir d; touch ../made; cat o >x'
	run -125 --separate-stderr timeout 60 leat run -q flow.yaml
	echo "$stderr"
	grep -q '^leat: violation: d was made by step make and then read by step look, which in a batch ends before step make begins' <<<"$stderr"
}

@test "a step finds a directory that a later one has made: a conflict" {
	each_way made_too_early
}

made_by_who_looks() {
	rm -f tried
	step make '' '{filename: x}' <<<'until [ -e ../tried ]; do sleep 0.01; done; mkdir d d2 d3; touch ../made; echo >x'
	step try '{filename: x}' '{filename: o}' <<-'END'
		[ ! -d d ] && [ ! -d d2 ] && [ ! -d d3 ]; touch ../tried
		until [ -e ../made ]; do sleep 0.01; done
		mkdir -p d
		mkdir d2 2>/dev/null
		python3 -I -c 'import os; os.makedirs("d3", exist_ok=True)'
		cat x >o
	END
	rm -f made
	timeout 60 leat run -q flow.yaml 2>log || { cat log; return 1; }
	[ ! -s log ]
	rmdir work/d work/d2 work/d3
}

made_if_it_is_missing() {
	rm -f made
	step one '' '{filename: a}' <<<'[ -d d ] || mkdir d; touch ../made; echo 1 >d/one; echo >a'
	step two '' '{filename: b}' <<<'until [ -e ../made ]; do sleep 0.01; done; python3 -I -c "
import os
if not os.path.exists(\"d\"): os.mkdir(\"d\")
open(\"d/two\", \"w\").write(\"2\\n\")"; echo >b'
	timeout 60 leat run -q flow.yaml 2>log || { cat log; return 1; }
	[ ! -s log ]
	[ "$(cat work/d/one work/d/two)" = $'1\n2' ]
}

@test "a step finds a directory of another, and makes something in it: none" {
	each_way made_if_it_is_missing
}

passed_through() {
	local use
	for use in 'echo 1 >e/x' 'cp ../a.sh e/x' '[ -e e/x ] || ln -s y e/x' 'cat e/y; mkdir e/x'; do
		one_in 3 || continue
		begin
		echo >a.sh
		rm -f made
		step use '' '{filename: a}' <<<"until [ -e ../made ]; do sleep 0.01; done; { $use; } 2>/dev/null; echo >a"
		step make '' '{filename: b}' <<<'mkdir -p e; touch ../made; echo >b'
		run -125 --separate-stderr timeout 60 leat run -q flow.yaml
		echo "$stderr"
		grep -q '^leat: violation: e was made by step make and then relied on by step use, which has no order with it' <<<"$stderr"
	done
}

@test "a step makes something in a directory of another, and has not looked for it: a conflict" {
	each_way passed_through
}

made_with_those_above() {
	step one '' '{filename: r/x/y/a}' <<<'mkdir -p r/x/y; touch ../made; echo 1 >r/x/y/a'
	step two '' '{filename: r/x/y/b}' <<-'END'
		until [ -e ../made ]; do sleep 0.01; done
		python3 -I -c 'import os; os.makedirs("r/x/y", exist_ok=True); open("r/x/y/b", "w").write("2")'
	END
	step three '' '{filename: r/x/c}' <<-'END'
		until [ -e ../made ]; do sleep 0.01; done
		[ -d r ] || mkdir r
		[ -d r/x ] || mkdir r/x
		echo 3 >r/x/c
	END
	rm -f made
	timeout 60 leat run -q flow.yaml 2>log || { cat log; return 1; }
	[ ! -s log ]
	[ "$(cat work/r/x/y/a work/r/x/c)" = $'1\n3' ]
}

@test "a step finds the directories above one that it makes, or would have made: none" {
	each_way made_with_those_above
}

@test "a step looks for a directory, and makes it then, whoever was the first: none" {
	each_way made_by_who_looks
}

replaced_by_a_file() {
	step make '' '{filename: "d/**"}' <<<'mkdir d; echo 1 >d/a; sleep 0.2; echo 2 >d/b'
	step edit '{filename: "d/**"}' '{filename: d}, {filename: p}' <<<'cat d/* >n; sleep 0.2; rm -r d; mv n d; echo p >p'
	step use '{filename: d}, {filename: p}' '{filename: o}' <<<'cat d >o; cat p >>o'
	run_both
}

@test "a file comes in the place of a directory: its readers wait for it, its maker for the directory" {
	each_way replaced_by_a_file
}

removed_by_a_reader() {
	step make '' '{filename: "d/**"}' <<<'mkdir -p d/e; echo 1 >d/a; echo 2 >d/e/b'
	step read '{filename: "d/a"}, {filename: "d/e/b"}' '{filename: p}' <<<'sleep 0.5; cat d/a d/e/b >p'
	step clean '{filename: "d/a"}, {filename: "d/e/b"}' '{filename: o}' <<-'END'
		cat d/a d/e/b >o
		rm -r d && mkdir d && echo new >>o
		ls d >>o
	END
	run_both
}

# Behind a mount who reads d/a has looked at d, and without an order that is a conflict.
@test "a step removes a directory that an earlier one still reads, and makes it anew" {
	begin
	removed_by_a_reader
}

later_reader() {
	step make '' '{filename: "d/**"}' <<<'mkdir d; echo 1 >d/a'
	step clean '{filename: d/a}' '{filename: o}' <<<'cat d/a >o; rm -r d; echo gone >>o'
	step late '{filename: d/a}, {filename: o}' '{filename: p}' <<<'cat o >p; cat d/a >>p 2>/dev/null; echo end >>p'
	run_both
}

@test "a later step that would read what is removed is not waited for" {
	each_way later_reader
}

replaced_after_it_was_saved() {
	local by
	for by in 'echo f >d/s' 'ln -s ../o d/s'; do
		begin
		step make '' '{filename: "d/**", committed: on_close}' <<<"mkdir -p d/s; echo q >d/s/q; sleep 0.2; rm -rf d/s; $by"
		echo "$by"
		run_both
		[ ! -s log ]
	done
}

@test "something else comes in the place of a directory that had a permanent file" {
	each_way replaced_after_it_was_saved
}

# That takes longer than the step that removes it.
removed_while_it_is_saved() {
	step make '' '{filename: "d/**"}, {filename: x}' <<<'mkdir d; yes | head -c 200M >d/a; echo x >x'
	step clean '{filename: "d/**"}, {filename: x}' '{filename: o}' <<<'cat x >o; rm -r d 2>>o; echo $? >>o'
	run_both
}

@test "a directory is removed while a permanent file of it is on its way to disk" {
	each_way removed_while_it_is_saved
}

@test "what a step has removed is gone for the steps after it, too" {
	begin
	step make '' '{filename: "d/**"}, {filename: x}' <<<'mkdir d; echo 1 >d/a; echo 2 >d/b; echo x >x'
	step read '{filename: d/b}' '{filename: q}' <<<'sleep 0.5; cat d/b >q'
	step clean '{filename: x}, {filename: d/a}, {filename: d/b}' '{filename: o}' <<<'cat x d/a d/b >o; rm x d/a d/b'
	step late '{filename: x}, {filename: d/a}, {filename: o}' '{filename: p}' <<<'cat o >p; cat x d/a >>p 2>/dev/null; ls d >>p; echo end >>p'
	run_both
}

umask_of_the_first() {
	step make '' '{filename: "d/**"}' <<<'umask 077; sleep 0.3; mkdir -p d; echo 1 >d/a'
	step use '{filename: "d/**"}' '{filename: o}' <<<'mkdir -p d; stat -c %a d >o; cat d/a >>o'
	run_both
}

@test "a directory that two make is that of the first in the batch" {
	each_way umask_of_the_first
}

made_in_one_to_come() {
	step make '' '{filename: d/a}' <<<'sleep 0.3; mkdir d; echo 1 >d/a'
	step use '{filename: d/a}' '{filename: d/y}, {filename: d/e/z}' <<<'echo hi >d/y; mkdir d/e; echo ho >d/e/z; cat d/a >>d/y'
	run_both
}

@test "what a step makes in a directory that an earlier one has still to make waits for that" {
	each_way made_in_one_to_come
}

@test "nobody has declared the directory that is to come: a conflict, for each call" {
	local call
	for call in 'echo >d/y' 'mkdir d/y' 'ln -s x d/y' 'mv o d/y' 'mkfifo d/y'; do
		begin
		step make '' '{filename: x}' <<<'sleep 0.3; mkdir d; echo x >x'
		step use '{filename: x}' '{filename: o}' <<<"echo >o; $call; cat x >>o; true"
		run -125 --separate-stderr timeout 60 leat run -q flow.yaml
		echo "$stderr"
		grep -q '^leat: violation: d was relied on by step use and then made by step make, which in a batch ends before step use begins' <<<"$stderr"
	done
}

empty_ones_stay() {
	step make '' '{filename: "d/**"}, {filename: x}' <<<'mkdir -p d/e f; echo 1 >d/a; rm d/a; echo >x'
	step use '{filename: x}' '{filename: "g/*"}, {filename: o}' <<<'cat x >o; mkdir -m 700 g'
	run_both
}

@test "directories in which there is nothing in the end are there after the run" {
	each_way empty_ones_stay
}

mode_after_the_close() {
	rm -f seen
	step make '' '{filename: a, committed: on_close}, {filename: x}' <<<"echo 1 >a; $looked; chmod 640 a; echo >x"
	step use '{filename: a}, {filename: x}' '{filename: o}' <<<'stat -c %a a >o; cp o ../seen; cat a x >>o'
	timeout 60 leat run -q flow.yaml 2>log
	cat log
	grep -qx 'leat: warning: step make gives a, which is complete, mode 640: others have seen it with mode 644; set it before the file is closed, or by the umask' log
}

# kept MADE: that directory is there after the run, whatever has declared what may be in it.
kept() {
	local outputs inputs
	for outputs in '{filename: x}, {filename: "d/*"}' '{filename: x}, {filename: "d/s/f*"}'; do
		for inputs in '{filename: x}' '{filename: x}, {dirname: d}' '{filename: x}, {filename: "d/g*"}'; do
			one_in 5 || continue
			begin
			step make '' "$outputs" <<<"mkdir -p $1; echo 1 >x"
			step use "$inputs" '{filename: o}' <<<'cat x >o'
			echo "$outputs | $inputs"
			timeout 60 leat run -q flow.yaml
			[ -d "work/$1" ]
			[[ $inputs != *dirname* ]] || continue
			# the files of d are permanent, too, because nobody reads them
			sed -i '/^permanent/d' flow.yaml
			rm -rf work/*
			timeout 60 leat run -q flow.yaml
			[ -d "work/$1" ]
		done
	done
}

empty_directories() {
	kept d
	kept d/s
}

@test "directories that are empty in the end are kept where files in them would be permanent" {
	each_way empty_directories
}

@test "a complete file is given another mode after a step has examined it: named" {
	each_way mode_after_the_close
}

# ---- a directory that is an input of the step is waited for as a file is ----

new_names_in_an_input() {
	step make '' '{filename: d}' <<<'mkdir -p d/s; sleep 0.3; touch d/s/t; sleep 0.2'
	step use '{filename: d}' '{filename: d}, {filename: o}' <<-'END'
		mkdir d/x/; echo $? >o
		mv d/s d/y; ln -s t d/l; ln d/y/t d/h
		set -o noclobber
		echo new >d/n
		mkdir d/x 2>/dev/null || ls d >>o
	END
	run_both
}

@test "new names in a directory that is an input" {
	each_way new_names_in_an_input
}

made_anew() {
	step make '' '{filename: d}' <<<'mkdir d; sleep 0.3; rmdir d; mkdir d; echo 1 >d/x; sleep 0.2'
	step use '{filename: d}' '{filename: e}' <<<'cp -r d/ e'
	run_both
	begin
	mkdir {work,batch}/d
	touch {work,batch}/d/old
	step make '' '{filename: d}' <<<'mkdir n; echo 1 >n/x; sleep 0.3; mv d o; mv n d; rm -r o; sleep 0.2'
	step use '{filename: d}' '{filename: l}' <<<'ls d >l'
	run_both
	begin
	step make '' '{filename: d}' <<<'mkdir d; echo 1 >d/x'
	step edit '{filename: d}' '{filename: d}' <<<'sleep 0.3; rm -r d; mkdir d; echo b >d/b'
	step use '{filename: d}' '{filename: l}' <<<'ls d >l; cat d/b >>l'
	run_both
}

@test "a directory that is replaced by another one: the last one is listed" {
	each_way made_anew
}

becomes_a_file() {
	step make '' '{filename: d}' <<<'mkdir d; echo 1 >d/x'
	step edit '{filename: d}' '{filename: d}' <<<'sleep 0.3; rm -r d; echo f >d'
	step use '{filename: d}' '{filename: l}' <<<'cat d >l 2>&1; stat -c %F d >>l'
	run_both
	begin
	step make '' '{filename: d}' <<<'mkdir d; sleep 0.3; rmdir d; echo f >d; sleep 0.2'
	step use '{filename: d}' '{filename: l}' <<<'[ -d d ] && echo dir >l || cat d >l'
	run_both
}

@test "a directory that becomes a file" {
	each_way becomes_a_file
}

does_not_last() {
	step make '' '{filename: d}' <<<'mkdir d; sleep 0.2; mkdir d/s; sleep 0.3; rmdir d/s; echo 1 >d/x'
	step use '{filename: d}' '{filename: l}' <<<'[ -d d/s ]; echo $? >l'
	run_both
}

@test "a directory in it that does not last" {
	each_way does_not_last
}

rights_set_later() {
	step make '' '{filename: d}' <<<'mkdir d; sleep 0.3; chmod 2770 d; echo 1 >d/h; sleep 0.2'
	step use '{filename: d}' '{filename: d/n}, {filename: d/s/t}, {filename: l}' <<-'END'
		echo n >d/n; mkdir d/s; echo t >d/s/t
		stat -c '%n %a' d d/s >l
	END
	run_both
}

@test "what is made in a directory that is an input comes after its last mode" {
	each_way rights_set_later
}

parents_of_outputs() {
	step make '' '{filename: d}' <<<'mkdir -p d; sleep 0.2; touch d/k'
	step other '' '{filename: d/b}' <<<'mkdir -p d/b; touch d/b/j; sleep 0.2'
	run_both
}

@test "who has outputs in another step's directory may make that" {
	each_way parents_of_outputs
}

# One goes by the names in it, and one looks at the directory first.
streams_through_it() {
	local n
	for n in 1 2; do
		begin
		rm -f seen
		step make '' '{dirname: d, committed: on_close}' <<<"mkdir d; echo 1 >d/a; $looked; echo 2 >d/b"
		case $n in
		1) step use '{dirname: d}' '{filename: o}' <<<'cat d/a >o; cp o ../seen; cat d/b >>o' ;;
		2) step use '{dirname: d}' '{filename: o}' <<<'cd d; cat a >../o; cat b >>../o'
			echo >seen ;;
		esac
		timeout 20 leat run -q flow.yaml
		[ "$(cat work/o)" = $'1\n2' ]
	done
}

@test "its files are still streamed to who goes through it" {
	each_way streams_through_it
}

rotated() {
	step a '' '{filename: out/x}, {filename: tok}' <<<'sleep .2; mkdir out; echo 1 >out/x; echo >tok'
	step b '{filename: tok}, {filename: out/x}' '{filename: out/y}, {filename: "old/*"}' <<<'mv out old; mkdir -p out; echo 2 >out/y'
	run_both
}

@test "a directory that an earlier step has still to make is renamed by a later one" {
	each_way rotated
}

copied_into() {
	step a '' '{filename: src/x, committed: on_close}, {filename: out/r}, {filename: tok}' <<<'mkdir src; echo 1 >src/x; sleep .3; mkdir -p out; echo 2 >out/r; echo >tok'
	step b '{filename: src/x}, {filename: tok}' '{filename: "out/src/*"}' <<<'cp -r src out; cat tok'
	run_both
}

@test "whether there is a directory decides where cp -r copies to" {
	each_way copied_into
}

begun_anew() {
	step a '' '{filename: out/r}, {filename: tok}' <<<'sleep .2; mkdir out; echo 1 >out/r; echo >tok'
	step b '{filename: tok}, {filename: out/r}' '{filename: out/n}' <<<'rm -rf out; mkdir out; echo 2 >out/n; cat tok'
	run_both
	# also if the one that removes it has declared nothing of it
	begin
	step a '' '{filename: out/r}, {filename: out/s}, {filename: tok, committed: on_close}' <<<'mkdir out; echo 1 >out/r; echo >tok; sleep .3; echo 2 >out/s'
	step b '{filename: tok}' '{filename: out/n}' <<<'cat tok; rm -r out; mkdir out; echo 3 >out/n'
	run_both
}

@test "a directory with another step's outputs is removed and made again" {
	each_way begun_anew
}

moved_into() {
	step a '' '{filename: in/1}' <<<'mkdir in; echo 1 >in/1'
	step b '{filename: in/1}' '{filename: done/1}, {filename: tok}' <<<'mkdir done; cat in/1 >/dev/null; sleep 0.3; mv in/1 done/; echo >tok'
	step c '{filename: done/1}, {filename: tok}' '{filename: o}' <<<'sleep 0.1; ls done >o; cat done/1'
	run_both
}

@test "mv tries to rename a file onto the directory that it then moves it into: no change of that" {
	each_way moved_into
}

made_or_found() {
	step a '' '{filename: out/a}, {filename: tok}' <<<'sleep 0.3; [ -d out ] || mkdir out; echo a >out/a; echo >tok'
	step b '{filename: tok}' '{filename: out/b}' <<<'mkdir -p out; cat tok >out/b'
	run_both
}

@test "a step makes the directory of its output unless it is there, when a later one has made it" {
	each_way made_or_found
}

renamed_when_complete() {
	step a '' '{filename: "final/*"}' <<<'sleep .3; mkdir s; echo 1 >s/a; mv s final'
	step b '{filename: "final/*"}' '{filename: "old/*"}' <<<'mv final old'
	run_both
	begin
	step a '' '{filename: d/a}, {filename: tok}' <<<'mkdir -p d; echo 1 >d/a; echo >tok'
	step b '{filename: tok}' '{filename: d/b}, {filename: tok2}' <<<'cat tok; sleep 0.3; echo 2 >d/b; echo >tok2'
	step c '{filename: tok2}, {filename: "d/**"}' '{filename: "e/**"}' <<<'mv d e'
	run_both
}

@test "a directory with inputs is renamed when these are complete" {
	each_way renamed_when_complete
}

@test "a way through a directory that a later step has made, and an earlier one makes, too" {
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	begin
	step a '' '{filename: d/s/f}, {filename: tok}' <<<'sleep 0.3; mkdir -p d/s; echo 1 >d/s/f; echo >tok'
	launcher="env LEAT_INTERCEPT=mount" step b '{filename: tok}, {filename: d/s/f}' '{filename: g}, {filename: tok2}' <<<'cat d/s/f >g; echo >tok2'
	step c '{filename: tok2}' '{filename: d/s/h}' <<<'mkdir -p d/s; cat tok2; echo 2 >d/s/h'
	run_both
}

moved_before_removed() {
	local undo
	for undo in 'rmdir x' 'rm -d x' 'mv x z'; do
		begin
		rm -f moved
		step a '' '{filename: "[xyz]"}, {filename: tok, committed: on_close}' <<<"mkdir x; echo >tok; until [ -e ../moved ]; do sleep 0.02; done; $undo; exit 0"
		step b '{filename: tok}' '{filename: "[xyz]"}' <<<'cat tok; mv x y; touch ../moved'
		run -125 --separate-stderr timeout 60 leat run -q flow.yaml
		echo "$undo: $stderr"
		[[ $stderr == *"violation: x was removed by step b and then looked for by step a, which in a batch ends before step b begins"* ]]
	done
}

@test "a directory is moved before an earlier step, which has made it, removes it: named" {
	each_way moved_before_removed
}

# The later of two producers is first: PREPARE; A; B; what is said.
turned() {
	begin
	rm -f changed
	(cd work && eval "$1")
	step a '' '{filename: "[dez]*"}, {filename: "[dez]*/**"}' <<<"until [ -e ../changed ]; do sleep 0.02; done; $2; exit 0"
	step b '' '{filename: "[dez]*"}, {filename: "[dez]*/**"}' <<<"$3; touch ../changed"
	run -125 --separate-stderr timeout 60 leat run -q flow.yaml
	echo "$1; a: $2; b: $3; $stderr"
	[[ $stderr == *"violation: d was $4, which has no order with it"* ]]
}

changed_by_a_later_producer() {
	local come='mkdir e; mv e d'
	turned : 'mkdir -p d' "$come" 'made by step b and then made by step a'
	turned : 'cp -r d z' "$come" 'made by step b and then read by step a'
	# a mount is asked for the name only
	[ -n "${launcher:-}" ] || turned : 'echo 1 >d' "$come" 'made by step b and then read by step a'
	turned 'mkdir d' 'test -d d' 'rmdir d' 'removed by step b and then looked for by step a'
	turned 'mkdir d' 'ls d' 'mv d z' 'removed by step b and then looked for by step a'
	turned 'mkdir d' 'echo 1 >d/x' 'mv d z' 'removed by step b and then looked for by step a'
}

@test "a directory comes by a rename, or goes, by a later producer, before an earlier one meets it: named" {
	each_way changed_by_a_later_producer
}
