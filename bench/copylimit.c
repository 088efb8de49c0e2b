/* copylimit: how fast two processes copy at once through shared memory in huge pages.
 *   copylimit SIZE OP DIR
 * One copies SIZE bytes into a shared mapping from a buffer of OP bytes, the other at the same time
 * as many out of another half of it: what a producer and a consumer would take if there were
 * nothing else to do. The mapping is warm; it is a file on a tmpfs of huge pages, mounted at DIR in
 * a mount namespace of its own. Prints "GB/s PAGE": bytes through the mapping per second, and the
 * size of its pages (2M, 4K, or mixed). */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In memory both processes share. */
struct meeting {
	_Atomic int arrived;
	uint64_t begin_ns[2], end_ns[2];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
		bench_die("write", path);
}

/* A place for mounts of our own, as an ordinary user too. */
static void enter_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS) == 0)
		return;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		bench_die("make", "a mount namespace");
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)gid);
	write_text("/proc/self/gid_map", map);
}

static char *map_huge(const char *dir, uint64_t size)
{
	char path[4096];
	char *map;
	int fd;

	enter_namespace();
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, "huge=always") < 0)
		bench_die("mount a tmpfs of huge pages at", dir);
	snprintf(path, sizeof(path), "%s/shared", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		bench_die("make", path);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bench_die("map", path);
	return map;
}

/* The size of the pages that this process has mapped of the file. */
static const char *page_size(uint64_t size)
{
	unsigned long long huge_kb = 0, n;
	char line[512];
	FILE *fp = fopen("/proc/self/smaps", "r");

	if (!fp)
		bench_die("read", "/proc/self/smaps");
	while (fgets(line, sizeof(line), fp))
		if (sscanf(line, "ShmemPmdMapped: %llu", &n) == 1)
			huge_kb += n;
	fclose(fp);
	if (huge_kb << 10 >= size)
		return "2M";
	return huge_kb ? "mixed" : "4K";
}

/* Copies in (`side` 0) or out (1), beginning when both are ready. */
static void copy(struct meeting *m, int side, char *shared, uint64_t size, uint64_t op)
{
	char *buf = malloc(op);

	if (!buf)
		bench_die("allocate", "buffer");
	memset(buf, 1, op);
	for (uint64_t i = 0; i < size; i += 4096)
		((volatile char *)shared)[i] = 1;
	atomic_fetch_add(&m->arrived, 1);
	while (atomic_load(&m->arrived) < 2)
		;
	m->begin_ns[side] = now_ns();
	for (uint64_t off = 0; off < size; off += op) {
		if (side == 0)
			memcpy(shared + off, buf, op);
		else
			memcpy(buf, shared + off, op);
		/* The copy is not to be optimised away. */
		__asm__ volatile("" : : "r"(buf) : "memory");
	}
	m->end_ns[side] = now_ns();
	free(buf);
}

int main(int argc, char **argv)
{
	uint64_t size, op, begin_ns, end_ns;
	struct meeting *m;
	int status = 0;
	char *shared;
	pid_t pid;

	if (argc != 4) {
		fputs("usage: copylimit SIZE OP DIR\n", stderr);
		return 2;
	}
	op = bench_size_parse(argv[2]);
	size = op ? bench_size_parse(argv[1]) / op * op : 0;
	if (size == 0) {
		fputs("copylimit: SIZE must be at least OP, and OP at least 1\n", stderr);
		return 2;
	}
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		bench_die("map", "shared memory");
	shared = map_huge(argv[3], 2 * size);
	memset(shared, 1, 2 * size);
	pid = fork();
	if (pid < 0)
		bench_die("fork", "");
	if (pid == 0) {
		copy(m, 1, shared + size, size, op);
		_exit(0);
	}
	copy(m, 0, shared, size, op);
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		bench_die("copy", "out");
	begin_ns = m->begin_ns[0] < m->begin_ns[1] ? m->begin_ns[0] : m->begin_ns[1];
	end_ns = m->end_ns[0] > m->end_ns[1] ? m->end_ns[0] : m->end_ns[1];
	printf("%.2f %s\n", (double)size / (double)(end_ns - begin_ns), page_size(2 * size));
	return 0;
}
