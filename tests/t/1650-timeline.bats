#!/usr/bin/env bats
# leat run --timeline, leat serve --timeline: the page in a browser, the trace by its rules.
# shellcheck disable=SC2154 # server: of helper.bash
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
	# Shown as it is, whatever it is: it is part of a page, and of JSON.
	cat >flow.yaml <<-'END'
		name: "</script><b>&amp;"
		dir: work
		tasks:
		  - func: make
		    taskCount: 3
		    exec: bash -c 'sleep 0.2; dd if=/dev/zero of=x bs=1M count=20 status=none; sleep 0.1'
		    outports: [{filename: x, committed: on_close}]
		  - func: use
		    taskCount: 3
		    exec: bash -c 'cat x >copy'
		    inports: [{filename: x}]
		    outports: [{filename: copy}]
		  - func: fail
		    exec: bash -c 'sleep 0.05; exit 3'
	END
	cat >versions.yaml <<-'END'
		name: versions
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4; do sleep 0.1; echo $i >x; done'
		    outports: [{filename: x}]
		  - func: each
		    exec: bash -c 'cat x >>out; sleep 0.05'
		    inports: [{filename: x, io_freq: 2}]
		    outports: [{filename: out}]
	END
}

teardown() {
	end_server
	nothing_left
}

# rows: names of the lines of the chart that have a bar, by the browser.
rows() {
	/usr/bin/python3 -B - <<-'END'
		import re
		dom = open("page.dom", encoding="utf-8").read()
		for name, body in re.findall(r'<g class="row \w+" data-name="([^"]*)"[^>]*>(.*?)</g>', dom):
		    if re.search(r'class="(compute|copy|wait|rest)" d="M', body):
		        print(name)
	END
}

# cell STEP CLASS: a cell of the table of totals, of a step or a task.
cell() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import re, sys
		dom = open("page.dom", encoding="utf-8").read()
		name, column = map(re.escape, sys.argv[1:])
		row = re.search(r'<tr[^>]*data-(?:task|step)="%s"[^>]*>(.*?)</tr>' % name, dom).group(1)
		print(re.search(r'<td class="%s[^"]*">(.*?)</td>' % column, row).group(1))
	END
}

# summary STEP COLUMN: of what leat run has printed.
summary() {
	awk -v step="$1" -v at="$2" -F '   *' '$1 == step {print $at}' out
}

@test "a page with a bar for every instance, and the totals of the summary" {
	run -3 leat run --keep-going --timeline run.html flow.yaml
	printf '%s\n' "$output" >out
	cat out
	dom run.html '#open'
	rows
	[ "$(rows | tr '\n' ' ')" = 'make make.0 make.1 make.2 use use.0 use.1 use.2 fail ' ]
	for step in make.0 make.1 make.2 use.0 use.1 use.2 fail; do
		echo "$step: $(cell "$step" wall) $(cell "$step" wait) $(cell "$step" in) $(cell "$step" out)"
		[ "$(cell "$step" wall)" = "$(summary "$step" 2)" ]
		[ "$(cell "$step" wait)" = "$(summary "$step" 3)" ]
		[ "$(cell "$step" in)" = "$(summary "$step" 4)" ]
		[ "$(cell "$step" out)" = "$(summary "$step" 5)" ]
	done
	[ "$(cell use in)" = '62.9 MB' ]
	[ "$(cell fail status)" = 'exit 3' ]
	# The name is text, and the page is whole.
	grep -qF '<h1 id="title">&lt;/script&gt;&lt;b&gt;&amp;amp;</h1>' page.dom
	run ! grep -q 'Uncaught' browser.log
	# It takes nothing from anywhere.
	run ! grep -E '<link|<img|src="|@import|url\(.?http' run.html
	# Arrows: one for each file that an instance took from its partner.
	[ "$(grep -o 'class="arrow"' page.dom | wc -l)" = 3 ]
}

@test "waiting and transfer are told apart" {
	cat >slow.yaml <<-'END'
		name: slow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'until [ -e ../go ]; do sleep 0.05; done; dd if=/dev/zero of=x bs=4M count=60 status=none; sleep 0.3'
		    outports: [{filename: x, committed: on_close}]
		  - func: use
		    exec: bash -c 'dd if=x of=/dev/null bs=4M status=none; sleep 0.3'
		    inports: [{filename: x}]
	END
	waits() { leat top --once --dir work 2>/dev/null | grep -q 'use  *waiting .*waits for x of make'; }
	SECONDS=0
	leat run --timeline run.json slow.yaml 3>&- &
	# What it waits for comes at least so much later.
	soon waits
	sleep 0.5
	touch go
	wait $!
	run_s=$((SECONDS + 1))
	# seconds STEP ACTIVITY
	seconds() {
		jq --arg s "$1" --arg a "$2" '[(.traceEvents[] | select(.ph == "M" and .name == "thread_name" and
			.args.name == $s) | [.pid, .tid]) as $t | .traceEvents[] | select(.ph == "X" and
			.name == $a and [.pid, .tid] == $t) | .dur] | (add // 0) / 1e6' run.json
	}
	for step in make use; do
		echo "$step: compute $(seconds "$step" compute) transfer $(seconds "$step" transfer) wait $(seconds "$step" wait) of $run_s"
	done
	is() { jq -en "$1"; }
	is "$(seconds use wait) >= 0.49"
	is "$(seconds make wait) < $(seconds use wait)"
	is "$(seconds make compute) >= 0.7"
	is "$(seconds use compute) >= 0.25"
	is "$(seconds make transfer) >= 0.005"
	is "$(seconds use transfer) >= 0.003"
	for step in make use; do
		is "$(seconds "$step" compute) + $(seconds "$step" transfer) + $(seconds "$step" wait) <= $run_s"
	done
}

@test "a trace by the rules of its format" {
	run -3 leat run --keep-going --timeline run.json flow.yaml
	# Tasks are processes, instances threads.
	[ "$(jq -r '[.traceEvents[] | select(.name == "process_name") | .args.name] | join(" ")' run.json)" = 'make use fail' ]
	[ "$(jq -r '[.traceEvents[] | select(.name == "thread_name") | .args.name] | join(" ")' run.json)" = \
		'make.0 make.1 make.2 use.0 use.1 use.2 fail' ]
	# Every event has what the format asks for; complete events of a thread lie in one another or apart.
	jq -e 'all(.traceEvents[]; has("ph") and has("name") and has("pid") and has("tid") and
		(.ph == "M" or (.ts | type == "number")) and (.ph != "X" or (.dur | type == "number")))' run.json
	jq -e '[.traceEvents[] | select(.ph == "X" and .cat == "activity")] | group_by([.pid, .tid]) |
		all(.[]; sort_by(.ts) | . as $v | all(range(1; length); $v[.].ts >= $v[. - 1].ts + $v[. - 1].dur))' run.json
	# Bytes of the counters are those of the files: 20 MB a second is 20 bytes a microsecond.
	jq -e '[.traceEvents[] | select(.ph == "C")] | length > 0 and all(.[]; .args | has("in") and has("out"))' run.json
	# An arrow leaves a producer and meets its consumer, inside of both.
	jq -e '[.traceEvents[] | select(.ph == "s")] as $s | [.traceEvents[] | select(.ph == "f")] as $f |
		($s | length) == 3 and ($f | length) == 3 and
		all($s[]; .id as $i | . as $a | any($f[]; .id == $i and .ts >= $a.ts and .pid != $a.pid))' run.json
	jq -e '[.traceEvents[] | select(.ph == "i") | .name] | contains(["make.0/x complete"])' run.json
}

@test "launches for versions, and what is between them" {
	leat run --timeline run.html versions.yaml
	dom run.html
	[ "$(cell each launches)" = 2 ]
	[[ $(cell each rest) =~ ^[0-9]+\.[0-9]+\ s$ ]]
	grep -q 'class="row single" data-name="each"' page.dom
	leat run --timeline run.json versions.yaml
	jq -e '[.traceEvents[] | select(.name == "between launches")] | length >= 1' run.json
	jq -e '[.traceEvents[] | select(.ph == "i") | .name] | contains(["x (version 4) complete"])' run.json
}

@test "a batch has a page, too" {
	sed -i '/taskCount/d; /func: fail/,$d' flow.yaml
	leat run --plain --timeline run.html flow.yaml
	dom run.html
	[ "$(rows | tr '\n' ' ')" = 'make use ' ]
	grep -q 'on plain files' page.dom
}

@test "leat serve" {
	cat >serve.yaml <<-'END'
		name: serve
		dir: work
		tasks:
		  - func: writer
		    outports: [{filename: x}]
		  - func: reader
		    inports: [{filename: x}]
	END
	serve --timeline run.html serve.yaml
	export LEAT_DIR=$PWD/work
	(cd work && leat exec --app reader -- cat x >/dev/null) 3>&- &
	reader=$!
	(cd work && leat exec --app writer -- bash -c 'sleep 0.3; echo hello >x')
	wait $reader
	kill "$server"
	ended 0 "$server" served served.err
	dom run.html
	[ "$(rows | tr '\n' ' ')" = 'writer reader ' ]
	[ "$(cell reader in)" = '6 B' ]
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "what cannot be written is said before anything starts" {
	for command in run serve; do
		run -2 --separate-stderr leat $command --timeline run.svg flow.yaml
		[ "$stderr" = 'leat: --timeline run.svg: end its name in .html for a page, or in .json for a trace (the chart in the terminal is --chart)' ]
		run -125 --separate-stderr leat $command --timeline no/run.html flow.yaml
		echo "$stderr"
		[ "$stderr" = 'leat: cannot write the timeline no/run.html: No such file or directory' ]
		[ ! -e run.html ]
	done
	[ -z "$(ls work)" ]
	run -2 leat run --timeline .html flow.yaml
	# A disk that is full is found out at the end.
	ln -s /dev/full full.json
	run -125 leat run --timeline full.json versions.yaml
	echo "$output"
	[[ $output == *'cannot write the timeline full.json: No space left on device'* ]]
}

@test "many instances twice: the page is drawn, and opens" {
	local n
	n=$(up_to 64 256)
	sed -i "s/taskCount: 3/taskCount: $n/"'; s/sleep 0.2; //; s/; sleep 0.1//; s/bs=1M count=20/bs=1k count=1/; /func: fail/,$d' flow.yaml
	timeout 200 leat run --quiet --timeline run.html flow.yaml
	dom run.html
	[ "$(rows | tr '\n' ' ')" = 'make use ' ]
	dom run.html '#open'
	[ "$(rows | wc -l)" = $((2 * n + 2)) ]
}
