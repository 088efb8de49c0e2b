#!/usr/bin/env bats
# The paper's workflows (Wilkins, 2024) between real processes: its listings as they are, ensembles, flow
# control. Which versions are delivered, launches for files, and circles of steps are in 1600-flow.bats, the
# first ranks' I/O in 1610-mpi.bats, data sets that nobody matches in 1025-coupling.bats.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir work bin
	PATH=$PWD/bin:$PATH
	listings=$LEAT_SOURCE_DIR/tests/fixtures/lang
	export HDF5_USE_FILE_LOCKING=FALSE
}

teardown() {
	nothing_left
}

# program NAME...: stdin is a program of these names, in PATH.
program() {
	cat >"bin/$1"
	chmod +x "bin/$1"
	local name
	for name in "${@:2}"; do
		cp "bin/$1" "bin/$name"
	done
}

# parallel_programs: `producer`, whose rank 0 writes a grid and particles; `consumer`, `consumer1` and
# `consumer2`, whose ranks have the file open together and read a part of one data set each.
parallel_programs() {
	/usr/bin/python3 -c 'import h5py' 2>/dev/null || skip "/usr/bin/python3 has no h5py"
	program producer <<-'END'
		#!/usr/bin/python3
		import h5py, numpy, os
		shift = 1000 * int(os.environ.get("LEAT_INSTANCE", 0))
		if int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]) == 0:
		    with h5py.File("outfile.h5", "w") as f:
		        f["/group1/grid"] = shift + numpy.arange(1000.).reshape(100, 10)
		        f["/group1/particles"] = shift + numpy.arange(300).reshape(100, 3)
	END
	program consumer consumer1 consumer2 <<-'END'
		#!/usr/bin/python3
		import h5py, os, time
		def variable(*names):
		    return int(next(os.environ[n] for n in names if n in os.environ))
		rank = variable("OMPI_COMM_WORLD_RANK", "PMI_RANK")
		size = variable("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
		name = "particles" if os.environ["LEAT_APP_NAME"] == "consumer2" else "grid"
		with h5py.File("outfile.h5", "r") as f:
		    data = f["/group1/" + name]
		    part = data[rank * len(data) // size:(rank + 1) * len(data) // size]
		    # As MPI-IO does it: nobody closes the file before all have opened it.
		    met = f"{os.environ['MEETINGS']}/{os.environ['LEAT_APP_NAME']}.{os.getppid()}"
		    os.makedirs(met, exist_ok=True)
		    open(f"{met}/{rank}", "w").close()
		    while len(os.listdir(met)) < size:
		        time.sleep(0.01)
		with open(f"{met}.said.{rank}", "w") as f:
		    print(f"rank {rank} of {size}:", name, len(part), int(part.sum()), file=f)
	END
	export MEETINGS=$PWD/meetings
	mkdir "$MEETINGS"
}

# parts NAME RANKS COLUMNS SHIFT: what the ranks of a consumer find.
parts() {
	awk -v name="$1" -v size="$2" -v columns="$3" -v shift="$4" 'BEGIN {
		for (rank = 0; rank < size; rank++) {
			first = int(rank * 100 / size)
			end = int((rank + 1) * 100 / size)
			sum = 0
			for (i = first * columns; i < end * columns; i++)
				sum += shift + i
			print "rank " rank " of " size ": " name " " end - first " " sum
		}
	}'
}

# said STEP: what the ranks of the step have found, in all its launches.
said() {
	cat "meetings/$1".*.said.* | sort
}

@test "the paper's listings are read as they are printed" {
	local listing
	mkdir listings
	echo 'def nyx(vol, rank): pass' >listings/actions.py
	cp "$listings"/paper-2024-* listings
	for listing in 1 2-mended 4-mended 6-mended; do
		leat check "listings/paper-2024-listing$listing.yaml"
	done
	# Lines that the paper has broken in two.
	for listing in 2 4 6; do
		run -1 leat check "listings/paper-2024-listing$listing.yaml"
		[[ $output =~ paper-2024-listing$listing.yaml:7:[0-9]+:\ error:\ not\ YAML ]]
	done
	leat check --graph text listings/paper-2024-listing1.yaml >graph
	cat graph
	grep -qE '^  writes  outfile.h5  to consumer1, consumer2' graph
	[ "$(grep -cE '^  sees    outfile.h5  all, from producer$' graph)" = 2 ]
	leat check --graph text listings/paper-2024-listing4-mended.yaml >graph
	[ "$(grep -c '^step' graph)" = 128 ]
	for i in 0 31 63; do
		grep -qE "^  sees    detector.$i/dump-h5md.h5  all, from freeze.$i$" graph
	done
	leat check --graph text listings/paper-2024-listing6-mended.yaml >graph
	grep -qE '^  sees    plt\*.h5 +every 2nd, from nyx$' graph
}

@test "Listing 1: a producer of 3 processes, consumers of 5 and of 2" {
	local kind
	parallel_programs
	for kind in openmpi mpich; do
		need "mpirun.$kind"
		rm -rf meetings && mkdir meetings
		timeout 100 leat run -d work --mpi-launcher "mpirun.$kind" "$listings/paper-2024-listing1.yaml"
		diff <(parts grid 5 10 0) <(said consumer1)
		diff <(parts particles 2 3 0) <(said consumer2)
		# What goes through memory is no file in the end.
		[ ! -e work/outfile.h5 ]
	done
}

@test "Listing 2: four producers of 3 processes, two consumers of 5" {
	parallel_programs
	need mpirun.mpich
	timeout 200 leat run -d work --mpi-launcher mpirun.mpich "$listings/paper-2024-listing2-mended.yaml"
	for i in 0 1; do
		diff <({
			parts grid 5 10 $((2000 * i))
			parts grid 5 10 $((2000 * i + 1000))
		} | sort) <(said "consumer.$i")
	done
}

@test "Listing 4: 64 simulations, each with its detector" {
	need h5dump
	/usr/bin/python3 -c 'import h5py' 2>/dev/null || skip "/usr/bin/python3 has no h5py"
	# One process each: 2,560 would be too many here.
	sed '/nprocs/d; /nwriters/d' "$listings/paper-2024-listing4-mended.yaml" >listing4.yaml
	/usr/bin/python3 - <<-'END'
		import h5py
		for i in range(64):
		    with h5py.File(f"{i}.h5", "w") as f:
		        f["/particles/all/position"] = range(i, i + 3)
	END
	program freeze <<-'END'
		#!/bin/sh
		exec cp "../../$LEAT_INSTANCE.h5" dump-h5md.h5
	END
	program detector <<-'END'
		#!/bin/sh
		exec h5dump -y -w 0 -d /particles/all/position dump-h5md.h5
	END
	timeout 200 leat run -d work listing4.yaml >out
	for i in $(seq 0 63); do
		[ "$(sed -n "s/^\\[detector.$i\\] *\\([0-9]*, [0-9]*, [0-9]*\\)$/\\1/p" out)" = "$i, $((i + 1)), $((i + 2))" ]
	done
}

# pairs PRODUCERS CONSUMERS: who got whose file, "consumer producer", sorted.
pairs() {
	rm -rf work && mkdir work
	cat >flow.yaml <<-END
		name: pairs
		dir: work
		tasks:
		  - func: make
		    taskCount: $1
		    exec: bash -c 'echo {instance} >x'
		    outports: [{filename: x}]
		  - func: use
		    taskCount: $2
		    exec: bash -c 'cat x >>got 2>/dev/null; [ "\${LEAT_INSTANCE:-0}" = {instance} ]'
		    inports: [{filename: x}]
		    outports: [{filename: got}]
	END
	timeout 120 leat run -q flow.yaml
	if [ "$2" = 1 ]; then
		sed 's/^/0 /' work/got
	else
		for i in $(seq 0 $(($2 - 1))); do
			sed "s/^/$i /" "work/use.$i/got"
		done
	fi
}

@test "ensembles: who is linked with whom" {
	[ "$(pairs 4 2 | tr '\n' ,)" = '0 0,0 1,1 2,1 3,' ]
	[ "$(pairs 2 4 | tr '\n' ,)" = '0 0,1 0,2 1,3 1,' ]
	[ "$(pairs 3 3 | tr '\n' ,)" = '0 0,1 1,2 2,' ]
	[ "$(pairs 5 2 | tr '\n' ,)" = '0 0,0 1,0 2,1 3,1 4,' ]
	[ "$(pairs 7 3 | tr '\n' ,)" = '0 0,0 1,0 2,1 3,1 4,2 5,2 6,' ]
	[ "$(pairs 1 16 | tr '\n' ,)" = "$(for i in $(seq 0 15); do printf '%s 0,' "$i"; done)" ]
	[ "$(pairs 3 1 | tr '\n' ,)" = '0 0,0 1,0 2,' ]
}

@test "ensembles: one producer, many consumers" {
	local n
	n=$(up_to 64 256)
	[ "$(pairs 1 "$n")" = "$(for i in $(seq 0 $((n - 1))); do echo "$i 0"; done)" ]
}

@test "ensembles: 256 instances of each" {
	pairs 256 256 >got
	[ "$(wc -l <got)" = 256 ]
	awk '$1 != $2 { exit 1 }' got
}

@test "ensembles: a real program many times, and one that reads what all of them made" {
	local n
	n=$(up_to 128 256)
	cat >flow.yaml <<-END
		name: many
		dir: work
		permanent: [all.gz]
		tasks:
		  - func: compress
		    taskCount: $n
		    exec: sh -c 'seq {instance}000 {instance}999 | gzip -n >part.gz'
		    outports: [{filename: part.gz}]
		  - func: join
		    exec: sh -c 'cat compress.?/part.gz compress.??/part.gz compress.???/part.gz >all.gz'
		    inports: [{filename: 'compress.*/part.gz'}]
		    outports: [{filename: all.gz}]
	END
	timeout 250 leat run -q flow.yaml
	gzip -t work/all.gz
	[ "$(zcat work/all.gz | wc -l)" = $((n * 1000)) ]
	cmp <(zcat work/all.gz) <(for i in $(seq 0 $((n - 1))); do seq "${i}000" "${i}999"; done)
}

# slow FREQ USE: a producer of ten versions, which logs each when it is made, and a consumer, the script
# USE, which reads one with `take` and logs it.
slow() {
	cat >flow.yaml <<-END
		name: slow
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo \$i >x; echo made \$i >>../log; done; echo end >>../log'
		    outports: [{filename: x}]
		  - func: use
		    exec: bash ../use
		    inports: [{filename: x, io_freq: $1}]
	END
	cat >use <<-'END'
		take() { got=$(cat x 2>/dev/null) && echo took "$got" >>../log; }
	END
	printf '%s\n' "$2" >>use
	rm -rf work log && mkdir work
	timeout 60 leat run --report report flow.yaml
	cat log
}

@test "a slow consumer holds the producer up under all" {
	slow 1 'sleep 0.5; while take; do :; done'
	[ "$(grep -c '^took' log)" = 10 ]
	# The producer begins version k + 1 when k is taken: k + 2 is not there before that was logged.
	for k in 1 2 3 4 5 6 7 8; do
		[ "$(grep -n "^took $k$" log | cut -d : -f 1)" -lt "$(grep -n "^made $((k + 2))$" log | cut -d : -f 1)" ]
	done
	report 'steps["make"]["waiting_seconds"] > 0'
}

@test "no consumer holds the producer up under latest, and under some only for what it is given" {
	# Were the producer held up, it would never end, and the consumer never go on.
	for freq in latest 10; do
		slow $freq 'until grep -q end ../log; do sleep 0.05; done; while take; do :; done'
		[ "$(tail -n 1 log)" = 'took 10' ]
		[ "$(grep -c '^took' log)" = 1 ]
		report 'steps["make"]["waiting_seconds"] == 0'
	done
	# The fifth is taken before the tenth is begun, and the others are made meanwhile.
	slow 5 'until grep -q "made 9" ../log; do sleep 0.05; done; while take; do :; done'
	[ "$(grep '^took' log | tr '\n' ,)" = 'took 5,took 10,' ]
}
