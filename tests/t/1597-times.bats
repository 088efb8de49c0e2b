#!/usr/bin/env bats
# Times of directories and files, and hard links, are those that the steps have made, as in a batch.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir batch work
}

teardown() {
	nothing_left
}

# flow MAKE USE [PERMANENT [PORT]]: scripts of a producer and a consumer of PORT.
flow() {
	echo "$1" >make.sh
	echo "$2" >use.sh
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: ${launcher:-} sh -e $PWD/make.sh
		    outports: [{filename: "${4:-d/**}"}]
		  - func: use
		    exec: ${launcher:-} sh -e $PWD/use.sh
		    inports: [{filename: "${4:-d/**}"}]
		    outports: [{filename: o}]
		permanent: [o, "${3:-d/**}"]
	END
}

# both: as a batch in `batch`, and streamed in `work`.
both() {
	timeout 60 leat run -q --plain --dir batch flow.yaml
	timeout 60 leat run -q --dir work flow.yaml
}

# A directory whose files go to disk while the consumer reads it.
many='mkdir -p d/sub; for i in 1 2 3 4 5 6 7 8; do head -c 2000000 /dev/zero >d/f$i; cp d/f$i d/sub; done'

@test "what leat does on disk does not change a directory for who reads it" {
	need tar
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		for _ in 1 2 3; do
			rm -rf work && mkdir work
			flow "$many" 'cat d/f1 >/dev/null; stat -c %Y.%y.%Z.%z d d/sub >before; tar cf o d; stat -c %Y.%y.%Z.%z d d/sub | diff before -; rm before'
			timeout 60 leat run -q flow.yaml
			tar xOf work/o d/sub/f8 | cmp - work/d/f8
		done
	done
}

@test "times of directories that a step has set are there after the run" {
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf batch work && mkdir batch work
		flow "$many; touch -d '2001-02-03 04:05:06.789 UTC' d/sub; touch -d '2002-02-03 UTC' d" \
			'stat -c "%y %n" d d/sub d/f1 >/dev/null; find d -printf "%T@ %p\n" | sort >o; [ "$(stat -c %Y d)" = 1012694400 ]'
		both
		(cd work && stat -c '%Y %y %n' d d/sub) | tee times
		(cd batch && stat -c '%Y %y %n' d d/sub) | diff times -
		# and what the consumer saw is what is there now
		diff work/o <(cd work && find d -printf '%T@ %p\n' | sort)
	done
}

@test "cp -a, tar -x and rsync -a give times that last" {
	mkdir -p from/a/b
	echo one >from/a/b/one
	echo two >from/a/two
	touch -d '2003-01-01 00:00:00.123456789 UTC' from/a/b/one from/a/two
	touch -d '2004-01-01 UTC' from/a/b
	touch -d '2005-01-01 UTC' from/a
	tar cf from.tar -C from a
	local copy
	for copy in "cp -a $PWD/from/a d" "mkdir t; tar xf $PWD/from.tar -C t; mv t/a d; rmdir t" "rsync -a $PWD/from/a/ d"; do
		! [[ $copy == rsync* ]] || command -v rsync >/dev/null || continue
		rm -rf batch work && mkdir batch work
		flow "$copy" 'find d | sort >o'
		both
		(cd batch && find d -printf '%T@ %p\n' | sort) >expected
		(cd work && find d -printf '%T@ %p\n' | sort) | diff expected -
	done
}

@test "a directory on disk and in memory shows what is made and removed in either" {
	mkdir batch/d work/d
	touch batch/d/old work/d/old
	touch -d '2001-01-01 UTC' batch/d work/d
	# shellcheck disable=SC2016
	flow 'changed() { now=$(stat -c %y d); [ "$now" != "$last" ] || { echo "$1: d has not changed"; exit 1; }; last=$now; sleep 0.01; }
		last=$(stat -c %y d)
		[ "$(stat -c %Y d)" = 978307200 ]
		echo x >d/x.out; changed create
		echo y >d/undeclared; changed "create an undeclared file"
		mkfifo d/fifo; changed mkfifo; rm d/fifo; changed rm
		mv d/undeclared d/other; changed mv
		ln d/other d/link; changed ln
		rm d/old; changed "remove what was there"
		mkdir d/plain; changed mkdir; rmdir d/plain; changed rmdir
		echo more >>d/x.out; [ "$(stat -c %y d)" = "$last" ]' \
		'ls d >o; stat -c %y d >>o' 'd/*.out' 'd/*.out'
	both
	diff <(head -n 3 batch/o) <(head -n 3 work/o)
	[ "$(tail -n 1 work/o)" = "$(stat -c %y work/d)" ]
}

# links DIRECTORY: which names of it are one file.
links() {
	(cd "$1" && find . -type f ! -name '.leat-*' -printf '%i %p\n' | sort -k 2 |
		awk '{n[$1] = n[$1] " " $2} END {for (i in n) print n[i]}' | sort)
}

@test "hard links between outputs are links after the run" {
	need cp tar
	echo given | tee batch/given >work/given
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf batch/d work/d batch/o work/o
		flow 'mkdir -p d/tree/x; seq 1000 >d/a; ln d/a d/b; ln d/b d/c; seq 5 >d/tree/1; seq 6 >d/tree/x/2; cp -al d/tree d/copy
			echo gone >d/gone; ln d/gone d/stays; rm d/gone
			ln given d/given; tar cf - d/a d/b | (mkdir d/t && cd d/t && tar xf -)' 'tar cf o d'
		both
		diff <(links batch) <(links work)
		diff <(tar tvf batch/o | grep -c link) <(tar tvf work/o | grep -c link)
		diff -r batch/d work/d
	done
}

@test "two names of one file that cannot be so on disk are told" {
	[ "$(id -u)" = 0 ] || skip "only root can mount"
	flow 'mkdir -p d; seq 1000 >d/a; ln d/a e/b' 'cat d/a >o' '*/*' '*/*'
	mkdir work/e
	unshare -m sh -ec 'mount -t tmpfs none work/e; timeout 60 leat run flow.yaml >log 2>&1; cmp work/d/a work/e/b'
	grep -qx "leat: warning: d/a and e/b are two names of one file (hard links), which cannot be so on disk: Invalid cross-device link; they are two files there" log
}

# chain [OPTION]: x -> y -> z, each made of the one before.
chain() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: ${launcher:-} sh -c 'seq 1000 >x'
		    outports: [{filename: x${1:-}}]
		  - func: use
		    exec: ${launcher:-} sh -c 'cat x >y; chmod 600 y'
		    inports: [{filename: x}]
		    outports: [{filename: y${1:-}}]
		  - func: more
		    exec: ${launcher:-} sh -c '${2:-} cat y >z; touch z; mv z t; mv t z'
		    inports: [{filename: y}]
		    outports: [{filename: z${1:-}}]
		permanent: [x, y, z]
	END
}

@test "what is made of a file is newer than it, and make has nothing to do" {
	need make python3
	printf 'z: y\n\tcp y z\ny: x\n\tcp x y\nx:\n\tseq 1000 >x\n' >Makefile
	local launcher option
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		for option in "" ", mode: no_update"; do
			for _ in 1 2 3 4 5; do
				rm -rf work && mkdir work
				chain "$option"
				timeout 60 leat run -q flow.yaml
				(cd work && stat -c '%y %n' x y z && [ y -nt x ] && [ z -nt y ])
				[ "$(find work -newer work/x ! -name '.leat-*' -type f | wc -l)" = 2 ]
				# as floating-point numbers, too
				python3 -c 'import os; a, b, c = (os.path.getmtime("work/" + n) for n in "xyz"); assert a < b < c'
				[ "$(make -C work -f ../Makefile -s -n z 2>&1)" = "" ]
				touch work/x
				[ "$(make -C work -f ../Makefile -s -n z)" = $'cp x y\ncp y z' ]
			done
		done
	done
}

@test "a later step sees what is made of a file newer than it" {
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		for _ in 1 2 3 4 5; do
			rm -rf work && mkdir work
			chain '' 'stat -c "%y %n" x y; cat y >/dev/null; [ "$(find y -newer x)" = y ] &&'
			sed -i 's/inports: \[{filename: y}\]/inports: [{filename: x}, {filename: y}]/' flow.yaml
			timeout 60 leat run -q flow.yaml
		done
	done
}

@test "times of files that a program has set are kept" {
	need cp
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf batch work && mkdir batch work
		flow 'mkdir -p d; seq 1000 >d/a; touch -d "2001-02-03 04:05:06.123456789 UTC" d/old; touch -a -d "2002-02-03 UTC" d/a
			seq 9 >d/future; touch -d "2100-01-01 UTC" d/future' \
			'cp -p d/old o; [ ! o -nt d/old ] && [ ! d/old -nt o ]'
		both
		(cd batch && stat -c '%y %n' o d/old d/future) >expected
		(cd work && stat -c '%y %n' o d/old d/future) | diff expected -
		# in this run, too: not newer than what it is a copy of, and not made newer than what is dated in the future
		flow 'mkdir -p d; seq 1000 >d/a' 'cp -p d/a o'
		rm -rf work && mkdir work
		timeout 60 leat run -q flow.yaml
		[ "$(stat -c %y work/o)" = "$(stat -c %y work/d/a)" ]
		flow 'mkdir -p d; seq 1000 >d/a; touch -d "2100-01-01 UTC" d/a' 'cat d/a >o'
		rm -rf work && mkdir work
		timeout 60 leat run -q flow.yaml
		[ work/d/a -nt work/o ]
	done
}

@test "the time that a program has set outside is kept when the file is moved in" {
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf batch work && mkdir batch work
		flow 'mkdir -p d; seq 1000 >d/a; sleep 0.05; seq 5 >d/b' 'cat d/* >/dev/null; cp -p d/a ../t; mv ../t o'
		both
		[ ! batch/o -nt batch/d/a ]
		[ "$(stat -c %y work/o)" = "$(stat -c %y work/d/a)" ]
	done
}

@test "a file that was changed outside after it was written, and is made newer, is named" {
	flow 'mkdir -p d; seq 1000 >d/a' 'cat d/a >/dev/null; seq 5 >../t; touch -d "$(date -d "0.5 seconds ago" "+%F %T.%N")" ../t; mv ../t o'
	sed -i 's/seq 1000/sleep 1; seq 1000/' make.sh
	timeout 60 leat run -q flow.yaml 2>log
	cat log
	[ work/o -nt work/d/a ]
	grep -qx "leat: warning: o, which was moved here from outside of the workflow's directory, is made newer than the inputs of its step; if a program had set its time, have it do so here" log
	# what is written there in due time is not
	rm -rf work && mkdir work
	flow 'mkdir -p d; seq 1000 >d/a' 'cat d/a >/dev/null; sleep 0.1; seq 5 >../t; chmod 600 ../t; mv ../t o'
	timeout 60 leat run -q flow.yaml 2>log
	[ ! -s log ]
}

@test "a directory that is given a time that another had before all was in it is named" {
	need cp
	local launcher watcher found='until [ -d d ]; do sleep 0.05; done'
	# With the time that the directory around it has.
	local make='mkdir d; echo 1 >d/a; touch -d @1000000000 d .; until [ -e ../ready ]; do sleep 0.02; done; sleep 0.2; echo 2 >d/b'
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf work ready && mkdir work
		flow "$make" "$found; sleep 0.2; stat . >/dev/null; cp -a d e; ls e >o"
		# The copy has looked at d once it makes e.
		(until [ -d work/e ]; do sleep 0.02; done; : >ready) 3>&- &
		watcher=$!
		timeout 60 leat run -q flow.yaml 2>log || { kill "$watcher"; false; }
		wait "$watcher"
		cat log
		[ "$(cat work/o)" = $'a\nb' ]
		grep -qx 'leat: warning: step use gave the directory e a time that d had before all was in it; have it list that first (ls d >/dev/null)' log
		rm -rf work ready && mkdir work
		flow "$make" "$found; echo >../ready; ls d >/dev/null; cp -a d e; ls e >o"
		timeout 60 leat run -q flow.yaml 2>log
		cat log
		[ "$(stat -c %y work/d)" = "$(stat -c %y work/e)" ]
		[ ! -s log ]
	done
}

@test "what a step changes last is newer than what it made of it before" {
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		permanent: ["*"]
		tasks:
		  - func: a
		    exec: bash -c 'seq 5 >x; seq 5 >w'
		    outports: [{filename: x}, {filename: w}]
		  - func: b
		    exec: bash -c 'cat x >y; cat w >v; sleep 0.1; echo k >>x'
		    inports: [{filename: x}, {filename: w}]
		    outports: [{filename: x}, {filename: w}, {filename: y}, {filename: v}]
		  - func: c
		    exec: bash -c '[ x -nt y ] && [ v -nt w ] && echo newer >z'
		    inports: [{filename: x}, {filename: y}, {filename: w}, {filename: v}]
		    outports: [{filename: z}]
	END
	for _ in 1 2 3 4 5 6; do
		rm -rf work && mkdir work
		timeout 60 leat run -q flow.yaml
		[ work/x -nt work/y ]
		[ work/v -nt work/w ]
	done
}

@test "rights and times by a descriptor whose name is gone while the file has others" {
	need python3
	cat >links.py <<-'END'
		import os
		with open("d/a", "w") as f:
		    f.write("x")
		fd = os.open("d/a", os.O_RDONLY)
		os.link("d/a", "d/b")
		os.unlink("d/a")
		os.fchmod(fd, 0o600)
		os.fchown(fd, os.getuid(), os.getgid())
		os.utime(fd, (1, 1))
		st = os.stat("d/b")
		assert (st.st_mode & 0o777, st.st_mtime) == (0o600, 1), st
	END
	flow "mkdir d; python3 $PWD/links.py" 'cat d/b >o'
	sed -i 's/outports: \[{filename: "[^"]*"/&, committed: on_close/' flow.yaml
	both
	diff -r batch work
}
