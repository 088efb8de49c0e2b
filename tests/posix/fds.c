/* Operations on descriptors, locks and listings. */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void do_close(struct world *w)
{
	int fd = pick_fd(w);

	say(w, "close(%d)", fd);
	result(w, close(fd));
	closed(w, fd);
}

static void do_dup(struct world *w)
{
	int fd = pick_fd(w), to = 20 + (int)pick(w, 6);
	int cloexec = chance(w, 50) ? O_CLOEXEC : 0;

	switch (pick(w, 5)) {
	case 0:
		say(w, "dup(%d)", fd);
		opened(w, (int)result(w, dup(fd)));
		break;
	case 1:
		to = chance(w, 30) ? fd : to;
		say(w, "dup2(%d, %d)", fd, to);
		opened(w, (int)result(w, dup2(fd, to)));
		break;
	case 2:
		to = chance(w, 30) ? pick_fd(w) : to;
		say(w, "dup3(%d, %d, %#o)", fd, to, cloexec);
		opened(w, (int)result(w, dup3(fd, to, cloexec)));
		break;
	case 3:
		say(w, "F_DUPFD(%d, %d)", fd, to);
		opened(w, (int)result(w, fcntl(fd, F_DUPFD, to)));
		break;
	default:
		say(w, "F_DUPFD_CLOEXEC(%d)", fd);
		opened(w, (int)result(w, fcntl(fd, F_DUPFD_CLOEXEC, 10)));
	}
}

static void do_fcntl(struct world *w)
{
	int fd = pick_fd(w);

	say(w, "fcntl(%d)", fd);
	switch (pick(w, 5)) {
	case 0:
		result(w, fcntl(fd, F_GETFD));
		break;
	case 1:
		result(w, fcntl(fd, F_GETFL));
		break;
	case 2:
		result(w, fcntl(fd, F_SETFL, chance(w, 50) ? O_APPEND : 0));
		break;
	case 3:
		result(w, fcntl(fd, F_SETFD, chance(w, 50) ? FD_CLOEXEC : 0));
		break;
	default:
		result(w, fcntl(fd, F_GET_SEALS));
	}
}

static void do_close_range(struct world *w)
{
	unsigned first = 18 + (unsigned)pick(w, 5), last = first + (unsigned)pick(w, 4);
	int flags = chance(w, 40) ? (int)CLOSE_RANGE_CLOEXEC : 0;

	say(w, "close_range(%u, %u, %d)", first, last, flags);
	if (result(w, close_range(first, last, flags)) == 0 && !flags)
		for (unsigned fd = first; fd <= last; fd++)
			closed(w, (int)fd);
}

static void do_flock(struct world *w)
{
	int fd = pick_fd(w), how = PICK(w, ((int[]){LOCK_SH, LOCK_EX, LOCK_UN})) | LOCK_NB;

	say(w, "flock(%d, %d)", fd, how);
	result(w, flock(fd, how));
}

static void do_lock(struct world *w)
{
	static const int commands[] = {F_SETLK, F_GETLK, F_OFD_SETLK, F_OFD_GETLK};
	static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK};
	int fd = pick_fd(w), command = PICK(w, commands);
	struct flock lock = {.l_type = PICK(w, types), .l_whence = SEEK_SET};

	if (command == F_GETLK || command == F_OFD_GETLK)
		lock.l_type = F_WRLCK;
	lock.l_start = pick_offset(w);
	if (lock.l_start < 0)
		lock.l_start = 0;
	lock.l_len = chance(w, 40) ? 0 : 1 + (off_t)pick(w, 1000);
	say(w, "lock(%d, %d, %d, %lld, %lld)", fd, command, lock.l_type, (long long)lock.l_start,
	    (long long)lock.l_len);
	if (result(w, fcntl(fd, command, &lock)) == 0)
		say(w, " %d %lld %lld", lock.l_type, (long long)lock.l_start,
		    (long long)lock.l_len);
}

static void do_ioctl(struct world *w)
{
	int fd = pick_fd(w), n = -1;
	struct stat st;

	say(w, "ioctl(%d)", fd);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (result(w, ioctl(fd, FIONREAD, &n)) == 0)
		say(w, " %d", n);
	result(w, isatty(fd));
}

enum { MAX_NAMES = 64 };

/* Names in the order they come, which is the file system's own affair. */
static int list(DIR *dir, char names[][64])
{
	struct dirent *entry;
	int n = 0;

	while (n < MAX_NAMES && (entry = readdir(dir))) {
		snprintf(names[n], 62, "%.60s", entry->d_name);
		names[n][62] = '0' + (char)(entry->d_type % 64);
		names[n++][63] = 0;
	}
	return n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void say_names(struct world *w, char names[][64], int n)
{
	qsort(names, (size_t)n, 64, by_name);
	for (int i = 0; i < n; i++)
		say(w, " %s%c", names[i], names[i][62]);
}

static void do_list(struct world *w)
{
	char names[MAX_NAMES][64], again[MAX_NAMES][64];
	const char *path = chance(w, 50) ? "." : pick_path(w);
	DIR *dir = opendir(path);
	long at;
	int n;

	say(w, "list ");
	say_path(w, path);
	if (result(w, dir ? 0 : -1) < 0)
		return;
	memset(names, 0, sizeof(names));
	memset(again, 0, sizeof(again));
	readdir(dir);
	at = telldir(dir);
	n = list(dir, names);
	seekdir(dir, at);
	if (list(dir, again) != n || memcmp(names, again, sizeof(names)))
		say(w, " another listing after seekdir");
	rewinddir(dir);
	memset(names, 0, sizeof(names));
	say_names(w, names, list(dir, names));
	closedir(dir);
}

/* The same on a descriptor that lives on. */
static void do_list_descriptor(struct world *w)
{
	char names[MAX_NAMES][64] = {{0}};
	int fd = pick_fd(w), copy = dup(fd);
	DIR *dir = fdopendir(copy);

	say(w, "list descriptor %d", fd);
	if (result(w, dir ? 0 : -1) < 0) {
		close(copy);
		return;
	}
	rewinddir(dir);
	say_names(w, names, list(dir, names));
	closedir(dir);
}

const struct operation fd_operations[] = {
	{22, do_close}, {30, do_dup},  {20, do_fcntl}, {6, do_close_range},     {10, do_flock},
	{15, do_lock},  {4, do_ioctl}, {25, do_list},  {8, do_list_descriptor}, {0, NULL},
};
