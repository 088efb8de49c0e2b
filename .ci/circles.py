"""Who uses whom in src/, by the symbols of a build's objects, and the circles in that."""
import json
import os
import re
import subprocess

UNDEFINED = set("Uwv")
# Of a nm line: what the object defines for others.
DEFINED = set("ABCDGRSTVWiu")


class Stale(Exception):
    """The objects are not those of the sources as they are."""


def objects_of(root, build):
    """Source below src/ -> its objects: it may be compiled for several targets."""
    commands = os.path.join(build, "compile_commands.json")
    if not os.path.exists(commands):
        raise Stale(f"{build} is no build")
    found = {}
    with open(commands, encoding="utf-8") as f:
        for row in json.load(f):
            source = os.path.normpath(os.path.join(row["directory"], row["file"]))
            made = os.path.relpath(source, row["directory"])  # where the build makes a source
            path = made if made.startswith("src/") else os.path.relpath(source, root)
            if not path.startswith("src/"):
                continue
            output = os.path.join(row["directory"], row["output"])
            if not os.path.exists(source):
                raise Stale(f"{path} is no more")
            if not os.path.exists(output) or os.path.getmtime(output) < os.path.getmtime(source):
                raise Stale(f"{path} is not compiled")
            found.setdefault(path, []).append(output)
    return found


def symbols(objects):
    """For each object what it defines for others, and what it takes of others. Functions of libc's
    names are for programs only."""
    out = subprocess.run(["nm", "-A", "-P", *objects], capture_output=True, text=True, check=True)
    defined, taken = {}, {}
    for line in out.stdout.splitlines():
        m = re.match(r"(.*?): (\S+) (\S)", line)
        if not m or not m[2].startswith("leat_"):
            continue
        if m[3] in UNDEFINED:
            taken.setdefault(m[1], set()).add(m[2])
        elif m[3] in DEFINED:
            defined.setdefault(m[1], set()).add(m[2])
    return defined, taken


def layer_of(path):
    return path.split("/")[1]


def uses(root, build, allowed):
    """File -> {file that it uses: a symbol}. A name that several layers define is that of one's own
    layer, or else of a layer that one may include."""
    objects = objects_of(root, build)
    defined, taken = symbols([o for of in objects.values() for o in of])
    owners = {}
    for path, of in objects.items():
        for name in set().union(*(defined.get(o, set()) for o in of)):
            owners.setdefault(name, set()).add(path)
    graph = {path: {} for path in objects}
    for path, of in objects.items():
        layer = layer_of(path)
        for name in sorted(set().union(*(taken.get(o, set()) for o in of))):
            all_of = owners.get(name, set())
            at = ({p for p in all_of if layer_of(p) == layer} or
                  {p for p in all_of if layer_of(p) in allowed.get(layer, ())} or all_of)
            for owner in at - {path}:
                graph[path].setdefault(owner, name)
    return graph


def circles(graph):
    """The strongly connected parts of more than one node (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def fold(graph, name_of):
    """The graph whose nodes are the groups that name_of puts files into."""
    folded = {}
    for path, others in graph.items():
        at = folded.setdefault(name_of(path), {})
        for other, symbol in others.items():
            if name_of(other) != name_of(path):
                at.setdefault(name_of(other), f"{path} uses {symbol} of {other}")
    return folded


def sub_layer_of(path):
    """src/layer/sub of src/layer/sub/file.c; what lies in the layer itself stands for itself."""
    parts = path.split("/")
    return "/".join(parts[:3])


def within(graph, layer):
    return {path: {p: s for p, s in others.items() if layer_of(p) == layer}
            for path, others in graph.items() if layer_of(path) == layer}
