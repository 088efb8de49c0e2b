"""Many short programs, many small files, many names: leat against the same as a batch, in turn."""
import os
import shutil
import statistics
import tempfile

from calls import read_file, write_json
from common import K, M, Failed, in_turn, ratio, run, spend, verdict
from patterns import span
from watch import Samples, Watched

# A step of many short programs takes at most so many times what it takes in a batch.
ROUNDS_BAR = 1.08
# Of a million files the last take at most so many times what the ten thousandth did, and the daemon
# keeps at most so many bytes for each that all its readers have read.
LATE_BAR, KEPT_BAR = 1.2, 200
# A listing while the names come, to the batch; other looks at complete names, to a tmpfs.
GROWING_BAR, NAMES_BAR = 1.5, 2

# One program alone, three in a pipe whose output the shell takes.
ROUNDS = """begin=${EPOCHREALTIME/./}
for ((i = 0; i < $1; i++)); do
	/bin/true
	x=$(cat in.txt | tr a b | cut -c1-3)
	[ "$x" = bcb ] || exit 1
done
echo $((${EPOCHREALTIME/./} - begin)) >"$2"
"""

# Each of them prints as many lines as it should.
LOOKS = """report=$2
look() {
	local name=$1 lines=$2 begin=${EPOCHREALTIME/./} n
	n=$("${@:3}" | wc -l)
	echo "$name $((${EPOCHREALTIME/./} - begin))" >>"$report"
	[ "$n" = "$lines" ] || { echo "$name: $n lines instead of $lines" >&2; exit 1; }
}
[ "$(cat done)" = "done" ] || exit 1
look find "$1" find d -type f
look ls "$1" ls d
look ls-l $(($1 + 1)) ls -l d
look rm-r 0 rm -r d
[ ! -e d ]
"""


def write_text(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def fresh(tools, name="many"):
    directory = os.path.join(tools.work, name)
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    return directory


def columns(seen):
    """{name: (median seconds, median CPU seconds)} of lists of such pairs."""
    return {name: tuple(statistics.median(t[k] for t in times) for k in (0, 1)) for name, times in seen.items()}


def outputs(*names):
    return [{"filename": name, "committed": "on_close", "mode": "no_update"} for name in names]


# ---- processes ----

def measure_processes(tools, args, results):
    """A step of rounds of short programs, as batch and with leat."""
    rounds = 20 if args.quick else 1500
    script = write_text(os.path.join(tools.work, "rounds"), ROUNDS)
    report = os.path.join(tools.work, "rounds_us")
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "rounds", "exec": f"bash {script} {rounds} {report}",
             "inports": [{"filename": "in.txt"}], "outports": [{"filename": "x*"}]}]})

    def way(*options):
        def once():
            write_text(os.path.join(fresh(tools), "in.txt"), "acaaa\n")
            _, cpu = spend(lambda: run([tools.leat, "run", "--quiet", *options, workflow], cwd=tools.work))
            return int(read_file(report)) / 1e6, cpu
        return once

    took = columns(in_turn([("batch", way("--plain")), ("leat", way())], args.rounds))
    wall, cpu = (ratio(took["leat"][k], took["batch"][k]) for k in (0, 1))
    results["rounds of programs"] = {"rounds": rounds, **took}
    print(f"\n{rounds} rounds of /bin/true and a pipe of three: {took['batch'][0]:.2f} s as a batch, "
          f"{took['leat'][0]:.2f} s with leat: {wall:.3f} times ({verdict(wall, ROUNDS_BAR, False)}); CPU "
          f"{took['batch'][1]:.2f} and {took['leat'][1]:.2f} s: {cpu:.3f} times")


# ---- a million files ----

def files_that_fit(wanted):
    """A file of 1 KB takes a page, and the kernel's own for its name."""
    with open("/proc/meminfo", encoding="ascii") as f:
        free = next(int(line.split()[1]) for line in f if line.startswith("MemAvailable"))
    return min(wanted, free * 1024 // 2 // (6 * K) // 10000 * 10000)


def read_blocks(path):
    with open(path, encoding="ascii") as f:
        return dict(tuple(map(int, line.split())) for line in f)


def cost_us(blocks, first, last):
    return (blocks[last] - blocks[first]) / (last - first) / 1e3


def run_many_files(tools, count, block):
    """The times at which the reader came to each block, and samples of the daemon."""
    directory, blocks = fresh(tools), fresh(tools, "blocks")
    os.mkfifo(os.path.join(blocks, "pace"))
    job = f"-b {block}:{blocks} . 0 {count} {K} 4K"
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "produce", "exec": f"{tools.program('produce')} {job}", "outports": outputs("out_*.dat")},
            {"func": "consume", "exec": f"{tools.program('consume')} {job}",
             "inports": [{"filename": "out_*.dat"}]}]})
    watched = Watched([tools.leat, "run", "--quiet", workflow], cwd=tools.work)
    if not watched.find_daemon():
        raise Failed(f"many files: leat run has no daemon: {watched.wait()[1]}")
    samples = Samples(watched.daemon, 0.05)
    samples.start()
    status, said = watched.wait()
    samples.join()
    shutil.rmtree(directory)
    if status != 0:
        raise Failed(f"many files: status {status}\n{said}")
    return read_blocks(os.path.join(blocks, "behind")), samples


def measure_files(tools, args, results):
    """Many files of 1 KB, one after another: does their number matter?"""
    count = files_that_fit(20000 if args.quick else 1000000)
    block = 1000
    early, late, kept, daemon = [], [], [], []
    if count < 20000:
        raise Failed("many files: there is no memory for 20,000 files of 1 KB")
    for _ in range(1 if args.quick else max(1, args.rounds // 2)):
        blocks, samples = run_many_files(tools, count, block)
        early.append(cost_us(blocks, 5000, 15000))
        late.append(cost_us(blocks, count - 10000, count - block))
        first, last = samples.at(blocks[count // 10]), samples.at(blocks[count - block])
        files = count - block - count // 10
        kept.append((last[2] - first[2]) / files)
        daemon.append((last[1] - first[1]) / files / 1e3)
    e, l, k = (statistics.median(v) for v in (early, late, kept))
    growth = ratio(l, e)
    results["many files"] = {"count": count, "early_us": early, "late_us": late, "kept_bytes": kept, "daemon_us": daemon}
    print(f"\n{count} files of 1 KB, written and read: {e:.1f} us each at the ten thousandth, {l:.1f} us at the last: "
          f"{growth:.2f} times ({verdict(growth, LATE_BAR, False)}); the daemon keeps {k:.0f} bytes for each "
          f"({verdict(k, KEPT_BAR, False)}), and takes {statistics.median(daemon):.1f} us of CPU for each"
          + ("" if count == 1000000 or args.quick else f"   (1,000,000 do not fit into this machine's memory)"))


# ---- names ----

def growing_ways(tools, count):
    """A directory that is listed while it grows: (seconds, CPU seconds) of the two programs."""
    times = os.path.join(tools.work, "times")
    env = dict(os.environ, BENCH_TIMES=times)
    make, read = (f"{tools.program('names')} {what} d {count}" for what in ("make", "list"))
    workflow = write_json(os.path.join(tools.work, "growing.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "make", "exec": make, "outports": outputs("d/*")},
            {"func": "list", "exec": read, "inports": [{"filename": "d/*"}]}]})

    def way(*options):
        def once():
            fresh(tools)
            _, cpu = spend(lambda: run([tools.leat, "run", "--quiet", *options, workflow], cwd=tools.work, env=env))
            return span(times), cpu
        return once
    return [("batch", way("--plain")), ("leat", way())]


def read_looks(report):
    with open(report, encoding="ascii") as f:
        looks = {line.split()[0]: int(line.split()[1]) / 1e6 for line in f}
    os.unlink(report)
    return looks


def look_ways(tools, count, tmpfs):
    """Looks at complete names: {look: seconds} on a tmpfs, by a step that reads them, and by the step
    that has made them."""
    script = write_text(os.path.join(tools.work, "looks"), LOOKS)
    report = os.path.join(tools.work, "looks_us")
    make = f"{tools.program('names')} make d {count}"
    made = f"bash -c '{make} && echo done >done'"
    look = f"bash {script} {count} {report}"
    read = write_json(os.path.join(tools.work, "read.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "make", "exec": made, "outports": outputs("d/*", "done")},
            {"func": "look", "exec": look, "inports": [{"filename": "d/*"}, {"filename": "done"}]}]})
    own = write_json(os.path.join(tools.work, "own.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "make", "exec": f"bash -c '{make} && echo done >done && {look}'",
             "outports": [{"filename": "d/*"}, {"filename": "done"}]},
            {"func": "read", "exec": "cat done", "inports": [{"filename": "d/*"}, {"filename": "done"}]}]})

    def on_tmpfs():
        directory = os.path.join(tmpfs, "names")
        os.mkdir(directory)
        run(["bash", "-c", f"{make} && echo done >done && {look}"], cwd=directory)
        shutil.rmtree(directory)
        return read_looks(report)

    def way(workflow):
        def once():
            fresh(tools)
            run([tools.leat, "run", "--quiet", workflow], cwd=tools.work)
            return read_looks(report)
        return once
    return [("tmpfs", on_tmpfs), ("read", way(read)), ("own", way(own))]


def measure_names(tools, args, results):
    """Many names in one directory."""
    count = 1000 if args.quick else 100000
    took = columns(in_turn(growing_ways(tools, count), args.rounds))
    wall, cpu = (ratio(took["leat"][k], took["batch"][k]) for k in (0, 1))
    results["growing names"] = {"count": count, **took}
    print(f"\n{count} names, listed while they come: {took['batch'][0]:.2f} s as a batch, {took['leat'][0]:.2f} s with "
          f"leat: {wall:.2f} times ({verdict(wall, GROWING_BAR, False)}); CPU {took['batch'][1]:.2f} and "
          f"{took['leat'][1]:.2f} s: {cpu:.2f} times")
    tmpfs = tempfile.mkdtemp(prefix="leat-bench-", dir="/dev/shm")
    try:
        seen = in_turn(look_ways(tools, count, tmpfs), args.rounds)
    finally:
        shutil.rmtree(tmpfs)
    print(f"{count} complete names     tmpfs ms   who reads them         who made them")
    for look in ("find", "ls", "ls-l", "rm-r"):
        t, r, o = (statistics.median(one[look] for one in seen[way]) for way in ("tmpfs", "read", "own"))
        results[f"names {look}"] = {"tmpfs_s": t, "read_s": r, "own_s": o}
        print(f"  {look:10}{t * 1e3:21.1f}" + "".join(
            f"{one * 1e3:11.1f} {ratio(one, t):6.2f}x ({verdict(ratio(one, t), NAMES_BAR, False)})" for one in (r, o)))
