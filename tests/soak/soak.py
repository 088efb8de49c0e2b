#!/usr/bin/env python3
"""Does leat grow, or get slower, with time? Rounds of small workflows under `leat run` and under a `leat serve`
that lives all the while (and a second one with --enforce); after each round, what the daemons hold and how long
things take.

    soak.py [--rounds N | --hours H]    H = 2 if neither is given

Prints a line a round, at the end a table of begin, end and slope. The status is 0 only if every workflow ended as
it should, nothing stayed behind, and nothing grew beyond BOUNDS. LEAT_BUILD names the build.
"""
import argparse
import os
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../faults"))
import judge  # noqa: E402
import served  # noqa: E402
import workflows  # noqa: E402

# A session keeps what it knows of each file that was ever made in it: that one made again is a violation, that a
# slot in shared memory may still be held by somebody, and its place in the table of published names.
FILES_A_ROUND = workflows.SMALL_FILES + 2 * served.PROBES + 8
# (how much it may be more at the end than at the begin, how much more a round)
BOUNDS = {
    "rss": (1 << 20, 1024 * FILES_A_ROUND),
    "shm": (1 << 20, 4608 * FILES_A_ROUND),
    "stored": (1 << 20, 16384),  # the permanent file, what the killed step left, a directory
    "fds": (0, 0),
    "mounts": (0, 0),
    "temp": (0, 0),
    "procs": (0, 0),
}
SLOWER = 3  # times the median of the first rounds, and more than SLOWER_NS
SLOWER_NS = 1_000_000
LATENCIES = ("small", "first")
PERCENTILES = (50, 90, 99)


def percentiles(values):
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return [cuts[p - 1] for p in PERCENTILES]


def slope(values):
    """A round, by least squares."""
    if len(values) < 2:
        return 0.0
    return statistics.linear_regression(range(len(values)), values).slope


class Soak:
    def __init__(self):
        self.wrong, self.rows = [], {}  # (whose, what) -> a value a round
        self.servers = []

    def note(self, whose, what, value):
        self.rows.setdefault((whose, what), []).append(value)

    def tell(self, wrong):
        for text in wrong:
            print(text.rstrip(), flush=True)
        self.wrong += wrong

    def run_all(self):
        began = time.monotonic()
        for scene in workflows.RUN:
            if not workflows.can_mount() and scene.needs:
                continue
            result = judge.run(scene, None)
            if result.wrong:
                self.tell([f"leat run, {scene.name}: {result.wrong}\n{result.output[-500:]}"])
        self.note("run", "seconds", time.monotonic() - began)

    def serve_round(self, server, n):
        seconds, *latencies = server.round(n)
        self.note(server.name, "seconds", seconds)
        for what, values in zip(LATENCIES, latencies):
            if len(values) != served.PROBES:
                self.tell([f"{server.name}, round {n}: {len(values)} of {served.PROBES} times of {what}"])
                continue
            for p, value in zip(PERCENTILES, percentiles(values)):
                self.note(server.name, f"{what} p{p}", value)
        for what, value in server.measure(self.first(server.name, "fds")).items():
            self.note(server.name, what, value)
        self.tell(server.wrong)
        server.wrong = []

    def first(self, whose, what):
        return self.rows.get((whose, what), [None])[0]

    def line(self, n):
        parts = [f"round {n + 1}: run {self.rows['run', 'seconds'][-1]:.1f} s"]
        for s in self.servers:
            last = {what: values[-1] for (whose, what), values in self.rows.items() if whose == s.name}
            parts.append(f"{s.name} {last['seconds']:.1f} s, rss {last['rss'] >> 10} k, shm {last['shm'] >> 10} k, "
                         f"stored {last['stored'] >> 10} k, fds {last['fds']}, small file {last.get('small p50', 0) / 1e3:.0f} us, "
                         f"first byte {last.get('first p50', 0) / 1e3:.0f} us")
        print("; ".join(parts), flush=True)

    def rounds(self, args):
        began, n = time.monotonic(), 0
        while n < args.rounds if args.rounds else time.monotonic() - began < args.hours * 3600:
            self.run_all()
            for server in self.servers:
                self.serve_round(server, n)
            self.line(n)
            n += 1
        print(f"{n} rounds in {time.monotonic() - began:.0f} s, {FILES_A_ROUND} files a round under each leat serve")

    # ---- the end ----

    @staticmethod
    def growth(whose, what, values):
        """What is wrong with it, or None. What grows only until caches are full is allowed for once."""
        once, a_round = BOUNDS[what]
        grown, allowed = values[-1] - values[0], once + a_round * (len(values) - 1)
        if grown > allowed:
            return f"{whose}: {what} grew by {grown} in {len(values) - 1} rounds; {allowed} is the bound"
        return None

    @staticmethod
    def slower(whose, what, values):
        third = max(1, len(values) // 3)
        before, after = statistics.median(values[:third]), statistics.median(values[-third:])
        if after > SLOWER * before and after - before > SLOWER_NS:
            return f"{whose}: {what} took {before / 1e3:.0f} us at the begin, {after / 1e3:.0f} us at the end"
        return None

    def table(self):
        print(f"{'':9}{'':12}{'begin':>12}{'end':>12}{'a round':>12}")
        for (whose, what), values in self.rows.items():
            scale, digits = (1e3, 0) if " p" in what else (1, 1) if what == "seconds" else (1, 0)
            name = what + (", us" if scale > 1 else "")
            numbers = [values[0] / scale, values[-1] / scale]
            print(f"{whose:9}{name:12}" + "".join(f"{v:12,.{digits}f}" for v in numbers) +
                  f"{slope(values) / scale:12,.1f}")
            wrong = (self.growth(whose, what, values) if what in BOUNDS else
                     self.slower(whose, what, values) if what.endswith("p50") else None)
            self.wrong += [wrong] if wrong else []

    def main(self, args):
        if not workflows.can_mount():
            print("without programs behind mounts: there is no /dev/fuse")
        try:
            for name, options in (("serve", []), ("enforce", ["--enforce"])):
                self.servers.append(served.Served(name, options))
            self.rounds(args)
            for server in self.servers:
                self.tell(server.end())
        finally:
            for server in self.servers:
                server.clear()
        self.table()
        print("".join(f"WRONG: {text}\n" for text in self.wrong) or "nothing grew beyond its bound")
        return 1 if self.wrong else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int)
    p.add_argument("--hours", type=float, default=2)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and clears up
    sys.exit(Soak().main(args))


main()
