#!/usr/bin/env bats
# leat trace --tracer ebpf: what it keeps out, what it counts, what it cannot see. That it records the
# same as the others is in 1700-trace.bats.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	leat trace --tracer ebpf -o probe.csv -- true 2>messages || skip "$(sed 's/^leat: //;q' messages)"
}

teardown() {
	# shellcheck disable=SC2046
	[ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true
}

# traced OPTION... -- COMMAND...: trace it into t.csv; what leat says is in `messages`.
traced() {
	leat trace --tracer ebpf -o t.csv "$@" 2>messages
}

# rows [PATTERN]: how many calls, of those that match, are in t.csv.
rows() {
	grep -v '^#\|^time_start' t.csv | grep -c "${1:-}" || true
}

@test "filters: types, directories, file systems" {
	mkdir a b
	traced --types W --dir a --dir b/ -- sh -c 'echo 1 >a/x; echo 2 >b/y; echo 3 >c; cat a/x'
	[ "$(rows)" = 2 ]
	[ "$(rows ,W,)" = 2 ]
	traced --dir a -- sh -c 'mkdir a/d; echo 1 >a/d/x; echo 3 >c; rm c; mv a/d/x a/y; cat a/none || :' >/dev/null
	[ "$(rows ,C,0,)" = 1 ]
	[ "$(rows ,N,0,)" = 1 ]
	[ "$(rows ,U,)" = 0 ]
	[ "$(rows ",O,-2,.*\"$PWD/a/none\"")" = 1 ]
	# by another name of the same directory
	ln -s a link
	traced --dir link -- sh -c 'echo 1 >a/z'
	[ "$(rows ,C,0,)" = 1 ]
	traced --filesystem proc -- sh -c 'cat /proc/self/status a/y' >/dev/null
	[ "$(rows ,O,0,)" -ge 1 ]
	[ "$(rows ',O,0.*"/[^p]')" = 0 ]
}

@test "filters: users" {
	[ "$(id -u)" = 0 ] || skip "only root can be two users"
	chmod 777 .
	traced --user nobody --dir . -- sh -c 'echo 1 >mine; setpriv --reuid=65534 --clear-groups sh -c "echo 2 >his"'
	[ "$(rows /his)" = 1 ]
	[ "$(rows /mine)" = 0 ]
}

@test "only the command and its descendants, to the last of them" {
	(while :; do echo x >>other; sleep 0.01; done) 3>&- &
	traced --dir . -- sh -c '(sleep 0.3; echo late >late) & echo first >first'
	kill %1
	[ "$(rows /first)" = 1 ]
	[ "$(rows /late)" = 1 ]
	[ "$(rows /other)" = 0 ]
	[ "$(grep -c ',fork,' t.pids.csv)" = "$(grep -c ',exit,' t.pids.csv)" ]
}

# In a container processes have other numbers than the kernel knows them by.
@test "in a namespace of processes of its own, and of one below it" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	run unshare --pid --fork --mount-proc leat trace --tracer ebpf -o t.csv -- \
		bash -c 'dd if=/dev/zero of=one bs=4k count=100 status=none
			unshare --pid --fork --mount-proc dd if=one of=two bs=4k status=none'
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"calls of 3 processes; none lost"* ]]
	# the first is that of the tracer
	[ "$(awk -F, '$5 == "fork" { print $2 "-" $3 }' t.pids.csv | xargs)" = "1-2 2-3 2-4" ]
	[ "$(awk -F, '$5 == "exit" { print $3 }' t.pids.csv | xargs)" = "3 4 2" ]
	[ "$(grep -c ',W,' t.csv)" = 200 ]
}

@test "processes that run already, with --pid" {
	sh -c 'while [ ! -e end ]; do echo 1 >one; sh -c "echo 2 >two"; sleep 0.1; done' 3>&- &
	leat trace --tracer ebpf --dir . --pid $! -o t.csv 2>messages 3>&- &
	soon grep -q '/two"' t.csv
	touch end
	wait
	grep -q 'none lost' messages
	[ "$(rows '/one"')" -ge 1 ]
	traced --pid 999999999 && return 1
	grep -q 999999999 messages
}

@test "the whole machine, with --all" {
	leat trace --tracer ebpf --all --dir . -o all.csv 2>messages 3>&- &
	local tracer=$!
	for _ in $(seq 50); do
		echo 1 >seen
		sleep 0.1
		! grep -q '/seen' all.csv || break
	done
	kill -TERM "$tracer"
	wait "$tracer"
	grep -q '/seen' all.csv
	grep -q 'none lost' messages
}

# records: how many there were of calls and of processes, those that were lost with them.
records() {
	awk '$2 == "end:" { print $4 + $6 + $8 }' t.csv
}

@test "what does not fit into the buffer is counted, to the record" {
	local all
	# leat, which else may keep up, is stopped while this runs.
	local unheard='kill -STOP $PPID; dd if=in of=/dev/null bs=1 status=none; kill -CONT $PPID'
	head -c 200000 /dev/zero >in
	traced --buffer 1M -- sh -c "$unheard"
	cat messages
	grep -q 'lost: [0-9]* (buffer)' messages
	all=$(records)
	head -c 1 /dev/zero >in
	traced -- sh -c "$unheard"
	# a read and a write of each byte
	[ "$all" = $(($(records) + 2 * 199999)) ]
}

@test "each handle is closed once" {
	traced -- bash -c 'for i in 1 2 3; do cat /etc/hosts >out.$i; done; exec 5>keep; sleep 0.05 5>&5
		(echo x >&5) & (exec 5>&-) ; wait; sort /etc/passwd >s 2>&1; exec 6<keep 7<&6; kill -9 $$' || true
	cat messages
	/usr/bin/python3 -B - <<-'END'
		import csv
		rows = list(csv.DictReader(l for l in open("t.csv") if not l.startswith("# ")))
		opened = [r["handle"] for r in rows if r["type"] in "OC" and r["result"] == "0"]
		closed = [r["handle"] for r in rows if r["type"] == "X"]
		assert len(set(opened)) == len(opened), "a handle was used twice"
		assert sorted(opened) == sorted(closed), set(opened) ^ set(closed)
		ends = [float(r["time_end"]) for r in rows]
		assert ends == sorted(ends), "not in the order of their end"
	END
}

@test "paths longer than any call may be given are whole" {
	cat >deep.py <<-'END'
		import os
		for i in range(20):
		    os.mkdir("d" * 250)
		    os.chdir("d" * 250)
		open("deep", "w").close()
		os.unlink("deep")
	END
	traced --dir . -- /usr/bin/python3 -B deep.py
	cat messages
	grep -q 'none lost' messages
	/usr/bin/python3 -B - "$PWD" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(l for l in open("t.csv") if not l.startswith("# ")))
		path = sys.argv[1] + ("/" + "d" * 250) * 20 + "/deep"
		assert [r["type"] for r in rows if r["path"] == path] == ["C", "U"]
	END
	rm -rf d*
}

@test "io_uring is seen, kernel AIO is counted as unseen" {
	need fio
	local options=(--name=u --rw=write --bs=4k --size=1m --filename=u.dat --iodepth=8 --direct=0 --minimal)
	fio --ioengine=io_uring "${options[@]}" >/dev/null 2>&1 || skip "there is no io_uring here"
	traced --dir . -- fio --ioengine=io_uring "${options[@]}" >/dev/null
	grep -q 'none lost' messages
	[ "$(rows ,W,4096,)" = 256 ]
	/usr/bin/python3 -B - <<-'END'
		import csv
		rows = list(csv.DictReader(l for l in open("t.csv") if not l.startswith("# ")))
		offsets = sorted(int(r["offset"]) for r in rows if r["type"] == "W")
		assert offsets == list(range(0, 1 << 20, 4096))
	END
	traced --dir . -- fio --ioengine=libaio "${options[@]}" >/dev/null
	grep -q 'lost: 256 (unseen)' messages
}

@test "statuses, and programs that cannot be executed" {
	run leat trace --tracer ebpf -o t.csv -- sh -c 'exit 7'
	[ "$status" = 7 ]
	run leat trace --tracer ebpf -o t.csv -- sh -c 'kill -9 $$'
	[ "$status" = 137 ]
	run -127 leat trace --tracer ebpf -o t.csv -- ./none
	[[ $output == *'cannot execute ./none: No such file'* ]]
	run leat trace --tracer ebpf -o t.csv -- /etc/passwd
	[ "$status" = 126 ]
}

@test "without the rights it says so" {
	[ "$(id -u)" = 0 ] || skip "only root can give up rights"
	chmod 777 .
	run nobody leat trace --tracer ebpf -o t.csv -- true
	[ "$status" = 125 ]
	[[ $output == *'run it as root'* ]]
}

@test "the same under a kernel with hooks on functions" {
	[ -n "${LEAT_GUEST:-}" ] || skip "LEAT_GUEST=1 boots a guest, which takes minutes"
	run "$LEAT_SOURCE_DIR/tests/guest/run" "$LEAT_SOURCE_DIR/tests/guest/ebpf"
	echo "$output"
	[ "$status" != 77 ] || skip "${lines[-1]}"
	[ "$status" = 0 ]
}
