# Workflows of two steps without an order that declare one output. `load producers` after `load helper`.
# shellcheck shell=bash

setup() {
	mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return 1 # beside the session's directory
	cat >put.py <<-'END'
		import mmap, os, sys
		how, text, at = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
		fd = os.open("x", (os.O_RDWR if how == "map" else os.O_WRONLY) | os.O_CREAT)
		if how == "copy":
		    with open("mine." + sys.argv[2][0], "wb") as f:
		        f.write(text)
		    f = os.open("mine." + sys.argv[2][0], os.O_RDONLY)
		    os.lseek(fd, at, 0)
		    os.sendfile(fd, f, 0, len(text))
		elif how == "map":
		    os.ftruncate(fd, 3 * 4096)
		    m = mmap.mmap(fd, 4096, offset=at // 4096 * 4096)
		    m[at % 4096:at % 4096 + len(text)] = text
		elif how == "vector":
		    os.pwritev(fd, [text[:2], text[2:]], at)
		elif how == "fork":
		    os.lseek(fd, at, 0)
		    if not os.fork():
		        os.write(fd, text)
		        os._exit(0)
		    os.wait()
		elif how == "punch":
		    os.posix_fallocate(fd, 0, 12288)
		    os.pwrite(fd, text, at)
		elif how == "cut":
		    os.ftruncate(fd, at)
	END
}

# two SCRIPT SCRIPT [OUTPUT]: a workflow of two steps without an order, which both make x.
two() {
	rm -f x xx y o/* ../made ../looked ../gone
	printf '%s\n' "$1" >one.sh
	printf '%s\n' "$2" >two.sh
	cat >w.yaml <<-END
		name: w
		tasks:
		  - func: one
		    exec: bash one.sh
		    outports: [{filename: ${3:-x}}]
		  - func: two
		    exec: bash two.sh
		    outports: [{filename: ${3:-x}}]
	END
}

# conflict WHAT: the run fails, and says once what was done.
conflict() {
	run -125 --separate-stderr leat run w.yaml
	# shellcheck disable=SC2154
	grep -Eq "violation: x was $1, which has no order with it: in a batch they run one after the other; give each " <<<"$stderr" || {
		echo "$1: $stderr"
		return 1
	}
	[ "$(grep -c violation: <<<"$stderr")" = 1 ]
}

# silent [WAITS]: the run says nothing (but that the second step waits), and x is that of the batch.
silent() {
	rm -f x xx ../made ../looked
	leat run --plain w.yaml 2>/dev/null
	mv x batch
	rm -f xx ../made ../looked
	run -0 --separate-stderr leat run w.yaml
	! grep -v "${1:-^\$}" <<<"$stderr" | grep -E "violation|leat: warning" || return 1
	cmp x batch
}

# ordered: the first of the two makes a token, too, and the second waits for it.
ordered() {
	sed -i -e '/one.sh/{n;s/]$/, {filename: token}]/}' -e '/two.sh/a\    inports: [{filename: token}]' w.yaml
}
