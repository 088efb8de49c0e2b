#!/usr/bin/env bats
# The command line itself: help, version, mistakes, man pages.
load helper

# one_line: the last run printed exactly one line, and it begins "leat: ".
one_line() {
	echo "status $status, output: $output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "leat: "* ]]
}

@test "--version" {
	run leat --version
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[0]} =~ ^leat\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[[ ${lines[1]} == "with: "* ]] && [[ ${lines[2]} == "without: "* ]]
	# Each part is in one of them.
	[ "$(tail -n 2 <<<"$output" | cut -d : -f 2 | xargs -n 1 | grep -v none | sort | paste -sd ' ')" = \
		"ebpf fuse metrics pages python tui" ]
}

@test "help lists every command, and each command has a help" {
	run leat help
	[ "$status" = 0 ]
	mapfile -t commands < <(leat help | sed -n "s/^  \([a-z]*\) .*/\1/p")
	[ "${#commands[@]}" -ge 15 ]
	for command in "${commands[@]}"; do
		# The page that it names is there.
		page=$(leat help "$command" | sed -n 's/^The whole story: man \([a-z-]*\),.*/\1/p')
		[ -e "$LEAT_SOURCE_DIR/man/$page.1" ]
		grep -q "^\.It Cm $command\b" "$LEAT_SOURCE_DIR/man/leat.1"
		[[ $(leat help "$command") == "Usage: leat $command "* ]]
		[ "$(leat "$command" --help)" = "$(leat help "$command")" ]
	done
}

@test "--help and -h are help" {
	for option in --help -h; do
		[ "$(leat $option)" = "$(leat help)" ]
		[ "$(leat $option run)" = "$(leat help run)" ]
	done
}

@test "no command" {
	run leat
	[ "$status" = 2 ]
	one_line
	[[ $output == *"missing command"* ]]
}

@test "unknown command, with a suggestion" {
	run leat rnu
	[ "$status" = 2 ]
	one_line
	[[ $output == *"did you mean leat run?"* ]]
}

@test "unknown option, with a suggestion" {
	run leat run --timelin x --plian
	[ "$status" = 2 ]
	one_line
	[[ $output == *"did you mean --plain?"* ]]
}

@test "an option that is cut off, that takes no value, and values that are none" {
	run leat run --re=x flow.yaml
	[ "$status" = 2 ]
	one_line
	[ "$output" = "leat: run: option --re=x is ambiguous: --resume or --report; see leat help run" ]
	run leat run --plain=yes flow.yaml
	[ "$status" = 2 ]
	[ "$output" = "leat: run: option --plain takes no value; see leat help run" ]
	run leat run --help=yes
	[ "$output" = "leat: run: option --help takes no value; see leat help run" ]
	run leat run --memory much flow.yaml
	[ "$output" = 'leat: --memory: "much" is not a valid value (a size in bytes, such as 4096, 512M or 2G)' ]
	run leat serve --timeout inf flow.yaml
	[ "$status" = 2 ]
	[[ $output == *'--timeout: "inf" is not a valid value'* ]]
	run leat ''
	[ "$output" = "leat: missing command; leat help lists them" ]
	run leat foo
	[ "$output" = "leat: unknown command foo; leat help lists them" ]
}

@test "missing operand, too many operands, a value out of range" {
	run leat run
	[ "$status" = 2 ]
	one_line
	run leat run a b
	[ "$status" = 2 ]
	one_line
	run leat run --on-violation=ignore a
	[ "$status" = 2 ]
	one_line
	[[ $output == *"fatal|warn"* ]]
	LEAT_ON_VIOLATION=ignore run leat run a
	[ "$status" = 2 ]
	one_line
	[[ $output == *LEAT_ON_VIOLATION* ]]
}

@test "standard output that cannot be written to is a failure" {
	run bash -c 'leat help >/dev/full'
	[ "$status" = 1 ]
	one_line
	[[ $output == *"No space left"* ]]
}

@test "the man pages are what the tables say" {
	cd "$LEAT_SOURCE_DIR/man"
	for page in leat*.1; do
		leat help --man "$page" | diff "$page" -
	done
}

@test "the man pages are good mdoc" {
	need mandoc
	leat help --man-codes >"$BATS_TEST_TMPDIR/leat-diagnostics.7"
	mandoc -Tlint -W warning "$LEAT_SOURCE_DIR"/man/leat*.[0-9] "$BATS_TEST_TMPDIR"/*.7
}
