#!/usr/bin/env bats
# leat simulate: its output, its options, and what it says about mistakes.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	examples=$LEAT_SOURCE_DIR/examples/simulate
	cat >res.yaml <<-'END'
		resources:
		  nodes:
		    - name: n
		      count: 2
		      computing_units: 4
		      io_executors: 8
		      storage: [{name: ssd, bandwidth: 80}]
	END
	cat >work.yaml <<-'END'
		workload: two
		tasks:
		  - {name: compute, count: 40, seconds: 10}
		  - {name: write, count: 40, each: compute, io: true, device: ssd, megabytes: 20, storage_bw: 20}
	END
}

# fails PATTERN COMMAND...: it fails with status 1 and says PATTERN.
fails() {
	local pattern=$1
	shift
	run "$@"
	echo "status $status, output: $output"
	[ "$status" = 1 ]
	[[ $output == *"$pattern"* ]]
}

@test "a table for people" {
	run leat simulate res.yaml work.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == "two: 80 tasks on 2 nodes"* ]]
	[[ $output == *given* ]]
	run leat simulate -t 'baseline,none,10,auto,auto(10,80,2)' res.yaml work.yaml
	[ "$status" = 0 ]
	[[ $output == *"write with auto(10,80,2)"* ]]
	[[ $output == *"unregistered"* || $output == *"registered"* ]]
}

@test "the same input gives the same output" {
	leat simulate -f json "$examples/resources.yaml" "$examples/kmeans.yaml" >one
	leat simulate -f json "$examples/resources.yaml" "$examples/kmeans.yaml" >two
	cmp one two
}

@test "JSON that others can read" {
	need jq
	leat simulate -f json -t 'auto(5,40,2)' -i 3 res.yaml work.yaml >out.json
	[ "$(jq -r '.workload' out.json)" = two ]
	[ "$(jq '.trials[0].tasks' out.json)" = 240 ]
	[ "$(jq -r '.trials[0].task_types[1].storage_bw' out.json)" = 'auto(5,40,2)' ]
	[ "$(jq '[.trials[0].task_types[1].epochs[].constraint_mbps] | tostring' out.json)" = '"[5,10,20,40]"' ]
	[ "$(jq '[.trials[0].task_types[1].registry[].slots_all] | tostring' out.json)" = '"[16,16,8,4]"' ]
}

@test "CSV that others can read" {
	need python3
	for table in trials tasks epochs registry; do
		leat simulate -f csv --table "$table" -t 'none,auto,auto(5,40,2)' res.yaml work.yaml >"$table.csv"
	done
	python3 - <<-'END'
		import csv
		rows = {t: list(csv.DictReader(open(t + ".csv"))) for t in ("trials", "tasks", "epochs", "registry")}
		assert [r["trial"] for r in rows["trials"]] == ["none", "auto", "auto(5,40,2)"], rows
		assert len(rows["tasks"]) == 6 and rows["tasks"][1]["task_type"] == "write"
		assert {r["trial"] for r in rows["epochs"]} == {"auto", "auto(5,40,2)"}
		assert all(float(r["mean_s"]) > 0 for r in rows["registry"])
	END
}

@test "the examples, and HMMER as in the paper" {
	for workload in hmmer variants kmeans; do
		leat simulate "$examples/resources.yaml" "$examples/$workload.yaml"
	done
	run leat simulate -t auto -f csv --table epochs "$examples/resources.yaml" "$examples/hmmer.yaml"
	echo "$output"
	[ "${#lines[@]}" = 5 ]
	[[ ${lines[1]} == auto,checkpointFrag,1,2,225,225,*,registered ]]
	[[ ${lines[4]} == auto,checkpointFrag,4,16,28,28,*,discarded ]]
}

@test "a resources file of COMPSs" {
	cat >res.xml <<-'END'
		<?xml version="1.0"?>
		<ResourcesList>
		  <ComputeNode Name="a">
		    <Processor Name="p"><ComputingUnits>4</ComputingUnits></Processor>
		    <Storage><Size>200</Size><Type>SSD</Type><Bandwidth>80</Bandwidth></Storage>
		  </ComputeNode>
		</ResourcesList>
	END
	sed 's/device: ssd/device: storage/' work.yaml >compss.yaml
	run leat simulate res.xml compss.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"80 tasks on 1 node"* ]]
	sed -i 's/<Bandwidth>80/<Bandwidth>fast/' res.xml
	fails 'res.xml:5:' leat simulate res.xml compss.yaml
	[[ $output == *"<Bandwidth> must be a whole number"* ]]
}

@test "constraints that cannot be met" {
	fails 'the minimum, 50, is above the maximum, 10' leat simulate -t 'auto(50,10,2)' res.yaml work.yaml
	fails 'delta must be at least 2' leat simulate -t 'auto(10,50,1)' res.yaml work.yaml
	fails 'storage device "ssd" has 80 MB/s' leat simulate -t 81 res.yaml work.yaml
	fails 'is no bandwidth' leat simulate -t fast res.yaml work.yaml
	fails 'I/O executors' leat simulate -t auto@many res.yaml work.yaml
	sed 's/device: ssd/device: sdd/' work.yaml >bad.yaml
	fails 'did you mean "ssd"' leat simulate res.yaml bad.yaml
	sed 's/storage_bw: 20/storage_bw: "auto(50,10,2)"/' work.yaml >bad.yaml
	fails 'bad.yaml:4:' leat simulate res.yaml bad.yaml
	[[ $output == *"[L-BANDWIDTH]"* ]]
	sed 's/seconds: 10/seconds: 10, computing_units: 5/' work.yaml >bad.yaml
	fails 'no host has more than 4' leat simulate res.yaml bad.yaml
}

@test "mistakes in the files are shown where they are" {
	sed 's/each: compute/each: computer/' work.yaml >bad.yaml
	fails 'did you mean "compute"?' leat simulate res.yaml bad.yaml
	sed 's/bandwidth/bandwith/' res.yaml >bad.yaml
	fails 'did you mean "bandwidth"?' leat simulate bad.yaml work.yaml
	fails 'cannot read' leat simulate nowhere.yaml work.yaml
	fails 'L-RESOURCE-NONE' leat simulate work.yaml work.yaml
}

@test "output that cannot be written is an error" {
	run bash -c 'leat simulate res.yaml work.yaml >/dev/full'
	[ "$status" != 0 ]
}
