#!/usr/bin/env bats
# CAPIO-CL as CAPIO's users write it.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# flow RULE...: the writer gives `x` and waits until the reader has had it; the rules are the reader's.
flow() {
	local rules
	rules=$(IFS=,; echo "$*")
	cat >flow.json <<-END
		{"name": "flow", "permanent": ["y"], "IO_Graph": [
		  {"name": "writer", "output_stream": ["d/x"],
		   "exec": ["bash", "-c", "mkdir d; echo hello >d/x; for i in {1..300}; do test -e $BATS_TEST_TMPDIR/seen/it && exit; sleep 0.1; done; exit 9"]},
		  {"name": "reader", "input_stream": ["d/x"], "output_stream": ["y"], "streaming": [$rules],
		   "exec": ["bash", "-c", "cat d/x >y; touch $BATS_TEST_TMPDIR/seen/it"]}]}
	END
	rm -rf run seen
	mkdir run seen
	run leat run --dir run flow.json
	echo "$output"
	[ "$status" = 0 ]
	[ "$(cat run/y)" = hello ]
}

@test "a streaming entry of the reader counts: the file, the directory, the old words" {
	flow '{"name": ["d/x"], "committed": "on_close", "mode": "update"}'
	flow '{"dirname": ["d"], "committed": "on_close", "mode": "no_update", "n_files": 1}'
	flow '{"name": ["d/x"], "committed": "on_close:0", "mode": "append", "n_files": 0}'
	leat check --canonical flow.json >canonical.json
	cat canonical.json
	jq -e '.IO_Graph[1].streaming[0] | .committed == "on_close" and .mode == "no_update" and (has("n_files") | not)' canonical.json
}

@test "each spelling of CAPIO is accepted, and said" {
	cat >flow.json <<-'END'
		{"name": "flow", "version": 1.1, "exclude": ["."], "IO_Graph": [
		  {"name": "writer", "input_stream": [], "output_stream": ["a", "b", "c"], "streaming": [
		    {"name": ["a"], "committed": "on_close"},
		    {"name": ["b"], "committed": "on_close:0", "mode": "noupdate", "n_files": 3}]}]}
	END
	leat check flow.json 2>said
	cat said
	for code in L-RULE-NO-MODE L-RULE-COUNT-ZERO L-RULE-MODE-OLD L-RULE-N-FILES-UNUSED L-EXCLUDE-ROOT; do
		[ "$(grep -c "warning: .*\[$code\]" said)" = 1 ]
	done
	[ "$(grep -c warning: said)" = 5 ]
	run -0 --separate-stderr leat check --graph text flow.json
	[[ $output == *'(on_close, update)'* ]]
	[[ $output == *'(on_close, no_update)'* ]]
}
