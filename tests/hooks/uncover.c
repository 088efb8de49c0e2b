/* Has the plain workflow's directory show behind its mount, or tries to, and copies `data` of it to
 * standard output; for t/1430-containers.bats, which links it statically.
 *
 *     uncover WAY DIRECTORY
 *
 * WAY-32: the same by the calls of 32-bit programs. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BIND = 0x1000, MOVE = 0x2000, REC = 0x4000, PRIVATE = 0x40000, DETACH = 2 };

static const char *dir;
static char above[4096], room[4200]; /* the directory that it is in, and one beside it */
static bool is_32;

/* By name: x86-64 and i386. */
enum call { MOUNT, UMOUNT, PIVOT, OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, TREE_ATTR };
static const int numbers[][2] = {
	[MOUNT] = {SYS_mount, 21}, [UMOUNT] = {SYS_umount2, 52}, [PIVOT] = {SYS_pivot_root, 217},
	[OPEN_TREE] = {428, 428},  [MOVE_MOUNT] = {429, 429},    [FSOPEN] = {430, 430},
	[FSCONFIG] = {431, 431},   [FSMOUNT] = {432, 432},       [TREE_ATTR] = {467, 467},
};

static long int80(long nr, const long *a)
{
	long result;

	__asm__ volatile("push %%rbx\n\tmov %2, %%ebx\n\tint $0x80\n\tpop %%rbx"
			 : "=a"(result)
			 : "0"(nr), "r"((int)a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* Where a program of 32 bits has it. */
static long low(const char *text)
{
	static char *at;
	char *copy;

	if (!at)
		at = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	copy = strcpy(at, text);
	at += strlen(text) + 1;
	return (long)(uintptr_t)copy;
}

static long call(enum call which, long a, long b, long c, long d, long e)
{
	const long args[] = {a, b, c, d, e};
	long result =
		is_32 ? int80(numbers[which][1], args) : syscall(numbers[which][0], a, b, c, d, e);

	if (is_32 && result < 0)
		errno = (int)-result, result = -1;
	if (result < 0)
		perror("uncover");
	return result;
}

static void show(const char *where)
{
	char path[8192], buffer[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/data", where);
	fd = open(path, O_RDONLY);
	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(1, buffer, (size_t)n) != n)
			exit(9);
}

/* By the directory's own name, below another directory. */
static void show_in(const char *where)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s", where, strrchr(dir, '/') + 1);
	show(path);
}

static void unmounted(void)
{
	call(UMOUNT, low(dir), DETACH, 0, 0, 0);
	show(dir);
}

static void unmounted_from_within(void)
{
	if (chdir(dir) == 0)
		call(UMOUNT, low("."), DETACH, 0, 0, 0);
	show(dir);
}

static void unmounted_by_descriptor(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", open(dir, O_PATH | O_DIRECTORY));
	call(UMOUNT, low(path), DETACH, 0, 0, 0);
	show(dir);
}

/* In a copy of all mounts. */
static void unmounted_elsewhere(void)
{
	char path[8192];

	call(MOUNT, low(above), low(room), 0, BIND | REC, 0);
	snprintf(path, sizeof(path), "%s/%s", room, strrchr(dir, '/') + 1);
	call(UMOUNT, low(path), DETACH, 0, 0, 0);
	show(path);
}

static void moved(void)
{
	call(MOUNT, low(dir), low(room), 0, MOVE, 0);
	show(dir);
}

static void moved_anew(void)
{
	call(MOVE_MOUNT, AT_FDCWD, low(dir), AT_FDCWD, low(room), 0);
	show(dir);
}

static void made_root(void)
{
	char path[8192];

	if (chdir(dir) < 0 || (mkdir("under", 0755) < 0 && errno != EEXIST))
		exit(9);
	call(PIVOT, low("."), low("under"), 0, 0, 0);
	snprintf(path, sizeof(path), "/under%s", dir);
	show(path);
	show(dir);
}

static void bound(void)
{
	/* Bits that the kernel takes for nothing here. */
	call(MOUNT, low(above), low(room), 0, BIND | PRIVATE, 0);
	show_in(room);
}

static void attributed(void)
{
	long tree = call(TREE_ATTR, AT_FDCWD, low(above), OPEN_TREE_CLONE, 0, 0);

	if (tree >= 0 && fchdir((int)tree) == 0)
		show_in(".");
}

static const char *overlay_options(void)
{
	static char options[16384];

	snprintf(options, sizeof(options), "ro,lowerdir=/proc/sys:%s", above);
	return options;
}

static void overlaid(void)
{
	call(MOUNT, low("none"), low(room), low("overlay"), 0, low(overlay_options()));
	show_in(room);
}

static void overlaid_anew(const char *key, const char *value)
{
	long fs = call(FSOPEN, low("overlay"), 0, 0, 0, 0), tree;

	call(FSCONFIG, fs, FSCONFIG_SET_STRING, low(key), low(value), 0);
	if (strcmp(key, "lowerdir+") == 0)
		call(FSCONFIG, fs, FSCONFIG_SET_STRING, low(key), low("/proc/sys"), 0);
	call(FSCONFIG, fs, FSCONFIG_CMD_CREATE, 0, 0, 0);
	tree = call(FSMOUNT, fs, 0, 0, 0, 0);
	if (tree >= 0 && fchdir((int)tree) == 0)
		show_in(".");
}

static void overlaid_list(void)
{
	overlaid_anew("lowerdir", strchr(overlay_options(), '=') + 1);
}

static void overlaid_layer(void)
{
	overlaid_anew("lowerdir+", above);
}

/* What is there already, once more. */
static void mounted_again(void)
{
	char device[64], node[8192], type[64] = "", line[8192];
	struct stat st;
	FILE *in = fopen("/proc/self/mountinfo", "r");

	if (stat(above, &st) < 0)
		exit(9);
	snprintf(device, sizeof(device), " %u:%u ", major(st.st_dev), minor(st.st_dev));
	while (in && fgets(line, sizeof(line), in))
		if (strstr(line, device) && sscanf(strstr(line, " - "), " - %63s", type) == 1)
			break;
	snprintf(node, sizeof(node), "%s/device", room);
	if (mknod(node, S_IFBLK | 0600, st.st_dev) < 0)
		exit(9);
	if (call(MOUNT, low(node), low(room), low(type), 1, 0) == 0)
		puts("mounted again"); /* what is where in it is nobody's concern here */
}

/* Things that engines do. */
static void harmless(void)
{
	char path[8192];

	call(MOUNT, low(dir), low(room), 0, BIND, 0);
	show(room);
	call(MOUNT, low(room), low(room), 0, BIND | REC, 0);
	call(UMOUNT, low(room), DETACH, 0, 0, 0);
	call(UMOUNT, low(room), DETACH, 0, 0, 0);
	call(MOUNT, low("none"), low(room), low("tmpfs"), 0, 0);
	snprintf(path, sizeof(path), "%s/old", room);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/w", room);
	mkdir(path, 0755);
	call(MOUNT, low(dir), low(path), 0, BIND | REC, 0);
	snprintf(path, sizeof(path), "%s/old", room);
	call(PIVOT, low(room), low(path), 0, 0, 0);
	if (chdir("/") < 0)
		exit(9);
	call(UMOUNT, low("/old"), DETACH, 0, 0, 0);
	show("/w");
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"umount", unmounted},
	{"umount-within", unmounted_from_within},
	{"umount-descriptor", unmounted_by_descriptor},
	{"umount-copy", unmounted_elsewhere},
	{"move", moved},
	{"move_mount", moved_anew},
	{"pivot_root", made_root},
	{"bind", bound},
	{"open_tree_attr", attributed},
	{"overlay", overlaid},
	{"fsconfig", overlaid_list},
	{"fsconfig-layer", overlaid_layer},
	{"device", mounted_again},
	{"harmless", harmless},
};

int main(int argc, char **argv)
{
	size_t length;

	if (argc < 3)
		return 2;
	dir = argv[2];
	strcpy(above, dir);
	dirname(above);
	snprintf(room, sizeof(room), "%s/room", above);
	length = strlen(argv[1]);
	if (length > 3 && strcmp(argv[1] + length - 3, "-32") == 0)
		is_32 = true, argv[1][length - 3] = 0;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    chdir("/") < 0)
		return 2;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			ways[i].run();
			return 0;
		}
	return 2;
}
