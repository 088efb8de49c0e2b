# random_produce.py SEED: write the pieces of `data` in some order and way, each byte once.
import os, random, sys, time, threading
r = random.Random(int(sys.argv[1]))
fd = os.open("data", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
size = r.choice([1000, 70000, 700000, 3000000])
# a plan of disjoint pieces, in an order that is mostly forward
cuts = sorted({0, size} | {r.randrange(size) for _ in range(r.randrange(1, 200))})
pieces = list(zip(cuts, cuts[1:]))
how = r.choice(["seq", "pwrite", "shuffle", "threads", "fork", "append"])
def blob(a, b): return random.Random(a).randbytes(b - a)
def nap():
    if r.random() < 0.1: time.sleep(r.random() * 0.004)
if how in ("seq", "fork", "append"):
    if how == "append":
        os.close(fd); fd = os.open("data", os.O_WRONLY | os.O_APPEND)
    for a, b in pieces:
        if how == "fork" and r.random() < 0.05:
            pid = os.fork()
            if pid == 0: os.write(fd, blob(a, b)); os._exit(0)
            os.waitpid(pid, 0)
        elif r.random() < 0.3:
            d = blob(a, b); k = len(d) // 2
            os.writev(fd, [d[:k], d[k:]])
        else: os.write(fd, blob(a, b))
        nap()
elif how == "threads":
    def work(part):
        for a, b in part: os.pwrite(fd, blob(a, b), a)
    ts = [threading.Thread(target=work, args=(pieces[k::4],)) for k in range(4)]
    [t.start() for t in ts]; [t.join() for t in ts]
else:
    if how == "shuffle": r.shuffle(pieces)
    for a, b in pieces:
        if r.random() < 0.5: os.pwrite(fd, blob(a, b), a)
        else: os.lseek(fd, a, 0); os.write(fd, blob(a, b))
        nap()
os.close(fd)
