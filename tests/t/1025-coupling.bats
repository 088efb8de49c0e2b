#!/usr/bin/env bats
# Tasks that are coupled wrongly: the place, the task and what to do, and nothing is started or made.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
}

teardown() {
	nothing_left
}

# A step that was started would make this file, out of the workflow's directory.
start="sh -c 'touch $BATS_TEST_TMPDIR/started; touch x'"

# tasks TASK...: the workflow, a line each; START is a command that leaves its mark. "@" stands before what
# is wrong, the line and column of which are put into `place`.
tasks() {
	printf '%s\n' 'name: bad' 'dir: work' 'tasks:' >marked
	printf '  - {%s}\n' "${@//START/exec: \"$start\"}" >>marked
	place=$(awk 'at = index($0, "@") { print NR ":" at; exit }' marked)
	sed 's/@//' marked >flow.yaml
}

# refused TEXT...: the run is refused at `place`, in words that hold all of these.
refused() {
	local text
	run -125 leat run flow.yaml
	cat flow.yaml
	echo "$output"
	# The line itself is shown, and the column pointed at.
	[[ ${lines[0]} == "flow.yaml:$place: error: "* ]]
	[ "${lines[1]}" = "$(sed -n "${place%%:*}p" flow.yaml)" ] || [ "${#lines[1]}" -ge 120 ]
	[[ ${lines[2]} =~ ^\ *\^$ ]]
	for text; do
		[[ ${lines[0]} == *"$text"* ]] || {
			echo "not there: $text"
			return 1
		}
	done
	[ ! -e started ]
	[ -z "$(ls -A work)" ]
	[ ! -e "$LEAT_RUNTIME_DIR" ]
}

@test "ports that nobody matches" {
	tasks 'func: make, outports: [{filename: x}], START' 'func: use, inports: [{filename: @z}], START'
	refused '"z", an input of "use", is produced by no step' 'does not exist in'
	tasks 'func: make, outports: [{filename: x}], START' 'func: use, inports: [{filename: z, @io_freq: 2}], START'
	refused 'task "use"' 'no other task produces "z"' 'correct its name, or leave "io_freq" out'
	# An ensemble is told of once.
	tasks 'func: make, taskCount: 9, outports: [{filename: x}], START' 'func: use, taskCount: 9, inports: [{filename: @z}], START'
	refused '"z", an input of "use.0", is produced by no step' 'and 8 more'
	[ "$(grep -c 'error:' <<<"$output")" = 1 ]
}

@test "data sets in memory that nobody matches" {
	tasks 'func: make, outports: [{filename: x.h5, dsets: [{name: @/a, memory: 1}]}], START' \
		'func: use, inports: [{filename: y.h5, dsets: [{name: /a, memory: 1}]}], START'
	refused 'task "make"' 'no other task reads "x.h5"' 'did you mean "y.h5" of "use"?'
	tasks 'func: make, outports: [{filename: x.h5, dsets: [{name: @/group/grid}]}], START' \
		'func: use, inports: [{filename: x.h5, dsets: [{name: /group/gird}]}], START'
	refused 'task "make"' 'no other task reads data set "/group/grid" of "x.h5"' '"use" reads "/group/gird" of it'
	tasks 'func: make, outports: [{filename: x.h5, dsets: [@{name: /a, memory: 0}]}], START'
	refused 'task "make"' 'set "file" or "memory" to 1'
}

@test "a file of two producers" {
	tasks 'func: make, outports: [{filename: x1}], START' 'func: other, outports: [{filename: "x*"}], START' \
		'func: use, inports: [{filename: @x1, io_freq: 2}], START'
	refused 'task "use"' 'by "make" (line 4)' 'by "other" (line 5)' 'let one task produce it, or give the files different names'
}

@test "one file in two inports" {
	tasks 'func: make, outports: [{filename: x}], START' \
		'func: use, inports: [{filename: x, io_freq: 1}, {filename: @x, io_freq: 2}], START'
	refused 'task "use"' '"x" is in two inports' 'make them one'
}

@test "versions for one, a whole file for another" {
	tasks 'func: make, outports: [{filename: x}], START' 'func: steps, inports: [{filename: x, io_freq: 1}], START' \
		'func: whole, inports: [{filename: @x}], START'
	refused 'task "whole"' 'version by version by "steps" (line 5)' 'give it "io_freq" here, too'
	tasks 'func: make, outports: [{filename: x, committed: @on_termination}], START' \
		'func: use, inports: [{filename: x, io_freq: 1}], START'
	refused 'task "make"' '"use" reads it version by version' 'remove on_termination'
}

@test "flow control: values, and whose it is" {
	local value
	for value in -2 -10 1.5 often '""' '"2"' '[2]' 99999999999; do
		tasks 'func: make, outports: [{filename: x}], START' "func: use, inports: [{filename: x, io_freq: @$value}], START"
		refused 'task "use"' '"io_freq" must be 0 or 1 (every version), N (every Nth), or -1 or "latest"'
	done
	tasks 'func: make, outports: [{filename: x, @io_freq: 1}], START' 'func: use, inports: [{filename: x}], START'
	refused 'task "make"' '"io_freq" belongs to the inport'
	tasks 'func: make, outports: [{filename: x}], START' 'func: use, inports: [{filename: x, @committed: on_close}], START'
	refused 'task "use"' '"committed" belongs to the outport'
	tasks 'func: make, relaunch: @maybe, outports: [{filename: x}], START'
	refused 'task "make"' '"relaunch" must be true or false'
}

@test "numbers of instances, processes and writers" {
	local value
	for value in 0 -1 1.5 many 65536; do
		tasks "func: make, taskCount: @$value, outports: [{filename: x}], START"
		refused 'task "make"' '"taskCount" must be a whole number from 1 to 1024, not' "$value"
	done
	for value in 0 -4 2.0; do
		tasks "func: make, nprocs: @$value, outports: [{filename: x}], START"
		refused 'task "make"' '"nprocs" must be a whole number of at least 1, not' "$value"
	done
	tasks 'func: make, nprocs: 2, nwriters: @3, outports: [{filename: x}], START'
	refused 'task "make"' '"nwriters" is 3, but the task has 2 processes: lower it, or raise "nprocs"'
	tasks 'func: make, io_proc: @2, outports: [{filename: x}], START'
	refused 'task "make"' '"io_proc" is 2, but the task has 1 process'
	tasks 'func: make, nprocs: 2, io_proc: @0, outports: [{filename: x}], START'
	refused 'task "make"' '"io_proc" must be a whole number of at least 1'
}

@test "keys and names" {
	tasks 'func: make, @taskcount: 2, outports: [{filename: x}], START'
	refused 'task "make"' 'unknown key "taskcount"' 'did you mean "taskCount"?'
	tasks 'func: make, outports: [{filename: x, @iofreq: 2}], START'
	refused 'task "make"' 'unknown key "iofreq" in an outport' 'did you mean "io_freq"?'
	tasks 'func: make, outports: [@{filename: x, dirname: y}], START'
	refused 'task "make"' 'either "filename" or "dirname"'
	tasks 'func: make, outports: [@{mode: update}], START'
	refused 'task "make"' 'either "filename" or "dirname"'
	tasks 'func: @a/b, taskCount: 2, outports: [{filename: x}], START'
	refused '"a/b" names the directories of its instances' 'give the program by "exec"'
	tasks 'func: a, taskCount: 2, outports: [{filename: x}], START' 'func: @a.1, outports: [{filename: y}], START'
	refused '"a.1"' 'rename one of them'
}

@test "what stands for nothing" {
	tasks 'func: make, taskCount: 2, outports: [{filename: @"x.{instance}"}], START'
	refused 'task "make"' '"{instance}" is replaced in "exec" and "args" only'
	tasks 'func: @"make.{instance}", taskCount: 2, outports: [{filename: x}], START'
	refused 'task "make.{instance}"' 'leave it out of names'
	tasks 'func: make, args: [@"{filename}"], outports: [{filename: x}], START'
	refused 'task "make"' '"{filename}" is the file of the first inport, but the task has none'
	tasks 'func: make, outports: [{filename: "x*"}], START' 'func: use, args: [@"{filename}"], inports: [{filename: "x*"}], START'
	refused 'task "use"' '"x*" may match several' 'give the inport "io_freq", or name the file'
	# A slip is a warning: the braces may be the program's own.
	tasks "func: make, taskCount: 2, exec: 'echo {Instance}', outports: [{filename: x}]"
	run leat check flow.yaml
	echo "$output"
	[[ $output == *'warning: task "make": "{Instance}" is passed to the program unchanged; did you mean "{instance}"?'* ]]
}

@test "programs of ensembles and jobs" {
	tasks 'func: make, outports: [{filename: x}], START' 'func: use, taskCount: 3, exec: no-such-program, inports: [{filename: x}]'
	run -127 leat run flow.yaml
	echo "$output"
	[[ ${lines[0]} == 'leat: step use.0: program no-such-program was not found; install it, or correct its name' ]]
	[ ! -e started ]
	[ -z "$(ls -A work)" ]
	tasks 'func: make, outports: [{filename: x}], START' 'func: use, nprocs: 3, exec: "true", inports: [{filename: x}]'
	run -127 leat run --mpi-launcher no-such-launcher flow.yaml
	[[ ${lines[0]} == 'leat: the MPI launcher no-such-launcher was not found; install it, or correct its name' ]]
	[ ! -e started ]
	[ -z "$(ls -A work)" ]
}
