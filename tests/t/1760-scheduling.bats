#!/usr/bin/env bats
# Tasks of a workflow that say what they need of the machine: computing units, I/O and bandwidth.
# Each task notes when it begins and ends, so that what ran at a time is counted, not timed.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# The outputs stand for the order of the steps; most are not made.
	export LEAT_ON_VIOLATION=warn
	mkdir wf log
	# note NAME SECONDS: take so long, and leave when it was in log/.
	cat >note <<-END
		#!/bin/bash
		begin=\$(date +%s.%N)
		sleep "\$2"
		echo "\$begin \$(date +%s.%N)" >"$(pwd -P)/log/\$1.\$\$"
	END
	chmod +x note
	note=$(pwd -P)/note
	cat >resources.yaml <<-END
		resources:
		  nodes:
		    - name: localhost
		      computing_units: 3
		      io_executors: 8
		      storage:
		        - {name: scratch, bandwidth: 100, paths: ["$(pwd -P)"]}
	END
}

teardown() {
	nothing_left
}

# most NAME...: how many of the tasks of these names ran at a time at most.
most() {
	local name
	for name in "$@"; do
		cat log/"$name".*
	done | awk '{ print $1, 1; print $2, -1 }' | sort -k1,1n -k2,2n |
		awk '{ n += $2; if (n > most) most = n } END { print most + 0 }'
}

@test "computing units bound what runs at a time, whatever the CPUs" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: one, exec: $note, args: [one, "0.1"], taskCount: 9, outports: [{filename: a}]}
		  - {func: two, exec: $note, args: [two, "0.1"], taskCount: 3, computing_units: 2, outports: [{filename: b}]}
		  - {func: all, exec: $note, args: [all, "0.1"], computing_units: 3, outports: [{filename: c}]}
	END
	run leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(most one two all)" -le 3 ]
	[ "$(most two)" = 1 ]
	[ "$(find log -type f | wc -l)" = 13 ]
	jq -e '.scheduling.computing_units == 3 and
		[.scheduling.tasks[] | [.task, .done]] == [["one", 9], ["two", 3], ["all", 1]]' report.json
}

@test "I/O tasks run beside compute tasks, as many as their bandwidth allows" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: solve, exec: $note, args: [solve, "0.4"], taskCount: 3, outports: [{filename: a}]}
		  - {func: save, exec: $note, args: [save, "0.1"], taskCount: 8, io: true, storage_bw: 40, outports: [{filename: b}]}
		  - {func: scan, exec: $note, args: [scan, "0.1"], taskCount: 4, io: true, outports: [{filename: c}]}
	END
	run leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(most save)" -le 2 ]
	[ "$(most solve save scan)" -gt 3 ]
	[[ $output == *"I/O task save on scratch, storage_bw 40: 8 done"* ]]
	jq -e '[.scheduling.devices[] | [.device, .bandwidth_mbps, .peak_allocated_mbps]] == [["scratch", 100, 80]]' report.json
}

@test "a constraint is learned from how long the tasks take" {
	cat >wf.yaml <<-END
		tasks:
		  - func: save
		    exec: $note
		    args: [save, "0.05"]
		    taskCount: 40
		    io: true
		    storage_bw: auto(10,50,4)
		    outports: [{filename: b}]
	END
	run leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(most save)" -le 8 ]
	[[ $output == *"epoch 1: 10 MB/s, 8 of 8 tasks, mean "*", registered"*"epoch 2: 40 MB/s, 2 of 2 tasks"*"chosen last: "* ]]
	# 100 / 10 is more than the 8 executors; then 40, two at a time
	jq -e '.scheduling.tasks[0] | [.epochs[] | [.constraint_mbps, .slots, .tasks]] == [[10, 8, 8], [40, 2, 2]]
		and .done == 40 and all(.registry[]; .mean_s > 0) and ([.chosen_mbps] | inside([10, 40]))' report.json
}

@test "learning that runs short of tasks, and several kinds that learn, come to an end" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: a, exec: $note, args: [a, "0.02"], taskCount: 3, io: true, storage_bw: auto, outports: [{filename: a}]}
		  - {func: b, exec: $note, args: [b, "0.02"], taskCount: 20, io: true, storage_bw: auto, inports: [{filename: a}], outports: [{filename: b}]}
		  - {func: c, exec: $note, args: [c, "0.02"], taskCount: 20, io: true, storage_bw: "auto(5,20,2)", inports: [{filename: b}], outports: [{filename: c}]}
		  - {func: d, exec: $note, args: [d, "0.02"], taskCount: 20, io: true, storage_bw: 100, inports: [{filename: c}], outports: [{filename: d}]}
	END
	cat >note <<-END
		#!/bin/bash
		case \$1 in a) touch a ;; b) touch b ;; c) touch c ;; esac
		sleep "\$2"
		touch "$(pwd -P)/log/\$1.\$\$"
	END
	run timeout 60 leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(find log -type f | wc -l)" = 63 ]
	jq -e '[.scheduling.tasks[].done] == [3, 20, 20, 20] and .scheduling.tasks[0].epochs[0].end == "short of tasks"' report.json
}

@test "a consumer that only waits has no unit: its producer starts, and streams to it" {
	# The consumers are first in the file, and more than there are units.
	cat >wf.yaml <<-END
		tasks:
		  - {func: read, exec: sh, args: [-c, "cat data | wc -c >size"], taskCount: 6, computing_units: 3,
		     inports: [{filename: data}], outports: [{filename: size}]}
		  - {func: make, exec: sh, args: [-c, "for i in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.05; done >data"],
		     computing_units: 3, taskCount: 6, outports: [{filename: data}]}
	END
	run timeout 60 leat run --dir wf --resources resources.yaml wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(cat wf/read.*/size | sort -u)" = 500000 ]
}

@test "one unit: the reader of all instances starts before most of them, and lends it to them" {
	sed -i 's/computing_units: 3/computing_units: 1/' resources.yaml
	cat >wf.yaml <<-END
		tasks:
		  - {func: make, exec: sh, args: [-c, "seq 1000 >data"], taskCount: 6, outports: [{filename: data}]}
		  - func: all
		    exec: sh
		    args: [-c, "cat make.0/data make.1/data make.2/data make.3/data make.4/data make.5/data | wc -l >sum"]
		    inports: [{filename: "make.*/data"}]
		    outports: [{filename: sum}]
	END
	run timeout 60 leat run --dir wf --resources resources.yaml wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	[ "$(cat wf/sum)" = 6000 ]
}

@test "a chain of streams with one unit ends" {
	sed -i 's/computing_units: 3/computing_units: 1/' resources.yaml
	cat >wf.yaml <<-END
		tasks:
		  - {func: third, exec: sh, args: [-c, "cat y >z"], inports: [{filename: "y"}], outports: [{filename: z}]}
		  - {func: second, exec: sh, args: [-c, "cat x >y"], inports: [{filename: x}], outports: [{filename: "y"}]}
		  - {func: first, exec: sh, args: [-c, "seq 100000 >x"], outports: [{filename: x}]}
		  - {func: archive, exec: cp, args: [z, kept], io: true, storage_bw: 100, inports: [{filename: z}], outports: [{filename: kept}]}
	END
	run timeout 60 leat run --dir wf --resources resources.yaml wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	cmp <(seq 100000) wf/kept
}

@test "a failed I/O task gives back what it had, and the others go on with --keep-going" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: bad, exec: "false", io: true, storage_bw: 100, taskCount: 3, outports: [{filename: a}]}
		  - {func: good, exec: $note, args: [good, "0.02"], io: true, storage_bw: 100, taskCount: 3, outports: [{filename: b}]}
	END
	run leat run --keep-going --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 1 ]
	[ "$(most good)" = 1 ]
	jq -e '[.scheduling.tasks[] | [.task, .done, .failed]] == [["bad", 0, 3], ["good", 3, 0]]' report.json
}

@test "when one fails, what waits for space is not run" {
	cat >wf.yaml <<-END
		tasks:
		  - {func: bad, exec: "false", computing_units: 3, taskCount: 9, outports: [{filename: a}]}
	END
	run timeout 60 leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 1 ]
	jq -e '[.steps[] | select(.state == "not run")] | length > 0' report.json
}

# refused TEXT...: nothing was started, and all of this is said.
refused() {
	run leat run --dir wf --resources resources.yaml wf.yaml
	echo "$output"
	[ "$status" = 125 ]
	local text
	for text in "$@"; do
		[[ $output == *"$text"* ]]
	done
	[ "$(find log -type f | wc -l)" = 0 ]
}

# task WHAT: a workflow of one task.
task() {
	echo "tasks: [{func: save, exec: $note, args: [save, '0'], outports: [{filename: b}], $1}]" >wf.yaml
}

@test "what cannot be is refused, and nothing is started" {
	task "io: true, storage_bw: 'auto(50,10,2)'"
	refused "wf.yaml:1:" "the minimum, 50, is above the maximum, 10"
	task "io: true, storage_bw: 'auto(10,50,1)'"
	refused "delta must be at least 2"
	task "io: true, storage_bw: 101"
	refused '"save" requests 101 MB/s, but storage device "scratch" has only 100 MB/s'
	task "io: true, storage_bw: 10, device: scrach"
	refused 'no storage device is called "scrach"; did you mean "scratch"?'
	task "computing_units: 4"
	refused '"save" requests 4 computing units, but no node has more than 3'
	task "storage_bw: 10"
	refused '"storage_bw" is for I/O tasks: add "io: true"'
	task "io: true, computing_units: 1"
	refused "an I/O task takes no computing units"
	sed -i 's/name: scratch, bandwidth: 100, paths.*/name: tape, bandwidth: 100, paths: [\/nowhere]}/' resources.yaml
	task "io: true, storage_bw: 10"
	refused "no device of the resources has that path"
	sed -i 's/bandwidth: 100/bandwith: 100/' resources.yaml
	refused 'resources.yaml:7:' 'did you mean "bandwidth"?'
}

@test "resources: none, of other machines, or in the workflow file" {
	task "io: true, storage_bw: 10"
	run leat run --dir wf wf.yaml
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"step save asks for storage bandwidth, and no resources are described"*"leat probe"* ]]
	leat run --dir wf --plain wf.yaml
	run leat run --dir wf --resources none.yaml wf.yaml
	[ "$status" = 125 ]
	[[ $output == *none.yaml*"No such file"* ]]
	{ cat resources.yaml && cat wf.yaml; } >both.yaml
	leat run --dir wf both.yaml
	cat >far.yaml <<-END
		resources:
		  nodes:
		    - {name: elsewhere, computing_units: 1, storage: [{name: disk, bandwidth: 100, paths: [/]}]}
		    - {name: beyond, computing_units: 1}
	END
	run leat run --dir wf --resources far.yaml wf.yaml
	echo "$output"
	[ "$status" = 125 ]
	[[ $output == *"far.yaml describes 2 nodes, and none of them is this machine"* ]]
	# Without bandwidth the machine need not be described.
	task "io: true"
	leat run --dir wf wf.yaml
}

@test "leat check compares with the resources, and the canonical form has them" {
	task "io: true, storage_bw: 'auto(2,64,2)', device: scratch"
	run leat check --dir wf wf.yaml
	[ "$status" = 0 ]
	[[ $output == *"[L-CHECK-NEEDS-RESOURCES]"* ]]
	run leat check --dir wf --resources resources.yaml wf.yaml
	echo "$output"
	[ "$status" = 0 ] && [ -z "$output" ]
	leat check --dir wf --resources resources.yaml --canonical wf.yaml >wf.json
	jq -e '.IO_Graph[0].storage_bw == "auto(2,64,2)" and .resources.nodes[0].storage[0].bandwidth == 100' wf.json
	leat check --dir wf --canonical wf.json | cmp - wf.json
	leat run --dir wf wf.json
}
