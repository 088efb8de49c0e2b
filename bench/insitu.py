"""In situ workflows: what flow control saves, what an instance of an ensemble costs, and what leat
costs where it starts the same processes as a shell script."""
import math
import os
import shutil
import statistics
import time

from calls import write_json
from common import K, M, Failed, in_turn, medians, ratio, run

# At most so many times what the sleeps alone take; the paper's saving by flow control, at 10 times.
FLOW_BAR, FLOW_PAPER = 1.1, {10: 4.7}
# An instance's step takes at most so many times what it takes in the cheapest ensemble.
ENSEMBLE_BAR = 1.25
# leat takes at most so many times what the shell takes.
DRIVER_BAR = 1.05


def cpus():
    return len(os.sched_getaffinity(0))


def judged(value, bar):
    return f"{value:.2f} (bar {bar:g}{', over' if value > bar else ''})"


def coupled(tools, **options):
    """A command line of the program: coupled(tools, s=200, o="x") for -s 200 -o x."""
    return " ".join([tools.program("coupled")] + [f"-{k} {v}" for k, v in options.items()])


def rounds_of(tools, ms):
    """So much computing takes `ms` of a CPU's time: the same in all runs that are compared."""
    return int(run([tools.program("coupled"), "-m", str(ms)]))


def write_workflow(tools, tasks):
    return write_json(os.path.join(tools.work, "insitu.yaml"),
                      {"name": "bench", "dir": "insitu", "tasks": tasks})


def task(func, command, count=1, inputs=(), outputs=()):
    made = {"func": func, "exec": command, "inports": list(inputs),
            "outports": [{"filename": name} for name in outputs]}
    return dict(made, taskCount=count) if count > 1 else made


def fresh(tools):
    directory = os.path.join(tools.work, "insitu")
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    return directory


def time_leat(tools, workflow, *options):
    """Seconds from the start of `leat run` to its end."""
    fresh(tools)
    begin = time.monotonic()
    run([tools.leat, "run", "--quiet", *options, workflow], cwd=tools.work)
    return time.monotonic() - begin


# ---- flow control ----

STEPS, INSTANCES = 10, 4


def ideal_flow(freq, pause, slow):
    """Seconds that nothing but the sleeps take, and how many steps are delivered: the producer makes
    step k after a sleep, but a step that is delivered not before the last one was taken; the
    consumer takes one when it is ready, and sleeps."""
    if freq == "latest":
        ready, seen, n = 0.0, 0, 0
        while seen < STEPS:
            at = max(ready, (seen + 1) * pause)
            seen, n = min(STEPS, int(at / pause + 1e-9)), n + 1
            ready = at + slow
        return ready, n
    now = taken = ready = 0.0
    for k in range(1, STEPS + 1):
        now += pause
        if k % freq == 0:
            now = max(now, taken)
            taken = max(now, ready)
            ready = taken + slow
    return max(now, ready), STEPS // freq


def flow_workflow(tools, freq, pause_ms, times):
    return write_workflow(tools, [
        task("make", coupled(tools, n=STEPS, s=pause_ms, o="x", b=M), INSTANCES, outputs=["x"]),
        task("use", coupled(tools, i="x", s=pause_ms * times, k="steps"), INSTANCES,
             [{"filename": "x", "io_freq": freq}], ["steps"])])


def check_steps(tools, freq, expected):
    """Each consumer had what it is to have; under latest that is a matter of time."""
    for i in range(INSTANCES):
        with open(os.path.join(tools.work, "insitu", f"use.{i}", "steps"), encoding="ascii") as f:
            n = int(f.read())
        if not 1 <= n <= STEPS or (freq != "latest" and n != expected):
            raise Failed(f"io_freq {freq}: use.{i} had {n} steps instead of {expected}")


def flow_way(tools, freq, pause_ms, times):
    def once():
        seconds = time_leat(tools, flow_workflow(tools, freq, pause_ms, times), "--jobs",
                            str(2 * INSTANCES))
        check_steps(tools, freq, ideal_flow(freq, pause_ms, pause_ms * times)[1])
        return seconds
    return once


def measure_flow(tools, args, results):
    """The paper's Table 2, in small."""
    pause_ms = 50 if args.quick else 200
    print(f"\nflow control: {INSTANCES} producers of {STEPS} steps, one every {pause_ms} ms, "
          f"{INSTANCES} consumers\n{'':14}{'seconds':>9}{'of sleeps':>11}{'ratio':>20}"
          f"{'saving':>10}{'of sleeps':>11}{'paper':>9}")
    for times in (2, 5, 10):
        ways = {"all": 1, f"some, {times}": times, "latest": "latest"}
        took = medians(in_turn([(name, flow_way(tools, freq, pause_ms, times))
                                for name, freq in ways.items()], args.rounds))
        ideal = {name: ideal_flow(freq, pause_ms / 1e3, pause_ms * times / 1e3)[0]
                 for name, freq in ways.items()}
        for name in ways:
            paper = f"{FLOW_PAPER[times]}x" if times in FLOW_PAPER and name != "all" else ""
            print(f"{times:3}x {name:10}{took[name]:8.2f}{ideal[name]:11.2f}"
                  f"{judged(took[name] / ideal[name], FLOW_BAR):>20}"
                  f"{took['all'] / took[name]:9.2f}x{ideal['all'] / ideal[name]:10.2f}x{paper:>9}")
        results[f"flow {times}x"] = {"seconds": took, "ideal": ideal}


# ---- ensembles ----

def ensemble_tasks(tools, rounds, producers, consumers):
    """Each instance computes for `rounds`; the consumer of a fan-in does for each step it is given a
    quarter of it, as it is one for all."""
    several = producers > consumers
    return [task("make", coupled(tools, c=rounds, o="x", b=M), producers, outputs=["x"]),
            task("use", coupled(tools, i="x", c=rounds // 4 if several else rounds,
                                **({} if several else {"n": 1})), consumers, [{"filename": "x"}])]


def ideal_ensemble(work, producers, consumers):
    """Seconds of computing alone: two halves one after the other, or, where one consumer reads what
    many made, both at once, and its last step."""
    def spread(n):
        return math.ceil(n / cpus()) * work
    if producers > consumers:
        return max((producers * work + producers * work / 4) / cpus(), producers * work / 4) + work / 4
    return spread(producers) + spread(consumers)


def measure_ensembles(tools, args, results):
    """Time per instance's step, the CPUs accounted for, as there are more of them."""
    ms = 20 if args.quick else 200
    rounds = rounds_of(tools, ms)
    counts = (1, 4, 16, 64) if args.quick else (1, 4, 16, 64, 256)
    time_leat(tools, write_workflow(tools, ensemble_tasks(tools, rounds, 1, 1)))
    print(f"\nensembles: {ms} ms of computing and 1 MB an instance, {cpus()} CPUs\n"
          f"{'':12}{'seconds':>9}{'of computing':>14}{'ratio':>8}{'to the least ratio':>26}")
    for kind, shape in (("N x N", lambda n: (n, n)), ("1 x N", lambda n: (1, n)),
                        ("N x 1", lambda n: (n, 1))):
        ratios = {}
        for n in counts:
            workflow = write_workflow(tools, ensemble_tasks(tools, rounds, *shape(n)))
            # As long as hundreds of other runs: a median of three will do.
            seen = [time_leat(tools, workflow) for _ in range(min(args.rounds, 3))]
            took = statistics.median(seen)
            ideal = ideal_ensemble(ms / 1e3, *shape(n))
            ratios[n] = took / ideal
            print(f"{kind} {n:5} {took:9.2f}{ideal:14.2f}{ratios[n]:8.2f}"
                  f"{judged(ratios[n] / min(ratios.values()), ENSEMBLE_BAR):>26}")
            results[f"ensemble {kind} {n}"] = {"seconds": seen, "ideal": ideal}


# ---- the driver ----

SCRIPT = """set -e
seq -f make.%.0f 0 {last} | xargs mkdir
seq -f use.%.0f 0 {last} | xargs mkdir
seq 0 {last} | xargs -P {jobs} -I@ env -C make.@ {make}
seq 0 {last} | xargs -P {jobs} -I@ env -C use.@ {use}
"""


def time_script(tools, script):
    directory = fresh(tools)
    begin = time.monotonic()
    run(["sh", "-c", script], cwd=directory)
    return time.monotonic() - begin


def measure_driver(tools, args, results):
    """64 producers and 64 consumers by leat, and by a script that starts the same processes, first
    all producers, as many at once."""
    n, ms = (16, 20) if args.quick else (64, 200)
    rounds, jobs = rounds_of(tools, ms), cpus()
    make = coupled(tools, c=rounds, o="x", b=64 * K)
    workflow = [task("make", make, n, outputs=["x"]),
                task("use", coupled(tools, i="x", n=1, c=rounds), n, [{"filename": "x"}])]
    script = SCRIPT.format(last=n - 1, jobs=jobs, make=make,
                           use=coupled(tools, i="../make.@/x", n=1, c=rounds))
    took = medians(in_turn(
        [("script", lambda: time_script(tools, script)),
         ("leat", lambda: time_leat(tools, write_workflow(tools, workflow), "--jobs", str(jobs)))],
        args.rounds))
    print(f"\ndriver: {n} producers and {n} consumers of {ms} ms each, {jobs} at once: "
          f"script {took['script']:.2f} s, leat {took['leat']:.2f} s, "
          f"ratio {judged(ratio(took['leat'], took['script']), DRIVER_BAR)}")
    results["driver"] = took
