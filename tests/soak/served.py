"""One `leat serve` that lives as long as the soak, what is run under it, and what it holds."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import workflows
import judge
import scenes

LIMIT_S = 60  # nothing that is started here takes longer
PROBES = 100


def await_true(what, limit_s=LIMIT_S):
    began = time.monotonic()
    while not (found := what()):
        if time.monotonic() - began > limit_s:
            raise TimeoutError
        time.sleep(0.02)
    return found


class Served:
    def __init__(self, name, options):
        self.name, self.wrong = name, []
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="leat-soak-"))
        self.work, self.runtime = self.top / "work", self.top / "runtime"
        self.work.mkdir()
        self.runtime.mkdir(mode=0o700)
        (self.top / "flow.json").write_text(workflows.SERVED)
        self.environment = judge.environment_of(self.top) | {"LEAT_DIR": str(self.work)}
        self.output = open(self.top / "output", "wb")
        try:
            self.begin(options)
        except BaseException:
            self.clear()
            raise

    def begin(self, options):
        self.server = subprocess.Popen(
            [scenes.LEAT, "serve", "--memory", workflows.MEMORY, *options, "flow.json"], cwd=self.top,
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)
        await_true(lambda: "steps may start" in self.said() or self.server.poll() is not None)
        if self.server.poll() is not None:
            raise SystemExit(f"{self.name}: {self.said()}")
        self.daemon = next(p for p in judge.processes(self.runtime)
                           if pathlib.Path(f"/proc/{p}/comm").read_text().startswith("leat-daemon"))
        self.keeper = self.start("source", "sleep", ["1000000"])
        await_true(lambda: [s for s in self.status()["steps"] if s["name"] == "source" and s["state"] == "running"])

    def said(self):
        return (self.top / "output").read_text(errors="replace")

    def start(self, step, program, words):
        return subprocess.Popen([scenes.LEAT, "exec", "--app", step, "--", program, *words], cwd=self.work,
                                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def status(self):
        done = subprocess.run([scenes.LEAT, "status", "--json"], env=self.environment, capture_output=True,
                              timeout=LIMIT_S, check=True)
        return json.loads(done.stdout)

    def finish(self, what, child, wanted):
        """What it printed. A wrong status is told."""
        try:
            out, errors = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            self.wrong.append(f"{self.name}, {what}: still runs after {LIMIT_S} s")
            return ""
        if child.returncode != wanted:
            self.wrong.append(f"{self.name}, {what}: status {child.returncode} instead of {wanted}: {errors[-300:]}")
        return out

    def at_once(self, n, group):
        children = [(f"round {n}, step {step}", self.start(step, program, words), wanted)
                    for step, program, words, wanted in group]
        return [self.finish(*each) for each in children]

    def round(self, n):
        """Seconds, latencies of small files and of first bytes in nanoseconds."""
        began = time.monotonic()
        for group in workflows.groups(n):
            self.at_once(n, group)
        small = self.at_once(n, [("source", workflows.PROBE, ["files", "probe", str(PROBES)], 0)])[0]
        first = self.at_once(n, [("sink", workflows.PROBE, ["receive", f"first.{n}", str(PROBES)], 0),
                                 ("source", workflows.PROBE, ["send", f"first.{n}", str(PROBES)], 0)])[0]
        self.at_once(n, workflows.removal(n, PROBES))
        seconds = time.monotonic() - began
        self.look_at_results(n)
        return seconds, [int(x) for x in small.split()], [int(x) for x in first.split()]

    def look_at_results(self, n):
        out = self.work / f"out.{n}"
        if not out.exists() or out.read_bytes() != scenes.pattern(workflows.OUT_BYTES):
            self.wrong.append(f"{self.name}, round {n}: out.{n} is not there, or not whole")
        self.wrong += [f"{self.name}, round {n}: a reader says {line}" for line in judge.bad_reads(self.top)]
        (self.top / "log").unlink(missing_ok=True)

    def in_status(self, key):
        text = pathlib.Path(f"/proc/{self.daemon}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith(key + ":")).split()[1]) * 1024

    def fds(self):
        return len(os.listdir(f"/proc/{self.daemon}/fd"))

    def settle(self, fds):
        """Processes of a round, and what the daemon does for them, may take a moment to go; what stays is measured."""
        def settled():
            # leat serve, its daemon, and the instance of source that stays, with its leat exec.
            return len(judge.processes(self.runtime)) <= 4 and (fds is None or self.fds() <= fds)
        try:
            await_true(settled, judge.SETTLE_S)
        except TimeoutError:
            pass

    def measure(self, fds):
        """What the daemon holds now; there were `fds` descriptors after the first round, None: this is it."""
        time.sleep(0.5 if fds is None else 0.1)  # the daemon looks at what is stored every 50 ms
        self.settle(fds)
        found = {
            "rss": self.in_status("RssAnon") + self.in_status("RssFile"),
            "shm": self.in_status("RssShmem"),
            "fds": self.fds(),
            "mounts": sum(1 for _ in open(f"/proc/{self.daemon}/mountinfo")) +
                      sum(str(self.top) in line for line in open("/proc/mounts")),
            "temp": len(judge.below(self.top, "runtime")) + sum(p.startswith(".leat-") for p in os.listdir(self.work)),
            "procs": len(judge.processes(self.runtime)),
        }
        # Last, since it is a connection itself.
        memory = self.status()["memory"]
        return found | {"stored": memory["used_bytes"] + memory["spilled_bytes"]}

    def end(self):
        """It has failed steps to tell of, and leaves nothing."""
        self.keeper.terminate()
        self.finish("the instance that stays", self.keeper, 128 + signal.SIGTERM)
        self.server.terminate()
        try:
            if self.server.wait(LIMIT_S) != 1:
                self.wrong.append(f"{self.name}: leat serve ends with {self.server.returncode}: {self.said()[-300:]}")
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{self.name}: leat serve does not end")
        left = judge.await_nothing_left(self.top)
        if left:
            self.wrong.append(f"{self.name}: left behind: {left}")
        return self.wrong

    def clear(self):
        for pid in judge.processes(self.runtime):
            judge.end(pid, signal.SIGKILL)
        self.output.close()
        shutil.rmtree(self.top, ignore_errors=True)
