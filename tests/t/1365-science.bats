#!/usr/bin/env bats
# Programs and libraries of the sciences, each with its own way of writing a file or reading one: truncating it first,
# renaming it, rewriting its header, locking it, mapping it.
bats_require_minimum_version 1.5.0
load helper
load pair

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	nothing_left
}

# need_python MODULE
need_python() {
	/usr/bin/python3 -c "import $1" 2>/dev/null || skip "/usr/bin/python3 has no $1"
}

@test "np.savetxt truncates, closes, and writes then; np.save; np.savez renames; np.load maps" {
	need_python numpy
	both text.txt array.npy arrays.npz <<-'END'
		/usr/bin/python3 -c '
		import numpy, os, time
		a = numpy.arange(60000.).reshape(300, 200)
		numpy.savetxt("text.txt", a)
		numpy.save("array.npy", a)
		numpy.savez("part.npz", a=a, b=a + 1)
		os.rename("part.npz", "arrays.npz")'
		---
		/usr/bin/python3 -c '
		import numpy
		a = numpy.loadtxt("text.txt")
		m = numpy.load("array.npy", mmap_mode="r")
		z = numpy.load("arrays.npz")
		print(a.sum(), m.sum(), m[-1, -1], z["a"].sum(), z["b"].sum(),
		      numpy.fromfile("array.npy", offset=m.offset).sum(), file=open("out", "w"))'
	END
}

@test "np.memmap writes a mapping" {
	need_python numpy
	pair update <<-'END'
		/usr/bin/python3 -c '
		import numpy
		m = numpy.memmap("data", dtype="i4", mode="w+", shape=(700, 1000))
		m[:] = numpy.arange(700)[:, None]
		m.flush()'
		---
		md5sum < data > out
		stat -c %s data >> out
	END
}

@test "HDF5 rewrites its start, and locks: h5py, h5repack, h5dump" {
	need h5repack h5dump
	need_python h5py
	pair update data.h5 <<-'END'
		/usr/bin/python3 -c '
		import h5py, numpy
		with h5py.File("data.h5", "w") as f:
		    d = f.create_dataset("x", data=numpy.arange(50000.), chunks=(1000,), compression="gzip")
		    d.attrs["unit"] = "m"
		with h5py.File("data.h5", "a") as f:
		    f["y"] = f["x"][:] * 2'
		---
		h5repack -f GZIP=9 data.h5 repacked.h5
		/usr/bin/python3 -c '
		import h5py
		for name in "data.h5", "repacked.h5":
		    with h5py.File(name) as f:
		        print(f["x"].attrs["unit"], f["x"][:].sum(), f["y"][-1])' > out
		h5dump -H data.h5 | grep -c DATASET >> out
		rm repacked.h5
	END
}

@test "HDF5 in one step: a second writer is refused" {
	need_python h5py
	pair update data.h5 log <<-'END'
		/usr/bin/python3 -c '
		import h5py, subprocess
		f = h5py.File("data.h5", "w")
		f["x"] = 1
		print(subprocess.run(["/usr/bin/python3", "-c", "import h5py; h5py.File(\"data.h5\", \"r+\")"],
		                     stderr=subprocess.DEVNULL).returncode, file=open("log", "w"))
		f.close()'
		---
		cat log > out
	END
	[ "$(cat pair/batch)" = 1 ]
}

@test "netCDF: ncgen, and nco, which moves a temporary file" {
	need ncgen ncks ncap2 ncdump
	pair update data.nc part.nc <<-'END'
		cat > x.cdl <<-'CDL'
		netcdf x { dimensions: t = UNLIMITED; variables: float a(t); data: a = 1, 2, 3, 4, 5; }
		CDL
		ncgen -o data.nc x.cdl
		ncap2 -O -h -s 'b=a*2' data.nc data.nc
		ncks -O -h -d t,1,3 data.nc part.nc
		rm x.cdl
		---
		ncdump data.nc > out
		ncks -H part.nc >> out
	END
}

@test "ImageMagick creates its output empty" {
	local convert=/usr/bin/convert-im6.q16
	[ -x $convert ] || convert=/usr/bin/convert-im7.q16
	need $convert "${convert/convert/identify}"
	both a.png b.ppm <<-END
		$convert -size 300x200 gradient:red-blue a.ppm
		$convert a.ppm b.ppm
		$convert a.ppm -define png:exclude-chunks=date,time a.png
		rm a.ppm
		---
		$convert a.png -rotate 90 rgb:- | md5sum > out
		md5sum < b.ppm >> out
		${convert/convert/identify} -format '%f %wx%h %m\n' a.png b.ppm >> out
	END
}

@test "ripgrep maps what it searches" {
	need rg
	pair update <<-'END'
		seq 300000 > data
		---
		rg --mmap -c '99' data > out
		rg --no-mmap -c '99' data >> out
		rg -N '^29999.$' . --sort path -g data >> out
	END
}

@test "blast: makeblastdb rewrites headers, blastp maps its files" {
	need makeblastdb blastp
	pair update q.fa db.phr db.pin db.psq db.pdb db.pot db.ptf db.pto <<-'END'
		awk 'BEGIN { srand(7); for (i = 1; i <= 300; i++) { printf ">s%d\n", i; for (j = 0; j < 120; j++)
			printf "%s", substr("ACDEFGHIKLMNPQRSTVWY", int(rand() * 20) + 1, 1); print "" } }' > all.fa
		awk '/^>/ { n++ } n % 60 == 0' all.fa > q.fa
		makeblastdb -in all.fa -dbtype prot -out db >/dev/null
		rm -f all.fa db.pjs
		---
		blastp -query q.fa -db db -outfmt 6 > out
	END
	[ "$(grep -c 100.000 pair/batch)" = 5 ]
}

@test "diamond rewrites the header at the end" {
	need diamond
	pair update q.fa db.dmnd <<-'END'
		awk 'BEGIN { srand(7); for (i = 1; i <= 100; i++) { printf ">s%d\n", i; for (j = 0; j < 120; j++)
			printf "%s", substr("ACDEFGHIKLMNPQRSTVWY", int(rand() * 20) + 1, 1); print "" } }' > q.fa
		diamond makedb --quiet --in q.fa -d db
		---
		diamond blastp --quiet -p 1 -q q.fa -d db -o hits --outfmt 6
		sort hits > out
		rm hits
	END
}

@test "GNU parallel: jobs on one offset, and one output" {
	need parallel
	both <<-'END'
		export HOME=$PWD PARALLEL_HOME=$PWD/.parallel
		mkdir -p .parallel
		touch .parallel/will-cite
		seq 60 | parallel -j 4 --tmpdir "$PWD" echo job {} > data
		rm -r .parallel
		---
		sort -k 2n data | md5sum > out
		wc -l < data >> out
	END
}

@test "mp4, wav and others: the header is written last" {
	need_python wave
	pair update data.wav <<-'END'
		/usr/bin/python3 -c '
		import wave, struct
		with wave.open("data.wav", "wb") as w:
		    w.setnchannels(1); w.setsampwidth(2); w.setframerate(8000)
		    for i in range(200):
		        w.writeframes(struct.pack("<100h", *range(i, i + 100)))'
		---
		/usr/bin/python3 -c '
		import wave
		w = wave.open("data.wav")
		print(w.getnframes(), sum(w.readframes(10**6)))' > out
	END
}

@test "inputs staged by symlinks, into a directory of its own, as cwltool does" {
	both raw.txt <<-'END'
		mkdir -p stage
		seq 1000 > real.txt
		ln -s "$PWD/real.txt" stage/in.txt
		(cd stage && sort -rn in.txt > out.txt)
		mv stage/out.txt raw.txt
		rm -r stage real.txt
		---
		mkdir -p job
		ln -s "$PWD/raw.txt" job/in.txt
		(cd job && head -n 3 in.txt > ../out && readlink -f in.txt | sed 's|.*/||' >> ../out)
		rm -r job
	END
}

@test "sqlite: a step's own writers and readers exclude each other" {
	need sqlite3
	pair update data.db <<-'END'
		sqlite3 data.db 'create table t(a integer primary key, b)'
		for i in 1 2 3 4; do
			for j in 1 2 3 4 5; do
				sqlite3 -cmd '.timeout 20000' data.db "insert into t(b) select count(*) from t" || exit 1
			done &
		done
		wait
		---
		sqlite3 -readonly data.db 'select count(*), count(distinct b), sum(b) from t; pragma integrity_check' > out
	END
}

@test "bgzip and BCF: the end is looked at first" {
	need bcftools bgzip tabix
	pair update data.vcf.gz data.bcf <<-'END'
		{ printf '##fileformat=VCFv4.2\n##contig=<ID=1,length=100000>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
		for i in $(seq 3000); do printf '1\t%d\t.\tA\tC\t50\tPASS\t.\n' $((i * 7)); done; } > x.vcf
		bgzip < x.vcf > data.vcf.gz
		bcftools view --no-version -O b -o data.bcf x.vcf
		rm x.vcf
		---
		bcftools view --no-version -H data.bcf | md5sum > out
		bcftools view --no-version -H data.vcf.gz | wc -l >> out
		bcftools query -f '%POS\n' data.bcf | tail -n 1 >> out
		cat data.vcf.gz | bgzip -d | wc -l >> out
	END
}

@test "reflinks are tried first: cp, mv, python, node" {
	need node
	pair update one two three <<-'END'
		seq 20000 > first
		cp --reflink=auto first one
		/usr/bin/python3 -c 'import shutil; shutil.copyfile("one", "two")'
		node -e 'require("fs").copyFileSync("two", "three", require("fs").constants.COPYFILE_FICLONE)'
		rm first
		---
		md5sum one two three > out
	END
}

@test "gzip and tar set mode and time after the data" {
	pair update data.gz back <<-'END'
		seq 3000 > data
		chmod 640 data
		touch -d '2001-02-03 04:05:06' data
		gzip data
		mkdir t
		seq 10 > t/back
		chmod 604 t/back
		touch -d '2002-02-03 04:05:06' t/back
		tar cf t.tar -C t back
		tar xf t.tar
		rm -r t t.tar
		---
		stat -c '%n %a %Y' data.gz back > out
	END
}
