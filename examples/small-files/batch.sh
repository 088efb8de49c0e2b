#!/bin/bash
# batch.sh DIR: the steps of workflow.yaml one after the other on plain files, in a prepared DIR.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
cd "${1:?usage: batch.sh DIR}"
step split seqkit split2 --quiet -j 1 -s 2 -O parts db.fa
step sha bash -c 'find parts -name "*.fa" | sort | xargs -n 200 sha256sum >sums'
step stats bash -c 'find parts -name "*.fa" | sort | xargs -n 500 seqkit stats -j 1 -T >stats.tsv'
step gzip bash -c 'find parts -name "*.fa" -print0 | sort -z | xargs -0 -n 1 gzip -k'
step tar tar cf gz.tar --sort=name '--exclude=*.fa' parts
step untar bash -c 'mkdir u && tar xf gz.tar -C u'
step gunzip bash -c 'find u -name "*.gz" -print0 | xargs -0 -n 100 gunzip'
step verify bash -c 'cd u && sha256sum --quiet -c ../sums'
