#!/usr/bin/env bats
# leat trace --tracer preload, leat run --trace: what the library records of real programs, and what
# is said of those that it does not see.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	run leat trace --tracer preload -o probe.csv -- true
	[ "$status" = 0 ] || skip "${lines[0]#leat: }"
}

traced() {
	leat trace --tracer preload -o t.csv -- "$@"
}

# tell WHAT: of t.csv, "moved TYPE" (bytes by name of the file's last component), "open" (handles
# that were never closed), "order" (records before one that ended earlier), "threes" (names that
# were opened so often).
tell() {
	/usr/bin/python3 -B - "$@" <<-'END'
		import collections, csv, os, sys
		from decimal import Decimal
		with open("t.csv", errors="surrogateescape", newline="") as f:
		    rows = list(csv.DictReader(l for l in f if not l.startswith("# ")))
		names, moved, opened = {}, collections.Counter(), set()
		for r in rows:
		    if r["type"] in "OC" and r["handle"] != "0":
		        assert r["handle"] not in names, "a handle was used again"
		        names[r["handle"]] = os.path.basename(r["path"])
		        opened.add(r["handle"])
		    if r["type"] == "X":
		        opened.remove(r["handle"])
		    if sys.argv[1] == "moved" and r["type"] == sys.argv[2]:
		        moved[names[r["handle"]]] += max(0, int(r["result"]))
		if sys.argv[1] == "moved":
		    for name in sys.argv[3:]:
		        print(name, moved[name])
		if sys.argv[1] == "open":
		    print(len(opened))
		if sys.argv[1] == "order":
		    ends = [Decimal(r["time_end"]) for r in rows]
		    print(sum(a > b for a, b in zip(ends, ends[1:])))
	END
}

@test "bytes of a sort with files for what does not fit" {
	seq 1 60000 | shuf --random-source=<(yes) >in
	traced sort -S 200K -T . -o out in
	[ "$(tell moved R in)" = "in $(stat -c %s in)" ]
	[ "$(tell moved W out)" = "out $(stat -c %s out)" ]
	[ "$(tell open)" = 0 ]
	[ "$(tell order)" = 0 ]
}

@test "a ring of io_uring counts as unseen if it can move bytes, not if it only changes what epoll waits for" {
	local odd=$LEAT_BUILD/tests/trace/trace-odd
	run traced "$odd" uring
	[ "$status" != 77 ] || skip "there is no io_uring here"
	[ "$status" = 0 ]
	[[ $output == *"1 process used io_uring or kernel AIO"* && $output == *"lost: 1 (unseen)"* ]]
	run traced "$odd" events
	[ "$status" = 0 ]
	# As the rings of event loops, those of leat itself among them.
	[[ $output != *"used io_uring"* && $output == *"none lost"* ]]
}

@test "a shell: redirections, pipes, descriptors that are handed on, appended files" {
	traced bash -c 'echo one >a; (echo two; /bin/echo three) >>a; exec 5<a; read -r x <&5; cat <&5 >b; cat b | tail -n1 >c'
	[ "$(cat a b c)" = $'one\ntwo\nthree\ntwo\nthree\nthree' ]
	[ "$(tell moved W a b c)" = $'a 14\nb 10\nc 6' ]
	[ "$(tell open)" = 0 ]
}

@test "threads that open, write and close at the same time" {
	cat >threads.py <<-'END'
		import threading
		def work(n):
		    for i in range(50):
		        with open(f"f{n}", "a") as f:
		            f.write("0123456789")
		threads = [threading.Thread(target=work, args=(n,)) for n in range(30)]
		[t.start() for t in threads]
		[t.join() for t in threads]
	END
	traced /usr/bin/python3 -B threads.py
	[ "$(tell moved W f0 f29)" = $'f0 500\nf29 500' ]
	[ "$(tell open)" = 0 ]
	[ "$(tell order)" = 0 ]
}

@test "signal handlers that write, in the middle of writes" {
	cat >signals.py <<-'END'
		import os, signal
		log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
		count = 0
		def handler(*unused):
		    global count
		    count += os.write(log, b"x")
		signal.signal(signal.SIGALRM, handler)
		signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
		with open("data", "wb", buffering=0) as f:
		    for i in range(60000):
		        f.write(b"y")
		signal.setitimer(signal.ITIMER_REAL, 0)
	END
	traced /usr/bin/python3 -B signals.py
	[ "$(tell moved W data log)" = "data 60000"$'\n'"log $(stat -c %s log)" ]
}

@test "children by fork, vfork and posix_spawn" {
	cat >children.py <<-'END'
		import os, subprocess
		out = os.open("out", os.O_WRONLY | os.O_CREAT)
		for i in range(5):
		    subprocess.run(["echo", "12345"], stdout=out, cwd="/")
		    pid = os.posix_spawn("/bin/echo", ["echo", "678"], os.environ,
		                         file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
		    os.waitpid(pid, 0)
		    if os.fork() == 0:
		        os.write(out, b"9")
		        os._exit(0)
		    os.wait()
	END
	traced /usr/bin/python3 -B children.py
	[ "$(tell moved W out)" = "out $(stat -c %s out)" ]
	[ "$(tell open)" = 0 ]
	[ "$(grep -c ',fork,' t.pids.csv)" = 16 ]
	[ "$(grep -c ',exit,0,' t.pids.csv)" = 16 ]
}

@test "a process that is killed: what it had recorded is there, its files are closed" {
	run leat trace --tracer preload -o t.csv -- bash -c 'dd if=/dev/zero of=x bs=64 count=1000 status=none
		exec 7>held; echo here >&7; kill -9 $$'
	[ "$status" = 137 ]
	[ "$(tell moved W x held)" = $'x 64000\nheld 5' ]
	[ "$(tell open)" = 0 ]
	grep -q ',exit,9,' t.pids.csv
}

@test "little space: the program waits, nothing is lost" {
	leat trace --tracer preload --buffer 1M -o t.csv -- dd if=/dev/zero of=x bs=16 count=200000 status=none 2>said
	[ "$(tell moved W x)" = "x 3200000" ]
	grep -q 'none lost' said
}

@test "what outlives the command is traced to its end" {
	run leat trace --tracer preload -o t.csv -- bash -c '(sleep 0.3; echo late >late) & exit 3'
	[ "$status" = 3 ]
	[ "$(tell moved W late)" = "late 5" ]
}

@test "statically linked programs are named and counted" {
	command -v busybox >/dev/null || skip "busybox is not installed"
	file -L "$(command -v busybox)" | grep -q 'statically linked' || skip "busybox is not static"
	traced bash -c 'busybox true; busybox cat probe.csv >/dev/null' 2>said
	grep -q 'busybox ran 2 times unseen: statically linked' said
	grep -q 'lost: 2 (unseen)' said
	grep -q 'lost_unseen 2' t.csv
	[ "$(grep -c ',exec,.*busybox' t.pids.csv)" = 2 ]
	run leat trace --tracer preload -o t.csv -- busybox true
	[ "$status" = 125 ]
	[[ $output == *"statically linked; use --tracer ptrace"* ]]
}

@test "Go programs are named and counted, also those that load the library" {
	need seqkit
	printf '>a\nACGT\n' >in.fa
	traced bash -c 'seqkit seq in.fa >out.fa; seqkit seq <in.fa >out.fa' 2>said
	[ "$(cat out.fa)" = $'>a\nACGT' ]
	grep -q 'seqkit ran 2 times unseen: a Go program' said
	grep -q 'lost: 2 (unseen)' said
	run leat trace --tracer preload -o t.csv -- seqkit version
	[ "$status" = 125 ]
	[[ $output == *"a Go program"*"use --tracer ptrace"* ]]
}

@test "an environment that is emptied, a directory that is left" {
	mkdir deep
	traced bash -c 'cd deep; env -i /bin/sh -c "echo x >y"; cd ..; rm deep/y'
	[ "$(tell moved W y)" = "y 2" ]
	grep -q ",C,0,.*\"$PWD/deep/y\"" t.csv
	grep -q ",U,0,.*\"$PWD/deep/y\"" t.csv
}

@test "a file removed and made again is another one" {
	traced bash -c 'for i in 1 2 3 4 5; do echo $i >f; rm f; done'
	[ "$(grep -c ',C,0,.*/f"' t.csv)" = 5 ]
	[ "$(grep ',C,0,.*/f"' t.csv | cut -d, -f8 | sort -u | wc -l)" = 5 ]
}

workflow() {
	mkdir work
	cat >flow.yaml <<-'END'
		name: traced
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'dd if=/dev/zero of=x bs=4k count=100 status=none; echo u >other; mv other o2'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash -c 'cat x | wc -c >n'
		    inports: [{filename: x}]
		    outports: [{filename: n}]
	END
}

@test "leat run --trace: served files, each step labelled" {
	workflow
	leat run --quiet --trace t.csv flow.yaml
	[ "$(cat work/n)" = 409600 ]
	[ "$(tell moved W x n other)" = $'x 409600\nn 7\nother 2' ]
	[ "$(tell moved R x)" = "x 409600" ]
	[ "$(tell open)" = 0 ]
	grep -q ',exec,.*LEAT_APP_NAME=make' t.pids.csv
	grep -q ',exec,.*LEAT_APP_NAME=use' t.pids.csv
	grep -q ',C,0,.*"'"$PWD"'/work/x"' t.csv
}

@test "leat run --plain --trace: the same calls on plain files" {
	workflow
	leat run --quiet --plain --trace t.csv flow.yaml
	[ "$(tell moved W x n other)" = $'x 409600\nn 7\nother 2' ]
	[ "$(tell moved R x)" = "x 409600" ]
	grep -q ',N,0,.*"'"$PWD"'/work/other"' t.csv
}

@test "leat run inside leat trace" {
	workflow
	# A leat with a sanitizer wants to be the first of its libraries.
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 traced leat run --quiet flow.yaml
	[ "$(cat work/n)" = 409600 ]
	[ "$(tell moved W x)" = "x 409600" ]
}

@test "what runs in another namespace of processes is counted as unseen" {
	unshare --user --map-root-user --pid --fork true || skip "no namespaces here"
	local proc
	for proc in --mount-proc --; do
		leat trace --tracer preload -o t.csv -- \
			unshare --user --map-root-user --pid --fork $proc sh -c 'echo x >out; cat out; true' 2>messages
		cat messages
		grep -Eq 'sh ran 1 time unseen: it is in a namespace of processes of its own \(a container\)' messages
		grep -Eq '^# unseen,1,"[^"]*sh","it is in a namespace' t.pids.csv
		grep -Eq 'lost: [1-9][0-9]* \(unseen\)' messages
		[ "$(grep -vc '^#\|^time' t.pids.csv)" = 3 ]
	done
}
