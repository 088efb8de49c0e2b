#!/usr/bin/env bats
# `container` and `engine` of tasks: the same with each engine.
bats_require_minimum_version 1.5.0
load helper
load image
load rootless

setup_file() {
	image "$BATS_FILE_TMPDIR/root" bash cat env id ls sleep sort tail
	touch "$BATS_FILE_TMPDIR/root/only-here"
}

setup() {
	built_with fuse
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir work bin
	ln -s "$BATS_FILE_TMPDIR/root" root
	export USER=${USER:-tester} APPTAINER_IMAGES=$BATS_FILE_TMPDIR
	ln -s "$BATS_TEST_DIRNAME/apptainer" bin/apptainer
	PATH=$PWD/bin:$PATH
	podman_apart "$PWD"
}

teardown() {
	rm -rf podman
	rootless_end
	nothing_left
}

# usable ENGINE [AS...]: can it start anything here? AS... is put before it.
usable() {
	local engine=$1
	shift
	cat >usable.yaml <<-END
		name: usable
		dir: work
		container: ./root
		engine: $engine
		tasks: [{func: one, exec: "sh -c ':'"}]
	END
	"$@" leat run -q --plain usable.yaml >usable.log 2>&1 || {
		echo "# $engine starts nothing here: $(head -1 usable.log)" >&3
		return 1
	}
}

# of STEP: the lines about it.
of() {
	sed -n "/^step $1\\( \\|\$\\)/,/^\$/p" <<<"$output"
}

# flow ENGINE: a step that tells what it finds, and one that reads a stream of another's.
flow() {
	cat >flow.yaml <<-END
		name: flow
		dir: work
		container: ${2:-./root}
		engine: $1
		tasks:
		  - func: make
		    container: none
		    exec: bash -c 'exec >data; seq 20000; ${3:-true}; echo end'
		    outports: [{filename: data, mode: no_update}]
		  - func: tell
		    exec: bash $PWD/work/tell.sh "two  words" '\$x'
		    inports: [{filename: data}]
		    outports: [{filename: told}]
		exclude: [begun, tell.sh]
	END
	cat >work/tell.sh <<-'END'
		read -r first <data; echo it >begun
		{
			printf '<%s>' "$@"
			echo " $first"
			sort data | tail -1
			id -u
			id -g
			pwd
			umask
			echo "$0 $PATH"
			ls -d /only-here
			[ ! -e ../flow.yaml ] && echo "own tmp"
			{ echo x >/usr/x; } 2>/dev/null || echo read-only
			echo x >/tmp/x && cat /tmp/x
			echo x >"$HOME/y" && cat "$HOME/y"
			[ -r /proc/self/maps ] && [ -c /dev/null ] && [ -d /sys/class ] && echo mounts
			env -u _ | sort | while IFS= read -r variable; do
				case $variable in
				HOME=* | OLDPWD=* | PATH=* | PWD=* | SHLVL=* | HOSTNAME=* | TERM=* | CH_RUNNING=* | container=*) ;;
				*) echo "$variable" ;;
				esac
			done
		} >told
	END
}

# what tell.sh says, of the user with that number and group.
expected() {
	cat <<-END
		<two  words><\$x> 1
		end
		$1
		$2
		$PWD/work
		0027
		$PWD/work/tell.sh /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		/only-here
		own tmp
		read-only
		x
		x
		mounts
		LANG=C.UTF-8
		OMP_PLACES={0,1},{2,3}
		TZ=a=b,c
	END
}

# finds ENGINE USER GROUP [AS...]: a program finds what it shall, on plain files and streamed; the producer waits
# until the consumer in the container has read what there is. With "plain" as LEAT_TEST_WAY only that.
finds() {
	local engine=$1 user=$2 group=$3
	shift 3
	unset LC_ALL
	export LANG=C.UTF-8 OMP_PLACES='{0,1},{2,3}' TZ=a=b,c SECRET=1 PYTHONPATH=/x LD_LIBRARY_PATH=
	flow "$engine"
	expected "$user" "$group" >wanted
	(umask 0027 && "$@" leat run --plain -q flow.yaml)
	diff wanted work/told
	[ "${LEAT_TEST_WAY:-}" != plain ] || return 0
	rm -f work/told work/begun
	flow "$engine" ./root "until [ -e begun ]; do sleep 0.05; done"
	(umask 0027 && "$@" leat run -q flow.yaml)
	diff wanted work/told
}

@test "bubblewrap: what a program finds" {
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	finds bubblewrap "$(id -u)" "$(id -g)"
}

@test "charliecloud: what a program finds" {
	need ch-run
	usable charliecloud || skip "charliecloud starts nothing here"
	finds charliecloud "$(id -u)" "$(id -g)"
}

@test "podman: what a program finds" {
	need podman
	usable podman || skip "podman starts nothing here"
	LEAT_TEST_WAY=$([ "$(id -u)" = 0 ] || echo plain) finds podman "$(id -u)" "$(id -g)"
}

@test "apptainer, a stand-in: what a program finds" {
	need bwrap
	usable apptainer || skip "bubblewrap starts nothing here"
	finds apptainer "$(id -u)" "$(id -g)"
}

@test "an ordinary user: bubblewrap, charliecloud and the stand-in" {
	local engine
	need bwrap ch-run setpriv
	[ "$(id -u)" = 0 ] || skip "the cases above are this"
	chmod -R a+rX .
	chmod 777 . work
	mkdir -m 777 home
	export HOME=$PWD/home LEAT_RUNTIME_DIR=$PWD/runtime-of-user
	mkdir -m 777 "$LEAT_RUNTIME_DIR"
	for engine in bubblewrap charliecloud apptainer; do
		usable $engine as_user || skip "$engine starts nothing here for nobody"
		rm -f work/*
		finds $engine 65534 65534 as_user
	done
}

@test "an ordinary user: podman" {
	rootless_user
	rm root && cp -a "$BATS_FILE_TMPDIR/root" root
	chown -R "$ROOTLESS_ID:$ROOTLESS_ID" root
	chmod 777 . work
	export LEAT_RUNTIME_DIR=$PWD/runtime-of-user
	mkdir -m 777 "$LEAT_RUNTIME_DIR"
	usable podman as_rootless || skip "podman starts nothing here for an ordinary user"
	rm -f work/*
	finds podman "$ROOTLESS_ID" "$ROOTLESS_ID" as_rootless
}

# tasks TEXT...: a workflow of these tasks, a line each, in ./root by bubblewrap.
tasks() {
	printf '%s\n' 'name: flow' 'dir: work' 'container: ./root' 'engine: bubblewrap' 'tasks:' "$@" >flow.yaml
}

@test "--dry-run: the command line, as a shell can run it" {
	local engine
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	tasks "  - {func: a, taskCount: 2, exec: \"bash -c 'echo \\\"\$1\\\" {instance}; pwd' sh 'a  b'\", outports: [{filename: x}]}" \
		'  - {func: b, container: none, exec: cat a.0/x, inports: [{filename: a.0/x}]}'
	run -0 leat run --dry-run flow.yaml
	[ ! -e work/a.0 ]
	of a.1 | grep -qxF "  image   $(realpath root) (an image directory, by bubblewrap)"
	of a.1 | grep -q '^  via  *mount (a program that starts others in another root directory or namespace)$'
	[[ $(of b) != *"  image "* ]]
	run -0 leat run --dry-run --plain flow.yaml
	mkdir -p work/a.1
	of a.1 | sed -n 's/^  command //p' >line
	[ "$(sh line)" = "a  b 1"$'\n'"$PWD/work/a.1" ]
	for engine in charliecloud podman apptainer; do
		sed -i "s/^engine: .*/engine: $engine/" flow.yaml
		case $engine in charliecloud) type -P ch-run ;; *) type -P $engine ;; esac || continue
		run -0 leat run --dry-run --plain flow.yaml
		of a.0 | grep -qF "(an image directory, by $engine)"
		of a.0 | grep -qF " bash -c 'echo \"\$1\" 0; pwd' sh 'a  b'"
	done
}

@test "a workflow's directory that the image has no place for" {
	local dir
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	dir=$(mktemp -d /var/tmp/leat-test.XXXXXX)
	mkdir -p small/usr small/var/lib bare
	cp -r root/. small
	rm -rf small/proc small/sys
	echo kept >small/var/kept
	tasks "  - {func: a, exec: \"sh -c 'pwd; cat /var/kept; ls /; echo x >/var/y || echo no; echo x >/y || echo no'\", outports: [{filename: x}]}"
	sed -i "s#^dir: .*#dir: $dir#; s#./root#./small#" flow.yaml
	sed -i 's#sh -c .#&exec >x 2>/dev/null; #' flow.yaml
	run leat run -q --plain flow.yaml
	echo "$output"
	{ echo "$dir" && echo kept && ls root/ && echo no && echo no; } >wanted
	diff wanted "$dir/x"
	[ "$status" = 0 ]
	[ ! -e small/proc ] && [ ! -e small/var/y ]
	# charliecloud makes no place in an image, and says so before anything starts.
	sed -i 's/bubblewrap/charliecloud/' flow.yaml
	if type -P ch-run; then
		run -127 leat run --plain flow.yaml
		[[ $output == *"step a: nothing can start its container, ./small (an image directory): charliecloud (ch-run) has no place for the workflow's directory"* ]]
	fi
	rm -rf "$dir"
}

@test "charliecloud starts no image directly below /, and leat says so before anything starts" {
	need ch-run
	tasks '  - {func: a, exec: cat only-here, outports: [{filename: x}]}'
	sed -i 's#./root#/mnt#; s#bubblewrap#charliecloud#' flow.yaml
	# shellcheck disable=SC2016
	run -127 unshare -rm bash -c 'mount --bind "$0" /mnt && leat run --plain flow.yaml' "$BATS_FILE_TMPDIR/root"
	echo "$output"
	[[ $output == *"/mnt (an image directory): charliecloud (ch-run) cannot start an image that lies directly below /"* ]]
}

@test "charliecloud where nobody has set USER" {
	need ch-run
	usable charliecloud || skip "charliecloud starts nothing here"
	cat >flow.yaml <<-END
		name: flow
		container: ./root
		engine: charliecloud
		dir: work
		tasks:
		  - {func: a, exec: "sh -c 'env >x'", outports: [{filename: x}]}
		  - {func: b, container: none, exec: "sh -c 'env >y'", outports: [{filename: y}]}
	END
	env -u USER leat run -q --plain flow.yaml
	env -u USER leat run -q flow.yaml
	run ! grep '^USER=' work/x work/y
	env -u USER leat run --dry-run flow.yaml | grep -qx "  env  *USER='*$(id -un)'*"
	run -0 leat run --dry-run flow.yaml
	[[ $output != *" USER="* ]]
}

@test "what cannot be is refused by name before anything starts" {
	need bwrap
	tasks '  - {func: a, exec: cat, outports: [{filename: x}]}'
	sed -i 's#./root#./absent#' flow.yaml
	run -125 leat run flow.yaml
	[[ $output == *'flow.yaml:3:12: error: cannot use "./absent", an image directory'*'[L-CHECK-CONTAINER]'* ]]
	sed -i 's#./absent#debian:12#' flow.yaml
	run -1 leat check flow.yaml
	[[ $output == *"bubblewrap cannot run \"debian:12\", an image reference: use podman, apptainer [L-CONTAINER-ENGINE]"* ]]
	sed -i 's#bubblewrap#auto#' flow.yaml
	leat check flow.yaml
	# shellcheck disable=SC2123 # an empty PATH is meant
	run -127 env PATH=/nowhere "$LEAT_BUILD/src/cli/leat" run --dry-run flow.yaml
	[ "$output" = "leat: step a: nothing can start its container, debian:12 (an image reference): bubblewrap (bwrap) takes no such image; charliecloud (ch-run) takes no such image; podman (podman) is not installed; apptainer (apptainer) is not installed" ]
	sed -i 's#debian:12#./root#; s#auto#podman#' flow.yaml
	run -127 env PATH=/nowhere "$LEAT_BUILD/src/cli/leat" run --plain flow.yaml
	[ "$output" = "leat: step a: nothing can start its container, ./root (an image directory): podman (podman) is not installed" ]
	[ -z "$(ls work)" ]
}

@test "auto takes what is installed and takes the image" {
	need bwrap
	echo "$BATS_FILE_TMPDIR/root" >tool.sif
	tasks '  - {func: a, exec: cat only-here, outports: [{filename: x}]}' \
		'  - {func: b, container: tool.sif, exec: cat, outports: [{filename: y}]}' \
		'  - {func: c, container: docker://root, engine: apptainer, exec: cat, outports: [{filename: z}]}'
	sed -i '/^engine/d' flow.yaml
	run -0 leat run --dry-run --plain flow.yaml
	of a | grep -q 'by bubblewrap'
	of b | grep -qxF "  image   $PWD/tool.sif (a SIF file, by apptainer)"
	of c | grep -q 'docker://root cat$'
}

@test "SIF files and references, by the stand-in for apptainer" {
	need bwrap
	usable apptainer || skip "bubblewrap starts nothing here"
	echo "$BATS_FILE_TMPDIR/root" >tool.sif
	tasks "  - {func: a, container: tool.sif, engine: auto, exec: \"sh -c 'ls /only-here >x'\", outports: [{filename: x}]}" \
		"  - {func: b, container: docker://root, engine: apptainer, exec: \"sh -c 'cat x >y'\", inports: [{filename: x}], outports: [{filename: y}]}"
	leat run -q flow.yaml
	[ "$(cat work/y)" = /only-here ]
}

@test "podman: references and OCI layouts; entry points are not used, and nothing is downloaded" {
	local layout
	need podman
	usable podman || skip "podman starts nothing here"
	tar -C root -c . | podman import -c 'ENV WHO=image' -c 'ENTRYPOINT ["false"]' - localhost/leat-test:1 >import.log 2>&1 || {
		cat import.log
		skip "podman cannot import an image here"
	}
	# podman makes a name of the path, in which there are no capitals.
	layout=/var/tmp/leat-layout-$$
	podman push -q localhost/leat-test:1 "oci:$layout:one"
	tasks "  - {func: a, container: 'localhost/leat-test:1', exec: \"sh -c 'echo \$WHO \$HOME >x; echo >/y'\", outports: [{filename: x}]}" \
		"  - {func: b, container: 'oci:$layout:one', exec: \"sh -c 'cat x; echo \$WHO'\", inports: [{filename: x}], staged: true}"
	sed -i 's/bubblewrap/auto/; s#; echo >/y##' flow.yaml
	leat check flow.yaml
	run leat run --plain flow.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *'image /tmp'*'image'* ]]
	sed -i 's#localhost/leat-test:1#localhost/leat-test:2#' flow.yaml
	run leat run --plain flow.yaml
	[ "$status" = 125 ]
	[[ $output == *'leat-test:2'*'step a failed: exit 125'* ]]
	rm -rf "$layout"
}

@test "status, signals and programs that are not in the image" {
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	local engine
	for engine in bubblewrap charliecloud podman apptainer; do
		usable $engine || continue
		tasks "  - {func: a, exec: sh -c 'exit 7', outports: [{filename: x}]}"
		sed -i "s/^engine: .*/engine: $engine/" flow.yaml
		run leat run --plain flow.yaml
		echo "$engine: $status $output"
		[ "$status" = 7 ]
		sed -i "s/sh -c 'exit 7'/not-in-the-image/" flow.yaml
		run ! leat run --plain flow.yaml
		echo "$engine: $status $output"
		[[ $output == *not-in-the-image* ]]
		# A run that is ended leaves nothing behind.
		sed -i "s/not-in-the-image/sleep 1000.$$/" flow.yaml
		leat run -q --plain flow.yaml >log 2>&1 3>&- &
		soon pgrep -xf "sleep 1000.$$"
		kill -TERM $!
		ended 143 $! log
		soon not_there
	done
}

not_there() {
	! pgrep -xf "sleep 1000.$$"
}

@test "an ensemble, versions, {filename}, private names, the MPI launcher of the image, --pin, --resume" {
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	cp -r root/. mpi
	printf '%s\n' '#!/bin/bash' 'n=$2; shift 2; for ((i = 0; i < n; i++)); do "$@"; done' >mpi/usr/bin/mpirun
	chmod +x mpi/usr/bin/mpirun
	printf 'echo %s >scratch; for i in 1 2 3; do echo "$1 $i $LEAT_INSTANCE" >x; done\n' '$1' >work/make.sh
	printf 'echo %s >scratch; cat "$1" >>seen; cat scratch >>seen\n' '$1' >work/use.sh
	tasks '  - {func: make, taskCount: 2, exec: "bash ../make.sh it", outports: [{filename: x}]}' \
		'  - {func: use, taskCount: 2, exec: "bash ../use.sh {filename}", inports: [{filename: x, io_freq: 1}], outports: [{filename: seen}]}' \
		'  - {func: rank, nprocs: 3, container: ./mpi, exec: "sh -c '"'echo one >>ranks'"'", outports: [{filename: ranks}]}' \
		'exclude: [make.sh, use.sh]'
	leat run -q --pin flow.yaml
	[ "$(cat work/use.1/seen)" = $'it 1 1\nx\nit 2 1\nx\nit 3 1\nx' ]
	[ "$(grep -c one work/ranks)" = 3 ]
	tasks "  - {func: a, exec: \"sh -c 'echo a >x'\", outports: [{filename: x}]}"
	leat run -q flow.yaml
	run -0 leat run --resume flow.yaml
	[[ $output == *'step a is skipped'* ]]
	sed -i 's#./root#./mpi#' flow.yaml
	run -0 leat run --resume flow.yaml
	[[ $output == *'step a is run'* ]]
	run -0 leat run --enforce flow.yaml
	run leat run --sealed flow.yaml
	[ "$status" != 0 ]
	[[ $output == *"step a: "*"bwrap is a program that starts others in another root directory or namespace and cannot be intercepted, and --sealed lets a step mount nothing"* || $output == *'--sealed needs a kernel'* ]]
}

@test "actions, and a program of the workflow's directory" {
	local engine
	need bwrap
	usable bubblewrap || skip "bubblewrap starts nothing here"
	mkdir work/bin
	printf '#!/bin/bash\nfor i in 1 2 3 4; do echo "$0 $i" >x; done\n' >work/bin/make
	chmod +x work/bin/make
	cat >acts.py <<-'END'
		def second(vol, rank):
		    def closed(name):
		        if vol.file_close_counter % 2 == 0:
		            vol.serve_all(True, True)
		            vol.clear_files()
		    vol.set_after_file_close(closed)
	END
	tasks '  - {func: make, exec: bin/make, actions: [acts, second], outports: [{filename: x}]}' \
		"  - {func: use, relaunch: false, exec: \"bash -c 'while cat x; do :; done >out 2>log; true'\", inports: [{filename: x, io_freq: 1}], outports: [{filename: out}], private: [log]}"
	for engine in bubblewrap podman apptainer; do
		usable $engine || continue
		sed -i "s/^engine: .*/engine: $engine/" flow.yaml
		rm -f work/out
		leat run -q flow.yaml
		diff work/out <(printf "$PWD/work/bin/make %s\n" 2 4)
	done
}
