# Workflows of steps that are scripts, run as a batch and streamed. `load steps` after `load helper`.
# shellcheck shell=bash

# step NAME INPORTS OUTPORTS: a step of flow.yaml, whose script stdin is.
step() {
	[ -e flow.yaml ] || printf 'name: flow\ndir: work\npermanent: ["**"]\ntasks:\n' >flow.yaml
	cat >"$1.sh"
	echo "$1" >>order
	cat >>flow.yaml <<-END
		  - func: $1
		    exec: ${launcher:-} bash $PWD/$1.sh
		    inports: [$2]
		    outports: [$3]
	END
}

# Until the consumer has looked: what it has seen is outside of the workflow's directory.
# shellcheck disable=SC2034 # of those who load this
looked="until [ -s ../seen ]; do sleep 0.02; done"

# begin: no steps yet.
begin() {
	rm -rf work batch flow.yaml order ./*.sh
	mkdir work batch
}

# run_both: as a batch in `batch`, streamed in `work`, whose directories and files are then the same, modes included.
run_both() {
	local name
	while read -r name; do (cd batch && bash "../$name.sh"); done <order
	timeout 60 leat run -q flow.yaml 2>log || { cat log; return 1; }
	cat log
	diff -r --no-dereference batch work
	diff <(cd batch && find . -printf '%p %y %m\n' | sort) <(cd work && find . -printf '%p %y %m\n' | sort)
}

# each_way FUNCTION: with the library alone, and behind a mount.
each_way() {
	local launcher
	for launcher in "" "env LEAT_INTERCEPT=mount"; do
		[ -z "$launcher" ] || [ -c /dev/fuse ] || continue
		begin
		"$1"
	done
}
