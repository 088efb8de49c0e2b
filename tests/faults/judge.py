"""Runs a scene with a fault, and says what is wrong with how it ended."""
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import scenes

LIMIT_S = 40  # no run may take longer, whatever dies
SETTLE_S = 5  # what is left is gone after that


class Fault:
    def __init__(self, side, point, number, when, action):
        self.side, self.point, self.number, self.when, self.action = side, point, number, when, action

    def environment(self):
        return {"LEAT_FAULT": f"{self.side} {self.point} {self.number} {self.when} {self.action.split(',')[0]}"}

    def describe(self, names):
        message = names.get(self.number)
        return f"{self.side} {self.point}{' ' + message if message else ''} #{self.when}: {self.action}"

    def is_fatal(self):
        return self.action != "stop"


class Result:
    def __init__(self):
        self.wrong, self.expected, self.output, self.seconds, self.passed = None, "", "", 0.0, {}
        self.status, self.fired, self.kept = None, False, ""


def has_points():
    return b"persist.synced" in pathlib.Path(scenes.LEAT).read_bytes()


# ---- processes of a run ----

def processes(directory, states="RSDTtI"):
    """Those that were started with this runtime directory and are in such a state: no zombies."""
    mark, found = f"LEAT_RUNTIME_DIR={directory}".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state in states and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def end(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Stops:
    """Goes on with what the fault has stopped, or kills it, a moment later."""

    def __init__(self, runtime, action):
        self.runtime, self.number = runtime, signal.SIGKILL if action.endswith("kill") else signal.SIGCONT
        self.due, self.next = {}, 0

    def look(self):
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + 0.1
        for pid in processes(self.runtime, "T"):
            if now > self.due.setdefault(pid, now + 0.3):
                end(pid, self.number)
                del self.due[pid]


def await_end(child, stops):
    """Seconds, or None if it takes too long."""
    began = time.monotonic()
    while child.poll() is None:
        if stops:
            stops.look()
        if time.monotonic() - began > LIMIT_S:
            return None
        time.sleep(0.01)
    return time.monotonic() - began


# ---- what is left ----

def below(top, folder):
    """All names in it; some may vanish meanwhile."""
    return [os.path.relpath(os.path.join(where, name), top)
            for where, folders, files in os.walk(top / folder) for name in folders + files]


def left_behind(top):
    runtime = top / "runtime"
    left = [f"process {p} {pathlib.Path(f'/proc/{p}/comm').read_text().strip()}"
            for p in processes(runtime) if os.path.exists(f"/proc/{p}/comm")]
    left += [line.split()[1] for line in open("/proc/mounts") if str(top) in line]
    left += below(top, "runtime")
    left += [p for p in below(top, "work") if os.path.basename(p).startswith(".leat-")]
    return left


def await_nothing_left(top, kind=""):
    began = time.monotonic()
    while (left := [l for l in left_behind(top) if l.startswith(kind)]) and time.monotonic() - began < SETTLE_S:
        time.sleep(0.05)
    return left


def run_again(scene, top, environment):
    """What a killed daemon could not clear away, the next run does, and ends as if nothing had been."""
    (top / "log").unlink(missing_ok=True)
    for name, size in scene.before.items():
        (top / "work" / name).write_bytes(scenes.pattern(size))
    try:
        done = subprocess.run(scene.command, cwd=top, env=environment, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    except subprocess.TimeoutExpired:
        return "the next run in the same directory hangs"
    if (done.returncode != 0) != bool(scene.fails):
        return f"the next run ends with status {done.returncode}: {done.stdout.decode(errors='replace')[-300:]}"
    left = await_nothing_left(top)
    return wrong_reads(top) or wrong_files(scene, top, not scene.fails) or (left and f"left behind: {left}")


# ---- what is right ----

def wrong_files(scene, top, complete):
    """Permanent files are whole or absent, and nothing else is there."""
    work = top / "work"
    for path in sorted(work.rglob("*")):
        name = str(path.relative_to(work))
        # What a daemon that was killed could not clear away: the next run does (run_again).
        if path.is_dir() or name.startswith(".leat-") or "/.leat-" in name:
            continue
        size = scene.outputs.get(name, scene.before.get(name))
        if size is None:
            if complete:
                return f"{name} should not be there"
            continue
        if path.read_bytes() not in (scenes.pattern(size), scenes.pattern(scene.before.get(name, size))):
            return f"{name} is not whole ({path.stat().st_size} of {size} bytes)"
    absent = [name for name in scene.outputs if not (work / name).exists()]
    return f"{absent} missing" if complete and absent else None


def bad_reads(top):
    log = top / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if not line.startswith("complete ")]


def wrong_reads(top):
    bad = bad_reads(top)
    return f"a reader took for complete: {bad[0]}" if bad else None


def culprit(scene, fault):
    """What the error must name."""
    if fault is None or not fault.is_fatal():
        return [scene.fails] if scene.fails else []
    return {"daemon": ["daemon"], "leat": [], "mount": ["mount"], "failure": ["leat: "]}.get(fault.side, [fault.side])


def wrong_status(scene, fault, result):
    fatal = fault is not None and fault.is_fatal()
    if result.status == 0:
        # Who was stopped came too late for what the scene does wrong: then all must be right.
        if scene.fails and (fault is None or fatal):
            return "status 0, though it should have failed"
        if fatal and fault.side not in ("daemon", "leat", "mount", "failure"):
            return "status 0, though a step died"
        return None
    if not fatal and not scene.fails:
        return f"status {result.status}, though nothing died"
    lacking = [word for word in culprit(scene, fault) if word not in result.output]
    return f"the error does not name {lacking}" if lacking and not scene.fails else None


def judge(scene, fault, result, top, environment):
    if fault is not None and not result.fired:
        fault = None  # the run went another way this time
    result.expected = "the result" if not scene.fails else f"an error ({scene.fails})"
    if fault is not None and fault.is_fatal():
        result.expected += f", or an error that names {culprit(scene, fault) or 'anything'}"
    result.wrong = (wrong_status(scene, fault, result) or wrong_reads(top) or
                    wrong_files(scene, top, result.status == 0))
    if result.wrong:
        return
    if fault is not None and fault.is_fatal() and fault.side in ("daemon", "leat", "failure"):
        left = await_nothing_left(top, "process")
        result.wrong = left and f"left behind: {left}" or run_again(scene, top, environment)
        return
    left = await_nothing_left(top)
    if left:
        result.wrong = f"left behind: {left}"


# ---- one run ----

def environment_of(top):
    """Nothing of the caller's own leat."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LEAT_", "CAPIO_"))}
    return kept | {"LEAT_RUNTIME_DIR": str(top / "runtime"), "LEAT_STATE_DIR": str(top / "state"),
                   "ACTOR_LOG": str(top / "log"), "LC_ALL": "C"}


def prepare(scene, top):
    for name in ("work", "runtime"):
        (top / name).mkdir(mode=0o700)
    for name, size in scene.before.items():
        (top / "work" / name).write_bytes(scenes.pattern(size))
    (top / scene.file).write_text(scene.flow)


def read_trace(trace):
    passed, fired = collections.Counter(), False
    for line in open(trace) if trace.exists() else []:
        words = line.split()
        fired = fired or words[0] == "fault"
        if words[0] != "fault":
            passed[(words[0], words[1], int(words[2]))] += 1
    return passed, fired


def run(scene, fault, trace=False, keep=None):
    """`keep` names a file of the run whose text is wanted. A fault may have `wrap(command, top)`, which changes
    the command, and `more`, which is added to the environment."""
    wrap, more = getattr(fault, "wrap", None), getattr(fault, "more", None)
    result, top = Result(), pathlib.Path(tempfile.mkdtemp(prefix="leat-faults-"))
    environment = environment_of(top)
    faulty = dict(environment, **(more or {}))
    if fault:
        faulty.update(fault.environment())
    if trace or isinstance(fault, Fault):
        faulty["LEAT_FAULT_TRACE"] = str(top / "trace")
    try:
        prepare(scene, top)
        command = wrap(scene.command, top) if wrap else scene.command
        with open(top / "output", "wb") as out:
            child = subprocess.Popen(command, cwd=top, env=faulty, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=out, start_new_session=True)
        stops = Stops(top / "runtime", fault.action) if fault and fault.action.startswith("stop") else None
        seconds = await_end(child, stops)
        result.output = (top / "output").read_text(errors="replace")
        result.seconds, result.status = seconds or LIMIT_S, child.returncode
        if seconds is None:
            result.wrong = f"still runs after {LIMIT_S} s: {left_behind(top)}"
            return result
        result.passed, result.fired = read_trace(top / "trace")
        result.fired = result.fired or wrap is not None or more is not None
        if keep and (top / keep).exists():
            result.kept = (top / keep).read_text(errors="replace")
        judge(scene, fault, result, top, environment)
        return result
    finally:
        for pid in processes(top / "runtime"):
            end(pid, signal.SIGKILL)
        shutil.rmtree(top, ignore_errors=True)
