#!/usr/bin/env bats
# leat completion: what bash makes of it, and whether zsh reads it.
load helper

setup() {
	in_work
	mkdir work/sub
	touch work/flow.yaml work/other.json
	cd work || return 1
}

# complete LINE: what bash offers at its end, one a line. A word is split at = as bash does.
complete() {
	bash --norc -c '
		eval "$(leat completion bash)"
		line=${1//=/ = }
		read -ra COMP_WORDS <<<"$line"
		[[ $line != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_leat
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

# offers LINE WORD...: these, and nothing else.
offers() {
	diff <(complete "$1" | sort) <(printf '%s\n' "${@:2}" | sort)
}

@test "commands" {
	offers 'leat r' replay report run
	offers 'leat --v' --version
	[ "$(complete 'leat ' | grep -v '^-' | sort)" = "$(leat help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort)" ]
}

@test "options of a command" {
	offers 'leat run --on-v' --on-violation
	offers 'leat done --' --dir --runtime-dir --help
	for command in $(leat help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		[ "$(complete "leat $command --" | sort)" = \
			"$(leat help "$command" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort)" ]
	done
}

@test "values of options" {
	offers 'leat run --on-violation ' fatal warn
	offers 'leat run --on-violation=w' warn
	offers 'leat run --dir s' sub
	offers 'leat run --log f' flow.yaml
	offers 'leat run --memory f' ''
}

@test "operands: files, directories, words, commands" {
	offers 'leat run f' flow.yaml
	offers 'leat run --dir sub --plain o' other.json
	offers 'leat probe ' sub
	offers 'leat completion ' bash zsh
	offers 'leat help che' check
	offers 'leat done f' ''
}

@test "programs, and then their arguments" {
	complete 'leat exec --app step gaw' | grep -qx gawk
	complete 'leat trace gaw' | grep -qx gawk
	offers 'leat exec --app step gawk -f f' flow.yaml
	# The options behind it are the program's.
	offers 'leat exec gawk --ap' ''
}

@test "a shell that is not known" {
	run leat completion fish
	[ "$status" = 2 ]
	[ "$output" = 'leat: completion: there is none for fish; for bash and zsh there is' ]
}

@test "the scripts are good bash and good zsh" {
	need shellcheck zsh
	leat completion bash >leat.bash
	shellcheck -s bash leat.bash
	leat completion zsh >_leat
	zsh -n _leat
	# It is loaded, and every specification is one that _arguments takes.
	grep -q '^#compdef leat$' _leat
	[ "$(zsh -fc 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; print ${_comps[leat]}')" = _leat ]
}
