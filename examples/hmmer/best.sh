#!/bin/bash
# The best hit of each database sequence, and the names of these sequences.
export LC_ALL=C
grep -v '^#' hs.tbl | sort -k1,1 -k6,6gr | awk '!seen[$1]++' >best.tsv
cut -d' ' -f1 best.tsv >ids
