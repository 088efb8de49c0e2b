#!/usr/bin/env bats
# Where a file that is being written ends, and what of it is there: whoever looks, by whatever call and
# whoever else has it open, finds the bytes that were written and no others.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	need python3
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# python NAME: stdin becomes NAME.py, for scripts that run in pair/work.
python() {
	cat >"$1.py"
}

@test "a step reads by a descriptor that is older than the one it writes by" {
	python follow <<-'END'
		import os
		open("data", "w").close()
		r, w = os.open("data", os.O_RDONLY), os.open("data", os.O_WRONLY)
		for i in range(3000):
		    os.write(w, b"x" * 1000)
		    b = os.read(r, 65536)
		    assert b == b"x" * 1000, (i, len(b))
		assert os.lseek(r, 0, os.SEEK_END) == 3000000
	END
	both <<-END
		python3 ../../follow.py
		---
		md5sum < data > out
	END
}

@test "threads that write at one offset little by little" {
	python threads <<-'END'
		import os, threading
		w = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.write(w, b"-" * 1000000)
		def write(c, n):
		    for i in range(n): os.write(w, c)
		all = [threading.Thread(target=write, args=(b"a" * 100, 20000)), threading.Thread(target=write, args=(b"b" * 100, 20000)),
		       threading.Thread(target=write, args=(b"c" * 20000, 300))]
		for t in all: t.start()
		for t in all: t.join()
	END
	python count <<-'END'
		import collections, os
		f, n = os.open("data", os.O_RDONLY), collections.Counter()
		while b := os.read(f, 4096): n.update(b)
		print(sorted(n.items()))
	END
	for _ in 1 2 3; do
		both <<-END
			python3 ../../threads.py
			---
			python3 ../../count.py > out
		END
	done
}

@test "threads that read, and seek, near the end of what another appends" {
	python near <<-'END'
		import os, threading
		f = os.open("data", os.O_RDWR | os.O_CREAT)
		os.write(f, b"x" * 1000000)
		over, bad = False, []
		def look():
		    while not over:
		        b = os.pread(f, 65536, max(0, os.fstat(f).st_size - 1000))
		        if b"\0" in b: bad.append(b.index(b"\0"))
		        if os.lseek(f, 0, os.SEEK_CUR) < 1000000: bad.append("offset")
		        os.lseek(f, 0, os.SEEK_END)
		t = threading.Thread(target=look)
		t.start()
		for i in range(20000): os.write(f, b"x" * 100)
		over = True
		t.join()
		assert not bad, bad[:10]
	END
	both <<-END
		python3 ../../near.py
		---
		md5sum < data > out
	END
}

@test "made longer by its name, then written out of order" {
	python longer <<-'END'
		import os, time
		f = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.truncate("data", 8 << 20)
		os.pwrite(f, b"x" * 4096, 4 << 20)
		time.sleep(0.5)
		os.pwrite(f, b"y" * (4 << 20), 0)
		os.pwrite(f, b"z" * ((4 << 20) - 4096), (4 << 20) + 4096)
	END
	both <<-END
		python3 ../../longer.py
		---
		cat data | md5sum > out
	END
}

@test "made longer and written on, by a step that waits for its reader" {
	python longer <<-'END'
		import os, time
		f = os.open("data", os.O_WRONLY | os.O_CREAT)
		for i in range(200):
		    os.ftruncate(f, i * 4097 + 1)
		    os.lseek(f, i * 4097, os.SEEK_SET)
		    os.write(f, b"x" * 4097)
		until = time.monotonic() + 20
		while not os.path.exists("../../seen") and time.monotonic() < until: time.sleep(0.01)
	END
	python reader <<-'END'
		f, n = open("data", "rb", buffering=0), 0
		while n < 200 * 4097: n += len(f.read(4097))
		open("../../seen", "w").close()
		print(n, f.read())
	END
	touch seen
	pair no_update <<-END
		[ -e ../batch ] && rm -f ../../seen
		python3 ../../longer.py
		[ -e ../../seen ]
		---
		python3 ../../reader.py > out
	END
}

@test "a forked process is killed in a write" {
	python killed <<-'END'
		import os, signal, time
		f = os.open("data", os.O_WRONLY | os.O_CREAT)
		child = os.fork()
		if not child:
		    block = b"c" * (64 << 20)
		    while True: os.write(f, block)
		while os.fstat(f).st_size < 100 << 20: pass
		os.kill(child, signal.SIGKILL)
		os.waitpid(child, 0)
		os.write(f, b"END")
	END
	both <<-END
		python3 ../../killed.py
		---
		tr -d c < data > out
	END
}

@test "processes that copy by one offset copy nothing that was not written" {
	python copy <<-'END'
		import os
		f, (r, w) = os.open("data", os.O_RDONLY), os.pipe()
		for _ in range(3):
		    if not os.fork():
		        while os.sendfile(w, f, None, 1024): pass
		        os._exit(0)
		os.close(w)
		while b := os.read(r, 1024): assert b"\0" not in b
		if any(os.wait()[1] for _ in range(3)): raise SystemExit(1)
		print("copied")
	END
	python small <<-'END'
		import os, time
		f = os.open("data", os.O_WRONLY | os.O_CREAT)
		for i in range(2000):
		    os.write(f, b"x" * 1024)
		    if not i % 8: time.sleep(0.0003)
	END
	for _ in 1 2 3; do
		both <<-END
			python3 ../../small.py
			---
			python3 ../../copy.py > out
		END
	done
}

@test "the size of what is written little by little is told at once, and does not shrink" {
	python small <<-'END'
		f = open("data", "wb", buffering=0)
		for i in range(60000): f.write(b"x" * 1000)
	END
	python look <<-'END'
		import os, subprocess, time
		p = subprocess.Popen(["python3", "../../small.py"])
		n, last = 0, 0
		while p.poll() is None:
		    try: size = os.stat("data").st_size
		    except FileNotFoundError: continue
		    assert size >= last, (last, size)
		    n, last = n + 1, size
		assert n > 20, n
	END
	both <<-END
		python3 ../../look.py
		---
		md5sum < data > out
	END
}
