#!/usr/bin/env bats
# Runs under `leat trace`, and runs that write a trace themselves: no step is left out.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
	flow "sh -c '(seq 500; sleep 0.3; seq 501 1000) >x'"
}

teardown() {
	nothing_left
}

# flow COMMAND: `make`, which runs it, makes x; `use` and `last`, which is staged, copy that.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: $1
		    outports: [{filename: x}]
		  - func: use
		    exec: sh -c 'cat x >y'
		    inports: [{filename: x}]
		    outports: [{filename: y}]
		  - func: last
		    staged: true
		    exec: sh -c 'cat y >z'
		    inports: [{filename: y}]
		    outports: [{filename: z}]
	END
}

# moved TRACE NAME TYPE: bytes that calls of this type have moved, of the file with this name.
moved() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import csv, sys
		rows = csv.reader(line for line in open(sys.argv[1]) if not line.startswith("#"))
		head = next(rows)
		path, total = {}, 0
		for row in rows:
		    r = dict(zip(head, row))
		    if r["path"]:
		        path[r["handle"]] = r["path"]
		    if r["type"] == sys.argv[3] and path.get(r["handle"], "").endswith("/" + sys.argv[2]):
		        total += max(0, int(r["result"]))
		print(total)
	END
}

@test "leat trace --tracer preload of a run on plain files, and of a streamed one" {
	local name
	for plain in --plain ""; do
		rm -f work/*
		# Whatever the caller has set for CAPIO's programs.
		CAPIO_DIR=$PWD/work run -0 timeout 100 leat trace --tracer preload -o trace.csv -- leat run $plain flow.yaml
		cmp work/z <(seq 1000)
		for name in x y z; do
			[ "$(moved trace.csv $name W)" = 3893 ]
		done
		[ "$(moved trace.csv x R)" = 3893 ]
		# The daemon reads it, too, to bring it to disk.
		[ "$(moved trace.csv y R)" -ge 3893 ]
	done
}

@test "leat run --trace names the steps that it cannot record" {
	built_with fuse
	need gcc
	gcc -static -o shell -x c - <<-'END' || skip "nothing can be linked statically here"
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			return argc < 2 || system(argv[1]) ? 1 : 0;
		}
	END
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	flow "$PWD/shell \"seq 1000 >x\""
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output == *"leat: warning: the trace t.csv lacks what steps did that cannot load the library (behind a mount, or staged): make, last; "* ]]
	[ "$(moved t.csv y W)" = 3893 ]
	run -0 timeout 100 leat run --quiet --plain --trace t.csv flow.yaml
	[[ $output == *"(statically linked and the like): make; "* ]]
	[ "$(moved t.csv z W)" = 3893 ]
	sed -i '/seq 1000/s/exec: .*shell "\(.*\)"/exec: sh -c "\1"/; /staged/d' flow.yaml
	run -0 timeout 100 leat run --quiet --trace t.csv flow.yaml
	[[ $output != *lacks* ]]
}
