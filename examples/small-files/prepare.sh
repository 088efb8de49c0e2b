#!/bin/bash
# prepare.sh DIR [--small] [--data PATH]: put the input and workflow.yaml into DIR.
# The data are the 20,000 proteins of the Debian package mmseqs2-examples, or db.fa of PATH:
# 10,000 files of two. --small: 200 proteins, 100 files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
prepare_arguments "$@"
need seqkit gzip tar sha256sum xargs
if [ -n "$data" ]; then
	[ -r "$data/db.fa" ] || die "$data has no db.fa"
	cp "$data/db.fa" "$dir/db.fa"
	chmod u+w "$dir/db.fa"
else
	db=$(package_file mmseqs2-examples /usr/share/doc/mmseqs2/example-data/DB.fasta.gz)
	zcat "$db" >"$dir/db.fa"
fi
if [ -n "$small" ]; then
	first_records 200 <"$dir/db.fa" >"$dir/some.fa"
	mv "$dir/some.fa" "$dir/db.fa"
fi
cp "$here/workflow.yaml" "$dir/"
