"""Many programs at once, and programs that share too few processors: leat against a batch, in turn."""
import concurrent.futures
import os
import shutil
import statistics
import tempfile
import time

from calls import write_json
from common import K, M, Failed, in_turn, medians, ratio, run, verdict
from insitu import rounds_of
from many import columns, fresh, outputs
from patterns import Pattern, Step, out_file, time_plain_with_cpu, time_with_cpu
from watch import Watched, cpu_ns, read_text

# Of one processor: what all waiting programs together, and the daemon, take while nothing happens.
WAITING_BAR, DAEMON_BAR = 0.001, 0.005
# Streamed, to the better one of a batch and an order as make -j2 has it.
CORES_BAR = 1.02
CORES = 2


# ---- who waits ----

def waiting_workflow(tools, readers, files, seconds):
    """One step that makes files and stays, and readers that begin with a glob."""
    make = f"{tools.program('produce')} . 0 {files} {K} 4K"
    return write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": "make", "exec": f"bash -c '{make} && sleep {seconds}'", "outports": outputs("out_*.dat")}] + [
            {"func": f"sum{i}", "inports": [{"filename": "out_*.dat"}], "outports": [{"filename": f"sum.{i}"}],
             "exec": f"bash -c 'cat out_*.dat | cksum >sum.{i}'"} for i in range(readers)]})


def await_made(watched):
    """Until the step that makes the files has come to its sleep."""
    while watched.process.poll() is None:
        if any(read_text(f"/proc/{pid}/comm") == "sleep\n" for pid in watched.programs()):
            return
        time.sleep(0.02)
    raise Failed(f"readers that wait: {watched.wait()[1]}")


def time_waiting(tools, readers, files, seconds):
    """CPU seconds a second: (of all programs, of the daemon), while all wait."""
    directory = fresh(tools)
    workflow = waiting_workflow(tools, readers, files, seconds)
    watched = Watched([tools.leat, "run", "--quiet", workflow], cwd=tools.work)
    if not watched.find_daemon():
        raise Failed(f"readers that wait: leat run has no daemon: {watched.wait()[1]}")
    await_made(watched)
    time.sleep(seconds / 4)  # for those that have yet to come to their wait
    programs = watched.programs()
    begin = time.monotonic_ns(), sum(map(cpu_ns, programs)), cpu_ns(watched.daemon)
    time.sleep(seconds / 2)
    end = time.monotonic_ns(), sum(map(cpu_ns, programs)), cpu_ns(watched.daemon)
    status, said = watched.wait()
    if status != 0:
        raise Failed(f"readers that wait: status {status}\n{said}")
    check_sums(directory, readers)
    return tuple(ratio(end[k] - begin[k], end[0] - begin[0]) for k in (1, 2))


def check_sums(directory, readers):
    sums = set()
    for i in range(readers):
        with open(os.path.join(directory, f"sum.{i}"), encoding="ascii") as f:
            sums.add(f.read())
    if len(sums) != 1:
        raise Failed("readers that wait: they have read different bytes")


def measure_waits(tools, args, results):
    """Readers that have to wait for all names of a directory cost nothing meanwhile."""
    seconds = 2 if args.quick else 10
    print("\nreaders that begin with a glob, and wait: CPU by the second      all programs"
          "                        daemon")
    for readers, files in ((3, 20), (3, 200)) if args.quick else ((1, 20), (50, 20), (50, 20000)):
        seen = [time_waiting(tools, readers, files, seconds) for _ in range(1 if args.quick else max(1, args.rounds // 2))]
        programs, daemon = (statistics.median(one[k] for one in seen) for k in (0, 1))
        results[f"waits {readers} {files}"] = {"programs": programs, "daemon": daemon}
        print(f"  {readers:3} readers, {files:6} files {programs * 1e3:32.2f} ms ({verdict(programs * 1e3, WAITING_BAR * 1e3, False)})"
              f"{daemon * 1e3:14.2f} ms ({verdict(daemon * 1e3, DAEMON_BAR * 1e3, False)})")


# ---- fans ----

def fan_out(n, size):
    return Pattern(f"1 producer, {n} consumers of all", size,
                   [[Step("produce", f"produce {{dir}} 0 1 {size} 64K", writes=[out_file(0)])],
                    [Step(f"consume{i}", f"consume {{dir}} 0 1 {size} 64K", reads=[out_file(0)]) for i in range(n)]])


def fan_in(n, size):
    return Pattern(f"{n} producers, 1 consumer", n * size,
                   [[Step(f"produce{i}", f"produce {{dir}} {i} 1 {size} 64K", writes=[out_file(i)]) for i in range(n)],
                    [Step("consume", f"consume {{dir}} 0 {n} {size} 64K", reads=["out_*.dat"])]])


def crowd(n, size):
    """As many processes of each of two steps at the same time."""
    def step(name, **files):
        return Step(name + "s", f"many {n} {name} {{dir}} @ 1 {size} 64K", **files)
    return Pattern(f"{2 * n} processes in two steps", n * size,
                   [[step("produce", writes=["out_*.dat"])], [step("consume", reads=["out_*.dat"])]])


def measure_fans(tools, args, results):
    """What many readers of a file, or many writers, cost by the byte."""
    n, out, into = (8, M, M // 4) if args.quick else (200, 16 * M, M)
    shapes = [("one", fan_out(1, out), 1), ("out", fan_out(n, out), n), ("in", fan_in(n, into), 1),
              ("crowd", crowd(20 if args.quick else 500, 256 * K), 1)]
    tmpfs = tempfile.mkdtemp(prefix="leat-bench-", dir="/dev/shm")
    print("\nmany at once                          leat s     tmpfs s   ratio    CPU s     tmpfs     ratio   CPU ns a KB read")
    try:
        for name, pattern, readers in shapes:
            took = columns(in_turn([("leat", lambda p=pattern: time_with_cpu(tools, p)),
                                    ("tmpfs", lambda p=pattern: time_plain_with_cpu(tools, p, tmpfs))], args.rounds))
            leat, batch = took["leat"], took["tmpfs"]
            results[f"fans {name}"] = {"bytes": pattern.nbytes, "readers": readers, **took}
            print(f"  {pattern.name:34}{leat[0]:8.3f}{batch[0]:12.3f}{ratio(leat[0], batch[0]):8.2f}{leat[1]:9.2f}"
                  f"{batch[1]:10.2f}{ratio(leat[1], batch[1]):10.2f}{leat[1] * 1e9 / (readers * pattern.nbytes / K):12.0f}")
    finally:
        shutil.rmtree(tmpfs)


# ---- cores ----

def chains(tools, n, length, blocks, rounds):
    """[[(name, command, what it reads, what it writes)]] of n chains."""
    def stage(c, k):
        read, write = f"c{c}.{k - 1}" if k else None, f"c{c}.{k}"
        words = [tools.program("filter"), *(["-i", read] if read else ["-n", str(blocks)]), "-c", str(rounds), "-o", write]
        return f"stage{c}_{k}", words, read, write
    return [[stage(c, k) for k in range(length)] for c in range(n)]


def as_workflow(tools, made):
    return write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "dir": "many", "tasks": [
            {"func": name, "exec": " ".join(words), "inports": [{"filename": read}] if read else [],
             "outports": outputs(write)} for chain in made for name, words, read, write in chain]})


def run_chains(made, directory, jobs):
    """As make -jN: what has its input runs, so many at a time; here each chain is run front to back."""
    def one(chain):
        for _, words, _, _ in chain:
            run(words, cwd=directory)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(one, chain) for chain in made]:
            done.result()


def cores_way(tools, made, way):
    """Seconds from the begin of the first program to the end of the last; the ends of all chains are
    compared with those of the first run."""
    workflow, times = as_workflow(tools, made), os.path.join(tools.work, "times")
    ends = [chain[-1][3] for chain in made]

    def once():
        directory = fresh(tools)
        begin = time.monotonic()
        if way == "leat":
            run([tools.leat, "run", "--quiet", workflow], cwd=tools.work)
        else:
            run_chains(made, directory, 1 if way == "batch" else CORES)
        seconds = time.monotonic() - begin
        for end in ends:
            kept = os.path.join(tools.work, f"expected-{len(made)}-{end}")
            if not os.path.exists(kept):
                shutil.copy(os.path.join(directory, end), kept)
            run(["cmp", os.path.join(directory, end), kept])
        return seconds
    return once


def measure_cores(tools, args, results):
    """Steps that compute, four for each of two processors."""
    total_ms, blocks = (800 if args.quick else 8000), (8 if args.quick else 64)
    rounds = rounds_of(tools, max(1, total_ms // 8 // blocks))
    had = os.sched_getaffinity(0)
    print(f"\n8 steps that compute, {total_ms / 1e3:g} s in all, on {CORES} processors   batch   make -j{CORES}    leat   to the better")
    os.sched_setaffinity(0, sorted(had)[:CORES])
    try:
        for n in (1, 2):
            made = chains(tools, n, 8 // n, blocks, rounds)
            took = medians(in_turn([(way, cores_way(tools, made, way)) for way in ("batch", "make", "leat")], args.rounds))
            share = ratio(took["leat"], min(took["batch"], took["make"]))
            results[f"cores {n}"] = took
            print(f"  {n} {'chain ' if n == 1 else 'chains'} of {8 // n}{took['batch']:37.2f}{took['make']:11.2f}{took['leat']:8.2f}"
                  f"{share:8.3f} ({verdict(share, CORES_BAR, False)})")
    finally:
        os.sched_setaffinity(0, had)
