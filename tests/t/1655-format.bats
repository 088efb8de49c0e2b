#!/usr/bin/env bats
# Numbers of pages (src/page/format.js): one rounding for all of them.
load helper

# format EXPRESSION...: what it is with the functions of format.js, a line each.
format() {
	node -e 'const vm = require("vm"), fs = require("fs");
		const world = vm.createContext({});
		vm.runInContext(fs.readFileSync(process.argv[1], "utf8"), world);
		for (const e of process.argv.slice(2))
			console.log(vm.runInContext("format." + e, world));' "$LEAT_SOURCE_DIR/src/page/format.js" "$@"
}

@test "bytes, times and shares" {
	need node
	run format 'bytes(0)' 'bytes(999)' 'bytes(999.6)' 'bytes(62914560)' 'bytes(99949999)' 'bytes(99950000)' 'bytes(2e18)' \
		'binaryBytes(1023)' 'binaryBytes(1536)' 'binaryBytes(1 << 20)' \
		'seconds(0)' 'seconds(9.994)' 'seconds(9.996)' 'seconds(999.94)' 'seconds(1000)' 'seconds(3599.9)' \
		'duration(0)' 'duration(3.2e-6)' 'duration(.0009949)' 'duration(.00321)' 'duration(.9949)' 'duration(.9951)' \
		'duration(61)' 'duration(5999)' 'duration(6000)' 'duration(360000)' \
		'moment(1.23456, .01)' 'moment(599, 1)' 'moment(3661.5, .1)' 'moment(605, 1)' \
		'percent(0)' 'percent(.001)' 'percent(.999)' 'percent(1)' 'count(1234567)' 'amount(9.994)' 'amount(12.34)' \
		'shortened("abcdef", 4)' 'ending("abcdef", 4)' 'ending("abc", 4)'
	echo "$output"
	[ "$status" = 0 ]
	diff - <(printf '%s\n' "$output") <<-'END'
		0 B
		999 B
		1.0 kB
		62.9 MB
		99.9 MB
		100 MB
		2.0 EB
		1023 B
		1.5 KiB
		1 MiB
		0.00 s
		9.99 s
		10.0 s
		999.9 s
		16 min 40 s
		59 min 59 s
		0 s
		3.2 µs
		995 µs
		3.2 ms
		995 ms
		1.00 s
		61.0 s
		99 min 59 s
		1.7 h
		4 d
		1.23 s
		599 s
		1:01:01.5
		10:05
		0 %
		<1 %
		>99 %
		100 %
		1,234,567
		9.99
		12.3
		abc…
		…def
		abc
	END
}
