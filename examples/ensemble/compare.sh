#!/bin/bash
# compare.sh A B: compare the outputs of two runs: left.tsv, which holds what every detector has found, byte
# for byte. What `watch` prints is a matter of time.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
a=${1:?usage: compare.sh A B} b=${2:?usage: compare.sh A B}
same "$a" "$b" left.tsv
compare_end
