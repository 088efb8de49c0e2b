#!/usr/bin/env bats
# leat trace --tracer ptrace: what it does not change, and what it says of what it cannot see.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	odd=$LEAT_BUILD/tests/trace/trace-odd
	run leat trace --tracer ptrace -o probe.csv -- true
	[ "$status" = 0 ] || skip "${lines[0]#leat: }"
}

# Of a test that failed: leat asks the command to end, and is there until all that it traces has. The directory, in
# which these look for "stop", must not go before.
teardown() {
	local job
	touch stop
	for job in $(jobs -p); do
		kill "$(pgrep -P "$job" -x leat || echo "$job")" 2>/dev/null || true
	done
	[ -z "$(jobs -p)" ] || soon all_ended || {
		pkill -KILL -P "$(jobs -p | paste -sd,)"
		return 1
	}
}

# all_ended: nothing that the test has started in the background runs.
all_ended() {
	[ -z "$(jobs -pr)" ]
}

# traced COMMAND...: into t.csv.
traced() {
	leat trace --tracer ptrace -o t.csv -- "$@"
}

@test "exit codes and signals are those of the command" {
	run traced sh -c 'exit 0'
	[ "$status" = 0 ]
	run traced sh -c 'exit 255'
	[ "$status" = 255 ]
	run traced sh -c 'kill -TERM $$'
	[ "$status" = 143 ]
	run traced sh -c 'kill -KILL $$'
	[ "$status" = 137 ]
	run traced sh -c 'ulimit -c 0; kill -SEGV $$'
	[ "$status" = 139 ]
	run -127 traced ./no-such-program
	[ "$status" = 127 ]
	[[ $output == *"cannot execute ./no-such-program: No such file or directory"* ]]
	touch plain
	run traced ./plain
	[ "$status" = 126 ]
	[[ $output == *"Permission denied"* ]]
}

@test "the command's signals are as without leat" {
	local plain
	plain=$("$odd" mask)
	[ "$(traced "$odd" mask 2>/dev/null)" = "$plain" ]
	plain=$(trap '' INT HUP TERM USR1 CHLD && "$odd" mask)
	[ "$(trap '' INT HUP TERM USR1 CHLD && traced "$odd" mask 2>/dev/null)" = "$plain" ]
}

@test "a handler runs, a signal from outside arrives, SIGTERM to leat asks the command to end" {
	run traced bash -c 'trap "echo caught" USR1; kill -USR1 $$; echo on'
	[ "$status" = 0 ]
	[[ $output == *caught*on* ]]
	traced bash -c 'trap "echo asked; exit 5" TERM; echo >ready; while :; do sleep 0.05; done' >out 2>err 3>&- &
	local leat=$!
	soon test -s ready
	# bash runs traced as a child of its own
	kill -TERM "$(pgrep -P "$leat" -x leat || echo "$leat")"
	ended 5 "$leat" out err
	grep -q asked out
	grep -q 'none lost' err
}

@test "the processors that the command may use are as without leat" {
	local plain
	plain=$("$odd" processors)
	[ "$(traced "$odd" processors 2>/dev/null)" = "$plain" ]
	[ "$(taskset -c 0 "$LEAT_BUILD/src/cli/leat" trace --tracer ptrace -o t.csv -- "$odd" processors 2>/dev/null)" = \
		"$(taskset -c 0 "$odd" processors)" ]
}

# allowed PID: the processors it may use.
allowed() {
	awk '/^Cpus_allowed_list:/ {print $2}' "/proc/$1/status" 2>/dev/null
}

# one_processor PID
one_processor() {
	[[ $(allowed "$1") =~ ^[0-9]+$ ]]
}

# all_processors PID
all_processors() {
	[ "$(allowed "$1")" = "$(allowed self)" ]
}

# Starts a program, $pid, that writes alone, until there is a file "stop", and once something has been written to the
# fifo "go" another one that makes calls; with leat, $leat, it is on one processor then. leat lets go of it where others
# want the processor, which nobody does of one that comes first.
start_writer() {
	local first=()
	[[ ! $(allowed self) =~ ^[0-9]+$ ]] || skip "there is one processor only"
	! chrt -f 1 true 2>/dev/null || first=(chrt -f 1)
	mkfifo go
	"${first[@]}" leat trace --tracer ptrace -o t.csv -- bash -c '"$0" writes & echo $! >pid; read -r x <go; while [ ! -e stop ]; do read -r x <pid; done; wait' \
		"$odd" >out 2>err 3>&- &
	leat=$!
	soon test -s pid
	pid=$(cat pid)
	soon together || {
		[ ${#first[@]} -gt 0 ] || skip "others may want the processors, and this user cannot come first"
		return 1
	}
}

together() {
	one_processor "$pid" && one_processor "$leat"
}

stop_writer() {
	touch stop
	ended 0 "$leat" out err
	grep -q 'none lost' err
}

@test "a thread that alone makes many calls shares a processor with leat until another makes one" {
	local leat pid
	start_writer
	echo >go
	soon all_processors "$pid"
	stop_writer
}

@test "a processor that somebody gives the thread meanwhile remains its own" {
	local leat pid all other
	start_writer
	all=$(allowed self)
	other=${all%%[-,]*}
	[ "$(allowed "$pid")" != "$other" ] || other=${all##*[-,]}
	taskset -cp "$other" "$pid"
	echo >go
	sleep 0.3
	[ "$(allowed "$pid")" = "$other" ]
	stop_writer
}

state() {
	[[ $(awk '/^State:/ {print $2}' "/proc/$1/status") == "$2"* ]]
}

@test "a stopped command stays stopped until it is continued" {
	traced bash -c 'echo $$ >pid; kill -STOP $$; echo on; exit 4' >out 2>err 3>&- &
	local leat=$! pid
	soon test -s pid
	pid=$(cat pid)
	soon state "$pid" t
	sleep 0.2
	[ ! -s out ]
	kill -CONT "$pid"
	ended 4 "$leat" out err
	grep -q on out
}

@test "on a terminal: Ctrl-C ends the command, Ctrl-Z and fg stop and continue it" {
	cat >terminal.py <<-'END'
		import glob, os, pty, re, select, sys, time

		# The shell waits for its child only, which is leat: `cat` may be at its read a moment longer, and take
		# the next line.
		def wait_until_stopped(name, session):
		    end = time.time() + 20
		    while time.time() < end:
		        for path in glob.glob("/proc/[0-9]*/stat"):
		            try: text = open(path).read()
		            except OSError: continue
		            fields = text[text.rindex(")") + 2:].split()
		            if f"({name})" in text and fields[3] == str(session) and fields[0] in "Tt":
		                return
		        time.sleep(0.01)
		    sys.exit(f"waited for {name} to be stopped")

		def expect(fd, pattern, seen=b""):
		    end = time.time() + 20
		    while not re.search(pattern, seen):
		        if time.time() > end or not select.select([fd], [], [], 20)[0]:
		            sys.exit(f"waited for {pattern}, saw {seen!r}")
		        seen += os.read(fd, 4096)
		    return seen

		pid, fd = pty.fork()
		if pid == 0:
		    os.environ["PS1"] = "READY> "
		    os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
		expect(fd, b"READY> ")
		os.write(fd, b"leat trace --tracer ptrace -o c.csv -- sh -c 'echo go-on; sleep 60'; echo status=$?\n")
		expect(fd, rb"\ngo-on")
		time.sleep(0.2)
		os.write(fd, b"\x03")
		expect(fd, rb"status=130[\s\S]*READY> ")
		os.write(fd, b"leat trace --tracer ptrace -o z.csv -- cat; echo status=$?\n")
		expect(fd, rb"status=.*\n")
		os.write(fd, b"one\n")
		expect(fd, rb"one\r\none\r\n")
		os.write(fd, b"\x1a")
		expect(fd, rb"Stopped.*READY> ".replace(b".*", rb"[\s\S]*"))
		wait_until_stopped("cat", pid)
		os.write(fd, b"fg\n")
		expect(fd, rb"leat trace[\s\S]*\n")
		os.write(fd, b"two\n")
		expect(fd, rb"two\r\ntwo\r\n")
		os.write(fd, b"\x04")
		expect(fd, rb"READY> ")
		os.write(fd, b"exit\n")
	END
	/usr/bin/python3 -B terminal.py
}

@test "an ordinary user" {
	[ "$(id -u)" = 0 ] || skip "the other tests are an ordinary user's"
	chmod 777 .
	run nobody "$(command -v leat)" trace --tracer ptrace -o /dev/null -- sh -c 'echo hello >his; cat his'
	[ "$status" = 0 ] || [[ $output == *"/dev/null"* ]]
	mkdir -m 777 open
	cd open
	run nobody "$(command -v leat)" trace --tracer ptrace -o t.csv -- sh -c 'echo hello >his; cat his'
	[ "$status" = 0 ]
	grep -q ',C,0,.*/his"' t.csv
	cp "$(command -v id)" ./id
	chmod 4755 ./id
	run nobody "$(command -v leat)" trace --tracer ptrace -o t.csv -- ./id -u
	[ "$status" = 0 ]
	[[ $output == *"runs a setuid program"* ]]
	[[ $output == *65534* ]]
	# a program that may be executed, but not read
	cp "$(command -v cat)" ./cat
	chmod 711 ./cat
	run nobody "$(command -v leat)" trace --tracer ptrace -o t.csv -- ./cat his
	[ "$status" = 0 ]
	[[ $output == *hello* ]]
	[[ $output == *"may not look at"* ]]
	[[ $output == *"lost:"* ]]
}

@test "a static program, and thousands of processes" {
	need busybox
	printf 'b\na\n' >in
	run traced busybox sort in
	[ "$status" = 0 ]
	[[ $output == *a*b* ]]
	grep -q ',O,0,.*/in"' t.csv
	leat trace --tracer ptrace -o n.csv -- bash -c 'for i in {1..500}; do (read -r x <in); done' 2>err
	grep -q ' of 501 processes; none lost' err
	[ "$(grep -c ',exit,' n.pids.csv)" = 501 ]
}

@test "what is not seen is said and counted: io_uring, kernel AIO" {
	run traced "$odd" uring
	[ "$status" != 77 ] || skip "there is no io_uring here"
	[ "$status" = 0 ]
	# The other request is about no file.
	[[ $output == *"uses io_uring"* ]]
	[[ $output == *"lost: 1 "* ]]
	grep -q '^# end: .*lost_unseen 1$' t.csv
	run traced "$odd" aio
	[ "$status" != 77 ] || skip "there is no kernel AIO here"
	[ "$status" = 0 ]
	[[ $output == *"the kernel's AIO"* ]]
	[[ $output == *"lost: 1 "* ]]
}

@test "a ring that only changes what epoll waits for, as those of event loops, hides nothing" {
	run traced "$odd" events
	[ "$status" != 77 ] || skip "there is no io_uring here"
	[ "$status" = 0 ]
	[[ $output != *"uses io_uring"* && $output == *"none lost"* ]]
}

@test "a 32-bit program runs, and is said not to be seen" {
	[ "$(uname -m)" = x86_64 ] || skip "not x86_64"
	cat >old.s <<-'END'
		.globl _start
		.section .data
		name: .asciz "made"
		.text
		_start:	movl $8, %eax	# creat
			movl $name, %ebx
			movl $0600, %ecx
			int $0x80
			movl %eax, %ebx
			movl $4, %eax	# write
			movl $name, %ecx
			movl $4, %edx
			int $0x80
			movl $1, %eax	# exit
			movl $0, %ebx
			int $0x80
	END
	as --32 -o old.o old.s && ld -m elf_i386 -o old old.o || skip "no 32-bit assembler"
	./old || skip "no 32-bit programs here"
	rm made
	run traced ./old
	[ "$status" = 0 ]
	[ "$(cat made)" = made ]
	[[ $output == *"32-bit program"* ]]
	[[ $output == *"lost: 2 "* ]]
}

@test "a child that asks not to be traced is followed all the same" {
	run traced "$odd" untraced
	[ "$status" = 0 ]
	grep -q ',C,0,.*/untraced"' t.csv
}

# attached PID: somebody traces it.
attached() {
	grep -q '^TracerPid:.[1-9]' "/proc/$1/status"
}

# longer FILE BYTES: by the lines of some rounds.
longer() {
	[ "$(stat -c %s "$1")" -gt $(($2 + 10)) ]
}

@test "processes that run already: --pid, with their threads and children" {
	bash -c 'echo $$ >pid; exec >&-; while :; do echo x >>log; (echo y >>child); sleep 0.02; done' &
	local shell=$! leat
	soon test -s child
	leat trace --tracer ptrace -o p.csv --pid "$shell" 2>err 3>&- &
	leat=$!
	soon attached "$shell"
	soon longer child "$(stat -c %s child)"
	kill -TERM "$leat"
	ended 0 "$leat" err
	# it goes on
	soon longer log "$(stat -c %s log)"
	kill "$shell"
	wait "$shell" || true
	cat err
	grep -q ',W,2,.*' p.csv
	grep -q '/child"' p.csv
	grep -q ',exec,.*/bash"' p.pids.csv
	# Children begin and end while it looks for them.
	bash -c 'while [ ! -e stop ]; do (:) & (:) & (:) & wait; done' 3>&- &
	shell=$!
	for _ in 1 2 3 4 5; do
		leat trace --tracer ptrace -o q.csv --pid "$shell" 2>err 3>&- &
		leat=$!
		soon attached "$shell"
		kill -TERM "$leat"
		ended 0 "$leat" err
	done
	touch stop
	wait "$shell"
	run leat trace --tracer ptrace -o p.csv --pid 999999999
	[ "$status" = 125 ]
	[[ $output == *"no such process"* ]]
}

# same_bytes COMMAND...: as strace says.
same_bytes() {
	rm -rf one two
	mkdir one two
	cp -r in one 2>/dev/null
	cp -r in two
	(cd one && strace -f -y -qq -s0 -o ../s.log -e trace='desc,file' "$@" >/dev/null 2>&1)
	(cd two && leat trace --tracer ptrace -o ../l.csv -- "$@" >/dev/null 2>&1)
	# temporary files of sort have random names
	"$LEAT_SOURCE_DIR/tests/trace/sums" --strace s.log "$PWD/one" |
		sed -E "s|$PWD/one/||; s/^sort.{6} /sort /" | sort >by_strace
	"$LEAT_SOURCE_DIR/tests/trace/sums" l.csv "$PWD/two" |
		sed -E "s|$PWD/two/||; s/^sort.{6} /sort /" | sort >by_leat
	diff by_strace by_leat && [ -s by_leat ]
}

@test "bytes of each file, as strace counts them" {
	need strace sort gzip tar python3
	seq 200000 | shuf --random-source=<(yes) >in
	same_bytes sort -S 1M --parallel=2 -T . -o out in
	same_bytes gzip -k in
	same_bytes tar cf out.tar in
	same_bytes cp in copy
	same_bytes dd if=in of=out bs=3k seek=5
	# bash makes three calls a line, and strace is slow
	same_bytes bash -c 'head -n 5000 in >few; while read -r line; do echo "$line"; done <few >out; wc -l out >>in'
	same_bytes /usr/bin/python3 -B -c 'open("out", "w").writelines(sorted(open("in")))'
}
