#!/usr/bin/env bats
# Random shell workflows whose steps share names by chance: as in the batch, or a conflict that is named.
bats_require_minimum_version 1.5.0
load helper

@test "random workflows whose steps share names" {
	need python3
	run -0 "$LEAT_SOURCE_DIR/tests/scratch/campaign.py" --count 60 --seconds 15 -j 2
	echo "$output"
	[[ $output == *" the same, "*" conflicts named, "*", 0 wrong" ]]
}

@test "random workflows whose steps declare one output" {
	need python3
	run -0 "$LEAT_SOURCE_DIR/tests/scratch/campaign.py" --producers --count 60 --seconds 15 -j 2
	echo "$output"
	[[ $output == *" the same, "*" conflicts named, "*", 0 wrong" ]]
}

@test "two steps that declare one output, and use a name of it in any two ways, whoever comes first" {
	need python3
	run -0 "$LEAT_SOURCE_DIR/tests/scratch/campaign.py" --pairs --count 60 --seconds 15 -j 2
	echo "$output"
	[[ $output == *" the same, "*" conflicts named, "*", 0 wrong" ]]
}
