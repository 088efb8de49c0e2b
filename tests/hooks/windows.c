/* Small reads and writes, as the library copies them itself, mixed with everything else that can be
 * done to an open file. Each program knows what the file must hold and how long it must be at any
 * moment.
 *   windows edit SEED FILE COPY   change FILE at random, then write what it should be into COPY
 *   windows append SEED FILE      write the pattern to the end of FILE in random ways
 *   windows read SEED FILE        read it so, to its end
 * Exit status 1 and a line on standard error if something is not as it should be. */
#include "windows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state, seed;
unsigned long step;

uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

size_t below(size_t n)
{
	return next() % n;
}

static void fail(const char *what)
{
	fprintf(stderr, "windows: seed %llu, step %lu: %s: %s\n", (unsigned long long)seed, step,
		what, strerror(errno));
	exit(1);
}

void check(bool ok, const char *what)
{
	if (!ok)
		fail(what);
}

/* ---- the pattern of append and read ---- */

static unsigned char byte_at(uint64_t at)
{
	uint64_t x = (at >> 3) * 0x9e3779b97f4a7c15ULL + seed;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return (unsigned char)((x ^ x >> 32) >> (8 * (at & 7)));
}

static void make(unsigned char *buf, uint64_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = byte_at(at + i);
}

static void compare(const unsigned char *buf, uint64_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(buf[i] == byte_at(at + i), "a wrong byte was read");
}

static uint64_t total_of_seed(void)
{
	return (1 << 20) + seed * 7919 % 4000000;
}

/* ---- append ---- */

unsigned char buffer[LARGE + SMALL];

void wait_for(pid_t pid)
{
	int status;

	check(pid > 0, "fork");
	while (waitpid(pid, &status, 0) < 0)
		check(errno == EINTR, "waitpid");
	check(status == 0, "a child failed");
}

void write_all(int fd, const unsigned char *buf, size_t n)
{
	check(write(fd, buf, n) == (ssize_t)n, "write");
}

static void append_in_child(int fd, uint64_t at, size_t n)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (size_t i = 0; i < n; i += 100) {
			make(buffer, at + i, 100);
			write_all(fd, buffer, n - i < 100 ? n - i : 100);
		}
		_exit(0);
	}
	wait_for(pid);
}

/* cat writes to a descriptor it inherits. */
static void append_by_program(int fd, uint64_t at, size_t n)
{
	posix_spawn_file_actions_t actions;
	char name[] = "cat";
	char *argv[] = {name, NULL};
	extern char **environ;
	int ends[2];
	pid_t pid;

	check(pipe(ends) == 0, "pipe");
	make(buffer, at, n);
	write_all(ends[1], buffer, n);
	close(ends[1]);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
	posix_spawn_file_actions_adddup2(&actions, fd, 1);
	check(posix_spawnp(&pid, "cat", &actions, NULL, argv, environ) == 0, "posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	wait_for(pid);
}

static void append_vector(int fd, uint64_t at, size_t n)
{
	struct iovec v[2] = {{buffer, n / 2}, {buffer + n / 2, n - n / 2}};

	make(buffer, at, n);
	check(writev(fd, v, 2) == (ssize_t)n, "writev");
}

static void append_by_copy(int fd, uint64_t at, size_t n)
{
	int from = memfd_create("windows", 0);

	check(from >= 0, "memfd_create");
	make(buffer, at, n);
	write_all(from, buffer, n);
	check(lseek(from, 0, SEEK_SET) == 0, "lseek");
	check(sendfile(fd, from, NULL, n) == (ssize_t)n, "sendfile");
	close(from);
}

/* One piece at `at`, the end; returns how long it is. */
static size_t append_piece(int fd, uint64_t at, uint64_t total)
{
	size_t way = below(1000), n = 1 + below(way < 30 ? LARGE : SMALL);
	int copy;

	if (n > total - at)
		n = (size_t)(total - at);
	make(buffer, at, n);
	if (way == 40) {
		append_in_child(fd, at, n);
	} else if (way == 41 && n < 60000) {
		append_by_program(fd, at, n);
	} else if (way == 42) {
		append_by_copy(fd, at, n);
	} else if (way < 50) {
		append_vector(fd, at, n);
	} else if (way < 60) {
		check(pwrite(fd, buffer, n, (off_t)at) == (ssize_t)n, "pwrite");
		check(lseek(fd, (off_t)n, SEEK_CUR) == (off_t)(at + n), "lseek");
	} else if (way < 64) {
		copy = dup(fd);
		check(copy >= 0, "dup");
		write_all(copy, buffer, n);
		close(copy);
	} else {
		write_all(fd, buffer, n);
	}
	return n;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

void check_size(int fd, const char *path, uint64_t size)
{
	struct stat st;

	check(fstat(fd, &st) == 0 && (uint64_t)st.st_size == size, "fstat's size");
	if (!path)
		return;
	check(stat(path, &st) == 0 && (uint64_t)st.st_size == size, "stat's size");
}

static int append(const char *path)
{
	const struct itimerval often = {{0, 700}, {0, 700}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	uint64_t total = total_of_seed();
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | (seed % 2 ? O_CLOEXEC : 0), 0666);

	check(fd >= 0, path);
	sigaction(SIGALRM, &action, NULL);
	if (seed % 3 == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t at = 0; at < total; step++) {
		at += append_piece(fd, at, total);
		if (below(50) == 0)
			check_size(fd, below(4) ? NULL : path, at);
		if (below(200) == 0)
			check(lseek(fd, 0, SEEK_END) == (off_t)at, "SEEK_END");
	}
	check(seed % 5 == 0 || close(fd) == 0, "close"); /* some leave it to the end */
	return 0;
}

/* ---- read ---- */

static size_t read_piece(int fd, uint64_t at)
{
	size_t way = below(100), want = 1 + below(way < 3 ? LARGE : SMALL);
	ssize_t n;

	if (way == 10) {
		check(lseek(fd, 0, SEEK_CUR) == (off_t)at, "the offset");
		n = pread(fd, buffer, want, (off_t)at);
		check(n >= 0 && lseek(fd, n, SEEK_CUR) == (off_t)at + n, "lseek");
	} else if (way > 11 && way < 30) {
		n = pread(fd, buffer, want, (off_t)at);
		check(n >= 0 && lseek(fd, n, SEEK_CUR) == (off_t)at + n, "lseek");
	} else if (way == 11 && at > 1000) {
		check(lseek(fd, -1000, SEEK_CUR) == (off_t)at - 1000, "lseek back");
		check(read(fd, buffer, 1000) == 1000, "read again");
		compare(buffer, at - 1000, 1000);
		n = read(fd, buffer, want);
	} else {
		n = read(fd, buffer, want);
	}
	check(n >= 0, "read");
	compare(buffer, at, (size_t)n);
	return (size_t)n;
}

/* A program gets the descriptor, and looks at nothing. */
static void hand_on(int fd)
{
	posix_spawn_file_actions_t actions;
	char name[] = "true";
	char *argv[] = {name, NULL};
	extern char **environ;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, 0);
	check(posix_spawnp(&pid, name, &actions, NULL, argv, environ) == 0, "posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	wait_for(pid);
}

/* A child goes on at the common offset. */
static uint64_t read_in_child(int fd, uint64_t at)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < MANY; i++)
			at += read_piece(fd, at);
		_exit(0);
	}
	wait_for(pid);
	return (uint64_t)lseek(fd, 0, SEEK_CUR);
}

static int read_whole(const char *path)
{
	uint64_t at = 0, total = total_of_seed();
	int fd = open(path, O_RDONLY);

	check(fd >= 0, path);
	for (;; step++) {
		size_t n = read_piece(fd, at);

		at += n;
		if (n == 0)
			break;
		if (below(500) == 0)
			at = read_in_child(fd, at);
		if (seed % 4 == 0 && below(100) == 0)
			hand_on(fd);
	}
	check(at == total, "the end of the file came at another place");
	check_size(fd, path, total);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	seed = strtoull(argv[2], NULL, 10);
	state = seed * 2654435761u + 88172645463325252ULL;
	if (strcmp(argv[1], "edit") == 0 && argc == 5)
		return edit(argv[3], argv[4]);
	if (strcmp(argv[1], "append") == 0)
		return append(argv[3]);
	return strcmp(argv[1], "read") == 0 ? read_whole(argv[3]) : 2;
}
