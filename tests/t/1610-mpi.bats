#!/usr/bin/env bats
# Steps of several processes: Open MPI and MPICH, MPI-IO into one file.
load helper
bats_require_minimum_version 1.5.0

setup_file() {
	local kind name
	for kind in openmpi mpich; do
		for name in shared versions collective; do
			! command -v mpicc.$kind >/dev/null ||
				mpicc.$kind -O1 -o "$BATS_FILE_TMPDIR/$name.$kind" "$BATS_TEST_DIRNAME/../mpi/$name.c"
		done
	done
}

setup() {
	in_work
}

teardown() {
	nothing_left
}

# with KIND [NAME]: the program (shared), and the launcher that belongs to it.
with() {
	need "mpicc.$1" "mpirun.$1"
	program=$BATS_FILE_TMPDIR/${2:-shared}.$1
	export LEAT_MPI_LAUNCHER=mpirun.$1
}

@test "all ranks write one file, which is complete when the last has closed it" {
	local kind mode
	for kind in openmpi mpich; do
		with $kind
		for mode in update no_update; do
			rm -rf work && mkdir work
			cat >flow.yaml <<-END
				name: mpi
				dir: work
				tasks:
				  - func: make
				    nprocs: 4
				    exec: $program data 4
				    outports: [{filename: data, committed: on_close, mode: $mode}]
				  - func: use
				    exec: sh -c 'sha256sum <data >out'
				    inports: [{filename: data}]
				    outports: [{filename: out}]
			END
			timeout 60 leat run flow.yaml
			# 4 ranks, 4 rounds, 64 KiB each: rank r writes blocks of the byte 'a' + r.
			[ "$(cat work/out)" = "$(for _ in 1 2 3 4; do for r in a b c d; do
				head -c 65536 /dev/zero | tr '\0' $r
			done; done | sha256sum)" ]
		done
	done
}

@test "each task is a job of its own" {
	local kind
	for kind in openmpi mpich; do
		with $kind
		cat >flow.yaml <<-END
			name: mpi
			dir: work
			tasks:
			  - {func: a, nprocs: 3, exec: $program size, outports: [{filename: "nothing*"}]}
			  - {func: b, nprocs: 2, exec: $program size, outports: [{filename: "none2*"}]}
		END
		run -0 timeout 60 leat run flow.yaml
		echo "$output"
		[[ $output == *'[a] size 3'* ]]
		[[ $output == *'[b] size 2'* ]]
	done
}

@test "only the first ranks do I/O" {
	local kind
	cat >writer <<-'END'
		rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		echo $rank >>../ranks
		[ $rank != 0 ] || echo data >data
	END
	for kind in openmpi mpich; do
		with $kind
		cat >flow.yaml <<-END
			name: mpi
			dir: work
			tasks:
			  - func: make
			    nprocs: 4
			    nwriters: 1
			    exec: $program data 1
			    outports: [{filename: data}]
		END
		run timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" != 0 ]
		[[ $output =~ 'rank '[123]' of step make opens data for writing, but only its ranks below 1 do I/O' ]]
		rm -rf work && mkdir work
		sed -i "s|exec: .*|exec: sh ../writer|" flow.yaml
		timeout 60 leat run flow.yaml
		[ "$(cat work/data)" = data ]
		[ "$(sort ranks | tr '\n' ' ')" = '0 1 2 3 ' ]
		rm ranks
	done
}

# versions IO_FREQ ARGS [KEYS]: a producer makes x six times, 4 ranks read its versions.
versions() {
	rm -rf work && mkdir work
	cat >flow.yaml <<-END
		name: mpi
		dir: work
		tasks:
		  - func: make
		    exec: bash -c 'for i in 1 2 3 4 5 6; do echo \$i >x; sleep \${PACE:-0}; done'
		    outports: [{filename: x}]
		  - func: use
		    nprocs: 4
		    exec: $program $2
		    inports: [{filename: x, io_freq: $1}]
		    outports: [{filename: 'read.*'}]
		    ${3:-}
	END
}

@test "the ranks of a consumer read the same versions, one after the other" {
	local kind freq expected
	for kind in openmpi mpich; do
		with $kind versions
		while read -r freq expected; do
			# The last rank comes when the others have long read the first ones.
			versions "$freq" '10 0 300' 'nwriters: 4'
			timeout 60 leat run --log log flow.yaml
			tail -n +1 work/read.*
			[ "$(cat work/read.? | sort -u)" = "$expected " ]
			[ "$(wc -l work/read.? | tail -n 1 | tr -dc 0-9)" = 4 ]
			leat replay flow.yaml log
		done <<-END
			1 1 2 3 4 5 6
			2 2 4 6
		END
		versions latest '20 0 150' 'nwriters: 4'
		PACE=0.05 timeout 60 leat run --log log flow.yaml
		tail -n +1 work/read.*
		[ "$(sort -u work/read.? | wc -l)" = 1 ]
		[[ $(cat work/read.0) == *'6 ' ]]
		leat replay flow.yaml log
	done
}

@test "some ranks read versions for all by MPI-IO" {
	local kind
	# Open MPI's shared file pointers, which are not used, cannot be had everywhere.
	export OMPI_MCA_sharedfp=individual
	for kind in openmpi mpich; do
		with $kind collective
		versions 1 6
		# 64 KiB of the digit.
		sed -i 's/echo \\*$i >x/printf %65536s | tr " " $i >x/; s/read\.\*/none*/' flow.yaml
		run -0 timeout 60 leat run flow.yaml
		echo "$output"
		[ "$(grep -o 'all [0-9]' <<<"$output" | tr '\n' ' ')" = 'all 1 all 2 all 3 all 4 all 5 all 6 ' ]
		[[ $output != *'not all'* ]]
	done
}

@test "rank 0 reads versions for all" {
	local kind
	for kind in openmpi mpich; do
		with $kind versions
		versions 1 '0 1'
		timeout 60 leat run flow.yaml
		[ "$(cat work/read.?)" = '1 2 3 4 5 6 ' ]
	done
}

@test "a rank that comes too late for the versions" {
	local kind
	for kind in openmpi mpich; do
		with $kind versions
		versions 1 '0 0 0 4'
		run timeout 60 leat run --log log flow.yaml
		echo "$output"
		[ "$status" != 0 ]
		[[ $output =~ 'rank 3 of step use opens x for the first time after x (version '[3456]'), which the other ranks have read, has gone: give the step "nwriters: 4"' ]]
		[ "$(grep -c 'rank 3 of step use opens' <<<"$output")" = 1 ]
		leat replay flow.yaml log
	done
}

@test "versions are for the ranks that do I/O, and a rank that ends holds nobody up" {
	local kind
	cat >reader <<-'END'
		rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		[ $rank != 1 ] || { cat x >read.1; exit; }
		while cat x; do :; done >read.$rank 2>/dev/null
		true
	END
	for kind in openmpi mpich; do
		with $kind
		program="sh ../reader"
		versions 1 '' 'nwriters: 4'
		timeout 60 leat run flow.yaml
		[ "$(tr '\n' ' ' <work/read.0)" = '1 2 3 4 5 6 ' ]
		[ "$(cat work/read.1)" = 1 ]
		cmp work/read.0 work/read.2
		cmp work/read.0 work/read.3
		program='cat x'
		versions 1 '' 'nwriters: 1'
		run timeout 60 leat run flow.yaml
		echo "$output"
		[ "$status" != 0 ]
		[[ $output =~ 'rank '[123]' of step use opens x to read its versions, but only its ranks below 1 do I/O' ]]
	done
}

@test "no launcher, and one that is not there" {
	printf '%s\n' 'name: mpi' 'dir: work' 'tasks:' '  - {func: a, nprocs: 2, exec: "true", outports: [{filename: x}]}' >flow.yaml
	run -127 leat run --mpi-launcher 'no-such-launcher -x' flow.yaml
	[[ $output == *'the MPI launcher no-such-launcher was not found'* ]]
	mkdir bin
	ln -s "$(command -v leat)" "$(command -v true)" bin
	PATH=$PWD/bin run -127 leat run flow.yaml
	[[ $output == *'no MPI launcher was found'* ]]
	[ ! -e work/x ]
}
