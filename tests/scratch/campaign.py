#!/usr/bin/env python3
"""Steps of random shell workflows use the same names by chance: streamed, each workflow leaves what its batch
leaves, or ends with an error that names the conflict.

    campaign.py [--producers | --pairs] [--first SEED] [--count N] [--seconds S] [-j JOBS] [--keep DIRECTORY] [--show]

With --producers all steps declare what they share as an output of theirs. With --pairs two of them do, each uses
the one name once, and mostly the one that the batch runs first waits until the other has done so.

A workflow is made from its seed; its batch is `leat run --plain`, in which what is private to a step is put back
after it. A difference in silence, a failure that names no conflict, and a run that does not end
are told with the seed, and the status is 1. LEAT_BUILD names the build.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAT = os.path.join(os.path.abspath(os.environ.get("LEAT_BUILD", os.path.join(SOURCE, "build/dev"))), "src/cli/leat")
# What steps share by chance, some of it there before the run, and directories.
NAMES = ("t", "u", "tmp.txt", "log", "d/x", "d/y", "e/x", "old", "d/old")
# What steps share by declaration.
PRODUCED = ("t", "u", "v", "told")
BEFORE = {"told": "old\n", "old": "old\n", "d/old": "old in d\n", "in": "input\n"}
LIMIT_S = 120
MOUNTS = os.path.exists("/dev/fuse")

# ---- a workflow ----

Step = collections.namedtuple("Step", "name script inputs mode private staged mounted shared")


def operation(rng, out, name, others, names):
    """One line of a script. Each is quiet and succeeds, whatever it finds."""
    a, b = rng.choice(names), rng.choice(names)
    text = f"{name}-{rng.randrange(100)}"
    lines = [
        (6, f"echo {text} >{a}"),
        (3, f"seq {rng.randrange(1, 3000)} >{a}"),
        (3, f"echo {text} >>{a}"),
        (8, f"cat {a} >>{out}"),
        (4, f"[ -e {a} ] && echo yes >>{out} || echo no >>{out}"),
        (3, f"rm -f {a}"),
        (3, f"mv {a} {b}"),
        (2, f"cp {a} {b}"),
        (1, f"ln -f {a} {b}"),
        (1, f"ln -sfn {os.path.basename(a)} {b}"),
        (1, f"readlink {a} >>{out}"),
        (2, f"[ -d {a[0]} ] && echo dir >>{out}"),
        (1, f"truncate -c -s 3 {a}"),
        (1, f"touch {a}"),
        (1, f"sed -i s/1/x/ {a}"),
        (1, f"sort -o {a} {a}"),
        (1, f"exec 3<>{a} && echo {text} >&3; exec 3>&-"),
        (1, f"dd if={a} of={b} bs=1 count=2 conv=notrunc"),
        (1, f"wc -c <{a} >>{out}"),
        (2, "mkdir -p d e"),
        (1, "rmdir e"),
        (1, "mv -T d e"),
        (1, f"(cd d && cat {os.path.basename(a)}) >>{out}"),
        (1, f"cat in >>{out}"),
        (4, f"sleep 0.0{rng.randrange(1, 6)}"),
    ]
    if names is PRODUCED:
        lines += looks_of_producers(rng, a, b, out, text)
    if others:
        lines.append((1, f"cat {rng.choice(others)} >>{out}"))
    return rng.choices([line for _, line in lines], [weight for weight, _ in lines])[0]


def looks_of_producers(rng, a, b, out, text):
    """What only tells where all declare the names. A directory has a name of its own: what `cp x w` makes of one
    that a later step has made already is in limits.md."""
    return [
        (2, f"stat -c '%F %s %a' {a} >>{out}"),
        (1, f"chmod {rng.choice(('600', '644', '755'))} {a}"),
        (1, f"touch -h -d 2001-01-01 {a}"),
        (1, f"set -C; echo {text} >{a}; echo $? >>{out}; set +C"),
        (1, "mkdir w"),
        (1, "rmdir w"),
        (1, f"[ -d w ] && echo dir >>{out} || echo none >>{out}"),
        (1, f"[ {a} -ef {b} ] && echo same >>{out}"),
        (1, f"exec 3<{a} && sleep 0.02 && cat <&3 >>{out}; exec 3>&-"),
        (1, f"exec 3>{a} && sleep 0.02 && echo {text} >&3; exec 3>&-"),
    ]


def make_producers(rng):
    """Steps that declare one output, as a pattern; some have an order by another file."""
    steps = []
    for k in range(rng.randrange(2, 4)):
        out = f"o{k}"
        inputs = [f"o{i}" for i in range(k) if rng.random() < 0.15]
        script = [operation(rng, out, f"s{k}", [], PRODUCED) for _ in range(rng.randrange(1, 6))]
        for one in inputs:
            script.insert(rng.randrange(len(script) + 1), f"cat {one} >>{out}")
        steps.append(Step(f"s{k}", script, inputs, rng.choice(("update", "no_update")), [], False, rng.random() < 0.2,
                          "[t-w]*"))
    rng.shuffle(steps)
    return steps


# Until the other step has done its part; the batch does not wait.
AWAIT_TURN = "for i in $(seq 25); do [ -e ../turn ] && break; sleep 0.02; done"


def uses_of_one(name, own, out, text):
    """All that a step may do with a name."""
    return (
        f"echo {text} >{name}",
        f"echo {text} >>{name}",
        f"printf {text} | dd of={name} conv=notrunc",
        f"exec 3<>{name} && echo {text} >&3; exec 3>&-",
        f"set -C; echo {text} >{name}; set +C",
        f"sed -i s/o/x/ {name}",
        f"truncate -s 2 {name}",
        f"truncate -s 99 {name}",
        f"chmod 600 {name}",
        f"touch -h -d 2001-01-01 {name}",
        f"rm {name}",
        f"rm -f {name}",
        f"rm -f {name}; echo {text} >{name}",
        f"mv {name} {own}",
        f"echo {text} >{own}; mv {own} {name}",
        f"echo {text} >{own}; ln -f {own} {name}",
        f"ln -f {name} {own}; echo {text} >>{own}",
        f"ln -sfn none {name}",
        f"cat {name} >>{out}",
        f"stat -c '%F %s %a' {name} >>{out}",
        f"[ -e {name} ] && echo yes >>{out} || echo no >>{out}",
        f"cp -p {name} {own}",
    )


def make_pair(rng):
    """Two steps that declare one output, and use one name of it."""
    name, awaits, ordered = rng.choice(("told", "t")), rng.choice((0, 0, 1)), rng.random() < 0.25
    steps = []
    for k in range(2):
        out = f"o{k}"
        script = [rng.choice(uses_of_one(name, "uv"[k], out, f"s{k}"))]
        if awaits == k:
            script.insert(0, AWAIT_TURN)
        else:
            script.append(": >../turn")
        if ordered and k == 1:
            script.insert(0, f"cat o0 >>{out}")
        steps.append(Step(f"s{k}", script, ["o0"] if ordered and k == 1 else [],
                          rng.choice(("update", "no_update")), [], False, rng.random() < 0.2, "[t-w]*"))
    return steps


def make_steps(rng):
    steps = []
    for k in range(rng.randrange(2, 6)):
        name, out = f"s{k}", f"o{k}"
        inputs = [f"o{i}" for i in range(k) if rng.random() < 0.3]
        # By chance, what is another's output.
        others = [f"o{i}" for i in range(5) if i != k] if rng.random() < 0.1 else []
        script = [operation(rng, out, name, others, NAMES) for _ in range(rng.randrange(1, 6))]
        for one in inputs:
            script.insert(rng.randrange(len(script) + 1), f"cat {one} >>{out}")
        staged = rng.random() < 0.1
        private = [n for n in NAMES if rng.random() < 0.5] if not staged and rng.random() < 0.25 else []
        mounted = not staged and rng.random() < 0.1
        steps.append(Step(name, script, inputs, rng.choice(("update", "no_update")), private, staged, mounted,
                          None))
    order = list(range(len(steps)))
    rng.shuffle(order)
    return [steps[i] for i in order]


def write_script(path, lines):
    with open(path, "w") as f:
        f.write("exec 2>/dev/null\n: >>$OUT\n" + "".join(f"{{ {line}; }} || true\n" for line in lines) + "true\n")


# In the batch there is one file of a name: what was there before the step is there again after it.
SWAP = """
saved=$(mktemp -d ../saved.XXXXXX)
is() {{ [ -e "$1" ] || [ -h "$1" ]; }}
for name in {names}; do
	mkdir -p "$saved/$(dirname $name)"
	! is $name || cp -aT $name "$saved/$name"
done
bash {script}
for name in {names}; do
	! is $name || rm -rf $name
	[ ! -d $(dirname $name) ] || ! is "$saved/$name" || cp -aT "$saved/$name" $name
done
"""


def lay_out(work, steps, swaps):
    """The directory of a run: w.yaml, its scripts, and `dir` with what is there before."""
    for name, text in BEFORE.items():
        path = os.path.join(work, "dir", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
    lines = ["name: scratch", "dir: dir", "permanent: ['o*', '[t-w]*']", "tasks:"]
    for s in steps:
        out = "o" + s.name[1:]
        script = os.path.join(work, s.name + ".sh")
        write_script(script, s.script)
        if s.private and swaps:
            with open(os.path.join(work, s.name + ".swap.sh"), "w") as f:
                f.write(SWAP.format(names=" ".join(s.private), script=f"../{s.name}.sh"))
            script = os.path.join(work, s.name + ".swap.sh")
        mount = " LEAT_INTERCEPT=mount" if s.mounted and MOUNTS else ""
        lines += [f"  - func: {s.name}", f"    exec: env OUT={out}{mount} bash ../{os.path.basename(script)}"]
        if s.staged:
            lines.append("    staged: true")
        if s.private and not swaps:
            lines.append(f"    private: [{', '.join(s.private)}]")
        if s.inputs:
            lines.append(f"    inports: [{', '.join('{filename: ' + i + '}' for i in s.inputs)}]")
        shared = f', {{filename: "{s.shared}"}}' if s.shared else ""
        lines.append(f"    outports: [{{filename: {out}, mode: {s.mode}}}{shared}]")
    with open(os.path.join(work, "w.yaml"), "w") as f:
        f.write("\n".join(lines) + "\n")


# ---- running and judging ----

def run(work, *options):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LEAT_", "CAPIO_"))}
    env["LEAT_RUNTIME_DIR"] = os.path.join(work, "runtime")
    env["LEAT_STATE_DIR"] = os.path.join(work, "state")
    try:
        done = subprocess.run([LEAT, "run", *options, "w.yaml"], cwd=work, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def tree(work, private):
    """What is there after the run, by name."""
    found = {}
    top = os.path.join(work, "dir")
    for folder, dirs, files in os.walk(top):
        for name in files + dirs:
            path = os.path.join(folder, name)
            below = os.path.relpath(path, top)
            if below in private:
                continue
            if os.path.islink(path):
                found[below] = "-> " + os.readlink(path)
            elif os.path.isdir(path):
                found[below] = "directory"
            else:
                with open(path, "rb") as f:
                    found[below] = (os.fstat(f.fileno()).st_mode, f.read())
    return found


NAMED = re.compile(r"violation: \S+ was (.* by step \S+ and then .* by step|.* by step \S+, but is private to step)"
                   r"|violation: \S+ was .* by step \S+, and has another name, a hard link"
                   r"|step \S+ (changes|renames) .* private to it and (has other names|cannot go along)")
WARNED = re.compile(r"warning: (\S+) is appended to by steps \S+ and \S+, which run at the same time")


def excused(steps, text):
    """Names that may differ after the warnings in `text`: those that both have appended to, and what comes of them."""
    names = set(WARNED.findall(text))

    def mentions(line, name):
        # By another directory as well: (cd d && cat x), mv -T d e.
        return re.search(rf"(?<![\w.]){re.escape(os.path.basename(name))}(?![\w.])", line) or (
            "/" in name and re.search(rf"(mv|rmdir)\b.*\b{os.path.dirname(name)}\b", line))

    while True:
        more = set()
        for s in steps:
            out = "o" + s.name[1:]
            for line in s.script:
                if any(mentions(line, n) for n in names if n != out):
                    more |= {n for n in NAMES + PRODUCED if mentions(line, n)} | ({out} if out in line else set())
                if "mv -T d e" in line:
                    more |= {"e" + n[1:] for n in names if n.startswith("d/")}
        if more <= names:
            return names
        names |= more


def judge(seed, make, keep):
    """(verdict, text): "same", "named", "warned" or what went wrong."""
    steps = make(random.Random(seed))
    private = {n for s in steps for n in s.private}
    work = tempfile.mkdtemp(prefix="leat-scratch.")
    batch, streamed = os.path.join(work, "batch"), os.path.join(work, "streamed")
    try:
        for path, swaps in ((batch, True), (streamed, False)):
            os.mkdir(path)
            lay_out(path, steps, swaps)
        with open(os.path.join(batch, "turn"), "w"):
            pass
        status, text = run(batch, "--plain")
        if status != 0:
            return "the batch failed", text
        status, text = run(streamed)
        if status is None:
            return "did not end", text
        if NAMED.search(text) and status == 125:
            return "named", text
        if status != 0:
            return f"status {status} without a conflict", text
        a, b = tree(batch, private), tree(streamed, private)
        different = sorted(n for n in a.keys() | b.keys() if a.get(n) != b.get(n))
        if not different:
            return "same", text
        if set(different) <= excused(steps, text):
            return "warned", text
        return "different in silence", f"{different}\n{text}"
    finally:
        if keep:
            shutil.rmtree(os.path.join(keep, str(seed)), ignore_errors=True)
            shutil.copytree(work, os.path.join(keep, str(seed)), symlinks=True, ignore=shutil.ignore_patterns("runtime"))
        shutil.rmtree(work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more workflows after that time")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="leave the directories of the runs here")
    parser.add_argument("--show", action="store_true", help="what leat said of each workflow")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--producers", dest="make", action="store_const", const=make_producers,
                       help="all steps declare what they share")
    kinds.add_argument("--pairs", dest="make", action="store_const", const=make_pair,
                       help="two steps that declare what they share, with one use each")
    args = parser.parse_args()
    make = args.make or make_steps
    began, verdicts, wrong = time.monotonic(), collections.Counter(), 0

    def one(seed):
        return judge(seed, make, args.keep) if time.monotonic() - began < args.seconds else (None, "")

    seeds = range(args.first, args.first + args.count)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for seed, (verdict, text) in zip(seeds, pool.map(one, seeds)):
            if verdict is None:
                continue
            verdicts[verdict] += 1
            bad = verdict not in ("same", "named", "warned")
            wrong += bad
            if bad or args.show:
                print(f"seed {seed}: {verdict}\n{text}", flush=True)
    print(f"{sum(verdicts.values())} workflows in {time.monotonic() - began:.0f} s: "
          f"{verdicts['same']} the same, {verdicts['named']} conflicts named, "
          f"{verdicts['warned']} differ after a warning of appends, {wrong} wrong")
    return 1 if wrong or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
