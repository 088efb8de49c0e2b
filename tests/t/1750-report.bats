#!/usr/bin/env bats
# leat report: text, JSON, trace events, and the page in a browser.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# A producer and a consumer. Between them 3000 lines of 1000 bytes; the consumer reads them
	# twice. Times are seconds.
	/usr/bin/python3 -B - <<-'END'
		NS = 10 ** 9
		BEGAN = 1700000000 * NS
		calls, processes = [], []
		def stamp(s):
		    ns = BEGAN + round(s * NS)
		    return "%d.%09d" % (ns // NS, ns % NS)
		def call(at, pid, kind, inode, handle, offset=0, size=0, result=0, path=""):
		    calls.append((at, f"{stamp(at)},{stamp(at + 0.0001)},{pid},0,0,0,0,{inode},{kind},{result},{handle},"
		        f"{offset},{size},0x0,{path},"))
		def process(at, ppid, pid, event, program=""):
		    processes.append(f"{stamp(at)},{ppid},{pid},1,{event},0,0,{program},,")
		X = "/data/x</script>&.bin"
		process(0, 1, 10, "fork")
		process(0, 1, 10, "exec", "/bin/make")
		call(0.1, 10, "C", 1, 1, path=X)
		for i in range(3000):
		    call(0.2 + i / 1000, 10, "W", 1, 1, i * 1000, 1000, 1000)
		call(3.3, 10, "X", 1, 1)
		process(4, 1, 10, "exit")
		process(5, 1, 11, "fork")
		process(5, 1, 11, "exec", "/bin/use")
		call(5.1, 11, "O", 1, 2, path=X)
		for k in range(2):
		    for i in range(750):
		        call(5.2 + k + i / 1000, 11, "R", 1, 2, i * 4000, 4000, 4000)
		call(8, 11, "C", 2, 3, path="/data/log")
		call(8.5, 11, "W", 2, 3, 0, 7, 7)
		call(9, 11, "X", 2, 3)
		call(9, 11, "X", 1, 2)
		process(15, 1, 11, "exit")
		end = f"# end: calls {len(calls)} processes {len(processes)} lost_buffer 0 lost_memory 0 lost_path 0 lost_write 0 lost_unseen 0\n"
		with open("run.csv", "w") as f:
		    f.write("# leat trace 1\n# host: here\n# tracer: hand\n# command: make; use\n")
		    f.write("time_start,time_end,pid,utime_start,utime_end,stime_start,stime_end,inode,type,result,handle,offset,size,flags,path,to\n")
		    f.writelines(line + "\n" for _, line in calls)
		    f.write(end)
		with open("run.pids.csv", "w") as f:
		    f.write("# leat processes 1\n# host: here\n# tracer: hand\n# command: make; use\n")
		    f.write("time,ppid,pid,cgroupid,event,status,mounts,program,dir,labels\n")
		    f.writelines(line + "\n" for line in processes)
		    f.write(end)
	END
}

teardown() {
	nothing_left
}

# cells TABLE: the rows of a table of the page, cells apart by |.
cells() {
	/usr/bin/python3 -B - "$1" <<-'END'
		import html, re, sys
		dom = open("page.dom", encoding="utf-8").read()
		table = re.search(r'<table id="%s">(.*?)</table>' % sys.argv[1], dom, re.S).group(1)
		for row in re.findall(r"<tr>(.*?)</tr>", re.search(r"<tbody>(.*?)</tbody>", table, re.S).group(1)):
		    print("|".join(html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<td[^>]*>(.*?)</td>", row)))
	END
}

@test "the text has the metrics, and fits in 80 columns" {
	leat report run.csv >out
	cat out
	run ! grep '.\{81\}' out
	grep -Eq '^use +10.0 s +.* 6.0 MB +50 % +7 B +2$' out
	grep -Eq '^make +4.00 s +.* 0 B +3.0 MB +1$' out
	grep -Eq '^use +<- .* 6.0 MB +2.0x +1,500 +>99 % +17 %' out
	grep -Eq '^make +-> .* 3.0 MB +1.0x +3,000 +100 % +75 %' out
	grep -q 'use reads /data/x</script>&.bin 2.0 times over: 6.0 MB, of which' out
	grep -q 'make writes .* in small pieces: 3,000 calls of' out
	run ! grep INCOMPLETE out
	# Wide terminals show whole names.
	COLUMNS=200 leat report run.csv | grep -q '^use .* /data/x</script>&.bin .* 6.0 MB'
}

@test "only some tasks, only some files, only so many rows" {
	leat report --task use run.csv >out
	run ! grep -E '^make +(->|[0-9])' out
	grep -Eq '^use +<-' out
	leat report --file '*/log' run.csv >out
	run ! grep -F '/data/x' out
	grep -q '/data/log' out
	leat report --top 1 run.csv >out
	cat out
	grep -q '1 more tasks (--top N' out
}

@test "JSON" {
	need jq
	leat report --json out.json run.csv
	jq -e '.partial == false and .calls == 4507 and .read.bytes == 6000000 and .written.bytes == 3000007' out.json
	jq -e '.tasks as $t | [.edges[] | select(.read) | .task as $i | ($t[] | select(.id == $i) | .name), .read.unique,
		.read.repeated, .read.sequential, .read.down, .bulkiness] == ["use", 3000000, 3000000, 1499, 1, 17.491]' out.json
	# A write of 1000 bytes asks for 512 to 1023.
	jq -e '.written.sizes[10] == 3000' out.json
	jq -e '([.series.written[]] | add) == 3000007 and ([.nodes[].series.read[]] | add) == 6000000' out.json
	jq -e '[.hints[].kind] | contains(["read-again", "small-calls", "streamable"])' out.json
	jq -e '.files[] | select(.path | startswith("/data/x")) | ([.spans[][4]] | add) == 9000000' out.json
	[ "$(leat report --json - run.csv | jq .calls)" = 4507 ]
	# What the tables show is in their rows, described once.
	jq -e '.tasks[] | select(.name == "use") | .reread == 0.5 and .files == 2' out.json
	jq -e '.edges[].read | select(.) | .reread_factor == 2 and .mean_bytes == 4000 and .sequential_share == 0.999' out.json
	jq -e '.columns | keys == ["calls", "edges", "files", "tasks", "waits"]' out.json
	jq -e '. as $r | all(.columns.tasks[]; .key as $k | $r.tasks[] | select(.name == "use") | getpath($k | split(".")) != null)' out.json
}

@test "trace events by the rules of their format" {
	need jq
	leat report --perfetto out.json run.csv
	[ "$(jq -r '[.traceEvents[] | select(.name == "process_name") | .args.name] | sort | join(" ")' out.json)" = 'make use' ]
	jq -e 'all(.traceEvents[]; has("ph") and has("name") and has("pid") and has("tid") and
		(.ph == "M" or (.ts | type == "number")) and (.ph != "X" or .dur > 0))' out.json
	jq -e '[.traceEvents[] | select(.ph == "X" and .name == "write") | .args.bytes] | add == 3000007' out.json
}

@test "the page, in a browser" {
	need chromium
	leat report --html run.html run.csv
	# It takes nothing from anywhere.
	run ! grep -E '<link|<img|src="|@import|url\(.?http' run.html
	dom run.html
	cells task-table
	[ "$(cells task-table | cut -d'|' -f1 | sort | tr '\n' ' ')" = 'make use ' ]
	cells task-table | grep -q '^use|10.0 s|.*|6.0 MB|50 %|7 B|'
	cells edges-table
	cells edges-table | grep -qF 'use|reads|/data/x</script>&.bin|6.0 MB|3.0 MB|2.0x|1,500|4.0 kB|>99 %|0|1|'
	cells files-table | grep -qF '/data/x</script>&.bin|3.0 MB|1|6.0 MB|1|'
	# A point for each file that was read or written, and bars of the file over time.
	[ "$(grep -o 'class="dot ' page.dom | wc -l)" = 3 ]
	[ "$(grep -o 'class="span"' page.dom | wc -l)" -gt 50 ]
	# From task to file to task.
	[ "$(grep -o 'class="link read"' page.dom | wc -l)" = 1 ]
	[ "$(grep -o 'class="link written"' page.dom | wc -l)" = 1 ]
	grep -q '<section id="task" hidden' page.dom
	# One task.
	use=$(grep -o 'href="#task-[0-9]*">use<' page.dom | head -n 1 | tr -dc '0-9')
	dom run.html "#task-$use"
	grep -q '<h2 id="task-title">Task use</h2>' page.dom
	[ "$(cells task-files | wc -l)" = 2 ]
	# One file.
	file=$(grep -o 'href="#file-[0-9]*">/data/log<' page.dom | head -n 1 | tr -dc '0-9')
	dom run.html "#file-$file"
	[ "$(cells file-tasks | cut -d'|' -f1,2)" = 'use|writes' ]
}

@test "a trace that was cut off is marked in every form" {
	need jq chromium
	head -c 60000 run.csv >cut.csv
	cp run.pids.csv cut.pids.csv
	leat report --html cut.html --json cut.json --perfetto cut.pf.json cut.csv 2>err
	cat err
	grep -q 'the report is incomplete' err
	jq -e '.partial and (.gaps | length) >= 1 and .sources[0].complete == false' cut.json
	jq -e '.otherData.incomplete | length >= 1' cut.pf.json
	dom cut.html
	grep -q 'This report is incomplete' page.dom
	leat report cut.csv 2>/dev/null | head -n 3 | grep '^INCOMPLETE: .*is truncated'
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "what cannot be read or written is said" {
	run -1 --separate-stderr leat report nothing.csv
	echo "$stderr"
	[[ $stderr == *nothing.csv*'No such file'* ]]
	echo hello >text.csv
	run -1 --separate-stderr leat report text.csv
	echo "$stderr"
	[[ $stderr == *text.csv* ]]
	run -1 --separate-stderr leat report --html no/run.html run.csv
	[ "$stderr" = 'leat: cannot write no/run.html: No such file or directory' ]
	run -1 --separate-stderr leat report --json /dev/full run.csv
	[[ $stderr == *'cannot write /dev/full: No space left on device'* ]]
	# A malformed line is left out, and counted.
	sed -i '10s/.*/rubbish/' run.csv
	leat report run.csv 2>err >out
	cat out err
	grep -q 'INCOMPLETE: 1 malformed line' out
}

@test "what is not in the trace is said, and no report of it takes the place of another" {
	echo kept >old.html
	run leat report --task nobody --html old.html --json new.json run.csv
	echo "$output"
	[ "$status" = 1 ]
	[ "$output" = 'leat: no task of the traces matches "nobody"; one there is: make' ]
	[ "$(cat old.html)" = kept ]
	[ ! -e new.json ]
	run leat report --file nothing run.csv
	[ "$status" = 1 ]
	[ "$output" = 'leat: no file of the traces matches "nothing"' ]
	leat report --html old.html run.csv
	[[ $(head -n 1 old.html) == *html* ]]
}

@test "a real command, traced" {
	cat >work.sh <<-'END'
		seq 1 200000 >numbers
		sort -n numbers >sorted
		rm numbers
	END
	leat trace --tracer ptrace -o real.trace -- bash work.sh || skip 'ptrace is not to be had'
	COLUMNS=500 leat report real.trace >out
	cat out
	grep -Eq '^sort +-> .*/sorted +1.3 MB +1.0x ' out
	grep -Eq '^sort +<- .*/numbers +1.3 MB +1.0x ' out
	grep -q '/numbers is written once and in order by seq' out
}

@test "calls whose file is named outside of its container only" {
	{
		echo '# leat trace 2'
		echo 'time_start,time_end,pid,utime_start,utime_end,stime_start,stime_end,inode,type,result,handle,offset,size,flags,path,to,outside,to_outside'
		for i in {1..3000}; do
			echo "1700000000.5,1700000000.6,10,0,0,0,0,$i,C,0,$i,0,0,0x1,,,/out/$i,"
			echo "1700000000.6,1700000000.7,10,0,0,0,0,$i,W,$i,$i,0,$i,0x1,,,,"
		done
	} >outside.csv
	printf '# leat processes 1\ntime,ppid,pid,cgroupid,event,status,mounts,program,dir,labels\n' >outside.pids.csv
	leat report --json outside.json outside.csv
	jq -e '[.files[] | select(.written) | .path] | length == 3000 and (unique | length) == 3000' outside.json
	jq -e 'all(.files[] | select(.written); .path == "/out/\(.written)")' outside.json
}

@test "what steps of a streamed run waited for" {
	need jq
	cat >flow.yaml <<-'END'
		name: walk
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3; do seq 1 20000; sleep 0.3; done >x'
		    outports: [{filename: x, mode: no_update}]
		  - func: use
		    exec: bash -c 'wc -l <x >n'
		    inports: [{filename: x}]
		    outports: [{filename: n}]
	END
	mkdir work
	# who is traced so cannot look for leaks, which takes ptrace
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 leat trace --tracer ptrace -o flow.csv -- leat run --quiet --log flow.log flow.yaml ||
		skip 'ptrace is not to be had'
	leat report --json flow.json flow.csv flow.log
	jq -e '.workflow and ([.tasks[] | select(.origin == "task") | .name] | sort) == ["make", "use"]' flow.json
	jq -e '(.waits | length) == 1 and .waits[0].step == "use" and .waits[0].name == "x" and .waits[0].times >= 1 and
		.waits[0].waited_ns >= .waits[0].longest_ns' flow.json
	jq -e '.waits[0] as $w | .tasks[] | select(.id == $w.task) | .name == "use" and .waited_ns == $w.waited_ns' flow.json
	leat report flow.csv flow.log >out
	cat out
	grep -q '^WAITING, in the streamed run' out
	grep -Eq '^use +x +[0-9]+ ' out
	# Of a log that was cut off what is there.
	printf 1 >>flow.log
	run leat report flow.csv flow.log
	[[ $output == *flow.log*malformed* && $output == *'WAITING, in the streamed run'* ]]
}
