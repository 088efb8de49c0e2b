#!/usr/bin/env bats
# The task API: the example programs, each of which compares itself with a loop without tasks, with
# and without constraints; reports; mistakes in the resources.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	PATH=$LEAT_BUILD/examples/tasks:$PATH
	unset LEAT_RESOURCES LEAT_TASK_REPORT
	mkdir dir
	cat >resources.yaml <<-END
		resources:
		  nodes:
		    - name: localhost
		      computing_units: 3
		      io_executors: 8
		      storage:
		        - name: scratch
		          bandwidth: 100
		          paths: ["$(pwd -P)"]
	END
}

@test "listings 1 to 5: static and learned constraints" {
	LEAT_RESOURCES=resources.yaml LEAT_TASK_REPORT=report.json task_listings dir 40
	jq -e '([.task_types[] | {(.task): .}] | add) as $k |
		$k.scale.done == 100 and $k.accumulate.done == 100 and $k.generate_block.done == 160 and
		all($k.listing2, $k.listing3, $k.listing4, $k.listing5;
			.done == 40 and .failed == 0 and .device == "scratch" and
			.bytes == 40 * 262144 and .bandwidth_mbps > 0) and
		# 100 / 10 is more than the 8 executors; then 40, two at a time
		[$k.listing4.epochs[] | [.constraint_mbps, .slots, .tasks]] == [[10, 8, 8], [40, 2, 2]] and
		$k.listing5.epochs[0].constraint_mbps == 12 and
		(.devices | length) == 1 and .devices[0].peak_allocated_mbps <= 100' report.json
}

@test "constraints need a device that is described" {
	run task_listings dir 4
	[ "$status" = 1 ]
	[[ $output == *"task listing3 asks for bandwidth (20) of the storage device with "*"leat probe"* ]]
}

@test "a constraint above the device" {
	sed -i 's/bandwidth: 100/bandwidth: 10/' resources.yaml
	LEAT_RESOURCES=resources.yaml run task_listings dir 4
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *listing3*20*scratch*10* ]]
}

@test "mistakes in the resources are told with their line" {
	sed -i 's/bandwidth: 100/bandwith: 100/' resources.yaml
	LEAT_RESOURCES=resources.yaml run task_listings dir 4
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"resources.yaml:7:"*bandwidth* ]]
	LEAT_RESOURCES=nothing.yaml run task_listings dir 4
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *nothing.yaml*"No such file"* ]]
}

@test "nodes, none of which is this machine" {
	printf '%s\n' 'resources:' '  nodes:' '    - {name: one.example, computing_units: 1}' \
		'    - {name: two.example, computing_units: 1}' >two.yaml
	LEAT_RESOURCES=two.yaml run task_listings dir 4
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"two.yaml describes 2 nodes, and none of them is this machine"* ]]
}

@test "what leat probe prints can be read" {
	leat probe --tasks 1 --seconds 0.01 --max-size 16M --name probed dir >probed.yaml
	cat probed.yaml
	sed -i 's/bandwidth: [0-9]*/bandwidth: 60/' probed.yaml
	LEAT_RESOURCES=probed.yaml LEAT_TASK_REPORT=report.json task_listings dir 10
	jq -e '.devices[0].device == "probed"' report.json
}

@test "stencil with checkpoints" {
	task_stencil dir 256 8 30 5
	LEAT_RESOURCES=resources.yaml task_stencil dir 256 8 30 5 auto
}

@test "k-means over fragments" {
	task_kmeans --make points 4000 6
	task_kmeans points 6 8 10 4 dir
	LEAT_RESOURCES=resources.yaml task_kmeans points 6 8 10 4 dir 'auto(20,80,2)'
}

@test "external merge sort, as sort has it" {
	seq 20000 | awk '{print ($1 * 7919) % 20011, "line"}' >in
	LC_ALL=C sort in >should
	task_sort in out dir 7
	cmp out should
	rm out
	LEAT_RESOURCES=resources.yaml task_sort in out dir 5 30
	cmp out should
	[ -z "$(ls -A dir)" ]
	: >in
	task_sort in out dir 3
	[ ! -s out ]
}

@test "a task that fails is named, with the file" {
	mkdir dir/block.3
	run task_stencil dir 64 8 10 5
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == "task checkpoint (number "*") failed: dir/block.3: Is a directory"* ]]
}

@test "the report as text, and one that cannot be written" {
	LEAT_TASK_REPORT=- task_stencil dir 64 4 10 5 2>report
	grep -Eq '^checkpoint +8 +0 +0 ' report
	LEAT_TASK_REPORT=none/report run task_stencil dir 64 4 10 5
	[ "$status" = 1 ]
	[[ $output == *"cannot write the report none/report: No such file or directory"* ]]
}

@test "the header is C++, too" {
	need clang
	printf '%s\n' '#include <leat/task.h>' \
		'int f(leat_task_object *o) { return leat_in(o).type + leat_file_out("a").direction; }' >f.cc
	clang -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$LEAT_SOURCE_DIR/include" f.cc
}
