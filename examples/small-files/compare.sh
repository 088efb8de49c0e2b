#!/bin/bash
# compare.sh A B: compare the outputs of two runs. sums and stats.tsv byte for byte; sums covers
# every part, and the step verify has checked the unpacked files against it. gz.tar holds the time
# of the run in its headers and in the header of each gzip member (the input's time), so of it the
# names, their order, types, modes and sizes are compared, and each member's bytes without the
# four of the time.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
a=${1:?usage: compare.sh A B} b=${2:?usage: compare.sh A B}

members() {
	python3 -c '
import hashlib, sys, tarfile
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as tar:
    for m in tar:
        digest = "-"
        if m.isfile():
            data = tar.extractfile(m).read()
            if data[:2] == b"\x1f\x8b":
                data = data[:4] + data[8:]
            digest = hashlib.sha256(data).hexdigest()
        print(m.name, m.type.decode(), oct(m.mode), m.size, digest)
'
}

same "$a" "$b" sums stats.tsv
same_through "$a" "$b" members gz.tar
compare_end
