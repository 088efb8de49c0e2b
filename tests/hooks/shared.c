/* Records that many threads of many processes write and read by one open file description, whose
 * offset the kernel keeps, while the file may be moved.
 *   shared write PREFIX FILES append|offset   make PREFIX0, PREFIX1, ... one after another
 *   shared write PREFIX FILES alone           the same, by one thread, slowly
 *   shared read PREFIX FILES                  read them, and print how many records there were
 * Exit status 1 and a line on standard error if a record is lost, torn, or there twice. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 3, THREADS = 3, EACH = 170, WORDS = 256, ALL = PROCESSES * THREADS * EACH };

struct worker {
	pthread_t thread;
	uint32_t first;
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "shared: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Standard output is the common description. */
static void *write_records(void *arg)
{
	const struct worker *w = arg;
	uint32_t record[WORDS];

	for (uint32_t i = 0; i < EACH; i++) {
		for (int k = 0; k < WORDS; k++)
			record[k] = w->first + i;
		check(write(STDOUT_FILENO, record, sizeof(record)) == sizeof(record), "write");
	}
	return NULL;
}

/* Standard input is; what was found goes to standard output, a pipe. */
static void *read_records(void *arg)
{
	uint32_t record[WORDS];
	ssize_t n;

	(void)arg;
	while ((n = read(STDIN_FILENO, record, sizeof(record))) > 0) {
		check(n == sizeof(record), "a short record");
		for (int k = 1; k < WORDS; k++)
			check(record[k] == record[0], "a torn record");
		check(write(STDOUT_FILENO, record, 4) == 4, "write to the pipe");
	}
	check(n == 0, "read");
	return NULL;
}

static void work(void *(*run)(void *), uint32_t process)
{
	struct worker w[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		w[i].first = (process * THREADS + i) * EACH;
		check(!pthread_create(&w[i].thread, NULL, run, &w[i]), "pthread_create");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
}

/* Programs of their own: then nobody but the kernel knows the offset. */
static void start(const char *self, const char *what, int in, int out)
{
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();
		char number[2] = {(char)('0' + i)};

		check(pid >= 0, "fork");
		if (pid)
			continue;
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		close(in);
		close(out);
		execl(self, self, what, number, (char *)0);
		_exit(1);
	}
}

static void finish(void)
{
	int status;

	while (wait(&status) > 0)
		check(status == 0, "one of the processes failed");
}

static void write_file(const char *self, const char *name, int flags)
{
	int null = open("/dev/null", O_RDONLY);
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | flags, 0644);

	check(fd >= 0, name);
	start(self, "writer", null, fd);
	finish();
	close(fd);
	close(null);
}

static void write_alone(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	uint32_t record[WORDS];

	check(fd >= 0, name);
	for (uint32_t i = 0; i < ALL; i++) {
		for (int k = 0; k < WORDS; k++)
			record[k] = i;
		check(write(fd, record, sizeof(record)) == sizeof(record), "write");
		if (i % 8 == 0)
			usleep(300);
	}
	close(fd);
}

static void read_file(const char *self, const char *name)
{
	static unsigned char seen[ALL];
	int fd = open(name, O_RDONLY), p[2];
	uint32_t id;
	size_t n = 0;

	check(fd >= 0 && !pipe(p), name);
	memset(seen, 0, sizeof(seen));
	start(self, "reader", fd, p[1]);
	close(fd);
	close(p[1]);
	while (read(p[0], &id, sizeof(id)) == sizeof(id)) {
		check(id < ALL, "a record that was never written");
		check(!seen[id]++, "a record was read twice");
		n++;
	}
	close(p[0]);
	finish();
	check(n == ALL, "records are lost");
	printf("%s: %zu records\n", name, n);
}

int main(int argc, char **argv)
{
	char name[4096];
	int n;

	if (argc == 3) {
		work(strcmp(argv[1], "writer") ? read_records : write_records,
		     (uint32_t)atoi(argv[2]));
		return 0;
	}
	check(argc >= 4, "usage");
	n = atoi(argv[3]);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%d", argv[2], i);
		if (strcmp(argv[1], "read") == 0)
			read_file(argv[0], name);
		else if (strcmp(argv[4], "alone") == 0)
			write_alone(name);
		else
			write_file(argv[0], name, strcmp(argv[4], "append") ? 0 : O_APPEND);
	}
	return 0;
}
