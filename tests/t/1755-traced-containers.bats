#!/usr/bin/env bats
# Containers in traces: what files are called inside, and what they are outside.
bats_require_minimum_version 1.5.0
load helper
load cgroup
load image

setup_file() {
	image "$BATS_FILE_TMPDIR/root" bash cat chroot cp env ls mkdir mv rm seq sleep sort
	mkdir -p "$BATS_FILE_TMPDIR/root"/{w,etc}
	touch "$BATS_FILE_TMPDIR/root"/etc/{group,hosts,localtime,passwd,resolv.conf,hostname}
}

setup() {
	in_work
	export ROOT=$BATS_FILE_TMPDIR/root USER=${USER:-root}
	podman_apart "$PWD"
}

teardown() {
	rm -rf podman
	group_free
	nothing_left
}

# tracers: sets `tracers`, those that look into containers and are usable here; without any the test is skipped.
tracers() {
	local tracer
	tracers=()
	for tracer in ptrace ebpf; do
		if leat trace --tracer $tracer -o probe.csv -- true 2>messages; then
			tracers+=("$tracer")
		else
			echo "# $tracer: $(sed 's/^leat: //;q' messages)" >&3
		fi
	done
	[ "${#tracers[@]}" -gt 0 ] || skip "neither ptrace nor eBPF can be used here"
}

# traced TRACER COMMAND...: into t.csv. Who is traced cannot look for leaks, which takes ptrace.
traced() {
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 leat trace --tracer "$1" -o t.csv -- "${@:2}" >out 2>messages || {
		cat out messages
		return 1
	}
	cat messages
	grep -q 'none lost' messages
}

# calls EXPRESSION: a Python expression over the trace t.csv that must be true: `calls` is a list of its
# rows, `names` what each path inside was outside, `work` and `root` are directories.
calls() {
	/usr/bin/python3 -B - "$1" <<-'END'
		import csv, os, sys
		rows = csv.reader(line for line in open("t.csv") if not line.startswith("#"))
		head = next(rows)
		calls = [dict(zip(head, row)) for row in rows]
		work, root = os.path.realpath("work"), os.path.realpath(os.environ["ROOT"])
		names = {}
		for c in calls:
		    if c["path"]:
		        names.setdefault(c["path"], set()).add(c["outside"])
		if not eval("(" + sys.argv[1] + ")"):
		    for c in calls:
		        if "/w/" in c["path"] or c["outside"]:
		            print(c["pid"], c["type"], c["result"], c["path"], c["to"], c["outside"], c["to_outside"])
		    sys.exit("not so: " + sys.argv[1])
	END
}

# Reads, makes, renames, removes in /w, and in a place that only the container has.
inside='cd /w && sort in >made && mv made moved && cp moved gone && rm gone && seq 3 >/tmp/own && cat /tmp/own >/dev/null'

# looks ENGINE... : what is inside of it is known outside, by each tracer.
looks() {
	local tracer
	tracers
	for tracer in "${tracers[@]}"; do
		rm -f work/*
		seq 1000 >work/in
		traced "$tracer" "$@" bash -c "$inside"
		cmp work/moved <(seq 1000 | sort)
		calls 'names["/w/in"] == {work + "/in"}'
		calls 'names["/w/made"] == {work + "/made"}'
		calls '[(c["outside"], c["to_outside"]) for c in calls if c["type"] == "N" and c["path"] == "/w/made"] ==
			[(work + "/made", work + "/moved")]'
		calls '[c["outside"] for c in calls if c["type"] == "U" and c["path"] == "/w/gone"] == [work + "/gone"]'
		calls 'len({c["inode"] for c in calls if c["outside"] in (work + "/made", work + "/moved")}) == 1'
	done
}

@test "bubblewrap: files that are bound, and a tmpfs of its own" {
	need bwrap
	looks bwrap --bind "$ROOT" / --bind work /w --dev /dev --proc /proc --tmpfs /tmp --unshare-pid
	calls 'len(names["/tmp/own"]) == 1 and all(n.startswith("tmpfs[") and n.endswith("]:/own") for n in names["/tmp/own"])'
	calls 'names["/usr/bin/sort"] == {root + "/usr/bin/sort"} if "/usr/bin/sort" in names else True'
	# The shell's libraries are the image's.
	calls 'any(o.startswith(root + "/") for n in names.values() for o in n)'
}

@test "charliecloud" {
	need ch-run
	# shellcheck disable=SC2016
	looks ch-run --bind "$PWD/work:/w" -w "$ROOT" --
}

@test "unshare, mount, chroot" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	# shellcheck disable=SC2016
	looks unshare --mount bash -c 'mount --bind work "$ROOT/w" && exec chroot "$ROOT" "$@"' bash
	calls 'names["/tmp/own"] == {root + "/tmp/own"}'
	# A root directory alone, of the same mounts.
	mkdir "$ROOT/w/data"
	for tracer in "${tracers[@]}"; do
		seq 10 >"$ROOT/w/data/in"
		traced "$tracer" chroot "$ROOT" bash -c 'cd w/data && sort in >made && rm in && cat none || true'
		calls 'names["/w/data/made"] == {root + "/w/data/made"}'
		calls '[c["outside"] for c in calls if c["path"] == "/w/data/in"] == 2 * [root + "/w/data/in"]'
		calls '[c["result"] for c in calls if c["outside"] == root + "/w/data/none"] == ["-2"]'
	done
	rm -r "$ROOT/w/data"
}

@test "podman, with an overlay as its root" {
	need podman
	[ "$(id -u)" = 0 ] || skip "needs root"
	type -P runc >/dev/null || type -P crun >/dev/null || skip "neither runc nor crun is installed"
	local podman="podman --cgroup-manager cgroupfs run --cgroups=no-conmon --network=none --rm -v $PWD/work:/w"
	$podman --rootfs "$ROOT" bash -c true || skip "podman runs nothing here"
	# shellcheck disable=SC2086 # words
	looks $podman --rootfs "$ROOT"
	calls 'names["/tmp/own"] == {root + "/tmp/own"}'
	rm "$ROOT/tmp/own"
	$podman --rootfs "$ROOT:O" bash -c true || skip "podman mounts no overlays here"
	# shellcheck disable=SC2086
	looks $podman --rootfs "$ROOT:O"
	# The merged file, which is not the image's.
	calls 'len(names["/tmp/own"]) == 1 and all("merge" in n or n.startswith("overlay[") for n in names["/tmp/own"])'
	[ ! -e "$ROOT/tmp/own" ]
}

@test "a namespace whose mounts change: each name is what it was at that time" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir work/{a,b,at}
	cat >change.sh <<-'END'
		mount --bind work/a work/at
		echo a >work/at/x
		umount work/at
		mount --bind work/b work/at
		echo b >work/at/x
		mount -t tmpfs own work/at
		echo c >work/at/x
		mv work/at/x work/at/y
		umount work/at
		rm work/at/x
	END
	tracers
	for tracer in "${tracers[@]}"; do
		traced "$tracer" unshare --mount bash -e change.sh
		calls '[c["outside"].split("]")[-1] for c in calls if c["path"] == work + "/at/x" and c["type"] == "C"] ==
			[work + "/a/x", work + "/b/x", ":/x"]'
		calls '[c["to_outside"].split("]")[-1] for c in calls if c["type"] == "N"] == [":/y"]'
		# A tracer that was too late to see the mounts says so; none says that it was another file.
		calls '[c["outside"] for c in calls if c["type"] == "U" and c["path"] == work + "/at/x"][0] in (work + "/b/x", "")'
		[ "$tracer" = ebpf ] || calls 'not any(c["outside"] == "" and c["path"].endswith("/x") and c["type"] == "U" for c in calls)'
		# Whoever has looked at them first, the mounts are in the trace.
		if [ "$tracer" = ptrace ]; then
			grep -q '^# mount,.*/work/at",".*/work/a",' t.pids.csv
			grep -q '^# mount,.*/work/at",".*/work/b",' t.pids.csv
		fi
		[ ! -e work/b/x ]
		rm work/a/x
	done
}

@test "one picture: a container reads what a program outside has written, and the other way round" {
	need bwrap samtools
	printf '@HD\tVN:1.6\n@SQ\tSN:c\tLN:9999\n' >work/in.sam
	seq 999 -1 1 | awk '{print "r" $1 "\t0\tc\t" $1 "\t60\t4M\t*\t0\t0\tACGT\tIIII"}' >>work/in.sam
	cat >flow.sh <<-'END'
		set -e
		cp work/in.sam work/made.sam
		bwrap --bind / / --dev /dev --tmpfs /tmp --bind work /mnt --chdir /mnt samtools sort -O sam -o sorted.sam made.sam
		cat work/sorted.sam | wc -l
		for i in 1 2; do bwrap --bind / / --dev /dev --tmpfs /tmp cp "$PWD/work/sorted.sam" /tmp/own.sam; done
	END
	tracers
	for tracer in "${tracers[@]}"; do
		# The binds of the container hide this directory where it is below /tmp.
		traced "$tracer" bash -c "$(sed "s|\$PWD/work|/mnt|;s|/tmp cp|/tmp --bind work /mnt cp|" flow.sh)"
		leat report --json report.json t.csv
		/usr/bin/python3 -B - <<-'END'
			import json, os
			r = json.load(open("report.json"))
			task = {t["id"]: t["name"] for t in r["tasks"]}
			def users(path, way):
			    ids = [f["id"] for f in r["files"] if f["path"] == path]
			    assert len(ids) == 1, (path, ids)
			    return {task[p["task"]] for p in r["edges"] if p["file"] == ids[0] and way in p}
			work = os.path.realpath("work")
			assert users(work + "/made.sam", "written") == {"cp"}, users(work + "/made.sam", "written")
			assert users(work + "/made.sam", "read") == {"samtools"}
			assert users(work + "/sorted.sam", "written") == {"samtools"}
			assert users(work + "/sorted.sam", "read") == {"cat", "cp"}
			inside = {f["path"]: f["inside"] for f in r["files"] if "inside" in f}
			assert inside[work + "/sorted.sam"] == "/mnt/sorted.sam", inside
			# Two containers, each with a file that nobody else has.
			own = [f for f in r["files"] if f["path"].endswith(":/own.sam")]
			assert len(own) == 2 and all(f["inside"] == "/tmp/own.sam" for f in own), own
		END
		leat report t.csv >report.txt
		grep -q 'in a container' report.txt
		[ "$tracer" = ebpf ] && continue
		# The compressed form has the same.
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 leat trace --tracer ptrace -o t.trace -- bash -c \
			"bwrap --bind / / --dev /dev --bind work /mnt cp /mnt/in.sam /mnt/other"
		leat report --json report.json t.trace
		python3 - <<-'END'
			import json, os
			files = json.load(open("report.json"))["files"]
			assert [f["inside"] for f in files if f["path"] == os.path.realpath("work/other")] == ["/mnt/other"], files
		END
	done
}

@test "filters go by what is outside" {
	need bwrap
	mkdir work/{kept,other}
	tracers
	for tracer in "${tracers[@]}"; do
		rm -f work/*/*
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 leat trace --tracer "$tracer" --dir work/kept --types CU -o t.csv -- bwrap \
			--bind / / --dev /dev --bind work/kept /mnt bash -c "echo 1 >/mnt/a; echo 2 >$PWD/work/other/b; echo 3 >$PWD/work/kept/c; sleep 0.2; rm /mnt/a"
		calls 'sorted((c["type"], c["outside"] or c["path"]) for c in calls) ==
			[("C", work + "/kept/a"), ("C", work + "/kept/c"), ("U", work + "/kept/a")]'
	done
}

@test "the fuse tracer sees what is outside" {
	need bwrap
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	seq 1000 >work/in
	leat trace --tracer fuse --overlay work -o t.csv -- bwrap --bind / / --dev /dev --proc /proc --unshare-pid --bind work /mnt \
		bash -c 'sort /mnt/in >/mnt/made; mv /mnt/made /mnt/moved' 2>messages || {
		cat messages
		skip "no mount is possible here"
	}
	cmp work/moved <(seq 1000 | sort)
	calls '{c["path"] for c in calls if c["path"]} >= {work + "/in", work + "/made"}'
	calls '[(c["path"], c["to"]) for c in calls if c["type"] == "N"] == [(work + "/made", work + "/moved")]'
	calls 'not any(c["outside"] for c in calls)'
}

@test "the preload tracer counts what runs in containers, by name" {
	need bwrap
	seq 10 >work/in
	local engine
	for engine in "--bind $ROOT /" "--bind $ROOT / --unshare-pid" "--bind / / --unshare-pid"; do
		# shellcheck disable=SC2086 # words
		leat trace --tracer preload -o t.csv -- sh -c 'bwrap "$@"; cat work/in >/dev/null' sh \
			$engine --dev /dev --proc /proc --bind work /mnt sort /mnt/in -o /mnt/out 2>messages
		cat messages
		cmp work/out <(sort work/in)
		grep -Eq '^leat: warning: /usr/bin/sort ran 1 time unseen: it is in a (container|namespace of processes)' messages
		grep -Eq '^# unseen,1,"/usr/bin/sort","it is in a ' t.pids.csv
		grep -Eq 'lost: .*[1-9][0-9]* \(unseen\)' messages
		leat report --json report.json t.csv
		/usr/bin/python3 -B - <<-'END'
			import json
			r = json.load(open("report.json"))
			assert [u["times"] for u in r["sources"][0]["unseen"] if u["program"] == "/usr/bin/sort"] == [1], r["sources"]
			assert any("/usr/bin/sort" in g for g in r["gaps"]), r["gaps"]
		END
		calls 'any(c["path"] == work + "/in" for c in calls) and not any(c["path"].startswith("/mnt/") for c in calls)'
	done
}

# pods UID ID: what kubectl would tell of a pod, `nf-align`.
pods() {
	printf '{"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "nf-align", "uid": "%s", "labels": {"taskName": "align"}},
	"status": {"containerStatuses": [{"containerID": "cri-o://%s"}]}}]}\n' "$1" "$2" >pods.json
}

# all_of_task: what was done to the file `made` is of the task, and known by its cgroup.
all_of_task() {
	leat map -o table.csv t.csv pods.json >summary
	cat summary
	grep -q '^nf-align .*cgroup' summary
	/usr/bin/python3 -B - <<-'END'
		import csv, os
		work = os.path.realpath("work")
		rows = [r for r in csv.DictReader(open("table.csv")) if work + "/made" in (r["path"], r["outside"])]
		assert rows and all(r["physical_task"] == "nf-align" for r in rows), rows
	END
}

@test "leat map by control group: a pod's, of what runs in a container in it" {
	need bwrap
	[ "$(id -u)" = 0 ] || skip "only root can make control groups"
	local top uid=0f0e0d0c-1111-2222-3333-444455556666
	top=$(awk '$0 ~ " - cgroup2 " { print $5; exit }' /proc/self/mountinfo)
	[ -n "$top" ] || skip "no control groups of version 2 are mounted here"
	group=$top/leat-test-$$-pod$uid
	mkdir "$group" || skip "no control group can be made here"
	groups+=("$group")
	seq 100 >work/in
	pods $uid 00
	tracers
	for tracer in "${tracers[@]}"; do
		rm -f work/made
		# shellcheck disable=SC2016
		traced "$tracer" bash -c 'cat work/in >/dev/null; (echo $BASHPID >"$0/cgroup.procs"; exec bwrap --bind / / --dev /dev \
			--bind work /mnt --chdir /mnt bash -c "sort in >made")' "$group"
		all_of_task
	done
}

@test "leat map by control group: podman's" {
	need podman
	[ "$(id -u)" = 0 ] || skip "needs root"
	type -P runc >/dev/null || type -P crun >/dev/null || skip "neither runc nor crun is installed"
	grep -q ' - cgroup2 ' /proc/self/mountinfo || skip "no control groups of version 2 are mounted here"
	local id podman="podman --cgroup-manager cgroupfs run --cgroups=no-conmon --network=none --rm -v $PWD/work:/w"
	$podman --rootfs "$ROOT" bash -c true || skip "podman runs nothing here"
	seq 100 >work/in
	tracers
	for tracer in "${tracers[@]}"; do
		rm -f work/made id
		# shellcheck disable=SC2086
		traced "$tracer" ${podman/--rm/} --cidfile id --rootfs "$ROOT" bash -c 'cd /w; sort in >made'
		id=$(cat id) # podman 5 removes it with the container
		podman --cgroup-manager cgroupfs rm "$id"
		pods 0f0e0d0c-1111-2222-3333-444455556666 "$id"
		all_of_task
	done
}

@test "a run that is traced: a step in a container has the names of the workflow's directory" {
	need bwrap
	[ -e /dev/fuse ] || skip "there is no /dev/fuse"
	printf 'name: possible\ntasks: [{func: one, exec: unshare true}]\n' >possible.yaml
	leat run -q possible.yaml || skip "no mount is possible here"
	cat >flow.yaml <<-END
		name: boxed
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'seq 1000 >data'
		    outports: [{filename: data}]
		  - func: use
		    exec: bwrap --bind $ROOT / --bind . /w --dev /dev --proc /proc --chdir /w bash -c 'sort data >sorted'
		    inports: [{filename: data}]
		    outports: [{filename: sorted}]
	END
	tracers
	for tracer in "${tracers[@]}"; do
		rm -f work/*
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout 100 leat trace --tracer "$tracer" -o t.csv -- leat run -q flow.yaml
		cmp work/sorted <(seq 1000 | sort)
		calls 'names["/w/data"] == {work + "/data"} and names["/w/sorted"] == {work + "/sorted"}'
	done
}
