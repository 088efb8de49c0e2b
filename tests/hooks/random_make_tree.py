# random_make_tree.py SEED: make, rename, link and remove names below d.
import os, random, sys, subprocess
r = random.Random(int(sys.argv[1]))
os.makedirs("d", exist_ok=True)
files = []; n = 0
for i in range(r.randrange(5, 60)):
    op = r.choice(["new", "new", "new", "tmpmv", "rm", "mkdir", "append", "sym", "link", "mvdir", "sh", "cd"])
    dirs = sorted(x for x, _, _ in os.walk("d"))
    if op == "new":
        p = os.path.join(r.choice(dirs), f"f{n}"); n += 1
        open(p, "w").write("x" * r.randrange(5000)); files.append(p)
    elif op == "tmpmv":
        p = os.path.join(r.choice(dirs), f"f{n}"); n += 1
        t = r.choice([p + ".tmp", f"t{n}"])
        open(t, "w").write("y" * r.randrange(5000)); os.rename(t, p)
    elif op == "mkdir":
        os.mkdir(os.path.join(r.choice(dirs), f"s{n}")); n += 1
    elif op == "sh":
        p = os.path.join(r.choice(dirs), f"f{n}"); n += 1
        subprocess.run(["bash", "-c", f"echo {n} > {p}; echo more >> {p}"], check=True)
    elif op == "cd":
        q = r.choice(dirs); here = os.getcwd()
        os.chdir(q); open(f"f{n}", "w").write(os.path.relpath(os.getcwd(), here)); n += 1; os.chdir(here)
    else:
        fs = sorted(os.path.join(a, f) for a, _, b in os.walk("d") for f in b)
        if not fs: continue
        p = r.choice(fs)
        if op == "rm": os.unlink(p)
        elif op == "append" and not os.path.islink(p): open(p, "a").write("z" * 10)
        elif op == "sym": os.symlink(os.path.basename(p), p + f".l{n}"); n += 1
        elif op == "link" and not os.path.islink(p): os.link(p, os.path.join(r.choice(dirs), f"h{n}")); n += 1
        elif op == "mvdir" and len(dirs) > 1:
            q = r.choice(dirs[1:]); os.rename(q, os.path.join("d", f"m{n}")); n += 1
