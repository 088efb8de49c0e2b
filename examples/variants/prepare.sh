#!/bin/bash
# prepare.sh DIR [--small] [--data PATH]: put the inputs and workflow.yaml into DIR.
# The reference is the E. coli genome of the Debian package bowtie-examples, the reads are
# simulated from it by dwgsim with one variant in 200 bases; or ref.fa, r1.fq and r2.fq of PATH.
# Full size: 4.9 Mb, 150,000 pairs. --small: 200 kb, 5,000 pairs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
prepare_arguments "$@"
need fastp bwa samtools bcftools

simulate() {
	need dwgsim
	local genome pairs=150000 bases=100000000
	[ -n "$small" ] && pairs=5000 bases=200000
	genome=$(package_file bowtie-examples \
		/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz)
	zcat "$genome" | awk -v max=$bases '
		/^>/ {print ">NC_008253.1"; next}
		n + length($0) <= max {print; n += length($0)}' >"$dir/ref.fa"
	(
		cd "$dir"
		dwgsim -z 1 -N $pairs -1 100 -2 100 -d 480 -r 0.005 ref.fa sim >sim.log 2>&1 ||
			die "dwgsim failed, see $dir/sim.log"
		for i in 1 2; do zcat sim.bwa.read$i.fastq.gz >r$i.fq; done
		rm -f sim.*
	)
}

if [ -z "$data" ]; then
	simulate
else
	for f in ref.fa r1.fq r2.fq; do
		[ -r "$data/$f" ] || die "$data has no $f"
		cp "$data/$f" "$dir/"
	done
	chmod u+w "$dir"/*.f[aq]
	if [ -n "$small" ]; then
		for i in 1 2; do head -n 20000 "$data/r$i.fq" >"$dir/r$i.fq"; done
	fi
fi
cp "$here/workflow.yaml" "$dir/"
cd "$dir"
bwa index ref.fa 2>index.log || die "bwa index failed, see $dir/index.log"
samtools faidx ref.fa
rm -f index.log
