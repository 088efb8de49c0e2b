#!/bin/bash
# compare.sh A B: compare the outputs of two runs. The results are compared byte for byte;
# traj.zst stands for the trajectory, which is temporary under leat. The logs hold timings
# (loop and wall time, percentages, CPU use) and what OMP_NUM_THREADS was, which are left out.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
a=${1:?usage: compare.sh A B} b=${2:?usage: compare.sh A B}

without_timings() {
	sed -E -e '/^(Loop time|Total wall time|Performance:|[0-9.]+% CPU)/d' \
		-e '/^MPI task timing breakdown/,/^Other/d' \
		-e '/^Per MPI rank memory|^ *[a-z_]+ CPU = |^OMP_NUM_THREADS/d'
}

same "$a" "$b" rdf.txt profile.txt traj.zst
same_through "$a" "$b" without_timings log.run log.rerun
compare_end
