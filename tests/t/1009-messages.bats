#!/usr/bin/env bats
# .ci/messages: what docs/reference/limits.md quotes is printed by the code, and what the code refuses is on the page.
load helper

setup() {
	need python3
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir .ci docs
	cp "$LEAT_SOURCE_DIR/.ci/messages" .ci
	cp -r "$LEAT_SOURCE_DIR/src" .
	cp -r "$LEAT_SOURCE_DIR/docs/reference" docs
	page=docs/reference/limits.md
}

check() {
	run .ci/messages --check
	echo "$output"
}

@test "the page and the code say the same" {
	check
	[ "$status" = 0 ]
	[ -z "$output" ]
	.ci/messages | diff - docs/reference/messages.md
}

@test "a message that the code does not print (any more)" {
	sed -i 's/does not see which names a staged step uses/does not see which names nobody can know/' "$page"
	check
	[ "$status" = 1 ]
	[[ $output == *"$page: \"warning: step B waits for the end of step A before it changes FILE"*"the code does not print \"nobody can know\""* ]]
	cp "$LEAT_SOURCE_DIR/$page" "$page"
	sed -i 's/once more than its rule says/more often than the rule allows/' src/stream/rules/violation.c
	check
	[ "$status" = 1 ]
	[[ $output == *"$page: \"violation: FILE was closed by step STEP once more than its rule says"*"the code does not print"* ]]
}

@test "a refusal that is not on the page" {
	sed -i '/--enforce cannot hold step/d' "$page"
	check
	[ "$status" = 1 ]
	[[ $output == *"$page: \"--enforce cannot hold step %s: it is staged"*"(src/cli/daemon.c) is missing"* ]]
	cp "$LEAT_SOURCE_DIR/$page" "$page"
	printf 'void f(void)\n{\n\tleat_error("step %%s asks for %%d moons, of which there is one; give it less",\n\t\t   a, b);\n}\n' >src/driver/moons.c
	check
	[ "$status" = 1 ]
	[[ $output == *'"step %s asks for %d moons, of which there is one; give it less" (src/driver/moons.c) is missing'* ]]
}
