#!/usr/bin/env bats
# The size of a file that still grows: who goes by it is shown the last word, who does not reads on
# while it grows. No test knows a time: each has the order in which things are to happen.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	# ends FILE: what stdio says, with a buffer of its own, of the program's, and without.
	cat >ends.c <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			static char buffer[1000];
			const int modes[] = {_IOFBF, _IOFBF, _IONBF};
			for (int i = 0; i < 3 && argc > 1; i++) {
				FILE *f = fopen(argv[1], "r");
				if (!f || (i && setvbuf(f, i == 1 ? buffer : NULL, modes[i], sizeof buffer))) return 1;
				if (fseek(f, 0, SEEK_END)) return 2;
				printf("%ld\n", ftell(f));
				fclose(f);
			}
			return 0;
		}
	END
	# asks FILE: by fstat and statx; by a buffer of stdio first.
	cat >asks.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct statx x;
			struct stat st;
			int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
			switch (fd < 0 ? 0 : *argv[2]) {
			case 'f': fstat(fd, &st); break;
			case 'a': fstatat(fd, "", &st, AT_EMPTY_PATH); break;
			case 's': syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH); break;
			case 'x': statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &x); st.st_size = x.stx_size; break;
			case 'b': { FILE *f = fdopen(fd, "r"); getc(f); fstat(fd, &st); break; }
			case '2': fstat(fd, &st); fstat(fd, &st); break;
			case 'k': if (fstat(fd, &st) || (st.st_mode & S_IFMT) == S_IFDIR) return 1; break;
			default: return 1;
			}
			return printf("%ld\n", (long)st.st_size) < 0;
		}
	END
	# libsize.so: asks for its program.
	cat >size.c <<-'END'
		#include <sys/stat.h>
		long size_of(int fd)
		{
			struct stat st;
			return fstat(fd, &st) ? -1 : (long)st.st_size;
		}
	END
	cat >by.c <<-'END'
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			void *l = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
			long (*size_of)(int) = l ? (long (*)(int))dlsym(l, "size_of") : NULL;
			return !size_of || printf("%ld\n", size_of(open(argv[2], O_RDONLY))) < 0;
		}
	END
	# lines FILE: stdio's.
	cat >lines.c <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			char b[256];
			FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
			while (f && fgets(b, sizeof b, f)) fputs(b, stdout);
			return !f;
		}
	END
	"${CC:-cc}" -O -o ends ends.c && "${CC:-cc}" -O -o asks asks.c &&
		"${CC:-cc}" -O -shared -fPIC -o libsize.so size.c && "${CC:-cc}" -O -o by by.c &&
		"${CC:-cc}" -O -static -o asks-static asks.c && "${CC:-cc}" -O -static -o lines lines.c
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
	# From 3.13 on `python3 -c` lists the working directory, and a listing waits.
	export PYTHONSAFEPATH=1
	mkdir work
	cat >flow.yaml <<-'END'
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: python3 ../produce.py
		    outports: [{filename: data, mode: no_update}]
		  - func: consume
		    exec: bash -eu ../consume
		    inports: [{filename: data}]
		    outports: [{filename: out, committed: on_termination}]
	END
}

teardown() {
	nothing_left
}

# whole COMMAND...: the command, which asks for the size while the file grows and never before it has
# begun, finds that of all of it in `out`: 700000 bytes in the end. The file goes on as soon as
# anybody waits for it, or the command has ended.
whole() {
	rm -rf work/* ended
	cat >produce.py <<-'END'
		import os, subprocess, time
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"123456\n" * 50000)
		for _ in range(20):
		    time.sleep(0.05)
		    if os.path.exists("../ended"): break
		os.write(fd, b"123456\n" * 50000)
	END
	printf '%s\ntouch ../ended\n' "$*" >consume
	timeout 60 leat run flow.yaml || return 1
	cat work/out
	[ "$(sort -u work/out)" = 700000 ]
}

@test "programs that go by a size are shown that of the whole file" {
	whole 'wc -c <data >out'
	whole 'perl -e "open F, q(data); <F>; print -s F, qq(\\n)" >out'
	whole 'ends data >out'
	whole 'head -c -7 data >part; echo $(($(wc -c <part) + 7)) >out; rm part'
	whole 'tail -c 700000 data | wc -c >out'
	whole 'set -o pipefail; gzip -c data | gzip -dc | wc -c >out' # compares the sizes in the end
	whole 'dd if=data of=part bs=64k status=none; wc -c <part >out; rm part'
	local how
	for how in f a s x b; do
		echo "# $how"
		whole "asks data $how >out"
	done
}

@test "a script's explicit look, after that of the run time's open" {
	cat >size.py <<-'END'
		import os
		f = open("data")
		print(os.fstat(f.fileno()).st_size)
		f = open("data", "rb")
		size = os.fstat(f.fileno()).st_size
		assert len(f.read()) == size
		print(size)
	END
	cat >member.py <<-'END'
		import tarfile
		f = open("data", "rb")
		with tarfile.open("part", "w") as t:
		    t.addfile(t.gettarinfo(fileobj=f), f)
		with tarfile.open("part") as t:
		    print(t.getmembers()[0].size)
	END
	cat >mapped.py <<-'END'
		import mmap
		f = open("data", "rb")
		print(len(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)))
	END
	whole 'python3 ../size.py >out'
	whole 'python3 ../member.py >out; rm part'
	whole 'python3 ../mapped.py >out'
}

@test "programs that are built for their inputs: cp, install, curl, node" {
	whole 'cp data part; wc -c <part >out; rm part'
	whole 'install data part; wc -c <part >out; rm part'
	whole 'cp --sparse=always data part; wc -c <part >out; rm part'
	if command -v node >/dev/null; then
		whole 'node -e "console.log(require(\"fs\").readFileSync(\"data\").length)" >out'
	fi
	if command -v curl >/dev/null; then
		whole 'curl -s -T data "file://$PWD/part"; wc -c <part >out; rm part'
	fi
	if command -v java >/dev/null; then
		cat >Size.java <<-'END'
			import java.io.*; import java.nio.channels.*; import java.nio.file.*;
			public class Size { public static void main(String[] a) throws Exception {
			  try (FileChannel f = FileChannel.open(Path.of("data"))) { System.out.println(f.size()); }
			  try (RandomAccessFile f = new RandomAccessFile("data", "r")) { System.out.println(f.length()); }
			  try (FileInputStream f = new FileInputStream("data")) { System.out.println(f.readAllBytes().length); }
			} }
		END
		whole 'java -XX:-UsePerfData ../Size.java >out'
	fi
}

@test "a script's first look: what is opened or inherited by no function of the run time" {
	cat >first.py <<-'END'
		import os, sys
		fd = int(sys.argv[1]) if sys.argv[1:] else os.open("data", os.O_RDONLY)
		size = os.fstat(fd).st_size
		print(size)
		print(os.stat(fd).st_size)
		assert size == 700000 or os.read(fd, size)
	END
	cat >after.py <<-'END'
		import os
		fd = os.open("data", os.O_RDONLY)
		open("data").close()
		os.fstat(os.open("first.py", os.O_RDONLY))
		print(os.fstat(fd).st_size)
	END
	local python way
	for python in python3 $(compgen -G "$HOME/.pyenv/versions/3.*/bin/python3"); do
		for way in '%s ../first.py' '%s ../first.py 7 7<data' '%s ../first.py 0 <data' 'cp ../first.py .; %s ../after.py'; do
			one_in 3 || continue
			# shellcheck disable=SC2059 # the way is a format
			way=$(printf "$way" "$python")
			echo "# $way"
			whole "{ $way; } >out; rm -f first.py"
		done
	done
	whole 'perl -MFcntl -e "sysopen F, q(data), O_RDONLY; print -s F, qq(\n)" >out'
	whole 'perl -e "open F, q(<&=7); print -s F, qq(\n)" 7<data >out'
	whole 'perl -MPOSIX -e "print +(POSIX::fstat(POSIX::open(q(data))))[7], qq(\n)" >out'
}

@test "programs and libraries of one's own that have the name of a tool" {
	local name way
	mkdir own
	for name in cat gawk gawk-5.2.1 grep sort python3 python3.11 perl perl5.36.0 xz; do
		echo "# $name"
		cp "$BATS_FILE_TMPDIR/asks" "own/$name"
		for way in "../own/$name data f" "../own/$name data k" "LEAT_INTERCEPT=mount ../own/$name data k"; do
			one_in 4 || continue
			[[ $way != *mount* || -c /dev/fuse ]] || continue
			whole "$way >out"
		done
	done
	whole 'LEAT_INTERCEPT=wrap ../own/cat data f >out'
	for name in libhts.so.3 libpython3.11.so libperl.so.5.36 libjava.so libR.so; do
		echo "# $name"
		cp "$BATS_FILE_TMPDIR/libsize.so" "own/$name"
		whole "by ../own/$name data >out"
	done
	# another tool of the same makers
	cp "$(command -v wc)" own/cat
	whole '../own/cat -c <data >out'
}

# mounted: what follows is for a machine that has mounts.
mounted() {
	[ -c /dev/fuse ] || skip "no /dev/fuse"
}

@test "behind a mount the first look, too, is shown the last word" {
	mounted
	local how
	for how in f a s x 2; do
		echo "# $how"
		whole "asks-static data $how >out"
	done
	cat >size.py <<-'END'
		import os
		print(os.fstat(os.open("data", os.O_RDONLY)).st_size)
		f = open("data")
		print(os.fstat(f.fileno()).st_size)
	END
	whole 'LEAT_INTERCEPT=mount python3 ../size.py >out'
	whole 'LEAT_INTERCEPT=mount perl -e "open F, q(data); <F>; print -s F, qq(\n)" >out'
	whole 'LEAT_INTERCEPT=mount ends data >out'
	whole 'LEAT_INTERCEPT=mount wc -c <data >out'
}

# streams COMMAND...: the command has written something before the producer goes on.
streams() {
	rm -rf work/* seen
	cat >produce.py <<-'END'
		import os, random, time
		fd = os.open("data", os.O_WRONLY | os.O_CREAT)
		for _ in range(200):
		    os.write(fd, b"".join(b"%d\n" % random.getrandbits(60) for _ in range(1000)))
		while not os.path.exists("../seen"): time.sleep(0.01)
		os.write(fd, b"end\n")
	END
	printf '%s | (head -c 1 >/dev/null; touch ../seen; cat >/dev/null)\necho written >out\n' "$*" >consume
	timeout 60 leat run flow.yaml || return 1
	[ "$(cat work/out)" = written ]
}

@test "programs that do not go by it read on while the file grows" {
	local command
	for command in 'cat data' 'cat <data' "awk '{print}' data" "awk '{print}' <data" \
		'xz -0c data' 'bzip2 -c <data' 'sed s/1/2/ data' 'cut -c1-3 data' 'perl -pe s/1/2/ data' 'perl -pe s/1/2/ <data' \
		'dd if=data status=none' 'paste data data' 'tr 1 2 <data' 'od data' 'head -n 150000 data' 'uniq data' \
		'python3 -c "for line in open(\"data\"): print(line)"' 'python3 -c "import sys; [print(l) for l in sys.stdin]" <data' \
		"python3 -c 'while True: print(input())' <data 2>/dev/null"; do
		echo "# $command"
		streams "$command"
	done
	for command in 'cat data' "awk '{print}' <data"; do
		streams "LEAT_INTERCEPT=wrap $command"
	done
	if command -v javac >/dev/null; then
		cat >Copy.java <<-'END'
			import java.io.*;
			public class Copy { public static void main(String[] a) throws Exception {
			  byte[] b = new byte[8192]; int n; try (InputStream s = new FileInputStream("data")) {
			    while ((n = s.read(b)) >= 0) System.out.write(b, 0, n); }
			} }
		END
		javac Copy.java # to run it as a text lists the directory, which waits
		streams 'java -XX:-UsePerfData -cp .. Copy'
	fi
	if command -v node >/dev/null; then
		streams 'node -e "require(\"fs\").createReadStream(\"data\").pipe(process.stdout)"'
	fi
}

@test "behind a mount, too: stdio, tools and run times that do not go by it" {
	mounted
	local command
	for command in 'lines data' 'LEAT_INTERCEPT=mount cat data' 'LEAT_INTERCEPT=mount sed s/1/2/ data' \
		'LEAT_INTERCEPT=mount perl -pe s/1/2/ data' "LEAT_INTERCEPT=mount gawk '{print}' data" \
		'LEAT_INTERCEPT=mount python3 -c "for line in open(\"data\"): print(line)"'; do
		echo "# $command"
		streams "$command"
	done
}

@test "who reads the first line of what is there yet was not wrong about it" {
	local command
	for command in "awk '{print; exit}' data" 'head -n 1 data' 'python3 -c "print(open(\"data\").readline())"' \
		'perl -e "open F, q(data); print scalar <F>"' 'sed -n 1p\;1q data' 'grep -m 1 1 data'; do
		rm -rf work/* seen
		cat >produce.py <<-'END'
			import os, time
			fd = os.open("data", os.O_WRONLY | os.O_CREAT)
			os.write(fd, b"123456789\n" * 100)
			time.sleep(0.3)
			os.write(fd, b"123456789\n" * 100000)
		END
		echo "# $command"
		printf '%s >out\n' "$command" >consume
		run -0 timeout 60 leat run flow.yaml
		[[ $output != *violation* ]]
	done
}
