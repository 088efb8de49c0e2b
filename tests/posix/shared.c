/* Files that many processes read at the same time, and nobody writes. Each operation leaves nothing
 * open, so that no other one can reach them. */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_READS = 40 };

static const char *const names[] = {"empty", "small", "lines", "sparse", "none"};

static const char *shared_path(struct world *w, const char *name)
{
	char *path = w->path[w->paths++ % 3];

	snprintf(path, sizeof(w->path[0]), "%s/%s", w->shared, name);
	return path;
}

/* Says the call, and opens. */
static int open_shared(struct world *w, const char *call)
{
	const char *name = PICK(w, names);

	say(w, "%s(shared/%s)", call, name);
	return (int)result(w, open(shared_path(w, name), O_RDONLY | O_CLOEXEC));
}

static void read_through(struct world *w)
{
	int fd = open_shared(w, "read");
	uint64_t h = 0;
	ssize_t n = 0;

	for (int i = 0; fd >= 0 && i < MAX_READS; i++) {
		n = read(fd, w->bytes, pick_length(w));
		if (n < 0)
			break;
		h = h * 31 + digest(w->bytes, (size_t)n);
	}
	if (fd < 0)
		return;
	say(w, " last");
	result(w, n);
	say(w, " %08llx at %lld", (unsigned long long)h, (long long)lseek(fd, 0, SEEK_CUR));
	close(fd);
}

static void read_places(struct world *w)
{
	int fd = open_shared(w, "pread"), n = 1 + (int)pick(w, 5);

	for (int i = 0; fd >= 0 && i < n; i++) {
		off_t offset = pick_offset(w);
		ssize_t got;

		say(w, " %lld", (long long)offset);
		got = pread(fd, w->bytes, pick_length(w), offset);
		if (result(w, got) > 0)
			say(w, " %08llx", (unsigned long long)digest(w->bytes, (size_t)got));
	}
	if (fd >= 0)
		close(fd);
}

static void map_part(struct world *w)
{
	int fd = open_shared(w, "mmap"), flags = chance(w, 50) ? MAP_SHARED : MAP_PRIVATE;
	struct stat st;
	char *at;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !st.st_size) {
		say(w, " nothing");
	} else {
		size_t from = pick(w, (uint64_t)st.st_size), length = pick_length(w);

		if (length > (size_t)st.st_size - from)
			length = (size_t)st.st_size - from;
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, flags, fd, 0);
		say(w, " %zu+%zu", from, length);
		if (at == MAP_FAILED)
			result(w, -1);
		else
			say(w, " %08llx", (unsigned long long)digest(at + from, length));
		if (at != MAP_FAILED)
			munmap(at, (size_t)st.st_size);
	}
	close(fd);
}

static void stat_it(struct world *w)
{
	const char *name = PICK(w, names);
	struct stat st;

	say(w, "stat(shared/%s)", name);
	if (result(w, stat(shared_path(w, name), &st)) == 0)
		say_stat(w, &st);
	say(w, " access");
	result(w, access(shared_path(w, name), R_OK));
}

static void list(struct world *w)
{
	struct dirent **entries;
	int n = scandir(w->shared, &entries, NULL, alphasort);

	say(w, "list(shared)");
	result(w, n);
	for (int i = 0; i < n; i++) {
		say(w, " %s", entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Into a file of this process's own. */
static void copy(struct world *w)
{
	const char *name = pick_name(w);
	int in = open_shared(w, "copy"), out;
	bool send = chance(w, 50);
	off_t total = 0;
	ssize_t n = 0;

	if (in < 0)
		return;
	say(w, " to %s", name);
	out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	result(w, out);
	for (int i = 0; out >= 0 && i < MAX_READS; i++) {
		n = send ? sendfile(out, in, NULL, 1 << 18)
			 : copy_file_range(in, NULL, out, NULL, 1 << 18, 0);
		if (n <= 0)
			break;
		total += n;
	}
	if (out >= 0) {
		say(w, " %lld bytes, last", (long long)total);
		result(w, n);
		close(out);
	}
	close(in);
}

const struct operation shared_operations[] = {
	{60, read_through}, {60, read_places}, {40, map_part}, {30, stat_it},
	{15, list},         {25, copy},        {0, NULL},
};
