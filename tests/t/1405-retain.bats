#!/usr/bin/env bats
# Files that are not retained: what was read goes, so that a stream may be larger than the memory.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	cat >flow.yaml <<-'END'
		name: retain
		dir: work
		tasks:
		  - func: make
		    exec: MAKE
		    outports: [{filename: data, mode: no_update, retain: false}]
		  - func: use
		    exec: USE
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
}

teardown() {
	nothing_left
}

# flow MAKE USE: the two commands
flow() {
	sed -i "s^exec: MAKE^exec: $1^; s^exec: USE^exec: $2^" flow.yaml
}

numbers="bash -c 'seq 10000000 > data'" # 79 MB

@test "a stream through a fifth of the memory" {
	flow "$numbers" "bash -c 'md5sum < data > out'"
	run -0 timeout 60 leat run --memory 16M --log log flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum)" ]
	leat replay flow.yaml log
}

@test "small operations on both sides" {
	flow "dd if=/dev/zero of=data bs=1000 count=60000 status=none" "dd if=data of=out bs=700 status=none"
	sed -i 's/^tasks:/storage: {fs: [out]}\ntasks:/' flow.yaml
	run -0 timeout 60 leat run --memory 12M flow.yaml
	echo "$output"
	head -c 60000000 /dev/zero | cmp - work/out
}

# full COMMAND: run it with a spill directory that has space for 8 MB.
full() {
	unshare -rm true 2>/dev/null || skip "user namespaces are forbidden here"
	mkdir -p small
	unshare -rm bash -c 'mount -t tmpfs -o size=8M none small && "$@"' - "$@"
}

@test "without it the rest goes to disk, and with no space there the step that writes is told" {
	flow "$numbers" "bash -c 'md5sum < data > out'"
	sed -i 's/, retain: false//' flow.yaml
	run -0 timeout 60 leat run --memory 16M flow.yaml
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum)" ]
	run full timeout 60 leat run --memory 16M --spill-dir small flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"step make: no space for data"* ]]
	[[ $output == *"No space left on device"* ]]
}

@test "memory and disk are full, and its reader makes space" {
	flow "$numbers" "bash -c 'md5sum < data > out'"
	run -0 full timeout 60 leat run --memory 16M --spill-dir small flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum)" ]
}

@test "four streams share little memory: no write is short" {
	local actor=$LEAT_BUILD/tests/faults/actor
	export ACTOR_LOG=$PWD/log
	{
		printf 'name: four\ndir: work\ntasks:\n'
		for i in 1 2 3 4; do
			printf '  - {func: make%s, exec: %s make g%s 60000000 12000, outports: [{filename: g%s, mode: no_update, retain: false}]}\n' $i "$actor" $i $i
			printf '  - {func: use%s, exec: %s take g%s 60000000 12000, inports: [{filename: g%s}]}\n' $i "$actor" $i $i
		done
	} >four.yaml
	for _ in 1 2 3 4; do
		rm -rf work log
		mkdir work
		timeout 100 leat run --memory 24M four.yaml
		[ "$(grep -c '^complete ' log)" = 4 ]
	done
}

@test "a reader that does not read on: the rest goes to disk" {
	flow "bash -c 'seq 10000000 > data; touch ../made'" \
		"bash -c '{ head -c 1000; until [ -e ../made ]; do sleep 0.1; done; cat; } < data | md5sum > out'"
	run -0 timeout 60 leat run --memory 16M --log log flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum)" ]
	leat replay flow.yaml log
}

@test "a reader that comes late finds all of it" {
	flow "bash -c 'seq 10000000 > data; touch ../made'" \
		"bash -c 'until [ -e ../made ]; do sleep 0.1; done; md5sum < data > out'"
	run -0 timeout 60 leat run --memory 16M flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum)" ]
}

@test "to read it twice is an error that names file and step" {
	flow "$numbers" "bash -c 'md5sum < data > out; cat data > /dev/null'"
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"data is not retained, and was read up to byte"* ]]
	flow2='bash -c "exec 3< data; head -c 30000000 <\&3 | tail -c 1; perl -e \\"open(F, q(<\&=3)); sysseek(F, 0, 0) or die; sysread(F, \\\\\$x, 10) or die qq(\\\\\$!\\\\n)\\""'
	sed -i "s^exec: bash -c 'md5sum.*^exec: $flow2^" flow.yaml
	cat flow.yaml
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"data was read again by step use from byte "*" on where it is not retained"* ]]
}

@test "to have the kernel copy what was read past is an error, too" {
	need /usr/bin/python3
	cat >use.py <<-'END'
		import os
		f, out = os.open("data", os.O_RDONLY), os.open("out", os.O_WRONLY | os.O_CREAT)
		os.pread(f, 10, 60000000)
		while os.sendfile(out, f, None, 1 << 30): pass
	END
	flow "$numbers" "python3 ../use.py"
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"data was read again by step use from byte "*" on where it is not retained"* ]]
}

@test "who needs all of it at the start gets all of it" {
	need /usr/bin/python3
	cat >use.py <<-'END'
		import hashlib, mmap, os
		os.stat("data") # waits until it is complete
		with open("data", "rb") as f:
		    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
		    print(hashlib.md5(m).hexdigest(), len(m), file=open("out", "w"))
		    m.close()
		    assert f.read(5) == b"1\n2\n3"
	END
	flow "$numbers" "/usr/bin/python3 $PWD/use.py"
	run -0 timeout 60 leat run flow.yaml
	echo "$output"
	[ "$(cat work/out)" = "$(seq 10000000 | md5sum | cut -d' ' -f1) $(seq 10000000 | wc -c)" ]
}

@test "a static program has it retained" {
	built_with fuse
	need busybox
	flow "bash -c 'seq 3000000 > data'" "bash -c 'busybox cat data | md5sum > out; busybox cat data | md5sum >> out'"
	run -0 timeout -k 5 60 leat run flow.yaml
	echo "$output"
	[ "$(uniq work/out)" = "$(seq 3000000 | md5sum)" ]
}

@test "two readers, or a permanent file, are refused before anything starts" {
	flow "$numbers" "true"
	echo 'permanent: [data]' >>flow.yaml
	run leat run flow.yaml
	echo "$output"
	[ "$status" != 0 ]
	[[ $output == *"\"data\" must be retained: it is permanent"*L-CHECK-RETAIN* ]]
	[ -z "$(ls work)" ]
}

@test "two streams at once, written by fastp and read by bwa in turns of their own" {
	need fastp bwa python3
	python3 - <<-'END'
		import random
		random.seed(4)
		genome = "".join(random.choices("ACGT", k=300000))
		with open("work/ref.fa", "w") as f:
		    f.write(">g\n" + genome + "\n")
		pair = str.maketrans("ACGT", "TGCA")
		with open("work/r1.fq", "w") as one, open("work/r2.fq", "w") as two:
		    for i in range(40000):
		        at = random.randrange(len(genome) - 400)
		        a, b = genome[at:at + 150], genome[at + 250:at + 400].translate(pair)[::-1]
		        for f, text in ((one, a), (two, b)):
		            f.write(f"@r{i}\n{text}\n+\n{'F' * 150}\n")
	END
	bwa index work/ref.fa 2>/dev/null
	cat >flow.yaml <<-'END'
		name: pairs
		dir: work
		tasks:
		  - func: trim
		    exec: fastp -w 2 -i r1.fq -I r2.fq -o c1.fq -O c2.fq -j trim.json -h trim.html
		    outports: [{filename: c1.fq, mode: no_update, retain: false}, {filename: c2.fq, mode: no_update, retain: false}]
		  - func: map
		    exec: bash -c 'bwa mem -K 100000 -t 1 ref.fa c1.fq c2.fq 2>/dev/null | grep -v ^@PG | sha256sum >out'
		    inports: [{filename: c1.fq}, {filename: c2.fq}]
		    outports: [{filename: out}]
	END
	timeout 100 leat run --plain flow.yaml
	mv work/out batch
	rm -f work/c?.fq
	run -0 timeout 100 leat run --memory 8M --log log flow.yaml
	echo "$output"
	cmp batch work/out
	leat replay flow.yaml log
}
