#!/usr/bin/env bats
# What a program finds open when it starts: it is asked about when the program does something with it, and its end
# counts as that of any other.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

# step SCRIPT: run it in a step that makes data, with the connections to the daemon in `daemon` (libc makes others: to
# nscd, where HOME is not set).
step() {
	need strace
	seq 5 >work/list
	printf '%s\n' "$1" >step.sh
	cat >w.yaml <<-END
		name: inherited
		dir: work
		tasks:
		  - func: step
		    exec: strace -f -e trace=connect -o $PWD/connects bash ../step.sh
		    outports: [{filename: data}]
	END
	run -0 leat run w.yaml
	echo "$output"
	grep "connect(.*$LEAT_RUNTIME_DIR/" connects >daemon
}

@test "a program that does nothing with what it inherits does not connect" {
	# What the shell reads it asks about.
	step 'while read -r line; do /bin/true; done <list; echo >data'
	[ "$(wc -l <daemon)" -eq 1 ]
}

@test "a program has the connection of the shell's child that became it" {
	step 'for i in 1 2 3 4 5; do /bin/echo $i >>data; done'
	# The shell, and each of its children.
	[ "$(wc -l <daemon)" -eq 6 ]
	[ "$(cat work/data)" = "$(seq 5)" ]
}

# read_at SCRIPT: the script makes data, which is read when it is closed; `work/read` and `work/ended` say when that was,
# and when the step ended.
read_at() {
	rm -rf work && mkdir work
	printf '%s\n' "$1" 'sleep 1; date +%s%N >ended' >one.sh
	cat >w.yaml <<-END
		name: inherited
		dir: work
		permanent: [ended, read]
		tasks:
		  - func: one
		    exec: bash ../one.sh
		    outports: [{filename: data, committed: on_close}, {filename: ended}]
		  - func: two
		    exec: bash -c 'cat data; date +%s%N >read'
		    inports: [{filename: data}]
		    outports: [{filename: read}]
	END
	run -0 leat run w.yaml
	echo "$1: $output"
}

@test "who is killed before it has used what it inherits has not closed it" {
	local script
	for script in 'sleep 100 >data & sleep 0.3; kill -KILL $!; wait' \
		'(exec sleep 100) >data & sleep 0.3; kill -KILL $!; wait' \
		'exec 9>data; sleep 100 & exec 9>&-; sleep 0.3; kill -KILL $!; wait'; do
		read_at "$script"
		[ "$(cat work/read)" -gt "$(cat work/ended)" ]
	done
}

@test "who ends well, or closes it, without having used it has closed it" {
	local script
	for script in 'exec 9>data; echo a >&9; sleep 0.3 & exec 9>&-; wait' \
		'(echo a >&9; exec bash -c "exec 9>&-; sleep 2") 9>data' \
		'exec 9>data; echo a >&9; bash -c "exec 9>&-; sleep 2" & exec 9>&-; wait'; do
		read_at "$script"
		[ "$(cat work/read)" -lt "$(cat work/ended)" ]
	done
}

@test "who becomes another user has that user's rights, on the connection of the program before, too" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	need perl
	local way
	cat >step.sh <<-'END'
		umask 077
		mkdir -p sub
		echo secret >data
		echo secret >sub/data
		(
			true >mark
			exec perl -e '
				use POSIX;
				$) = "65534 65534"; POSIX::setgid(65534); POSIX::setuid(65534);
				for my $n ("data", "sub/data") {
					printf "%s: stat %s, ", $n, -s $n // $!;
					printf "open %s, ", open(my $f, "<", $n) ? "ok" : $!;
					printf "chmod %s, ", chmod(0777, $n) ? "ok" : $!;
					printf "rename %s, ", rename($n, "$n.2") ? "ok" : $!;
					printf "unlink %s\n", unlink($n) ? "ok" : $!;
				}
				printf "mkdir %s\n", mkdir("made") ? "ok" : $!;
				printf "opendir %s\n", opendir(my $d, "sub") ? "ok" : $!;
			'
		) >../seen
	END
	cat >w.yaml <<-END
		name: inherited
		dir: work
		tasks:
		  - func: step
		    exec: bash ../step.sh
		    outports: [{filename: data}, {filename: sub/data}, {filename: mark}]
	END
	chmod 755 . work
	for way in --plain --quiet; do
		rm -rf work/*
		run -0 leat run $way w.yaml
		echo "$output"
		mv seen "seen$way"
	done
	grep 'rename Permission denied' seen--plain
	diff seen--plain seen--quiet
}

# same SCRIPT: a step that makes out, in and other does the same as in a batch, for itself and for who reads out.
same() {
	local way
	printf '%s\n' "exec >../said 2>&1; tell=$PWD/tell; thread=$PWD/thread" "$1" >step.sh
	cat >w.yaml <<-END
		name: inherited
		dir: work
		permanent: [out, read]
		tasks:
		  - func: step
		    exec: bash ../step.sh
		    outports: [{filename: out}, {filename: "in*"}, {filename: "other*"}]
		  - func: reader
		    exec: bash -c 'cat out >read'
		    inports: [{filename: out}]
		    outports: [{filename: read}]
	END
	for way in --plain --quiet; do
		rm -rf work
		mkdir work
		echo "$1"
		leat run $way w.yaml
		cat said work/out work/read >"done$way"
	done
	diff done--plain done--quiet
}

@test "descriptors and connections that programs hand on to each other do what they do in a batch" {
	need perl gcc
	local script
	cat >tell <<-'END'
		#!/usr/bin/perl
		open my $f, ">&=", 3 or die "$!";
		print sysseek($f, 0, 1) + 0, " ";
		syswrite $f, "0123" or die "$!";
		print sysseek($f, 0, 1) + 0, "\n";
	END
	# A thread that becomes a program while others use their connections, or one of whose execs fail.
	cat >thread.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static char **args;
		static void *use(void *name)
		{
			for (;;) {
				int fd = open(name, O_WRONLY | O_CREAT, 0666);

				if (write(fd, "x", 1) != 1)
					abort();
				close(fd);
				execl("/no/such", "such", (char *)0);
			}
		}
		static void *become(void *unused)
		{
			usleep(20000);
			execv(args[0], args);
			abort();
			return unused;
		}
		int main(int argc, char **argv)
		{
			pthread_t t;

			args = argv + 1;
			pthread_create(&t, NULL, use, "other");
			pthread_create(&t, NULL, use, "more");
			pthread_create(&t, NULL, become, NULL);
			pause();
			return argc;
		}
	END
	gcc -pthread -o thread thread.c
	chmod +x tell
	while read -r script; do
		same "$script"
	done <<-'END'
		exec 3>out; echo a >&3; $tell; (exec 3>&-; /bin/true); (exec $tell); echo b >&3; exec $tell
		exec 3>>out; echo a >>out; $tell; /bin/echo b >>out; $tell; (exec >&3; exec /bin/echo c); exec /bin/true
		exec 3>out 4>&3; exec 3>&-; echo a >&4; /bin/echo b >&4; (exec 3>&4 4>&-; exec $tell); exec 4>&-; echo c >>out
		exec 3>out; echo abcdef >&3; perl -e 'truncate "out", 2; print -s "out", "\n"'; $tell; perl -e 'open my $f, ">>", "/proc/self/fd/3"; print $f "x"'; $tell
		exec 3>out; perl -e 'open my $null, ">", "/dev/null"; POSIX::dup2(fileno($null), 3); syswrite STDOUT, "x"' -MPOSIX; $tell
		exec 3>out; perl -MSocket -MIO::Handle -e 'socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0; if (!fork) { exec "/bin/echo", "child" } wait; open my $f, ">&=", 3; syswrite $f, "parent\n"'; $tell
		echo 12 >in; read -r a <in; cat <in >out; cat /dev/stdin <in >>out; cat /dev/fd/5 5<in >>out; (read -r -n 1 a; cat) <in >>out
		seq 1000 >in; exec 3<in; head -c 10 <&3 >out; dd bs=5 count=1 status=none <&3 >>out; /bin/true; cat <&3 | tail -c 20 >>out
		exec 3>out; env -i /bin/echo a >&3; env -i "$tell"; exec env -i "$tell"
		exec 3>out; sleep 9 & disown; k=$!; echo a >&3; sleep 0.2; kill -KILL $k; $tell
		exec 3>out; (ulimit -n 64; exec $tell); (cd /; exec $tell); timeout 9 $tell; setsid $tell; printf 'all:\n\t@echo made >&3\n' | make -s -f -
		exec 3>out; rm out; $tell; echo new >out; $tell; mv out in; echo newer >out
		sh -c 'for i in 1 2 3; do /bin/true >>out; /bin/echo $i >>out; done; exec 3>>out; exec '"$tell"
		exec 3>out; for i in 1 2 3 4 5; do $thread /bin/echo $i >&3; $thread /bin/true; done; exec $thread $tell
		shopt -s execfail; exec 3>out; exec /no/such; echo no >&3; exec /etc/passwd; $tell
		printf '#!/bin/sh\necho $0 >&3; exec /bin/echo more >&3\n' >s.sh; chmod +x s.sh; exec 3>out; ./s.sh; exec ./s.sh
		perl -e 'use POSIX; POSIX::close($_) for 3 .. 2000; open my $f, ">", "out"; print $f "a"; exec "/bin/echo", "b"'
	END
}
