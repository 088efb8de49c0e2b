"""The workflows of the fault campaign: what they do, and what is right.

Each passes points of faults (src/base/fault.h) that others do not. A file that is permanent has the
bytes of actor.c's pattern; `outputs` says how many. `before` are files that are there beforehand.
"""
import functools
import os

BUILD = os.path.abspath(os.environ.get("LEAT_BUILD", "build/faults"))
LEAT = os.path.join(BUILD, "src/cli/leat")
ACTOR = os.path.join(BUILD, "tests/faults/actor")
STATIC = ACTOR + "_static"
KILLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "killed.py")


@functools.cache
def pattern(size):
    return bytes((i ^ i >> 8 ^ i >> 16) & 255 for i in range(size))


class Scene:
    """`fails`: the run is to end with an error even without a fault, with this text in it."""

    def __init__(self, name, flow, outputs=None, before=None, options=(), command=None, fails=None,
                 needs=None, prefix=()):
        self.name, self.flow = name, flow
        self.outputs, self.before = outputs or {}, before or {}
        self.command = command or [LEAT, "run", *options, "flow.yaml"]
        self.command = [*prefix, *self.command]
        self.fails, self.needs = fails, needs
        self.file = "flow.json" if flow.lstrip().startswith("{") else "flow.yaml"


def task(name, program, ops, inports=(), outports=(), more=""):
    def ports(kind, names):
        if not names:
            return ""
        each = "".join("      - {%s}\n" % (n if ":" in n else "filename: " + n) for n in names)
        return f"    {kind}:\n{each}"
    return (f"  - func: {name}\n    exec: {program} {ops}\n{more}" + ports("inports", inports) +
            ports("outports", outports))


def flow(*tasks):
    return "name: flow\ndir: work\ntasks:\n" + "".join(tasks)


NO_MOUNT = ["unshare", "-rm", "sh", "-c", 'mount --bind /dev/null /dev/fuse && exec "$@"', "sh"]

SERVED = """
{"name": "flow",
 "IO_Graph": [
  {"name": "A", "output_stream": ["data"],
   "streaming": [{"name": ["data"], "committed": "on_close", "mode": "no_update"}]},
  {"name": "B", "input_stream": ["data"], "output_stream": ["out"]}],
 "permanent": ["out"]}
"""

ACTIONS = """
def serve(vol, rank):
    vol.set_after_file_close(lambda s: vol.serve_all())
"""

# What a person would type; each part is bounded, since what it talks to may be dead.
SERVING = f"""
export LEAT_DIR=$PWD/work
rm -f served
{LEAT} serve %s flow.json 2>served &
server=$!
for i in $(seq 100); do
    ! grep -q 'steps may start' served || break
    kill -0 $server 2>/dev/null || break
    sleep 0.02
done
%s
kill $server 2>/dev/null
wait $server || failed=1
cat served >&2
exit $failed
"""

SCENES = [
    Scene("stream", flow(
        task("A", ACTOR, "make grow 400000 3000 , make small 5000 100 , mkdir parts , "
             "make parts/1 1000 1000 , make parts/2 2000 500 , holes sparse 200000 , cut short 50000 , "
             "make tmp.part 3000 500 , rename tmp.part moved , refused , make late 2000 2000",
             outports=["filename: grow, mode: no_update", "filename: small, committed: on_close",
                       "dirname: parts, committed: 'n_files:2'", "filename: sparse, mode: no_update",
                       "short", "moved", "late"]),
        task("B", ACTOR, "take grow 400000 1000 , list parts 2 , take parts/1 1000 99 , "
             "take sparse 200000 4096 , take short 50000 4096 , take moved 3000 4096 , map late 2000 , "
             "make out 300000 7000 , mkdir d , make d/final 100 100 , inherit small 5000",
             inports=["grow", "small", "dirname: parts", "sparse", "short", "moved", "late"],
             outports=["out", "dirname: d"])),
        {"out": 300000, "d/final": 100}),
    Scene("names", flow(
        task("A", ACTOR, "mkdir d.tmp , make d.tmp/x 1000 1000 , rename d.tmp d , make ../outside 10 10 , "
             "rename ../outside in , make left 500 100 , rename left ../left , make gone 10 10 , unlink gone , "
             "add notes 5000000 900",
             # patterns: what is moved away or removed is not made
             outports=["dirname: d", "in", "filename: 'left*'", "filename: 'gone*'", "notes", "dirname: 'd.tmp*'"]),
        task("B", ACTOR, "take d/x 1000 4096 , take in 10 10 , take notes 5000900 65536 , make out 100 10",
             inports=["dirname: d", "in", "notes"], outports=["out"])),
        {"out": 100}, before={"notes": 5000000}),
    # two steps that write one file, each its own part
    Scene("shared", flow(
        task("A", ACTOR, "add data 1000 500", outports=["data"]),
        task("B", ACTOR, "add data 1500 500", outports=["data"]),
        task("C", ACTOR, "take data 2000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, before={"data": 1000}),
    Scene("memory", flow(
        task("A", ACTOR, "make old 2000000 64000 , make big 9000000 16000",
             outports=["filename: old, committed: on_close", "filename: big, mode: no_update"]),
        task("B", ACTOR, "take big 9000000 16000 , take old 2000000 64000 , make out 100 10",
             inports=["old", "big"], outports=["out"])),
        {"out": 100}, options=["--memory", "5M"]),
    # a store that is larger than the budget: who writes asks for it
    Scene("budget", flow(
        task("A", ACTOR, "make big 3000000 16000", outports=["big"]),
        task("B", ACTOR, "take big 3000000 16000 , make out 100 10", inports=["big"], outports=["out"])),
        {"out": 100}, options=["--memory", "5M"], prefix=["env", "LEAT_STORE=shm"]),
    # readers that wait: for a byte, for all of the file, for a true size
    Scene("waits", flow(
        task("A", ACTOR, "make data 5000 5000 , slow 300 , add data 5000 5000", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 10000 1000", inports=["data"]),
        task("C", ACTOR, "map data 10000", inports=["data"]),
        task("D", ACTOR, "share data 10000 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}),
    Scene("prefault", flow(
        task("A", ACTOR, "make grow 9000000 12000", outports=["filename: grow, mode: no_update, retain: false"]),
        task("B", ACTOR, "take grow 9000000 12000 , make out 100 10", inports=["grow"], outports=["out"])),
        {"out": 100}),
    Scene("versions", flow(
        task("A", ACTOR, "make x 3000 300 , make x 3000 300 , make x 3000 300", outports=["x"]),
        task("B", ACTOR, "take x 3000 5000 , take x 3000 100 , take x 3000 5000 , make out 100 10",
             inports=["filename: x, io_freq: 1"], outports=["out"])),
        {"out": 100}),
    Scene("actions", flow(
        task("A", ACTOR, "make data 3000 300", outports=["data"], more="    actions: [actions, serve]\n"),
        task("B", ACTOR, "take data 3000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, command=["bash", "-c", f"echo '{ACTIONS}' >actions.py; exec {LEAT} run flow.yaml"]),
    Scene("staged", flow(
        task("A", ACTOR, "make data 3000 300", outports=["data"]),
        task("B", ACTOR, "take data 3000 100 , make out 100 10", inports=["data"], outports=["out"],
             more="    staged: true\n")),
        {"out": 100}),
    Scene("mount", flow(
        task("A", STATIC, "make data 300000 3000 , mkdir parts , make parts/1 1000 1000 , holes sparse 20000 , "
             "cut short 5000 , make tmp.part 3000 500 , rename tmp.part moved",
             outports=["filename: data, mode: no_update", "dirname: parts, committed: 'n_files:1'",
                       "filename: sparse, mode: no_update", "short", "moved"]),
        task("B", STATIC, "take data 300000 1000 , list parts 1 , take sparse 20000 4096 , "
             "take short 5000 4096 , take moved 3000 4096 , make out 30000 7000",
             inports=["data", "dirname: parts", "sparse", "short", "moved"], outports=["out"])),
        {"out": 30000}, needs="/dev/fuse"),
    # a program behind a mount that was started with an output open
    Scene("given", flow(
        task("A", "bash -c", f"'exec {STATIC} pour 300000 3000 >data'", outports=["data"]),
        task("B", ACTOR, "take data 300000 1000 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, needs="/dev/fuse"),
    Scene("dies", flow(
        task("A", ACTOR, "die data 400000", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 0 4096 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, fails="step A failed"),
    Scene("dying", flow(
        task("A", ACTOR, "dying data 3000", outports=["data"]),
        task("B", ACTOR, "take data 3000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}),
    Scene("early", flow(
        task("A", ACTOR, "make data 5000 5000 , slow 100 , add data 5000 1000",
             outports=["filename: data, mode: no_update"]),
        # by that name it is taken for a run time that asks for the size before the program can
        task("B", "../perl5-actor", "early data , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, command=["bash", "-c", f"cp -f {ACTOR} perl5-actor && exec {LEAT} run flow.yaml"],
        fails="violation"),
    Scene("orphan", flow(
        task("A", "bash -c", f"'(sleep 0.05 &); exec {ACTOR} make data 3000 300 , slow 200'", outports=["data"]),
        task("B", ACTOR, "take data 3000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}),
    Scene("again", flow(
        task("A", ACTOR, "make data 5000 5000 , make data 5000 5000",
             outports=["filename: data, committed: 'on_close:1'"]),
        task("B", ACTOR, "take data 5000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, fails="violation"),
    Scene("shrunk", flow(
        task("A", ACTOR, "make data 5000 5000 , slow 200 , shrink data 100", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 0 4096 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, fails="violation"),
    Scene("stopped", flow(
        task("A", ACTOR, "make data 5000 5000 , slow 4000", outports=["filename: data, mode: no_update"]),
        task("B", ACTOR, "take data 0 4096 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}, command=["timeout", "-s", "INT", "2", LEAT, "run", "flow.yaml"], fails="interrupted by SIGINT"),
    Scene("killed", flow(
        task("A", "bash -c", f"'{KILLED} && exec {ACTOR} make data 3000 300'", outports=["data"]),
        task("B", ACTOR, "take data 3000 100 , make out 100 10", inports=["data"], outports=["out"])),
        {"out": 100}),
    Scene("refused", flow(
        task("A", ACTOR, f"make data 100 10 , run {STATIC}", outports=["data"])),
        {"data": 100}, fails="cannot be intercepted", prefix=NO_MOUNT),
    Scene("serve", SERVED, {"out": 100}, command=["bash", "-c", SERVING % ("", f"""
        timeout 20 {LEAT} exec --app B -- {ACTOR} take work/data 3000 100 , make work/out 100 10 &
        reader=$!
        timeout 20 {LEAT} status >/dev/null || failed=1
        timeout 20 {LEAT} exec --app A -- {ACTOR} make work/data 3000 100 || failed=1
        timeout 20 {LEAT} done A || failed=1
        wait $reader || failed=1
        """)]),
    Scene("late", SERVED, command=["bash", "-c", SERVING % ("--timeout 1", f"""
        timeout 20 {LEAT} exec --app B -- {ACTOR} take work/data 3000 100 || failed=1
        """)], fails="did not come"),
]

if os.geteuid() == 0:  # a program of another user, in root's run
    SCENES.append(
        Scene("user", flow(
            task("A", ACTOR, "make data 3000 300", outports=["data"]),
            task("B", "bash -c", f"'setpriv --reuid=65534 --regid=65534 --clear-groups env {ACTOR} take data 3000 100 && "
                 f"exec {ACTOR} make out 100 10'", inports=["data"], outports=["out"])),
            {"out": 100}, command=[
                "bash", "-c", f"chmod 711 . runtime && chmod 755 work && touch log && chmod 666 log && exec {LEAT} run flow.yaml"]))
