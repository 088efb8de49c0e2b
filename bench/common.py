"""What the parts of bench/run share: programs, runs, memory, bars."""
import os
import resource
import statistics
import subprocess
import threading
import time

K, M, G = 1 << 10, 1 << 20, 1 << 30
# What stays free while memory is held: several times what one run moves.
LEFT_FREE = 5 * G


class Failed(Exception):
    """A measurement could not be made; the text says why."""


class Tools:
    """Where the programs and the directories are, and what is done before a timed run."""

    def __init__(self, build, work, cold):
        self.build, self.work, self.cold = build, work, cold
        self.holder = None
        self.leat = os.path.join(build, "src", "cli", "leat")

    def program(self, name):
        return os.path.join(self.build, "bench", f"bench_{name}")

    def command(self, text, **places):
        words = text.format(**places).split()
        return [self.program(words[0])] + words[1:]

    def make_resident(self, nbytes):
        """Have the guest hold twice the memory that the next run moves, or all that is free while
        the rest is held, unless told not to."""
        if not self.cold:
            run([self.program("resident"), str(LEFT_FREE if self.holder else max(2 * nbytes, 64 * M))])

    def hold_memory(self):
        """On a machine that gives free memory back to its host: take all but LEFT_FREE, so that
        the next run gets pages that were touched right before, not any others."""
        if self.cold or not os.path.exists("/sys/module/page_reporting"):
            return
        self.holder = subprocess.Popen([self.program("resident"), "-k", str(LEFT_FREE)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.holder.stdout.readline() != b"held\n":
            raise Failed("bench_resident could not take memory")

    def release_memory(self):
        if self.holder:
            self.holder.communicate()
        self.holder = None


def run(argv, **kwargs):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def ratio(a, b):
    return a / b if b else float("nan")


def cpu_spent():
    """CPU seconds of all processes that have ended below this one, daemons of leat among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spend(way):
    """(seconds, CPU seconds) that `way` takes."""
    cpu, begin = cpu_spent(), time.monotonic()
    way()
    return time.monotonic() - begin, cpu_spent() - cpu


def verdict(value, bar, at_least=True):
    missed = value < bar if at_least else value > bar
    return f"bar {bar:g}{', over' if missed else ''}"


def in_turn(ways, rounds):
    """Times of each of the (name, function) pairs over `rounds` rounds, as {name: [seconds]}.
    The first round, not counted, warms up; then each way goes first in turn, so that none always
    gets the pages another has just freed."""
    seen = {name: [] for name, _ in ways}
    for k in range(rounds + 1):
        for name, way in ways[k % len(ways):] + ways[:k % len(ways)]:
            seconds = way()
            if k > 0:
                seen[name].append(seconds)
    return seen


def medians(seen):
    return {name: statistics.median(v) for name, v in seen.items()}


class PageWatch:
    """Looks every few milliseconds at how much more shared memory and page cache the machine
    holds than at the beginning, and how much of it in huge pages."""

    KINDS = {"Shmem": "ShmemHugePages", "Cached": "FileHugePages"}

    def __init__(self):
        self.begin = self.read()
        self.most = dict.fromkeys(self.begin, 0)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    @staticmethod
    def read():
        with open("/proc/meminfo", encoding="ascii") as f:
            fields = {line.split(":")[0]: int(line.split()[1]) for line in f}
        # What the kernel calls Cached includes Shmem.
        fields["Cached"] = fields.get("Cached", 0) - fields.get("Shmem", 0)
        names = list(PageWatch.KINDS) + list(PageWatch.KINDS.values())
        return {name: fields.get(name, 0) for name in names}

    def look(self):
        while not self.over.wait(0.003):
            for name, kb in self.read().items():
                self.most[name] = max(self.most[name], kb - self.begin[name])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def page_size(self):
        """Pages of whichever of the two grew more: 2M, smaller ones, or how many are 2M."""
        kind = max(self.KINDS, key=lambda name: self.most[name])
        share = ratio(self.most[self.KINDS[kind]], self.most[kind]) if self.most[kind] else 0
        return "2M" if share > 0.9 else "<2M" if share < 0.1 else f"{share:.0%} 2M"


def wait_for_session(server, runtime):
    for _ in range(500):
        if any("socket" in files for _, _, files in os.walk(runtime)):
            return
        if server.poll() is not None:
            raise Failed(f"leat serve ended: {server.stdout.read()}")
        subprocess.run(["sleep", "0.01"], check=True)
    raise Failed("leat serve did not open its socket")
