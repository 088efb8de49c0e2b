#!/usr/bin/env bats
# A budget for memory: what it has no space for goes to disk, and no byte is lost on the way.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	in_work
	export LEAT_MEMORY=16M
}

teardown() {
	nothing_left find . -name '.leat-*'
}

# Prints the most that the stores of this test's sessions held and how much they may hold, in pages,
# while COMMAND, which is `same`, runs; its status is that of COMMAND. Producers wait for `made`, which
# is there once a store is watched, so that none is too quick.
watched() {
	local status=0 most=0 size=0 pid now total used
	: >made
	"$@" >watched.log 2>&1 &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		for daemon in $(ours leat-daemon); do
			while read -r now; do
				read -r total used < <(stat -f -c '%b %f' "$now" 2>/dev/null | awk '{ print $1, $1 - $2 }') || continue
				[ "$used" -le "$most" ] || most=$used
				# It is made smaller where the machine's memory is short.
				[ "$total" -le "$size" ] || size=$total
				: >made
			done < <(find "/proc/$daemon/fd" -lname "$LEAT_RUNTIME_DIR/*/store" 2>/dev/null)
		done
		sleep 0.1
	done
	wait "$pid" || status=$?
	cat watched.log
	echo "pages used: $most of $size"
	[ "$size" -gt 0 ] && [ "$most" -le "$size" ] && [ "$size" -le 4096 ] || return 1
	return "$status"
}

@test "many files, four times the budget: the consumer reads while they are made" {
	scripts "{filename: parts/}" "{filename: parts/}" <<-'END'
		while ! [ -e ../made ]; do sleep 0.1; done
		mkdir parts
		for i in $(seq 32); do seq $((i * 1000)) $((i * 1000 + 300000)) > parts/$i; done
		---
		for i in $(seq 32); do md5sum parts/$i; done > out
	END
	watched same
}

@test "many files, four times the budget: the consumer starts late" {
	scripts "{filename: parts/}" "{filename: parts/}" <<-'END'
		while ! [ -e ../made ]; do sleep 0.1; done
		mkdir parts
		for i in $(seq 32); do seq $((i * 1000)) $((i * 1000 + 300000)) > parts/$i; done
		: > parts/done
		---
		while ! [ -e parts/done ]; do sleep 0.1; done
		cat parts/* | md5sum > out
	END
	watched same
}

@test "more files than are looked at in one go, four times the budget" {
	scripts "{filename: parts/}" "{filename: parts/}" <<-'END'
		while ! [ -e ../made ]; do sleep 0.1; done
		mkdir parts
		seq 9000000 | split -b 10240 -a 4 -d - parts/x
		: > parts/done
		---
		while ! [ -e parts/done ]; do sleep 0.1; done
		ls parts | wc -l > out
		cat parts/x* | md5sum >> out
	END
	watched same
	[ "$(head -n 1 batch)" -gt 6000 ]
}

@test "one stream of four times the budget, and its consumer at the same time" {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		while ! [ -e ../made ]; do sleep 0.1; done
		seq 9000000 > data
		---
		md5sum < data > out
	END
	watched same
}

@test "one stream of four times the budget, whose consumer starts late" {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		seq 9000000 > data
		: > ../made
		---
		while ! [ -e ../made ]; do sleep 0.1; done
		{ head -c 1000; tail -c 1000; } < data > out
		md5sum < data >> out
	END
	same
}

@test "one file of four times the budget, complete before it is read" {
	scripts "{filename: data}" "{filename: data}" <<-'END'
		seq 9000000 > data
		---
		{ wc -lc < data; tail -n 3 data; md5sum data; } > out
	END
	same
}

@test "a file that several processes write and read on one description" {
	export LEAT_MEMORY=1M
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		{
			for i in $(seq 40); do seq $i 10000; echo "# $i"; done
			(seq 100000 & wait)
			seq 100000 | sed 's/^/x/'
		} > data
		seq 10000 >> data
		---
		{
			for i in 1 2 3 4 5; do head -c 300000 | md5sum; done
			(read -r line; echo "$line")
			md5sum
		} < data > out
	END
	for _ in 1 2 3; do same; done
}

@test "appends of parallel processes are all there" {
	export LEAT_MEMORY=1M
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-END
		seq $(up_to 250 400) | xargs -P 4 -I{} sh -c 'x=\$(seq {} {}000 | head -n 900 | tr "\\n" " "); printf "%s\\n" "\$x" >> data'
		---
		tr ' ' '\n' < data | LC_ALL=C sort | md5sum > out
	END
	same
}

# at_once FLAG: many write and read records at a common offset, in files that move meanwhile, while
# other files come and go.
at_once() {
	local shared=$LEAT_BUILD/tests/hooks/shared
	[ -x "$shared" ] || skip "tests/hooks/shared is not built"
	export LEAT_MEMORY=1M
	scripts "{filename: 'data*', mode: no_update}, {filename: 'cold*'}" "{filename: 'data*'}" <<-END
		for i in \$(seq 60); do seq 20000 > cold\$i; sleep 0.02; done &
		$shared write data 12 $1
		wait
		---
		$shared read data 12 > out
	END
	same
}

@test "threads and processes write and read at one offset" {
	at_once offset
}

@test "threads and processes append at once" {
	at_once append
}

@test "copied into by the kernel, allocated, cut, with holes" {
	need python3
	export LEAT_MEMORY=1M
	scripts "{filename: data}, {filename: more}, {filename: holes}" \
		"{filename: data}, {filename: more}, {filename: holes}" <<-'END'
		seq 500000 > ../plain
		cp ../plain data
		cat ../plain > more
		truncate -s 10M holes
		dd if=../plain of=holes bs=64k seek=20 conv=notrunc status=none
		dd if=../plain of=holes bs=64k seek=120 count=3 conv=notrunc status=none
		fallocate -l 12M more
		python3 -c 'import os
		a = os.open("../plain", os.O_RDONLY); b = os.open("data", os.O_WRONLY); os.lseek(b, 0, 2)
		while os.sendfile(b, a, None, 1 << 20): pass
		os.close(b); b = os.open("data", os.O_RDWR)
		os.ftruncate(b, 5000000); os.pwrite(b, b"end", 5500000)'
		---
		md5sum data more holes > out
	END
	same
}

@test "a file mapped for writing that has no space in memory" {
	need python3
	export LEAT_MEMORY=2M
	scripts "{filename: data}, {filename: more}" "{filename: data}, {filename: more}" <<-'END'
		python3 -c 'import mmap
		for name in "data", "more":
		    with open(name, "w+b") as f:
		        f.truncate(5000000)
		        m = mmap.mmap(f.fileno(), 0)
		        for at in range(0, 5000000, 1000): m[at:at + 3] = b"%03d" % (at // 1000 % 1000)
		        m.close()'
		---
		python3 -c 'import hashlib, mmap
		for name in "data", "more":
		    with open(name, "rb") as f: print(hashlib.md5(mmap.mmap(f.fileno(), 0, prot = mmap.PROT_READ)).hexdigest())' > out
	END
	same
}

@test "times of directories whose files are on disk" {
	export LEAT_MEMORY=64k
	scripts "{filename: d/}, {filename: e/}, {filename: fill}" "{filename: d/}, {filename: e/}" <<-'END'
		mkdir d e
		seq 10000 > d/moves
		seq 10000 > fill
		touch -d '2001-01-01 UTC' d e
		head -c 60k /dev/zero > fill
		sleep 0.3
		: > e/made
		---
		ls d e > /dev/null
		{ stat -c %Y d; [ "$(stat -c %Y e)" -gt 1000000000 ] && echo changed; } > out
	END
	same
}

@test "names of spilled files: rename, link, unlink, append, list, mode and times" {
	# e and f do not last.
	export LEAT_MEMORY=64k LEAT_ON_VIOLATION=warn
	scripts "{filename: d/}, {filename: e/}, {filename: f/}" "{filename: d/}" <<-'END'
		mkdir f
		head -c 60k /dev/zero > f/fill
		for i in a b c; do seq 20000 > f/$i; done
		mv f/a f/x
		ln f/b f/y
		rm f/b
		mv f e
		echo more >> e/x
		truncate -s 10 e/c
		chmod 600 e/c
		touch -d '2001-01-01 UTC' e/y
		test "$(readlink -f /proc/self/fd/0 < e/x)" = "$PWD/e/x"
		test "$(cat /dev/stdin < e/c | wc -c)" = 10
		cp -a e d
		rm -r e
		test "$(cd d; ls | wc -l)" = 4
		bash -c 'wc -c <&3' 3< d/x
		mkdir d/sub
		mv d/x d/sub/x
		mv d/sub d/bus
		if rmdir d/bus 2> /dev/null; then exit 1; fi
		---
		{ find d | sort; stat -c '%s %a %n' d/c d/y d/bus/x; stat -c %Y d/y; md5sum d/c d/y d/bus/x; } > out
	END
	same
}

@test "permanent files are whole, wherever they were" {
	export LEAT_MEMORY=1M
	scripts "{filename: data}" "{filename: data}" <<-'END'
		seq 300000 > data
		---
		sort -rn data > out
		chmod 640 out
	END
	same
	[ "$(stat -c %a work/out)" = 640 ]
}

@test "sort, gzip, tar" {
	export LEAT_MEMORY=2M
	scripts "{filename: data, mode: no_update}, {filename: data.gz, mode: no_update}, {filename: all.tar, mode: no_update}" \
		"{filename: data}, {filename: data.gz}, {filename: all.tar}" <<-'END'
		seq 1000000 | awk '{ print $1 * 7919 % 1000003 }' > data
		gzip -nc data > data.gz
		mkdir -p ../tree
		for i in $(seq 50); do seq $i 20000 > ../tree/$i; done
		tar --sort=name --mtime=@0 -cf all.tar -C .. tree
		---
		sort -n data | md5sum > out
		gzip -dc data.gz | md5sum >> out
		tar -xOf all.tar | md5sum >> out
	END
	same
}

@test "samtools sort" {
	need samtools
	export LEAT_MEMORY=2M
	scripts "{filename: reads.bam}" "{filename: reads.bam}" <<-'END'
		awk 'BEGIN {
			print "@SQ\tSN:c\tLN:1000000"
			for (i = 0; i < 40000; i++) {
				p = i * 7919 % 999000 + 1
				s = ""
				for (k = 0; k < 25; k++) s = s substr("ACGTTGCA", (i * (k + 3) + k) % 5 + 1, 4)
				printf "r%d\t0\tc\t%d\t60\t100M\t*\t0\t0\t%s\t*\n", i, p, s
			}
		}' | samtools view -u --no-PG -o reads.bam -
		---
		samtools sort --no-PG -m 1M -o sorted.bam reads.bam 2> /dev/null
		samtools view sorted.bam | md5sum > out
		rm sorted.bam
	END
	same
}

@test "a directory asked for is used, and left as it was" {
	mkdir elsewhere
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		exec 3> data
		seq 4000000 >&3
		find "$PWD" -maxdepth 1 -name '.leat-spill*' > ../here
		find ../elsewhere -name data > ../there
		exec 3>&-
		---
		bash -c 'md5sum <&3' 3< data > out
	END
	same --spill-dir elsewhere
	[ ! -s here ]
	grep -q 'elsewhere/.leat-spill-.*/data' there
	[ -z "$(ls -A elsewhere)" ]
}

@test "a directory that cannot be used is an error before anything starts" {
	scripts "{filename: data}" "{filename: data}" <<-'END'
		touch ../started
		---
	END
	run -125 leat run --spill-dir nowhere flow.yaml
	[[ $output == *"cannot use the spill directory nowhere: No such file or directory"* ]]
	touch file
	run -125 leat run --spill-dir file flow.yaml
	[[ $output == *"cannot use the spill directory file: Not a directory"* ]]
	[ ! -e started ]
}

@test "a directory in the very memory it is to relieve is refused" {
	scripts "{filename: data}" "{filename: data}" <<-'END'
		touch ../started
		---
	END
	mkdir "/dev/shm/leat-test-$$"
	run -125 env LEAT_STORE=shm leat run --spill-dir "/dev/shm/leat-test-$$" flow.yaml
	rmdir "/dev/shm/leat-test-$$"
	echo "$output"
	[[ $output == *"is in the memory that it is to relieve"* ]]
	[ ! -e started ]
}

@test "memory and disk are full: ENOSPC, and a line that says what to do" {
	mkdir small
	cat >limited <<-'END'
		mount -t tmpfs -o size=8M none small
		mkdir small/spill
		leat run --memory 4M --spill-dir small/spill flow.yaml
		status=$?
		ls -A small/spill
		exit $status
	END
	unshare -rm true 2>/dev/null || skip "user namespaces are forbidden here"
	scripts "{filename: data}" "{filename: data}" <<-'END'
		seq 100000 > data
		---
		md5sum data > out
	END
	run -0 unshare -rm bash limited
	scripts "{filename: data}" "{filename: data}" <<-'END'
		seq 9000000 > data
		---
		md5sum data > out
	END
	run -1 unshare -rm bash limited
	echo "$output"
	[[ $output == *"step produce: no space for data: the memory for files (4 MB) is full, and so is "*"--memory"*"--spill-dir"* ]]
	[[ $output == *"seq: write error: No space left on device"* ]]
	[[ $output != *.leat-spill-*$'\n' ]]
}

@test "what a killed daemon left is removed by the next run" {
	mkdir work/.leat-spill-abcdef
	touch work/.leat-spill-abcdef/data
	scripts "{filename: data}" "{filename: data}" <<-'END'
		echo 1 > data
		---
		cat data > out
	END
	timeout 30 leat run flow.yaml
	[ ! -e work/.leat-spill-abcdef ]
}

@test "as an ordinary user" {
	export LEAT_MEMORY=1M
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		umask 277
		seq 500000 > data
		---
		md5sum < data > out
	END
	timeout 60 leat run --plain flow.yaml
	mv work/out batch
	place=$(mktemp -d)
	cp flow.yaml produce consume "$place"
	mkdir "$place/work"
	chmod -R a+rX "$place"
	chmod 777 "$place" "$place/work"
	cd "$place"
	LEAT_RUNTIME_DIR=$place/runtime run -0 nobody timeout 60 leat run flow.yaml
	echo "$output"
	cd "$BATS_TEST_TMPDIR"
	cmp batch "$place/work/out"
	[ -z "$(find "$place" -name '.leat-*')" ]
	rm -rf "$place"
}

@test "leat status tells what is in memory and what is not" {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		seq 4000000 > data
		export ASAN_OPTIONS=verify_asan_link_order=0 # a leat built so comes after the library
		leat status --json > ../status
		leat status > ../text
		---
		md5sum < data > out
	END
	timeout 60 leat run flow.yaml
	grep -o '"memory": {[^}]*}' status
	grep -q '"memory": {"budget_bytes": 16777216, "used_bytes": [0-9]*, "limit_bytes": [0-9]*, "spilled_bytes": 30888896,' status
	grep -q '"place": "spill"' status
	grep -Eq 'memory for files: .* of 16.*, spilled to disk 30.9 MB' text
}

@test "a step that fails after files that it reads were moved is told of these" {
	scripts "{filename: data, mode: no_update}" "{filename: data}" <<-'END'
		seq 4000000 > data
		---
		cat data | wc -c > out
		exit 1
	END
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *'step consume read data, which was moved between memory and disk meanwhile and has another inode number by that: a program that compares it (cp: "replaced while being copied") fails; give more with --memory'* ]]
}

# moving COMMANDS: a step has files in `parts` that move to disk while it makes others, and runs COMMANDS; once with the
# interception library, once behind a mount.
moving() {
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		rm -rf work
		mkdir work
		scripts '{filename: "parts/*", committed: on_close}, {filename: "big/*", committed: on_close}' \
			'{filename: "parts/*"}, {filename: "big/*"}' <<-END
				mkdir parts big
				for i in \$(seq 30); do head -c 90000 /dev/zero >parts/\$i; done
				$1
				---
				cat parts/* | wc -c >out
			END
		[ -z "$launcher" ] || sed -i "s/exec: /exec: $launcher /" flow.yaml
		LEAT_MEMORY=4M run -0 timeout 60 leat run flow.yaml
		echo "$output"
		[ "$(<work/out)" = 2700000 ]
	done
}

@test "a file that moves, and its directory, have the same time of change as before" {
	# shellcheck disable=SC2016 # for the step
	moving '
		look() { stat -c "%n %Z.%z %Y.%y" . parts parts/* >"../$1"; }
		numbers() { stat -c %i parts/* >"../$1"; }
		look before
		numbers numbers
		for i in 1 2 3 4 5 6 7 8; do
			head -c 1000000 /dev/zero >big/$i
			look now
			diff ../before ../now
		done
		numbers now
		if cmp -s ../numbers ../now; then echo "nothing has moved"; exit 1; fi
		rm big/*
		sleep 1 # they come back
		look now
		diff ../before ../now
		# What the step itself does is seen.
		chmod 600 parts/1
		: >parts/31
		look now
		for name in parts parts/1; do
			if grep -Fxq "$(grep "^$name " ../before)" ../now; then echo "$name has not changed"; exit 1; fi
		done
	'
}

@test "tar reads a directory whose files move meanwhile" {
	need tar
	# shellcheck disable=SC2016 # for the step
	moving '
		set -o pipefail
		for i in $(seq 30); do head -c 300000 /dev/zero >big/$((i % 10)).$i; rm -f big/$(((i + 1) % 10)).*; done &
		while kill -0 $! 2>/dev/null; do tar cf - parts | wc -c; done
		wait $!
	'
}
