#!/usr/bin/env bats
# Strings of workflow files mean what others read in them.
load helper

# differ MODULE: words in all forms of quotes, read by leat and by that module of Python.
differ() {
	cd "$BATS_TEST_TMPDIR" || return 1
	/usr/bin/python3 - "$1" <<-'END'
		import json, random, subprocess, sys
		yaml = sys.argv[1] == "yaml"
		if yaml:
		    import yaml as module
		r = random.Random(1741)
		common = ["x", " ", "  ", "é", "\\\"", "\\\\", "\\n", "\\t", "\\/", "\\b", "\\f", "\\r", "\\u00e9",
		          "'", ": ", " #", ",", "[", "]", "- ", "*"]
		only_yaml = ["\n    ", "\n\n    ", "\t", "\\x41", "\\U0001F600", "\\e", "\\ ", "\\a", "\\v", "\\N", "\\_",
		             "\\L", "\\P", "\\\n    "]
		def double():
		    pieces = common + only_yaml if yaml else common + ["\\ud83d\\ude00"]
		    return '"x' + "".join(r.choices(pieces, k=r.randint(0, 7))) + '"'
		def single():
		    pieces = ["x", "''", "''''", " ", "\n    ", "\n\n    ", ": ", " #", "é", "\t", "\\", "\\n", '"', "- ", "["]
		    return "'x" + "".join(r.choices(pieces, k=r.randint(0, 7))) + "'"
		def plain():
		    pieces = ["x", "'", '"', " y", "#", ":b", "\\n", "é", "\n    q", "\n\n    q", "*", "!", "&", "%"]
		    return "x" + "".join(r.choices(pieces, k=r.randint(0, 6)))
		def block():
		    lines = ["line\n", "  more\n", "\n", "a  \n", "# c\n", "'x''y\n", "\\t\n"]
		    return r.choice("|>") + r.choice(["", "-", "+"]) + "\n      x\n" + "".join(
		        (" " * 6 if line != "\n" else "") + line for line in r.choices(lines, k=r.randint(0, 5)))
		forms = [double, single, plain, block] if yaml else [double]
		words = [r.choice(forms)() for _ in range(3000)]
		if yaml:
		    text = "name: w\ntasks:\n- func: a\n  exec: a\n  args:\n" + "".join(f"  - {w}\n" for w in words)
		    want = ["a"] + module.load(text, module.BaseLoader)["tasks"][0]["args"]
		else:
		    text = '{"name": "w", "IO_Graph": [{"name": "a", "exec": ["a", ' + ", ".join(words) + "]}]}"
		    want = json.loads(text)["IO_Graph"][0]["exec"]
		open("flow", "w").write(text)
		run = subprocess.run(["leat", "check", "--canonical", "flow"], capture_output=True, text=True)
		assert run.returncode == 0, run.stderr
		got = json.loads(run.stdout)["IO_Graph"][0]["exec"]
		assert len(got) == len(want) == 3001, (len(got), len(want))
		wrong = [x for x in zip(words, got[1:], want[1:]) if x[1] != x[2]]
		assert not wrong, (len(wrong), min(wrong, key=lambda x: len(x[0])))
	END
}

@test "strings of YAML: PyYAML reads the same" {
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	differ yaml
}

@test "strings of JSON: Python reads the same" {
	differ json
}

# shellcheck disable=SC2154 # stderr: run sets it
@test "a string that cannot be read as YAML says is named" {
	bats_require_minimum_version 1.5.0
	cd "$BATS_TEST_TMPDIR"
	printf 'tasks:\n  - func: a\n    exec: >\n      cat\n\n      \tx\n' >flow.yaml
	run -1 --separate-stderr leat check flow.yaml
	echo "$stderr"
	[[ $stderr == 'flow.yaml:6:7: error: not YAML: in a folded block (>) a line that begins with a tab follows a blank line: use spaces, or a literal block (|) [L-YAML-SYNTAX]'* ]]
}
