"""Looks at a run of leat while it goes on: what its daemon and its other processes use."""
import os
import subprocess
import threading
import time


def read_text(path):
    """The text of a file of /proc; "" where the process has ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def children_of(pid):
    return [int(word) for thread in threads_of(pid)
            for word in read_text(f"/proc/{pid}/task/{thread}/children").split()]


def threads_of(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def below(pid):
    """All processes that this one has started, and they."""
    found = []
    for child in children_of(pid):
        found += [child] + below(child)
    return found


def cpu_ns(pid):
    """Of all threads it has now. Source: sched-stats of the kernel's documentation."""
    return sum(int((read_text(f"/proc/{pid}/task/{t}/schedstat").split() or ["0"])[0])
               for t in threads_of(pid))


def memory_bytes(pid):
    """What it has in memory of its own, and of what it shares with the programs of the run."""
    kb = {"RssAnon": 0, "RssShmem": 0}
    for line in read_text(f"/proc/{pid}/status").splitlines():
        name, _, value = line.partition(":")
        if name in kb:
            kb[name] = int(value.split()[0])
    return sum(kb.values()) * 1024


class Watched:
    """A command that runs; `daemon` is the process of leat's below it once there is one."""

    def __init__(self, argv, **kwargs):
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
        self.daemon = None

    def find_daemon(self, seconds=10):
        end = time.monotonic() + seconds
        while not self.daemon and self.process.poll() is None and time.monotonic() < end:
            self.daemon = next((p for p in children_of(self.process.pid)
                                if read_text(f"/proc/{p}/comm") == "leat-daemon\n"), None)
            time.sleep(0.01)
        return self.daemon

    def programs(self):
        """The processes of the steps."""
        return [p for p in below(self.process.pid) if p != self.daemon]

    def wait(self):
        """(status, what it printed)"""
        said, _ = self.process.communicate()
        return self.process.returncode, said


class Samples(threading.Thread):
    """(monotonic ns, CPU ns, memory bytes) of a process, every `pause` seconds until it ends."""

    def __init__(self, pid, pause):
        super().__init__()
        self.pid, self.pause, self.seen = pid, pause, []

    def run(self):
        while True:
            now, cpu, memory = time.monotonic_ns(), cpu_ns(self.pid), memory_bytes(self.pid)
            if not memory:
                return
            self.seen.append((now, cpu, memory))
            time.sleep(self.pause)

    def at(self, ns):
        """The sample that was taken next after that moment, or the last."""
        return next((s for s in self.seen if s[0] >= ns), self.seen[-1])
