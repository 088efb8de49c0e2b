#!/bin/bash
# batch.sh DIR: the steps of workflow.yaml one after the other on plain files, in a prepared DIR.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
cd "${1:?usage: batch.sh DIR}"
step fastp fastp -w 1 -i r1.fq -I r2.fq -o t1.fq -O t2.fq
step bwa bwa mem -t 1 -o aln.sam ref.fa t1.fq t2.fq
step fixmate samtools fixmate -@ 0 -m aln.sam fm.bam
step sort bash -c 'cat fm.bam | samtools sort -@ 0 -o s.bam -'
step markdup bash -c 'cat s.bam | samtools markdup -@ 0 - md.bam'
step mpileup bcftools mpileup -f ref.fa -Ob -o p.bcf md.bam
step call bash -c 'cat p.bcf | bcftools call -mv --ploidy 1 -Ob -o c.bcf -'
step norm bcftools norm -f ref.fa -Ob -o n.bcf c.bcf
step filter bcftools filter -i 'QUAL>20' -Oz -o f.vcf.gz n.bcf
step stats bash -c 'bcftools stats f.vcf.gz >stats.txt'
