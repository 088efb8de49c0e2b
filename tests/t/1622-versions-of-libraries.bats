#!/usr/bin/env bats
# Versions that NumPy and HDF5 write in a loop: a consumer under io_freq has each in turn.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import numpy, h5py' 2>/dev/null || return 0
	done
	skip "there is no Python with numpy and h5py"
}

teardown() {
	nothing_left
}

# programs: make WAY writes six versions, use WAY prints what it reads of each.
programs() {
	cat >make.py <<-'END'
		import sys, numpy, h5py
		way = sys.argv[1]
		for i in range(6):
		    values = numpy.full(1000, i)
		    if way == "save":
		        numpy.save("x.npy", values)
		    elif way == "w" or i == 0:
		        with h5py.File("x.npy", "w") as f:
		            f["v"] = values
		    else:
		        with h5py.File("x.npy", way) as f:
		            f["v"][...] = values
	END
	cat >use.py <<-'END'
		import sys, numpy, h5py
		seen = []
		while True:
		    try:
		        if sys.argv[1] == "save":
		            values = numpy.load("x.npy")
		        else:
		            with h5py.File("x.npy", "r") as f:
		                values = f["v"][...]
		    except FileNotFoundError:
		        break
		    assert (values == values[0]).all()
		    seen.append(str(values[0]))
		print(*seen)
	END
}

# in_turn WAY: each version, and each second.
in_turn() {
	local freq expected
	programs
	while read -r freq expected; do
		rm -rf work && mkdir work
		cat >flow.yaml <<-END
			name: versions
			dir: work
			tasks:
			  - {func: make, exec: $python $PWD/make.py $1, outports: [{filename: x.npy}]}
			  - {func: use, exec: $python $PWD/use.py $1, inports: [{filename: x.npy, io_freq: $freq}]}
		END
		run -0 timeout 60 leat run flow.yaml
		echo "$output"
		grep -qE "^(\[use\] +)?$expected\$" <<<"$output"
	done <<-END
		1 0 1 2 3 4 5
		2 1 3 5
	END
}

@test "numpy.save" {
	in_turn save
}

@test "h5py: a new file each time" {
	in_turn w
}

@test "h5py: the file is written on, r+" {
	in_turn r+
}

@test "h5py: the file is written on, a" {
	in_turn a
}
