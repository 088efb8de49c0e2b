#!/usr/bin/env bats
# leat trace: the same trace by every tracer that is usable here, call for call.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
}

# usable TRACER: skip, with the reason, where it cannot trace a command.
usable() {
	run leat trace --tracer "$1" -o probe.csv -- true
	[ "$status" = 0 ] || skip "${lines[0]#leat: }"
}

# What a tracer cannot know by its nature: parts that it sees otherwise, columns of the others. To an
# overlay the kernel does not tell of calls that fail before it (docs/explanation/tracing-fuse.md), tells what
# copies become, lets go of the files that an exec closes in any order, and of those that an ending process closes perhaps
# after its parent knows that it has ended.
parts_not_of() {
	case $1 in
	fuse) echo 'maps copies execs exec-from-thread' ;;
	esac
}
columns_not_of() {
	case $1 in
	fuse) echo flags,failures,closing ;;
	*) echo none ;;
	esac
}

# agree TRACER WORKLOAD: all its parts have the trace that they expect; a third of those of a static one, whose system
# calls are the same.
agree() {
	local part wrong=0
	for part in $("$2" --parts); do
		[[ " $(parts_not_of "$1") " != *" $part "* ]] || continue
		[[ $2 != *-static ]] || one_in 3 || continue
		rm -rf work trace.csv trace.pids.csv
		mkdir work
		local options=()
		[ "$1" != fuse ] || options=(--overlay "$PWD/work")
		(cd work && leat trace --tracer "$1" "${options[@]}" -o ../trace.csv -- "$2" "$part") \
			>expected 2>messages || {
			echo "$part: status $?"
			cat messages
			wrong=1
			continue
		}
		# shellcheck disable=SC2153
		if ! /usr/bin/python3 -B "$LEAT_SOURCE_DIR/tests/trace/compare" expected trace.csv "$PWD/work" \
			--without "$(columns_not_of "$1")" || ! grep -q 'none lost' messages; then
			echo "$part: not as expected"
			cat messages
			wrong=1
		fi
	done
	return "$wrong"
}

# count TYPE TRACE FILE: how many such calls there were on that file.
count() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(l for l in open(sys.argv[2]) if not l.startswith("# ")))
		handles = {r["handle"] for r in rows if r["type"] in "OC" and r["path"] == sys.argv[3]}
		print(sum(r["type"] == sys.argv[1] and r["handle"] in handles for r in rows))
	END
}

# exact TRACER: dd makes as many calls as it says.
exact() {
	local options=()
	[ "$1" != fuse ] || options=(--overlay "$PWD/work")
	head -c 409600 /dev/zero >work/in
	leat trace --tracer "$1" "${options[@]}" -o dd.csv -- dd if=work/in of=work/out bs=4k status=none
	[ "$(count W dd.csv "$PWD/work/out")" = 100 ]
	[ "$(count R dd.csv "$PWD/work/in")" = 101 ] # the last finds the end
	leat trace --tracer "$1" "${options[@]}" -o dd2.csv -- dd if=work/in of=work/out bs=4k count=50 status=none
	[ "$(count W dd2.csv "$PWD/work/out")" = 50 ]
	[ "$(count R dd2.csv "$PWD/work/in")" = 50 ]
}

@test "ptrace: the workload has the trace that it expects" {
	usable ptrace
	agree ptrace "$LEAT_BUILD/tests/trace/trace-workload"
	agree ptrace "$LEAT_BUILD/tests/trace/trace-workload-static"
}

@test "ebpf: the workload has the trace that it expects" {
	usable ebpf
	agree ebpf "$LEAT_BUILD/tests/trace/trace-workload"
	agree ebpf "$LEAT_BUILD/tests/trace/trace-workload-static"
}

@test "preload: the workload has the trace that it expects" {
	usable preload
	agree preload "$LEAT_BUILD/tests/trace/trace-workload"
}

@test "fuse: the workload has the trace that it expects" {
	usable fuse
	agree fuse "$LEAT_BUILD/tests/trace/trace-workload"
}

@test "dd: every tracer counts each call once" {
	local tracer tried=
	for tracer in ebpf preload ptrace fuse; do
		if leat trace --tracer "$tracer" -o probe.csv -- true 2>messages; then
			echo "$tracer"
			exact "$tracer"
			tried=yes
		else
			echo "# not tried: $(head -n1 messages)" >&3
		fi
	done
	[ "$tried" ]
}

@test "auto takes one, and says which and why in one line" {
	run --separate-stderr leat trace -o t.csv -- echo hello
	[ "$status" = 0 ]
	[ "$output" = hello ]
	# shellcheck disable=SC2154
	[ "${#stderr_lines[@]}" = 2 ]
	[[ ${stderr_lines[0]} =~ ^'leat: traced by '(ebpf|preload|ptrace|fuse), ]]
	[[ ${stderr_lines[1]} =~ ^'leat: t.csv: '[0-9]+' calls of 1 process; none lost'$ ]]
}

@test "mistakes on the command line" {
	run leat trace
	[ "$status" = 2 ]
	[[ $output == *"missing command: give one"* ]]
	run leat trace --all -- true
	[ "$status" = 2 ]
	run leat trace --types RZ -- true
	[ "$status" = 2 ]
	[[ $output == *'"Z" is no type'* ]]
	run leat trace --pid x
	[ "$status" = 2 ]
	run leat trace --user nobody-of-this-name -- true
	[ "$status" = 2 ]
	run leat trace --tracer magic -- true
	[ "$status" = 2 ]
	run leat trace --tracer ptrace -o /nowhere/t.csv -- true
	[ "$status" = 125 ]
	[[ $output == *"/nowhere/t.csv"* ]]
	[[ $output == *"No such file or directory"* ]]
}

@test "filters: types, directories, file systems, users" {
	usable ptrace
	mkdir a b
	run leat trace --tracer ptrace --types W --dir a --dir b/ -o t.csv -- \
		sh -c 'echo 1 >a/x; echo 2 >b/y; echo 3 >c; cat a/x'
	[ "$status" = 0 ]
	[ "$(grep -vc '^#\|^time_start' t.csv)" = 2 ]
	[ "$(grep -c ',W,' t.csv)" = 2 ]
	leat trace --tracer ptrace --dir a -o t.csv -- sh -c 'echo 1 >a/x; echo 3 >c; rm c; mv a/x a/y'
	grep -q ',N,0,' t.csv
	run ! grep -q ',U,' t.csv
	run -0 --separate-stderr leat trace --tracer ptrace --filesystem procs --filesystem '' -o t.csv -- true
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *"--filesystem procs: /proc/filesystems has no such type now"* ]]
	leat trace --tracer ptrace --filesystem proc -o t.csv -- sh -c 'cat /proc/self/status a/y' >/dev/null
	[ "$(grep -c ',O,0,' t.csv)" -ge 1 ]
	run ! grep ',O,0.*"/[^p]' t.csv
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	chmod 777 .
	leat trace --tracer ptrace --user nobody --dir . -o t.csv -- \
		sh -c 'echo 1 >mine; setpriv --reuid=65534 --clear-groups sh -c "echo 2 >his"'
	grep -q '/his"' t.csv
	run ! grep -q '/mine"' t.csv
}

@test "the process trace: programs, directories, labels, ends" {
	usable ptrace
	mkdir sub
	run env SLURM_JOB_ID=7 NXF_TASK_WORKDIR='/a b' NXF_SECRET=no LEAT_APP_NAME=align \
		leat trace --tracer ptrace -o t.csv -- sh -c 'cd sub; cat /dev/null; exit 3'
	[ "$status" = 3 ]
	cat t.pids.csv
	grep -q ',exec,0,0,"[^"]*/cat","[^"]*/sub","[^"]*SLURM_JOB_ID=7' t.pids.csv
	grep -q 'NXF_TASK_WORKDIR=/a%20b' t.pids.csv
	grep -q 'LEAT_APP_NAME=align' t.pids.csv
	run ! grep -q NXF_SECRET t.pids.csv
	[ "$(grep -c ',fork,' t.pids.csv)" = 2 ]
	[ "$(grep -c ',exit,' t.pids.csv)" = 2 ]
	grep -q ',exit,768,' t.pids.csv
	grep -q '^# mount,' t.pids.csv
}
