# A producer and a consumer, run as a batch and streamed. `load pair` after `load helper`.
# shellcheck shell=bash

# pair MODE [FILE...]: stdin is two scripts with a line "---" between them: the producer writes
# `data` (or the FILEs), the consumer reads it and writes `out`. Runs both ways, and fails unless
# `out` is the same. $pair_port is put into each port of the producer ("committed: on_close"),
# $pair_options are given to the streamed run.
pair() {
	local mode=$1 name ports='' inports=''
	shift
	[ $# -gt 0 ] || set -- data
	rm -rf pair
	mkdir -p pair/work
	awk '/^---$/ { f = "pair/consume"; next } { print > f }' f=pair/produce -
	for name in "$@"; do
		ports+="{filename: '$name', mode: $mode${pair_port:+, $pair_port}}, "
		inports+="{filename: '$name'}, "
	done
	cat >pair/flow.yaml <<-END
		name: pair
		dir: work
		tasks:
		  - func: produce
		    exec: bash -eu ../produce
		    outports: [$ports]
		  - func: consume
		    exec: bash -eu ../consume
		    inports: [$inports]
		    outports: [{filename: out}]
	END
	(cd pair && timeout 60 leat run --plain flow.yaml) || return 1
	mv pair/work/out pair/batch
	rm -rf pair/work
	mkdir pair/work
	# shellcheck disable=SC2086 # several words
	(cd pair && timeout 60 leat run ${pair_options:-} --log log flow.yaml) || return 1
	diff pair/batch pair/work/out || return 1
	(cd pair && leat replay flow.yaml log) || return 1
}

# both [FILE...]: pair in both modes.
both() {
	local text
	text=$(cat)
	echo "# update"
	pair update "$@" <<<"$text" || return 1
	echo "# no_update"
	pair no_update "$@" <<<"$text"
}

# scripts PORTS INPORTS: flow.yaml of two scripts, which stdin has with a line "---" between them; the second makes
# `out`. No INPORTS: the first alone.
scripts() {
	: >consume
	awk '/^---$/ { f = "consume"; next } { print > f }' f=produce -
	cat >flow.yaml <<-END
		name: flow
		dir: work
		tasks:
		  - func: produce
		    exec: bash -eu ../produce
		    outports: [$1]
	END
	[ -z "$2" ] || cat >>flow.yaml <<-END
		  - func: consume
		    exec: bash -eu ../consume
		    inports: [$2]
		    outports: [{filename: out}]
	END
}

# same [OPTION...]: what flow.yaml makes as a batch, it makes streamed.
same() {
	timeout 120 leat run --plain flow.yaml || return 1
	mv work/out batch
	rm -rf work made
	mkdir work
	timeout 120 leat run --log log "$@" flow.yaml || return 1
	diff batch work/out || return 1
	leat replay flow.yaml log
}
