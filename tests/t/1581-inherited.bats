#!/usr/bin/env bats
# What a program finds open when it starts: it is asked about when the program does something with it, and its end
# counts as that of any other.
bats_require_minimum_version 1.5.0
load helper

setup() {
	in_work
}

# step SCRIPT: run it in a step that makes data, with connections to the daemon in `connects`.
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
	grep 'connect(.*/socket' connects
}

@test "a program that does nothing with what it inherits does not connect" {
	# What the shell reads it asks about.
	step 'while read -r line; do /bin/true; done <list; echo >data'
	[ "$(grep -c 'connect(.*/socket' connects)" -eq 1 ]
}

@test "a program has the connection of the shell's child that became it" {
	step 'for i in 1 2 3 4 5; do /bin/echo $i >>data; done'
	# The shell, and each of its children.
	[ "$(grep -c 'connect(.*/socket' connects)" -eq 6 ]
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
