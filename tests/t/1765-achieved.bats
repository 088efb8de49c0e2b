#!/usr/bin/env bats
# What a run achieved on its devices, over time: the report, the summary, the charts and the trace
# agree with what was moved.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# The outputs stand for the order of the steps; most are not made.
	export LEAT_ON_VIOLATION=warn
	mkdir wf out
	cat >resources.yaml <<-END
		resources:
		  nodes:
		    - name: localhost
		      computing_units: 2
		      io_executors: 4
		      storage:
		        - {name: scratch, bandwidth: 100, paths: ["$(pwd -P)"]}
		        - {name: unused, bandwidth: 10, paths: [/nowhere]}
	END
	cat >wf.yaml <<-'END'
		name: achieved
		tasks:
		  - {func: solve, exec: sleep, args: ["0.3"], taskCount: 2, outports: [{filename: nothing}]}
		  - func: save
		    exec: sh
		    args: [-c, "for i in 1 2 3; do head -c 1000000 /dev/zero; sleep 0.05; done >data"]
		    taskCount: 12
		    io: true
		    storage_bw: auto(25,50,2)
		    outports: [{filename: data}]
		  - func: load
		    exec: sh
		    args: [-c, "cat data >copy"]
		    taskCount: 12
		    io: true
		    storage_bw: 50
		    inports: [{filename: data}]
		    outports: [{filename: copy}]
	END
}

teardown() {
	nothing_left
}

# Do samples add up to totals, for devices and tasks? Of a run's `scheduling`, or a program's report.
sums='def near($a; $b): ($a - $b | fabs) <= 0.002 * $b + 0.001;
	(if has("scheduling") then .scheduling | .task_types = .tasks else . end) as $s |
	all($s.devices[]; . as $d | (.samples | length) <= 1024 and
		near(([.samples[].read_mbps] | add // 0) * .interval_s; .read_bytes / 1e6) and
		near(([.samples[].written_mbps] | add // 0) * .interval_s; .written_bytes / 1e6) and
		([$s.task_types[] | select(.device == $d.device) | .achieved.read_bytes + .achieved.written_bytes] | add // 0) ==
			.read_bytes + .written_bytes and
		all(.samples[]; .allocated_mbps <= $d.bandwidth_mbps + 0.001 and .tasks <= $d.peak_tasks + 0.001) and
		[.samples[].t] == ([range(.samples | length) * .interval_s] | map(. * 1000 | round / 1000))) and
	all($s.task_types[] | select(.achieved); . as $k | .achieved as $a | $s.devices[] | select(.device == $k.device) |
		($a.mbps | length) == (.samples | length) and
		near(($a.mbps | add) * .interval_s; ($a.read_bytes + $a.written_bytes) / 1e6) and
		([$a.by_constraint[].bytes] | add) == $a.read_bytes + $a.written_bytes and
		([$a.by_constraint[].tasks] | add) == $k.done + $k.failed)'

@test "what is reported is what was read and written, over time" {
	run leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	echo "$output"
	[ "$status" = 0 ]
	# `data` is not kept; `copy` is the same.
	size=$(cat wf/load.*/copy | wc -c)
	[ "$size" = 36000000 ]
	jq 'del(.scheduling.devices[].samples)' report.json
	# What leat has served is known to the byte; pages of programs that the kernel had to read come on top.
	jq -e --argjson size "$size" '.steps | group_by(.name | split(".")[0]) |
		map([(.[0].name | split(".")[0]), (map(.bytes_in) | add), (map(.bytes_out) | add)]) ==
		[["load", $size, $size], ["save", 0, $size], ["solve", 0, 0]]' report.json
	jq -e --argjson size "$size" 'def with_pages($bytes): . >= $bytes and . < $bytes + 1048576;
		.scheduling | [.tasks[].task] == ["solve", "save", "load"] and
		(.tasks[0].achieved == null) and
		(.tasks[1].achieved | .written_bytes == $size and (.read_bytes | with_pages(0))) and
		(.tasks[2].achieved | .written_bytes == $size and (.read_bytes | with_pages($size))) and
		(.devices[0] | .written_bytes == 2 * $size and (.read_bytes | with_pages($size)))' report.json
	jq -e "$sums" report.json
	# Each instance takes 0.15 s and more: the samples show them, and none where there was nothing.
	jq -e '([.scheduling.devices[0].samples[] | select(.written_mbps > 0)] | length) >= 5 and
		all(.scheduling.devices[1].samples[]; .read_mbps + .written_mbps + .allocated_mbps + .tasks == 0) and
		.scheduling.devices[0].mean_mbps > 0 and
		.scheduling.devices[0].peak_mbps >= .scheduling.devices[0].mean_mbps' report.json
	[[ $output == *"storage scratch: "*" of 100 MB/s achieved while I/O tasks ran ("*" s), at most "*"; at most 100 allocated at a time"* ]]
	[[ $output != *"storage unused"* ]]
	# What leat itself brings to disk is told apart; in memory there is none.
	jq -e --argjson size "$size" '.scheduling.devices | .[0].copied_bytes as $copied | ($copied == 0 or $copied >= $size) and
		(([.[0].samples[].copied_mbps] | add) * .[0].interval_s - $copied / 1e6 | fabs) < 0.1 and .[1].copied_bytes == 0' report.json
}

@test "epochs have their times, and what was chosen afterwards has, too" {
	leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	jq '.scheduling.tasks[1]' report.json
	# 25 MB/s: 4 at a time; then 50: 2; the other 6 have what was chosen.
	jq -e '.scheduling.tasks[1] | [.epochs[] | [.constraint_mbps, .tasks]] == [[25, 4], [50, 2]] and
		all(.epochs[]; .begin_s < .end_s) and .epochs[0].end_s <= .epochs[1].begin_s and
		.achieved.choices[0].t >= .epochs[1].end_s and
		.achieved.choices[-1].constraint_mbps == .chosen_mbps and
		([.achieved.by_constraint[] | .constraint_mbps] | sort) == [25, 50] and
		all(.achieved.by_constraint[]; .mbps > 0 and .task_mbps > 0)' report.json
}

@test "files that leat does not serve are counted by the kernel, of processes that have ended" {
	fsync() { dd if=/dev/zero of="$1" bs=1M count=8 conv=fsync status=none; }
	before=$(sed -n 's/^write_bytes: //p' /proc/$$/io) || skip "the kernel does not count the I/O of processes"
	fsync out/probe
	after=$(sed -n 's/^write_bytes: //p' /proc/$$/io)
	[ $((after - before)) -ge 8388608 ] || skip "$PWD is not on a disk"
	cat >wf.yaml <<-END
		tasks:
		  - func: save
		    exec: sh
		    args: [-c, "dd if=/dev/zero of=$PWD/out/\$\$ bs=1M count=8 conv=fsync status=none"]
		    taskCount: 6
		    io: true
		    storage_bw: 50
		    device: scratch
	END
	leat run --dir wf --resources resources.yaml --report report.json wf.yaml
	jq 'del(.scheduling.devices[].samples)' report.json
	[ "$(cat out/* | wc -c)" = $((7 * 8388608)) ]
	# The first processes of a run write what leat keeps of the C library, too.
	jq -e '.scheduling.tasks[0].achieved.written_bytes | . >= 6 * 8388608 and . < 9 * 8388608' report.json
	jq -e "$sums" report.json
}

@test "a run without scheduling shows nothing of it" {
	cat >plain.yaml <<-'END'
		tasks:
		  - {func: a, exec: sh, args: [-c, "seq 1000 >x"], outports: [{filename: x}]}
	END
	run leat run --dir wf --report report.json --timeline run.html plain.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output != *storage* ]]
	jq -e 'has("scheduling") | not' report.json
	sed -n 's/.*id="data">//; /^{$/,/^}$/p' run.html >data.json
	jq -e 'has("steps") and (has("scheduling") | not)' data.json
}

@test "the page has charts of the devices, and of what was learned" {
	need chromium
	leat run --dir wf --resources resources.yaml --report report.json --timeline run.html wf.yaml
	dom run.html
	/usr/bin/python3 -B - <<-'END'
		import re
		dom = open("page.dom", encoding="utf-8").read()
		def figures(section):
		    tag, body = re.search(r'<section id="%s"([^>]*)>(.*?)</section>' % section, dom, re.S).groups()
		    assert "hidden" not in tag, section
		    return dict(re.findall(r'<figure data-name="([^"]*)">(.*?)</figure>', body, re.S))
		storage = figures("storage")
		# A device that no task uses has none.
		assert list(storage) == ["scratch"], storage.keys()
		for kind in "save", "load":
		    assert re.search(r'class="layer k\d" data-task="%s" d="M' % kind, storage["scratch"]), kind
		for line in "taken", "limit", "tasks":
		    assert re.search(r'class="%s" d="M' % line, storage["scratch"]), line
		learning = figures("learning")
		assert list(learning) == ["save"]
		assert len(re.findall(r'<rect class="epoch', learning["save"])) == 2
		assert re.search(r'class="choice" d="M', learning["save"])
		rates = figures("throughput")
		assert re.findall(r'class="rate" data-constraint="(\d+)"', rates["save"]) == ["25", "50"]
	END
	# The page has what the report has.
	python3 -c 'import re; print(re.search(r"id=\"data\">(.*?)</script>", open("run.html").read(), re.S)[1])' >data.json
	jq -e --slurpfile report report.json '.scheduling == $report[0].scheduling' data.json
}

@test "the trace of a run has the devices as counters" {
	leat run --dir wf --resources resources.yaml --report report.json --timeline run.json wf.yaml
	jq -e --slurpfile report report.json '$report[0].scheduling.devices[0] as $d |
		[.traceEvents[] | select(.ph == "C" and .name == "scratch MB/s")] as $c |
		($c | length) == ($d.samples | length) + 1 and
		[$c[:-1][] | .args.written] == [$d.samples[].written_mbps] and
		[$c[:-1][] | .args.allocated] == [$d.samples[].allocated_mbps] and
		($c[-1].args | [.read, .written, .allocated]) == [0, 0, 0]' run.json
	jq -e '[.traceEvents[] | select(.ph == "C" and (.name | startswith("unused")))] == []' run.json
}

@test "a program with tasks reports the same" {
	PATH=$LEAT_BUILD/examples/tasks:$PATH
	mkdir dir
	LEAT_RESOURCES=resources.yaml LEAT_TASK_REPORT=report.json task_listings dir 40
	jq 'del(.devices[].samples)' report.json
	jq -e "$sums" report.json
	# A task is told its bytes when it ends: they are spread over its time.
	jq -e '([.task_types[] | {(.task): .}] | add) as $k |
		all($k.listing2, $k.listing3, $k.listing4, $k.listing5; .achieved.written_bytes + .achieved.read_bytes == .bytes) and
		all($k.listing4.epochs[]; .begin_s <= .end_s) and $k.scale.achieved == null' report.json
	LEAT_RESOURCES=resources.yaml LEAT_TASK_REPORT=- run task_listings dir 4
	[[ $output == *"device scratch: 100 MB/s, at most "*" achieved "*" MB/s, at most "* ]]
}

@test "and as a page" {
	need chromium
	PATH=$LEAT_BUILD/examples/tasks:$PATH
	mkdir dir
	LEAT_RESOURCES=resources.yaml LEAT_TASK_REPORT=report.html task_listings dir 40
	dom report.html
	/usr/bin/python3 -B - <<-'END'
		import re
		dom = open("page.dom", encoding="utf-8").read()
		rows = re.findall(r"<tr>(.*?)</tr>", dom, re.S)[1:]
		cells = {}
		for row in rows:
		    c = re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
		    cells[c[0]] = c[1:]
		assert len(cells) == 7, cells
		assert cells["scale"][0] == "computing units" and cells["scale"][2] == "100", cells
		assert cells["listing4"][:3] == ["scratch", "auto(10,50,4)", "40"], cells
		assert cells["listing4"][6] == "10.5", cells
		def figures(section):
		    body = re.search(r'<section id="%s" [^>]*>(.*?)</section>' % section, dom, re.S).group(1)
		    return dict(re.findall(r'<figure data-name="([^"]*)">(.*?)</figure>', body, re.S))
		storage = figures("storage")["scratch"]
		for kind in "listing2", "listing3", "listing4", "listing5":
		    assert re.search(r'class="layer k\d" data-task="%s" d="M' % kind, storage), kind
		assert set(figures("learning")) == set(figures("throughput")) == {"listing4", "listing5"}
		assert re.findall(r'class="rate" data-constraint="(\d+)"', figures("throughput")["listing4"]) == ["10", "40"]
	END
}
