#!/usr/bin/env bats
# Random producers and consumers: whatever the order and the calls, the bytes are the batch's.
bats_require_minimum_version 1.5.0
load helper

setup() {
	[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
	cd "$BATS_TEST_TMPDIR" || return 1
	scripts=$LEAT_SOURCE_DIR/tests/hooks
}

# step NAME SCRIPT ARGUMENTS PORTS
step() {
	echo "  - func: $1"
	echo "    exec: /usr/bin/python3 -B $scripts/$2.py $3"
	echo "    $4"
}

# workflow SEED MODE
workflow() {
	echo "name: random"
	echo "dir: work"
	echo "tasks:"
	step produce random_produce "$1" "outports: [{filename: data, mode: $2}]"
	for n in 1 2 3; do
		step "consume$n" random_consume "$1 $n" "inports: [{filename: data}]"
		echo "    outports: [{filename: out$n}]"
	done
}

# tree SEED MODE
tree() {
	echo "name: random"
	echo "dir: work"
	echo "tasks:"
	step produce random_make_tree "$1" "outports: [{filename: d/, mode: $2}]"
	step consume random_read_tree "" "inports: [{filename: d/}]"
	echo "    outports: [{filename: out}]"
}

# seeds FIRST LAST MODE WORKFLOW
seeds() {
	local seed
	for seed in $(seq "$1" "$2"); do
		one_in 3 || continue
		echo "# seed $seed"
		"$4" "$seed" "$3" >flow.yaml
		rm -rf work batch
		mkdir work
		timeout 60 leat run --plain flow.yaml || return 1
		rm -rf work/data work/d
		mv work batch
		mkdir work
		timeout 60 leat run --log log flow.yaml || return 1
		diff -r batch work || return 1
		leat replay flow.yaml log || return 1
	done
}

@test "one file, update" { seeds 1 10 update workflow; }
@test "one file, no_update" { seeds 1 30 no_update workflow; }
@test "a tree of names, update" { seeds 1 10 update tree; }
@test "a tree of names, no_update" { seeds 1 20 no_update tree; }
