"""What single calls and starting programs cost, with leat and without, in turn."""
import glob
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from common import M, ratio, run, wait_for_session

# Calls on files that are none of leat's: at most so many times as slow, or so many ns slower.
OUTSIDE_BARS = {"open+close": (1.05, None), "stat": (1.05, None), "access": (1.05, None),
                "read 1 B": (None, 30), "read 4 KiB": (None, 30), "pread 64 B": (None, 30),
                "pread 1 KiB": (None, 30), "write 1 B": (None, 30), "write 4 KiB": (None, 30),
                "pwrite 1 KiB": (None, 30)}
# Calls on a committed file of the workflow: at most so many ns.
SERVED_BARS = {"stat": 60}
START_MORE_MS = 0.1

# Shell loops of short programs in the workflow's directory: what is run in each round, how often as
# compared to the others, and at most so many times as slow. in.txt is there, log.txt is a file that no
# step declares, x.txt an output.
LOOPS = {"starts": ("/bin/true", 1.0, 1.05),
         "pipelines": ("/bin/true; x=$(cat in.txt | tr a b | cut -c1-3)", 0.3, 1.08),
         "starts with an input that is not read": ("/bin/true <in.txt", 1.0, None),
         "starts with a log that is not written": ("/bin/true >>log.txt", 1.0, None),
         "starts with an output that is not written": ("/bin/true >>x.txt", 1.0, None),
         "starts with an output that is written": ("/bin/echo >>x.txt", 1.0, None)}

LOOP = """begin=${{EPOCHREALTIME/./}}
for ((i = 0; i < $1; i++)); do {body}; done
echo $((${{EPOCHREALTIME/./}} - begin)) >"$2"
"""


def read_table(text):
    return {line[:14].strip(): float(line[14:]) for line in text.splitlines()}


def read_file(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def write_json(path, what):
    with open(path, "w", encoding="ascii") as f:
        json.dump(what, f)  # JSON is YAML
    return path


def alternate(passes, *ways):
    for k in range(passes):
        for one in ways[::1 if k % 2 else -1]:
            one()


def column(tables, call):
    return statistics.median(t[call] for t in tables)


def outside_is_over(call, times, more):
    most_times, most_more = OUTSIDE_BARS.get(call, (None, None))
    return bool(most_times and times > most_times or most_more and more > most_more)


def outside_bar(call):
    most_times, most_more = OUTSIDE_BARS.get(call, (None, None))
    return f"{most_times:.2f}x" if most_times else f"+{most_more} ns" if most_more else ""


def measure_calls(tools, args, results):
    """Calls on files outside the workflow's directory, with and without leat."""
    directory = os.path.join(tools.work, "leat")
    outside = os.path.join(tools.work, "outside")
    report = os.path.join(tools.work, "calls")
    os.makedirs(directory, exist_ok=True)
    os.makedirs(outside, exist_ok=True)
    command = [tools.program("syslat"), outside, "500" if args.quick else "2000"]
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "tasks": [
            {"func": "calls", "exec": f"bash -c '{' '.join(command)} >{report}'"}]})
    plain, streamed = [], []

    def leat_pass():
        run([tools.leat, "run", "--quiet", workflow], cwd=directory)
        streamed.append(read_table(read_file(report)))

    alternate(5 if args.quick else 41, lambda: plain.append(read_table(run(command))), leat_pass)
    print("\ncalls outside the directory   plain ns   with leat ns   ratio   more ns        bar   "
          "(medians of passes; of the ratios and differences of neighbouring passes)")
    for call in plain[0]:
        a, b = column(plain, call), column(streamed, call)
        times = statistics.median(ratio(s[call], p[call]) for p, s in zip(plain, streamed))
        more = statistics.median(s[call] - p[call] for p, s in zip(plain, streamed))
        results[f"call {call}"] = {"plain_ns": a, "leat_ns": b, "ratio": times, "more_ns": more}
        print(f"  {call:26}{a:10.0f}{b:15.0f}{times:8.2f}{more:10.0f}{outside_bar(call):>11}"
              f"{'   over' if outside_is_over(call, times, more) else ''}")


def measure_served(tools, args, results):
    """Calls on a committed file inside the workflow's directory, and the same on a tmpfs."""
    directory = os.path.join(tools.work, "leat")
    report = os.path.join(tools.work, "calls")
    tmpfs = tempfile.mkdtemp(prefix="leat-bench-", dir="/dev/shm")
    os.makedirs(directory, exist_ok=True)
    syslat, name = tools.program("syslat"), "out_000000.dat"
    count = "500" if args.quick else "2000"
    produce = [tools.program("produce"), tmpfs, "0", "1", str(M), str(M)]
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "tasks": [
            {"func": "produce", "exec": " ".join([produce[0], "."] + produce[2:]),
             "outports": [{"filename": name}]},
            {"func": "calls", "exec": f"bash -c '{syslat} -r {name} {count} >{report}'",
             "inports": [{"filename": name}]}]})
    plain, served = [], []

    def leat_pass():
        run([tools.leat, "run", "--quiet", workflow], cwd=directory)
        served.append(read_table(read_file(report)))

    def plain_pass():
        plain.append(read_table(run([syslat, "-r", os.path.join(tmpfs, name), count])))

    try:
        run(produce)
        alternate(3 if args.quick else 11, plain_pass, leat_pass)
    finally:
        shutil.rmtree(tmpfs)
    print("\ncalls on a committed file      tmpfs ns        leat ns   (medians of passes)")
    for call in plain[0]:
        a, b = column(plain, call), column(served, call)
        results[f"served {call}"] = {"tmpfs_ns": a, "leat_ns": b}
        bar = SERVED_BARS.get(call)
        judged = f"   (bar {bar} ns{', over' if b > bar else ''})" if bar else ""
        print(f"  {call:26}{a:11.0f}{b:15.0f}{judged}")


def measure_start(tools, args, results):
    """/bin/true with and without the library, in turn, under one session."""
    directory = os.path.join(tools.work, "leat")
    runtime = os.path.join(tools.work, "runtime")
    environment_file = os.path.join(tools.work, "environment")
    os.makedirs(directory, exist_ok=True)
    os.makedirs(runtime, mode=0o700, exist_ok=True)
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "tasks": [{"func": "start", "exec": "true",
                                    "outports": [{"filename": "x*"}]}]})
    library = os.environ.get("LEAT_LIBRARY") or os.path.join(
        tools.build, "src", "preload", "libleat.so")
    with subprocess.Popen(
            [tools.leat, "serve", "--runtime-dir", runtime, "--dir", directory, workflow],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            wait_for_session(server, runtime)
            sites, = glob.glob(os.path.join(runtime, "*", "sites"))
            with open(environment_file, "w", encoding="ascii") as f:
                f.write(f"LD_PRELOAD={library}\nLEAT_DIR={directory}\nLEAT_RUNTIME_DIR={runtime}\n"
                        f"LEAT_APP_NAME=start\nLEAT_WORKFLOW_NAME=bench\nLEAT_SITES={sites}\n")
            out = run([tools.program("spawn"), "40" if args.quick else "200", environment_file,
                       "/bin/true"])
        finally:
            server.terminate()
    plain, streamed, plain_faults, faults = map(float, out.split())
    more = (streamed - plain) / 1000
    results["start /bin/true"] = {"plain_us": plain, "leat_us": streamed,
                                  "plain_faults": plain_faults, "leat_faults": faults}
    print(f"\nstart of /bin/true: {plain / 1000:.2f} ms plain, {streamed / 1000:.2f} ms with leat: "
          f"{more:.3f} ms more (bar {START_MORE_MS}{', over' if more > START_MORE_MS else ''}); "
          f"{plain_faults:.0f} page faults plain, {faults:.0f} with leat")
    for name, (body, share, bar) in LOOPS.items():
        measure_loop(tools, args, results, name, body, share, bar)


def measure_loop(tools, args, results, name, body, share, bar):
    """A shell that starts one short program after another, in the workflow's directory."""
    directory = os.path.join(tools.work, "leat")
    script, report = os.path.join(tools.work, "loop"), os.path.join(tools.work, "loop_us")
    starts, blocks = (int((100 if args.quick else 500) * share), 5 if args.quick else 10)
    with open(script, "w", encoding="ascii") as f:
        f.write(LOOP.format(body=body))
    with open(os.path.join(directory, "in.txt"), "w", encoding="ascii") as f:
        f.write("abcdef\n")
    command = ["bash", script, str(starts), report]
    workflow = write_json(os.path.join(tools.work, "workflow.yaml"), {
        "name": "bench", "tasks": [{"func": "loop", "exec": " ".join(command),
                                    "outports": [{"filename": "x*"}]}]})
    plain, streamed = [], []

    def plain_block():
        run(command, cwd=directory)
        plain.append(int(read_file(report)) / 1e6)

    def leat_block():
        run([tools.leat, "run", "--quiet", workflow], cwd=directory)
        streamed.append(int(read_file(report)) / 1e6)

    alternate(blocks, plain_block, leat_block)
    a, b = statistics.median(plain), statistics.median(streamed)
    times = statistics.median(s / p for p, s in zip(plain, streamed))
    results[f"loop of {name}"] = {"starts": starts, "plain_s": a, "leat_s": b, "ratio": times}
    judged = f" (bar {bar}{', over' if times > bar else ''})" if bar else ""
    print(f"shell loop of {starts} {name}: {a:.2f} s plain, {b:.2f} s with leat: {times:.2f} times"
          f"{judged}, {(b - a) / starts * 1e6:.0f} us more a round")
