"""Bytes that calls moved, by file: of a trace of leat, and of logs of strace -y."""
import csv
import os
import re

CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (\d+)")
FD = re.compile(r"\b\d+<([^>]*)>")
PROGRAM = re.compile(r'^execve(?:at)?\((?:[^"]*)"([^"]*)"')
READS = {"read", "pread64", "readv", "preadv", "preadv2"}
WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
COPIES = {"sendfile": (1, 0), "copy_file_range": (0, 1), "splice": (0, 1)}
STARTS = {"clone", "clone3", "fork", "vfork"}
# What strace has to be asked for, of all of these.
STRACE_CALLS = sorted(READS | WRITES | set(COPIES) | STARTS | {"execve", "execveat"})


def of_trace(path):
    """(file, is it a write, bytes) of each call of a trace in CSV."""
    names = {}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
        for r in csv.DictReader(line for line in f if not line.startswith("# ")):
            if r["type"] in "OC":
                names[r["handle"]] = r["path"]
            elif r["type"] in "RW" and int(r["result"]) > 0:
                yield names[r["handle"]], r["type"] == "W", int(r["result"])


def of_line(line):
    """The same of a line of strace."""
    m = CALL.match(line)
    if not m or int(m[3]) == 0:
        return
    call, files, n = m[1], FD.findall(m[2]), int(m[3])
    if call in READS and files:
        yield files[0], False, n
    elif call in WRITES and files:
        yield files[0], True, n
    elif call in COPIES and len(files) == 2:
        yield files[COPIES[call][0]], False, n
        yield files[COPIES[call][1]], True, n


def of_strace(path):
    """The same of a log of strace -f -y."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            yield from of_line(line)


def of_thread(logs, thread, program, unseen):
    """The same of a log of strace -ff -y and of those of all that this thread has started, without
    what is done by the programs `unseen`; for each start of such a program None."""
    with open(logs[thread], encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            m = CALL.match(line)
            if not m:
                continue
            if m[1] in STARTS and m[3] in logs:
                yield from of_thread(logs, m[3], program, unseen)
            elif m[1] in ("execve", "execveat"):
                begun = PROGRAM.match(line)
                program = os.path.realpath(begun[1]) if begun else None
                if program in unseen:
                    yield None
            elif program not in unseen:
                yield from of_line(line)


def of_straces(directory, unseen=()):
    """The same of the logs DIRECTORY/log.PID of a command under strace -ff -y."""
    logs = {name.rsplit(".", 1)[1]: os.path.join(directory, name) for name in os.listdir(directory)}
    started = {m[3] for path in logs.values() for m in lines_of_starts(path)}
    for thread in logs:
        if thread not in started:
            yield from of_thread(logs, thread, None, unseen)


def lines_of_starts(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            m = CALL.match(line)
            if m and m[1] in STARTS:
                yield m


def sums_below(moved, directory):
    """{path below the directory: [bytes read, bytes written]}."""
    sums = {}
    for name, writes, n in moved:
        if name.startswith(directory + "/"):
            sums.setdefault(name[len(directory) + 1:], [0, 0])[writes] += n
    return sums
