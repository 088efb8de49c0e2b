#!/bin/bash
# batch.sh DIR: the steps of workflow.yaml one after the other on plain files, in a prepared DIR. The
# snapshots, of which only the last would be left otherwise, have names of their own ("*" is the step).
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
cd "${1:?usage: batch.sh DIR}"

# every_second NAME...: the second, the fourth...
every_second() {
	printf '%s\n' "$@" | sort -t . -k 2n | awk 'NR % 2 == 0'
}

for i in 0 1 2 3 4 5 6 7; do
	mkdir -p "melt.$i" "detect.$i"
	step "melt.$i" env -C "melt.$i" lmp -screen none -log none -var instance "$i" -var snapshot 'snapshot.*.txt' -in ../in.melt
done
for i in 0 1 2 3 4 5 6 7; do
	for snapshot in $(cd "melt.$i" && every_second snapshot.*.txt); do
		gawk -v "out=detect.$i/crystal.tsv" -f count.awk "melt.$i/$snapshot"
	done
done
step collect bash -c 'paste detect.?/crystal.tsv >left.tsv'
