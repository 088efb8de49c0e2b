"""The messages that clients send, out of wire/message.h."""
import os
import re

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src")
with open(os.path.join(SOURCE, "wire/message.h"), encoding="ascii") as f:
    TEXT = f.read()
VERSION = int(re.search(r"#define LEAT_WIRE_VERSION (\d+)", TEXT)[1])


def names():
    """Number -> name."""
    body = re.sub(r"/\*.*?\*/", "", re.search(r"enum leat_msg_type \{(.*?)\};", TEXT, re.S)[1], flags=re.S)
    found, value = {}, 0
    for name, given in re.findall(r"LEAT_MSG_(\w+)(?:\s*=\s*(\d+))?", body):
        value = int(given) if given else value + 1
        found[value] = name
    return {number: name for number, name in found.items() if name != "END_OF_REQUESTS"}


def numbers():
    """Name -> number."""
    return {name: number for number, name in names().items()}
