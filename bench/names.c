/* names: a directory of many names, made, or listed while it grows.
 *   names make|list DIR COUNT
 * make: makes DIR and COUNT files in it, each of which holds its number. list: reads the directory
 * once, from its begin to its end, while it grows; each of the COUNT names has to come exactly
 * once. Exit status 0 if all is right, 3 on a wrong name. */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_one(const char *dir, uint64_t i)
{
	char path[4096], text[32];
	int n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)i), fd;

	snprintf(path, sizeof(path), "%s/name_%06llu", dir, (unsigned long long)i);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, (size_t)n) != n || close(fd) < 0)
		bench_die("make", path);
}

static void make(const char *dir, uint64_t count)
{
	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		bench_die("make", dir);
	for (uint64_t i = 0; i < count; i++)
		make_one(dir, i);
}

/* The number in the name; `count`: it is none of ours. */
static uint64_t number_of(const char *name, uint64_t count)
{
	uint64_t i = count;
	char *end = NULL;

	if (strncmp(name, "name_", 5) == 0 && name[5])
		i = strtoull(name + 5, &end, 10);
	return end && !*end && i < count ? i : count;
}

static int list(const char *dir, uint64_t count)
{
	unsigned char *seen = calloc(count ? count : 1, 1);
	DIR *stream = opendir(dir);
	uint64_t n = 0, wrong = 0;
	struct dirent *e;

	if (!seen || !stream)
		bench_die("open", dir);
	while (errno = 0, (e = readdir(stream))) {
		uint64_t i = number_of(e->d_name, count);

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		wrong += i == count || seen[i];
		if (i < count)
			seen[i] = 1;
		n++;
	}
	if (errno)
		bench_die("read", dir);
	closedir(stream);
	free(seen);
	if (!wrong && n == count)
		return 0;
	fprintf(stderr, "names: %s: %llu names instead of %llu, %llu of them wrong\n", dir,
		(unsigned long long)n, (unsigned long long)count, (unsigned long long)wrong);
	return 3;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc != 4 || (strcmp(argv[1], "make") != 0 && strcmp(argv[1], "list") != 0)) {
		fputs("usage: names make|list DIR COUNT\n", stderr);
		return 2;
	}
	bench_clock_start();
	if (*argv[1] == 'm')
		make(argv[2], bench_size_parse(argv[3]));
	else
		status = list(argv[2], bench_size_parse(argv[3]));
	bench_clock_stop();
	return status;
}
