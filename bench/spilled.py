"""A workflow whose intermediates are four times its memory for files, against the same as a batch
on plain files and against one with memory enough, in turn."""
import os
import shutil
import time

from calls import write_json
from common import M, in_turn, medians, ratio, run


class Flow:
    """Many files, or one, that one step makes and the next reads and checks."""

    def __init__(self, tools, name, files, size):
        self.tools, self.name, self.total = tools, name, files * size
        self.dir = os.path.join(tools.work, "spilled-" + name)
        os.makedirs(self.dir)
        names = [f"out_{k:06}.dat" for k in range(files)]
        ports = [{"filename": n, "mode": "no_update"} for n in names]
        self.workflow = write_json(os.path.join(self.dir, "flow.yaml"), {
            "name": "bench", "dir": "flow", "tasks": [
                {"func": "produce", "outports": ports,
                 "exec": f"{tools.program('produce')} . 0 {files} {size} {M}"},
                {"func": "sum", "inports": [{"filename": n} for n in names],
                 "outports": [{"filename": "sum"}],
                 "exec": f"sh -c 'cat {' '.join(names)} | cksum >sum'"}]})

    def way(self, *options):
        """Seconds of a whole run; what it leaves is compared with what the first one left."""
        def once():
            flow = os.path.join(self.dir, "flow")
            shutil.rmtree(flow, ignore_errors=True)
            os.mkdir(flow)
            self.tools.make_resident(self.total)
            begin = time.monotonic()
            run([self.tools.leat, "run", *options, self.workflow], cwd=self.dir)
            seconds = time.monotonic() - begin
            run(["cmp", os.path.join(flow, "sum"), self.expect(flow)])
            return seconds
        return once

    def expect(self, flow):
        kept = os.path.join(self.dir, "expected")
        if not os.path.exists(kept):
            shutil.copy(os.path.join(flow, "sum"), kept)
        return kept


def measure_spilled(tools, args, results):
    """Memory for a quarter of what a workflow writes between its steps."""
    total = (128 if args.quick else 1024) * M
    print("\nintermediates of four times the memory   batch    memory/4 (ratio)   enough (ratio)"
          "   (seconds, outputs compared)")
    for name, files in (("1 file", 1), ("32 files", 32)):
        flow = Flow(tools, name.replace(" ", "-"), files, total // files)
        took = medians(in_turn([("batch", flow.way("--plain")),
                                ("spilled", flow.way("--memory", str(total // 4))),
                                ("enough", flow.way("--memory", str(2 * total)))], args.rounds))
        print(f"  {name:10}{total // M:8} MB{took['batch']:24.2f}{took['spilled']:12.2f}"
              f"{ratio(took['spilled'], took['batch']):7.2f}{took['enough']:12.2f}"
              f"{ratio(took['enough'], took['batch']):7.2f}")
        results[f"spilled {name}"] = took
        shutil.rmtree(flow.dir)
