"""What a program behind the mount reads in a second of a file that is final, and of the same file
on a tmpfs, in turn."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from calls import alternate, read_file, write_json
from common import M, Failed, ratio, run

NOBODY = 65534
# What is read by 1 MB is to be at least so much of tmpfs: the kernel reads by itself, or not.
BARS = {True: 0.7, False: 0.4}
PASSES = 4


def as_user(tools):
    """Words in front of a command that make it an ordinary user's, who may open /dev/fuse. None
    and why not."""
    if os.geteuid() != 0:
        return [], None
    device = os.path.join(tools.work, "fuse")
    try:
        os.mknod(device, 0o20666, os.makedev(10, 229))
        os.chmod(device, 0o666)
    except OSError as why:
        return None, str(why)
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'mount --bind "$0" /dev/fuse && exec setpriv --reuid=65534 --regid=65534 '
             '--clear-groups "$@"', device]
    test = subprocess.run(words + ["test", "-x", tools.leat, "-a", "-w", "/dev/fuse"], check=False)
    return (words, None) if test.returncode == 0 else (None, f"{tools.leat} is not to be reached")


class Reader:
    """One way to read: rounds of passes behind the mount."""

    def __init__(self, tools, name, words, size, op):
        self.tools, self.name, self.words = tools, name, words
        self.dir = os.path.join(tools.work, "mounted-" + name)
        self.report = os.path.join(self.dir, "report")
        self.size, self.op, self.seconds, self.by_kernel = size, op, [], None
        os.makedirs(os.path.join(self.dir, "flow"))
        os.makedirs(os.path.join(self.dir, "run"), mode=0o700)
        if words:
            for path in (self.dir, os.path.join(self.dir, "flow"), os.path.join(self.dir, "run")):
                os.chown(path, NOBODY, NOBODY)
        produce = [tools.program("produce"), ".", "0", "1", str(size), str(M)]
        reread = [tools.program("reread"), "out_000000.dat", str(size), str(op), str(PASSES),
                  self.report]
        self.workflow = write_json(os.path.join(self.dir, "flow.yaml"), {
            "name": "bench", "dir": "flow", "tasks": [
                {"func": "produce", "exec": " ".join(produce),
                 "outports": [{"filename": "out_000000.dat"}]},
                {"func": "reread", "exec": " ".join(reread),
                 "inports": [{"filename": "out_000000.dat"}],
                 "outports": [{"filename": "none"}]}],
            "permanent": []})

    def once(self):
        self.tools.make_resident(2 * self.size)
        table = run(self.words + [self.tools.leat, "run", self.workflow], cwd=self.dir,
                    env=dict(os.environ, LEAT_RUNTIME_DIR=os.path.join(self.dir, "run"),
                             LEAT_STATE_DIR=os.path.join(self.dir, "state")))
        # What the kernel reads by itself nobody counts.
        line = next(row for row in table.splitlines() if row.startswith("reread "))
        self.by_kernel = re.findall(r"([\d.]+) k?M?G?B\b", line)[0] == "0"
        self.seconds.append([float(word) for word in read_file(self.report).split()])


def print_reader(reader, tmpfs, results):
    first, later = (statistics.median(f(s) for s in reader.seconds)
                    for f in (lambda s: s[0], lambda s: statistics.median(s[1:])))
    kind = "passthrough" if reader.by_kernel else "no passthrough"
    bar = BARS[reader.by_kernel]
    for which, took in (("first read", first), ("read again", later)):
        share = ratio(tmpfs, took)
        judged = f"   (bar {bar}{', over' if share < bar else ''})" if reader.op == M else ""
        name = f"{reader.name}, {kind}, {which}"
        print(f"  {name:44}{reader.op >> 10:6} KB{reader.size / took / 1e9:8.2f} GB/s"
              f"{share:8.2f}{judged}")
        results[f"mount {name} {reader.op}"] = {"seconds": took, "of_tmpfs": share}


def measure_mount(tools, args, results):
    """A static program reads a committed file, by 1 MB and by 4 KB."""
    size = (64 if args.quick else 512) * M
    tmpfs = tempfile.mkdtemp(prefix="leat-bench-", dir="/dev/shm")
    words, why = as_user(tools)
    os.chmod(tools.work, 0o755)
    print("\nstatic program, a final file       of the same on tmpfs"
          "   (medians; every byte is checked)")
    try:
        run([tools.program("produce"), tmpfs, "0", "1", str(size), str(M)])
        for op in (M, 64 << 10, 4096):
            measure_size(tools, args, results, (size, op, tmpfs, words, why))
    finally:
        shutil.rmtree(tmpfs)


def measure_size(tools, args, results, what):
    size, op, tmpfs, words, why = what
    report = os.path.join(tools.work, "plain")
    command = [tools.program("reread"), os.path.join(tmpfs, "out_000000.dat"), str(size), str(op),
               str(PASSES), report]
    plain, readers = [], []

    def plain_pass():
        run(command)
        plain.extend(float(word) for word in read_file(report).split())

    if os.geteuid() == 0:
        readers.append(Reader(tools, f"root-{op}", [], size, op))
    if words is not None:
        readers.append(Reader(tools, f"user-{op}", words, size, op))
    alternate(args.rounds, plain_pass, *[r.once for r in readers])
    base = statistics.median(plain)
    print(f"  {'tmpfs':44}{op >> 10:6} KB{size / base / 1e9:8.2f} GB/s")
    for reader in readers:
        reader.name = reader.name.split("-")[0]
        print_reader(reader, base, results)
        shutil.rmtree(reader.dir)
    if words is None:
        print(f"  as an ordinary user: not measured: {why}")
