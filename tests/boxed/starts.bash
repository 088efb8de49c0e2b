# Many starts of containers: by leat, instance by instance of an ensemble, and by a step's script. Each reads the same
# stream, and says what it has read. `. starts.bash` in tests/boxed/campaign.
# shellcheck shell=bash disable=SC2154,SC2034 # of the campaign

# starts_flow ENGINE WHO: the workflow, in `run`.
starts_flow() {
	local own
	own=$(image_of "$2")
	rm -rf "$work/run"
	mkdir "$work/run"
	cat >"$work/run/workflow.yaml" <<-END
		name: starts
		container: $own
		engine: $1
		tasks:
		  - func: make
		    container: none
		    exec: bash -c 'seq 2000 >data'
		    outports: [{filename: data, mode: no_update}]
		  - func: use
		    taskCount: $starts
		    exec: bash -c 'wc -l <data >lines'
		    inports: [{filename: data}]
		    outports: [{filename: lines}]
		  - func: loop
		    container: none
		    exec: bash loop.sh
		    inports: [{filename: data}, {filename: line}, {filename: loop.sh}]
		    outports: [{filename: 'looped.*'}]
	END
}

# starts_loop ENGINE WHO: loop.sh starts containers by the command line that leat has for such a step.
starts_loop() {
	local own
	own=$(image_of "$2")
	cat >"$work/run/line.yaml" <<-END
		name: line
		container: $own
		engine: $1
		tasks: [{func: use, exec: "bash -c 'wc -l <data >looped.NUMBER'", outports: [{filename: looped.NUMBER}]}]
	END
	give "$2"
	(cd "$work/run" && as "$2" leat run --dry-run --plain line.yaml) >"$work/dry" 2>&1 || return
	sed -n 's/^  command //p' "$work/dry" >"$work/run/line"
	printf 'for ((i = 0; i < %s; i++)); do eval "$(sed "s/NUMBER/$i/" line)" || exit; done\n' "$starts" >"$work/run/loop.sh"
	grep -q NUMBER "$work/run/line"
}

# watch WHO: the numbers of descriptors that the run's daemon has, one after the other, until it has ended.
watch() {
	local daemon
	until daemon=$(pgrep leat-daemon | while read -r pid; do
		! tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "LEAT_RUNTIME_DIR=$work/runtime.$1" || echo "$pid"
	done 2>/dev/null) && [ -n "$daemon" ]; do
		sleep 0.1
	done
	while [ -d "/proc/$daemon/fd" ]; do
		find "/proc/$daemon/fd" -type l 2>/dev/null | wc -l
		sleep 0.5
	done
}

# start_one ENGINE WHO
start_one() {
	local what code wall cpu right watcher grown
	what=$(printf '%-11s %-11s %-12s %-8s' starts "$starts" "$1" "$2")
	starts_flow "$1" "$2"
	starts_loop "$1" "$2" || {
		fail "$what" "no command line" "$work/dry"
		return
	}
	mounts >"$work/mounts"
	touch "$BATS_TEST_TMPDIR"
	events=$(home_of "$2")/events
	watch "$2" >"$work/fds" &
	watcher=$!
	timed leat_run "$2"
	code=$?
	kill "$watcher" 2>/dev/null
	wait "$watcher"
	read -r wall cpu <"$work/times"
	right=$(cat "$work/run"/use.*/lines "$work/run"/looped.* 2>/dev/null | grep -cx 2000)
	# All are 0 at the end; what the first starts need, the others may.
	grown=$(awk '$1 { v[++n] = $1 } END { for (i = 1; i <= n; i++) { if (i <= (n + 3) / 4 && v[i] > a) a = v[i]; if (i > n * 3 / 4 && v[i] > b) b = v[i] }
		print a + 0, b + 0 }' "$work/fds")
	if [ "$code" != 0 ]; then
		fail "$what" "status $code"
	elif [ "$right" != $((2 * starts)) ]; then
		fail "$what" "$right right outputs instead of $((2 * starts))"
	elif grep -qE 'without having attached|past libleat' "$work/log"; then
		fail "$what" "somebody was not seen"
	elif [ "$starts" -ge 50 ] && [ "${grown#* }" -gt $((${grown% *} + 8)) ]; then
		fail "$what" "descriptors of the daemon: ${grown% *} at first, ${grown#* } at the end" "$work/fds"
	else
		printf '%s %8.2f s  CPU %8.2f s  %d right; descriptors of the daemon: at most %d in the first quarter, %d in the last\n' \
			"$what" "$wall" "$cpu" "$right" "${grown% *}" "${grown#* }"
	fi
	clean "$2" || fail "$what" "left" "$work/left"
}

starts() {
	local who engine
	for who in "${whos[@]}"; do
		for engine in "${engines[@]}"; do
			! possible "$engine" "$who" || start_one "$engine" "$who"
		done
	done
}
