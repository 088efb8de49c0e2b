/* The program that the steps of the campaigns run: makes files of known content and reads them to
 * their end. What it took for complete it says in the file ACTOR_LOG, outside of the workflow.
 *
 *   actor OP ARGUMENT... [, OP ARGUMENT...]...
 *
 * Any error ends it with status 1 and a line on standard error. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHUNK = 1 << 20 };

static char chunk[MAX_CHUNK];

static void fail(const char *what)
{
	fprintf(stderr, "actor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(bool ok, const char *what)
{
	if (!ok)
		fail(what);
}

static char byte_at(size_t i)
{
	return (char)(i ^ i >> 8 ^ i >> 16);
}

static void fill(size_t from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		chunk[i] = byte_at(from + i);
}

static void tell(const char *verdict, const char *name, size_t size)
{
	const char *path = getenv("ACTOR_LOG");
	char line[512];
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	int n = snprintf(line, sizeof(line), "%s %s %zu\n", verdict, name, size);

	check(fd >= 0 && write(fd, line, (size_t)n) == n && close(fd) == 0, "ACTOR_LOG");
}

static int create(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	check(fd >= 0, name);
	return fd;
}

/* With pwrite(2). */
static void put(int fd, const char *name, size_t from, size_t length, size_t step)
{
	while (length) {
		size_t n = length < step ? length : step;

		fill(from, n);
		check(pwrite(fd, chunk, n, (off_t)from) == (ssize_t)n, name);
		from += n;
		length -= n;
	}
}

/* With write(2). */
static void write_all(int fd, const char *name, size_t size, size_t step)
{
	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		fill(at, n);
		check(write(fd, chunk, n) == (ssize_t)n, name);
	}
}

/* make FILE BYTES CHUNK */
static void make(char **v)
{
	int fd = create(v[0]);

	write_all(fd, v[0], strtoul(v[1], NULL, 10), strtoul(v[2], NULL, 10));
	check(close(fd) == 0, v[0]);
}

/* add FILE FROM BYTES: to one that was there before the run. */
static void to_add(char **v)
{
	int fd = open(v[0], O_RDWR);

	check(fd >= 0, v[0]);
	put(fd, v[0], strtoul(v[1], NULL, 10), strtoul(v[2], NULL, 10), 4096);
	check(close(fd) == 0, v[0]);
}

/* holes FILE BYTES: the second half first. */
static void holes(char **v)
{
	size_t size = strtoul(v[1], NULL, 10);
	int fd = create(v[0]);

	put(fd, v[0], size / 2, size - size / 2, 4096);
	put(fd, v[0], 0, size / 2, 4096);
	check(close(fd) == 0, v[0]);
}

/* cut FILE BYTES: more first. */
static void cut(char **v)
{
	size_t size = strtoul(v[1], NULL, 10);
	int fd = create(v[0]);

	put(fd, v[0], 0, size * 2, 8192);
	check(ftruncate(fd, (off_t)size) == 0 && close(fd) == 0, v[0]);
}

/* shrink FILE BYTES: what is there already. */
static void shrink(char **v)
{
	int fd = open(v[0], O_RDWR);

	check(fd >= 0 && ftruncate(fd, (off_t)strtoul(v[1], NULL, 10)) == 0, v[0]);
	check(close(fd) == 0, v[0]);
}

/* pour BYTES CHUNK: into standard output. */
static void pour(char **v)
{
	write_all(STDOUT_FILENO, "stdout", strtoul(v[0], NULL, 10), strtoul(v[1], NULL, 10));
}

/* take FILE BYTES CHUNK: read to the end; a size of 0 stands for any. */
static void take_from(int fd, const char *name, size_t size, size_t step)
{
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, chunk, step)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (chunk[i] != byte_at(at + (size_t)i)) {
				tell("wrong", name, at + (size_t)i);
				exit(1);
			}
		at += (size_t)n;
	}
	check(n == 0, name);
	tell(!size || at == size ? "complete" : "truncated", name, at);
	if (size && at != size)
		exit(1);
}

static void take(char **v)
{
	int fd = open(v[0], O_RDONLY);

	check(fd >= 0, v[0]);
	take_from(fd, v[0], strtoul(v[1], NULL, 10), strtoul(v[2], NULL, 10));
	check(close(fd) == 0, v[0]);
}

/* share FILE BYTES: sendfile(2) to the end, while a child has the same open file description. */
static void share(char **v)
{
	int fd = open(v[0], O_RDONLY), out = memfd_create("copy", 0), ends[2];
	ssize_t n;
	pid_t pid;

	check(fd >= 0 && out >= 0 && pipe(ends) == 0, v[0]);
	pid = fork();
	check(pid >= 0, "fork");
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &(char){0}, 1) != 0);
	}
	close(ends[0]);
	while ((n = sendfile(out, fd, NULL, MAX_CHUNK)) > 0)
		;
	check(n == 0 && lseek(out, 0, SEEK_SET) == 0, v[0]);
	take_from(out, v[0], strtoul(v[1], NULL, 10), 4096);
	close(ends[1]);
	check(waitpid(pid, &(int){0}, 0) == pid && close(out) == 0 && close(fd) == 0, v[0]);
}

/* inherit FILE BYTES: another image of this program reads it, and never opened it. */
static void inherit(char **v)
{
	char number[16];
	int fd = open(v[0], O_RDONLY);

	check(fd >= 0, v[0]);
	snprintf(number, sizeof(number), "%d", fd);
	execl("/proc/self/exe", "actor", "inherited", number, v[0], v[1], (char *)NULL);
	fail("exec");
}

/* inherited FD FILE BYTES */
static void inherited(char **v)
{
	take_from(atoi(v[0]), v[1], strtoul(v[2], NULL, 10), 4096);
}

/* list DIR N: so many names. */
static void list(char **v)
{
	size_t n = 0, wanted = strtoul(v[1], NULL, 10);
	DIR *dir = opendir(v[0]);
	const struct dirent *e;

	check(dir != NULL, v[0]);
	for (errno = 0; (e = readdir(dir)); errno = 0)
		n += e->d_name[0] != '.';
	check(errno == 0 && closedir(dir) == 0, v[0]);
	tell(n == wanted ? "complete" : "truncated", v[0], n);
	if (n != wanted)
		exit(1);
}

/* map FILE BYTES */
static void map(char **v)
{
	size_t size = strtoul(v[1], NULL, 10);
	int fd = open(v[0], O_RDONLY);
	struct stat st;
	const char *at;

	check(fd >= 0, v[0]);
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	check(at != MAP_FAILED && fstat(fd, &st) == 0, v[0]);
	tell((size_t)st.st_size == size && at[size - 1] == byte_at(size - 1) ? "complete"
									     : "truncated",
	     v[0], (size_t)st.st_size);
	close(fd);
}

/* refused: an open that the kernel refuses after the daemon has allowed it. */
static void refused(char **v)
{
	char name[300];

	(void)v;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	check(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644) < 0 && errno == ENAMETOOLONG, "name");
}

/* What perl is known by, whose first look at a size is for itself: the program is called so where
 * it is to be taken for one (src/client/sizes.c). */
const char says[] = "Can't open perl script \"%s\": %s";

/* early FILE: trust a size that is not final. */
static void early(char **v)
{
	int fd = open(v[0], O_RDONLY);
	struct stat st;

	check(fd >= 0 && fstat(fd, &st) == 0, v[0]);
	check(read(fd, chunk, (size_t)st.st_size) == (ssize_t)st.st_size, v[0]);
	check(close(fd) == 0, v[0]);
}

static void to_rename(char **v)
{
	check(rename(v[0], v[1]) == 0, v[0]);
}

static void to_unlink(char **v)
{
	check(unlink(v[0]) == 0, v[0]);
}

static void to_mkdir(char **v)
{
	check(mkdir(v[0], 0755) == 0 || errno == EEXIST, v[0]);
}

/* die FILE BYTES: in the middle of it. */
static void die(char **v)
{
	write_all(create(v[0]), v[0], strtoul(v[1], NULL, 10), 1000);
	kill(getpid(), SIGKILL);
}

/* Waits for a child to have written it, kills that, and holds it for a while before it closes it.
 */
static void hold_writer(char **v, int told)
{
	int written[2], status;
	char byte;
	pid_t child;

	check(pipe(written) == 0, "pipe");
	child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		close(told);
		close(written[0]);
		write_all(create(v[0]), v[0], strtoul(v[1], NULL, 10), 1000);
		check(write(written[1], "", 1) == 1, "pipe");
		for (;;)
			pause();
	}
	close(written[1]);
	check(read(written[0], &byte, 1) == 1, "pipe");
	check(ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_TRACEEXIT) == 0, "ptrace");
	kill(child, SIGKILL);
	check(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "waitpid");
	check(write(told, "", 1) == 1, "pipe");
	usleep(200000);
	check(ptrace(PTRACE_CONT, child, NULL, NULL) == 0, "ptrace");
	check(waitpid(child, &status, 0) == child, "waitpid");
}

/* dying FILE BYTES: a child that has written it is being killed when this ends. */
static void dying(char **v)
{
	int held[2];
	char byte;
	pid_t child;

	check(pipe(held) == 0, "pipe");
	child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		close(held[0]);
		hold_writer(v, held[1]);
		exit(0);
	}
	close(held[1]);
	check(read(held[0], &byte, 1) == 1, "pipe");
	close(held[0]);
}

/* slow MILLISECONDS */
static void slow(char **v)
{
	usleep((unsigned)atoi(v[0]) * 1000);
}

/* wait FILE: until it is there, outside of the workflow; at most ten seconds. */
static void await(char **v)
{
	for (int i = 0; i < 1000 && access(v[0], F_OK) < 0; i++)
		usleep(10000);
}

/* run PROGRAM: in a child. */
static void run(char **v)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(v[0], v[0], (char *)NULL);
		_exit(127);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, v[0]);
}

/* crowd N DIR: so many processes at once make a file each, and read it. */
static void crowd(char **v)
{
	int n = atoi(v[0]), failed = 0, status;

	for (int i = 0; i < n; i++) {
		char name[256];
		pid_t pid = fork();

		if (pid > 0)
			continue;
		check(pid == 0, "fork");
		snprintf(name, sizeof(name), "%s/%d", v[1], i);
		make((char *[]){name, (char[]){"1000"}, (char[]){"500"}});
		take((char *[]){name, (char[]){"1000"}, (char[]){"4096"}});
		exit(0);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	if (failed) {
		fprintf(stderr, "actor: %d of %d failed\n", failed, n);
		exit(1);
	}
}

static const struct {
	const char *name;
	int n;
	void (*act)(char **v);
} ops[] = {
	{"make", 3, make},      {"holes", 2, holes},      {"cut", 2, cut},
	{"take", 3, take},      {"inherit", 2, inherit},  {"inherited", 3, inherited},
	{"list", 2, list},      {"map", 2, map},          {"refused", 0, refused},
	{"early", 1, early},    {"rename", 2, to_rename}, {"unlink", 1, to_unlink},
	{"mkdir", 1, to_mkdir}, {"slow", 1, slow},        {"await", 1, await},
	{"run", 1, run},        {"die", 2, die},          {"add", 3, to_add},
	{"crowd", 2, crowd},    {"shrink", 2, shrink},    {"pour", 2, pour},
	{"share", 2, share},    {"dying", 2, dying},
};

/* One operation. The arguments behind it. */
static char **step(char **v, char **end)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (strcmp(*v, ops[i].name) != 0)
			continue;
		if (end - v <= ops[i].n)
			break;
		ops[i].act(v + 1);
		return v + 1 + ops[i].n;
	}
	fprintf(stderr, "actor: %s: what is that?\n", *v);
	exit(2);
}

int main(int argc, char **argv)
{
	char **v = argv + 1, **end = argv + argc;

	while (v < end)
		v = strcmp(*v, ",") == 0 ? v + 1 : step(v, end);
	return 0;
}
