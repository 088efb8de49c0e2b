# Root file systems for containers, and podman apart from the machine's. `load image` after `load helper`.
# shellcheck shell=bash

# podman 5 warns of control groups of version 1 on standard error, which is compared: that one warning only.
export PODMAN_IGNORE_CGROUPSV1_WARNING=1

# image DIR PROGRAM...: a root file system of this machine's own programs.
image() {
	local root=$1 program path
	shift
	mkdir -p "$root"/{usr/bin,dev,etc,home,proc,root,run,sys,tmp,var/tmp}
	chmod 1777 "$root/tmp" "$root/var/tmp" # as everywhere; runc gives it to what is mounted there
	ln -sfn usr/bin "$root/bin"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	for program in "$@"; do
		path=$(realpath "$(type -P "$program")")
		cp "$path" "$root/usr/bin/$program"
		ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root/$(dirname "$library")"
			cp -L "$library" "$root/$library"
		done
	done
	ln -sf bash "$root/usr/bin/sh"
}

# podman_apart DIR: podman has a storage of its own, DIR/podman, and runs also where even root may not raise limits.
podman_apart() {
	printf '[engine]\nruntime = "%s"\n[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n' \
		"$(type -P runc || echo crun)" >"$1/containers.conf"
	printf '[storage]\ndriver = "vfs"\nrunroot = "%s"\ngraphroot = "%s"\n' "$1/podman/run" "$1/podman/graph" >"$1/storage.conf"
	export CONTAINERS_CONF=$1/containers.conf CONTAINERS_STORAGE_CONF=$1/storage.conf
}
