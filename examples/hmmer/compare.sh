#!/bin/bash
# compare.sh A B: compare the outputs of two runs. HMMER writes when, where and how fast it ran
# into its outputs, and hmmbuild the date into each profile; these lines are left out:
#   profiles   DATE
#   reports    "# CPU time", "# Mc/sec", and "# Current dir", "# Date" at the end of tables
# Everything else is compared byte for byte.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
a=${1:?usage: compare.sh A B} b=${2:?usage: compare.sh A B}

without_dates() {
	grep -vE '^(DATE |# CPU time: |# Mc/sec: |# Current dir: |# Date: )'
}

same "$a" "$b" best.tsv hits.fa
same_through "$a" "$b" without_dates p1.tbl p2.tbl p1.out p2.out b1.out b2.out lib.hmm \
	hs.tbl hs.dom hs.out
compare_end
