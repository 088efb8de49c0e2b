#!/usr/bin/env bats
# Scripts that steps make and run: by which name their interpreter is given them.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir work
}

teardown() {
	nothing_left
}

# made: scripts of many kinds, on stdout a producer that makes them, in `bin`.
made() {
	cat <<-'END'
		mkdir bin
		printf '#!/bin/sh\necho "$0" "$@"\nread name </proc/$$/comm; echo "$name"; tr "\\0" " " </proc/$$/cmdline; echo\n' > bin/s.sh
		printf '#!/bin/bash -e\necho "$0" "${BASH_SOURCE[0]}" "$-" "$@"\n' > bin/b.sh
		printf '#! /usr/bin/env python3\nimport sys\nprint(sys.argv, __file__)\n' > bin/p.py
		printf '#!/usr/bin/python3 -B\t\nimport sys\nprint(sys.argv, __file__)\n' > bin/q.py
		printf '#!/usr/bin/perl -w\nprint "$0 @ARGV\n";' > bin/p.pl
		printf '#!/usr/bin/awk -f\nBEGIN { for (i = 1; i < ARGC; i++) print ARGV[i]; print ENVIRON["LEAT_CALLED"] }\n' > bin/a.awk
		printf '#!%s/bin/s.sh an argument\n' "$PWD" > bin/of_script
		printf '#!bin/of_script\n' > bin/of_script_of_script
		printf '#!/no/such/interpreter\n' > bin/missing
		printf 'echo no line: "$0"\n' > bin/plain
		printf '#!/bin/sh\necho not to be run\n' > bin/forbidden
		printf '#!bin/loop\n' > bin/loop
		printf 'all:\n\t@bin/s.sh from make\n\t@./bin/p.pl\n' > bin/makefile
		chmod +x bin/*
		chmod -x bin/forbidden bin/makefile
	END
}

# used: a consumer that runs them by all sorts of names.
used() {
	cat <<-'END'
		exec > out 2>&1
		for name in s.sh b.sh p.py q.py p.pl a.awk of_script of_script_of_script plain; do
			"./bin/$name" a 'b c' ''
			"bin/../bin/$name"
			"$PWD/bin/$name" x | sed "s|$PWD|HERE|g"
			(PATH=$PWD/bin:$PATH; "$name" by path) | sed "s|$PWD|HERE|g"
			(cd bin; "./$name" || echo "$name fails") | sed "s|$PWD|HERE|g"
			python3 -c 'import subprocess, sys; sys.stdout.flush(); subprocess.run([sys.argv[1], "by python"])' "bin/$name" || echo "$name: none"
		done
		ln -s bin/s.sh link
		./link
		make -f bin/makefile
		for name in missing forbidden loop bin; do
			python3 - "bin/$name" <<-'PYTHON'
				import os, sys
				try:
				    os.execv(sys.argv[1], ["x"])
				except OSError as e:
				    print(sys.argv[1], e.strerror)
			PYTHON
		done
		exec -a other bin/s.sh the last
	END
}

# flow CONSUMER: the flow of both.
flow() {
	made >produce
	used >consume
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: bash -eu ../produce
		    outports: [{filename: bin/*}]
		  - func: consume
		    exec: $1
		    inports: [{filename: bin/*}]
		    outports: [{filename: out}]
	END
}

@test "a script is run by the name that it was called by" {
	flow 'bash ../consume'
	same
	cat work/out
	grep -Fx './bin/s.sh a b c ' work/out
	grep -F "['./bin/p.py', 'a', 'b c', ''] " work/out
}

@test "behind a mount, too" {
	flow 'env LEAT_INTERCEPT=mount bash ../consume'
	same
}

@test "a script that the step itself made" {
	made >both
	used >>both
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: alone
		    exec: bash -u ../both
		    outports: [{filename: out}, {filename: bin/*}]
	END
	same
}

@test "an interpreter that a step made, of a script elsewhere" {
	printf '#!%s/work/interpreter\nthe text\n' "$PWD" >elsewhere
	chmod +x elsewhere
	scripts '{filename: interpreter}' '{filename: interpreter}' <<-'END'
		cp /bin/cat interpreter
		---
		../elsewhere > out
	END
	same
	grep -Fx 'the text' work/out
}

@test "more arguments than a stack is to hold" {
	scripts '{filename: s}' '{filename: s}' <<-'END'
		printf '#!/bin/sh\necho "$0" $# "$1"\nshift 2999; echo "$@"\n' > s
		chmod +x s
		---
		./s $(seq 3000) > out
	END
	same
}
