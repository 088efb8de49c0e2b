#!/usr/bin/env bats
# What `meson install` makes of this build: a tree that works wherever it is moved, and the task library for
# programs of others.
load helper

# One tree for all: it lies elsewhere than where it was installed.
setup_file() {
	local fake=$BATS_FILE_TMPDIR/fake
	meson install -C "$LEAT_BUILD" --quiet --destdir "$fake" >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/log"
		return 1
	}
	mv "$(dirname "$(dirname "$(find "$fake" -path '*/bin/leat')")")" "$BATS_FILE_TMPDIR/moved"
}

setup() {
	moved=$BATS_FILE_TMPDIR/moved
	libdir=$(dirname "$(find "$moved" -name libleat-task.a)")
	in_work
	[ -d "$libdir" ]
}

@test "a tree that was moved runs workflows and traces" {
	cat >flow.yaml <<-'END'
		name: moved
		tasks:
		  - func: make
		    exec: sh -c 'echo hello >word.txt'
		    outports: [{filename: word.txt, mode: no_update}]
		  - func: take
		    exec: sh -c 'cat word.txt >copy.txt'
		    inports: [{filename: word.txt}]
		    outports: [{filename: copy.txt}]
	END
	env -u LEAT_BUILD -u LEAT_LIBRARY PATH="$moved/bin:/usr/bin:/bin" leat run --quiet --dir work flow.yaml
	[ "$(cat work/copy.txt)" = hello ]
	PATH=$moved/bin:/usr/bin:/bin leat trace --tracer preload --output trace.csv sh -c 'echo >word.txt'
	grep -q 'word\.txt' trace.csv
	if leat --version | grep -q '^with:.* metrics'; then # a module of its own
		PATH=$moved/bin:/usr/bin:/bin leat trace --listen 0 --output trace.csv -- true
	fi
}

@test "what nobody links with is in libdir/leat" {
	[ -e "$libdir/leat/libleat.so" ] && [ -e "$libdir/leat/libleat-wrap.so" ]
	[ "$(cd "$libdir" && echo libleat*.*)" = \
		"libleat-task.a libleat-task.so libleat-task.so.0 libleat-task.so.0.1.0" ]
}

@test "the task library has the names of its header, shared and static, and no others" {
	need nm
	grep -o 'leat_[a-z_]*(' "$moved/include/leat/task.h" | tr -d '(' | sort -u >declared
	nm -D --defined-only "$libdir/libleat-task.so" | awk '{print $3}' | sort -u >shared
	nm -g --defined-only "$libdir/libleat-task.a" | awk 'NF == 3 {print $3}' | sort -u >static
	[ "$(wc -l <shared)" -gt 10 ]
	diff shared static
	comm -23 shared declared | diff /dev/null -
}

@test "a program that has names of leat's own layers itself is linked with the static library" {
	need cc
	nm "$libdir/libleat-task.a" | grep -q ' t leat_json_object$'
	cat >program.c <<-'END'
		#include <leat/task.h>
		#include <stdio.h>
		int leat_json_object(const char *text) { return puts(text); }
		int main(void)
		{
			if (leat_task_init(NULL) < 0)
				return 1;
			leat_json_object("the program's own");
			return leat_task_finalize() < 0;
		}
	END
	cc -I"$moved/include" program.c "$libdir/libleat-task.a" -lfyaml -lexpat -lm -pthread -o program
	[ "$(./program)" = "the program's own" ]
}

@test "leat-task.pc asks for no other package" {
	need pkg-config
	export PKG_CONFIG_LIBDIR=$libdir/pkgconfig
	[ -z "$(pkg-config --print-requires-private leat-task)" ]
	[[ $(pkg-config --libs leat-task) == *-lleat-task* ]]
	[[ $(pkg-config --static --libs leat-task) == *-lfyaml*-lexpat* ]]
}
