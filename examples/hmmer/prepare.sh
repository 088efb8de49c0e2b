#!/bin/bash
# prepare.sh DIR [--small] [--data PATH]: put the inputs and workflow.yaml into DIR.
# The data are the 20,000 proteins and the queries of the Debian package mmseqs2-examples, or
# db.fa and query.fa of PATH. --small: 6000 proteins, 8 queries.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
prepare_arguments "$@"
need phmmer hmmbuild hmmsearch seqkit awk
if [ -z "$data" ]; then
	shared=/usr/share/doc/mmseqs2/example-data
	data=$dir/.data
	mkdir -p "$data"
	db=$(package_file mmseqs2-examples $shared/DB.fasta.gz)
	query=$(package_file mmseqs2-examples $shared/QUERY.fasta.gz)
	zcat "$db" >"$data/db.fa"
	zcat "$query" >"$data/query.fa"
fi
for f in db.fa query.fa; do [ -r "$data/$f" ] || die "$data has no $f"; done
cp "$here/workflow.yaml" "$here/best.sh" "$dir/"
if [ -n "$small" ]; then
	first_records 8 <"$data/query.fa" >"$dir/query.fa"
	first_records 6000 <"$data/db.fa" >"$dir/db.fa"
else
	cp "$data/query.fa" "$data/db.fa" "$dir/"
	chmod u+w "$dir/query.fa" "$dir/db.fa"
fi
rm -rf "$dir/.data"
