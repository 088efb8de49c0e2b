#!/bin/bash
# prepare.sh DIR [--small] [--steps N]: put the inputs and workflow.yaml into DIR.
# Full size: 32,000 atoms, 1000 steps, a trajectory of 191 MB. --small: 2,048 atoms, 100 steps.
# There is no data to fetch: the simulation makes its own (--data is accepted and ignored).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
prepare_arguments "$@"
need lmp zstd awk
cells=20
[ -n "$small" ] && cells=8
[ -n "$steps" ] || steps=$([ -n "$small" ] && echo 100 || echo 1000)
cp "$here/workflow.yaml" "$here/profile.sh" "$dir/"
for input in in.run in.rerun; do
	sed -e "s/^variable cells .*/variable cells index $cells/" \
		-e "s/^variable steps .*/variable steps index $steps/" "$here/$input" >"$dir/$input"
done
