#!/usr/bin/env bats
# What a process remembers of committed files: every change is seen at once, whoever makes it.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need python3
	# Files commit at their close, and are changed all the same.
	# shellcheck disable=SC2034 # read by pair
	pair_port='committed: on_close' pair_options='--on-violation warn'
	cat >tell.py <<-'END'
		import os, subprocess, sys

		def look(*names):
		    """Twice, so that the second may come from memory, by stat, access and open."""
		    for name in names:
		        for _ in range(2):
		            try:
		                st = os.stat(name)
		                text = f"{st.st_mode:o} {st.st_size} {st.st_nlink} {int(st.st_mtime) % 1000}"
		            except OSError as e:
		                text = e.strerror
		            try:
		                with open(name) as f:
		                    text += " " + f.read(3)
		            except OSError as e:
		                text += " " + e.strerror
		            print(name, text, os.access(name, os.R_OK), file=out)

		def child(*words):
		    subprocess.run(words, check=True)

		def make(name, text):
		    with open(name, "w") as f:
		        f.write(text)
		    os.utime(name, (100000, 100000))

		out = open(sys.argv[1], "w")
	END
}

teardown() {
	nothing_left
}

@test "changes by the process itself, by its children, by descriptor and by links in /proc" {
	cat >change.py <<-'END'
		from tell import *
		for i in range(12):
		    make(f"f{i}", "data" * i)
		make("d", "dd"); make("e", "eee")
		names = [f"f{i}" for i in range(12)] + ["d", "e"]
		look(*names)
		os.chmod("f1", 0o600); child("chmod", "604", "f2")
		look("f1", "f2")
		os.utime("f1", (100200, 100200)); child("touch", "-d", "@100300", "f2")
		look("f1", "f2")
		fd = os.open("f3", os.O_RDONLY)
		os.fchmod(fd, 0o640); look("f3")
		os.utime(fd, (100400, 100400)); look("f3")
		os.chmod(f"/proc/self/fd/{fd}", 0o444); look("f3")
		os.close(fd)
		os.rename("f4", "g4"); look("f4", "g4")
		child("mv", "f5", "g5"); look("f5", "g5")
		os.rename("f6", "f7"); look("f6", "f7")
		child("mv", "f8", "f9"); look("f8", "f9")
		os.link("f9", "h9"); look("f9", "h9")
		os.chmod("h9", 0o400); look("f9", "h9")
		child("rm", "h9"); look("f9", "h9")
		os.unlink("f10"); look("f10")
		child("rm", "-f", "f11"); look("f11")
		os.symlink("e", "f11"); look("f11"); look("e")
		if os.fork() == 0:
		    look("d", "e")
		    os.chmod("d", 0o611)
		    out.flush(); os._exit(0)
		os.wait()
		out.seek(0, 2)
		look("d", "e")
	END
	both 'f*' 'g*' 'h*' d e changed <<-'END'
		PYTHONPATH=../.. python3 ../../change.py changed
		---
		cp changed out
	END
}

@test "directories are renamed and removed" {
	cat >change.py <<-'END'
		from tell import *
		os.mkdir("tree"); os.mkdir("tree/a"); os.mkdir("tree/b")
		for n in "xyz":
		    make(f"tree/a/{n}", n)
		look("tree/a/x", "tree/a/y", "tree/b/x")
		os.rename("tree/a", "tree/c"); look("tree/a/x", "tree/c/x", "tree/c/y")
		os.chdir("tree"); look("c/x", "c/y", "x")
		os.chdir("c"); look("c/x", "x", "y")
		child("mv", "../../tree/c", "../../tree/e"); look("x", "../e/y", "../c/y")
		os.chdir("../..")
		look("tree/c/x", "tree/e/x")
		child("rm", "-r", "tree/e"); look("tree/e/x", "tree/a/x")
		make("tree/b/x", "new"); look("tree/b/x")
	END
	both 'tree/*' changed <<-'END'
		PYTHONPATH=../.. python3 ../../change.py changed
		---
		cp changed out
	END
}

@test "a consumer sees what it removes itself, and not what another one does" {
	cat >one.py <<-'END'
		from tell import *
		look("data")
		child("rm", "data")
		look("data")
	END
	cat >flow.yaml <<-'END'
		name: known
		dir: work
		tasks:
		  - {func: make, exec: bash -c 'echo abc >data', outports: [{filename: data}]}
		  - {func: one, exec: env PYTHONPATH=.. python3 ../one.py one, inports: [{filename: data}], outports: [{filename: one}]}
		  - {func: two, exec: bash -c 'while ! test -s ../gone; do :; done; cat data >two', inports: [{filename: data}], outports: [{filename: two}]}
		  - {func: mark, exec: bash -c 'cp one ..; cp one ../gone', inports: [{filename: one}]}
	END
	mkdir work
	timeout 60 leat run --log log flow.yaml
	leat replay flow.yaml log
	cat one work/two
	[ "$(grep -c 'No such' one)" = 2 ]
	[ "$(grep -c ' abc True' one)" = 2 ]
	[ "$(cat work/two)" = abc ]
}

@test "a file that is written again, with warnings only, shows its new size" {
	cat >again.py <<-'END'
		from tell import *
		make("data", "one")
		look("data")
		f = open("data", "a")
		look("data")
		f.write("more"); f.flush()
		print(os.stat("data").st_size, os.stat("data").st_size, file=out)
		child("bash", "-c", "echo x >>data")
		print(os.stat("data").st_size, file=out)
		f.close()
		print(os.stat("data").st_size, file=out)
		os.truncate("data", 2)
		print(os.stat("data").st_size, file=out)
		child("truncate", "-s", "5", "data")
		print(os.stat("data").st_size, os.stat("data").st_size, file=out)
	END
	mkdir work
	cat >flow.yaml <<-'END'
		name: again
		dir: work
		tasks:
		  - {func: make, exec: env PYTHONPATH=.. python3 ../again.py told, outports: [{filename: data, committed: "on_close"}, {filename: told}]}
		  - {func: read, exec: bash -c 'cat data >/dev/null', inports: [{filename: data}]}
	END
	timeout 60 leat run --on-violation warn flow.yaml 2>/dev/null
	cat work/told
	[ "$(tail -n 5 work/told)" = $'7 7\n9\n9\n2\n5 5' ]
}

@test "a file looked at again costs no system call" {
	need strace
	mkdir work
	cat >again.py <<-'END'
		import os
		for i in range(1000):
		    assert os.stat("data").st_size == 4
	END
	cat >flow.yaml <<-'END'
		name: again
		dir: work
		tasks:
		  - {func: make, exec: bash -c 'echo abc >data', outports: [{filename: data}]}
		  - {func: read, exec: strace -o ../trace -e trace=newfstatat python3 ../again.py, inports: [{filename: data}]}
	END
	timeout 60 leat run flow.yaml
	grep -c '"data"' trace || true
	[ "$(grep -c '"data"' trace)" -lt 10 ]
}

@test "who finds committed files by their names need not ask for them" {
	local n
	mkdir work
	cat >many.py <<-'END'
		import os, sys
		for i in range(300):
		    assert os.path.exists(f"d/f{i}")
		    with open(f"d/f{i}") as f:
		        assert f.read() == f"{i}\n"
	END
	cat >make.sh <<-'END'
		mkdir d
		for i in {0..299}; do echo $i >d/f$i; done
		echo >all
	END
	cat >flow.yaml <<-'END'
		name: many
		dir: work
		tasks:
		  - {func: make, exec: bash ../make.sh, outports: [{filename: "d/f*", committed: on_close}, {filename: all}]}
		  - {func: read, exec: bash -c 'cat all; python3 ../many.py', inports: [{filename: "d/f*"}, {filename: all}]}
	END
	timeout 60 leat run --log log flow.yaml
	leat replay flow.yaml log
	grep -q $'\topen\t.*name=d/f299' log
	n=$(grep -c $'\task\t.*name=d/f' log || true)
	echo "asked: $n"
	[ "$n" -lt 30 ]
}

@test "a producer that reads its own file has shown it to nobody: it may be made again" {
	cat >again.py <<-'END'
		import os

		for i in range(4):
		    if i:
		        os.unlink("data")
		    with open("data", "w") as f:
		        f.write(f"{i}\n")
		    with open("data") as f:
		        assert f.read() == f"{i}\n"
		open("mark", "w").close()
	END
	cat >flow.yaml <<-'END'
		name: again
		dir: work
		tasks:
		  - func: make
		    exec: python3 ../again.py
		    outports: [{filename: data, committed: on_close}, {filename: mark}]
		  - {func: copy, exec: bash -c 'cat mark data >out', inports: [{filename: data}, {filename: mark}], outports: [{filename: out}]}
	END
	mkdir work
	timeout 60 leat run --log log flow.yaml
	leat replay flow.yaml log
	[ "$(tail -n 1 work/out)" = 3 ]
}

@test "more steps than the table knows of: the others ask" {
	local i
	mkdir work
	{
		echo "name: steps"
		echo "dir: work"
		echo "tasks:"
		echo "  - {func: make, exec: bash -c 'echo abc >data', outports: [{filename: data}]}"
		for i in {1..70}; do
			echo "  - {func: s$i, exec: bash -c 'cat data data >out$i', inports: [{filename: data}], outports: [{filename: out$i}]}"
		done
		echo "  - {func: end, exec: bash -c 'cat out* >all', inports: [{filename: 'out*'}], outports: [{filename: all}]}"
	} >flow.yaml
	timeout 100 leat run flow.yaml
	[ "$(grep -c abc work/all)" = 140 ]
}
