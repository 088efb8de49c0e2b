#!/usr/bin/env bats
# Extended attributes and access control lists of files go wherever leat takes the files, as in a
# batch.
bats_require_minimum_version 1.5.0
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir batch work
	python3 -c 'import os; open("batch/t", "w"); os.setxattr("batch/t", "user.t", b"1")' ||
		skip "no attributes user.* here"
	rm batch/t
	cat >lib.py <<-'END'
		import os, struct, sys
		NOBODY = 65534
		def acl(rights):
		    """u::rw-, u:nobody:RIGHTS, g::r--, m::rw-, o::r--"""
		    none = 0xffffffff
		    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in (
		        (1, 6, none), (2, rights, NOBODY), (4, 4, none), (16, 6, none), (32, 4, none)))
		CAP = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0)
		def give(path, size=100):
		    os.setxattr(path, "user.kind", b"k" * size)
		    os.setxattr(path, "system.posix_acl_access", acl(6))
		    if os.geteuid() == 0:
		        os.setxattr(path, "trusted.of", b"root")
		        os.setxattr(path, "security.capability", CAP)
		ACL = "system.posix_acl_access"
		def lists(top):
		    """Lists and modes of all that is below."""
		    for d, _, files in sorted(os.walk(top)):
		        for path in [d] + [os.path.join(d, f) for f in sorted(files)]:
		            if ".leat" not in path:
		                names = [n for n in sorted(os.listxattr(path)) if "acl" in n]
		                print(os.path.relpath(path, top), oct(os.stat(path).st_mode), [(n, os.getxattr(path, n)) for n in names])
	END
	export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
}

teardown() {
	nothing_left
}

# flow MAKE [USE [COMMIT]]: Python scripts of a producer of `x` and a consumer that makes `o`.
use='open("x").read(); open("o", "w")'
flow() {
	permanent=${permanent:-[x, o]}
	printf 'from lib import *\n%s\n' "$1" >make.py
	printf 'from lib import *\n%s\n' "${2:-$use}" >use.py
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: ${launcher:-} python3 $PWD/make.py
		    outports: ${ports:-[{filename: x, committed: ${3:-on_termination}\}]}
		  - func: use
		    exec: ${launcher:-} python3 $PWD/use.py
		    inports: [{filename: x}]
		    outports: [{filename: o}]
		permanent: $permanent
	END
	export SAVED=$permanent
}

# attributes DIR: those of all its files, with their modes.
attributes() {
	(cd "$1" && python3 -c '
import os
for f in sorted(os.listdir(".")):
    if not f.startswith(".leat") and f in os.environ["SAVED"]:
        print(f, oct(os.stat(f).st_mode), [(n, os.getxattr(f, n)) for n in sorted(os.listxattr(f))])')
}

# alike [WARNING]: as a batch in `batch`, and streamed in `work`: the same, and nothing is said (but WARNING).
alike() {
	timeout 60 leat run -q --plain --dir batch flow.yaml
	timeout 60 leat run -q --dir work flow.yaml 2>log || { cat log; return 1; }
	cat log
	attributes batch >batch.txt
	attributes work >work.txt
	diff batch.txt work.txt || return 1
	grep -q user.kind work.txt || return 1
	! grep warning log | grep -v "${1:-^$}"
}

# with_each COMMAND...: intercepted, and behind a mount.
with_each() {
	"$@" || return 1
	if can_mount; then
		rm -rf batch work && mkdir batch work
		launcher='env LEAT_INTERCEPT=mount'
		"$@"
	fi
}

can_mount() {
	[ -w /dev/fuse ]
}

saved() {
	flow 'open("x", "w").write("x" * 99999); give("x")'
	alike
}

@test "attributes of an output that is saved" {
	with_each saved
}

read_by_consumer() {
	permanent='[o]'
	flow 'open("x", "w").write("x"); give("x")' \
		'open("x").read(); v = os.getxattr("x", "user.kind"); open("o", "wb").write(v)
os.setxattr("o", "user.kind", v)'
	alike
	cmp batch/o work/o
}

@test "attributes of a temporary output that its consumer reads" {
	with_each read_by_consumer
}

late() {
	flow 'open("x", "w").write("x"); os.setxattr("x", "user.gone", b"1")
import time; time.sleep(1)
give("x"); os.removexattr("x", "user.gone")' '' on_close
	# behind a mount who opens a file has examined it
	alike "${launcher:+step make gives x, which is complete, mode 664: others have seen it with mode 644}"
}

@test "attributes that a file is given after it was saved" {
	with_each late
}

# before [BYTES]: a file on disk that has attributes, and this many bytes.
before() {
	for d in batch work; do
		(cd $d && head -c "${1:-5}" /dev/zero >x && python3 -c 'from lib import *; give("x")')
	done
}

appended() {
	before "$1"
	flow 'open("x", "a").write("more")'
	alike
}

@test "attributes that a file had before, to which a step appends" {
	with_each appended 5
}

@test "attributes that a large file had before, to which a step appends" {
	with_each appended 9000000
}

emptied() {
	before
	flow 'open("x", "w").write("new")'
	alike
}

@test "attributes that a file had before that a step writes anew" {
	with_each emptied
}

@test "attributes of 64 KB" {
	rm -rf batch work
	here=$(mktemp -d /dev/shm/leat-test.XXXXXX)
	mkdir "$here/batch" "$here/work"
	ln -s "$here/batch" "$here/work" .
	python3 -c 'import os; open("work/t", "w"); os.setxattr("work/t", "user.t", b"1" * 65536)' ||
		{ rm -rf "$here"; skip "no such attributes in /dev/shm"; }
	rm work/t
	flow 'open("x", "w").write("x"); os.setxattr("x", "user.kind", b"k" * 65536)'
	alike || { rm -rf "$here"; return 1; }
	rm -rf "$here"
}

@test "an attribute that the disk does not take is named" {
	flow 'open("x", "w").write("x"); os.setxattr("x", "user.kind", b"k" * 65000)'
	python3 -c 'import os; open("t", "w"); os.setxattr("t", "user.t", b"1" * 65000)' &&
		skip "the disk takes large attributes"
	timeout 60 leat run -q --dir work flow.yaml 2>log
	cat log
	grep 'warning: x: its attribute user.kind is lost' log
}

@test "a directory without attributes: files and directories are named, and nobody has more rights" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m mount -t ramfs none work || skip "no ramfs here"
	permanent='[x, o, d]'
	flow 'import time
f = open("x", "w"); f.write("x"); give("x"); f.close()
os.mkdir("d"); os.setxattr("d", "user.of", b"d"); open("d/y", "w")'
	sed -i 's/outports: \[{filename: x/outports: [{dirname: d}, {filename: x/' flow.yaml
	timeout 60 unshare -m bash -c 'mount -t ramfs none work && leat run -q flow.yaml; s=$?
		stat -c "%n %a" work/x; exit $s' >out 2>log
	cat out log
	for a in user.kind system.posix_acl_access trusted.of; do
		[ "$(grep -c "warning: x: its attribute $a is lost where it is copied to: Operation not supported" log)" = 1 ]
	done
	grep -q 'warning: d: its attribute user.of is lost' log
	grep -qx 'work/x 644' out
}

@test "a file that is moved out of memory takes its attributes along" {
	mkdir spill
	flow 'open("x", "w").write("x" * 30000000); give("x")
import time; time.sleep(2)'
	timeout 60 leat run -q --plain --dir batch flow.yaml
	timeout 60 leat run -q --memory 8M --spill-dir spill --dir work flow.yaml
	attributes batch >batch.txt
	attributes work >work.txt
	diff batch.txt work.txt
}

# A directory with a default list, one without, and files that have the list, had it, or never had it.
in_default_lists() {
	local d
	for d in batch work; do
		mkdir $d/d $d/e
		python3 -c '
from lib import *
import sys
for path in sys.argv[1:]:
    os.setxattr(path, "system.posix_acl_default", acl(7))' $d $d/d || skip "no access control lists here"
	done
	permanent='[x, "d/*", "e/*", o]'
	ports='[{filename: x}, {filename: "d/*", committed: on_close}, {filename: "e/*", committed: on_close}]'
	flow 'for f in ("x", "d/has", "d/gone", "d/late", "e/none", "e/moved", "d/out"):
    open(f, "w").write((f * 300000)[:300000])
for f in ("x", "d/gone"):
    os.removexattr(f, ACL)
os.rename("e/moved", "d/moved")
os.rename("d/out", "e/out")
import time; time.sleep(1)
os.removexattr("d/late", ACL)'
	timeout 60 leat run -q --plain --dir batch flow.yaml
	timeout 60 leat run -q "$@" --dir work flow.yaml 2>log || { cat log; return 1; }
	cat log
	python3 -c 'from lib import *; lists("batch")' | tee batch.txt
	python3 -c 'from lib import *; lists("work")' | diff batch.txt -
	grep -q 'd/has .*acl_access' batch.txt
	! grep -q 'd/gone .*acl_access' batch.txt
}

@test "a list that a directory gives, and that a step removes, or never had" {
	with_each in_default_lists
}

@test "the same of files that memory has no space for" {
	mkdir spill
	in_default_lists --memory 1M --spill-dir spill
}

@test "calls of newer kernels that have the same by another way: as if there were none" {
	built=$(command -v python3) || skip "python3 is not installed"
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: $built $PWD/newer.py
		    outports: [{filename: x}]
	END
	cat >newer.py <<-'END'
		import ctypes, errno, os
		call = ctypes.CDLL(None, use_errno=True).syscall
		open("x", "w").close()
		for nr in (463, 464, 465, 466, 468, 469):
		    assert call(nr, -100, b"x", 0, 0, 0, 0) == -1 and ctypes.get_errno() == errno.ENOSYS, nr
	END
	leat run -q flow.yaml
}
