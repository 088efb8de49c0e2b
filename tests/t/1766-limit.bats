#!/usr/bin/env bats
# storage_bw_limit: what a task reads and writes is held to a rate. Times here are only ever at
# least something: that is what a limit promises.
load helper

# static NAME: build a static program from standard input into $BATS_FILE_TMPDIR.
static() {
	gcc -static -O1 -pthread -o "$BATS_FILE_TMPDIR/$1" -x c -
}

setup_file() {
	static produce <<-'END'
		#include <stdlib.h>
		#include <stdio.h>
		#include <string.h>
		#include <fcntl.h>
		#include <unistd.h>
		/* produce FILE SIZE BYTES */
		int main(int argc, char **argv)
		{
			size_t size = strtoul(argv[2], NULL, 10), left = strtoul(argv[3], NULL, 10);
			int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
			char *data = malloc(size);

			memset(data, argc + 'a', size);
			for (; left; left -= size)
				if (write(fd, data, size) != (ssize_t)size)
					return 1;
			return close(fd) != 0;
		}
	END
}

setup() {
	rate=20
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir wf
}

teardown() {
	nothing_left
}

# runs COMMAND...: as run, and it has to succeed.
runs() {
	run "$@"
	echo "$output"
	[ "$status" = 0 ]
}

# limited COMMAND...: a workflow in which step a, held to $rate MB/s, runs that in bash and makes x,
# which b reads.
limited() {
	cat >wf.yaml <<-END
		tasks:
		  - {func: a, exec: bash, args: [-c, '$*'], storage_bw_limit: $rate, outports: [{filename: x}]}
		  - {func: b, exec: dd, args: [if=x, of=/dev/null, status=none], inports: [{filename: x}]}
		permanent: [x]
	END
}

# was_throttled MB: step a has moved so much, and was throttled for as long as it takes, but for a
# burst of 10 ms.
was_throttled() {
	jq -e --argjson mb "$1" --argjson rate "$rate" '.steps[0] | .bytes_in + .bytes_out == $mb * 1000000 and
		.storage_bw_limit == $rate and .seconds > $mb / $rate - 0.011' report.json
	jq -e '.steps[0].throttled_seconds > 0 and (.steps[1] | has("throttled_seconds") | not)' report.json
}

@test "writes of any size are held to the rate" {
	local size bytes
	# A rate that a slow machine reaches by writes of that size: else there is nothing to throttle.
	while read -r size bytes rate; do
		limited head -c "$bytes" /dev/zero \| dd of=x iflag=fullblock "bs=$size" status=none
		runs leat run --dir wf --report report.json wf.yaml </dev/null
		[[ $output == *"storage_bw_limit throttled 1 step, by "* ]]
		was_throttled "$((bytes / 100000))e-1"
		[ "$(stat -c %s wf/x)" = "$bytes" ]
		cmp <(head -c "$bytes" /dev/zero) wf/x
		rm wf/x
	done <<-END
		64 400000 1
		1000 4000000 10
		50000 8000000 20
		8000000 8000000 20
	END
}

@test "all processes of a task share its rate" {
	limited "for i in 1 2 3 4; do head -c 2000000 /dev/zero | dd of=x conv=notrunc bs=100000 iflag=fullblock oflag=seek_bytes seek=\$((i * 2000000 - 2000000)) status=none & done; wait"
	runs leat run --dir wf --report report.json wf.yaml
	was_throttled 8
	[ "$(stat -c %s wf/x)" = 8000000 ]
}

@test "reads and copies count as well" {
	head -c 3000000 /dev/urandom >wf/in
	cat >wf.yaml <<-END
		tasks:
		  - {func: make, exec: cp, args: [in, x], outports: [{filename: x}]}
		  - {func: a, exec: bash, args: [-c, 'dd if=x of=y bs=100000 status=none && cp x z'], storage_bw_limit: 20, inports: [{filename: x}], outports: [{filename: y}, {filename: z}]}
		permanent: [y, z]
	END
	runs leat run --dir wf --report report.json wf.yaml
	cmp wf/in wf/y
	cmp wf/in wf/z
	# dd reads and writes; cp copies in one call, which counts once
	jq -e '.steps[1] | .bytes_in == 6000000 and .bytes_out == 6000000 and .seconds > 9 / 20 - 0.011' report.json
}

@test "each instance has a rate of its own" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: a, exec: dd, args: [if=/dev/zero, of=x, bs=100000, count=20, status=none], taskCount: 4, storage_bw_limit: 20, outports: [{filename: x}]}
	END
	runs leat run --dir wf --report report.json wf.yaml
	[[ $output == *"storage_bw_limit throttled 4 steps, by "* ]]
	jq -e '[.steps[] | .bytes_out == 2000000 and .seconds > 2 / 20 - 0.011] | all' report.json
}

@test "a static program, behind a mount, is held as well" {
	[ -e /dev/fuse ] || skip "no /dev/fuse"
	limited "$BATS_FILE_TMPDIR/produce x 64000 6400000"
	runs leat run --dir wf --report report.json wf.yaml
	was_throttled 6.4
	[ "$(stat -c %s wf/x)" = 6400000 ]
}

@test "where libc cannot be patched, and in a traced run" {
	limited head -c 4000000 /dev/zero \| dd of=x iflag=fullblock bs=50000 status=none
	LEAT_INTERCEPT=wrap runs leat run --dir wf --report report.json wf.yaml
	was_throttled 4
	rm wf/x
	runs leat run --trace x.trace --dir wf --report report.json wf.yaml
	was_throttled 4
}

@test "a signal does not cut it short, and SIGKILL does" {
	cat >loud.py <<-'END'
		import signal
		n = 0
		def count(*_):
		    global n
		    n += 1
		signal.signal(signal.SIGALRM, count)
		signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
		with open("x", "wb", 0) as f:
		    f.write(bytes(4000000))
		signal.setitimer(signal.ITIMER_REAL, 0)
		assert n
	END
	limited "python3 $(pwd -P)/loud.py"
	runs leat run --dir wf --report report.json wf.yaml
	was_throttled 4
	cat >wf.yaml <<-END
		tasks:
		  - {func: a, exec: timeout, args: [-s, KILL, "0.2", dd, if=/dev/zero, of=x, bs=1G, count=1, status=none], storage_bw_limit: 1, outports: [{filename: x}]}
	END
	run leat run --dir wf wf.yaml
	echo "$output"
	[ "$status" = 137 ]
}

@test "it is not for staged steps; --plain runs without" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: a, exec: touch, args: [x], staged: true, storage_bw_limit: 20, outports: [{filename: x}]}
	END
	run leat check wf.yaml
	[ "$status" = 1 ]
	[[ $output == *'wf.yaml:2:71: error: "a" is staged: leat does not intercept its calls and cannot limit it to 20 MB/s'* ]]
	limited head -c 4000000 /dev/zero \| dd of=x iflag=fullblock bs=50000 status=none
	runs leat run --plain --dir wf --report report.json wf.yaml
	jq -e '.steps[0] | has("throttled_seconds") | not' report.json
}
