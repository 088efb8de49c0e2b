# random_read_tree.py: write into `out` what is below d.
import os, hashlib, subprocess
out = open("out", "w")
for a, b, c in sorted(os.walk("d")):
    b.sort()
    for f in sorted(b + c):
        p = os.path.join(a, f)
        if os.path.islink(p): print(p, "->", os.readlink(p), os.path.exists(p), file=out)
        elif os.path.isdir(p): print(p, "dir", file=out)
        else: print(p, hashlib.md5(open(p, "rb").read()).hexdigest(), os.path.getsize(p), file=out)
out.flush()
out.write(subprocess.run("find d | sort | md5sum; du -ab d 2>/dev/null | awk '{n++} END {print n}'; tar cf - --sort=name --mtime=@0 d | tar tf - | sort | md5sum", shell=True, capture_output=True, text=True).stdout)
