"""What a round of the soak runs: workflows for `leat run`, and one for `leat serve`."""
import json
import os

import scenes
from scenes import ACTOR, STATIC, Scene, flow, task

PROBE = os.path.join(scenes.BUILD, "tests/soak/probe")
SMALL_FILES = 50

# Streams, directories, renames; memory that is too small; retain: false; a program behind a mount; a step that is
# killed. And what no scene of the campaign has:
RUN = [s for s in scenes.SCENES if s.name in ("stream", "memory", "ahead", "mount", "dies")] + [
    Scene("small", flow(
        task("A", ACTOR, "mkdir d , " + " , ".join(f"make d/{i} 300 300" for i in range(SMALL_FILES)),
             outports=[f"dirname: d, committed: 'n_files:{SMALL_FILES}', mode: no_update"]),
        task("B", ACTOR, " , ".join(f"take d/{i} 300 300" for i in range(SMALL_FILES)) +
             f" , list d {SMALL_FILES} , make out 100 10", inports=["dirname: d"], outports=["out"])),
        {"out": 100}),
    Scene("fails", flow(
        task("A", ACTOR, "make data 5000 500 , take absent 1 1", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 0 4096 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, fails="step A failed"),
    Scene("enforced", flow(
        task("A", ACTOR, "make data 300000 3000", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 300000 1000 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, options=["--enforce"]),
    Scene("trespass", flow(
        task("A", ACTOR, "make data 100 100 , take secret 100 100", outports=["data"]),
        task("B", ACTOR, "take data 100 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, before={"secret": 100}, options=["--enforce"], fails="step A failed"),
]

# Each round uses names of its own (`.N` at their ends), since a file is complete once. `source` has an instance
# that stays, or its files would be given up after the first round.
SERVED = json.dumps({
    "name": "soak",
    "IO_Graph": [
        {"name": "source", "output_stream": ["stream.*", "whole.*", "tree.*", "ahead.*", "first.*", "probe"],
         "streaming": [
             {"name": ["stream.*", "first.*"], "committed": "on_close", "mode": "no_update"},
             {"name": ["ahead.*"], "committed": "on_close", "mode": "no_update", "retain": False},
             {"name": ["whole.*", "probe"], "committed": "on_close"},
             {"dirname": ["tree.*"], "committed": f"n_files:{SMALL_FILES}", "mode": "no_update"}]},
        {"name": "sink", "input_stream": ["stream.*", "whole.*", "tree.*", "ahead.*", "first.*"],
         "output_stream": ["out.*"], "streaming": [{"name": ["out.*"], "committed": "on_close"}]},
        {"name": "dying", "output_stream": ["dead.*"],
         "streaming": [{"name": ["dead.*"], "committed": "on_close", "mode": "no_update"}]},
        {"name": "heir", "input_stream": ["dead.*"]}],
    "permanent": ["out.*"]})
MEMORY = "8M"  # less than a round's files, so that they go to disk
OUT_BYTES = 3000


def can_mount():
    return os.path.exists("/dev/fuse")


def source(n):
    small = " , ".join(f"make tree.{n}/{i} 100 100" for i in range(SMALL_FILES))
    return (f"make stream.{n} 400000 3000 , make whole.{n} 9000000 100000 , mkdir tree.{n} , {small} , "
            f"make ahead.{n} 12000000 12000").split()


def sink(n):
    small = " , ".join(f"take tree.{n}/{i} 100 100" for i in range(SMALL_FILES))
    return (f"take stream.{n} 400000 1000 , take whole.{n} 9000000 100000 , list tree.{n} {SMALL_FILES} , {small} , "
            f"take ahead.{n} 12000000 12000 , make out.{n} {OUT_BYTES} 700").split()


def groups(n):
    """Those that run at once, each (step, program, words, the status it is to end with)."""
    behind_mounts = [
        ("sink", STATIC, f"take whole.s{n} 50000 4096".split(), 0),
        ("source", STATIC, f"make whole.s{n} 50000 1000".split(), 0)]
    return [
        [("sink", ACTOR, sink(n), 0), ("source", ACTOR, source(n), 0)],
        *([behind_mounts] if can_mount() else []),
        [("heir", ACTOR, f"take dead.{n} 0 4096".split(), 1), ("dying", ACTOR, f"die dead.{n} 4000".split(), 137)],
    ]


def removal(n, probes):
    """Of all but what is permanent, by those who made it (--enforce allows nobody else)."""
    names = [f"{name}.{n}" for name in ("stream", "whole", "tree", "ahead")]
    names += [f"whole.s{n}"] if can_mount() else []
    return [("source", "rm", ["-r", *names, *(f"first.{n}.{i}" for i in range(probes))], 0),
            ("dying", "rm", [f"dead.{n}"], 0)]
