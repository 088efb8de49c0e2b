#!/bin/bash
# batch.sh DIR: the steps of workflow.yaml one after the other on plain files, in a prepared DIR.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
cd "${1:?usage: batch.sh DIR}"
step head bash -c 'seqkit head -n 60 query.fa >q.fa'
step split seqkit split2 --quiet -j 1 -p 2 -O q q.fa
for i in 1 2; do
	step phmmer$i phmmer --cpu 0 --noali -A a$i.sto --tblout p$i.tbl -o p$i.out \
		q/q.part_00$i.fa db.fa
done
for i in 1 2; do
	step hmmbuild$i bash -c \
		"hmmbuild --informat stockholm --cpu 0 -o b$i.out l$i.hmm - <a$i.sto"
done
step gather bash -c 'cat l1.hmm l2.hmm | cat >lib.hmm'
step hmmsearch hmmsearch --cpu 0 --noali --tblout hs.tbl --domtblout hs.dom -o hs.out lib.hmm db.fa
step best bash best.sh
step fetch seqkit grep -j 1 -f ids -o hits.fa db.fa
