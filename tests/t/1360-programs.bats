#!/usr/bin/env bats
# Real programs, each with its own way of reading and writing, on both ends of a stream.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

@test "compressors: gzip, bzip2, xz, zstd" {
	need gzip bzip2 xz zstd
	both data.gz data.bz2 data.xz data.zst <<-'END'
		seq 50000 | gzip > data.gz
		seq 50000 | bzip2 > data.bz2
		seq 50000 > plain
		xz -0 < plain > data.xz
		zstd -q plain -o data.zst
		rm plain
		---
		gzip -dc data.gz | md5sum > out
		bzip2 -dc data.bz2 | md5sum >> out
		xz -dc data.xz | md5sum >> out
		zstd -q -dc data.zst | md5sum >> out
		xz -l data.xz | awk 'NR == 2 { print $5, $6 }' >> out
	END
}

@test "archives: zip, tar, ar" {
	need zip unzip ar
	pair update data.zip data.tar data.a <<-'END'
		seq 10000 > one
		seq 20000 > two
		zip -q data.zip one two
		tar cf data.tar one two
		tar rf data.tar one
		ar rc data.a one two
		rm one two
		---
		unzip -p data.zip | md5sum > out
		tar tf data.tar >> out
		tar xOf data.tar two | md5sum >> out
		ar p data.a one | md5sum >> out
	END
}

@test "a database: sqlite3" {
	need sqlite3
	pair update data.db <<-'END'
		sqlite3 data.db 'create table t(a, b); begin; insert into t values (1, "x"), (2, "y"); commit;'
		sqlite3 data.db 'insert into t select a + 2, b from t;'
		---
		sqlite3 -readonly data.db 'select sum(a), count(*) from t' > out
	END
}

@test "text tools: split, csplit, paste, join, comm, tac, shuf, tee, od, cut, file" {
	need file
	both a b <<-'END'
		seq 1 2 3000 | tee a > b
		seq 2 2 3000 >> b
		---
		paste a b | tail -n 2 > out
		join <(sort a) <(sort b) | wc -l >> out
		comm -12 <(sort a) <(sort b) | md5sum >> out
		tac b | head -n 1 >> out
		shuf b | sort -n | md5sum >> out
		od -c a | head -n 2 >> out
		cut -c 1 b | sort | uniq -c >> out
		split -l 1000 b part.
		cat part.* | cmp - b && echo same >> out
		csplit -s -f piece. b 100 200
		wc -l piece.* >> out
		rm part.* piece.*
		file -b a >> out
		xxd b | tail -n 1 >> out
	END
}

@test "git and make and gcc in the directory" {
	need git make gcc
	pair update prog.c Makefile <<-'END'
		printf '#include <stdio.h>\nint main(void) { puts("made"); return 0; }\n' > prog.c
		printf 'prog: prog.c\n\tgcc -O0 -o prog prog.c\n' > Makefile
		---
		make -s
		./prog > out
		make -q && echo "up to date" >> out
		rm prog
		git init -q repo
		cd repo
		cp ../prog.c .
		git add prog.c
		git -c user.name=a -c user.email=b commit -q -m x
		git status --short >> ../out
		git show --stat --format=%s | head -n 1 >> ../out
		cd ..
		rm -rf repo
	END
}

@test "java: streams, channels, mappings" {
	need java
	both <<-'END'
		for i in 1 2 3; do seq 10000; sleep 0.05; done > data
		---
		cat > R.java <<'JAVA'
		import java.io.*; import java.nio.*; import java.nio.channels.*; import java.nio.file.*;
		public class R { public static void main(String[] a) throws Exception {
		  long n = 0; int c; try (InputStream s = new BufferedInputStream(new FileInputStream("data"))) { while ((c = s.read()) >= 0) n += c; }
		  System.out.println(n);
		  System.out.println(Files.readAllBytes(Path.of("data")).length);
		  try (FileChannel f = FileChannel.open(Path.of("data"))) { MappedByteBuffer m = f.map(FileChannel.MapMode.READ_ONLY, 0, f.size()); System.out.println(m.capacity()); }
		  System.out.println(Files.lines(Path.of("data")).count());
		} }
		JAVA
		java -XX:-UsePerfData -Xshare:auto R.java > out
		rm R.java
	END
}

@test "node: streams, readFile, copyFile" {
	need node
	both <<-'END'
		for i in 1 2 3; do seq 10000; sleep 0.05; done > data
		---
		node -e 'let n = 0; require("fs").createReadStream("data").on("data", d => n += d.length)
			.on("end", () => console.log(n));' > out
		node -e 'const fs = require("fs"); console.log(fs.readFileSync("data").length);
			fs.readFile("data", (e, d) => { console.log(d.length); fs.copyFileSync("data", "copy");
			console.log(fs.statSync("copy").size); fs.unlinkSync("copy"); });' >> out
	END
}

@test "openssl, sha256sum, perl's File::Copy, tclsh" {
	need openssl perl tclsh
	both <<-'END'
		openssl enc -aes-128-cbc -k x -pbkdf2 -S 0011223344556677 -in /etc/passwd -out data
		---
		openssl enc -d -aes-128-cbc -k x -pbkdf2 -S 0011223344556677 -in data | cmp - /etc/passwd && echo same > out
		perl -MFile::Copy -e 'copy("data", "copy") or die; move("copy", "moved") or die'
		cmp data moved && echo copied >> out
		rm moved
		sha256sum data >> out
		echo 'set f [open data rb]; puts [string length [read $f]]' | tclsh >> out
	END
}

@test "samtools, bcftools, bgzip and indexes" {
	need samtools
	pair update ref.fa data.bam <<-'END'
		printf '>r\n%s\n' "$(head -c 1000 /dev/zero | tr '\0' A)" > ref.fa
		{ printf '@SQ\tSN:r\tLN:1000\n'; for i in $(seq 200); do printf 'q%d\t0\tr\t%d\t60\t10M\t*\t0\t0\tAAAAAAAAAA\tIIIIIIIIII\n' $i $((i * 4)); done; } |
			samtools view -b --no-PG -o data.bam -
		---
		samtools view data.bam | md5sum > out
		samtools index data.bam idx.bai
		samtools view -X data.bam idx.bai r:100-200 | wc -l >> out
		samtools flagstat data.bam | head -n 1 >> out
		samtools faidx ref.fa --fai-idx ref.idx r:1-10 >> out
		rm idx.bai ref.idx
	END
}
