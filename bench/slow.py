"""Storage devices that are slow on purpose, for bench/scheduling: each a directory `dir` while it is
open, and a way to run programs that write to it. They are mounted in a mount namespace of the
benchmark's own, so that whatever happens no mount and no loop device outlives it."""
import glob
import json
import os
import shutil
import subprocess

from common import M, Failed, run

# Who the user was outside of the namespace; only set in it.
OUTSIDE = "LEAT_BENCH_OUTSIDE_UID"


def unshare_command():
    """In front of a command: a mount namespace, and a user namespace for those who are not root."""
    return ["unshare", "--mount", "--propagation", "private"] + (["--map-root-user"] if os.geteuid() else [])


def enter_namespace(argv):
    """Start this program anew where it may mount, unless it is there; Failed if that is impossible."""
    if OUTSIDE in os.environ:
        return
    if not shutil.which("unshare"):
        raise Failed("unshare is missing (Debian: util-linux)")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) and os.geteuid():
        raise Failed("/dev/fuse cannot be opened by this user; root has a loop device besides")
    tried = subprocess.run(unshare_command() + ["true"], stderr=subprocess.PIPE, text=True, check=False)
    if tried.returncode != 0:
        raise Failed(f"no namespace to mount a device in: {tried.stderr.strip()}")
    os.environ[OUTSIDE] = str(os.geteuid())
    os.execvp("unshare", unshare_command() + argv)


def is_root():
    return os.environ[OUTSIDE] == "0"


class Device:
    """A directory below `work`, over files in memory (a tmpfs at `ram`)."""

    def __init__(self, tools, mbps, size):
        self.tools, self.mbps, self.size = tools, mbps, size
        self.ram, self.dir = (os.path.join(tools.work, d) for d in ("ram", "slow"))

    def __enter__(self):
        os.makedirs(self.ram)
        os.makedirs(self.dir)
        run(["mount", "-t", "tmpfs", "-o", "mode=700", "leat-bench", self.ram])
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.close()
        finally:
            run(["umount", self.ram])
            os.rmdir(self.ram)
            os.rmdir(self.dir)

    def run(self, argv, **kwargs):
        return run(argv, **kwargs)


class LoopDevice(Device):
    """A loop device over a file in memory, with an ext4 of its own, which the kernel throttles for the
    processes of a cgroup (blkio of version 1)."""

    CGROUP = "/sys/fs/cgroup/blkio"
    WHAT = "a loop device that the kernel throttles (cgroup blkio), with ext4"

    @classmethod
    def missing(cls):
        """Why it cannot be had; None: it can."""
        if not is_root():
            return "only root can have one"
        if not os.path.exists(os.path.join(cls.CGROUP, "blkio.throttle.write_bps_device")):
            return f"{cls.CGROUP} has no blkio.throttle.write_bps_device (cgroup version 1)"
        if not os.path.exists("/dev/loop-control"):
            return "there is no /dev/loop-control"
        if not shutil.which("mkfs.ext4"):
            return "mkfs.ext4 is missing (Debian: e2fsprogs)"
        return None

    def open(self):
        for left in glob.glob(os.path.join(self.CGROUP, "leat-bench-*")):
            if not os.path.exists(f"/proc/{left.rsplit('-', 1)[1]}"):
                os.rmdir(left)
        image = os.path.join(self.ram, "image")
        with open(image, "wb") as f:
            f.truncate(self.size + 256 * M)
        # What the file system would write later, it is to write now.
        run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image])
        # The loop device goes with the mount, also if nobody unmounts it.
        run(["mount", "-o", "loop", image, self.dir])
        device = os.stat(self.dir).st_dev
        self.cgroup = os.path.join(self.CGROUP, f"leat-bench-{os.getpid()}")
        os.mkdir(self.cgroup)
        with open(os.path.join(self.cgroup, "blkio.throttle.write_bps_device"), "w", encoding="ascii") as f:
            f.write(f"{os.major(device)}:{os.minor(device)} {self.mbps * 1000000}")

    def close(self):
        if os.path.ismount(self.dir):
            run(["umount", self.dir])
        if os.path.isdir(getattr(self, "cgroup", "")):
            os.rmdir(self.cgroup)

    def enter(self):
        with open(os.path.join(self.cgroup, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write(str(os.getpid()))

    def run(self, argv, **kwargs):
        return run(argv, preexec_fn=self.enter, **kwargs)


class ModelDevice(Device):
    """A device that congests, by bench/slowdev.c."""

    WHAT = "a model of a device that congests (FUSE, bench/slowdev.c)"
    server = None

    @classmethod
    def missing(cls):
        return None if os.path.exists("/dev/fuse") else "there is no /dev/fuse"

    def open(self):
        store = os.path.join(self.ram, "store")
        os.mkdir(store)
        self.server = subprocess.Popen([self.tools.program("slowdev"), self.dir, store, str(self.mbps)],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if self.server.stdout.readline() != "ready\n":
            raise Failed("bench_slowdev could not mount: what it says is above"
                         if self.server.poll() is None else self.server.stdout.read())

    def close(self):
        if self.server:
            self.server.terminate()
            said, _ = self.server.communicate()
            if self.server.returncode != 0:
                raise Failed(f"bench_slowdev: status {self.server.returncode}\n{said}")


def curve(device, counts, file_bytes, seconds):
    """MB/s of so many writers together, each of which writes a file and flushes it, again and again, as
    {writers: MB/s}; by fio."""
    seen = {}
    for n in counts:
        out = device.run(["fio", "--name=curve", f"--directory={device.dir}", "--rw=write", f"--bs={file_bytes}",
                          f"--size={file_bytes}", "--fsync=1", "--fallocate=none", f"--numjobs={n}", "--thread",
                          "--time_based", f"--runtime={seconds}", "--group_reporting", "--unlink=1",
                          "--output-format=json"], cwd=device.tools.work)
        try:
            seen[n] = json.loads(out[out.index("{"):])["jobs"][0]["write"]["bw_bytes"] / 1e6
        except (ValueError, LookupError) as why:
            raise Failed(f"fio: {why}: {out[:400]}") from why
    return seen
