#!/usr/bin/env bats
# Actions: user code at opens and closes, in Python and in C.
load helper
bats_require_minimum_version 1.5.0

setup() {
	in_work
	# Listing 5 of the paper on Wilkins.
	cat >actions.py <<-'END'
		def nyx(vol, rank):
		    #after file close callback
		    def afc_callback(s):
		        if rank != 0:
		            #other ranks, serving data
		            vol.serve_all(True, True)
		            vol.clear_files()
		        else:
		            if vol.file_close_counter % 2 == 0:
		                #rank 0, serving data
		                vol.serve_all(True, True)
		                vol.clear_files()
		            else:
		                #rank 0 broadcasting files to other ranks
		                vol.broadcast_files()

		    #before file open callback
		    def bfo_cb(s):
		        if rank != 0:
		            #other ranks receiving files from rank 0
		            vol.broadcast_files()

		    #setting the callbacks in the VOL plugin
		    vol.set_after_file_close(afc_callback)
		    vol.set_before_file_open(bfo_cb)
	END
}

teardown() {
	nothing_left
	! pgrep -f "leat-action.*$BATS_TEST_TMPDIR"
}

# flow FUNCTION [FILE] [KEYS]: a step with actions that makes `x` twice a round, by two opens, four
# rounds; a consumer that reads what it is given.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4; do echo \$i >x; echo more >>x; done'
		    actions: [${2:-actions}, $1]
		    outports: [{filename: x}]
		  - func: use
		    exec: bash -c 'while cat x; do :; done >out 2>err; grep -q "No such file" err'
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
		    ${3:-}
	END
}

# run_failing TEXT...: leat run fails with 125, and says each.
run_failing() {
	run timeout 60 leat run --action-timeout 2 flow.yaml
	echo "$output"
	[ "$status" -eq 125 ]
	for text in "$@"; do
		[[ $output == *"$text"* ]]
	done
}

@test "a version is delivered once per two closes: Listing 5" {
	flow nyx
	timeout 60 leat run --log log flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = "1 more 2 more 3 more 4 more " ]
	leat replay flow.yaml log
}

@test "each rank passes on its own part: Listing 5 with four ranks" {
	local kind
	for kind in openmpi mpich; do
		need "mpicc.$kind" "mpirun.$kind"
		"mpicc.$kind" -O1 -o snapshots "$BATS_TEST_DIRNAME/../mpi/snapshots.c"
		rm -rf work && mkdir work
		cat >flow.yaml <<-END
			name: flow
			dir: work
			tasks:
			  - func: nyx
			    nprocs: 4
			    exec: $PWD/snapshots 6
			    actions: ["actions", "nyx"]
			    outports: [{filename: 'plt*.h5'}]
			  - func: reeber
			    exec: sh -c 'echo "\$(basename \$1) \$(tr -s 0-9a-d <\$1)" >>out' sh '{filename}'
			    inports: [{filename: 'plt*.h5', io_freq: 2}]
			    outports: [{filename: out}]
		END
		LEAT_MPI_LAUNCHER=mpirun.$kind timeout 60 leat run flow.yaml
		cat work/out
		[ "$(tr '\n' ' ' <work/out)" = "plt00001.h5 1abcd plt00003.h5 3abcd plt00005.h5 5abcd " ]
	done
}

@test "who says nothing of closes passes on at each" {
	cat >>actions.py <<-END

		def quiet(vol, rank):
		    pass
	END
	flow quiet
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = "1 1 more 2 2 more 3 3 more 4 4 more " ]
}

@test "what is never passed on is complete at the end" {
	cat >>actions.py <<-END

		def never(vol, rank):
		    vol.set_after_file_close(lambda s: None)
	END
	flow never
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = "4 more " ]
}

# events_of SHELL: a step that makes `x` and one that reads it, and all their events in `all`.
events_of() {
	cat >events.py <<-'END'
		def told(vol, rank):
		    def on(event):
		        def callback(s):
		            print(event, s, flush=True)
		            if event == "after_file_close":
		                vol.serve_all()
		        getattr(vol, "set_" + event)(callback)
		    for event in ("before_launch", "before_file_open", "after_file_open", "after_file_close", "on_commit",
		                  "after_exit"):
		        on(event)
	END
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: $1 -c 'echo 1 >x; echo begun; exit 0'
		    actions: [events, told]
		    outports: [{filename: x, committed: on_close}]
		  - func: use
		    exec: $1 -c 'cat x >out'
		    actions: [events, told]
		    inports: [{filename: x}]
		    outports: [{filename: out, committed: on_close}]
	END
	timeout 60 leat run flow.yaml | tee all
}

@test "all events, in their order, of producer and consumer" {
	events_of sh
	[ "$(sed -n 's/^\[make\] *//p' all)" = "before_launch 
before_file_open x
after_file_open x
after_file_close x
begun
on_commit x
after_exit 0" ] || [ "$(sed -n 's/^\[make\] *//p' all)" = "before_launch 
before_file_open x
after_file_open x
after_file_close x
on_commit x
begun
after_exit 0" ]
	[ "$(sed -n 's/^\[use\] *//p' all | grep ' x$')" = "before_file_open x
after_file_open x
after_file_close x" ]
	[ "$(sed -n 's/^\[use\] *//p' all | head -1)" = "before_launch " ]
	[ "$(sed -n 's/^\[use\] *//p' all | tail -1)" = "after_exit 0" ]
}

@test "a program that does not close its file, and one that is killed" {
	cat >>actions.py <<-END

		def count(vol, rank):
		    def closed(s):
		        print("closed", s, flush=True)
		        vol.serve_all()
		    vol.set_after_file_close(closed)
	END
	flow count
	sed -i "s/exec: bash -c 'for.*/exec: bash -c 'exec 7>x; echo 1 >\&7; exec sleep 0'/" flow.yaml
	timeout 60 leat run flow.yaml | tee all
	grep -q 'closed x' all
	[ "$(cat work/out)" = 1 ]
	rm -rf work && mkdir work
	sed -i "s/exec sleep 0/kill -9 \$\$/" flow.yaml
	run timeout 60 leat run flow.yaml
	echo "$output"
	[ "$status" -eq 137 ]
	[[ $output != *"closed x"* ]]
}

@test "a program behind a mount" {
	need busybox
	[ -r /dev/fuse ] || skip "no /dev/fuse"
	flow nyx
	sed -i "s/exec: bash -c 'for/exec: busybox sh -c 'for/" flow.yaml
	file -L "$(command -v busybox)" | grep -q 'statically linked'
	timeout 60 leat run flow.yaml
	[ "$(tr '\n' ' ' <work/out)" = "1 more 2 more 3 more 4 more " ]
	rm -r work && mkdir work
	events_of 'busybox sh'
	[ "$(sed -n 's/^\[make\] *//p' all | grep ' x$')" = "before_file_open x
after_file_open x
after_file_close x
on_commit x" ]
	[ "$(sed -n 's/^\[use\] *//p' all | grep ' x$')" = "before_file_open x
after_file_open x
after_file_close x" ]
}

@test "a step that is launched again" {
	cat >>actions.py <<-END

		def launches(vol, rank):
		    vol.set_before_launch(lambda s: print("launch", flush=True))
		    vol.set_after_exit(lambda s: print("exit", s, flush=True))
	END
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3; do echo \$i >x; done'
		    outports: [{filename: x}]
		  - func: use
		    exec: sh -c 'cat x >>out'
		    actions: [actions, launches]
		    inports: [{filename: x, io_freq: 1}]
		    outports: [{filename: out}]
	END
	timeout 60 leat run flow.yaml | tee all
	[ "$(tr '\n' ' ' <work/out)" = "1 2 3 " ]
	[ "$(grep -c launch all)" -eq 3 ]
	[ "$(grep -c 'exit 0' all)" -eq 3 ]
}

@test "an action that fails, and where" {
	cat >bad.py <<-'END'
		import os, time
		def raises(vol, rank):
		    def callback(s):
		        if vol.file_close_counter == 3:
		            raise ValueError("no " + s)
		        vol.serve_all()
		    vol.set_after_file_close(callback)
		def hangs(vol, rank):
		    vol.set_after_file_open(lambda s: time.sleep(100))
		def dies(vol, rank):
		    vol.set_before_file_open(lambda s: os.kill(os.getpid(), 9))
		def leaves(vol, rank):
		    vol.set_before_file_open(lambda s: os._exit(3))
		def refuses(vol, rank):
		    raise RuntimeError("not today")
		def begins(vol, rank):
		    def callback(s): raise RuntimeError("before")
		    vol.set_before_launch(callback)
		def ends(vol, rank):
		    def callback(s): raise RuntimeError("after %d" % s)
		    vol.set_after_exit(callback)
		def datasets(vol, rank):
		    vol.set_after_dataset_write(lambda s: None)
	END
	flow raises bad
	run_failing "step make failed: its action raises (bad.py) failed: ValueError: no x (line 5)" "Traceback" \
		"step use failed"
	flow hangs bad
	run_failing "step make failed: its action hangs (bad.py) failed: it did not come back for 2 s"
	flow dies bad
	run_failing "step make failed: its action dies (bad.py) failed: its process was killed by SIGKILL"
	flow leaves bad
	run_failing "step make failed: its action leaves (bad.py) failed: its process exited with status 3"
	flow refuses bad
	run_failing "step make is not run: its action refuses (bad.py) failed: RuntimeError: not today (line 15)"
	flow begins bad
	run_failing "step make is not run: its action begins (bad.py) failed: RuntimeError: before (line 17)"
	flow ends bad
	run_failing "step make failed: its action ends (bad.py) failed: RuntimeError: after 0 (line 20)"
	flow datasets bad
	run_failing "callbacks on data sets are not supported"
	[ ! -e work/out ]
}

@test "one that cannot be loaded: nothing is started" {
	local file
	echo 'def f(:' >syntax.py
	echo 'import nothing_of_that_name' >import.py
	echo 'no object' >text.so
	echo 'while True: pass' >loops.py
	while IFS='|' read -r file function text; do
		flow "$function" "$file"
		run timeout 60 leat run --action-timeout 2 flow.yaml
		echo "$output"
		[ "$status" -eq 125 ]
		[[ $output == *"flow.yaml:6:15: error"*"$text"* ]]
		[ -z "$(ls work)" ]
	done <<-END
		actions|nix|nix of the action file actions.py cannot be used: NameError: it has no function nix
		syntax|f|SyntaxError
		import|f|ModuleNotFoundError: No module named 'nothing_of_that_name' (line 1)
		text.so|f|text.so
		nowhere|f|cannot read the action file nowhere.py
		loops|f|did not load within
	END
}

@test "shared objects" {
	cat >count.c <<-'END'
		#include <leat/action.h>
		#include <stdio.h>

		static int closed(struct leat_action *a, const struct leat_action_info *info, void *data)
		{
			int *rank = data;

			printf("%d %s %d %u\n", *rank, info->file, info->writes, leat_action_file_close_counter(a));
			if (leat_action_file_close_counter(a) == 7)
				return leat_action_fail(a, "%s is one too many", info->file);
			if (leat_action_file_close_counter(a) % 2 == 0)
				leat_action_serve_all(a);
			return 0;
		}

		__attribute__((visibility("default"))) leat_action_setup count;

		int count(struct leat_action *a, int rank)
		{
			static int mine;

			mine = rank;
			leat_action_on(a, LEAT_ACTION_AFTER_FILE_CLOSE, closed, &mine);
			return 0;
		}
	END
	cc -Wall -Werror -shared -fPIC -I"$LEAT_SOURCE_DIR/include" count.c -o count.so
	flow count count.so
	sed -i 's/in 1 2 3 4/in 1 2 3/' flow.yaml
	timeout 60 leat run flow.yaml | tee all
	[ "$(tr '\n' ' ' <work/out)" = "1 more 2 more 3 more " ]
	grep -q '0 x 1 6' all
	flow count count.so
	run_failing "step make failed: its action count (count.so) failed: x is one too many"
}

@test "what does not go with actions is refused" {
	flow nyx
	run leat run --plain flow.yaml
	[ "$status" -eq 125 ]
	[[ $output == *"step make has actions, which need interception: leave --plain out"* ]]
	run leat serve flow.yaml
	[ "$status" -eq 125 ]
	[[ $output == *"step make has actions, which only leat run calls"* ]]
	run leat check --verify flow.yaml
	[ "$status" -eq 1 ]
	sed -i 's/, io_freq: 1//' flow.yaml
	run leat check --verify flow.yaml
	[ "$status" -eq 1 ]
	[[ $output == *"does not know what the actions of step make do"* ]]
	sed -i 's/outports: .{filename: x}/outports: [{filename: x, mode: no_update}/' flow.yaml
	run leat check flow.yaml
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"flow.yaml:7:"*"L-CHECK-ACTION-MODE"* ]]
}
