/* What a directory lies on. */
#include "probe/probe.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

static const char *const network_fs[] = {
	"nfs",    "nfs4",         "cifs",     "smb3",      "lustre",         "gpfs",
	"beegfs", "beegfs_nodev", "ceph",     "fuse.ceph", "fuse.glusterfs", "fuse.sshfs",
	"9p",     "afs",          "orangefs", "pvfs2",     "panfs",          "wekafs",
};

static bool is_network(const char *fs)
{
	for (size_t i = 0; i < sizeof(network_fs) / sizeof(network_fs[0]); i++)
		if (strcmp(fs, network_fs[i]) == 0)
			return true;
	return false;
}

static bool lies_in(const char *path, const char *mount)
{
	return strcmp(mount, "/") == 0 || strcmp(path, mount) == 0 ||
	       leat_path_is_below(path, mount);
}

/* Fields that are too long are of no device we could name. */
static bool copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size)
		return false;
	memcpy(to, from, length + 1);
	return true;
}

/* The mount the path lies in: the longest, and of those that hide each other the last. */
static int find_mount(const char *path, struct leat_probe_device *device)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent entry, *m;
	char line[3 * PATH_MAX];
	size_t longest = 0;

	if (!mounts)
		return -errno;
	while ((m = getmntent_r(mounts, &entry, line, sizeof(line)))) {
		size_t length = strlen(m->mnt_dir);

		if (length < longest || !lies_in(path, m->mnt_dir))
			continue;
		if (copy(device->mount, sizeof(device->mount), m->mnt_dir) &&
		    copy(device->source, sizeof(device->source), m->mnt_fsname) &&
		    copy(device->fs, sizeof(device->fs), m->mnt_type))
			longest = length;
	}
	endmntent(mounts);
	return longest ? 0 : -ENODEV;
}

/* Does the block device, or the disk it is a part of, rotate? -1: it does not say. */
static int rotates(dev_t dev)
{
	static const char *const places[] = {"queue/rotational", "../queue/rotational"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[128], *text = NULL;
		int answer;

		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(dev), minor(dev),
			 places[i]);
		if (leat_read_file(path, 64, &text, NULL) < 0)
			continue;
		answer = text[0] == '1';
		free(text);
		return answer;
	}
	return -1;
}

static const char *type_of(const struct leat_probe_device *device, dev_t dev)
{
	if (device->shared)
		return "network";
	if (strcmp(device->fs, "tmpfs") == 0 || strcmp(device->fs, "ramfs") == 0)
		return "RAM";
	switch (rotates(dev)) {
	case 0:
		return "SSD";
	case 1:
		return "HDD";
	default:
		return "unknown";
	}
}

static void name_device(struct leat_probe_device *device)
{
	const char *slash = strrchr(device->source, '/');
	const char *from = slash && slash[1] ? slash + 1 : device->source;

	snprintf(device->name, sizeof(device->name), "%.*s", NAME_MAX, from);
	for (char *c = device->name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._",
			    *c))
			*c = '-';
}

int leat_probe_look(const char *dir, struct leat_probe_device *device)
{
	char *path = realpath(dir, NULL);
	struct statvfs vfs;
	struct stat st;
	int ret;

	*device = (struct leat_probe_device){.type = "unknown"};
	if (!path)
		return -errno;
	ret = stat(path, &st) < 0 || statvfs(path, &vfs) < 0 ? -errno : 0;
	if (ret == 0 && !S_ISDIR(st.st_mode))
		ret = -ENOTDIR;
	if (ret == 0)
		ret = find_mount(path, device);
	free(path);
	if (ret < 0)
		return ret;
	device->shared = is_network(device->fs);
	device->type = type_of(device, st.st_dev);
	device->size_bytes = (uint64_t)vfs.f_blocks * vfs.f_frsize;
	device->free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	name_device(device);
	return 0;
}
