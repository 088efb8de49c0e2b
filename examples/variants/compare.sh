#!/bin/bash
# compare.sh A B: compare the outputs of two runs.
#   md.bam      every alignment, and the header without its @PG lines, which record the
#               command lines and versions of the programs
#   f.vcf.gz    every record, and the header without ##bcftools_*Command, which records the
#               command line and the date
#   stats.txt   without the comment lines that name the program and its command line
#   fastp.json  all of it; fastp.html, which shows the same figures and the date, is not compared
# The compressed containers are compared byte for byte first; they are equal when the command
# lines were.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
a=${1:?usage: compare.sh A B} b=${2:?usage: compare.sh A B}

alignments() {
	samtools view -h --no-PG - | grep -v '^@PG'
}
records() {
	zcat | grep -vE '^##bcftools_[a-z]+(Command|Version)='
}
without_command() {
	grep -vE '^# (This file was produced by|The command line was)'
}

if cmp -s "$a/md.bam" "$b/md.bam"; then
	echo "identical: md.bam"
else
	same_through "$a" "$b" alignments md.bam
fi
same_through "$a" "$b" records f.vcf.gz
same_through "$a" "$b" without_command stats.txt
same "$a" "$b" fastp.json
compare_end
