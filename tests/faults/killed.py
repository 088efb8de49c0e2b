#!/usr/bin/env python3
"""killed.py: as a program of a step, tell the daemon what the server of a mount tells it when the kernel has killed
a process of a container by the container's limit on memory, which needs control groups."""
import os
import struct
import sys

sys.dont_write_bytecode = True

from garbage import connect, hello, message  # noqa: E402
from messages import numbers  # noqa: E402


def main():
    s = connect(os.path.join(os.path.dirname(os.environ["LEAT_SITES"]), "socket"))
    s.send(hello(os.environ["LEAT_APP_NAME"].encode("ascii")))
    s.recv(65536)
    s.send(message(numbers()["KILLED"], struct.pack("=iI", 0, 0) + b"a process in a container was killed\0"))
    s.send(message(numbers()["SYNC"], b""))
    s.recv(65536)
    s.close()


main()
