#!/usr/bin/env python3
"""Whatever dies, a run ends in bounded time, with the right result or an error that names the
culprit, and leaves nothing behind.

    campaign.py points [--long] [--scene NAME] [--case TEXT]    processes die, stop or end at each point
    campaign.py calls [--long] [--scene NAME] [--case TEXT]     each system call of the daemon fails in turn
    campaign.py memory [--long] [--scene NAME] [--case TEXT]    each allocation of the daemon fails in turn
    campaign.py list                                            the points, and which scene passes them

Needs a build with -Dfaults=true: LEAT_BUILD names it. Prints a line for each case that went wrong
(case, expected, got) and the figures; the status is 0 only if all went right.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import sys
import time

sys.dont_write_bytecode = True

import judge  # noqa: E402
import messages  # noqa: E402
import scenes  # noqa: E402
from judge import Fault, run  # noqa: E402


# ---- the points there are ----

def named_points():
    found = set()
    for folder, _, files in os.walk(messages.SOURCE):
        for name in files:
            if name.endswith(".c"):
                found.update(re.findall(r'LEAT_FAULT\("([^"]+)"\)', open(os.path.join(folder, name)).read()))
    return found


def missing(passed, names):
    """What no scene passes: a new message, or a step that was given a point, needs a scene."""
    seen = {(point, number) for scene in passed.values() for _, point, number in scene}
    wanted = [("handle", n) for n in names if n < 64] + [("answered", n) for n, name in names.items()
                                                        if n >= 64 and name not in ("EVENT",)]
    wanted += [(point, 0) for point in named_points()]
    return [f"{point} {names.get(n, '')}".strip() for point, n in sorted(wanted) if (point, n) not in seen]


# ---- the cases ----

ACTIONS = ("kill", "exit", "stop", "stop, kill")


def cases_of(scene, passed, long, done):
    """Faults at the points a scene passes. Short: each kind of point killed once over all scenes, and
    other actions in turn."""
    for (side, point, number), count in passed.items():
        turn = len(done)
        if long:
            for when in sorted({1, (count + 1) // 2, count}):
                for action in ACTIONS:
                    yield Fault(side, point, number, when, action)
        elif (side, point, number) not in done:
            yield Fault(side, point, number, 1, "kill")
            yield Fault(side, point, number, count if turn % 2 else 1, ACTIONS[1 + turn % 3])
        done.add((side, point, number))


def references(chosen):
    """Each scene without a fault: scene name -> points passed and how often. Must go right."""
    passed = {}
    for scene in chosen:
        if scene.needs and not os.path.exists(scene.needs):
            print(f"{scene.name}: left out, {scene.needs} is not there")
            continue
        result = run(scene, None, trace=True)
        if result.wrong:
            raise SystemExit(f"{scene.name} without any fault: {result.wrong}\n{result.output}")
        passed[scene.name] = result.passed
    return passed


def points(args):
    names = messages.names()
    chosen = [s for s in scenes.SCENES if args.scene in (None, s.name)]
    passed = references(chosen)
    done, cases = set(), []
    for scene in chosen:
        for fault in cases_of(scene, passed.get(scene.name, {}), args.long, done):
            text = f"{scene.name}: {fault.describe(names)}"
            if not args.case or args.case in text:
                cases.append((text, scene, fault))
    if not cases:
        raise SystemExit("no such case")
    bad = play(cases, args)
    if args.scene is None and not args.case:
        for what in missing(passed, names):
            print(f"no scene passes the point: {what}")
            bad += 1
    return bad


# ---- what the daemon asks of kernel and libc ----

# Those whose failure the kernel could bring about; the others (a clock, a lock of the C library) have
# no error to tell.
CALLS = {
    "openat": ("ENOSPC", "EMFILE", "ENOMEM"), "open": ("EMFILE",), "accept4": ("EMFILE",), "socket": ("EMFILE",),
    "pidfd_open": ("EMFILE",), "read": ("EIO",), "write": ("ENOSPC", "EIO"), "fsync": ("EIO",), "recvmsg": ("ENOMEM",),
    "sendto": ("ENOMEM",), "sendmsg": ("ENOMEM",), "mmap": ("ENOMEM",), "fstat": ("EIO",), "newfstatat": ("EIO",),
    "statx": ("EIO",), "mkdirat": ("ENOSPC",), "mkdir": ("ENOSPC",), "renameat": ("EIO",), "renameat2": ("EIO",),
    "unlinkat": ("EROFS",), "rename": ("EIO",), "linkat": ("ENOSPC",), "ftruncate": ("ENOSPC",), "fallocate": ("ENOSPC",),
    "copy_file_range": ("ENOSPC",), "sendfile": ("EIO",), "fchmod": ("EPERM",), "fchown": ("EPERM",),
    "utimensat": ("EPERM",), "getdents64": ("EIO",), "epoll_ctl": ("ENOMEM",), "clone3": ("EAGAIN",), "clone": ("EAGAIN",),
    "fcntl": ("ENOLCK",), "memfd_create": ("ENOMEM",), "unshare": ("EPERM",), "mount": ("EPERM",), "fork": ("EAGAIN",),
    "flock": ("ENOLCK",), "bind": ("EADDRINUSE",), "listen": ("EADDRINUSE",), "pipe2": ("EMFILE",), "socketpair": ("EMFILE",),
    "eventfd2": ("EMFILE",), "epoll_create1": ("EMFILE",), "fsetxattr": ("ENOSPC",), "flistxattr": ("EIO",),
    "fstatfs": ("EIO",), "readlinkat": ("EIO",), "openat2": ("EMFILE",), "setgroups": ("EPERM",),
}
SHORT_SCENES = ("stream",)  # of calls and memory, if nothing else is asked for


class Failure:
    """A fault that is no point: the daemon has to go on, or to say that it cannot."""
    side, action = "failure", "fails"

    def __init__(self, text, wrap=None, more=None):
        self.text, self.wrap, self.more = text, wrap, more

    def environment(self):
        return {}

    def is_fatal(self):
        return True


def of_daemon(injection):
    """strace comes to the daemon while it is stopped at its first point."""
    def wrap(command, top):
        return [os.path.join(os.path.dirname(os.path.abspath(__file__)), "with_strace"), str(top), injection, *command]
    return wrap


def count_calls(scene):
    """How often the daemon makes each call: name -> number."""
    result = run(scene, Failure("counted", of_daemon("trace=" + ",".join("?" + c for c in CALLS))), keep="calls")
    found = collections.Counter(re.findall(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\(", result.kept, re.M))
    return {name: n for name, n in found.items() if name in CALLS}


def chosen_numbers(count, long):
    """Short: the first, one in the middle, the last."""
    return range(1, min(count, 60) + 1) if long else sorted({1, (count + 1) // 2, count})


def calls(args):
    cases = []
    for scene in some_scenes(args):
        for name, count in sorted(count_calls(scene).items()):
            for error in CALLS[name] if args.long else CALLS[name][:1]:
                for when in chosen_numbers(count, args.long):
                    text = f"{scene.name}: {name} {error} #{when}"
                    cases.append((text, scene, Failure(text, of_daemon(f"inject=?{name}:error={error}:when={when}"))))
    return play_some(cases, args)


def memory(args):
    shim, cases = os.path.join(scenes.BUILD, "tests/faults/libfail_alloc.so"), []
    for scene in some_scenes(args):
        result = run(scene, Failure("counted", more={"LD_PRELOAD": shim, "FAIL_ALLOC_COUNT": "allocations"}),
                     keep="allocations")
        count = int(result.kept or 0)
        if not count:
            raise SystemExit(f"{scene.name}: no allocation was seen\n{result.output}")
        for when in range(1, count + 1, 1 if args.long else max(1, count // 60)):
            text = f"{scene.name}: allocation {when} of {count}"
            cases.append((text, scene, Failure(text, more={"LD_PRELOAD": shim, "FAIL_ALLOC": str(when)})))
    return play_some(cases, args)


def some_scenes(args):
    names = [args.scene] if args.scene else [s.name for s in scenes.SCENES if args.long or s.name in SHORT_SCENES]
    return [s for s in scenes.SCENES if s.name in names and not s.fails and s.command[0] == scenes.LEAT]


def play_some(cases, args):
    cases = [c for c in cases if not args.case or args.case in c[0]]
    if not cases:
        raise SystemExit("no such case")
    return play(cases, args)


def play(cases, args):
    began, bad, fired, slowest = time.monotonic(), 0, 0, (0, "")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = {pool.submit(run, scene, fault): text for text, scene, fault in cases}
        for future in concurrent.futures.as_completed(futures):
            result, text = future.result(), futures[future]
            fired += result.fired
            slowest = max(slowest, (result.seconds, text))
            if args.verbose:
                print(f"{text}: {result.seconds:.1f} s, {result.wrong or 'ok'}", flush=True)
            if result.wrong:
                bad += 1
                print(f"{text}\n    expected: {result.expected}\n    got: {result.wrong}")
                print("".join(f"    | {line}\n" for line in result.output.splitlines()[-12:]), end="", flush=True)
    print(f"{len(cases)} cases, {fired} came to their point, in {time.monotonic() - began:.0f} s; the slowest took {slowest[0]:.1f} s "
          f"({slowest[1]})")
    print(f"{len(cases) - bad} passed, {bad} failed")
    return bad


def show(args):
    names = messages.names()
    passed = references(scenes.SCENES)
    for scene, at in passed.items():
        for (side, point, number), count in sorted(at.items()):
            print(f"{scene:8} {side:8} {point:16} {names.get(number, ''):12} {count}")
    return len(missing(passed, names))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["points", "calls", "memory", "list"])
    p.add_argument("--long", action="store_true")
    p.add_argument("--scene")
    p.add_argument("--case")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    if not judge.has_points():
        raise SystemExit(f"{scenes.LEAT} has no points of faults: meson setup -Dfaults=true")
    sys.exit(1 if {"points": points, "calls": calls, "memory": memory, "list": show}[args.what](args) else 0)


main()
