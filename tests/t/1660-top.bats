#!/usr/bin/env bats
# leat top: once, and on a terminal with keys, signals, a run that ends and a daemon that is stopped.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'echo hello >x; while [ ! -e ../go ]; do sleep 0.05; done; sleep 0.2'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash -c 'cat x >copy'
		    inports: [{filename: x}]
		    outports: [{filename: copy}]
		  - func: spin
		    exec: bash -c 'while [ ! -e ../go ]; do :; done'
	END
	export LEAT_DIR=$PWD/work TERM=xterm
}

teardown() {
	touch go
	[ -z "${run_pid:-}" ] || ! kill "$run_pid" 2>/dev/null || wait "$run_pid" || true
	nothing_left
}

# begin: the workflow runs, until there is a file `go`.
begin() {
	leat run --quiet flow.yaml >run.out 2>&1 3>&- &
	run_pid=$!
	soon waits
}
waits() { leat top --once 2>/dev/null | grep -q 'use  *waiting .*waits for x of make'; }

# end: let it end.
end() {
	touch go
	wait "$run_pid"
	run_pid=
}

# screen SCRIPT: leat top on a terminal of 24 lines and 100 columns, played by a Python script with
# `send(text)`, `screen()` what has been drawn, `until(text)`, `resize(lines, columns)` and `top`, the
# process. It prints the status, and whether the terminal was given back.
screen() {
	cat >play.py <<-'END'
		import fcntl, os, pty, pyte, re, select, signal, struct, sys, termios, time
		arguments = sys.argv[2:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("leat", ["leat", "top", "--interval", "0.2"] + arguments)
		drawn = b""
		terminal = pyte.Screen(100, 24)
		stream = pyte.ByteStream(terminal)
		def resize(lines, columns):
		    terminal.resize(lines, columns)
		    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
		resize(24, 100)
		def read(seconds=0.1):
		    global drawn
		    end = time.monotonic() + seconds
		    while select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
		        try:
		            more = os.read(fd, 65536)
		        except OSError:
		            return False
		        drawn += more
		        stream.feed(more)
		    return True
		def screen():
		    return "\n".join(line.rstrip() for line in terminal.display)
		def until(text, seconds=15):
		    end = time.monotonic() + seconds
		    while not re.search(text, screen()):
		        if not read() or time.monotonic() > end:
		            if re.search(text, screen()):
		                return
		            sys.exit(f"no {text!r} in {screen()!r}")
		def send(text):
		    os.write(fd, text.encode())
		exec(open(sys.argv[1]).read())
		end = time.monotonic() + 10
		while read() and time.monotonic() < end:
		    pass
		status = os.waitpid(pid, 0)[1]
		print("status", os.waitstatus_to_exitcode(status))
		print("given back" if b"\x1b[?1049l" in drawn else "not given back")
		print(screen())
	END
	printf '%s\n' "$1" >script.py
	/usr/bin/python3 -B play.py script.py "${@:2}"
}

# spun: the step that spins has used a CPU for 0.1 s.
spun() {
	leat status --json | jq -e '.steps[] | select(.name == "spin") | .cpu_ns > 100000000'
}

# has_waited: the step that waits has done so for most of its time, and for no more than that.
has_waited() {
	leat status --json | jq -e '(.steps[] | select(.name == "use")) as $u |
		(.now_ns - $u.start_ns) as $wall | $u.wait_ns > $wall * 0.5 and $u.wait_ns < $wall * 1.1'
}

@test "one plain screen" {
	begin
	leat top --once >out
	cat out
	run ! grep -q $'\033' out
	grep -qE '^flow in .*/work, [0-9.]+ s$' out
	grep -qE '^3 steps: 2 computing, 1 waiting, 0 done, 0 failed, 0 not started$' out
	grep -qE '^memory for files: .* of .*, spilled to disk 0 B$' out
	grep -qE '^make +running +[0-9.]+ s +0\.00 s' out
	grep -qE '^use +waiting .* waits for x of make$' out
	grep -qF 'use <- make (x)' out
	grep -qE '^ +6 B +being written +memory +x$' out
	# A pipe is no terminal.
	[ "$(leat top | sed -n 2p)" = "$(sed -n 2p out)" ]
	# Who waits has waited all the time since its start, who spins uses a CPU, or what of it there is.
	soon has_waited
	soon spun
	end
}

@test "on a terminal: keys, order, another size" {
	built_with tui
	begin
	run screen '
until(r"use <- make")
send("n")
until("sorted by name")
assert screen().index("make ") < screen().index("spin ") < screen().index("use "), screen()
send("r")
until("sorted by name reversed")
assert screen().index("use ") < screen().index("make "), screen()
send("c")
until("sorted by CPU")
resize(9, 60)
os.kill(pid, signal.SIGWINCH)
until(r"(?m)^1-3 of 10  q quit")
send("\x1bOF")
until(r"(?m)^8-10 of 10  q quit")
assert screen().count("\n") == 8
send("\x1bOA")
until(r"(?m)^7-9 of 10 ")
send("q")
'
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"status 0"*"given back"* ]]
	end
}

@test "the terminal is given back on signals" {
	built_with tui
	begin
	for signal in INT TERM HUP QUIT; do
		run screen "
until(r'use <- make')
os.kill(pid, signal.SIG$signal)
"
		echo "$output"
		[ "$status" = 0 ]
		[[ $output == *"status -"[0-9]* && $output == *$'\ngiven back'* ]]
	done
	end
}

@test "the run ends" {
	built_with tui
	begin
	run screen '
until(r"use <- make")
open("go", "w").close()
until("the run has ended; this was its last status", 30)
'
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"status 0"*"given back"* ]]
	end
}

@test "a daemon that does not answer" {
	built_with tui
	begin
	daemon=$(ours leat-daemon)
	[ -n "$daemon" ]
	run screen "
until(r'use <- make')
os.kill($daemon, signal.SIGSTOP)
until(r'the daemon has not answered for \d+ s', 20)
os.kill($daemon, signal.SIGCONT)
send('o')
until(r'use <- make')
send('q')
"
	kill -CONT "$daemon"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"status 0"*"given back"* ]]
	end
}

@test "no run, no terminal to use" {
	built_with tui
	run -1 leat top --once
	echo "$output"
	[[ $output == 'leat: no run is going on in '* ]]
	begin
	TERM=nonsense run screen ''
	echo "$output"
	[[ $output == *'leat top cannot use this terminal (TERM is nonsense)'* ]]
	run -2 leat top --interval 0
	run -2 leat top flow.yaml
	end
}

@test "names that a terminal would obey" {
	cat >flow.yaml <<-'END'
		name: "flow\e[2J"
		dir: work
		tasks:
		  - func: make
		    exec: bash ../make
		    outports: [{filename: 'x*'}]
	END
	printf '%s\n' $'echo 1 >$\'x\\e]0;y\\a\'' 'while [ ! -e ../go ]; do sleep 0.05; done' >"make"
	leat run --quiet flow.yaml >run.out 2>&1 3>&- &
	run_pid=$!
	soon is_there
	leat top --once >out
	cat -v out
	run ! env LC_ALL=C grep -q '[[:cntrl:]]' out
	end
}
is_there() { leat top --once 2>/dev/null | grep -qF 'x?]0;y?'; }
