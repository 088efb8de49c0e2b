# Shared by the scripts of the examples; sourced, not run.
# shellcheck shell=bash
export LC_ALL=C OMP_NUM_THREADS=1

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# prepare_arguments "$@": sets dir (made, absolute), small (1 or empty), data and, from
# --steps, steps. Usage of every prepare.sh: DIR [--small] [--data PATH] [--steps N]
# shellcheck disable=SC2034 # they are read by the scripts that source this
prepare_arguments() {
	dir='' small='' data='' steps=''
	while [ $# -gt 0 ]; do
		case "$1" in
		--small) small=1 ;;
		--data | --steps)
			[ $# -ge 2 ] || die "$1 needs a value"
			if [ "$1" = --data ]; then data=$(cd "$2" && pwd) || exit 1; else steps=$2; fi
			shift
			;;
		-*) die "usage: $0 DIR [--small] [--data PATH] [--steps N]" ;;
		*) dir=$1 ;;
		esac
		shift
	done
	[ -n "$dir" ] || die "usage: $0 DIR [--small] [--data PATH] [--steps N]"
	mkdir -p "$dir" || exit 1
	dir=$(cd "$dir" && pwd)
}

need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || die "$program is missing; run: make deps"
	done
}

# package_file PACKAGE PATH: print where PATH of a Debian package is, downloading the package
# (not installing it) where it is not installed or its documentation was left out. Needs no root.
package_file() {
	local package=$1 path=$2
	local cache=${LEAT_EXAMPLE_CACHE:-${TMPDIR:-/tmp}/leat-example-packages-$(id -u)}
	if [ -r "$path" ]; then
		echo "$path"
		return
	fi
	if ! mkdir -p "$cache" || [ ! -O "$cache" ]; then die "cannot use the directory $cache"; fi
	if [ ! -r "$cache/$package$path" ]; then
		if ! (cd "$cache" && rm -f "$package"_*.deb && apt-get -qq download "$package" &&
			dpkg-deb -x "$package"_*.deb "$package" && rm -f "$package"_*.deb) \
			2>"$cache/$package.log"; then
			cat "$cache/$package.log" >&2
			die "cannot get the Debian package $package: apt-get download failed"
		fi
	fi
	echo "$cache/$package$path"
}

# first_records N: the first N records of a FASTA file on stdin.
first_records() {
	awk -v n="$1" '/^>/ {k++} k > n {exit} {print}'
}

# step NAME COMMAND...: one step of a batch; its time goes to steps.tsv, its output to NAME.log.
step() {
	local name=$1 begin=$EPOCHREALTIME status=0
	shift
	"$@" >"$name.log" 2>&1 || status=$?
	awk -v n="$name" -v a="$begin" -v b="$EPOCHREALTIME" \
		'BEGIN {printf "%s\t%.2f\n", n, b - a}' | tee -a steps.tsv
	[ $status = 0 ] || {
		tail -n 5 "$name.log" >&2
		die "step $name failed with status $status (its output: $PWD/$name.log)"
	}
}

# same A B NAME...: compare these files of two run directories byte for byte.
differences=0
same() {
	local a=$1 b=$2 name
	shift 2
	for name in "$@"; do
		if cmp "$a/$name" "$b/$name"; then
			echo "identical: $name"
		else
			differences=$((differences + 1))
		fi
	done
}

# same_through A B FILTER NAME...: compare what FILTER, a command reading stdin, makes of them.
# A filter that fails or leaves nothing is a difference too.
same_through() {
	local a=$1 b=$2 filter=$3 name scratch
	shift 3
	scratch=$(mktemp -d) || die "cannot make a temporary directory"
	for name in "$@"; do
		if $filter <"$a/$name" >"$scratch/a" && $filter <"$b/$name" >"$scratch/b" &&
			[ -s "$scratch/a" ] && cmp "$scratch/a" "$scratch/b"; then
			echo "identical ($filter): $name"
		else
			echo "differs ($filter): $name"
			diff "$scratch/a" "$scratch/b" | head -n 10 | cut -c 1-160
			differences=$((differences + 1))
		fi
	done
	rm -rf "$scratch"
}

# The last command of a compare.sh: exit status 0 only if nothing differed.
compare_end() {
	[ $differences = 0 ] || {
		echo "$differences outputs differ"
		exit 1
	}
}
