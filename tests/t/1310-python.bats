#!/usr/bin/env bats
# Calls that programs make through Python: each must show what the batch would have shown.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# python MODES: like pair, but both scripts are Python.
python() {
	local text
	text=$(sed "s|^---\$|END\n---\n/usr/bin/python3 -B - <<'END'|")
	printf "/usr/bin/python3 -B - <<'END'\n%s\nEND\n" "$text" | "$@"
}

@test "read, readinto, pread, preadv, readv, text iteration" {
	python both <<-'END'
		import time
		with open("data", "w", buffering=1000) as f:
		    for i in range(20000):
		        f.write(f"{i}\n")
		        if i % 5000 == 0: time.sleep(0.01)
		---
		import os, hashlib
		out = open("out", "w")
		print(hashlib.md5(open("data", "rb").read()).hexdigest(), file=out)
		print(sum(int(l) for l in open("data")), file=out)
		fd = os.open("data", os.O_RDONLY)
		print(os.pread(fd, 10, 50000), file=out)
		b = bytearray(7); c = bytearray(9)
		print(os.preadv(fd, [b, c], 1000), b, c, file=out)
		print(os.readv(fd, [b, c]), b, c, os.lseek(fd, 0, os.SEEK_CUR), file=out)
		print(os.read(fd, 1 << 20)[-10:], os.read(fd, 10), file=out)
		f = open("data", "rb", buffering=0)
		print(f.readinto(b), b, len(f.readall()), file=out)
		print(os.path.getsize("data"), os.lseek(fd, -3, os.SEEK_END), file=out)
	END
}

@test "mmap, sendfile, copy_file_range, splice" {
	python both <<-'END'
		import time
		with open("data", "wb") as f:
		    for i in range(50):
		        f.write(bytes([i]) * 9999); f.flush(); time.sleep(0.001)
		---
		import mmap, os, hashlib
		out = open("out", "w")
		f = open("data", "rb")
		m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
		print(len(m), hashlib.md5(m).hexdigest(), file=out)
		def md5(name): return hashlib.md5(open(name, "rb").read()).hexdigest()
		def copy(step):
		    fd = os.open("data", os.O_RDONLY); to = os.open("copy", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
		    while step(fd, to): pass
		    os.close(to)
		    print(md5("copy"), os.lseek(fd, 0, os.SEEK_CUR), file=out)
		    os.unlink("copy")
		copy(lambda a, b: os.sendfile(b, a, None, 1 << 20))
		copy(lambda a, b: os.copy_file_range(a, b, 1 << 20))
		r, w = os.pipe()
		def by_pipe(a, b):
		    n = os.splice(a, w, 65536)
		    while n > 0: n -= os.splice(r, b, n)
		    return os.lseek(a, 0, os.SEEK_CUR) < 499950
		copy(by_pipe)
		at = 0
		to = os.open("copy", os.O_RDWR | os.O_CREAT)
		while True:
		    n = os.sendfile(to, f.fileno(), at, 100000)
		    if not n: break
		    at += n
		print(at, md5("copy"), file=out)
		os.unlink("copy")
	END
}

# As of plain files: who asks once for all of it need not ask again.
@test "one sendfile or copy_file_range of a whole file, streamed or to another file system, copies all of it" {
	python both <<-'END'
		import time
		with open("data", "wb") as f:
		    for i in range(60):
		        f.write(bytes([i]) * 9999); f.flush(); time.sleep(0.002)
		---
		import ctypes, os, hashlib, socket, threading
		out = open("out", "w")
		def md5(name): return hashlib.md5(open(name, "rb").read()).hexdigest()
		def once(name, step):
		    fd = os.open("data", os.O_RDONLY); to = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
		    print(step(fd, to), os.lseek(fd, 0, os.SEEK_CUR), md5(name), file=out)
		    os.unlink(name)
		once("copy", lambda a, b: os.sendfile(b, a, None, 1 << 30))
		once("copy", lambda a, b: os.copy_file_range(a, b, 1 << 30))
		once("copy", lambda a, b: os.copy_file_range(a, b, 500000, 7, 11))
		libc = ctypes.CDLL(None, use_errno=True)
		once("copy", lambda a, b: libc.copy_file_range(a, None, b, None, ctypes.c_size_t(-1), 0))
		once("copy", lambda a, b: (libc.sendfile(b, a, None, ctypes.c_size_t(-1)), ctypes.get_errno()))
		once("../copy", lambda a, b: os.copy_file_range(a, b, 1 << 30))
		once("copy", lambda a, b: os.sendfile(b, a, 100, 1 << 30))
		one, other = socket.socketpair()
		got = []
		def receive():
		    while True:
		        b = other.recv(1 << 16)
		        if not b: break
		        got.append(b)
		thread = threading.Thread(target=receive); thread.start()
		print(os.sendfile(one.fileno(), os.open("data", os.O_RDONLY), 0, 1 << 30), file=out)
		one.close(); thread.join()
		print(hashlib.md5(b"".join(got)).hexdigest(), file=out)
		# what takes no more: as much as it took
		one, other = socket.socketpair()
		one.setblocking(False)
		n = os.sendfile(one.fileno(), os.open("data", os.O_RDONLY), 0, 1 << 30)
		print(0 < n < 599940, file=out)
	END
}

@test "threads read one file, and one descriptor" {
	python both <<-'END'
		import time, os
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		for i in range(2000):
		    os.write(fd, b"%07d\n" % i)
		    if i % 200 == 0: time.sleep(0.002)
		---
		import threading, os, hashlib
		results = {}
		def whole(k): results[k] = hashlib.md5(open("data", "rb").read()).hexdigest()
		shared = os.open("data", os.O_RDONLY)
		parts = []
		def part(k):
		    while True:
		        b = os.read(shared, 8)
		        if not b: break
		        parts.append(b)
		ts = [threading.Thread(target=whole, args=(k,)) for k in range(8)]
		ts += [threading.Thread(target=part, args=(k,)) for k in range(4)]
		[t.start() for t in ts]; [t.join() for t in ts]
		out = open("out", "w")
		print(sorted(results.items()), file=out)
		print(len(parts), hashlib.md5(b"".join(sorted(parts))).hexdigest(), file=out)
	END
}

@test "written by threads at their own places" {
	python both <<-'END'
		import threading, os
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		def part(k):
		    for i in range(100):
		        os.pwrite(fd, bytes([65 + k]) * 50, (i * 4 + k) * 50)
		ts = [threading.Thread(target=part, args=(k,)) for k in range(4)]
		[t.start() for t in ts]; [t.join() for t in ts]
		---
		import hashlib
		b = open("data", "rb").read()
		print(len(b), hashlib.md5(b).hexdigest(), file=open("out", "w"))
	END
}

@test "a sparse file: disjoint parts written backwards" {
	python both <<-'END'
		import os, time
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		for k in reversed(range(10)):
		    os.lseek(fd, k * 100000, os.SEEK_SET)
		    for i in range(10):
		        os.write(fd, bytes([k * 10 + i]) * 10000)
		    time.sleep(0.002)
		---
		import hashlib
		b = open("data", "rb").read()
		print(len(b), hashlib.md5(b).hexdigest(), file=open("out", "w"))
	END
}

@test "parts written and read in any order, more of them than shared memory has space for" {
	python both <<-'END'
		import os, random
		order = list(range(4000))
		random.Random(1).shuffle(order)
		fd = os.open("data", os.O_CREAT | os.O_WRONLY)
		for i in order:
		    os.pwrite(fd, bytes([i % 251]) * 700, i * 700)
		---
		import os, random
		order = list(range(4000))
		random.Random(2).shuffle(order)
		fd = os.open("data", os.O_RDONLY)
		wrong = sum(os.pread(fd, 700, i * 700) != bytes([i % 251]) * 700 for i in order)
		with open("data", "rb") as f:
		    print(wrong, len(f.read()), file=open("out", "w"))
	END
	[ "$(cat pair/work/out)" = "0 2800000" ]
}

@test "parts of more files than shared memory has tables for are read before their holes are filled" {
	mkdir work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - {func: make, exec: /usr/bin/python3 -B ../write_parts, outports: [{filename: 'p*', mode: no_update}]}
		  - {func: read, exec: /usr/bin/python3 -B ../read_parts, inports: [{filename: 'p*'}]}
	END
	cat >write_parts <<-'END'
		import os, time
		files = [os.open(f"p{i}", os.O_CREAT | os.O_WRONLY) for i in range(70)]
		for f in files: os.pwrite(f, b"second", 5)
		while not os.path.exists("../seen"): time.sleep(0.01)
		for f in files: os.pwrite(f, b"first", 0)
	END
	cat >read_parts <<-'END'
		import os
		files = [os.open(f"p{i}", os.O_RDONLY) for i in range(70)]
		assert all(os.pread(f, 6, 5) == b"second" for f in files)
		open("../seen", "w").close()
		assert all(os.read(f, 100) + os.read(f, 100) == b"firstsecond" for f in files)
	END
	timeout 60 leat run flow.yaml
}

@test "a file with a real hole reads as zeros" {
	python both <<-'END'
		import os
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"a" * 100)
		os.lseek(fd, 100000, os.SEEK_SET)
		os.write(fd, b"b" * 100)
		os.ftruncate(fd, 200000)
		---
		import hashlib
		b = open("data", "rb").read()
		print(len(b), hashlib.md5(b).hexdigest(), file=open("out", "w"))
	END
}

@test "fork, posix_spawn with file actions, subprocess, inherited descriptors" {
	python both <<-'END'
		import os, subprocess, sys
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"parent\n")
		pid = os.fork()
		if pid == 0:
		    os.write(fd, b"child\n"); os._exit(0)
		os.waitpid(pid, 0)
		subprocess.run(["echo", "sub"], stdout=fd, check=True)
		pid = os.posix_spawn("/bin/echo", ["echo", "spawned"], os.environ,
		    file_actions=[(os.POSIX_SPAWN_DUP2, fd, 1), (os.POSIX_SPAWN_CLOSE, fd)])
		os.waitpid(pid, 0)
		os.write(fd, b"parent again\n")
		os.close(fd)
		pid = os.posix_spawn("/bin/echo", ["echo", "appended"], os.environ,
		    file_actions=[(os.POSIX_SPAWN_OPEN, 1, "data", os.O_WRONLY | os.O_APPEND, 0)])
		os.waitpid(pid, 0)
		---
		import os, subprocess
		out = os.open("out", os.O_WRONLY | os.O_CREAT)
		fd = os.open("data", os.O_RDONLY)
		os.set_inheritable(fd, True)
		subprocess.run(["cat"], stdin=fd, stdout=out, check=True)
		subprocess.run(["bash", "-c", f"cat <&{fd} | wc -c"], pass_fds=[fd], stdout=out, check=True)
		pid = os.posix_spawn("/bin/cat", ["cat"], os.environ,
		    file_actions=[(os.POSIX_SPAWN_OPEN, 0, "data", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, out, 1)])
		os.waitpid(pid, 0)
		os.lseek(fd, 0, 0)
		pid = os.fork()
		if pid == 0:
		    os.write(out, os.read(fd, 7)); os._exit(0)
		os.waitpid(pid, 0)
		os.write(out, os.read(fd, 100))
		subprocess.run(["pwd"], cwd="/", stdout=out, check=True)
	END
}

@test "dup2 over our descriptors, close_range, descriptors sent over a socket" {
	python both <<-'END'
		import os, socket, array
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		other = os.dup(fd)
		os.write(other, b"one\n")
		os.dup2(os.open("/dev/null", os.O_WRONLY), fd)
		os.write(fd, b"lost\n")
		os.dup2(other, fd)
		os.write(fd, b"two\n")
		a, b = socket.socketpair()
		socket.send_fds(a, [b"x"], [fd])
		os.close(fd); os.close(other)
		_, fds, _, _ = socket.recv_fds(b, 1, 1)
		os.write(fds[0], b"three\n")
		os.closerange(3, 2000)
		---
		import os, socket
		fd = os.open("data", os.O_RDONLY)
		a, b = socket.socketpair()
		socket.send_fds(a, [b"x"], [fd])
		os.close(fd)
		_, fds, _, _ = socket.recv_fds(b, 1, 1)
		text = os.read(fds[0], 1000)
		os.closerange(3, 5000)
		os.dup2(os.open("data", os.O_RDONLY), 1000)
		text += os.read(1000, 1000)
		open("out", "wb").write(text)
	END
}

@test "locks: ours stay out of sight, consumers' never conflict" {
	python both <<-'END'
		import fcntl, os, time
		f = open("data", "w")
		fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
		fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
		f.write("locked\n"); f.flush(); time.sleep(0.1)
		g = open("data", "r+")
		try:
		    fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB); f.write("shared?\n")
		except BlockingIOError:
		    f.write("kept\n")
		---
		import fcntl
		f = open("data")
		fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
		fcntl.lockf(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
		g = open("data")
		fcntl.flock(g, fcntl.LOCK_SH | fcntl.LOCK_NB)
		open("out", "w").write(f.read())
	END
}

@test "signals run their handlers during a wait" {
	python both <<-'END'
		import time
		time.sleep(0.5)
		open("data", "w").write("late\n")
		---
		import signal, os
		n = []
		signal.signal(signal.SIGALRM, lambda *a: n.append(1))
		signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
		try:
		    text = open("data").read()
		finally:
		    signal.setitimer(signal.ITIMER_REAL, 0)
		open("out", "w").write(text)
	END
}
