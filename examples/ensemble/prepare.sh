#!/bin/bash
# prepare.sh DIR [--small] [--steps N]: put the inputs and workflow.yaml into DIR.
# Full size: 8 simulations of 2,048 atoms, 600 steps, 30 snapshots each. --small: 500 atoms, 120 steps.
# There is no data to fetch: the simulations make their own (--data is accepted and ignored).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
prepare_arguments "$@"
need lmp gawk paste
cells=8
[ -n "$small" ] && cells=5
[ -n "$steps" ] || steps=$([ -n "$small" ] && echo 120 || echo 600)
cp "$here/workflow.yaml" "$here/count.awk" "$dir/"
sed -e "s/^variable cells .*/variable cells index $cells/" \
	-e "s/^variable steps .*/variable steps index $steps/" "$here/in.melt" >"$dir/in.melt"
