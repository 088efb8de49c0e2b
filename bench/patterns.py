"""Data moved between processes: leat against files on disk, on a tmpfs, and pipes, in turn."""
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from common import Failed, G, K, M, PageWatch, cpu_spent, in_turn, medians, ratio, run, verdict


# The fraction of the copy limit that leat is to reach, by whether its pages are large.
LIMIT_BARS = {"2M": 0.8, "<2M": 0.5}


class Step:
    """One program of a pattern: its command in terms of {dir}, and the files it declares."""

    def __init__(self, name, command, reads=(), writes=()):
        self.name, self.command = name, command
        self.reads, self.writes = list(reads), list(writes)


class Pattern:
    """Groups of steps: with plain files a group starts when the one before has ended.

    `bars`: how many times faster than "disk", "tmpfs" or "pipe" leat is to be, "limit": its fraction
    of the copy limit, "op_ns": the most an operation may take. `count` files, `op` bytes an operation."""

    def __init__(self, name, nbytes, groups, pipe=None, dirs=(), setup=None, bars=None, count=0,
                 op=0):
        self.name, self.nbytes, self.groups = name, nbytes, groups
        self.pipe, self.dirs, self.setup = pipe, dirs, setup
        self.bars, self.count, self.op = bars or {}, count, op


def out_file(i):
    return f"out_{i:06d}.dat"


def one_to_one(name, count, size, op, **bars):
    args = f"0 {count} {size} {op}"
    return Pattern(
        name, count * size,
        [[Step("produce", "produce {dir} " + args, writes=["out_*.dat"])],
         [Step("consume", "consume {dir} " + args, reads=["out_*.dat"])]],
        pipe=(f"produce -m pipe x {args}", f"consume -m pipe x {args}"),
        bars=bars, count=count, op=op)


def one_to_many_files(n, count, size):
    each = count // n
    return Pattern(
        f"1-to-{n}, {count} x {size / M:.3g} MB", count * size,
        [[Step("produce", f"produce {{dir}} 0 {count} {size} {M}", writes=["out_*.dat"])],
         [Step(f"consume{i}", f"consume {{dir}} {i * each} {each} {size} {M}",
               reads=[out_file(k) for k in range(i * each, (i + 1) * each)]) for i in range(n)]],
        bars={"disk": 1.5}, count=count)


def one_to_many_sparse(n, size):
    return Pattern(
        f"1-to-{n}, parts of one sparse file", size,
        [[Step("produce", f"produce -p {n} {{dir}} 0 1 {size} {M}", writes=[out_file(0)])],
         [Step(f"consume{i}", f"consume -r {i}/{n} {{dir}} 0 1 {size} {M}", reads=[out_file(0)])
          for i in range(n)]], bars={"disk": 1.5}, count=1)


def many_to_one(n, count, size):
    each = count // n
    return Pattern(
        f"{n}-to-1, {count} x {size / M:.3g} MB", count * size,
        [[Step(f"produce{i}", f"produce {{dir}} {i * each} {each} {size} {M}",
               writes=[out_file(k) for k in range(i * each, (i + 1) * each)]) for i in range(n)],
         [Step("consume", f"consume {{dir}} 0 {count} {size} {M}", reads=["out_*.dat"])]],
        bars={"disk": 1.5}, count=count)


def mapreduce(size, chunks, mappers, reducers):
    def generate(tools, path):
        run([tools.program("mapreduce"), "generate", path, str(size)])

    def chunk_names(m):
        return [f"chunks/{out_file(c)}"
                for c in range(m * chunks // mappers, (m + 1) * chunks // mappers)]

    def pair(m, r):
        return f"pairs/{out_file(m * reducers + r)}"

    return Pattern(
        f"MapReduce, {size // M} MB, {mappers} + {reducers}", size,
        [[Step("split", f"mapreduce split {{input}} {{dir}} {chunks}", writes=["chunks/*"])],
         [Step(f"map{m}", f"mapreduce map {{dir}} {m} {mappers} {chunks} {reducers}",
               reads=chunk_names(m), writes=[pair(m, r) for r in range(reducers)])
          for m in range(mappers)],
         [Step(f"reduce{r}", f"mapreduce reduce {{dir}} {r} {reducers} {mappers}",
               reads=[pair(m, r) for m in range(mappers)], writes=[f"sums/{out_file(r)}"])
          for r in range(reducers)],
         [Step("merge", f"mapreduce merge {{dir}} {reducers} {{output}}", reads=["sums/*"])]],
        dirs=("chunks", "pairs", "sums"), setup=generate)


def patterns(quick):
    s = 10 if quick else 1
    many = 5 * M // s // 4096 * 4096
    return [
        one_to_one("1-to-1, 100 x 10 MB", 100 // s, 10 * M, M, disk=2),
        one_to_one("1-to-1, 1 x 1 GB by 1 MB", 1, G // s // M * M, M, disk=2.5, pipe=4,
                   limit=LIMIT_BARS),
        one_to_one("1-to-1, 1 x 256 MB by 1 KB", 1, 256 * M // s // M * M, K, disk=5, pipe=2,
                   op_ns=150),
        one_to_one("1-to-1, 1 x 64 MB by 64 B", 1, 64 * M // s // M * M, 64, pipe=3),
        one_to_one("1-to-1, 10000 x 10 KB", 10000 // s, 10 * K, 12 * K, disk=1, tmpfs=1.5),
        one_to_one("1-to-1, 100000 x 10 KB", 100000 // s, 10 * K, 12 * K, disk=1),
        one_to_many_files(5, 100, many),
        one_to_many_files(20, 100, many),
        one_to_many_sparse(5, 400 * M // s),
        one_to_many_sparse(20, 400 * M // s),
        many_to_one(5, 100, many),
        many_to_one(20, 100, many),
        mapreduce(256 * M // s, 20, 4, 2),
    ]


# ---- one run in each way ----

def span(path):
    """Seconds from the first begin to the last end that the programs noted."""
    with open(path, encoding="ascii") as f:
        times = [tuple(map(int, line.split())) for line in f]
    os.unlink(path)
    return (max(t[1] for t in times) - min(t[0] for t in times)) / 1e9


def fresh(directory, pattern):
    shutil.rmtree(directory, ignore_errors=True)
    for sub in ("",) + tuple(pattern.dirs):
        os.makedirs(os.path.join(directory, sub))


def places(tools, directory):
    return {"dir": directory, "input": os.path.join(tools.work, "input"),
            "output": os.path.join(tools.work, "merged")}


def environment(times):
    return dict(os.environ, BENCH_TIMES=times)


def run_plain(tools, pattern, directory, times):
    """All groups one after another on plain files in `directory`."""
    for group in pattern.groups:
        running = [(step, subprocess.Popen(
            tools.command(step.command, **places(tools, directory)),
            env=environment(times), stdout=subprocess.DEVNULL)) for step in group]
        for step, process in running:
            if process.wait() != 0:
                raise Failed(f"{pattern.name}: {step.name}: status {process.returncode}")


def time_plain_with_cpu(tools, pattern, base):
    """(seconds, CPU seconds) on plain files below `base`."""
    directory = os.path.join(base, "plain")
    times = os.path.join(tools.work, "times")
    fresh(directory, pattern)
    tools.make_resident(pattern.nbytes)
    before = cpu_spent()
    run_plain(tools, pattern, directory, times)
    cpu = cpu_spent() - before
    seconds = span(times)
    shutil.rmtree(directory)
    return seconds, cpu


def time_plain(tools, pattern, base):
    return time_plain_with_cpu(tools, pattern, base)[0]


def time_pipe(tools, pattern):
    times = os.path.join(tools.work, "times")
    writer, reader = (tools.command(c) for c in pattern.pipe)
    tools.make_resident(pattern.nbytes)
    with subprocess.Popen(writer, stdout=subprocess.PIPE, env=environment(times)) as producer:
        with subprocess.Popen(reader, stdin=producer.stdout, env=environment(times)) as consumer:
            producer.stdout.close()
            if consumer.wait() != 0 or producer.wait() != 0:
                raise Failed(f"{pattern.name}: pipe failed")
    return span(times)


def write_workflow(tools, pattern, directory):
    tasks = []
    for step in (s for group in pattern.groups for s in group):
        words = tools.command(step.command, **places(tools, directory))
        task = {"func": step.name, "exec": " ".join(words)}
        if step.reads:
            task["inports"] = [{"filename": f} for f in step.reads]
        if step.writes:
            task["outports"] = [{"filename": f, "committed": "on_close", "mode": "no_update"}
                                for f in step.writes]
        tasks.append(task)
    path = os.path.join(tools.work, "workflow.yaml")
    with open(path, "w", encoding="ascii") as f:
        json.dump({"name": "bench", "tasks": tasks}, f, indent=1)  # JSON is YAML
    return path


def time_with_cpu(tools, pattern):
    """(seconds, CPU seconds) of one run, the daemon's and the start of the steps among the latter."""
    directory = os.path.join(tools.work, "leat")
    times = os.path.join(tools.work, "times")
    fresh(directory, pattern)
    workflow = write_workflow(tools, pattern, directory)
    tools.make_resident(pattern.nbytes)
    before = cpu_spent()
    run([tools.leat, "run", "--quiet", workflow], cwd=directory, env=environment(times))
    cpu = cpu_spent() - before
    seconds = span(times)
    shutil.rmtree(directory)
    return seconds, cpu


def time_leat(tools, pattern):
    return time_with_cpu(tools, pattern)[0]


def copy_limit(tools, pattern):
    """Seconds that the bytes would take at the limit of two processes that only copy."""
    mount = os.path.join(tools.work, "mount")
    os.makedirs(mount, exist_ok=True)
    tools.make_resident(pattern.nbytes)
    rate, page = run([tools.program("copylimit"), str(pattern.nbytes), str(pattern.op),
                      mount]).split()
    if page != "2M":
        print(f"  the copy limit was measured with pages of {page}")
    return pattern.nbytes / (float(rate) * 1e9)


def time_consumer(tools, pattern, base):
    """Seconds that the last group takes of files that are complete: what the check of every byte
    costs, whoever passes them on."""
    directory = os.path.join(base, "plain")
    times = os.path.join(tools.work, "times")
    fresh(directory, pattern)
    tools.make_resident(pattern.nbytes)
    for group in pattern.groups:
        if os.path.exists(times):
            os.unlink(times)
        run_plain(tools, Pattern(pattern.name, pattern.nbytes, [group]), directory, times)
    seconds = span(times)
    shutil.rmtree(directory)
    return seconds


# ---- the table ----

def watched(way, pages, name):
    """`way`, whose first call notes the pages it uses."""
    def call():
        if name in pages:
            return way()
        with PageWatch() as watch:
            seconds = way()
        pages[name] = watch.page_size()
        return seconds
    return call


def report(pattern, median, pages):
    """The lines of one pattern: `median` seconds by way, `pages` by way."""
    took, bars = median["leat"], pattern.bars
    row = f"{pattern.name:36}{took:8.3f} s {pattern.nbytes / took / 1e9:6.2f} GB/s"
    for other in ("disk", "tmpfs", "pipe"):
        row += f"{ratio(median[other], took):8.2f}x" if other in median else " " * 9
    print(f"{row}   pages {pages['leat']} / {pages['disk']} / {pages['tmpfs']}")
    notes = [f"{ratio(median[other], took):.2f}x faster than {other} ({verdict(ratio(median[other], took), bars[other])})"
             for other in ("disk", "tmpfs", "pipe") if other in bars]
    if "limit" in median:
        share = ratio(median["limit"], took)
        bar = bars["limit"]["2M" if pages["leat"] == "2M" else "<2M"]
        notes.append(f"{share:.2f} of the copy limit of "
                     f"{pattern.nbytes / median['limit'] / 1e9:.1f} GB/s ({verdict(share, bar)}); "
                     f"the consumer alone, of a file on a tmpfs: "
                     f"{pattern.nbytes / median['consumer'] / 1e9:.1f} GB/s")
    if 0 < pattern.op <= K:
        ns = took * 1e9 / (pattern.nbytes // pattern.op)
        judged = f" ({verdict(ns, bars['op_ns'], False)})" if "op_ns" in bars else ""
        notes.append(f"{ns:.0f} ns per operation{judged}")
    if pattern.count >= 1000:
        notes.append(", ".join(f"{name} {median[name] * 1e6 / pattern.count:.1f}"
                               for name in ("leat", "disk", "tmpfs")) + " us per file")
    for note in notes:
        print(f"    {note}")


def measure_one(tools, pattern, rounds, tmpfs, results):
    if pattern.setup:
        pattern.setup(tools, places(tools, "")["input"])
    pages = {}
    ways = [("leat", lambda: time_leat(tools, pattern)),
            ("disk", lambda: time_plain(tools, pattern, tools.work)),
            ("tmpfs", lambda: time_plain(tools, pattern, tmpfs))]
    ways = [(name, watched(way, pages, name)) for name, way in ways]
    if pattern.pipe:
        ways.append(("pipe", lambda: time_pipe(tools, pattern)))
    if "limit" in pattern.bars:
        ways.append(("limit", lambda: copy_limit(tools, pattern)))
        ways.append(("consumer", lambda: time_consumer(tools, pattern, tmpfs)))
    seen = in_turn(ways, rounds)
    median = medians(seen)
    results[pattern.name] = {"bytes": pattern.nbytes, "count": pattern.count, "seconds": median,
                             "pages": pages, "bars": pattern.bars, "all": seen}
    report(pattern, median, pages)


def each_file(results, name):
    return results[name]["seconds"]["leat"] / results[name]["count"]


def rate(results, name):
    return results[name]["bytes"] / results[name]["seconds"]["leat"]


def compare(results):
    """What is asked of two patterns together."""
    few, many = "1-to-1, 10000 x 10 KB", "1-to-1, 100000 x 10 KB"
    if few in results and many in results:
        growth = ratio(each_file(results, many), each_file(results, few))
        print(f"cost per file, of ten times as many files: {growth:.2f} times "
              f"({verdict(growth, 1.1, False)})")
    for n in (5, 20):
        files = [name for name in results if name.startswith(f"1-to-{n}, 100")]
        sparse = f"1-to-{n}, parts of one sparse file"
        if files and sparse in results:
            speed = ratio(rate(results, sparse), rate(results, files[0]))
            print(f"1-to-{n}, parts of one sparse file: {speed:.2f} of the speed of separate files "
                  f"({verdict(speed, 1)})")


def measure_patterns(tools, args, results):
    tmpfs = tempfile.mkdtemp(prefix="leat-bench-", dir="/dev/shm")
    kind = run(["stat", "-f", "-c", "%T", tools.work]).strip()
    print("memory is " + ("as the host left it (--cold)" if tools.cold else
                          "made resident before each timed run, in all ways alike"))
    print(f"\n{'pattern':36}{'leat':>10} {'':11}{'disk':>9}{'tmpfs':>9}{'pipe':>9}   "
          f"(x: times leat is faster; disk is {kind}; disk and tmpfs: written, then read)")
    try:
        for pattern in patterns(args.quick):
            if args.only in pattern.name or args.only == "patterns":
                measure_one(tools, pattern, args.rounds, tmpfs, results)
        compare(results)
    finally:
        shutil.rmtree(tmpfs)


def measure_against(tools, other, args, results):
    """leat of two builds in turn, with the programs of the first: what has become slower?"""
    print(f"{'pattern':36}{'leat':>10}{'other':>10}   (leat to other: medians, least; medians of CPU)")
    for pattern in patterns(args.quick):
        if args.only not in pattern.name and args.only not in ("", "patterns"):
            continue
        if pattern.setup:
            pattern.setup(tools, places(tools, "")["input"])
        seen = in_turn([("leat", lambda: time_with_cpu(tools, pattern)),
                        ("other", lambda: time_with_cpu(other, pattern))], args.rounds)
        wall, cpu = ({name: [t[k] for t in times] for name, times in seen.items()} for k in (0, 1))
        median, least, busy = (
            {name: fold(times) for name, times in one.items()}
            for fold, one in ((statistics.median, wall), (min, wall), (statistics.median, cpu)))
        print(f"{pattern.name:36}{median['leat']:8.3f} s{median['other']:8.3f} s   " + ", ".join(
            f"{ratio(one['leat'], one['other']):.2f}" for one in (median, least, busy)))
        results[pattern.name] = {"seconds": wall, "cpu": cpu}
