#!/usr/bin/env python3
"""garbage.py SOCKET FIRST LAST: for each seed, a client that sends the daemon what no client sends.

Random bytes, messages that are cut short, lengths and versions that are not theirs, messages in any
order with any numbers in them, descriptors that nobody asked for. After each seed the daemon must
answer another connection; the status is 0 only if it does within ten seconds.
"""
import array
import os
import random
import socket
import struct
import sys

sys.dont_write_bytecode = True

from messages import VERSION, numbers  # noqa: E402

HELLO = 1
NUMBERS = [0, 1, 2, 3, 7, 8, 63, 64, 4096, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff]
NAMES = [b"", b"x", b"d", b"d/1", b"../x", b"d/../../..", b".", b"x" * 300, b"d/" * 2000, b"\xff\xfe", b"A", b"B",
         b"no/such/directory/name"]
# Those of control, too: they are refused, since it says hello as a step only.
TYPES = list(range(0, 70)) + [200, 65535]


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(10)
    s.connect(path)
    return s


def message(kind, body, version=VERSION, size=None):
    total = 16 + len(body) if size is None else size
    return struct.pack("=HHIQ", version, kind & 0xffff, total & 0xffffffff, 0) + body


def hello(step, control=0):
    return message(HELLO, struct.pack("=II", control, 0) + step + b"\0\0garbage\0")


def body(r):
    words = b"".join(struct.pack("=I", r.choice(NUMBERS)) for _ in range(r.randrange(16)))
    return words + b"".join(r.choice(NAMES) + b"\0" * r.randrange(2) for _ in range(r.randrange(4)))


def one(r):
    kind = r.choice(TYPES)
    how = r.randrange(6)
    if how == 0:
        return r.randbytes(r.randrange(1, 300))
    if how == 1:
        return message(kind, body(r))[:r.randrange(1, 24)]
    if how == 2:
        return message(kind, body(r), size=r.choice(NUMBERS))
    if how == 3:
        return message(kind, body(r), version=r.choice([0, VERSION + 1, 0xffff]))
    return message(kind, body(r))


def send(s, data, r):
    extra = []
    if r.randrange(8) == 0:
        fds = [os.open("/dev/null", os.O_RDWR) for _ in range(r.randrange(1, 4))]
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
    s.sendmsg([data], extra, socket.MSG_NOSIGNAL)
    for fd in extra and extra[0][2]:
        os.close(fd)


def drain(s):
    s.setblocking(False)
    try:
        while s.recv(65536):
            pass
    except (BlockingIOError, OSError):
        pass
    s.settimeout(10)


def attack(path, seed):
    r = random.Random(seed)
    s = connect(path)
    try:
        if r.randrange(4):
            s.send(hello(r.choice([b"A", b"B"]), 0))
        for _ in range(r.randrange(1, 40)):
            send(s, one(r), r)
            if r.randrange(3):
                drain(s)
    except OSError:
        pass  # it has hung up, as it may
    s.close()


def check(path, status):
    """It goes on answering those who speak well."""
    s = connect(path)
    s.send(hello(b"", 1))
    s.recv(65536)
    s.send(message(status, struct.pack("=iI", 0, 0)))
    if len(s.recv(65536)) < 30:
        raise SystemExit("no status came")
    s.close()


def main():
    path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    status = numbers()["STATUS"]
    for seed in range(first, last + 1):
        attack(path, seed)
        try:
            check(path, status)
        except OSError as e:
            raise SystemExit(f"seed {seed}: the daemon does not answer: {e}")
    print(f"{last - first + 1} seeds")


if __name__ == "__main__":
    main()
