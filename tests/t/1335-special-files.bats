#!/usr/bin/env bats
# Sockets and FIFOs in the workflow's directory: as on plain files, for programs of one step.
load helper
bats_require_minimum_version 1.5.0

setup() {
	need python3
	cd "$BATS_TEST_TMPDIR" || exit
}

# flow COMMAND [TASK]: `d` is a permanent output, unless TASK reads it.
flow() {
	printf 'name: flow\ndir: work\ntasks:\n  - {func: make, exec: %s, outports: [{filename: d}]}\n' "$1" >flow.yaml
	[ $# = 1 ] || printf '  - {%s}\n' "$2" >>flow.yaml
}

READER='func: read, exec: cat d/file, inports: [{filename: d}]'

# printed_and_left FILE [OPTION...]: what the step printed, and what is in the directory afterwards.
printed_and_left() {
	rm -rf work && mkdir work
	timeout 60 leat run "${@:2}" flow.yaml >ran 2>&1 || {
		cat ran
		return 1
	}
	{
		grep '^\[make\]' ran || true
		(cd work && find . ! -name '.leat-*' -printf '%p %M %s\n' | sort)
	} >"$1"
}

# alike COMMAND [PREFIX...]: the same as in a batch, also behind each PREFIX (env NAME=VALUE).
alike() {
	local prefix
	flow "$1"
	printed_and_left plain --plain
	cat plain
	for prefix in '' "${@:2}"; do
		echo "# $prefix"
		flow "$prefix $1"
		printed_and_left streamed
		diff plain streamed
	done
}

# mountable: can this user mount?
mountable() {
	flow 'env LEAT_INTERCEPT=mount true'
	leat run -q flow.yaml || skip "no mount is possible here: no /dev/fuse, or no namespaces"
}

@test "sockets: bound and found by any spelling of their paths, shown as they were written" {
	cat >sockets.py <<-'END'
		import os, socket
		def stream(): return socket.socket(socket.AF_UNIX)
		def told(call, *arguments):
		    try: print(call(*arguments))
		    except OSError as e: print(e.strerror)
		def shown(name): return name.replace(here, "HERE")
		def serve(bind, connect):
		    s = stream()
		    s.bind(bind)
		    s.listen()
		    print(shown(s.getsockname()))
		    if os.fork() == 0:
		        c, _ = s.accept()
		        c.sendall(c.recv(99).upper())
		        os._exit(0)
		    c = stream()
		    c.connect(connect)
		    c.sendall(connect.encode())
		    print(c.recv(99).decode().replace(here.upper(), "HERE"), shown(c.getpeername()))
		    os.wait()
		    told(stream().bind, bind)
		here = os.getcwd()
		os.makedirs("d/e")
		serve("d/a", "d/a")
		serve(here + "/d/e/b", "d/e/../e/b")
		serve("d/c", here + "/d/c")
		serve("top", "./top")
		os.chdir("d")
		serve("f", "f")
		serve(here + "/d/g", "g")
		serve("h", here + "/d/h")
		serve("e/i", "e/i")
		serve("../top2", "../top2")
		told(stream().bind, "never/x")
		told(stream().bind, "j/")
		told(stream().connect, "never")
		told(stream().connect, "f")
		open("file", "w").close()
		told(stream().connect, "file")
		a, b = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in "ab")
		a.bind("k")
		b.bind(here + "/d/l")
		b.sendto(b"x", "k")
		print(shown(str(a.recvfrom(9))))
		os.chdir(here)
		b.sendto(b"x", "d/k")
		print(shown(str(a.recvfrom(9))))
		os.unlink("d/a")
		os.rename("d/c", "d/m")
		told(stream().connect, "d/m")
		print(sorted(n for n in os.listdir(".") if n[0] != "."), sorted(os.listdir("d")), oct(os.stat("d/h").st_mode))
	END
	alike 'python3 ../sockets.py'
	mountable
	alike 'python3 ../sockets.py' 'env LEAT_INTERCEPT=mount'
}

@test "sockets: in a directory that is in memory only, with names too long for their whole paths" {
	cat >deep.py <<-'END'
		import os, socket
		here = os.getcwd()
		os.mkdir("d")
		os.chdir("d")
		def served(name, *spellings):
		    s = socket.socket(socket.AF_UNIX)
		    s.bind(name)
		    s.listen()
		    print(os.path.basename(s.getsockname()))
		    for spelling in spellings:
		        c = socket.socket(socket.AF_UNIX)
		        c.connect(spelling)
		        s.accept()
		served("s", "s", here + "/d/s", "../d/s")
		os.mkdir("x" * 60)
		os.chdir("x" * 60)
		served("y" * 60, "y" * 60, "./" + "y" * 60)
	END
	alike 'python3 ../deep.py' 'env LEAT_INTERCEPT=wrap'
}

@test "FIFOs: between two programs, and left behind" {
	cat >fifos <<-'END'
		mkdir d; mkfifo d/p; mkfifo -m 600 d/q; mkfifo d/gone; rm d/gone
		seq 5 >d/p & cat d/p; wait
		(cat d/p | tr a-z A-Z >d/upper) & echo text >d/p; wait; cat d/upper
		python3 -c 'import os; os.mknod("d/s", 0o140640); os.mknod("d/r", 0o100600)'
		mkfifo d/t; mv d/t d/u; mkfifo d/v; rm d/v; echo text >d/v
		mkfifo top; test -p top && echo fifo
		mkfifo top 2>&1
		echo file >d/file; ls d
		stat -c '%A %n' d/*
	END
	alike 'bash ../fifos'
	mountable
	alike 'bash ../fifos' 'env LEAT_INTERCEPT=mount'
}

@test "what is special in a temporary directory goes with it" {
	cat >left.py <<-'END'
		import os, socket
		os.makedirs("d/e")
		socket.socket(socket.AF_UNIX).bind("d/e/socket")
		os.mkfifo("d/fifo")
		open("d/file", "w").write("text\n")
	END
	flow 'python3 ../left.py' "$READER"
	printed_and_left left
	grep -q text ran
	[ "$(cut -d' ' -f1 left)" = . ]
	nothing_left
}
