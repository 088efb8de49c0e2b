# The engine of the interception library under real programs: with hooks that change nothing
# (libleat-test.so), each must do exactly what it does alone.
bats_require_minimum_version 1.5.0
load ../t/helper

setup() {
	built=$LEAT_BUILD/tests/preload
	library=$built/libleat-test.so
	cd "$BATS_TEST_TMPDIR" || return
	mkdir alone under
	seq 0 4999 | awk '{print "line", $1 * 7919 % 5000, "of text", $1}' >input
}

# under ENV... COMMAND: with the library, all descriptors marked, unless ENV says otherwise
under() {
	env LEAT_DIR=/nowhere LEAT_TEST_REPORT="$BATS_TEST_TMPDIR/report" LD_PRELOAD="$library" \
		${LEAT_TEST_MAPPED:+"LEAT_SITES=$BATS_FILE_TMPDIR"} "$@"
}

# same SCRIPT [ENV...]: the shell script, run in a directory of its own, must leave the same output,
# status and files as when it runs alone; and some of its calls must have gone through the hooks
same() {
	local script=$1 status_alone=0 status_under=0
	shift
	rm -rf alone/* under/* report
	(cd alone && bash -c "$script") >alone.out 2>alone.err </dev/null || status_alone=$?
	(cd under && under "$@" bash -c "$script") >under.out 2>under.err </dev/null || status_under=$?
	[ $status_alone = $status_under ] || { echo "status $status_under"; cat under.err; return 1; }
	cmp alone.out under.out && diff alone.err under.err && diff -r alone under
}

# hooked PROGRAM: it ran, and reached the hooks
hooked() {
	grep -q "^$1 [1-9]" report || { cat report; return 1; }
}

@test "every function of libc reaches the hooks" {
	run under "$built/probe_calls"
	echo "$output"
	[ "$status" = 0 ]
}

@test "every function of libc reaches the hooks, wrapped" {
	run under LEAT_INTERCEPT=wrap "$built/probe_calls"
	echo "$output"
	[ "$status" = 0 ]
}

# flow TEST [ENV...]: one test of probe_flow, through the hooks and past them
flow() {
	local mark
	for mark in 1 0; do
		run under LEAT_TEST_MARK=$mark "${@:2}" timeout 60 "$built/probe_flow" "$1"
		echo "$output"
		[ "$status" = 0 ]
	done
}

@test "posix_spawn and vfork children are known as such" {
	flow spawn
	flow vfork
}

@test "fork and clone children are told of" {
	flow fork
	flow clone
}

@test "signal handlers run in the middle of calls, and may jump out of them" {
	flow signal
	flow longjmp
	flow altstack
}

@test "threads come, go and are cancelled" {
	flow threads
	flow cancel
}

@test "a call leaves vector registers alone" {
	flow registers
}

@test "processes and signals, wrapped" {
	local test
	for test in spawn vfork fork signal longjmp altstack threads registers; do
		flow $test LEAT_INTERCEPT=wrap
	done
	run under LEAT_INTERCEPT=wrap LEAT_TEST_MARK=0 timeout 60 "$built/probe_flow" cancel
	[ "$status" = 0 ]
}

@test "without session variables nothing happens" {
	unset LEAT_TEST_MAPPED
	run env -u LEAT_RUNTIME_DIR -u LEAT_BUILD -u LEAT_SOURCE_DIR LD_PRELOAD="$library" \
		grep -c rwxp /proc/self/maps
	[ "$output" = 0 ]
	run env -u LEAT_RUNTIME_DIR -u LEAT_BUILD -u LEAT_SOURCE_DIR LD_PRELOAD="$library" \
		"$built/probe_calls"
	[ "$output" = "not intercepted" ]
}

@test "libc's text is not writable afterwards" {
	run under cat /proc/self/maps
	[ "$status" = 0 ]
	[[ $output == *libleat-test.so* ]]
	[[ $output != *rwxp* ]]
}

@test "coreutils" {
	same 'cat ../input; cat ../input ../input >out; cat <../input | cat -n >numbered'
	hooked cat
	same 'cp ../input a; cp -p a b; mkdir c; cp -r a b c; cp -al c d; cp a a; true'
	same 'dd if=../input of=out bs=1000 skip=3 count=7 2>/dev/null; dd if=out bs=7 2>/dev/null'
	hooked dd
	same 'sort ../input | head -100; sort -k2n ../input -o out; sort -u -S 50K ../input | tail'
	hooked sort
	same 'md5sum ../input; sha256sum <../input; cksum ../input; wc ../input; wc -l <../input'
	hooked md5sum
	same 'head -c 1000 ../input; tail -n 5 ../input; tac ../input | head; split -l 100 ../input'
	hooked tail
	same 'touch a b; mv a c; ln c d; ln -s d e; readlink -f e >/dev/null; rm b; ls; stat -c %s c'
	same 'mkdir -p a/b/c; chmod 700 a; rmdir a/b/c; du -s --apparent-size . >/dev/null; ls -R'
	same 'truncate -s 1M x; cp --sparse=always x y; cmp x y; tee z <../input | uniq'
	same 'paste ../input ../input | cut -f1 | comm - ../input | od -c | tail'
	same 'ls /nonexistent; cat /nonexistent; exit 9'
}

@test "grep, sed, awk" {
	need gawk mawk
	same 'grep -c 77 ../input; grep -rl text ../input; grep -q nothing ../input'
	hooked grep
	same 'sed s/line/row/ ../input; cp ../input x; sed -i 5,4000d x; sed -n "w copy" x'
	hooked sed
	same 'gawk "{s += \$2; print \$1 > \"w\" NR % 3} END {print s}" ../input'
	hooked gawk
	same 'mawk "{s += \$2; print | \"sort -n\"} END {print s}" ../input'
	hooked mawk
}

@test "archives" {
	need tar gzip zstd
	same 'cp ../input x; tar cf a.tar x; tar tf a.tar; rm x; tar xf a.tar; rm a.tar'
	hooked tar
	same 'gzip -nc ../input >x.gz; gzip -dc x.gz | cmp - ../input; zstd -q ../input -o x.zst; zstd -dcq x.zst'
	hooked gzip
	same 'tar czf - -C .. --mtime=@0 input | tar xzOf -'
}

@test "bash" {
	same 'while read -r a b c; do n=$((n + b)); done <../input; echo $n; x=$(<../input); echo ${#x}'
	same '(head -n1 >/dev/null; cat) <../input | wc; { echo a; echo b; } >>out; echo c >>out'
	same 'for i in 1 2 3 4 5 6 7 8; do cat ../input & done | wc -c; wait; ulimit -n 64; cat ../input | tail -1'
	same 'exec 5<../input 6>out; read -r l <&5; echo "$l" >&6; exec 5<&- 6>&-; cat <<<here; cat <(cat ../input)'
	same 'find . -type d; find .. -maxdepth 1 -name input -exec cat {} + | xargs -n 1000 echo | wc'
	hooked bash
}

@test "perl" {
	need perl
	same 'perl -ne "print if /7/" ../input; perl -e "open(F, q(<../input)); seek(F, 100, 0); print scalar <F>"'
	same 'perl -pi -e "s/a/b/" x 2>/dev/null; perl -e "print qx(cat ../input); exit system(q(false)) >> 8"'
	hooked perl
}

@test "python3" {
	need /usr/bin/python3
	same '/usr/bin/python3 -c "
import subprocess, threading, mmap, os, shutil, tempfile
print(len(open(\"../input\").read()))
print(subprocess.run([\"cat\", \"../input\"], capture_output=True).stdout[-9:])
print(subprocess.run(\"cat; exit 3\", shell=True, stdin=open(\"../input\")).returncode)
def work(): print(sum(1 for _ in open(\"../input\")))
for _ in range(20):
    t = threading.Thread(target=work); t.start(); t.join()
with open(\"../input\") as f: print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[-9:])
shutil.copy(\"../input\", \"copy\"); os.rename(\"copy\", \"moved\"); print(os.listdir(\".\"))
"'
	same '/usr/bin/python3 -c "
import multiprocessing
def work(n): return n, len(open(\"../input\").read())
with multiprocessing.Pool(2) as p: print(p.map(work, range(20)))
"'
	hooked python3
	same '/usr/bin/python3 -c "import os; os.execvpe(\"env\", [\"env\", \"-u\", \"LD_PRELOAD\", \"cat\", \"../input\"], {\"PATH\": \"/usr/bin:/bin\"})"'
	hooked cat
}

@test "git" {
	need git
	same 'export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2001-01-01T00:00:00Z GIT_COMMITTER_DATE=2001-01-01T00:00:00Z
		git init -q r && cd r && cp ../../input . && git add . &&
		git -c user.name=a -c user.email=b commit -qm c && git log --stat && git grep -c 77; rm -rf .git'
	hooked git
}

@test "node" {
	need node
	same 'node -e "
const fs = require(\"fs\");
console.log(fs.readFileSync(\"../input\").length);
fs.copyFileSync(\"../input\", \"copy\");
fs.createReadStream(\"../input\").on(\"data\", d => console.log(d.length));
console.log(require(\"child_process\").execSync(\"cat copy\").length);"'
	hooked node
}

@test "java" {
	need java
	cat >Read.java <<-'EOF'
		import java.nio.file.*;
		class Read {
			public static void main(String[] a) throws Exception {
				System.out.println(Files.readAllBytes(Path.of("../input")).length);
				Thread t = new Thread(() -> System.out.println("thread"));
				t.start();
				t.join();
				Process p = new ProcessBuilder("cat", "../input").start();
				System.out.println(p.getInputStream().readAllBytes().length);
			}
		}
	EOF
	same 'java ../Read.java'
	hooked java
}

@test "samtools" {
	need samtools
	printf '@SQ\tSN:c\tLN:100\nr\t0\tc\t5\t9\t4M\t*\t0\t0\tACGT\tFFFF\n' >one.sam
	same 'samtools view -b --no-PG ../one.sam -o x.bam; samtools index x.bam; samtools view -h --no-PG x.bam c:1-9'
	hooked samtools
}

@test "lmp" {
	need lmp
	same 'printf "units lj\nregion b block 0 2 0 2 0 2\ncreate_box 1 b\nwrite_data out nocoeff\n" >in; lmp -in in -log none | tail -1; sed -i 1d out'
	hooked lmp
}

@test "programs that cannot be intercepted are refused by name" {
	run under bash -c "'$built/probe_static'"
	[ "$status" = 126 ]
	[[ $output == *"refused: $built/probe_static: statically linked"* ]]
	printf '#!%s\n' "$built/probe_static" >script
	chmod +x script
	run under bash -c ./script
	[ "$status" = 126 ]
	[[ $output == *"statically linked"* ]]
	run under LEAT_TEST_ACTIVE=0 bash -c "'$built/probe_static'"
	[ "$status" = 0 ]
}

@test "Go programs are refused by name" {
	need seqkit
	run under bash -c 'seqkit version'
	[ "$status" = 126 ]
	[[ $output == *"a Go program"* ]]
}

@test "programs that gain rights are refused, but not their owner" {
	need su setpriv
	[ "$(id -u)" = 0 ] || skip "needs root to become another user"
	chmod 777 . under
	run under setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		bash -c 'su --version'
	[ "$status" = 126 ]
	[[ $output == *"another user"* ]]
	run under bash -c 'su --version'
	[ "$status" = 0 ]
}

@test "the library and its variables survive an emptied environment" {
	run under bash -c 'env -i /usr/bin/env'
	[[ $output == *"LD_PRELOAD=$library"* ]]
	[[ $output == *LEAT_TEST_REPORT=* ]]
	run under bash -c 'LD_PRELOAD=/nonexistent.so env 2>/dev/null'
	[[ $output == *"LD_PRELOAD=$library:/nonexistent.so"* ]]
	run under bash -c 'LEAT_APP_NAME=other env; for i in {1..400}; do export v$i=x; done; env -u LD_PRELOAD env'
	[[ $output == *LEAT_APP_NAME=other* ]]
	[[ $output == *LD_PRELOAD=*v400=x* || $output == *v400=x*LD_PRELOAD=* ]]
}

@test "the dynamic loader may be run by name" {
	local loader=/lib64/ld-linux-x86-64.so.2
	[ -x $loader ] || skip "no $loader"
	same "$loader /bin/cat ../input"
}

@test "where text may not be written a program is refused, unless the wrappers are asked for" {
	need /usr/bin/python3
	local refuse=$BATS_TEST_DIRNAME/refuse.py
	run /usr/bin/python3 "$refuse" env LEAT_DIR=/nowhere LD_PRELOAD="$library" cat input
	[ "$status" != 77 ] || skip "the kernel cannot refuse executable memory"
	[ "$status" = 126 ]
	[[ $output == *"refused: "*"cat: its libc cannot be patched"* ]]
	run /usr/bin/python3 "$refuse" env LEAT_INTERCEPT=wrap LEAT_DIR=/nowhere LEAT_TEST_REPORT="$PWD/report" LD_PRELOAD="$library" \
		bash -c 'echo $LD_PRELOAD; cat input | wc -l; exit 5'
	[ "$status" = 5 ]
	[ "${lines[0]}" = "$built/libleat-test-wrap.so" ]
	[ "${lines[1]}" = 5000 ]
	hooked cat
}

@test "a program that can be neither patched nor wrapped is refused" {
	cp "$library" libleat-alone.so
	run env LEAT_INTERCEPT=wrap LD_PRELOAD="$PWD/libleat-alone.so" /bin/cat input
	[ "$status" = 126 ]
	[[ $output == *"refused: /bin/cat: libc cannot be patched"* ]]
}

@test "programs under a soft limit, in other directories, by other names" {
	same 'ulimit -n 16; cat ../input | wc -l'
	same 'ulimit -s 128; cat ../input | tail -n 3'
	same 'exec -a othername cat ../input'
	same 'cd / && cat /etc/hostname; cd - >/dev/null; chroot / /bin/true 2>/dev/null; true'
}

@test "sites kept by one process are used by the next, and bad ones are not" {
	local file bad
	mkdir sites
	under LEAT_SITES="$PWD/sites" "$built/probe_calls"
	[ "$(find sites -type f ! -name '*.seen' | wc -l)" = 2 ]
	rm sites/*.image
	mkdir "$(find sites -type f ! -name '*.seen').image" # what may not be a file is done without
	file=$(find sites -type f ! -name '*.seen')
	cp "$file" good
	under LEAT_SITES="$PWD/sites" strace -f -o trace "$built/probe_calls"
	grep -q "read.*= $(stat -c %s good)" trace
	run -1 grep '[0-9]\.new"' trace
	cmp good "$file"
	for bad in empty short long shifted zero counts text other; do
		case $bad in
		empty) : >"$file" ;;
		short) head -c 99 good >"$file" ;;
		long) cat good good >"$file" ;;
		shifted) tail -c +2 good >"$file" ;;
		zero) head -c "$(stat -c %s good)" /dev/zero >"$file" ;;
		counts) python3 -c "import struct; d = open('good', 'rb').read(); open('$file', 'wb').write(struct.pack('I', 4000000000) + d[4:])" ;;
		text) yes | head -c "$(stat -c %s good)" >"$file" ;;
		other) python3 -c "
import struct
w = list(struct.unpack('I' * ($(stat -c %s good) // 4), open('good', 'rb').read()))
w[7] += 1
open('$file', 'wb').write(struct.pack('I' * len(w), *w))" ;;
		esac
		under LEAT_SITES="$PWD/sites" "$built/probe_calls" || { echo "with $bad sites"; return 1; }
		cmp good "$file"
	done
	under LEAT_SITES="$PWD/none" "$built/probe_calls"
	[ "$(find sites -type f ! -name '*.seen' | wc -l)" = 1 ]
}

@test "texts patched by one process are mapped by the next, and bad ones are not" {
	local image bad
	mkdir sites
	under LEAT_SITES="$PWD/sites" "$built/probe_calls"
	image=$(echo sites/*.image)
	cp "$image" good
	under LEAT_SITES="$PWD/sites" strace -f -o trace "$built/probe_calls"
	grep -q "mmap.*PROT_EXEC, MAP_PRIVATE|MAP_FIXED, .*, 0x9000) = 0x" trace
	run -1 grep 'sites.*O_CREAT' trace
	for bad in empty short long head; do
		case $bad in
		empty) : >"$image" ;;
		short) head -c -4096 good >"$image" ;;
		long) cat good good >"$image" ;;
		head) { yes | head -c 4096; tail -c +4097 good; } >"$image" ;;
		esac
		under LEAT_SITES="$PWD/sites" "$built/probe_calls" || { echo "with a bad image: $bad"; return 1; }
		cmp good "$image"
	done
}

@test "texts that are not as in their file are kept for nobody" {
	mkdir sites
	"$built/probe_trace" /usr/bin/env LEAT_DIR=/nowhere LEAT_TEST_REPORT="$PWD/report" LD_PRELOAD="$library" \
		LEAT_SITES="$PWD/sites" "$built/probe_calls"
	[ "$(find sites -type f ! -name '*.seen' | wc -l)" = 1 ]
	[ -z "$(find sites -name '*.image*')" ]
}

@test "a directory that nothing may be executed from" {
	unshare -rm true 2>/dev/null || skip "no user namespaces"
	mkdir sites
	under LEAT_SITES="$PWD/sites" unshare -rm bash -ec "
		mount -t tmpfs -o noexec none sites
		'$built/probe_calls'
		'$built/probe_calls'
		ls -I '*.seen' sites > listed"
	[ "$(wc -l <listed)" = 1 ]
	run -1 grep image listed
}
