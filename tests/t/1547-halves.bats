#!/usr/bin/env bats
# A directory that is in the store and on disk has one mode, owner, times and attributes.
bats_require_minimum_version 1.5.0
load helper

setup() {
	open=$(mktemp -d "${TMPDIR:-/tmp}/leat-halves.XXXXXX")
	chmod 755 "$open"
	export LEAT_RUNTIME_DIR=$open/runtime
	cd "$open" || return 1
	mkdir -p work/d
	echo disk >work/d/on_disk
}

teardown() {
	chmod -R u+w "$open"
	cd / && rm -rf "$open"
}

# in_step: the script on stdin in a step whose output d/made is in memory while d/on_disk is on disk:
# its directory d is in both. Prints what it prints.
in_step() {
	cat >script
	cat >flow.yaml <<-END
		name: halves
		dir: work
		tasks:
		  - {func: a, exec: ${launcher:-} bash -e $open/script, outports: [{filename: d/made}]}
	END
	timeout 60 leat run flow.yaml >log 2>&1 || status=$?
	sed -n 's/^\[a\] //p' log
}


# What every change has to show in both halves: files in the one and in the other can be reached, or not.
reach() {
	cat <<-'END'
		reach() {
			for f in d/made d/on_disk; do
				setpriv --reuid=65534 --regid=65534 --clear-groups cat $f >/dev/null 2>&1 && echo -n "yes " || echo -n "no "
			done
			stat -c '%a %u:%g' d
		}
	END
}

@test "chmod and chown, by path and by descriptor, reach both halves" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	{
		reach
		cat <<-'END'
			echo made >d/made
			reach
			chmod 700 d; reach
			chmod 755 d; reach
			/usr/bin/python3 -c 'import os; fd = os.open("d", os.O_RDONLY); os.fchmod(fd, 0o700)'; reach
			chown 65534:65534 d; reach
			/usr/bin/python3 -c 'import os; fd = os.open("d", os.O_RDONLY); os.fchown(fd, 0, 0)'; reach
			/usr/bin/python3 -c 'import os; fd = os.open("d", os.O_PATH); os.chmod("/proc/self/fd/%d" % fd, 0o711)'; reach
			cd d; chmod 750 .; cd ..; reach
		END
	} | in_step >seen
	cat log seen
	diff - seen <<-'END'
		yes yes 755 0:0
		no no 700 0:0
		yes yes 755 0:0
		no no 700 0:0
		yes yes 700 65534:65534
		no no 700 0:0
		yes yes 711 0:0
		no no 750 0:0
	END
	[ "$(stat -c %a work/d)" = 750 ]
}

@test "the same behind a mount" {
	built_with fuse
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	need gcc
	[ -c /dev/fuse ] || skip "no FUSE here"
	printf '#include <unistd.h>\nint main(int c, char **v) { return c < 2 || execvp(v[1], v + 1); }\n' |
		gcc -static -o launch -x c -
	launcher=$PWD/launch
	{
		reach
		echo 'echo made >d/made; reach; chmod 700 d; reach; chmod 711 d; reach; chown 65534 d; chmod 700 d; reach'
	} | in_step >seen
	cat log seen
	diff - seen <<-'END'
		yes yes 755 0:0
		no no 700 0:0
		yes yes 711 0:0
		yes yes 700 65534:0
	END
}

@test "times and attributes" {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	in_step <<-'END' >seen
		echo made >d/made
		touch -d @1000000000 d
		stat -c %Y d
		/usr/bin/python3 - <<-'PYTHON'
			import os
			fd = os.open("d", os.O_RDONLY)
			os.utime(fd, (5, 6))
			print(int(os.stat("d").st_mtime), int(os.fstat(fd).st_mtime))
			try:
			    os.setxattr("d", "user.a", b"1")
			    os.setxattr(fd, "user.b", b"2")
			    print(sorted(os.listxattr("d")) == sorted(os.listxattr(fd)), os.getxattr("d", "user.b"))
			    os.removexattr(fd, "user.a")
			    print(os.listxattr("d"))
			except OSError as e:
			    print("True b'2'\n['user.b']" if e.errno == 95 else e)
		PYTHON
	END
	cat log seen
	diff - seen <<-'END'
		1000000000
		6 6
		True b'2'
		['user.b']
	END
}

# Past leat the disk's half is given to another user: neither half is changed for the old one.
@test "what cannot be done to one half is not done to the other" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	chmod 777 work
	chown 65534 work/d
	{
		reach
		cat <<-END
			echo made >d/made
			reach
			: >"$open/now"
			until [ -e "$open/given" ]; do sleep 0.05; done
			/usr/bin/python3 - <<-'PYTHON'
				import os
				fd = os.open("d", os.O_RDONLY)
				os.setegid(65534); os.seteuid(65534)
				for what in "d", fd:
				    try:
				        os.chmod(what, 0o700)
				        print("changed")
				    except OSError as e:
				        print(e.strerror)
			PYTHON
			reach
		END
	} >past
	in_step <past >seen &
	for _ in $(seq 200); do [ ! -e now ] || break; sleep 0.05; done
	chown 1 work/d
	touch given
	wait
	cat log seen
	diff - seen <<-'END'
		yes yes 755 65534:0
		Operation not permitted
		Operation not permitted
		yes yes 755 1:0
	END
}

@test "two processes at the same time leave both alike" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	{
		reach
		cat <<-'END'
			echo made >d/made
			for i in $(seq 40); do chmod 700 d; chmod 711 d; done &
			for i in $(seq 40); do chmod 711 d; chmod 700 d; done &
			wait
			reach
		END
	} | in_step >seen
	cat log seen
	grep -Eqx 'yes yes 711 0:0|no no 700 0:0' seen
}

# shut COMMAND: an ordinary user's step gives its directories other modes by it, before what is in them is saved.
shut() {
	cat >flow.yaml <<-END
		name: shut
		dir: work
		permanent: [d/out, d/sub/x, d/sub/deep/y, d/link, e/empty, last]
		tasks:
		  - func: one
		    exec: bash -ec 'echo 1 >d/out; ln -s out d/link; mkdir -p d/sub/deep e/empty; echo 2 >d/sub/x; echo 3 >d/sub/deep/y; $1'
		    outports: [{filename: d/out}, {filename: d/link}, {filename: d/sub/x}, {filename: d/sub/deep/y}, {dirname: e/empty}]
		  - func: two
		    exec: bash -c 'cat d/out d/sub/x d/sub/deep/y >last'
		    inports: [{filename: d/out}, {filename: d/sub/x}, {filename: d/sub/deep/y}]
		    outports: [{filename: last}]
	END
	for plain in --plain ''; do
		chmod -R u+w work
		rm -rf work
		mkdir -p work/d
		echo disk >work/d/on_disk
		[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$open"
		LEAT_STATE_DIR=$open/state run -0 nobody timeout 60 leat run $plain flow.yaml
		echo "$output"
		(cd work && find . -printf '%p %M %l\n' | sort; cat last d/sub/deep/y) >"seen$plain"
	done
	diff seen--plain seen
}

@test "what is in directories that their step has shut for writing is saved, as an ordinary user" {
	shut 'chmod -R a-w d e'
	grep -q '^./d/sub/deep dr-xr-xr-x $' seen
	shut 'chmod -R u-w,go= d e'
	shut 'find d e -depth -type d -exec chmod 300 {} +'
}

@test "what is in a directory that nobody may enter is not lost without a word, as an ordinary user" {
	local mode
	for mode in 000 600; do
		cat >flow.yaml <<-END
			name: shut
			dir: work
			permanent: ["**"]
			tasks:
			  - func: one
			    exec: bash -c 'mkdir d; echo 1 >d/out; chmod $mode d'
			    outports: [{filename: "d/*"}]
		END
		chmod -R u+rwx work
		rm -rf work
		mkdir work
		[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$open"
		LEAT_STATE_DIR=$open/state run -125 --separate-stderr nobody timeout 60 leat run flow.yaml
		# shellcheck disable=SC2154 # run sets it
		grep -q '^leat: cannot write .*/work/d/out: Permission denied$' <<<"$stderr"
	done
}
