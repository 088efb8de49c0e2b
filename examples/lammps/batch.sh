#!/bin/bash
# batch.sh DIR: the steps of workflow.yaml one after the other on plain files, in a prepared DIR.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
cd "${1:?usage: batch.sh DIR}"
step md lmp -screen none -in in.run -log log.run
step rerun lmp -screen none -in in.rerun -log log.rerun
step profile bash profile.sh
step archive zstd -q -6 traj.lammpstrj -o traj.zst
