#!/usr/bin/env bats
# Processes of root's run that become another user: they may do what they may on disk, and
# strangers still may not come in.
bats_require_minimum_version 1.5.0
load helper

setup() {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	# bats' own directory is shut for others.
	open=$(mktemp -d "${TMPDIR:-/tmp}/leat-users.XXXXXX")
	chmod 755 "$open"
	LEAT_RUNTIME_DIR=$open/runtime
	cd "$open" || return 1
	mkdir work
}

teardown() {
	nothing_left_and_removed "$open"
}

# as_on_disk PORT [INTERCEPT [LAUNCHER]]: the script on stdin does the same in a step, whose only output is PORT, as it does
# without leat: what it prints, and the tree it leaves.
as_on_disk() {
	cat >script
	mkdir plain
	(cd plain && bash -e ../script) >expected 2>&1 || true
	cat >flow.yaml <<-END
		name: users
		dir: work
		tasks:
		  - func: users
		    exec: ${3:-} bash -c 'bash -e ../script >"$PWD/seen" 2>&1 || true'
		    outports: [{filename: $1}]
	END
	LEAT_INTERCEPT=${2:-} timeout 60 leat run flow.yaml >log 2>&1 || { cat log; return 1; }
	# Numbers of lines and processes are not to be compared.
	diff <(sed 's/line [0-9]*//; s|/plain/|/work/|' expected) <(sed 's/line [0-9]*//' seen)
	diff <(tree_of plain) <(tree_of work)
}

tree_of() {
	(cd "$1" && find . -mindepth 1 ! -type d -printf '%p %y %m %U:%G %s\n' | sort)
}

as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# What a shell of another user may and may not do: make, move, remove, read and write names.
names() {
	cat <<-END
		mkdir -p d/free d/shut d/sticky
		chmod 777 d/free; chmod 700 d/shut; chmod 1777 d/sticky
		for f in d/free/root d/shut/root d/sticky/root; do echo root >\$f; done
		chmod 600 d/free/root
		cat >inner <<-'INNER'
			id -u
			echo mine >d/free/mine; cat d/free/mine
			echo x >d/new; echo x >d/shut/new; echo x >>d/sticky/root
			cat d/free/root d/shut/root d/shut/none
			ls d d/free; ls d/shut
			mv d/free/mine d/free/moved; mv d/free/root d/free/stolen
			ln d/free/moved d/free/linked; ln d/sticky/root d/free/hard
			rm -f d/sticky/root; rm -f d/shut/root; mv d/sticky/root d/sticky/r
			mkdir d/free/dir d/shut/dir; rmdir d/free/dir; ln -s moved d/free/link
			chmod 640 d/free/moved; chmod 777 d/sticky/root; touch d/sticky/root
			mv d/free/moved d/sticky/here; cp d/sticky/here d/free/copy
			: >d/free/linked; truncate -s 3 d/sticky/root; cd d/shut; cd d/free && ls
		INNER
		$as_nobody bash inner
		ls d/free d/sticky
	END
}

@test "a shell of another user: names it may and may not make, move, remove, read and write" {
	for port in d/ "other*"; do
		rm -rf plain work && mkdir work
		names | as_on_disk "$port"
	done
}

@test "the same behind a mount" {
	built_with fuse
	need gcc
	[ -c /dev/fuse ] || skip "no FUSE here"
	printf '#include <unistd.h>\nint main(int c, char **v) { return c < 2 || execvp(v[1], v + 1); }\n' |
		gcc -static -o launch -x c -
	names | as_on_disk d/ "" "$PWD/launch"
}

@test "one process that is root, another user, and root again; threads; wrapped" {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	for intercept in "" wrap; do
		rm -rf plain work && mkdir work
		as_on_disk d/ $intercept <<-'END'
			mkdir d d/free && chmod 777 d/free
			/usr/bin/python3 -B - <<'PYTHON'
			import os, threading
			def attempt(what, *args):
			    try:
			        what(*args)
			        print(what.__name__, *args, "done")
			    except OSError as e:
			        print(what.__name__, *args, e.strerror)
			def make(name):
			    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
			def all():
			    make("d/free/%d-%d" % (os.geteuid(), n))
			    attempt(make, "d/%d-%d" % (os.geteuid(), n))
			    attempt(os.rename, "d/free/%d-%d" % (os.geteuid(), n), "d/free/r%d-%d" % (os.geteuid(), n))
			    attempt(os.unlink, "d/0-%d" % n)
			    attempt(os.mkdir, "d/dir%d-%d" % (os.geteuid(), n))
			n = 0
			all()
			for n in range(1, 4):
			    make("d/0-%d" % n)
			    os.setegid(65534); os.seteuid(65534)
			    all()
			    os.seteuid(0); os.setegid(0)
			    attempt(os.unlink, "d/0-%d" % n)
			    if n == 2:
			        stop = threading.Event()
			        thread = threading.Thread(target=stop.wait)
			        thread.start()
			stop.set()
			thread.join()
			os.setgroups([])
			os.setresgid(65534, 65534, 65534)
			os.setresuid(65534, 65534, 65534)
			n = 9
			all()
			thread = threading.Thread(target=attempt, args=(make, "d/free/of-thread"))
			thread.start()
			thread.join()
			if os.fork() == 0:
			    attempt(make, "d/free/of-child")
			    os._exit(0)
			os.wait()
			PYTHON
		END
	done
}

@test "programs that close all descriptors, clear the environment, and lie in the store" {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	as_on_disk d/ <<-END
		mkdir d d/free && chmod 777 d/free
		printf '#!/bin/sh\necho script "\$@"; echo script >d/free/from-script; cat d/free/from-script\n' >d/script
		cp /bin/cat d/cat; chmod 755 d/script d/cat
		cat >closes.py <<'PYTHON'
		import os, sys
		os.closerange(3, 70000)
		os.execve("/bin/sh", ["sh", "-c", sys.argv[1]], {})
		PYTHON
		$as_nobody /usr/bin/python3 -B closes.py 'echo a >d/free/a; exec /bin/cat d/free/a'
		/usr/bin/python3 -B closes.py 'exec $as_nobody sh -c "echo b >d/free/b; cat d/free/b"'
		$as_nobody sh -c './d/script one; d/cat d/free/from-script; sh -c "d/script two; ls d/free"'
		$as_nobody env -i sh -c 'd/cat d/free/b; rm d/free/b; env -i cat d/free/a d/free/b'
		/usr/bin/python3 -B -c 'import subprocess; print(subprocess.run(["cat", "d/free/a"], user=65534, group=65534, extra_groups=[], env={}, capture_output=True))'
	END
}

@test "below a directory that is shut for the new user, where its working directory lets it in" {
	mkdir shut && chmod 700 shut && cd shut
	mkdir work
	as_on_disk d/ <<-END
		mkdir d && chmod 777 d && cd d
		echo root >root
		$as_nobody sh -c 'cat root; echo mine >mine; ls; mv mine yours; sh -c "cat yours; cat \$PWD/yours"'
	END
}

@test "a stream from one user to another" {
	cat >flow.yaml <<-END
		name: users
		dir: work
		permanent: [d/]
		tasks:
		  - func: produce
		    exec: bash -c 'mkdir d; chmod 777 d; exec $as_nobody bash -c "for i in 1 2 3 4 5 6 7 8; do echo \$i; sleep 0.05; done >d/stream"'
		    outports: [{filename: d/, mode: no_update}]
		  - func: consume
		    exec: $as_nobody bash -c 'cat d/stream | wc -l'
		    inports: [{filename: d/stream}]
	END
	run timeout 30 leat run flow.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"] 8"* ]]
	[ "$(stat -c %u work/d/stream)" = 65534 ]
}

@test "strangers can neither connect, nor see the store or the shared memory" {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	cat >stranger.py <<-'END'
		import glob, os, socket, sys
		allowed = []
		def attempt(what, *args):
		    try:
		        what(*args)
		        allowed.append((what.__name__,) + args)
		    except OSError:
		        pass
		def connect(path):
		    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path)
		path = sys.argv[1]
		attempt(connect, path)
		attempt(os.listdir, os.path.dirname(path))
		for pid in sys.argv[2:]:
		    for where in "fd", "map_files":
		        attempt(os.listdir, "/proc/%s/%s" % (pid, where))
		    for fd in range(3, 1100):
		        attempt(os.stat, "/proc/%s/fd/%d" % (pid, fd))
		        attempt(connect, "/proc/%s/fd/%d" % (pid, fd))
		    attempt(os.listdir, "/proc/%s/cwd" % pid)
		    attempt(open, "/proc/%s/mem" % pid)
		print("allowed:", allowed)
	END
	cat >flow.yaml <<-END
		name: users
		dir: work
		tasks:
		  - func: users
		    exec: sh -c 'mkdir d; echo \$\$ >d/mine; echo \$\$ >"$PWD/step"; sleep 60 & wait'
		    outports: [{filename: d/}]
	END
	timeout 60 leat run flow.yaml 3>&- &
	run=$!
	until [ -s step ]; do sleep 0.1; done
	socket=$(find "$LEAT_RUNTIME_DIR" -name socket)
	daemon=$(pgrep -x leat-daemon -P "$(pgrep -P "$run" -x leat)")
	[ -S "$socket" ] && [ -n "$daemon" ]
	output=$(setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 - "$socket" "$daemon" "$(cat step)" <stranger.py)
	kill "$run"
	wait "$run" || true
	echo "$output"
	[ "$output" = "allowed: []" ]
}

@test "given to another owner or group after its commit, when another user has read it" {
	local way
	cat >flow.yaml <<-'END'
		name: users
		dir: work
		tasks:
		  - func: make
		    exec: ${WAY} bash ../make.sh
		    outports: [{filename: data, committed: on_close}]
		  - func: use
		    exec: bash -c 'setpriv --reuid=65534 --regid=65534 --clear-groups cat data >out; touch ../read'
		    inports: [{filename: data}]
		    outports: [{filename: out}]
		permanent: [out]
	END
	make() {
		rm -rf work read && mkdir work
		printf '%s\n' 'umask 027' "(umask 077; echo text >../data; $1 ../data; mv ../data data)" \
			'until [ -e ../read ]; do sleep 0.01; done' "$2 data" >make.sh
		sed "s|\${WAY}|${way:-}|" flow.yaml >way.yaml
		timeout 60 leat run way.yaml >log 2>&1 || { cat log && return 1; }
		[ "$(cat work/out)" = text ]
	}
	for way in '' 'env LEAT_INTERCEPT=mount'; do
		run ! make 'chown 65534' 'chown 0'
		grep '^leat: violation: data was given other permissions by step make after its commit' log
		run ! make 'chgrp 65534 ../data; chmod 640' 'chgrp 0'
		grep '^leat: violation: data was given other permissions by step make after its commit' log
		# All may read it as before.
		make 'chmod 644' 'chown 1:1'
	done
}
