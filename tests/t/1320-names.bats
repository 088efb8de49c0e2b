#!/usr/bin/env bats
# Directories, names, links and places: one tree, whatever is in memory and what on disk.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

@test "a directory of outputs, listed and globbed" {
	both 'parts/*' <<-'END'
		mkdir -p parts
		for i in $(seq 30); do seq "$i" > "parts/p$i"; done
		---
		ls parts > out
		cat parts/p* | md5sum >> out
		find parts -type f | sort >> out
		for f in parts/*; do wc -l < "$f"; done >> out
		ls -l parts | awk 'NR > 1 { print $5, $9 }' >> out
		du -a --apparent-size -b parts/p3 | cut -f 1 >> out
	END
}

@test "working inside a directory of the store" {
	both 'deep/*' <<-'END'
		mkdir -p deep
		cd deep
		seq 5 > a
		pwd > b
		/bin/pwd > c
		(cd .. && cat deep/a) > d
		[ "$(cat ../deep/a)" = "$(cat a)" ]
		---
		top=$(pwd)
		cd deep
		for f in b c; do
			[ "$(cat $f)" = "$top/deep" ] || echo "wrong: $(cat $f)"
		done > ../out
		cat a d >> ../out
		[ "$(/bin/pwd)" = "$PWD" ] && echo same >> ../out
		[ "$(readlink -f a)" = "$PWD/a" ] && echo real >> ../out
		cd ..
		cat ./deep/../deep//a >> out
	END
}

@test "a directory in memory is on the file system of the one that it is in" {
	both 'deep/*' <<-'END'
		mkdir -p deep/down
		echo 1 > deep/down/a
		echo 2 > deep/b
		sleep 0.5
		---
		{
			find . -xdev -name '[ab]' | sort
			stat -c %d . deep deep/down | uniq | wc -l
			stat -c %i . deep deep/down | sort -u | wc -l
			(cd deep/down && stat -c %d . .. ../.. | uniq | wc -l)
			tar --one-file-system --sort=name -cf - deep | tar -tf -
			du -xab --apparent-size deep | cut -f 2 | sort
			mountpoint deep || true
			python3 -I -c 'import os; print(os.path.ismount("deep"), os.path.ismount("deep/down"))'
			cp -rx deep ../copy && find ../copy | sort && rm -r ../copy
		} > ../shown 2>&1
		mv ../shown out
	END
}

@test "written under another name, then renamed" {
	both <<-'END'
		seq 1000 > .data.part
		mv .data.part data
		---
		cat data > out
	END
}

@test "symlinks to and from the directory" {
	both <<-'END'
		seq 10 > data
		---
		ln -s data link
		cat link > out
		readlink link >> out
		ln -s "$PWD/data" ../outside
		cat ../outside >> out
		stat -L -c %s ../outside >> out
		ln -s "$PWD" ../dir
		cat ../dir/data >> out
		(cd ../dir && cat data) >> out
		[ -r ../outside ] && [ -w ../outside ] && echo accessible >> out
		rm ../outside ../dir link
	END
}

@test "hard links, mkdir, rmdir, unlink" {
	both <<-'END'
		seq 10 > data
		ln data other
		rm other
		mkdir -p t/u
		touch t/u/x
		mv t v
		rm -r v
		[ ! -e t ] && [ ! -e v ]
		---
		mkdir tmp
		cp data tmp/copy
		mv tmp/copy tmp/moved
		ls tmp > out
		cat tmp/moved >> out
		rmdir tmp 2>/dev/null || echo "not empty" >> out
		rm tmp/moved
		rmdir tmp
		ls >> out
	END
}

@test "names that end in a slash or a dot: the errors are those of a disk" {
	both <<-'END'
		echo x > data
		---
		cat data > out
		/usr/bin/python3 - >> out <<-'CALLS'
			import errno, os
			def call(what, f, *args):
			    try:
			        f(*args)
			        print(what, *args, "done")
			    except OSError as e:
			        print(what, *args, errno.errorcode[e.errno])
			os.mkdir("d")
			open("f", "w").close()
			os.symlink("gone/name", "d/link")
			os.symlink("../f", "d/file")
			os.symlink("f/", "slash")
			for name in "gone/.", "gone/", "d/.", "d/..", "d/", "f/.", "f/", ".", "..", "d/link/", "d/file/":
			    call("unlink", os.unlink, name)
			    call("rmdir", os.rmdir, name + "/." if name == "d/" else name)
			for name in "gone/", "gone/name/", "d/", "d/.", "d/link", "d/link/", "d/file/", "f/", "slash", "d/link/.":
			    for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.O_PATH | os.O_CREAT:
			        call("open", os.open, name, flags)
			os.mkdir("removed")
			removed = os.open("removed", os.O_RDONLY)
			os.rmdir("removed")
			for name in "x", "x/", "x//", "x/y/", ".", "./":
			    call("stat", lambda n: os.stat(n, dir_fd=removed), name)
			    call("mkdir", lambda n: os.mkdir(n, dir_fd=removed), name)
			    for flags in os.O_RDONLY, os.O_WRONLY | os.O_CREAT:
			        call("openat", lambda n, f: os.close(os.open(n, f, dir_fd=removed)), name, flags)
		CALLS
	END
}

@test "mode and times are kept" {
	both <<-'END'
		seq 10 > data
		chmod 640 data
		touch -d '2001-02-03 04:05:06 UTC' data
		---
		stat -c '%a %Y' data > out
		cp -p data copy
		stat -c '%a %Y' copy >> out
		rm copy
	END
}

@test "programs are run from the directory" {
	both tool <<-'END'
		printf '#!/bin/sh\necho "run with $1"\n' > tool.tmp
		chmod +x tool.tmp
		mv tool.tmp tool
		---
		./tool here > out
		"$PWD/tool" there >> out
		bash tool interpreted >> out
		ln -s "$PWD/tool" ../shortcut
		../shortcut linked >> out
		rm ../shortcut
	END
}

@test "/dev/fd, /dev/stdin and /proc/self/fd name the file itself" {
	both <<-'END'
		seq 100 > data
		---
		cat /dev/stdin < data > out
		exec 3< data
		head -n 1 /dev/fd/3 >> out
		head -n 1 /proc/self/fd/3 >> out
		[ "$(readlink /proc/self/fd/3)" = "$PWD/data" ] && echo named >> out
	END
}

@test "one open directory that several processes read on, and one that is open for no reading" {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	cat >several.py <<-'PYTHON'
		import ctypes, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		def some(fd):
		    buffer = ctypes.create_string_buffer(400)
		    n, at, names = libc.getdents64(fd, buffer, 400), 0, []
		    while at < n:
		        size = int.from_bytes(buffer.raw[at + 16:at + 18], "little")
		        names.append(buffer.raw[at + 19:at + size].split(b"\0")[0].decode())
		        at += size
		    return names
		if len(sys.argv) > 1:
		    print(" ".join(some(int(sys.argv[1]))))
		    sys.exit()
		fd = os.open("parts", os.O_RDONLY)
		os.set_inheritable(fd, True)
		seen = some(fd)
		r, w = os.pipe()
		if os.fork() == 0:
		    os.write(w, " ".join(some(fd)).encode())
		    os._exit(0)
		os.wait()
		seen += os.read(r, 4096).decode().split()
		seen += os.popen("/usr/bin/python3 -B ../../several.py %d" % fd).read().split()
		while names := some(fd):
		    seen += names
		print(len(seen), sorted(seen))
		fd = os.open("parts", os.O_PATH)
		print(some(fd), ctypes.get_errno())
		os.close(fd)
		print(open(os.open("7", os.O_RDONLY, dir_fd=os.open("parts", os.O_PATH))).read())
		print(os.stat("here/8", dir_fd=os.open("parts", os.O_PATH)).st_size)
	PYTHON
	both 'parts/*' <<-'END'
		mkdir -p parts
		for i in $(seq 40); do echo "$i" >"parts/$i"; done
		ln -s "$PWD/parts" parts/here
		---
		/usr/bin/python3 -B ../../several.py >out
	END
}

# made RULE: a step, its commands on standard input, makes `out`, which is permanent.
made() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		permanent: [out]
		tasks:
		  - func: make
		    exec: bash ../commands
		    outports: [{filename: out$1}]
	END
	cat >commands
	timeout 60 leat run -q flow.yaml
}

# remade: the same, committed when it is closed, where there is none yet.
remade() {
	mkdir -p work
	rm -f work/out
	made ', committed: on_close'
}

@test "removed, replaced and made again while it is being saved" {
	remade <<-'END'
		head -c 256M /dev/zero > out
		rm out
		echo new > out
	END
	[ "$(cat work/out)" = new ]
	remade <<-'END'
		head -c 256M /dev/zero > out
		echo new > other
		rm out
		mv other out
	END
	[ "$(cat work/out)" = new ]
	remade <<-'END'
		head -c 256M /dev/zero > out
		mv out other
		echo new > out
	END
	[ "$(cat work/out)" = new ]
	local status=0
	remade <<-'END' || status=$?
		head -c 256M /dev/zero > out
		rm out
	END
	[ "$status" = 125 ] # it is missed
	[ ! -e work/out ]
	run ! compgen -G 'work/.leat-out.*'
}

@test "truncated, removed and made again while what is on disk is being brought into memory" {
	mkdir work
	for change in 'echo new > out' 'rm out; echo new > out' 'echo new > other; mv other out'; do
		head -c 256M /dev/zero >work/out
		made '' <<-END
			echo tail >> out &
			sleep 0.02
			$change
			wait
			sleep 0.5
			echo more >> out
		END
		head -c 100 work/out
		[ "$(stat -c %s work/out)" -lt 100 ]
		grep -q new work/out
		grep -q more work/out
	done
}

@test "given a declared name while it is still being written" {
	mkdir work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: /usr/bin/python3 -B ../make.py
		    outports: [{filename: out, committed: on_close}]
		  - func: use
		    exec: cp out copy
		    inports: [{filename: out}]
		    outports: [{filename: copy}]
	END
	for way in 'replace other' 'link other' 'replace ../other' 'link ../other'; do
		cat >make.py <<-END
			import os, time
			f = open("${way#* }", "w")
			f.write("head\\n" * 9999)
			f.flush()
			os.${way% *}("${way#* }", "out")
			time.sleep(0.5)
			f.write("tail\\n")
			f.close()
			time.sleep(0.5)
		END
		timeout 60 leat run -q --log log flow.yaml
		leat replay flow.yaml log
		# The close is seen when it happens, not when the step ends.
		awk '$3 == "state" && /code=2.*name=out$/ { at = $2 } $3 == "step-end" && /step=0/ { end = $2 }
			END { exit !(end - at > 200000000) }' log
		[ "$(tail -n 1 work/copy)" = tail ]
		rm -f work/* other
	done
}
