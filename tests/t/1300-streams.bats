#!/usr/bin/env bats
# Unmodified programs as producers and consumers: the bytes are those of the batch.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

@test "cat, sort, wc, md5sum, grep, sed, awk, dd" {
	both <<-'END'
		for i in 1 2 3 4 5; do seq $((i * 10000)); sleep 0.02; done > data
		---
		cat data | md5sum > out
		sort -n data | uniq -c | tail -5 >> out
		wc < data >> out
		wc -c data >> out
		md5sum data >> out
		grep -c 99 data >> out
		sed -n 's/^77/x/p' data >> out
		awk '{ s += $1 } END { print s }' data >> out
		dd if=data bs=1000 skip=3 count=20 status=none >> out
		dd if=data bs=4096 status=none | md5sum >> out
		cmp data data >> out
		diff data data >> out
	END
}

@test "head and tail, from both ends" {
	both <<-'END'
		for i in 1 2 3; do seq $i 20000; sleep 0.02; done > data
		---
		head -n 3 data > out
		head -c 100 data >> out
		tail -n 3 data >> out
		tail -c 100 data >> out
		tail -n +59000 data | head -n 2 >> out
		(head -n 1; head -n 1) < data >> out
		{ read -r a; read -r b; cat | md5sum; } < data >> out
		echo "$a $b" >> out
	END
}

@test "several writers on one description, and appends" {
	both <<-'END'
		{ echo first; seq 1000; (seq 1001 2000); sleep 0.05; printf 'no newline'; } > data
		echo appended >> data
		seq 5 >> data
		seq 300 | xargs -n 50 echo >> data
		exec 5>> data
		for i in 1 2 3; do echo "shell $i" >&5; /bin/echo "child $i" >&5; done
		---
		cat data > out
		md5sum < data >> out
	END
}

@test "written in parallel by xargs -P" {
	both <<-'END'
		seq 200 | xargs -P 4 -I{} bash -c 'echo {} >> data'
		---
		sort -n data > out
	END
}

@test "copied by cp, tar, cat, dd, install; with holes" {
	both <<-'END'
		seq 100000 > plain
		cp plain data
		rm plain
		---
		cp data copy1
		cat data > copy2
		tar cf archive.tar data
		mkdir x
		tar xf archive.tar -C x
		dd if=data of=copy3 bs=64k status=none
		install -m 600 data copy4
		cp --sparse=always data copy5
		cp --reflink=auto data copy6
		md5sum copy? x/data > out
		stat -c '%n %s %a' copy4 >> out
		rm -r copy? x archive.tar
	END
}

@test "sorted and edited in place by the producer" {
	both <<-'END'
		seq 1000 -1 1 > data.tmp
		sort -n -o data.tmp data.tmp
		sed -i 's/7/seven/' data.tmp
		mv data.tmp data
		---
		cat data > out
	END
}

@test "sort -o onto the output, and a header rewritten before the end" {
	pair update <<-'END'
		seq 1000 -1 1 > data
		sort -n -o data data
		printf 'HEAD' | dd of=data conv=notrunc status=none
		---
		cat data > out
	END
}

@test "steps one after the other that change a file in place, in the order that another file gives" {
	mkdir work
	cat >flow.yaml <<-END
		name: in-place
		dir: work
		permanent: ["*"]
		tasks:
		  - func: a
		    exec: bash -c 'printf "1\\n3\\n2\\n" >x'
		    outports: [{filename: x}]
		  - func: b
		    exec: bash -c 'sed -i.bak s/3/three/ x; wc -l x >l'
		    inports: [{filename: x}]
		    outports: [{filename: x}, {filename: x.bak}, {filename: l}]
		  - func: c
		    exec: bash -c 'sort -o x x; cp x y'
		    inports: [{filename: x}, {filename: l}]
		    outports: [{filename: x}, {filename: y}]
		  - func: d
		    exec: bash -c 'cat x l >z'
		    inports: [{filename: x}, {filename: l}]
		    outports: [{filename: z}]
	END
	leat check flow.yaml
	leat run --plain --quiet flow.yaml
	mv work batch
	mkdir work
	leat run --quiet flow.yaml
	diff -r batch work
	grep three work/z
}

@test "compressed on the way" {
	both data.gz <<-'END'
		seq 200000 | gzip -1 > data.gz
		---
		gzip -dc data.gz | md5sum > out
		zcat < data.gz | tail -n 1 >> out
		gzip -l data.gz | awk 'NR == 2 { print $2 }' >> out
	END
}

@test "bash: mapfile, \$(<), while read, redirections of children" {
	both <<-'END'
		for i in $(seq 20); do echo "line $i"; sleep 0.005; done > data
		---
		mapfile -t lines < data
		echo "${#lines[@]} ${lines[19]}" > out
		text=$(<data)
		echo "${#text}" >> out
		while read -r a b; do echo "$b $a"; done < data >> out
		exec 3< data
		head -n 2 <&3 >> out
		exec 3<&-
		cat < data | cat >> out
	END
}

@test "existence tests wait" {
	both <<-'END'
		sleep 0.2
		seq 10 > data
		---
		[ -e data ] && echo there > out
		[ -s data ] && echo filled >> out
		while ! test -f data; do sleep 1; done
		stat -c %s data >> out
		ls data >> out
	END
}

@test "perl and gawk and mawk" {
	need perl gawk mawk
	both <<-'END'
		perl -e '$| = 1; for (1..3000) { print "$_\n"; }' > data
		---
		perl -ne '$s += $_; END { print "$s\n" }' data > out
		perl -e 'open F, "<", "data"; seek F, 0, 2; print tell(F), "\n"; seek F, -5, 2; print <F>' >> out
		gawk '{ s += $1 } END { print s }' data >> out
		mawk '{ s += $1 } END { print s }' data >> out
	END
}

@test "a step that updates its input reads it by a redirection, and by a descriptor of its parent" {
	cat >flow.yaml <<-'END'
		name: update
		dir: work
		tasks:
		  - {func: make, exec: "bash -c 'seq 5 > x'", outports: [{filename: x}]}
		  - func: update
		    exec: bash -c 'sort -r < x > t; mv t x; exec 3< x; (cat <&3; echo 0) > t; mv t x'
		    inports: [{filename: x}]
		    outports: [{filename: x}]
		  - {func: use, exec: "bash -c 'cat x > y'", inports: [{filename: x}], outports: [{filename: y}]}
	END
	mkdir work
	run -0 timeout 60 leat run flow.yaml
	[ "$(cat work/y)" = "$(printf '5\n4\n3\n2\n1\n0')" ]
}
