# random_consume.py SEED N: read all of `data` in some way; what was read goes into out<N>.
import os, random, sys, hashlib, mmap
r = random.Random(int(sys.argv[1]) * 7 + int(sys.argv[2]))
h = hashlib.md5()
fd = os.open("data", os.O_RDONLY)
how = r.choice(["seq", "seq", "pread", "child", "stdio", "mmap", "sendfile", "end"])
if how == "seq":
    while True:
        b = os.read(fd, r.choice([1, 100, 4096, 65536, 1000000]))
        if not b: break
        h.update(b)
elif how == "pread":
    for i in range(100):
        o = r.randrange(3000000); n = r.choice([1, 1000, 300000])
        h.update(os.pread(fd, n, o))
    at = 0
    while True:
        b = os.pread(fd, 77777, at)
        if not b: break
        at += len(b); h.update(b)
elif how == "child":
    pr, pw = os.pipe()
    while True:
        pid = os.fork()
        if pid == 0:
            b = os.read(fd, 50000); os.write(pw, b"%d\n" % len(b) + hashlib.md5(b).digest()); os._exit(0)
        os.waitpid(pid, 0)
        x = os.read(pr, 1000); h.update(x)
        if x.startswith(b"0\n"): break
elif how == "stdio":
    for l in open("data", "rb"): h.update(l)
elif how == "mmap":
    os.path.getsize("data"); m = mmap.mmap(fd, 0, prot=mmap.PROT_READ); h.update(m)
elif how == "sendfile":
    p = "tmp%s" % sys.argv[2]
    to = os.open(p, os.O_RDWR | os.O_CREAT)
    while os.sendfile(to, fd, None, 300000): pass
    h.update(open(p, "rb").read()); os.unlink(p)
else:
    h.update(str(os.lseek(fd, 0, 2)).encode()); os.lseek(fd, 0, 0); h.update(os.read(fd, 1 << 24))
open("out" + sys.argv[2], "w").write(how + h.hexdigest() + "\n")
