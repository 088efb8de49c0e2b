#!/usr/bin/env python3
"""Whatever dies, a run ends in bounded time, with the right result or an error that names the
culprit, and leaves nothing behind.

    campaign.py points [--long] [--scene NAME] [--case TEXT]    processes die, stop or end at each point
    campaign.py list                                            the points, and which scene passes them

Needs a build with -Dfaults=true: LEAT_BUILD names it. Prints a line for each case that went wrong
(case, expected, got) and the figures; the status is 0 only if all went right.
"""
import argparse
import concurrent.futures
import os
import re
import sys
import time

import judge
import scenes
from judge import Fault, run

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src")


# ---- the points there are ----

def messages():
    """Number -> name, of the messages that clients send, out of wire.h."""
    text = open(os.path.join(SOURCE, "wire/wire.h")).read()
    body = re.sub(r"/\*.*?\*/", "", re.search(r"enum leat_msg_type \{(.*?)\};", text, re.S)[1], flags=re.S)
    names, value = {}, 0
    for name, given in re.findall(r"LEAT_MSG_(\w+)(?:\s*=\s*(\d+))?", body):
        value = int(given) if given else value + 1
        names[value] = name
    return names


def named_points():
    found = set()
    for folder, _, files in os.walk(SOURCE):
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
    names = messages()
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
    names = messages()
    passed = references(scenes.SCENES)
    for scene, at in passed.items():
        for (side, point, number), count in sorted(at.items()):
            print(f"{scene:8} {side:8} {point:16} {names.get(number, ''):12} {count}")
    return len(missing(passed, names))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["points", "list"])
    p.add_argument("--long", action="store_true")
    p.add_argument("--scene")
    p.add_argument("--case")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    if not judge.has_points():
        raise SystemExit(f"{scenes.LEAT} has no points of faults: meson setup -Dfaults=true")
    sys.exit(1 if {"points": points, "list": show}[args.what](args) else 0)


main()
