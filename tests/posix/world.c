/* Random choices and the log. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_FD = 1 };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

void world_init(struct world *w, const char *root, const char *self, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->root = root;
	w->self = self;
	w->seed = seed;
	w->tame = seed % 2;
	snprintf(w->shared, sizeof(w->shared), "%.*s/shared", (int)(strrchr(root, '/') - root),
		 root);
	if (access(w->shared, F_OK) < 0)
		w->shared[0] = 0;
	w->bytes = malloc(MAX_BYTES);
	if (!w->bytes)
		abort();
}

void world_release(struct world *w)
{
	free(w->bytes);
}

void world_look(struct world *w)
{
	for (int fd = 3; fd < MAX_FD; fd++)
		w->open[fd] = fcntl(fd, F_GETFD) >= 0;
}

uint64_t pick(struct world *w, uint64_t n)
{
	w->random = mix(w->random);
	return w->random % n;
}

bool chance(struct world *w, unsigned percent)
{
	return pick(w, 100) < percent;
}

static const char *const names[] = {
	"a",   "b",   "c",   "a",     "b",     "d", "e",   "d/a",
	"d/b", "e/a", "d/e", "d/e/a", "d/e/b", "l", "e/l", "m",
};

const char *pick_name(struct world *w)
{
	return PICK(w, names);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

const char *pick_path(struct world *w)
{
	static char too_long[300];
	char *path = w->path[w->paths++ % 3];
	size_t size = sizeof(w->path[0]);
	const char *name = pick_name(w);
	char d[512];

	snprintf(d, sizeof(d), "%s/d", w->root);
	/* What "d/.." is without a d is one of the known differences. */
	switch (w->tame || !is_directory("d/e") || !is_directory(d) ? 40 : pick(w, 40)) {
	case 0:
		snprintf(path, size, "%s/", name);
		break;
	case 1:
		snprintf(path, size, "./%s", name);
		break;
	case 2:
		snprintf(path, size, "%s/d/../%s", w->root, name);
		break;
	case 3:
		snprintf(path, size, "%s/d//e/.././/%s", w->root, name);
		break;
	case 4:
		snprintf(path, size, "%s", PICK(w, ((const char *[]){"", ".", "d/.", "/", "e/."})));
		if (path[0] == '/')
			snprintf(path, size, "%s", w->root);
		break;
	case 5:
		memset(too_long, 'x', sizeof(too_long) - 1);
		snprintf(path, size, "%s", too_long);
		break;
	case 6:
		snprintf(path, size, "a/%s", name);
		break;
	case 7:
		snprintf(path, size, "%s/d/../%s", w->root, name);
		break;
	default:
		if (chance(w, 35))
			snprintf(path, size, "%s/%s", w->root, name);
		else
			snprintf(path, size, "%s", name);
	}
	return path;
}

int pick_fd(struct world *w)
{
	int fds[MAX_FD], n = 0;

	for (int fd = 3; fd < MAX_FD; fd++)
		if (w->open[fd])
			fds[n++] = fd;
	return !n || (!w->tame && chance(w, 2)) ? 50 : fds[pick(w, n)];
}

int pick_dirfd(struct world *w)
{
	return w->tame || chance(w, 75) ? AT_FDCWD : pick_fd(w);
}

off_t pick_offset(struct world *w)
{
	switch (pick(w, 10)) {
	case 0:
		return 0;
	case 1:
		return 4096 * pick(w, 20) + pick(w, 3) - (off_t)1;
	case 2:
		return (2 << 20) + pick(w, 9000) - (off_t)4500;
	case 3:
		return pick(w, 1 << 20);
	case 4:
	case 5:
	case 6:
		return pick(w, 100);
	default:
		return pick(w, 20000);
	}
}

size_t pick_length(struct world *w)
{
	switch (pick(w, 12)) {
	case 0:
		return 0;
	case 1:
		return 4096 * (1 + pick(w, 16));
	case 2:
		return pick(w, 300000);
	case 3:
		return 1 + pick(w, 20);
	case 4:
		return chance(w, 20) ? (2 << 20) + pick(w, 10000) : pick(w, 70000);
	default:
		return pick(w, 5000);
	}
}

void fill(struct world *w, size_t length)
{
	uint64_t x = mix(w->seed ^ (uint64_t)w->step << 20 ^ length);

	for (size_t i = 0; i < length; i++) {
		if (i % 64 == 0)
			x = mix(x);
		w->bytes[i] = (char)(x >> i % 56) | 1;
	}
}

uint64_t digest(const void *bytes, size_t length)
{
	const unsigned char *b = bytes;
	uint64_t h = length;

	for (size_t i = 0; i < length; i++)
		h = (h ^ b[i]) * 0x100000001b3;
	return mix(h) >> 32;
}

void say(struct world *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->line + w->length, sizeof(w->line) - w->length, format, args);
	va_end(args);
	if (n > 0)
		w->length += (size_t)n;
	if (w->length >= sizeof(w->line))
		w->length = sizeof(w->line) - 1;
}

void say_path(struct world *w, const char *path)
{
	size_t n = strlen(w->root);

	if (strlen(path) > 200)
		say(w, "\"%.10s...\"", path);
	else if (!strncmp(path, w->root, n) && (path[n] == '/' || !path[n]))
		say(w, "\"/%s\"", path + n);
	else
		say(w, "\"%s\"", path);
}

long result(struct world *w, long rc)
{
	if (rc < 0)
		say(w, " = -%s", strerrorname_np(errno));
	else
		say(w, " = %ld", rc);
	return rc;
}

void done(struct world *w)
{
	if (w->length > sizeof(w->line) - 2)
		w->length = sizeof(w->line) - 2;
	w->line[w->length++] = '\n';
	if (write(LOG_FD, w->line, w->length) != (ssize_t)w->length)
		abort();
	w->length = 0;
}

void opened(struct world *w, int fd)
{
	if (fd >= 0 && fd < MAX_FD)
		w->open[fd] = true;
}

void closed(struct world *w, int fd)
{
	if (fd >= 0 && fd < MAX_FD)
		w->open[fd] = false;
}

/* Operations of one table, weights summed up. */
static unsigned weigh(const struct operation *table)
{
	unsigned sum = 0;

	for (; table->act; table++)
		sum += table->weight;
	return sum;
}

static int descriptors(const struct world *w)
{
	int n = 0;

	for (int fd = 3; fd < MAX_FD; fd++)
		n += w->open[fd];
	return n;
}

void act(struct world *w, unsigned step)
{
	const struct operation *const tables[] = {data_operations, name_operations,
						  fd_operations,   process_operations,
						  copy_operations, shared_operations};
	size_t n = sizeof(tables) / sizeof(*tables) - (w->shared[0] ? 0 : 1);
	unsigned sum = 0;
	uint64_t at;

	w->step = step;
	w->random = mix(w->seed * 1000003 + step);
	for (size_t i = 0; i < n; i++)
		sum += weigh(tables[i]);
	at = pick(w, sum);
	if (descriptors(w) < 2 && chance(w, 60))
		at = weigh(data_operations); /* the first of the names: open */
	say(w, "%llu.%u ", (unsigned long long)w->seed, step);
	for (size_t i = 0; i < n; i++)
		for (const struct operation *op = tables[i]; op->act; op++) {
			if (at < op->weight) {
				op->act(w);
				done(w);
				return;
			}
			at -= op->weight;
		}
}
