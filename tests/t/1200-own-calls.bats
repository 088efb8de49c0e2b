# Programs and libraries that make system calls by themselves, and a libc that hides one: seen, run
# behind a mount, or refused by name; never passed over.
bats_require_minimum_version 1.5.0
load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	command -v gcc >/dev/null || return 0
	# copy FILE FILE by raw system calls: CONSTANT numbers, ANY number in a register, or HIDDEN in code
	# that no unwind table knows
	cat >own.c <<-'END'
		#include <fcntl.h>
		#include <sys/syscall.h>
		#if defined(CONSTANT)
		static inline __attribute__((always_inline)) long call(long nr, long a, long b, long c)
		{
			long result;
			__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
			return result;
		}
		#elif defined(ANY)
		static __attribute__((noinline)) long call(long nr, long a, long b, long c)
		{
			long result;
			__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
			return result;
		}
		#else
		long call(long nr, long a, long b, long c);
		__asm__(".text\n.type call,@function\ncall: mov %rdi,%rax\n mov %rsi,%rdi\n mov %rdx,%rsi\n"
			" mov %rcx,%rdx\n syscall\n ret\n.size call,.-call\n");
		#endif
		int copy(const char *from, const char *to)
		{
			char buffer[4096];
			long in = call(SYS_open, (long)from, O_RDONLY, 0);
			long out = call(SYS_open, (long)to, O_WRONLY | O_CREAT | O_TRUNC, 0666), n;

			while ((n = call(SYS_read, in, (long)buffer, sizeof(buffer))) > 0)
				if (call(SYS_write, out, (long)buffer, n) != n)
					return 3;
			return in < 0 || out < 0 || n < 0 || call(SYS_close, out, 0, 0) < 0;
		}
		#ifndef LIBRARY
		int main(int argc, char **argv)
		{
			return argc == 3 ? copy(argv[1], argv[2]) : 4;
		}
		#endif
	END
	for how in CONSTANT ANY HIDDEN; do
		gcc -O2 -D$how -o own-$how own.c
		gcc -O2 -D$how -DLIBRARY -shared -fPIC -o libown-$how.so own.c
	done
	# a copy that reads through a ring if it gets one
	cat >ring.c <<-'END'
		#include <fcntl.h>
		#include <liburing.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		static struct io_uring ring;
		static long by_ring(int fd, char *buffer, size_t size, long at)
		{
			struct io_uring_cqe *cqe;
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
			long n;

			io_uring_prep_read(sqe, fd, buffer, size, at);
			io_uring_submit(&ring);
			io_uring_wait_cqe(&ring, &cqe);
			n = cqe->res;
			io_uring_cqe_seen(&ring, cqe);
			return n;
		}
		int main(void)
		{
			int no_ring = io_uring_queue_init(4, &ring, 0), in = open("data", O_RDONLY);
			int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
			char buffer[4096];
			long at = 0, n;

			fprintf(stderr, "ring: %s\n", strerror(-no_ring));
			while ((n = no_ring ? read(in, buffer, sizeof(buffer)) : by_ring(in, buffer, sizeof(buffer), at)) > 0) {
				at += n;
				if (write(out, buffer, n) != n)
					return 1;
			}
			return n < 0;
		}
	END
	echo '#include <liburing.h>' | gcc -E -x c - >/dev/null 2>&1 || return 0
	gcc -O2 -o ring ring.c -luring
}

setup() {
	need gcc python3
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir work
	SUM=$(for ((i = 0; i < 5; i++)); do seq 5000; done | md5sum)
}

# consumer COMMAND [KEYS]: flow.yaml with a slow producer of `data` and this consumer of it, which makes `out`
consumer() {
	cat >flow.yaml <<-END
		name: own
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c 'for i in 1 2 3 4 5; do seq 5000; sleep 0.1; done > data'
		    outports: [{filename: data, mode: no_update}]
		  - func: consume
		    exec: $1
		    inports: [{filename: data}]
		    outports: [{filename: out}]
	END
}

right() {
	echo "$output"
	[ "$(md5sum <work/out)" = "$SUM" ]
}

# has_mount: can anything be run behind a mount here?
has_mount() {
	[ -w /dev/fuse ] || skip "no /dev/fuse"
}

@test "a program with calls of its own, numbers known" {
	consumer "$BATS_FILE_TMPDIR/own-CONSTANT data out"
	run -0 no_mount timeout 60 leat run flow.yaml
	right
}

@test "a program with one call for any number" {
	consumer "$BATS_FILE_TMPDIR/own-ANY data out"
	run -0 no_mount timeout 60 leat run flow.yaml
	right
}

@test "a program whose calls cannot be read runs behind a mount" {
	built_with fuse
	has_mount
	consumer "$BATS_FILE_TMPDIR/own-HIDDEN data out"
	run -0 timeout 60 leat run flow.yaml
	right
}

@test "a program whose calls cannot be read, without a mount: refused by name" {
	consumer "$BATS_FILE_TMPDIR/own-HIDDEN data out"
	run -126 no_mount timeout 60 leat run flow.yaml
	[[ $output == *"own-HIDDEN: it makes system calls of its own: cannot be intercepted"* ]]
	[ ! -s work/out ]
}

@test "libraries with calls of their own, loaded when the program runs" {
	local how
	for how in CONSTANT ANY; do
		consumer "python3 -c 'import ctypes; exit(ctypes.CDLL(\"$BATS_FILE_TMPDIR/libown-$how.so\").copy(b\"data\", b\"out\"))'"
		run -0 no_mount timeout 60 leat run flow.yaml
		right
		rm -f work/*
	done
}

@test "a library whose calls cannot be read is not loaded, and named" {
	consumer "python3 -c 'import ctypes; exit(ctypes.CDLL(\"$BATS_FILE_TMPDIR/libown-HIDDEN.so\").copy(b\"data\", b\"out\"))'"
	run timeout 60 leat run flow.yaml
	[ "$status" != 0 ]
	[[ $output == *"libown-HIDDEN.so: it makes system calls of its own"* ]]
	[[ $output == *"LEAT_INTERCEPT=mount"* ]]
	[ ! -s work/out ]
}

@test "a program that asks for a mount may load such a library" {
	built_with fuse
	has_mount
	consumer "env LEAT_INTERCEPT=mount python3 -c 'import ctypes; exit(ctypes.CDLL(\"$BATS_FILE_TMPDIR/libown-HIDDEN.so\").copy(b\"data\", b\"out\"))'"
	run -0 timeout 60 leat run flow.yaml
	right
}

@test "a ring of io_uring through liburing is refused, and the program does without" {
	[ -x "$BATS_FILE_TMPDIR/ring" ] || skip "liburing-dev is not installed"
	consumer "$BATS_FILE_TMPDIR/ring"
	run -0 timeout 60 leat run flow.yaml
	[[ $output == *"ring: Function not implemented"* ]]
	right
}

@test "a ring through a liburing that is loaded later" {
	[ -x "$BATS_FILE_TMPDIR/ring" ] || skip "liburing-dev is not installed"
	consumer "python3 -c 'import ctypes; print(ctypes.CDLL(\"liburing.so.2\").io_uring_queue_init(4, ctypes.create_string_buffer(4096), 0)); open(\"out\", \"w\").write(open(\"data\").read())'"
	run -0 timeout 60 leat run flow.yaml
	[[ $output == *"] -38"* ]]
	right
}

# hide FUNCTION NUMBER: a libc in lib/ whose function reaches the kernel by bytes inside another
# instruction
hide() {
	local libc
	libc=$(ldd /bin/cat | awk '$1 == "libc.so.6" {print $3}')
	mkdir lib
	python3 - "$libc" "$1" "$2" <<-'END'
		import re, subprocess, sys
		libc, function, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
		dynamic = subprocess.run(["nm", "-D", libc], capture_output=True, text=True).stdout
		address = int(re.search(rf"^([0-9a-f]+) [TW] {function}@@?GLIBC", dynamic, re.M)[1], 16)
		headers = subprocess.run(["readelf", "-lW", libc], capture_output=True, text=True).stdout
		for offset, vaddr, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", headers):
		    if 0 <= address - int(vaddr, 16) < int(size, 16):
		        at = address - int(vaddr, 16) + int(offset, 16)
		data = bytearray(open(libc, "rb").read())
		# xor %eax,%eax; mov $number,%al; jmp into mov $...,%eax, where there are syscall; ret
		code = bytes([0x31, 0xc0, 0xb0, number, 0xeb, 0x01, 0xb8, 0x0f, 0x05, 0xc3, 0x90])
		data[at:at + len(code)] = code
		# another libc has another build id
		notes = subprocess.run(["readelf", "-n", libc], capture_output=True, text=True).stdout
		id = bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1])
		at = data.find(id)
		data[at:at + 4] = b"\1\2\3\4"
		open("lib/libc.so.6", "wb").write(data)
	END
	LD_LIBRARY_PATH=$PWD/lib cat /etc/passwd >copy
	cmp copy /etc/passwd
}

# hide_each: the same of each function in PROBED that is long enough, in hidden/NUMBER/: lines of the number, the
# function, and all names that it has.
hide_each() {
	local libc
	libc=$(ldd /bin/cat | awk '$1 == "libc.so.6" {print $3}')
	python3 - "$libc" <<-'END'
		import collections, os, re, subprocess, sys
		libc, probed = sys.argv[1], os.environ["PROBED"].split()
		# What a function of another name calls.
		calls = {"__read_chk": "read", "open64": "open", "__open_2": "open", "openat64": "openat", "pread": "pread64",
		         "pwrite": "pwrite64", "__fxstat": "fstat", "__xstat": "stat", "__lxstat": "lstat",
		         "__fxstatat": "newfstatat", "fstatat": "newfstatat", "lseek64": "lseek", "fcntl64": "fcntl",
		         "remove": "unlink", "posix_fallocate": "fallocate", "posix_fadvise": "fadvise64",
		         "sendfile64": "sendfile", "futimens": "utimensat", "mkfifo": "mknod", "mkfifoat": "mknodat",
		         "lutimes": "utimensat", "futimes": "utimensat", "waitpid": "wait4", "seteuid": "setresuid",
		         "setegid": "setresgid", "umount": "umount2", "_Fork": "fork", "syscall": "getpid"}
		header = subprocess.run(["gcc", "-E", "-dM", "-include", "sys/syscall.h", "-xc", "/dev/null"],
		                        capture_output=True, text=True).stdout
		numbers = {name: int(n) for name, n in re.findall(r"#define __NR_(\w+) (\d+)", header)}
		dynamic = subprocess.run(["nm", "-DS", libc], capture_output=True, text=True).stdout
		functions = {name: (int(at, 16), int(size, 16)) for at, size, name in
		             re.findall(r"^(\w+) (\w+) [TW] (\w+)@", dynamic, re.M)}
		aliases = collections.defaultdict(list)
		for name, (at, _) in functions.items():
		    aliases[at].append(name)
		headers = subprocess.run(["readelf", "-lW", libc], capture_output=True, text=True).stdout
		segments = [tuple(int(x, 16) for x in s) for s in
		            re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", headers)]
		whole = open(libc, "rb").read()
		notes = subprocess.run(["readelf", "-n", libc], capture_output=True, text=True).stdout
		build_id = whole.find(bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1]))
		done = set()
		for i, name in enumerate(probed):
		    address, size = functions.get(name, (0, 0))
		    number = numbers.get(calls.get(name, name))
		    assert number is not None, name
		    # xor %eax,%eax; mov $number,%ax; mov %rcx,%r10; jmp into mov $...,%eax, where there are syscall; ret
		    code = bytes([0x31, 0xc0, 0x66, 0xb8, number & 255, number >> 8, 0x49, 0x89, 0xca,
		                  0xeb, 0x01, 0xb8, 0x0f, 0x05, 0xc3, 0x90])
		    if size < len(code) or address in done:
		        continue
		    done.add(address)
		    offset, vaddr, _ = next(s for s in segments if s[1] <= address < s[1] + s[2])
		    data = bytearray(whole)
		    data[address - vaddr + offset:address - vaddr + offset + size] = code + b"\x90" * (size - len(code))
		    data[build_id:build_id + 4] = (0x10000 + i).to_bytes(4, "little")
		    os.makedirs(f"hidden/{i}")
		    open(f"hidden/{i}/libc.so.6", "wb").write(data)
		    print(i, name, *aliases[address])
	END
}

@test "a libc with one site hidden is not run: behind a mount" {
	built_with fuse
	has_mount
	hide write 1
	consumer "env LD_LIBRARY_PATH=$PWD/lib cp data out"
	run -0 timeout 60 leat run flow.yaml
	right
}

@test "a libc with one site hidden, without a mount: refused by name, whichever function it is" {
	local aliases number name said tried=0 own=0
	PROBED=$(sed -n 's/^\t{"\([a-z_A-Z0-9]*\)", .*/\1/p' "$LEAT_SOURCE_DIR/src/preload/engine/proof_x86_64.c" | xargs)
	PROBED=$PROBED hide_each >each
	[ "$(wc -l <each)" -gt 90 ] # of some hundred functions; the others are too short
	while read -r number name aliases; do
		one_in 4 || continue
		tried=$((tried + 1))
		printf 'name: w\ndir: work\ntasks:\n  - {func: f, exec: %s}\n' "env LD_LIBRARY_PATH=$PWD/hidden/$number true" >flow.yaml
		run no_mount timeout 60 leat run flow.yaml
		said=${output##*that leat does not see (}
		said=${said%%)*}
		# Or by one that calls it.
		if [ "$status" != 126 ] || [[ " $PROBED " != *" $said "* ]]; then
			echo "$name: $status: $output"
			return 1
		fi
		[[ " $aliases " != *" $said "* ]] || own=$((own + 1))
	done <each
	[ $((own * $(wc -l <each))) -gt $((tried * 80)) ] # more than 80 of all
}

@test "a thread that waits for data is cancelled" {
	cat >cancel.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static volatile int cleaned;
		static void clean(int *unused) { (void)unused; cleaned = 1; }
		static void *reader(void *unused)
		{
			__attribute__((cleanup(clean))) int guard = 0;
			char buffer[4096];
			int fd = open("data", O_RDONLY);

			(void)guard;
			while (read(fd, buffer, sizeof(buffer)) > 0)
				;
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			void *result;

			pthread_create(&thread, NULL, reader, NULL);
			usleep(300000);
			pthread_cancel(thread);
			pthread_join(thread, &result);
			return puts(result == PTHREAD_CANCELED && cleaned ? "cancelled" : "not cancelled") < 0;
		}
	END
	gcc -O2 -fexceptions -pthread -o cancel cancel.c
	cat >flow.yaml <<-END
		name: cancel
		dir: work
		tasks:
		  - func: produce
		    exec: bash -c 'exec >data; seq 10; while [ ! -e ../over ]; do sleep 0.1; done'
		    outports: [{filename: data, mode: no_update}]
		  - func: consume
		    exec: bash -c '../cancel; touch ../over'
		    inports: [{filename: data}]
	END
	run -0 timeout 60 leat run flow.yaml
	[[ $output == *"] cancelled"* ]]
}

@test "a program built with AddressSanitizer, and what it starts" {
	cat >checked.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			char *line = malloc(100);
			FILE *in = fopen("data", "r"), *out = fopen("out", "w");

			while (in && out && fgets(line, 100, in))
				fputs(line, out);
			if (!in || !out || fclose(out) || system("echo \"child: $LD_PRELOAD:$LEAT_FIRST\"; wc -l <out; ../asan"))
				return 1;
			if (argc > 1)
				free(line);
			return line[argc > 1 ? 0 : 100 - 1] == 'x';
		}
	END
	echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o asan && ./asan || skip "no AddressSanitizer"
	gcc -fsanitize=address -O1 -g -o checked checked.c
	consumer "env ASAN_OPTIONS=detect_leaks=0 ../checked"
	run -0 timeout 60 leat run flow.yaml
	right
	[[ $output == *"libleat.so:"$'\n'* ]] && [[ $output != *"libasan"* ]]
	[[ $output == *"] 25000"* ]]
	# it still finds what it is there to find
	consumer "env ASAN_OPTIONS=detect_leaks=0 ../checked twice"
	run timeout 60 leat run flow.yaml
	[ "$status" != 0 ]
	[[ $output == *"heap-use-after-free"* ]]
}
